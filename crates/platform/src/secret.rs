//! A secret of the user's: what Taipan keeps between processes is authenticated by it.
//!
//! The bytes are on the stack and in a static only, never on the heap: memory that a process saves
//! (`taipan_heap`) does not hold them.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;
use std::sync::OnceLock;

use crate::folder::{open_own_file, user_cache_folder};

/// How long the secret is.
const LEN: usize = 32;

static SECRET: OnceLock<[u8; LEN]> = OnceLock::new();

/// Bytes that this user's processes know, and nobody else: a file in the user's cache folder, which
/// is made when it is first asked for.
///
/// # Errors
/// There is no such folder, or it cannot be written to.
pub fn user_secret() -> io::Result<&'static [u8; LEN]> {
    if let Some(known) = SECRET.get() {
        return Ok(known);
    }
    let secret = read_or_make(&user_cache_folder()?)?;
    Ok(SECRET.get_or_init(|| secret))
}

fn read_or_make(folder: &Path) -> io::Result<[u8; LEN]> {
    let path = folder.join("secret");
    match read(&path) {
        Ok(secret) => return Ok(secret),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        // Others may know it, or it is damaged: what it authenticated is lost.
        Err(_) => fs::remove_file(&path)?,
    }
    let mut secret = [0; LEN];
    File::open("/dev/urandom")?.read_exact(&mut secret)?;
    // Its mode is 0600.
    let mut new = tempfile::Builder::new()
        .prefix("secret-")
        .tempfile_in(folder)?;
    new.write_all(&secret)?;
    new.as_file().sync_all()?;
    match new.persist_noclobber(&path) {
        Ok(_) => Ok(secret),
        // Another process was quicker.
        Err(e) if e.error.kind() == io::ErrorKind::AlreadyExists => read(&path),
        Err(e) => Err(e.error),
    }
}

/// The secret in a file that only this user can read or write to.
fn read(path: &Path) -> io::Result<[u8; LEN]> {
    let file = open_own_file(path)?;
    let meta = file.metadata()?;
    if meta.mode() & 0o077 != 0 || meta.len() != LEN as u64 {
        return Err(io::Error::from(io::ErrorKind::InvalidData));
    }
    let mut secret = [0; LEN];
    file.read_exact_at(&mut secret, 0)?;
    Ok(secret)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_secret_stays_as_long_as_nobody_else_can_know_it() {
        let folder = tempfile::tempdir().unwrap();
        let made = read_or_make(folder.path()).unwrap();
        assert_ne!(made, [0; LEN]);
        assert_eq!(read_or_make(folder.path()).unwrap(), made);
        let path = folder.path().join("secret");
        let mode = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode));
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
        mode(0o644).unwrap();
        let second = read_or_make(folder.path()).unwrap();
        assert_ne!(second, made);
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
        fs::write(&path, "short").unwrap();
        assert_ne!(read_or_make(folder.path()).unwrap(), second);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn processes_that_begin_at_once_have_one_secret() {
        let folder = tempfile::tempdir().unwrap();
        let all: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| read_or_make(folder.path()).unwrap()))
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        assert!(all.iter().all(|s| *s == all[0]));
    }
}
