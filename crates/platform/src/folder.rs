//! Folders and files of the user's for what is kept from one process to the next.

use std::ffi::CString;
use std::fs::{DirBuilder, File, Metadata};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Opens for reading without following a link in the last part of the path, and without waiting for
/// the writer of a pipe.
const CAUTIOUS: i32 = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;

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
    make_private_folder(&folder)?;
    check_own_folder(&folder)?;
    Ok(folder)
}

/// An error if this user does not own a folder, or others may write to it.
pub fn check_own_folder(folder: &Path) -> io::Result<()> {
    let meta = folder.metadata()?;
    match meta.is_dir() && is_own(&meta) {
        true => Ok(()),
        false => Err(not_own(folder)),
    }
}

/// Makes a folder, and those above it that are missing, which this user alone can read or write to.
/// A folder that exists is left as it is.
pub fn make_private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Opens a regular file for reading. A symbolic link, a pipe or a device is an error.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    let file = options.read(true).custom_flags(CAUTIOUS).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::from(io::ErrorKind::InvalidData)),
    }
}

/// Opens a file for reading that only this user can have created: a regular file in a
/// folder, both of which the user owns and nobody else may write to.
///
/// # Errors
/// Any other file, with [`io::ErrorKind::PermissionDenied`], and what the system says.
pub fn open_own_file(path: &Path) -> io::Result<File> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    };
    let folder = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    let mut options = File::options();
    // Everything is asked of descriptors: paths may lead elsewhere meanwhile.
    let folder = (options.read(true).custom_flags(libc::O_DIRECTORY)).open(folder)?;
    if !is_own(&folder.metadata()?) {
        return Err(not_own(path));
    }
    let name = CString::new(name.as_bytes())?;
    // SAFETY: a descriptor that is open, and a string with an end.
    let fd = unsafe {
        let flags = libc::O_RDONLY | CAUTIOUS;
        libc::openat(folder.as_raw_fd(), name.as_ptr(), flags)
    };
    if fd < 0 {
        let error = io::Error::last_os_error();
        return match error.raw_os_error() {
            Some(libc::ELOOP) => Err(not_own(path)),
            _ => Err(error),
        };
    }
    // SAFETY: the descriptor is new, and nobody else's.
    let file = File::from(unsafe { OwnedFd::from_raw_fd(fd) });
    let meta = file.metadata()?;
    match meta.is_file() && is_own(&meta) {
        true => Ok(file),
        false => Err(not_own(path)),
    }
}

/// Whether this user owns a file or folder, and nobody else may write to it.
fn is_own(meta: &Metadata) -> bool {
    // SAFETY: geteuid() cannot fail.
    meta.uid() == unsafe { libc::geteuid() } && meta.mode() & 0o022 == 0
}

fn not_own(path: &Path) -> io::Error {
    let message = format!("others may write to {}", path.display());
    io::Error::new(io::ErrorKind::PermissionDenied, message)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn files_that_others_may_have_written_are_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "text").unwrap();
        let refused = |path: &Path| {
            let error = open_own_file(path).map(drop).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{error}");
        };
        for (mode, opens) in [(0o600, true), (0o644, true), (0o620, false), (0o602, false)] {
            set_mode(&file, mode);
            assert_eq!(open_own_file(&file).is_ok(), opens, "{mode:o}");
        }
        set_mode(&file, 0o600);
        let link = folder.path().join("link");
        symlink(&file, &link).unwrap();
        refused(&link);
        assert!(open_regular(&link).is_err());
        assert!(open_regular(&file).is_ok());
        refused(Path::new("/dev/null"));
        for (mode, opens) in [(0o770, false), (0o707, false), (0o755, true)] {
            set_mode(folder.path(), mode);
            assert_eq!(open_own_file(&file).is_ok(), opens, "{mode:o}");
        }
        let missing = open_own_file(&folder.path().join("none")).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_pipe_is_no_file_and_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let name = CString::new(pipe.as_os_str().as_bytes()).unwrap();
        // SAFETY: a string with an end.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        assert!(open_regular(&pipe).is_err());
        assert!(open_own_file(&pipe).is_err());
    }
}
