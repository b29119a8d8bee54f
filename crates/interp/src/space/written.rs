//! Files as a program sees them while it is imported: those of the machine, and over them
//! what the program has written itself.
//!
//! Import time runs on every keystroke in an editor and changes nothing on the machine. A
//! program may write all the same: it can read, list, rename and import what it wrote, until
//! import time is over.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use taipan_base::FileContents;

use super::sizes::MOST_BYTES;
use super::units::Input;
use super::{Interp, R};
use crate::heap_image::queries::{FileState, file_state};

/// The folder for temporary files, taken to be there, and to hold what the program has put
/// into it: looking would make all that others put into it count as the program's input.
const TEMPORARY: &str = "/tmp";

/// What a program has written, by absolute path.
#[derive(Clone, Debug, Default)]
pub(crate) struct Written(BTreeMap<Utf8PathBuf, Entry>);

/// What a program has made of a path.
#[derive(Clone, Debug)]
enum Entry {
    File(Arc<Vec<u8>>),
    Folder,
    Gone,
}

/// What is at a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum What {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// Nothing.
    Nothing,
}

/// The number and the text of an error of the system.
pub(crate) type SystemError = (i32, &'static str);

const MISSING: SystemError = (libc::ENOENT, "No such file or directory");
const IS_FOLDER: SystemError = (libc::EISDIR, "Is a directory");
const NO_FOLDER: SystemError = (libc::ENOTDIR, "Not a directory");
const EXISTS: SystemError = (libc::EEXIST, "File exists");
const NOT_EMPTY: SystemError = (libc::ENOTEMPTY, "Directory not empty");
pub(crate) const TOO_LARGE: SystemError = (libc::EFBIG, "File too large");
const FORBIDDEN: SystemError = (libc::EPERM, "not allowed while a program is imported");

impl Written {
    /// The paths at which something has changed.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Utf8PathBuf> {
        self.0.keys()
    }

    /// Bytes that it takes.
    pub(crate) fn size(&self) -> usize {
        let size = |e: &Entry| match e {
            Entry::File(data) => data.len(),
            Entry::Folder | Entry::Gone => 0,
        };
        self.0
            .iter()
            .map(|(path, e)| path.as_str().len() + size(e))
            .sum()
    }
}

impl Interp<'_> {
    /// What is at a path.
    pub(crate) fn what_is(&self, path: &Utf8Path) -> What {
        self.note_path(path, Input::State);
        match self.written.0.get(path) {
            Some(Entry::File(_)) => return What::File,
            Some(Entry::Folder) => return What::Folder,
            Some(Entry::Gone) => return What::Nothing,
            None if path == TEMPORARY => return What::Folder,
            None => {}
        }
        if self.is_below_gone(path) {
            return What::Nothing;
        }
        let file = self.file_at(path);
        if self.db.files().is_missing(self.db, file) {
            return What::Nothing;
        }
        match file_state(self.db, file) {
            FileState::Missing => What::Nothing,
            FileState::Directory => What::Folder,
            FileState::Text | FileState::Unreadable(_) => What::File,
        }
    }

    /// Why what is at a path cannot be read, if it is something that cannot.
    pub(crate) fn unreadable(&self, path: &Utf8Path) -> Option<String> {
        self.note_path(path, Input::State);
        if self.written.0.contains_key(path) {
            return None;
        }
        match file_state(self.db, self.file_at(path)) {
            FileState::Unreadable(why) => Some(why.clone()),
            FileState::Text | FileState::Missing | FileState::Directory => None,
        }
    }

    /// Whether a folder above is no longer the machine's.
    fn is_below_gone(&self, path: &Utf8Path) -> bool {
        // In the order of paths a folder is followed by its contents: the last path in front of this one is in each folder
        // above this one that is written, or is that folder.
        let before = (Bound::Unbounded, Bound::Excluded(path));
        let Some((nearest, _)) = self.written.0.range::<Utf8Path, _>(before).next_back() else {
            return false;
        };
        let shared = nearest.ancestors().filter(|a| path.starts_with(a));
        shared
            .map(|above| self.written.0.get(above))
            .any(|entry| matches!(entry, Some(Entry::Gone | Entry::Folder)))
    }

    /// The contents of a file.
    pub(crate) fn read_file(&self, path: &Utf8Path) -> Result<Arc<[u8]>, SystemError> {
        self.note_path(path, Input::Contents);
        match self.written.0.get(path) {
            Some(Entry::File(data)) => return Ok(data[..].into()),
            Some(Entry::Folder) => return Err(IS_FOLDER),
            Some(Entry::Gone) => return Err(MISSING),
            None if self.is_below_gone(path) => return Err(MISSING),
            None => {}
        }
        if let Some(noise) = super::modules::os::device(self, path) {
            return Ok(noise.into());
        }
        match self.file_at(path).contents(self.db) {
            FileContents::Text(t) => Ok(t.as_bytes().into()),
            FileContents::Missing => Err(MISSING),
            FileContents::Directory(_) => Err(IS_FOLDER),
            FileContents::InvalidUtf8 { bytes, .. } => Ok(bytes.clone()),
            FileContents::Unreadable(_) => Err((libc::EIO, "cannot be read")),
        }
    }

    /// The text of a module that the program has written.
    pub(crate) fn written_text(&self, path: &Utf8Path) -> Option<String> {
        self.note_path(path, Input::State);
        match self.written.0.get(path)? {
            Entry::File(data) => Some(String::from_utf8_lossy(data).into_owned()),
            Entry::Folder | Entry::Gone => None,
        }
    }

    /// The files below a folder that the program has written: name in that folder and text, by
    /// name. Those that are no text are not among them.
    pub(crate) fn written_below(&self, folder: &Utf8Path) -> Vec<(String, String)> {
        self.spoil();
        let files = self.written.0.range(folder.to_owned()..);
        let inside = files.take_while(|(path, _)| path.starts_with(folder));
        let texts = inside.filter_map(|(path, entry)| {
            let Entry::File(data) = entry else {
                return None;
            };
            let name = path.strip_prefix(folder).ok()?;
            Some((name.to_string(), String::from_utf8(data.to_vec()).ok()?))
        });
        texts.collect()
    }

    /// Opens a file to be written: empty, or with what there is in it.
    pub(crate) fn open_to_write(&mut self, path: &Utf8Path, keep: bool) -> Result<(), SystemError> {
        let data = match self.what_is(path) {
            What::Folder => return Err(IS_FOLDER),
            What::File if keep => self.read_file(path)?.to_vec(),
            What::File => Vec::new(),
            What::Nothing => {
                self.need_folder_of(path)?;
                Vec::new()
            }
        };
        self.put(path, Entry::File(Arc::new(data)));
        Ok(())
    }

    /// Whether a file may have that size, which it is about to get.
    pub(crate) fn may_have_size(&mut self, size: usize) -> R<bool> {
        if size > MOST_BYTES {
            return Ok(false);
        }
        self.reserve(size as u64)?;
        self.heap.fresh += super::meter::ENTRY;
        Ok(true)
    }

    /// Writes at a position of a file that was opened to be written; None for its end. The
    /// position behind it.
    pub(crate) fn write_at(&mut self, path: &Utf8Path, at: Option<usize>, bytes: &[u8]) -> usize {
        self.spoil();
        // Not there any more: what is written goes nowhere.
        let Some(Entry::File(data)) = self.written.0.get_mut(path) else {
            return at.unwrap_or(0) + bytes.len();
        };
        let data = Arc::make_mut(data);
        let start = at.unwrap_or(data.len());
        let end = start + bytes.len();
        if data.len() < end {
            data.resize(end, 0);
        }
        data[start..end].copy_from_slice(bytes);
        end
    }

    /// What is in a file that was opened to be written.
    pub(crate) fn written_data(&self, path: &Utf8Path) -> &[u8] {
        self.spoil();
        match self.written.0.get(path) {
            Some(Entry::File(data)) => data,
            _ => &[],
        }
    }

    /// Cuts a file off, or fills it up with zeros.
    pub(crate) fn resize_file(&mut self, path: &Utf8Path, size: usize) {
        self.spoil();
        if let Some(Entry::File(data)) = self.written.0.get_mut(path) {
            Arc::make_mut(data).resize(size, 0);
        }
    }

    /// The names in a folder, sorted.
    pub(crate) fn list_folder(&self, path: &Utf8Path) -> Result<Vec<Box<str>>, SystemError> {
        self.note_path(path, Input::Contents);
        match self.what_is(path) {
            What::Nothing => return Err(MISSING),
            What::File => return Err(NO_FOLDER),
            What::Folder => {}
        }
        let mut names: Vec<Box<str>> = match self.written.0.get(path) {
            Some(_) => Vec::new(),
            None if path == TEMPORARY => Vec::new(),
            None => match self.file_at(path).contents(self.db) {
                FileContents::Directory(names) => names.to_vec(),
                _ => Vec::new(),
            },
        };
        for (written, entry) in &self.written.0 {
            let Some(name) = written.file_name() else {
                continue;
            };
            if written.parent() == Some(path) {
                names.retain(|n| **n != *name);
                if !matches!(entry, Entry::Gone) {
                    names.push(name.into());
                }
            }
        }
        names.sort();
        Ok(names)
    }

    /// `mkdir`
    pub(crate) fn make_folder(&mut self, path: &Utf8Path) -> Result<(), SystemError> {
        if self.what_is(path) != What::Nothing {
            return Err(EXISTS);
        }
        self.need_folder_of(path)?;
        self.put(path, Entry::Folder);
        Ok(())
    }

    /// `unlink`
    pub(crate) fn remove_file(&mut self, path: &Utf8Path) -> Result<(), SystemError> {
        match self.what_is(path) {
            What::Nothing => Err(MISSING),
            What::Folder => Err(IS_FOLDER),
            What::File => {
                self.put(path, Entry::Gone);
                Ok(())
            }
        }
    }

    /// `rmdir`
    pub(crate) fn remove_folder(&mut self, path: &Utf8Path) -> Result<(), SystemError> {
        if !self.list_folder(path)?.is_empty() {
            return Err(NOT_EMPTY);
        }
        self.put(path, Entry::Gone);
        Ok(())
    }

    /// `rename`, of files only.
    pub(crate) fn rename_file(
        &mut self,
        from: &Utf8Path,
        to: &Utf8Path,
    ) -> Result<(), SystemError> {
        if self.what_is(from) == What::Folder {
            return Err(FORBIDDEN);
        }
        let data = self.read_file(from)?.to_vec();
        match self.what_is(to) {
            What::Folder => return Err(IS_FOLDER),
            What::Nothing => self.need_folder_of(to)?,
            What::File => {}
        }
        if from != to {
            self.put(from, Entry::Gone);
            self.put(to, Entry::File(Arc::new(data)));
        }
        Ok(())
    }

    fn put(&mut self, path: &Utf8Path, entry: Entry) {
        self.note_written(path);
        self.written.0.insert(path.to_owned(), entry);
    }

    fn need_folder_of(&self, path: &Utf8Path) -> Result<(), SystemError> {
        let Some(folder) = path.parent().filter(|f| *f != TEMPORARY) else {
            return Ok(());
        };
        match self.what_is(folder) {
            What::Folder => Ok(()),
            What::File => Err(NO_FOLDER),
            What::Nothing => Err(MISSING),
        }
    }
}
