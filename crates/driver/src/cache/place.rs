//! Where caches live.

use camino::{Utf8Path, Utf8PathBuf};
use taipan_base::CACHE_FOLDER;

/// The default cache folder of a target: in its project's root, which is the nearest
/// folder at or above it with `pyproject.toml` or `.git`, else in the target's folder.
pub fn default_cache_folder(target: &Utf8Path) -> Utf8PathBuf {
    let absolute = camino::absolute_utf8(target).unwrap_or_else(|_| target.to_owned());
    let own = if absolute.is_dir() {
        &absolute
    } else {
        absolute.parent().unwrap_or(&absolute)
    };
    let root = own
        .ancestors()
        .find(|f| f.join("pyproject.toml").is_file() || f.join(".git").exists());
    root.unwrap_or(own).join(CACHE_FOLDER)
}

/// Makes a cache folder. One that is new is marked as such, for version control and
/// for backups; one that exists may be anybody's and is left as it is.
pub(super) fn make_folder(folder: &Utf8Path) -> std::io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join(".gitignore"), "*\n")?;
    std::fs::write(
        folder.join("CACHEDIR.TAG"),
        "Signature: 8a477f597d28d172789f06886806bc55\n\
         # Taipan's cache; it can be deleted at any time.\n",
    )
}
