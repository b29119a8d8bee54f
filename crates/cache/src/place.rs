//! Folders of caches: making and emptying them.
//!
//! A folder may come with somebody else's checkout. So nothing behind a symbolic link in it is read,
//! written or removed.

use std::io;
use std::path::Path;

use camino::{Utf8Path, Utf8PathBuf};
use taipan_base::CACHE_FOLDER;
use taipan_platform::make_private_folder;

use crate::MEMORY_EXTENSION as EXTENSION;
use crate::merge::LOCK;
use crate::projects::NAME;

/// What marks a folder as one that Taipan made.
const TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55\n\
     # Taipan's cache; it can be deleted at any time.\n";

/// Makes a cache folder. One that is new is marked as such, for version control and
/// for backups; one that exists may be anybody's and is left as it is.
pub(super) fn make_folder(folder: &Utf8Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    make_private_folder(folder.as_std_path())?;
    std::fs::write(folder.join(".gitignore"), "*\n")?;
    std::fs::write(folder.join("CACHEDIR.TAG"), TAG)
}

/// Makes the folder of a build in one that exists.
pub(super) fn make_build_folder(folder: &Path) -> io::Result<()> {
    make_private_folder(folder)?;
    match is_real_folder(folder) {
        true => Ok(()),
        false => Err(io::ErrorKind::NotADirectory.into()),
    }
}

/// Whether there is a folder, and not a link to one.
pub(super) fn is_real_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|m| m.is_dir())
}

/// Whether it is a folder with a name that we give to those of builds and projects: nothing else is ever
/// deleted.
pub(super) fn is_build_folder(path: &Path) -> bool {
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
    name.len() == 32 && name.bytes().all(|b| b.is_ascii_hexdigit()) && is_real_folder(path)
}

/// Whether a path is inside of a folder once symbolic links are followed. What does not exist yet
/// counts as where it will be made.
pub fn is_inside(path: &Utf8Path, folder: &Utf8Path) -> bool {
    let exists = |p: &&Utf8Path| p.symlink_metadata().is_ok();
    let (Some(path), Ok(folder)) = (path.ancestors().find(exists), folder.canonicalize()) else {
        return false;
    };
    (path.canonicalize()).is_ok_and(|path| path.starts_with(folder))
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
    if has_tag(folder) {
        for name in ["CACHEDIR.TAG", ".gitignore", LOCK, NAME] {
            let path = folder.join(name);
            if path.symlink_metadata().is_ok() {
                remove(path.as_std_path())?;
            }
        }
        if !dry_run {
            let _ = std::fs::remove_dir(folder);
        }
    }
    Ok((files, bytes))
}

fn has_tag(folder: &Utf8Path) -> bool {
    std::fs::read_to_string(folder.join("CACHEDIR.TAG")).is_ok_and(|text| text == TAG)
}

/// Removes the cache that older versions of Taipan have left in the root of a project, as
/// [`clean_cache`] does. Returns its folder as well; none if there is none.
pub fn clean_old_cache(
    root: &Utf8Path,
    dry_run: bool,
) -> io::Result<Option<(Utf8PathBuf, usize, u64)>> {
    let folder = root.join(CACHE_FOLDER);
    if !is_real_folder(folder.as_std_path()) || !has_tag(&folder) {
        return Ok(None);
    }
    let (files, bytes) = clean_cache(&folder, dry_run)?;
    Ok(Some((folder, files, bytes)))
}
