//! How much of a program was compiled, for the line that closes a command.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

/// The files that a program consists of, and its functions in them; what ships with the
/// compiler is left out.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Extent(BTreeMap<Utf8PathBuf, BTreeSet<u32>>);

impl Extent {
    /// How many files.
    pub fn files(&self) -> usize {
        self.0.len()
    }

    /// How many functions: one that is compiled for several types counts once.
    pub fn functions(&self) -> usize {
        self.0.values().map(BTreeSet::len).sum()
    }

    /// Adds another program. What both have counts once.
    pub fn add(&mut self, other: &Extent) {
        for (file, functions) in &other.0 {
            self.0.entry(file.clone()).or_default().extend(functions);
        }
    }

    /// Adds a file.
    pub(crate) fn add_file(&mut self, path: &Utf8PathBuf) {
        self.0.entry(path.clone()).or_default();
    }

    /// Adds a function by a hash of its name: names would take ten times the room.
    pub(crate) fn add_function(&mut self, path: &Utf8PathBuf, name: u32) {
        self.0.entry(path.clone()).or_default().insert(name);
    }
}
