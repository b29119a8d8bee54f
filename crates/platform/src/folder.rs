//! Folders of the user's for what is kept from one process to the next.

use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::PathBuf;

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
