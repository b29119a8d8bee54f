//! The queries: one whole-program solve and its projections, each of which compares
//! by content.

use std::sync::Arc;

use salsa::plumbing::AsId;
use taipan_base::Db;
use taipan_graph::ObjId;

use crate::reads::{Query, Step, note};
use crate::result::{
    AttrFamily, CallFamily, ClassAttributes, ClassDef, FunctionAnnotation, Signature,
};
use crate::{Class, DictDef, Family, ListDef, Roots, Site, Spec};

/// The annotated graph of a function. Empty for a function that the roots do not
/// reach.
pub fn annotation(db: &dyn Db, spec: Spec) -> Arc<FunctionAnnotation> {
    note(Query::Annotation, spec.as_id());
    crate::tracked::annotation(db, spec)
}

/// What callers see of a function: its argument and result annotations.
pub fn signature(db: &dyn Db, spec: Spec) -> Arc<Signature> {
    note(Query::Signature, spec.as_id());
    crate::tracked::signature(db, spec)
}

/// All functions that the roots reach, in a stable order.
pub fn specs_of(db: &dyn Db, roots: Roots) -> Arc<[Spec]> {
    note(Query::SpecsOf, roots.as_id());
    crate::tracked::specs_of(db, roots)
}

/// The functions that the roots reach, however they are specialised; sorted.
pub fn called_functions(db: &dyn Db, roots: Roots) -> Arc<[ObjId]> {
    crate::tracked::called_functions(db, roots)
}

/// All classes in use, in a stable order.
pub fn classes_of(db: &dyn Db, roots: Roots) -> Arc<[ObjId]> {
    note(Query::ClassesOf, roots.as_id());
    crate::tracked::classes_of(db, roots)
}

/// A class: its place among the classes in use.
pub fn class_def(db: &dyn Db, class: Class) -> Arc<ClassDef> {
    note(Query::ClassDef, class.as_id());
    crate::tracked::class_def(db, class)
}

/// The attributes that a class declares.
pub fn class_attributes(db: &dyn Db, class: Class) -> Arc<ClassAttributes> {
    note(Query::ClassAttributes, class.as_id());
    crate::tracked::class_attributes(db, class)
}

/// What the lists of a creation site hold.
pub fn list_def(db: &dyn Db, site: Site) -> Arc<ListDef> {
    note(Query::ListDef, site.as_id());
    crate::tracked::list_def(db, site)
}

/// What the dicts of a creation site hold.
pub fn dict_def(db: &dyn Db, site: Site) -> Arc<DictDef> {
    note(Query::DictDef, site.as_id());
    crate::tracked::dict_def(db, site)
}

/// The functions that are called where this one is.
pub fn call_family(db: &dyn Db, family: Family) -> Arc<CallFamily> {
    note(Query::CallFamily, family.as_id());
    crate::tracked::call_family(db, family)
}

/// The frozen instances whose attributes are read where those of this one are.
pub fn attr_family(db: &dyn Db, family: Family) -> Arc<AttrFamily> {
    note(Query::AttrFamily, family.as_id());
    crate::tracked::attr_family(db, family)
}

pub use crate::tracked::{annotate_helper, annotation_diagnostics, dead_operation_warnings};

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
    let solution = crate::solution::solve(db, roots);
    solution.ask(db, roots, |p| {
        p.called(spec.func(db), spec.key(db)).is_some()
    })
}

/// What changed since a run of the solver.
pub fn changes_since(db: &dyn Db, roots: Roots, run: Option<u64>) -> Changes {
    let solution = crate::solution::solve(db, roots);
    let mut changes = Changes {
        run: solution.run,
        steps: None,
    };
    solution.read(|warm| {
        let Some(updates) = run.and_then(|run| warm.changes_since(run)) else {
            return;
        };
        let mut steps = Vec::new();
        let mut push = |query, key| steps.push(Step { query, key });
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
                push(Query::Annotation, spec(s).as_id());
            }
            for s in &d.signatures {
                push(Query::Signature, spec(s).as_id());
            }
            for c in &d.classes {
                push(Query::ClassDef, Class::new(db, roots, *c).as_id());
            }
            for c in &d.attributes {
                push(Query::ClassAttributes, Class::new(db, roots, *c).as_id());
            }
            for s in &d.lists {
                push(Query::ListDef, Site::new(db, roots, *s).as_id());
            }
            for s in &d.dicts {
                push(Query::DictDef, Site::new(db, roots, *s).as_id());
            }
            for f in &d.call_families {
                push(Query::CallFamily, Family::new(db, roots, *f).as_id());
            }
            for o in &d.attr_families {
                push(Query::AttrFamily, Family::new(db, roots, *o).as_id());
            }
            if d.class_list {
                push(Query::ClassesOf, roots.as_id());
            }
            if d.order {
                push(Query::SpecsOf, roots.as_id());
            }
        }
        changes.steps = Some(steps);
    });
    changes
}
