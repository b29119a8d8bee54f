//! The store on disk: what one process worked out, for the next one.
//!
//! A [`Cache`] is a map from kind and [`Key`] to bytes. The key of an entry is the hash
//! of everything that its value was made from, so an entry is never wrong, only
//! missing; the build of Taipan belongs to what it was made from (see `build_id`).
//! Entries that a process makes are written as one file when it [flushes](Cache::flush)
//! (see `pack`), under a temporary name and renamed; files are never changed, so
//! processes need no locks to share a folder. Whatever goes wrong with files (none
//! there, damaged, not readable, disk full) only makes entries missing. Entries are authenticated
//! by a secret (see `secret`): a pack that was made with another one, or was changed since, holds
//! nothing. See docs/cache.md.
//!
//! ```text
//! ~/.cache/taipan/projects/
//!   91b0…/           one folder per project
//!     project        where that is
//!     3f2a…/         one folder per build of Taipan
//!       0b77….pack
//! ```

mod build_id;
mod key;
mod merge;
mod pack;
mod place;
mod projects;
mod secret;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use camino::{Utf8Path, Utf8PathBuf};

pub use key::{Key, KeyHasher};
use pack::{Pack, PackWriter, Stored};
pub use place::{clean_cache, clean_old_cache, is_inside};
pub use projects::{default_cache_folder, project_root};
pub use secret::CacheSecret;

pub use build_id::build_id;

/// What a file name of saved memory of a process ends with, in the folder of a build.
pub const MEMORY_EXTENSION: &str = "memory";

/// How much a cache may keep.
#[derive(Clone, Copy, Debug)]
pub struct CacheLimits {
    /// Bytes on disk, entries of other builds of Taipan included. What was not used
    /// for longest goes first.
    pub bytes: u64,
    /// Seconds within which two uses of an entry count as one.
    pub use_resolution: u32,
}

impl Default for CacheLimits {
    fn default() -> Self {
        CacheLimits {
            bytes: 1 << 30,
            use_resolution: 6 * 3600,
        }
    }
}

/// A cache folder as this process sees it: the entries that were there when it was
/// opened, and its own. Clones share everything. The default one is off: it keeps
/// nothing.
#[derive(Clone, Default)]
pub struct Cache(Option<Arc<Inner>>);

struct Inner {
    folder: Utf8PathBuf,
    /// The folder of this build of Taipan.
    own: PathBuf,
    /// The root of the project that the folder is the default one of.
    project: Option<Utf8PathBuf>,
    limits: CacheLimits,
    secret: CacheSecret,
    /// Whether answers are worked out all the same and compared.
    verify: bool,
    packs: Mutex<Arc<[Pack]>>,
    state: Mutex<State>,
}

/// What is to be written.
#[derive(Default)]
struct State {
    new: HashMap<Key, Stored>,
    used: HashSet<Key>,
}

impl Cache {
    /// Opens a cache; nothing is written before [`Cache::flush`]. A folder that cannot
    /// be read is an empty cache.
    pub fn open(folder: &Utf8Path, limits: CacheLimits, secret: CacheSecret) -> Cache {
        Cache::open_at(folder, None, limits, secret)
    }

    /// Opens the cache of a project, by its root, in the user's cache folder. It is off where there
    /// is no such folder.
    pub fn of_project(root: &Utf8Path, limits: CacheLimits, secret: CacheSecret) -> Cache {
        match default_cache_folder(root) {
            Some(folder) => Cache::open_at(&folder, Some(root.to_owned()), limits, secret),
            None => Cache::default(),
        }
    }

    fn open_at(
        folder: &Utf8Path,
        project: Option<Utf8PathBuf>,
        limits: CacheLimits,
        secret: CacheSecret,
    ) -> Cache {
        let folder = camino::absolute_utf8(folder).unwrap_or_else(|_| folder.to_owned());
        let own = folder.join(format!("{:?}", build_id::build_id()));
        let packs = open_packs(own.as_std_path(), secret);
        for p in packs.iter() {
            p.mark_used();
        }
        Cache(Some(Arc::new(Inner {
            folder,
            own: own.into_std_path_buf(),
            project,
            limits,
            secret,
            verify: false,
            packs: Mutex::new(packs),
            state: Mutex::default(),
        })))
    }

    /// Makes whoever takes a value from the cache work it out all the same and panic
    /// if it differs: for tests. Call this before the cache is shared.
    pub fn verifying(mut self) -> Cache {
        if let Some(inner) = self.0.as_mut().and_then(Arc::get_mut) {
            inner.verify = true;
        }
        self
    }

    /// Whether values are to be compared with what they stand for.
    pub fn verifies(&self) -> bool {
        self.0.as_ref().is_some_and(|i| i.verify)
    }

    /// Whether it keeps anything at all.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// The value of a key, if the cache has it.
    pub fn get(&self, kind: &str, key: Key) -> Option<Vec<u8>> {
        let inner = self.0.as_ref()?;
        let key = inner.secret.stored_key(kind, key);
        let new = inner.state().new.get(&key).cloned();
        if let Some(stored) = new {
            return stored.value(inner.secret, key);
        }
        let packs = inner.packs().clone();
        for pack in packs.iter() {
            let Some(row) = pack.find(key) else { continue };
            let stored = pack.stored(&row).ok();
            if let Some(value) = stored.and_then(|s| s.value(inner.secret, key)) {
                if now().saturating_sub(row.used) >= inner.limits.use_resolution {
                    inner.state().used.insert(key);
                }
                return Some(value);
            }
        }
        None
    }

    /// Adds a value that was made from what the key says. It replaces nothing: values
    /// of one key are the same.
    pub fn put(&self, kind: &str, key: Key, value: Vec<u8>) {
        let Some(inner) = &self.0 else { return };
        let key = inner.secret.stored_key(kind, key);
        if let Some(stored) = Stored::new(inner.secret, key, value) {
            inner.state().new.insert(key, stored);
        }
    }

    /// Writes new entries to disk, for other processes to find, and keeps the folder
    /// within its limits. Errors only mean that the entries are lost to others: they
    /// are answered for whoever wants to tell.
    pub fn flush(&self) -> io::Result<()> {
        let Some(inner) = &self.0 else {
            return Ok(());
        };
        let (new, used) = {
            let mut state = inner.state();
            let used = std::mem::take(&mut state.used);
            (std::mem::take(&mut state.new), used)
        };
        if new.is_empty() && used.is_empty() {
            return Ok(());
        }
        self.make_folder()?;
        let now = now();
        write_pack(&inner.own, inner.secret, |w| {
            let mut made: Vec<_> = new.iter().collect();
            made.sort_unstable_by_key(|(key, _)| **key);
            for (key, stored) in made {
                w.add(*key, stored, now)?;
            }
            for key in used.iter().filter(|k| !new.contains_key(*k)) {
                w.touch(*key, now);
            }
            Ok(())
        })?;
        merge::tidy(&inner.folder, &inner.own, &inner.limits, inner.secret)?;
        *inner.packs() = open_packs(&inner.own, inner.secret);
        Ok(())
    }

    /// Makes the folder of this build, if the cache is on: this user alone can read what is in there.
    /// A new folder of a project is an occasion to remove those of others that are not used.
    pub fn make_folder(&self) -> io::Result<()> {
        let Some(inner) = &self.0 else {
            return Ok(());
        };
        place::make_folder(&inner.folder)?;
        if let Some(root) = &inner.project {
            projects::note(&inner.folder, root)?;
        }
        place::make_build_folder(&inner.own)
    }

    /// The folder of this build, if it is on.
    pub fn own_folder(&self) -> Option<&Path> {
        Some(&self.0.as_ref()?.own)
    }

    /// The folder, if it is on.
    pub fn folder(&self) -> Option<&Utf8Path> {
        Some(&self.0.as_ref()?.folder)
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn packs(&self) -> MutexGuard<'_, Arc<[Pack]>> {
        self.packs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// All readable packs of a folder, the largest first, since it answers most.
fn open_packs(folder: &Path, secret: CacheSecret) -> Arc<[Pack]> {
    let mut packs: Vec<Pack> = pack_files(folder)
        .into_iter()
        .filter_map(|p| Pack::open(&p, secret).ok().flatten())
        .collect();
    packs.sort_by_key(|p| std::cmp::Reverse(p.size));
    packs.into()
}

/// Paths of the packs in a folder.
fn pack_files(folder: &Path) -> Vec<PathBuf> {
    files_of_kind(folder, "pack")
}

/// Paths of the files in a folder whose names end so, sorted. There is nothing behind a link.
fn files_of_kind(folder: &Path, extension: &str) -> Vec<PathBuf> {
    if !place::is_real_folder(folder) {
        return Vec::new();
    }
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries
        .filter_map(|e| Some(e.ok()?.path()))
        .filter(|p| p.extension().is_some_and(|e| e == extension))
        .collect();
    files.sort();
    files
}

/// Writes a pack under a temporary name and gives it its own.
fn write_pack(
    folder: &Path,
    secret: CacheSecret,
    fill: impl FnOnce(&mut PackWriter<&mut std::fs::File>) -> io::Result<()>,
) -> io::Result<()> {
    // Its mode is 0600.
    let mut file = tempfile::Builder::new()
        .prefix("new-")
        .suffix(".tmp")
        .tempfile_in(folder)?;
    let mut writer = PackWriter::new(file.as_file_mut(), secret)?;
    fill(&mut writer)?;
    writer.finish()?;
    let random = file.path().file_stem().unwrap_or_default().to_owned();
    let mut name = format!("{}-", now());
    name.push_str(random.to_string_lossy().trim_start_matches("new-"));
    name.push_str(".pack");
    file.persist_noclobber(folder.join(name))?;
    Ok(())
}

/// Seconds since 1970.
fn now() -> u32 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| d.as_secs() as u32)
}
