//! Where caches live.

use std::io;
use std::path::Path;

use camino::{Utf8Path, Utf8PathBuf};
use taipan_base::CACHE_FOLDER;

use crate::MEMORY_EXTENSION as EXTENSION;
use crate::merge::is_build_folder;

/// What marks a folder as one that Taipan made.
const TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55\n\
     # Taipan's cache; it can be deleted at any time.\n";

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
pub(super) fn make_folder(folder: &Utf8Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join(".gitignore"), "*\n")?;
    std::fs::write(folder.join("CACHEDIR.TAG"), TAG)
}

/// Removes what a cache folder holds, and the folder if nothing of anybody else's is in it.
/// Returns how many files that are and their bytes; with `dry_run` nothing is removed. A
/// folder that is not there holds nothing. Processes that use it at the time only lose what
/// others could have read.
pub fn clean_cache(folder: &Utf8Path, dry_run: bool) -> io::Result<(usize, u64)> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok((0, 0)),
        Err(e) => return Err(e),
    };
    let mut files = 0;
    let mut bytes = 0;
    let mut remove = |path: &Path| {
        files += 1;
        bytes += path.symlink_metadata().map_or(0, |m| m.len());
        if dry_run {
            Ok(())
        } else {
            std::fs::remove_file(path)
        }
    };
    for entry in entries {
        let build = entry?.path();
        if !is_build_folder(&build) {
            continue;
        }
        for file in std::fs::read_dir(&build)? {
            let file = file?.path();
            if file
                .extension()
                .is_some_and(|e| e == "pack" || e == "tmp" || e == EXTENSION)
            {
                remove(&file)?;
            }
        }
        if !dry_run {
            // Fails if there is anything else in it, which then stays.
            let _ = std::fs::remove_dir(&build);
        }
    }
    let tag = folder.join("CACHEDIR.TAG");
    if std::fs::read_to_string(&tag).is_ok_and(|text| text == TAG) {
        remove(tag.as_std_path())?;
        remove(folder.join(".gitignore").as_std_path())?;
        if !dry_run {
            let _ = std::fs::remove_dir(folder);
        }
    }
    Ok((files, bytes))
}
