//! Annotation of prelude helpers, specialised by low-level types.
//!
//! One solver for the whole prelude stays warm: its roots only grow, and what is
//! known of one helper does not depend on which others have been asked for, since
//! every helper is specialised by all of its arguments.

use std::sync::Arc;

use taipan_base::{Db, Program};
use taipan_graph::Const;
use taipan_interp::{Name, module_global, named_id};

use crate::HelperKey;
use crate::eval::Root;
use crate::facts::Facts;
use crate::project::{Naming, Projector};
use crate::result::FunctionAnnotation;
use crate::solution::{refresh, run, unreached};
use crate::solver::Solver;

/// Name of the slot of warm state.
const SLOT: &str = "annotator helpers";

pub(crate) fn annotate(db: &dyn Db, key: HelperKey) -> Arc<FunctionAnnotation> {
    let program = key.prelude(db);
    let name = key.name(db);
    let (module, func) = name.rsplit_once('.').unwrap_or(("", name));
    let module = named_id(&format!("taipan_prelude.{module}"));
    let Some(Const::Obj(func)) = module_global(db, Name::new(db, program, module, func)) else {
        return Arc::new(unreached());
    };
    let root = Root::Helper {
        func: *func,
        args: key.args(db).to_vec(),
    };
    let slot = db.warm().slot(SLOT);
    let warm = slot
        .lock()
        .unwrap_or_else(|e| e.into_inner())
        .take()
        .and_then(|b| b.downcast::<(Program, Solver)>().ok())
        .filter(|w| w.0 == program);
    let mut solver = match warm {
        Some(mut w) => {
            let (edited, other) = refresh(db, program, &mut w.1.facts);
            if edited.is_empty() && !other {
                w.1
            } else {
                fresh()
            }
        }
        None => fresh(),
    };
    solver.add_root(root.clone());
    run(db, program, &mut solver);
    let result = match solver.spec_of_root(&root) {
        Some(spec) => {
            let projector = Projector::new(&solver, Naming::Helpers(db, program));
            projector.function(spec)
        }
        None => unreached(),
    };
    *slot.lock().unwrap_or_else(|e| e.into_inner()) = Some(Box::new((program, solver)));
    Arc::new(result)
}

fn fresh() -> Solver {
    let mut facts = Facts::default();
    facts.helper_mode = true;
    Solver::new(facts, Vec::new())
}
