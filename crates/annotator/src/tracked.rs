//! The queries themselves. Everyone asks for them through the functions in `queries`,
//! which note it.

use std::sync::Arc;

use taipan_base::{Db, Diagnostic};
use taipan_graph::ObjId;

use crate::result::{
    AttrFamily, CallFamily, ClassAttributes, ClassDef, FunctionAnnotation, Signature,
};
use crate::solution::{solve, unreached};
use crate::{Class, DictDef, Family, HelperKey, ListDef, Roots, Site, Spec, Target};

/// The annotated graph of a function. Empty for a function that the roots do not
/// reach.
#[salsa::tracked(returns(clone))]
pub fn annotation(db: &dyn Db, spec: Spec) -> Arc<FunctionAnnotation> {
    let roots = spec.roots(db);
    let (func, key) = (spec.func(db), spec.key(db));
    solve(db, roots)
        .ask(db, roots, |p| Some(p.function(p.called(func, key)?)))
        .unwrap_or_else(|| Arc::new(unreached()))
}

/// What callers see of a function: its argument and result annotations.
#[salsa::tracked(returns(clone))]
pub fn signature(db: &dyn Db, spec: Spec) -> Arc<Signature> {
    let roots = spec.roots(db);
    let (func, key) = (spec.func(db), spec.key(db));
    let signature = solve(db, roots).ask(db, roots, |p| Some(p.signature(p.called(func, key)?)));
    Arc::new(signature.unwrap_or_default())
}

/// All functions that the roots reach, in a stable order.
#[salsa::tracked(returns(clone))]
pub fn specs_of(db: &dyn Db, roots: Roots) -> Arc<[Spec]> {
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

/// The functions that the roots reach, however they are specialised; sorted.
#[salsa::tracked(returns(clone))]
pub fn called_functions(db: &dyn Db, roots: Roots) -> Arc<[ObjId]> {
    solve(db, roots).ask(db, roots, |p| p.view.called_functions())
}

/// All classes in use, in a stable order.
#[salsa::tracked(returns(clone))]
pub fn classes_of(db: &dyn Db, roots: Roots) -> Arc<[ObjId]> {
    solve(db, roots).ask(db, roots, |p| p.class_list())
}

/// A class: its place among the classes in use.
#[salsa::tracked(returns(clone))]
pub fn class_def(db: &dyn Db, class: Class) -> Arc<ClassDef> {
    let roots = class.roots(db);
    solve(db, roots).ask(db, roots, |p| p.class(class.obj(db)))
}

/// The attributes that a class declares.
#[salsa::tracked(returns(clone))]
pub fn class_attributes(db: &dyn Db, class: Class) -> Arc<ClassAttributes> {
    let roots = class.roots(db);
    solve(db, roots).ask(db, roots, |p| p.attributes(class.obj(db)))
}

/// What the lists of a creation site hold.
#[salsa::tracked(returns(clone))]
pub fn list_def(db: &dyn Db, site: Site) -> Arc<ListDef> {
    let roots = site.roots(db);
    solve(db, roots).ask(db, roots, |p| p.list(site.id(db)))
}

/// What the dicts of a creation site hold.
#[salsa::tracked(returns(clone))]
pub fn dict_def(db: &dyn Db, site: Site) -> Arc<DictDef> {
    let roots = site.roots(db);
    solve(db, roots).ask(db, roots, |p| p.dict(site.id(db)))
}

/// The functions that are called where this one is.
#[salsa::tracked(returns(clone))]
pub fn call_family(db: &dyn Db, family: Family) -> Arc<CallFamily> {
    let roots = family.roots(db);
    solve(db, roots).ask(db, roots, |p| p.call_family(family.member(db)))
}

/// The frozen instances whose attributes are read where those of this one are.
#[salsa::tracked(returns(clone))]
pub fn attr_family(db: &dyn Db, family: Family) -> Arc<AttrFamily> {
    let roots = family.roots(db);
    solve(db, roots).ask(db, roots, |p| p.attr_family(family.member(db)))
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
