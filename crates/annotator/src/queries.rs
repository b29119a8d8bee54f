//! The queries: one whole-program solve and its projections, each of which compares
//! by content.

use std::sync::Arc;

use taipan_base::reads::Step;
use taipan_base::{Db, Diagnostic, noted};
use taipan_graph::ObjId;

use crate::result::{
    AttrFamily, CallFamily, ClassAttributes, ClassDef, FunctionAnnotation, Signature,
};
use crate::solution::{solve, unreached};
use crate::{Class, DictDef, Family, HelperKey, ListDef, Roots, Site, Spec, Target};

noted! {
    /// The annotated graph of a function. Empty for a function that the roots do not
    /// reach.
    pub projection fn annotation(db, spec: Spec) -> Arc<FunctionAnnotation> {
        let roots = spec.roots(db);
        let (func, key) = (spec.func(db), spec.key(db));
        solve(db, roots)
            .ask(db, roots, |p| Some(p.function(p.called(func, key)?)))
            .unwrap_or_else(|| Arc::new(unreached()))
    }
}

noted! {
    /// What callers see of a function: its argument and result annotations.
    pub projection fn signature(db, spec: Spec) -> Arc<Signature> {
        let roots = spec.roots(db);
        let (func, key) = (spec.func(db), spec.key(db));
        let signature = solve(db, roots).ask(db, roots, |p| Some(p.signature(p.called(func, key)?)));
        Arc::new(signature.unwrap_or_default())
    }
}

noted! {
    /// All functions that the roots reach, in a stable order.
    pub projection fn specs_of(db, roots: Roots) -> Arc<[Spec]> {
        solve(db, roots).ask(db, roots, |p| {
            let specs = p.view.called().map(|s| p.target(s));
            specs
                .filter_map(|t| match t {
                    Target::Spec(s) => Some(s),
                    Target::Helper(_) => None,
                })
                .collect()
        })
    }
}

/// The functions that the roots reach, however they are specialised; sorted.
#[salsa::tracked(returns(clone))]
pub fn called_functions(db: &dyn Db, roots: Roots) -> Arc<[ObjId]> {
    solve(db, roots).ask(db, roots, |p| p.view.called_functions())
}

noted! {
    /// All classes in use, in a stable order.
    pub projection fn classes_of(db, roots: Roots) -> Arc<[ObjId]> {
        solve(db, roots).ask(db, roots, |p| p.class_list())
    }
}

noted! {
    /// A class: its place among the classes in use.
    pub projection fn class_def(db, class: Class) -> Arc<ClassDef> {
        let roots = class.roots(db);
        solve(db, roots).ask(db, roots, |p| p.class(class.obj(db)))
    }
}

noted! {
    /// The attributes that a class declares.
    pub projection fn class_attributes(db, class: Class) -> Arc<ClassAttributes> {
        let roots = class.roots(db);
        solve(db, roots).ask(db, roots, |p| p.attributes(class.obj(db)))
    }
}

noted! {
    /// What the lists of a creation site hold.
    pub projection fn list_def(db, site: Site) -> Arc<ListDef> {
        let roots = site.roots(db);
        solve(db, roots).ask(db, roots, |p| p.list(site.id(db)))
    }
}

noted! {
    /// What the dicts of a creation site hold.
    pub projection fn dict_def(db, site: Site) -> Arc<DictDef> {
        let roots = site.roots(db);
        solve(db, roots).ask(db, roots, |p| p.dict(site.id(db)))
    }
}

noted! {
    /// The functions that are called where this one is.
    pub projection fn call_family(db, family: Family) -> Arc<CallFamily> {
        let roots = family.roots(db);
        solve(db, roots).ask(db, roots, |p| p.call_family(family.member(db)))
    }
}

noted! {
    /// The frozen instances whose attributes are read where those of this one are.
    pub projection fn attr_family(db, family: Family) -> Arc<AttrFamily> {
        let roots = family.roots(db);
        solve(db, roots).ask(db, roots, |p| p.attr_family(family.member(db)))
    }
}

/// What is wrong with the program as seen from its roots: errors of flow graphs that
/// are reached, and conflicts of annotations with the places that they come from.
#[salsa::tracked(returns(clone))]
pub fn annotation_diagnostics(db: &dyn Db, roots: Roots) -> Arc<[Diagnostic]> {
    let _timed = taipan_base::timed(db);
    let found = crate::diagnostics::collect(db, roots, &solve(db, roots));
    if found.is_empty() {
        return found;
    }
    // What is wrong stops what is behind it: now that something is, all is looked for.
    let roots = roots.recover(db);
    let all = crate::diagnostics::collect(db, roots, &solve(db, roots));
    if all.is_empty() { found } else { all }
}

/// Warnings about operations that could not succeed, and are left out because nothing needs
/// their results. Means something for a program without errors only.
#[salsa::tracked(returns(clone))]
pub fn dead_operation_warnings(db: &dyn Db, roots: Roots) -> Arc<[Diagnostic]> {
    crate::diagnostics::dead_operations(db, roots, &solve(db, roots))
}

/// The annotated graph of a prelude helper for low-level argument types. Calls of
/// other helpers in it name them by [`crate::Target::Helper`].
#[salsa::tracked(returns(clone))]
pub fn annotate_helper(db: &dyn Db, key: HelperKey) -> Arc<FunctionAnnotation> {
    let _timed = taipan_base::timed(db);
    crate::helper::annotate(db, key)
}

/// What annotation says may be different from what it said after an earlier run.
pub struct Changes {
    /// The run that this is up to.
    pub run: u64,
    /// Projections that may be different; none where that is not known: any may be.
    pub steps: Option<Vec<Step>>,
}

/// Whether the roots reach a function. Notes no dependency: for whoever looks at changes.
pub fn is_called(db: &dyn Db, spec: Spec) -> bool {
    let roots = spec.roots(db);
    let solution = solve(db, roots);
    solution.ask(db, roots, |p| {
        p.called(spec.func(db), spec.key(db)).is_some()
    })
}

/// What changed since a run of the solver.
pub fn changes_since(db: &dyn Db, roots: Roots, run: Option<u64>) -> Changes {
    let solution = solve(db, roots);
    let mut changes = Changes {
        run: solution.run,
        steps: None,
    };
    solution.read(|warm| {
        let Some(updates) = run.and_then(|run| warm.changes_since(run)) else {
            return;
        };
        let mut steps = Vec::new();
        let spec = |s: &crate::store::SpecIx| {
            let key = &warm.solver.store.specs[*s];
            Spec::new(db, roots, key.func, key.key.clone())
        };
        #[expect(
            clippy::iter_over_hash_type,
            reason = "what depends on the steps is a set"
        )]
        for d in updates {
            for s in &d.functions {
                steps.push(Step::of::<annotation>(spec(s)));
            }
            for s in &d.signatures {
                steps.push(Step::of::<signature>(spec(s)));
            }
            for c in &d.classes {
                steps.push(Step::of::<class_def>(Class::new(db, roots, *c)));
            }
            for c in &d.attributes {
                steps.push(Step::of::<class_attributes>(Class::new(db, roots, *c)));
            }
            for s in &d.lists {
                steps.push(Step::of::<list_def>(Site::new(db, roots, *s)));
            }
            for s in &d.dicts {
                steps.push(Step::of::<dict_def>(Site::new(db, roots, *s)));
            }
            for f in &d.call_families {
                steps.push(Step::of::<call_family>(Family::new(db, roots, *f)));
            }
            for o in &d.attr_families {
                steps.push(Step::of::<attr_family>(Family::new(db, roots, *o)));
            }
            if d.class_list {
                steps.push(Step::of::<classes_of>(roots));
            }
            if d.order {
                steps.push(Step::of::<specs_of>(roots));
            }
        }
        changes.steps = Some(steps);
    });
    changes
}
