//! What this user's processes know of each other.

use std::fs;
use std::io::{self, Read as _};

use taipan_platform::own_folder;

/// Where it is kept.
const FOLDER: &str = "taipan-answers";

/// Bytes that this user's processes know, and nobody else: made when they are first asked for.
pub fn user_secret() -> io::Result<[u8; 16]> {
    let path = own_folder(FOLDER)?.join("secret");
    if !path.exists() {
        let mut secret = [0; 16];
        fs::File::open("/dev/urandom")?.read_exact(&mut secret)?;
        let new = path.with_extension(std::process::id().to_string());
        fs::write(&new, secret)?;
        // Whoever comes first has made it.
        let _ = fs::hard_link(&new, &path);
        fs::remove_file(&new)?;
    }
    let known = fs::read(path)?;
    known
        .try_into()
        .map_err(|_| io::Error::from(io::ErrorKind::InvalidData))
}
