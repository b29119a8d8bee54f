//! Files that ship inside the binary, as files that an editor can open.
//!
//! A copy is put into the user's cache folder when something points there. A document
//! in that folder is the shipped file.

use std::sync::OnceLock;

use camino::{Utf8Path, Utf8PathBuf};
use taipan_base::SHIPPED;
use taipan_platform::user_cache_folder;

/// Where the copies are; none where the user has no folder for such things.
fn folder() -> Option<&'static Utf8Path> {
    static FOLDER: OnceLock<Option<Utf8PathBuf>> = OnceLock::new();
    let find = || {
        let folder = Utf8PathBuf::from_path_buf(user_cache_folder().ok()?).ok()?;
        Some(folder.join(concat!("shipped-", env!("CARGO_PKG_VERSION"))))
    };
    FOLDER.get_or_init(find).as_deref()
}

/// The copy of a shipped file, made if it is not there.
pub(crate) fn copy_of(path: &Utf8Path, text: &str) -> Option<Utf8PathBuf> {
    let copy = folder()?.join(path.strip_prefix(SHIPPED).ok()?);
    if std::fs::read_to_string(&copy).ok().as_deref() != Some(text) {
        std::fs::create_dir_all(copy.parent()?).ok()?;
        // Under another name first: other servers may read it.
        let new = copy.with_extension(format!("{}.tmp", std::process::id()));
        std::fs::write(&new, text).ok()?;
        std::fs::rename(&new, &copy).ok()?;
    }
    Some(copy)
}

/// The shipped file that a path is a copy of; any other path as it is.
pub(crate) fn original_of(path: Utf8PathBuf) -> Utf8PathBuf {
    match folder().and_then(|f| path.strip_prefix(f).ok()) {
        Some(inside) => Utf8Path::new(SHIPPED).join(inside),
        None => path,
    }
}
