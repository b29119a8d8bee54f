//! Caches of projects in the user's cache folder: where they are, and which of them are removed.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use camino::{Utf8Path, Utf8PathBuf};
use taipan_platform::user_cache_folder;

use crate::KeyHasher;
use crate::place::{clean_cache, is_build_folder};

/// The folder of all of them, in the user's cache folder.
const PROJECTS: &str = "projects";
/// The file that says which project a folder is of, for people and for [`tidy`].
pub(super) const NAME: &str = "project";
/// The file whose time says when folders were looked through.
const TIDIED: &str = "tidied";

/// Bytes that the caches of all projects may take.
const MOST: u64 = 16 << 30;
/// A cache that was not used for so long is removed,
const UNUSED: Duration = Duration::from_secs(90 * DAY);
/// and one of a project that is no longer there, after that.
const ORPHANED: Duration = Duration::from_secs(DAY);
/// How long to wait until the next look.
const PAUSE: Duration = Duration::from_secs(3600);

const DAY: u64 = 24 * 3600;

/// The root of the project that a target belongs to: the nearest folder at or above it with
/// `pyproject.toml` or `.git`, else the target's folder.
pub fn project_root(target: &Utf8Path) -> Utf8PathBuf {
    let absolute = camino::absolute_utf8(target).unwrap_or_else(|_| target.to_owned());
    let own = match absolute.is_dir() {
        true => &absolute,
        false => absolute.parent().unwrap_or(&absolute),
    };
    let root = own
        .ancestors()
        .find(|f| f.join("pyproject.toml").is_file() || f.join(".git").exists());
    root.unwrap_or(own).to_owned()
}

/// The default cache folder of a project, by its root. None if the user has no cache folder.
pub fn default_cache_folder(root: &Utf8Path) -> Option<Utf8PathBuf> {
    let all = Utf8PathBuf::from_path_buf(user_cache_folder().ok()?).ok()?;
    let mut h = KeyHasher::new("project");
    h.text(root.as_str());
    Some(all.join(PROJECTS).join(format!("{:?}", h.finish())))
}

/// Writes down which project a folder is of, and removes folders of others that are not used.
pub(super) fn note(folder: &Utf8Path, root: &Utf8Path) -> io::Result<()> {
    let name = folder.join(NAME);
    if !name.exists() {
        std::fs::write(&name, format!("{root}\n"))?;
    }
    if let Some(all) = folder.parent() {
        // Others may have more than they should until the next time.
        let _ = tidy(all, folder.as_std_path(), MOST);
    }
    Ok(())
}

/// The cache of another project.
struct Other {
    last_use: SystemTime,
    bytes: u64,
    folder: Utf8PathBuf,
}

/// Removes the caches of projects that are not used, and the longest unused ones if all take more
/// than `most` bytes. Does nothing if that was done within the last hour.
fn tidy(all: &Utf8Path, own: &Path, most: u64) -> io::Result<()> {
    let now = SystemTime::now();
    let mark = all.join(TIDIED);
    let age = |time: SystemTime| now.duration_since(time).unwrap_or_default();
    let tidied = mark.metadata().and_then(|m| m.modified());
    if tidied.is_ok_and(|time| age(time) < PAUSE) {
        return Ok(());
    }
    File::create(mark)?;
    let mut others: Vec<Other> = std::fs::read_dir(all)?
        .filter_map(|e| Utf8PathBuf::from_path_buf(e.ok()?.path()).ok())
        .filter(|f| f != own && is_build_folder(f.as_std_path()))
        .map(look_at)
        .collect();
    others.sort_by(|a, b| (a.last_use, &a.folder).cmp(&(b.last_use, &b.folder)));
    let mut bytes = contents(own).1 + others.iter().map(|o| o.bytes).sum::<u64>();
    for other in others {
        let age = age(other.last_use);
        let unused = age > UNUSED || age > ORPHANED && is_orphan(&other.folder);
        if unused || bytes > most {
            // A failed removal is retried later.
            let _ = clean_cache(&other.folder, false);
            bytes -= other.bytes;
        }
    }
    Ok(())
}

fn look_at(folder: Utf8PathBuf) -> Other {
    let (last_use, bytes) = contents(folder.as_std_path());
    Other {
        last_use,
        bytes,
        folder,
    }
}

/// Whether the project of a folder is no longer there.
fn is_orphan(folder: &Utf8Path) -> bool {
    let root = std::fs::read_to_string(folder.join(NAME));
    root.is_ok_and(|root| !Path::new(root.trim_end_matches('\n')).exists())
}

/// When anything in a project's folder was last used, and how much there is.
fn contents(folder: &Path) -> (SystemTime, u64) {
    let entries = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        entries.filter_map(|e| Some(e.ok()?.path())).collect()
    };
    let mut files = entries(folder);
    let builds: Vec<PathBuf> = files
        .iter()
        .filter(|f| is_build_folder(f))
        .cloned()
        .collect();
    files.extend(builds.iter().flat_map(|b| entries(b)));
    let found = files.iter().filter_map(|f| f.symlink_metadata().ok());
    found
        .filter(|m| m.is_file())
        .fold((SystemTime::UNIX_EPOCH, 0), |(last, bytes), m| {
            (last.max(m.modified().unwrap_or(last)), bytes + m.len())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A project's cache with its size in bytes and the days since its last use.
    fn cache(all: &Utf8Path, digit: char, bytes: usize, days: u64, root: &str) -> Utf8PathBuf {
        let folder = all.join(String::from(digit).repeat(32));
        let build = folder.join("0".repeat(32));
        std::fs::create_dir_all(&build).unwrap();
        crate::place::make_folder(&folder.join("unused")).unwrap();
        std::fs::rename(
            folder.join("unused/CACHEDIR.TAG"),
            folder.join("CACHEDIR.TAG"),
        )
        .unwrap();
        std::fs::remove_dir_all(folder.join("unused")).unwrap();
        std::fs::write(folder.join(NAME), format!("{root}\n")).unwrap();
        std::fs::write(build.join("a.pack"), vec![0; bytes]).unwrap();
        let then = SystemTime::now() - Duration::from_secs(days * DAY + 60);
        for file in [
            folder.join(NAME),
            folder.join("CACHEDIR.TAG"),
            build.join("a.pack"),
        ] {
            (File::options().write(true).open(file).unwrap())
                .set_modified(then)
                .unwrap();
        }
        folder
    }

    #[test]
    fn caches_that_are_not_used_go() {
        let dir = tempfile::tempdir().unwrap();
        let all = Utf8Path::from_path(dir.path()).unwrap();
        let own = cache(all, 'a', 1000, 200, "/");
        let old = cache(all, 'b', 1000, 91, "/");
        let orphan = cache(all, 'c', 1000, 2, "/no/such/folder");
        let new_orphan = cache(all, 'd', 1000, 0, "/no/such/folder");
        let used = cache(all, 'e', 1000, 80, "/");
        let others = all.join("notes");
        std::fs::create_dir(&others).unwrap();
        let there = |f: &[&Utf8PathBuf]| f.iter().map(|f| f.exists()).collect::<Vec<_>>();
        tidy(all, own.as_std_path(), u64::MAX).unwrap();
        let folders = [&own, &old, &orphan, &new_orphan, &used, &others];
        assert_eq!(there(&folders), [true, false, false, true, true, true]);
        // Not again so soon.
        tidy(all, own.as_std_path(), 0).unwrap();
        assert_eq!(there(&folders), [true, false, false, true, true, true]);
        std::fs::remove_file(all.join(TIDIED)).unwrap();
        // The one that was used last may stay.
        tidy(all, own.as_std_path(), 2600).unwrap();
        assert_eq!(there(&folders), [true, false, false, true, false, true]);
    }
}
