//! From the state of the solver to what consumers see: annotations of canonical
//! sites, graphs with calls resolved, classes, families.
//!
//! A [`View`] keeps the tables that this needs over the whole program; a
//! [`Projector`] answers one question with them.

mod classes;
mod families;
mod frozen;
mod functions;
mod groups;
mod helpers;
mod index;
mod values;

pub(crate) use index::{Dirty, View};
#[cfg(test)]
pub(crate) use values::Sites;
pub(crate) use values::is_conflict;

use std::sync::Arc;

use taipan_base::{Db, Program};
use taipan_graph::ObjId;

use crate::eval::FunctionState;
use crate::solver::Solver;
use crate::store::{NodeKey, SlotKey, SpecIx};
use crate::{HelperKey, Roots, Spec, Target};

/// How specialised functions are named outside.
#[derive(Clone, Copy)]
pub(crate) enum Naming<'a> {
    /// As functions of an annotated program.
    Program(&'a dyn Db, Roots),
    /// As helpers of the prelude.
    Helpers(&'a dyn Db, Program),
}

/// A projection at work.
pub(crate) struct Projector<'a> {
    pub(crate) solver: &'a Solver,
    pub(crate) view: &'a View,
    pub(crate) naming: Naming<'a>,
}

impl Projector<'_> {
    /// The name of a specialised function outside.
    pub(crate) fn target(&self, spec: SpecIx) -> Target {
        let key = &self.solver.store.specs[spec];
        match self.naming {
            Naming::Program(db, roots) => {
                Target::Spec(Spec::new(db, roots, key.func, key.key.clone()))
            }
            Naming::Helpers(db, program) => {
                let (name, args) = self.helper_name(spec);
                Target::Helper(HelperKey::new(db, program, name, args))
            }
        }
    }

    /// A specialised function, if it is called.
    pub(crate) fn called(&self, func: ObjId, key: &Arc<str>) -> Option<SpecIx> {
        let store = &self.solver.store;
        let spec = store.find_spec(func, key)?;
        (!store.value(&SlotKey::Called(spec)).is_bottom()).then_some(spec)
    }

    /// What is known inside a function.
    pub(crate) fn state(&self, spec: SpecIx) -> Option<&Arc<FunctionState>> {
        let node = self.solver.store.find_node(&NodeKey::Spec(spec))?;
        self.solver.functions.get(node)
    }
}
