//! Lists and dicts that contain themselves.
//!
//! ```text
//! def f(n):             the list l: GcArray of GCREF
//!     l = []            an item, taken out: cast to *list
//!     l.append(l)       a list, put in:     cast to GCREF
//! ```
//!
//! A low-level type says what the items are, so that of such a list would be infinite.
//! Inside of a container the containers of its own cycle are therefore pointers that say
//! nothing of what they point to, and get their type back on their way out. Which
//! container of a cycle is looked at first makes no difference.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use taipan_annotator::{DictDef, ListDef, Site, SiteId, SomeKind, SomeValue, dict_def, list_def};
use taipan_graph::Const;
use taipan_lltype::{GCREF, LLConst, LLOperand, LLType, View};

use crate::annotate::immutablevalue;
use crate::{Description, LLOps, RTyper, Repr, ReprMethods, Typed, TyperError};

/// A container as part of one that it contains.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct RecursiveRepr {
    /// The creation site of the container.
    pub site: SiteId,
    /// Whether it is a dict.
    pub dict: bool,
}

impl ReprMethods for RecursiveRepr {
    fn lowleveltype(&self) -> LLType {
        *GCREF
    }

    fn describe(&self) -> Description {
        let kind = if self.dict { "dict" } else { "list" };
        Description::a(kind).with("that contains itself")
    }

    fn convert_const(&self, rt: &RTyper<'_>, c: &Const) -> Typed<LLConst> {
        let r = if self.dict {
            super::dict_repr(rt, self.site)?
        } else {
            super::list_repr(rt, self.site)?
        };
        without_type(r.convert_const(rt, c)?)
    }
}

/// A pointer to a container that says nothing of what it points to.
fn without_type(container: LLConst) -> Typed<LLConst> {
    match container {
        LLConst::Static(sym, _) => Ok(LLConst::Static(sym, *GCREF)),
        LLConst::Null(_) => Ok(LLConst::Null(*GCREF)),
        _ => Err(TyperError::internal("a container that is no pointer")),
    }
}

/// A prebuilt container as part of one that it contains; none for other constants.
pub(crate) fn inside_of_itself(rt: &RTyper<'_>, c: &Const) -> Typed<Option<LLConst>> {
    let s = immutablevalue(rt, c)?;
    if !matches!(s.kind, SomeKind::List { .. } | SomeKind::Dict { .. }) {
        return Ok(None);
    }
    let r = rt.inside(BTreeSet::new(), || rt.getrepr(&s))?;
    without_type(r.convert_const(rt, c)?).map(Some)
}

/// Gives a container on its way out its type back, and takes it on the way in.
pub(super) fn recursive_conversion(
    llops: &LLOps<'_>,
    v: LLOperand,
    from: &Repr,
    to: &Repr,
) -> Option<Typed<LLOperand>> {
    match (from, to) {
        (Repr::Recursive(_), Repr::Recursive(_)) => Some(Ok(v)),
        (Repr::Recursive(_), Repr::List(_) | Repr::Dict(_))
        | (Repr::List(_) | Repr::Dict(_), Repr::Recursive(_)) => {
            let t = to.lowleveltype();
            Some(Ok(llops.genop(View::CastOpaquePtr { value: &v }, t)))
        }
        _ => None,
    }
}

/// The creation sites of the containers that contain this one and that it contains; empty
/// if it does not contain itself.
///
/// Several sites may stand for the same containers, where these meet. In what containers
/// hold one of them speaks for all, which need not be the one asked for: what has the same
/// content is the same.
pub(super) fn cycle(rt: &RTyper<'_>, container: &Container) -> Typed<BTreeSet<SiteId>> {
    let inside = reachable(rt, container.content())?;
    let mut out = BTreeSet::new();
    if !inside.values().any(|c| c == container) {
        return Ok(out);
    }
    for (site, other) in &inside {
        let within = reachable(rt, other.content())?;
        if within.values().any(|c| c == container) {
            out.insert(*site);
        }
    }
    Ok(out)
}

/// What is known of the lists or dicts of a site.
#[derive(PartialEq)]
pub(super) enum Container {
    List(Arc<ListDef>),
    Dict(Arc<DictDef>),
}

impl Container {
    /// Annotations of what is inside.
    fn content(&self) -> Vec<SomeValue> {
        match self {
            Container::List(def) => vec![def.item.clone()],
            Container::Dict(def) => vec![def.key.clone(), def.value.clone()],
        }
    }
}

/// The containers in these values, and in those.
fn reachable(rt: &RTyper<'_>, mut todo: Vec<SomeValue>) -> Typed<BTreeMap<SiteId, Container>> {
    let mut out = BTreeMap::new();
    while let Some(s) = todo.pop() {
        let (site, container) = match &s.kind {
            SomeKind::Tuple(items) => {
                todo.extend(items.iter().cloned());
                continue;
            }
            SomeKind::List { site, .. } if !out.contains_key(site) => {
                let def = list_def(rt.db, Site::new(rt.db, rt.roots()?, *site));
                (*site, Container::List(def))
            }
            SomeKind::Dict { site, .. } if !out.contains_key(site) => {
                let def = dict_def(rt.db, Site::new(rt.db, rt.roots()?, *site));
                (*site, Container::Dict(def))
            }
            _ => continue,
        };
        todo.extend(container.content());
        out.insert(site, container);
    }
    Ok(out)
}
