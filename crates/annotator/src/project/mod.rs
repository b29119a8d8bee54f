//! From the state of the solver to what consumers see: annotations of canonical
//! sites, graphs with calls resolved, classes, families.

mod classes;
mod families;
mod functions;
mod values;

pub(crate) use values::{Sites, is_conflict};

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_base::{Db, Program};
use taipan_graph::ObjId;

use crate::solution::Solution;
use crate::solver::Solver;
use crate::store::{SlotKey, SpecIx};
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
    pub(crate) sites: Sites,
    naming: Naming<'a>,
    /// Functions that are called: those of a program in a stable order.
    pub(crate) order: Vec<SpecIx>,
    /// Functions that stand in the same row of a call family.
    shared: BTreeMap<SpecIx, BTreeSet<SpecIx>>,
    family_of: FxHashMap<ObjId, ObjId>,
    families: BTreeMap<ObjId, crate::CallFamily>,
    rows: FxHashMap<Vec<(ObjId, SpecIx)>, u32>,
}

impl<'a> Projector<'a> {
    pub(crate) fn new(solver: &'a Solver, naming: Naming<'a>) -> Projector<'a> {
        let mut p = Projector {
            solver,
            sites: Sites::of(&solver.store),
            naming,
            order: Vec::new(),
            shared: BTreeMap::new(),
            family_of: FxHashMap::default(),
            families: BTreeMap::new(),
            rows: FxHashMap::default(),
        };
        p.order = match naming {
            Naming::Program(..) => p.called_by_name(),
            Naming::Helpers(..) => p.called().collect(),
        };
        p.find_families();
        p
    }

    /// Specialised functions that are called.
    fn called(&self) -> impl Iterator<Item = SpecIx> {
        let store = &self.solver.store;
        (0..store.specs.len() as SpecIx).filter(|i| !store.value(&SlotKey::Called(*i)).is_bottom())
    }

    /// The same by module, name and key.
    fn called_by_name(&self) -> Vec<SpecIx> {
        let mut all: Vec<(String, ObjId, Arc<str>, SpecIx)> = Vec::new();
        for i in self.called() {
            let spec = &self.solver.store.specs[i as usize];
            let name = match self.solver.facts.function(spec.func) {
                Ok(Some(info)) => format!("{}.{}", info.data.module, info.data.name),
                _ => String::new(),
            };
            all.push((name, spec.func, spec.key.clone(), i));
        }
        all.sort();
        all.into_iter().map(|(.., i)| i).collect()
    }

    /// The name of a specialised function outside.
    pub(crate) fn target(&self, spec: SpecIx) -> Target {
        let key = &self.solver.store.specs[spec as usize];
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

    /// Everything.
    pub(crate) fn solution(&mut self, old: Option<&Solution>) -> Solution {
        let mut solution = Solution::default();
        for spec in self.order.clone() {
            let key = self.solver.store.specs[spec as usize].clone();
            let annotation = self.function(spec);
            solution.add_function(key.func, key.key, annotation, old);
        }
        self.add_classes(&mut solution, old);
        self.add_sites(&mut solution, old);
        for (member, family) in std::mem::take(&mut self.families) {
            for f in &family.functions {
                solution.add_call_family(*f, &family, old);
            }
            solution.add_call_family(member, &family, old);
        }
        self.add_attr_families(&mut solution, old);
        solution
    }

    fn add_sites(&self, solution: &mut Solution, old: Option<&Solution>) {
        let store = &self.solver.store;
        for slot in &store.slots {
            match slot.key {
                SlotKey::Item(site) | SlotKey::Flags(site) => {
                    let canonical = self.sites.find(site);
                    if canonical == site {
                        let def = self.sites.list_def(store, site);
                        solution.add_list(site, def, old);
                    } else {
                        solution.add_alias(site, canonical);
                    }
                }
                SlotKey::Key(site) | SlotKey::Value(site) => {
                    let canonical = self.sites.find(site);
                    if canonical == site {
                        let def = self.sites.dict_def(store, site);
                        solution.add_dict(site, def, old);
                    } else {
                        solution.add_alias(site, canonical);
                    }
                }
                _ => {}
            }
        }
    }
}
