//! Folders of the user's for what is kept from one process to the next.

use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::PathBuf;

/// The user's folder for Taipan's caches: `$XDG_CACHE_HOME/taipan`, or `$HOME/.cache/taipan`. It is
/// made with mode 0700 if it is not there.
///
/// # Errors
/// Neither variable names an absolute path, the folder cannot be made, or somebody else owns it or
/// may write to it.
pub fn user_cache_folder() -> io::Result<PathBuf> {
    let absolute = |name: &str| {
        let path = PathBuf::from(std::env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    let base = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
    let missing = || io::Error::new(io::ErrorKind::NotFound, "HOME names no folder");
    let folder = base.ok_or_else(missing)?.join("taipan");
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(&folder)?;
    let meta = folder.metadata()?;
    // SAFETY: getuid() cannot fail.
    let own = meta.uid() == unsafe { libc::getuid() } && meta.mode() & 0o022 == 0;
    match meta.is_dir() && own {
        true => Ok(folder),
        false => Err(io::Error::other(format!(
            "{} is not this user's alone",
            folder.display()
        ))),
    }
}

/// A folder in the one for temporary files that only this user can read or write to. It is made if it is not
/// there.
pub fn own_folder(name: &str) -> io::Result<PathBuf> {
    // SAFETY: getuid() cannot fail.
    let user = unsafe { libc::getuid() };
    let dir = std::env::temp_dir().join(format!("{name}-{user}"));
    match std::fs::DirBuilder::new().mode(0o700).create(&dir) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(e),
        _ => {}
    }
    let meta = std::fs::symlink_metadata(&dir)?;
    if meta.is_dir() && meta.uid() == user && meta.mode() & 0o077 == 0 {
        return Ok(dir);
    }
    Err(io::Error::other(format!(
        "{} belongs to somebody else",
        dir.display()
    )))
}
