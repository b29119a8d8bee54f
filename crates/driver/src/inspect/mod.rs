//! A whole program as plain data, for those who want to look at it: its functions and what
//! calls what, its classes, and what each stage made of a function.
//!
//! Everything comes from the queries that compile the program. The same program always
//! gives the same data.

mod colors;
mod overview;
mod pictures;
mod view;

use std::collections::BTreeMap;

use camino::Utf8Path;
use taipan_annotator::{Roots, Spec};
use taipan_base::{Diagnostic, Program};
use taipan_interp::{ObjData, Object};

use crate::LoadOptions;
use crate::check::check;
use crate::db::Database;
use crate::fault::{Failure, guarded};
use crate::names::object_name;
use crate::program::{entry_roots, has_errors, load, placed};
use crate::timing::Timings;
use crate::typed::typed_program;

pub use colors::{ColorRow, colors};
pub use overview::{AttributeRow, ClassRow, DriverRow, FileRow, FunctionRow, Overview, overview};
pub use pictures::{call_picture, class_picture};
pub use view::{Pass, View, ViewLine, passes, view};

/// Makes all that a build makes of a program, short of putting it together, and tells what
/// is wrong with it.
pub fn make(
    db: &Database,
    options: &LoadOptions,
    target: &Utf8Path,
    timings: &mut Timings,
) -> Result<Vec<Diagnostic>, Failure> {
    // What is looked at has to be in the database, not only in the cache.
    db.leave_answers();
    let program = load(db, target, options)?;
    let found = guarded(|| check(db, program, timings))?;
    if has_errors(&found) {
        return Ok(found);
    }
    guarded(|| {
        let (roots, _) = typed_program(db, program, timings)?;
        crate::stages::linked::compile_entries(db, roots, &[], timings);
        Ok::<_, Failure>(())
    })??;
    Ok(found)
}

/// A program to look at.
#[derive(Clone, Copy)]
pub struct Inspected<'db> {
    /// The database that knows it.
    pub db: &'db Database,
    /// Where it begins.
    roots: Roots,
}

impl<'db> Inspected<'db> {
    /// The program of a target file.
    pub fn new(
        db: &'db Database,
        options: &LoadOptions,
        target: &Utf8Path,
    ) -> Result<Inspected<'db>, Failure> {
        let program = load(db, target, options)?;
        let roots = entry_roots(db, program).map_err(|d| placed(db, program, d))?;
        Ok(Inspected { db, roots })
    }

    fn program(&self) -> Program {
        self.roots.program(self.db)
    }

    /// Its functions by the names that they have here, each for every way in which it is
    /// specialised.
    fn named_specs(&self) -> Vec<(String, Spec)> {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let specs = taipan_annotator::specs_of(self.db, self.roots);
        (specs.iter())
            .map(|spec| {
                let name = object_name(self.db, self.program(), spec.func(self.db));
                let mut name = name.unwrap_or_else(|| format!("{:?}", spec.func(self.db)));
                if !spec.key(self.db).is_empty() {
                    name.push_str(&format!(" [{}]", spec.key(self.db)));
                }
                let count = seen.entry(name.clone()).or_insert(0);
                *count += 1;
                if *count > 1 {
                    name.push_str(&format!(" #{count}"));
                }
                (name, *spec)
            })
            .collect()
    }

    fn spec(&self, name: &str) -> Result<Spec, Failure> {
        let all = self.named_specs().into_iter();
        let found = all.filter(|(n, _)| n == name).map(|(_, s)| s).next();
        found.ok_or_else(|| Failure::Usage(format!("the program has no function {name}")))
    }

    fn function_data(&self, spec: Spec) -> Option<std::sync::Arc<ObjData>> {
        let object = Object::new(self.db, self.program(), spec.func(self.db));
        taipan_interp::object(self.db, object).clone()
    }
}
