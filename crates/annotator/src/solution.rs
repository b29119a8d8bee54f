//! The query that solves a program, and the handle on the outcome that projections read
//! from.

use std::sync::{Arc, PoisonError, RwLock};

use rustc_hash::FxHashMap;
use taipan_base::Db;
use taipan_graph::{FunctionGraph, ObjId};
use taipan_interp::{Name, Object, module_global, named_id, object};

use crate::eval::Root;
use crate::facts::Facts;
use crate::names::known_attributes;
use crate::project::{Naming, Projector};
use crate::result::{FunctionAnnotation, Signature, VarAnnotations};
use crate::warm::Warm;
use crate::{InputType, RootSet, Roots, SomeValue};
use taipan_base::reads::apart;

/// The outcome of annotation in some revision. It lives outside salsa's tables, in the
/// state that the next revision goes on from; a handle is good for as long as the query
/// that answered it is valid. Two are equal if nothing has changed from one to the other.
#[derive(Clone)]
pub(crate) struct Solution {
    pub(crate) run: u64,
    state: Shared,
}

/// Empty while the state is being changed, and after a panic.
type Shared = Arc<RwLock<Option<Warm>>>;

impl PartialEq for Solution {
    fn eq(&self, other: &Self) -> bool {
        self.run == other.run && Arc::ptr_eq(&self.state, &other.state)
    }
}

impl Eq for Solution {}

impl Solution {
    /// Looks something up.
    pub(crate) fn read<R: Default>(&self, look: impl FnOnce(&Warm) -> R) -> R {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        state.as_ref().map(look).unwrap_or_default()
    }

    /// Looks something up that may leave traces in the solver, but none in its outcome.
    pub(crate) fn write<R: Default>(&self, look: impl FnOnce(&mut Warm) -> R) -> R {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.as_mut().map(look).unwrap_or_default()
    }

    /// Asks for a projection.
    pub(crate) fn ask<R: Default>(
        &self,
        db: &dyn Db,
        roots: Roots,
        ask: impl FnOnce(&Projector<'_>) -> R,
    ) -> R {
        self.read(|w| ask(&w.projector(Naming::Program(db, roots))))
    }
}

/// Warm state that is taken out of its place while it changes. It goes back when work
/// ends, also when salsa unwinds because its answers are not wanted any more; after a
/// panic of the solver it is dropped.
pub(crate) struct Work {
    pub(crate) warm: Option<Warm>,
    place: Shared,
}

impl Work {
    pub(crate) fn on(place: &Shared, fresh: impl FnOnce() -> Warm) -> Work {
        let mut state = place.write().unwrap_or_else(PoisonError::into_inner);
        Work {
            warm: Some(state.take().unwrap_or_else(fresh)),
            place: place.clone(),
        }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let warm = self.warm.take().filter(|w| w.consistent);
        *self.place.write().unwrap_or_else(PoisonError::into_inner) = warm;
    }
}

/// The annotation of a function that is never called.
pub(crate) fn unreached() -> FunctionAnnotation {
    FunctionAnnotation {
        graph: Arc::new(FunctionGraph::new("", (), (), ())),
        vars: VarAnnotations::new([SomeValue::default()], vec![0; 3]),
        reached: vec![false; 3],
        calls: Default::default(),
        followed: Vec::new(),
        signature: Signature::default(),
        broken: None,
    }
}

/// The place of warm state.
fn place(db: &dyn Db, roots: Roots) -> Shared {
    let all = |all: &mut FxHashMap<Roots, Shared>| all.entry(roots).or_default().clone();
    db.warm().with("annotator", all)
}

/// Annotates the program. Everyone reads the outcome through projections.
#[salsa::tracked(returns(clone))]
pub(crate) fn solve(db: &dyn Db, roots: Roots) -> Solution {
    let _timed = taipan_base::timed(db);
    // Whoever asks depends on projections of the outcome, not on what it is made from.
    apart(|| solve_program(db, roots))
}

fn solve_program(db: &dyn Db, roots: Roots) -> Solution {
    let program = roots.program(db);
    let calls = root_calls(db, roots);
    let state = place(db, roots);
    let recovering = roots.recovering(db);
    let fresh = || {
        let mut facts = Facts::default();
        facts.recovering = recovering;
        Warm::new(facts, calls.clone())
    };
    let mut work = Work::on(&state, fresh);
    if recovering {
        // What they say is no fact that the solver keeps track of.
        let names = known_attributes(db, program);
        if let Some(warm) = work.warm.take_if(|w| w.solver.facts.names != names) {
            drop(warm);
            let mut warm = fresh();
            warm.solver.facts.names = names;
            work.warm = Some(warm);
        }
    }
    let mut run = 0;
    if let Some(warm) = &mut work.warm {
        warm.refresh(db, program);
        warm.solver.set_roots(calls);
        warm.solve(db, program);
        run = warm.run;
    }
    drop(work);
    Solution { run, state }
}

/// What the roots call.
fn root_calls(db: &dyn Db, roots: Roots) -> Vec<Root> {
    let call = match roots.set(db) {
        RootSet::EntryPoint(func) => Root::Call {
            func: *func,
            args: vec![InputType::List {
                item: Box::new(InputType::Str {
                    can_be_none: false,
                    no_nul: true,
                }),
                resized: true,
                mutated: true,
            }],
            classes: Vec::new(),
        },
        RootSet::Call { func, args } => Root::Call {
            func: *func,
            args: args.to_vec(),
            classes: classes_in(db, roots, *func, args),
        },
        RootSet::Tests { .. } | RootSet::Functions(_) => {
            let functions = roots.functions(db).into_iter();
            return functions
                .map(|func| Root::Call {
                    func,
                    args: Vec::new(),
                    classes: Vec::new(),
                })
                .collect();
        }
    };
    vec![call]
}

/// The classes that input types name: globals of the function's module, or
/// `module.Class`.
fn classes_in(
    db: &dyn Db,
    roots: Roots,
    func: ObjId,
    args: &[InputType],
) -> Vec<(Box<str>, ObjId)> {
    fn names(t: &InputType, out: &mut Vec<Box<str>>) {
        match t {
            InputType::Instance { class, .. } => out.push(class.clone()),
            InputType::List { item, .. } => names(item, out),
            InputType::Dict { key, value } => {
                names(key, out);
                names(value, out);
            }
            InputType::Tuple(items) => items.iter().for_each(|i| names(i, out)),
            _ => {}
        }
    }
    let program = roots.program(db);
    let mut wanted = Vec::new();
    args.iter().for_each(|a| names(a, &mut wanted));
    let home = match object(db, Object::new(db, program, func)).as_deref() {
        Some(taipan_interp::ObjData::Function(f)) => f.globals,
        _ => return Vec::new(),
    };
    wanted
        .into_iter()
        .filter_map(|n| {
            let (module, name) = match n.rsplit_once('.') {
                Some((m, c)) => (named_id(m), c),
                None => (home, &*n),
            };
            match module_global(db, Name::new(db, program, module, name)) {
                Some(taipan_graph::Const::Obj(o)) => Some((n.clone(), *o)),
                _ => None,
            }
        })
        .collect()
}
