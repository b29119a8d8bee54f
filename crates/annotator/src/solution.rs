//! The solved program: what the projections in `queries` read from.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_base::{Db, Diagnostic};
use taipan_graph::{FunctionGraph, ObjId};

use crate::result::{
    AttrFamily, CallFamily, ClassAttributes, ClassDef, FunctionAnnotation, Signature,
};
use crate::{DictDef, ListDef, Roots, SiteId};

/// The outcome of annotation. Shared, so that an unchanged part is the same `Arc` as
/// in the last revision and compares in no time.
#[derive(Default)]
pub(crate) struct Solution {
    functions: BTreeMap<(ObjId, Arc<str>), Arc<FunctionAnnotation>>,
    order: Vec<(ObjId, Arc<str>)>,
    classes: FxHashMap<ObjId, Arc<ClassDef>>,
    attributes: FxHashMap<ObjId, Arc<ClassAttributes>>,
    lists: FxHashMap<SiteId, Arc<ListDef>>,
    dicts: FxHashMap<SiteId, Arc<DictDef>>,
    call_families: FxHashMap<ObjId, Arc<CallFamily>>,
    attr_families: FxHashMap<ObjId, Arc<AttrFamily>>,
    diagnostics: Arc<[Diagnostic]>,
}

impl Solution {
    pub(crate) fn function(&self, func: ObjId, key: &Arc<str>) -> Arc<FunctionAnnotation> {
        match self.functions.get(&(func, key.clone())) {
            Some(f) => f.clone(),
            None => Arc::new(unreached()),
        }
    }

    pub(crate) fn specs(&self) -> impl Iterator<Item = (ObjId, Arc<str>)> + '_ {
        self.order.iter().cloned()
    }

    /// All classes, by name.
    pub(crate) fn classes(&self) -> Vec<ObjId> {
        let mut all: Vec<_> = self.classes.iter().map(|(c, d)| (&d.name, *c)).collect();
        all.sort();
        all.into_iter().map(|(_, c)| c).collect()
    }

    pub(crate) fn class(&self, class: ObjId) -> Arc<ClassDef> {
        self.classes.get(&class).cloned().unwrap_or_default()
    }

    pub(crate) fn attributes(&self, class: ObjId) -> Arc<ClassAttributes> {
        self.attributes.get(&class).cloned().unwrap_or_default()
    }

    pub(crate) fn list(&self, site: SiteId) -> Arc<ListDef> {
        self.lists.get(&site).cloned().unwrap_or_default()
    }

    pub(crate) fn dict(&self, site: SiteId) -> Arc<DictDef> {
        self.dicts.get(&site).cloned().unwrap_or_default()
    }

    pub(crate) fn call_family(&self, member: ObjId) -> Arc<CallFamily> {
        self.call_families.get(&member).cloned().unwrap_or_default()
    }

    pub(crate) fn attr_family(&self, member: ObjId) -> Arc<AttrFamily> {
        self.attr_families.get(&member).cloned().unwrap_or_default()
    }

    pub(crate) fn diagnostics(&self) -> Arc<[Diagnostic]> {
        self.diagnostics.clone()
    }
}

/// The annotation of a function that is never called.
pub(crate) fn unreached() -> FunctionAnnotation {
    FunctionAnnotation {
        graph: Arc::new(FunctionGraph::new("", (), (), ())),
        vars: vec![Default::default(); 3],
        reached: vec![false; 3],
        calls: BTreeMap::new(),
        followed: Vec::new(),
        signature: Signature::default(),
        broken: None,
    }
}

/// Annotates the program. Not compared: every consumer reads it through a projection.
#[salsa::tracked(returns(clone), no_eq)]
pub(crate) fn solve(_db: &dyn Db, _roots: Roots) -> Arc<Solution> {
    Arc::new(Solution::default())
}
