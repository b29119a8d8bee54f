//! Finds out how much of a program was compiled.

use std::hash::{Hash as _, Hasher as _};

use rustc_hash::FxHasher;
use taipan_base::{Program, SHIPPED};
use taipan_interp::{ObjData, Object};

use crate::db::Database;
use crate::extent::Extent;
use crate::program::{entry_roots, has_errors, import_diagnostics};

/// Of a program that was checked or compiled from its entry point on. Asks queries that
/// have run then.
pub(crate) fn extent_of(db: &Database, program: Program) -> Extent {
    let mut out = Extent::default();
    for file in taipan_interp::program_files(db, program).iter() {
        let path = file.path(db);
        if !path.starts_with(SHIPPED) {
            out.add_file(path);
        }
    }
    // Where import time failed, annotation did not come to its end, if it began.
    if has_errors(&import_diagnostics(db, program)) {
        return out;
    }
    let Ok(roots) = entry_roots(db, program) else {
        return out;
    };
    let roots = if taipan_annotator::annotation_diagnostics(db, roots).is_empty() {
        roots
    } else {
        roots.recover(db)
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
            let mut h = FxHasher::default();
            (f.code.qualname(db), f.code.nth(db)).hash(&mut h);
            let name = (h.finish() >> 32) as u32;
            out.add_function(path, name);
        }
    }
    out
}

/// How much of a program was compiled, after [`crate::check`] or [`crate::build`]. Where the
/// answer was kept, so was this.
pub fn extent(db: &Database, program: Program) -> Extent {
    match db.kept_extent(program) {
        Some(extent) => extent,
        None => extent_of(db, program),
    }
}
