//! Which folders have to be watched for which paths.
//!
//! A path is resolved step by step as the system would: every entry on the way (a
//! folder, a symbolic link, the file, or the first entry that is not there) lies in a
//! real folder. What happens to one of these entries may change what the path leads
//! to, so all these folders are watched, and nothing else.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use rustc_hash::{FxHashMap, FxHashSet};

/// More links on the way than the system follows.
const MAX_LINKS: usize = 40;

/// The followed paths and the entries that they depend on.
#[derive(Default)]
pub(super) struct Followed {
    /// The folders of followed paths, as they were named.
    folders: BTreeMap<Utf8PathBuf, Folder>,
    /// What depends on an entry.
    entries: FxHashMap<Utf8PathBuf, BTreeSet<Dependent>>,
    /// Followed paths that are folders, by the real folder: whoever has read one has
    /// read the names in it.
    listed: FxHashMap<Utf8PathBuf, BTreeSet<Utf8PathBuf>>,
    /// Real folders that are watched, or are to be.
    watched: FxHashSet<Utf8PathBuf>,
    new: BTreeSet<Utf8PathBuf>,
    stale: BTreeSet<Utf8PathBuf>,
}

#[derive(Default)]
struct Folder {
    /// Entries on the way to it.
    way: Vec<Utf8PathBuf>,
    /// Where it really is; none as long as it does not exist.
    real: Option<Utf8PathBuf>,
    /// Names in it that are followed, and the entries that each depends on.
    names: BTreeMap<String, Vec<Utf8PathBuf>>,
}

/// What depends on an entry.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Dependent {
    /// A folder of [`Followed::folders`] with everything in it.
    Folder(Utf8PathBuf),
    /// One followed path.
    File(Utf8PathBuf),
}

/// How far a path leads.
struct Way {
    /// The entries on it.
    entries: Vec<Utf8PathBuf>,
    /// The real folder that it ends in, if it is one and exists.
    folder: Option<Utf8PathBuf>,
}

/// Walks along `names` from the real folder `from`.
fn walk(from: &Utf8Path, names: &Utf8Path) -> Way {
    let mut here = from.to_owned();
    let mut entries = Vec::new();
    let mut links = 0;
    let mut todo: VecDeque<String> = components(names).collect();
    while let Some(name) = todo.pop_front() {
        if name == "/" {
            here = "/".into();
            continue;
        }
        if name == ".." {
            here.pop();
            continue;
        }
        let entry = here.join(&name);
        entries.push(entry.clone());
        match entry.symlink_metadata() {
            Ok(m) if m.is_dir() => here = entry,
            Ok(m) if m.is_symlink() && links < MAX_LINKS => {
                links += 1;
                let Ok(to) = entry.read_link_utf8() else {
                    return Way {
                        entries,
                        folder: None,
                    };
                };
                let mut rest: VecDeque<String> = components(&to).collect();
                rest.append(&mut todo);
                todo = rest;
            }
            _ => {
                return Way {
                    entries,
                    folder: None,
                };
            }
        }
    }
    Way {
        entries,
        folder: Some(here),
    }
}

fn components(path: &Utf8Path) -> impl Iterator<Item = String> {
    path.components()
        .filter(|c| *c != Utf8Component::CurDir)
        .map(|c| c.as_str().to_owned())
}

impl Followed {
    /// Follows a path; false if it is followed already, or has no folder.
    pub(super) fn add(&mut self, path: &Utf8Path) -> bool {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return false;
        };
        match self.folders.get_mut(folder) {
            Some(f) if f.names.contains_key(name) => return false,
            Some(f) => drop(f.names.insert(name.to_owned(), Vec::new())),
            None => {
                let mut f = Folder::default();
                f.names.insert(name.to_owned(), Vec::new());
                self.folders.insert(folder.to_owned(), f);
                self.resolve_folder(folder);
            }
        }
        self.resolve_file(folder, name);
        true
    }

    /// All followed paths, sorted by folder and name.
    pub(super) fn paths(&self) -> impl Iterator<Item = Utf8PathBuf> {
        (self.folders.iter())
            .flat_map(|(folder, f)| f.names.keys().map(move |name| folder.join(name)))
    }

    /// Whether a followed path depends on an entry of a watched folder; `named` if the
    /// entry has come, gone or got another name.
    pub(super) fn matters(&self, entry: &Utf8Path, named: bool) -> bool {
        let listed = || entry.parent().is_some_and(|p| self.listed.contains_key(p));
        self.entries.contains_key(entry) || named && listed()
    }

    /// Something happened to these entries: resolves what depends on them anew, and
    /// answers the followed paths that this is about, sorted.
    pub(super) fn renew(&mut self, entries: &BTreeSet<Utf8PathBuf>) -> Vec<Utf8PathBuf> {
        let mut folders = BTreeSet::new();
        let mut files = BTreeSet::new();
        for entry in entries {
            let mut leads_to_folders = false;
            for dependent in self.entries.get(entry).into_iter().flatten() {
                match dependent {
                    Dependent::Folder(f) => {
                        leads_to_folders = true;
                        folders.insert(f.clone());
                    }
                    Dependent::File(f) => drop(files.insert(f.clone())),
                }
            }
            let listed = entry.parent().and_then(|p| self.listed.get(p));
            files.extend(listed.into_iter().flatten().cloned());
            if leads_to_folders || self.listed.contains_key(entry) {
                // Another folder may have taken the place of a watched one.
                self.listed.remove(entry);
                self.drop_watched(|f| f.starts_with(entry));
            }
        }
        for folder in &folders {
            self.resolve_folder(folder);
            let names = &self.folders[folder].names;
            files.extend(names.keys().map(|name| folder.join(name)));
        }
        for file in &files {
            if let (Some(folder), Some(name)) = (file.parent(), file.file_name()) {
                self.resolve_file(folder, name);
            }
        }
        files.into_iter().collect()
    }

    /// Anything may have happened: as [`Followed::renew`] for all.
    pub(super) fn renew_all(&mut self) -> Vec<Utf8PathBuf> {
        self.drop_watched(|_| true);
        let all: Vec<_> = self.folders.keys().cloned().collect();
        for folder in &all {
            self.resolve_folder(folder);
        }
        let mut paths: Vec<_> = self.paths().collect();
        for path in &paths {
            if let (Some(folder), Some(name)) = (path.parent(), path.file_name()) {
                self.resolve_file(folder, name);
            }
        }
        paths.sort();
        paths
    }

    /// Folders to watch from now on.
    pub(super) fn take_new_folders(&mut self) -> BTreeSet<Utf8PathBuf> {
        std::mem::take(&mut self.new)
    }

    /// Folders whose watches are to be given up, before the new ones are made.
    pub(super) fn take_stale_folders(&mut self) -> BTreeSet<Utf8PathBuf> {
        std::mem::take(&mut self.stale)
    }

    /// A folder could not be watched: it is no more.
    pub(super) fn forget_folder(&mut self, folder: &Utf8Path) {
        self.watched.remove(folder);
    }

    fn drop_watched(&mut self, which: impl Fn(&Utf8Path) -> bool) {
        let gone: Vec<_> = (self.watched.iter())
            .filter(|f| which(f))
            .cloned()
            .collect();
        for folder in gone {
            self.watched.remove(&folder);
            self.new.remove(&folder);
            self.stale.insert(folder);
        }
    }

    fn resolve_folder(&mut self, folder: &Utf8Path) {
        let way = walk("/".into(), folder);
        let dependent = Dependent::Folder(folder.to_owned());
        let old = std::mem::take(&mut self.folders.entry(folder.to_owned()).or_default().way);
        self.depend(&dependent, &old, &way.entries);
        if let Some(f) = self.folders.get_mut(folder) {
            f.way = way.entries;
            f.real = way.folder;
        }
    }

    fn resolve_file(&mut self, folder: &Utf8Path, name: &str) {
        let Some(f) = self.folders.get_mut(folder) else {
            return;
        };
        let (entries, own) = match &f.real {
            Some(real) => {
                let way = walk(real, name.into());
                (way.entries, way.folder)
            }
            // What is on the way to the folder will tell.
            None => (Vec::new(), None),
        };
        let old = f.names.insert(name.to_owned(), entries.clone());
        let path = folder.join(name);
        if let Some(real) = own {
            self.listed
                .entry(real.clone())
                .or_default()
                .insert(path.clone());
            self.watch(&real);
        }
        let dependent = Dependent::File(path);
        self.depend(&dependent, &old.unwrap_or_default(), &entries);
    }

    /// What depended on some entries depends on others now.
    fn depend(&mut self, dependent: &Dependent, old: &[Utf8PathBuf], now: &[Utf8PathBuf]) {
        for entry in old.iter().filter(|e| !now.contains(e)) {
            if let Some(all) = self.entries.get_mut(entry) {
                all.remove(dependent);
                if all.is_empty() {
                    self.entries.remove(entry);
                }
            }
        }
        for entry in now {
            self.entries
                .entry(entry.clone())
                .or_default()
                .insert(dependent.clone());
            if let Some(folder) = entry.parent() {
                self.watch(folder);
            }
        }
    }

    fn watch(&mut self, folder: &Utf8Path) {
        if self.watched.insert(folder.to_owned()) {
            self.new.insert(folder.to_owned());
        }
    }
}
