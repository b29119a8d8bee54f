//! How much of a program was compiled, for the line that closes a command.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash as _, Hasher as _};

use camino::Utf8PathBuf;
use rustc_hash::FxHasher;
use serde::{Deserialize, Serialize};
use taipan_base::{Program, SHIPPED};
use taipan_interp::{ObjData, Object};

use crate::Database;
use crate::session::{entry_roots, has_errors, import_diagnostics};

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

    /// Of a program that was checked or compiled from its entry point on. Asks queries that
    /// have run then.
    pub(crate) fn of(db: &Database, program: Program) -> Extent {
        let mut out = Extent::default();
        for file in taipan_interp::program_files(db, program).iter() {
            let path = file.path(db);
            if !path.starts_with(SHIPPED) {
                out.0.entry(path.clone()).or_default();
            }
        }
        // Where import time failed, annotation did not come to its end, if it began.
        if has_errors(&import_diagnostics(db, program)) {
            return out;
        }
        let Ok(roots) = entry_roots(db, program) else {
            return out;
        };
        let roots = match taipan_annotator::annotation_diagnostics(db, roots).is_empty() {
            true => roots,
            false => roots.recover(db),
        };
        for spec in taipan_annotator::specs_of(db, roots).iter() {
            let object = Object::new(db, program, spec.func(db));
            let Some(ObjData::Function(f)) = taipan_interp::object(db, object).as_deref() else {
                continue;
            };
            let Some(file) = f.code.file(db) else {
                continue;
            };
            let path = file.path(db);
            if !path.starts_with(SHIPPED) {
                // Names would take ten times the room.
                let mut h = FxHasher::default();
                (f.code.qualname(db), f.code.nth(db)).hash(&mut h);
                let name = (h.finish() >> 32) as u32;
                out.0.entry(path.clone()).or_default().insert(name);
            }
        }
        out
    }
}

/// How much of a program was compiled, after [`crate::check`] or [`crate::build`]. Where the
/// answer was kept, so was this.
pub fn extent(db: &Database, program: Program) -> Extent {
    match db.kept_extent(program) {
        Some(extent) => extent,
        None => Extent::of(db, program),
    }
}
