//! Annotation of prelude helpers, specialised by low-level types.
//!
//! One solver for the whole prelude stays warm: its roots only grow, and what is
//! known of one helper does not depend on which others have been asked for, since
//! every helper is specialised by all of its arguments.

use std::sync::{Arc, PoisonError, RwLock};

use rustc_hash::FxHashMap;
use taipan_base::{Db, Program};
use taipan_graph::Const;
use taipan_interp::{Name, module_global, named_id};

use crate::HelperKey;
use crate::eval::Root;
use crate::facts::Facts;
use crate::project::Naming;
use crate::result::FunctionAnnotation;
use crate::solution::unreached;
use crate::warm::Warm;

/// Helpers that were asked for, by prelude.
type Helpers = FxHashMap<Program, Arc<RwLock<Option<Warm>>>>;

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
    let place = place(db, program);
    // One at a time: the others wait rather than start from nothing.
    let mut state = place.write().unwrap_or_else(PoisonError::into_inner);
    let warm = state.get_or_insert_with(|| {
        let mut facts = Facts::default();
        facts.helper_mode = true;
        Warm::new(facts, Vec::new())
    });
    if !warm.consistent {
        *state = None;
        drop(state);
        return annotate(db, key);
    }
    warm.refresh(db, program);
    warm.solver.add_root(root.clone());
    warm.solve(db, program);
    let projector = warm.projector(Naming::Helpers(db, program));
    match warm.solver.spec_of_root(&root) {
        Some(spec) => projector.function(spec),
        None => Arc::new(unreached()),
    }
}

/// The place of warm state.
fn place(db: &dyn Db, program: Program) -> Arc<RwLock<Option<Warm>>> {
    let all = |all: &mut Helpers| all.entry(program).or_default().clone();
    db.warm().with("annotator helpers", all)
}
