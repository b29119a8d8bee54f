//! Modules by their names alone, for files that no program loads: what an import there
//! means is told by the files that there are.

use rustc_hash::FxHashMap;
use taipan_base::{Db, File};

/// Files of Python, found by the names of their modules.
pub(crate) struct Modules {
    /// By the last part of the name, with the path that the parts make.
    by_name: FxHashMap<String, Vec<(String, File)>>,
}

impl Modules {
    pub(crate) fn new(db: &dyn Db, files: impl Iterator<Item = File>) -> Modules {
        let mut by_name: FxHashMap<String, Vec<(String, File)>> = FxHashMap::default();
        for file in files {
            let path = file.path(db).as_str();
            let Some(stem) = path.strip_suffix(".py") else {
                continue;
            };
            let stem = stem.strip_suffix("/__init__").unwrap_or(stem);
            let name = stem.rsplit('/').next().unwrap_or(stem);
            let same = by_name.entry(name.to_owned()).or_default();
            let entry = (stem.to_owned(), file);
            if !same.contains(&entry) {
                same.push(entry);
            }
        }
        Modules { by_name }
    }

    /// The module that an import in a file names; none if several could be meant.
    pub(crate) fn find(&self, db: &dyn Db, from: File, dots: u32, dotted: &str) -> Option<File> {
        let mut folder = from.path(db).parent()?;
        for _ in 1..dots {
            folder = folder.parent()?;
        }
        let parts = dotted.replace('.', "/");
        let here = match parts.is_empty() {
            true => folder.as_str().to_owned(),
            false => folder.join(&parts).into_string(),
        };
        let same = self.by_name.get(here.rsplit('/').next()?)?;
        if let Some((_, file)) = same.iter().find(|(stem, _)| *stem == here) {
            return Some(*file);
        }
        if dots > 0 || parts.is_empty() {
            return None;
        }
        let end = format!("/{parts}");
        let mut all = same.iter().filter(|(stem, _)| stem.ends_with(&end));
        match (all.next(), all.next()) {
            (Some((_, file)), None) => Some(*file),
            _ => None,
        }
    }
}
