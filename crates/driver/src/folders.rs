//! Looking for files in folders.

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use taipan_base::{Db, FileContents, System};

use crate::db::Database;
use crate::fault::Failure;

/// How files and folders are read: through a database, which then knows what it depends
/// on, or past it.
pub trait Reader {
    /// What there is at an absolute path.
    fn read(&self, path: &Utf8Path) -> FileContents;
}

impl Reader for Database {
    fn read(&self, path: &Utf8Path) -> FileContents {
        self.files().get(self, path).contents(self).clone()
    }
}

/// Reads without making what is read an input of any database.
pub struct Past<'a>(pub &'a dyn System);

impl Reader for Past<'_> {
    fn read(&self, path: &Utf8Path) -> FileContents {
        self.0.read(path)
    }
}

/// The files in and below a folder whose names are `wanted`, sorted, files before
/// folders; they are named as the folder is. Folders are gone into if `enters` says so
/// by their names, each once, whatever symbolic links lead to it. Virtual environments of Python are left out.
pub fn files_below(
    reader: &dyn Reader,
    folder: &Utf8Path,
    enters: &dyn Fn(&str) -> bool,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Vec<Utf8PathBuf>, Failure> {
    let mut search = Search {
        reader,
        enters,
        wanted,
        seen: BTreeSet::new(),
        out: Vec::new(),
    };
    search.folder(folder)?;
    Ok(search.out)
}

struct Search<'a> {
    reader: &'a dyn Reader,
    enters: &'a dyn Fn(&str) -> bool,
    wanted: &'a dyn Fn(&str) -> bool,
    /// Real names of the folders gone into.
    seen: BTreeSet<Utf8PathBuf>,
    out: Vec<Utf8PathBuf>,
}

impl Search<'_> {
    fn folder(&mut self, folder: &Utf8Path) -> Result<(), Failure> {
        let fail = |why: String| Failure::Usage(format!("{folder}: {why}"));
        let is_first = self.seen.is_empty();
        let real = folder.canonicalize_utf8();
        if !real.is_ok_and(|real| self.seen.insert(real)) {
            return Ok(());
        }
        let absolute = camino::absolute_utf8(folder).map_err(|e| fail(e.to_string()))?;
        let names = match self.reader.read(&absolute) {
            FileContents::Directory(names) => names,
            FileContents::Unreadable(why) => return Err(fail(why.to_string())),
            // It was a folder a moment ago.
            _ => return Ok(()),
        };
        if !is_first && names.iter().any(|n| &**n == "pyvenv.cfg") {
            return Ok(());
        }
        let mut folders = Vec::new();
        for name in names.iter() {
            let path = clean(&folder.join(&**name));
            if path.is_dir() {
                folders.extend((self.enters)(name).then_some(path));
            } else if (self.wanted)(name) && path.is_file() {
                self.out.push(path);
            }
        }
        folders.iter().try_for_each(|f| self.folder(f))
    }
}

/// Without `.` parts.
pub fn clean(path: &Utf8Path) -> Utf8PathBuf {
    let parts = path.components();
    parts
        .filter(|c| !matches!(c, camino::Utf8Component::CurDir))
        .collect()
}
