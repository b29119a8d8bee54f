//! The queries: one whole-program solve and its projections, each of which compares
//! by content.

use std::sync::Arc;

use taipan_base::{Db, Diagnostic};
use taipan_graph::ObjId;

use crate::result::{
    AttrFamily, CallFamily, ClassAttributes, ClassDef, FunctionAnnotation, Signature,
};
use crate::solution::solve;
use crate::{Class, DictDef, Family, HelperKey, ListDef, Roots, Site, Spec};

/// The annotated graph of a function. Empty for a function that the roots do not
/// reach.
#[salsa::tracked(returns(clone))]
pub fn annotation(db: &dyn Db, spec: Spec) -> Arc<FunctionAnnotation> {
    let solution = solve(db, spec.roots(db));
    solution.function(spec.func(db), spec.key(db))
}

/// What callers see of a function: its argument and result annotations.
#[salsa::tracked(returns(clone))]
pub fn signature(db: &dyn Db, spec: Spec) -> Arc<Signature> {
    Arc::new(annotation(db, spec).signature.clone())
}

/// All functions that the roots reach, in a stable order.
#[salsa::tracked(returns(clone))]
pub fn specs_of(db: &dyn Db, roots: Roots) -> Arc<[Spec]> {
    solve(db, roots)
        .specs()
        .map(|(func, key)| Spec::new(db, roots, func, key))
        .collect()
}

/// All classes in use, in a stable order.
#[salsa::tracked(returns(clone))]
pub fn classes_of(db: &dyn Db, roots: Roots) -> Arc<[ObjId]> {
    solve(db, roots).classes().into()
}

/// A class: its place among the classes in use.
#[salsa::tracked(returns(clone))]
pub fn class_def(db: &dyn Db, class: Class) -> Arc<ClassDef> {
    solve(db, class.roots(db)).class(class.obj(db))
}

/// The attributes that a class declares.
#[salsa::tracked(returns(clone))]
pub fn class_attributes(db: &dyn Db, class: Class) -> Arc<ClassAttributes> {
    solve(db, class.roots(db)).attributes(class.obj(db))
}

/// What the lists of a creation site hold.
#[salsa::tracked(returns(clone))]
pub fn list_def(db: &dyn Db, site: Site) -> Arc<ListDef> {
    solve(db, site.roots(db)).list(site.id(db))
}

/// What the dicts of a creation site hold.
#[salsa::tracked(returns(clone))]
pub fn dict_def(db: &dyn Db, site: Site) -> Arc<DictDef> {
    solve(db, site.roots(db)).dict(site.id(db))
}

/// The functions that are called where this one is.
#[salsa::tracked(returns(clone))]
pub fn call_family(db: &dyn Db, family: Family) -> Arc<CallFamily> {
    solve(db, family.roots(db)).call_family(family.member(db))
}

/// The frozen instances whose attributes are read where those of this one are.
#[salsa::tracked(returns(clone))]
pub fn attr_family(db: &dyn Db, family: Family) -> Arc<AttrFamily> {
    solve(db, family.roots(db)).attr_family(family.member(db))
}

/// What is wrong with the program as seen from its roots: errors of flow graphs that
/// are reached, and conflicts of annotations with the places that they come from.
#[salsa::tracked(returns(clone))]
pub fn annotation_diagnostics(db: &dyn Db, roots: Roots) -> Arc<[Diagnostic]> {
    solve(db, roots).diagnostics()
}

/// The annotated graph of a prelude helper for low-level argument types. Calls of
/// other helpers in it name them by [`crate::Target::Helper`].
#[salsa::tracked(returns(clone))]
pub fn annotate_helper(db: &dyn Db, key: HelperKey) -> Arc<FunctionAnnotation> {
    crate::helper::annotate(db, key)
}
