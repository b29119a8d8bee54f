//! Keeping a cache folder small: few files, within the limit of bytes.

use std::collections::{HashMap, HashSet};
use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use camino::Utf8Path;

use crate::MEMORY_EXTENSION as EXTENSION;
use crate::pack::Pack;
use crate::place::is_build_folder;
use crate::{CacheLimits, CacheSecret, Key, files_of_kind, open_packs, pack_files, write_pack};

/// More packs than this are merged.
const PACKS: usize = 8;
/// Temporary files older than this belong to nobody.
const ABANDONED: Duration = Duration::from_secs(3600);
/// Name of the file that is locked while packs are merged.
pub(super) const LOCK: &str = "lock";

/// Merges packs if there are many, and deletes what was not used for longest if the
/// folder has grown over its limit. Does nothing while another process does it.
pub(super) fn tidy(
    folder: &Utf8Path,
    own: &Path,
    limits: &CacheLimits,
    secret: CacheSecret,
) -> io::Result<()> {
    let total = size_of_packs(&other_builds(folder.as_std_path(), own)) + folder_size(own);
    if total <= limits.bytes && pack_files(own).len() <= PACKS {
        return Ok(());
    }
    // Opened anew by everybody and never deleted; the system frees it with its owner.
    let mut options = File::options();
    options.write(true).create(true).truncate(false).mode(0o600);
    let lock =
        (options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)).open(folder.join(LOCK))?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(()),
        Err(TryLockError::Error(e)) => return Err(e),
    }
    remove_abandoned(own);
    let limit = remove_other_builds(folder.as_std_path(), own, limits.bytes);
    let packs = open_packs(own, secret);
    if folder_size(own) > limit {
        merge(own, &packs, limit - limit / 4, secret)
    } else {
        // The smallest ones, as long as they are not dwarfed by the next: every entry
        // is copied a logarithmic number of times.
        let mut chosen = 0;
        let mut size = 0;
        for (i, p) in packs.iter().rev().enumerate() {
            if i > 1 && p.size > 2 * size {
                break;
            }
            chosen = i + 1;
            size += p.size;
        }
        // Rows of these may tell of uses of entries elsewhere: nothing is lost by
        // keeping them.
        merge(own, &packs[packs.len() - chosen..], u64::MAX, secret)
    }
}

/// Writes the entries of some packs as one, no larger than `limit`, and deletes them.
fn merge(own: &Path, packs: &[Pack], limit: u64, secret: CacheSecret) -> io::Result<()> {
    let mut last_use: HashMap<Key, u32> = HashMap::new();
    let mut rows = Vec::new();
    let mut seen = HashSet::new();
    for (i, p) in packs.iter().enumerate() {
        for row in p.rows() {
            let used = last_use.entry(row.key).or_default();
            *used = row.used.max(*used);
            if row.has_value && seen.insert(row.key) {
                rows.push((i, row));
            }
        }
    }
    // Latest use first; keys make the order, and so what stays, independent of files.
    rows.sort_by_key(|(_, r)| (std::cmp::Reverse(last_use[&r.key]), r.key));
    let mut size = 0;
    rows.retain(|(_, r)| {
        size += r.size();
        size <= limit
    });
    write_pack(own, secret, |w| {
        for (i, row) in &rows {
            // Unreadable entries are left out; damage stays detectable, since tags are
            // copied along.
            if let Ok(stored) = packs[*i].stored(row) {
                w.add(row.key, &stored, last_use[&row.key])?;
            }
        }
        if limit == u64::MAX {
            for (key, used) in last_use.iter().filter(|(k, _)| !seen.contains(*k)) {
                w.touch(*key, *used);
            }
        }
        Ok(())
    })?;
    for p in packs {
        let _ = std::fs::remove_file(&p.path);
    }
    Ok(())
}

/// Memory that processes of a build have left.
fn saved_files(folder: &Path) -> Vec<PathBuf> {
    files_of_kind(folder, EXTENSION)
}

fn folder_size(folder: &Path) -> u64 {
    pack_files(folder)
        .iter()
        .filter_map(|p| Some(p.metadata().ok()?.len()))
        .sum()
}

fn size_of_packs(folders: &[PathBuf]) -> u64 {
    folders.iter().map(|f| folder_size(f)).sum()
}

/// Folders of other builds.
fn other_builds(folder: &Path, own: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    entries
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p != own && is_build_folder(p))
        .collect()
}

/// Deletes the folders of other builds, the longest unused first, as long as they and
/// ours take more than `limit`. Answers what is left for ours.
fn remove_other_builds(folder: &Path, own: &Path, limit: u64) -> u64 {
    let last_use = |f: &PathBuf| {
        pack_files(f)
            .iter()
            .filter_map(|p| p.metadata().ok()?.modified().ok())
            .max()
            .unwrap_or(SystemTime::UNIX_EPOCH)
    };
    let mut others: Vec<_> = other_builds(folder, own)
        .into_iter()
        .map(|f| (last_use(&f), folder_size(&f), f))
        .collect();
    others.sort();
    let ours = folder_size(own);
    let mut theirs: u64 = others.iter().map(|(_, size, _)| size).sum();
    for (_, size, f) in others {
        if ours + theirs <= limit {
            break;
        }
        for p in pack_files(&f).into_iter().chain(saved_files(&f)) {
            let _ = std::fs::remove_file(p);
        }
        remove_abandoned(&f);
        // Fails if somebody has just written to it: then it is in use.
        let _ = std::fs::remove_dir(&f);
        theirs -= size;
    }
    limit.saturating_sub(theirs)
}

/// Deletes temporary files that a process left behind.
fn remove_abandoned(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for path in entries.filter_map(|e| Some(e.ok()?.path())) {
        let old = path
            .metadata()
            .and_then(|m| m.modified())
            .is_ok_and(|t| t.elapsed().is_ok_and(|d| d > ABANDONED));
        if old && path.extension().is_some_and(|e| e == "tmp") {
            let _ = std::fs::remove_file(path);
        }
    }
}
