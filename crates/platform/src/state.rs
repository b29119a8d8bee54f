//! The state of a file, to detect changes.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Folders of the system's headers and libraries: whether a file there has changed is seen by its time
/// and size.
const SYSTEM: &[&str] = &[
    "/usr/include",
    "/usr/lib",
    "/usr/local",
    "/lib",
    "/lib64",
    "/opt",
];

/// Whether a file is in one of the system's folders.
pub fn is_system(file: &Path) -> bool {
    SYSTEM.iter().any(|folder| file.starts_with(folder))
}

/// The state of a file, which differs after a change. Empty if there is no file.
pub fn state_of(file: &Path) -> String {
    let meta = match file.metadata() {
        // Neither a pipe nor a device has contents that would be the same next time.
        Ok(meta) if meta.is_file() => meta,
        _ => return String::new(),
    };
    if is_system(file) {
        return format!("{} {}.{}", meta.size(), meta.mtime(), meta.mtime_nsec());
    }
    fs::read(file)
        .map(|bytes| blake3::hash(&bytes).to_hex().to_string())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_count_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        assert_eq!(state_of(&a), "");
        fs::write(&a, "1").unwrap();
        fs::write(&b, "1").unwrap();
        let before = state_of(&a);
        assert_eq!(before, state_of(&b));
        fs::write(&a, "2").unwrap();
        assert_ne!(state_of(&a), before);
        assert_eq!(state_of(folder.path()), "");
        assert_eq!(state_of(Path::new("/dev/zero")), "");
        assert!(is_system(Path::new("/usr/include/stdio.h")) && !is_system(&a));
    }
}
