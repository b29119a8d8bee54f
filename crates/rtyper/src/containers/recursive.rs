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

use taipan_annotator::{Site, SiteId, SomeKind, SomeValue, dict_def, list_def};
use taipan_graph::Const;
use taipan_lltype::{GCREF, LLConst, LLOperand, LLType, PlainOp};

use crate::{LLOps, RTyper, Repr, ReprMethods, Typed, TyperError};

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

    fn describe(&self) -> String {
        let kind = if self.dict { "dict" } else { "list" };
        format!("a {kind} that contains itself")
    }

    fn convert_const(&self, rt: &RTyper<'_>, c: &Const) -> Typed<LLConst> {
        let r = if self.dict {
            super::dict_repr(rt, self.site)?
        } else {
            super::list_repr(rt, self.site)?
        };
        match r.convert_const(rt, c)? {
            LLConst::Static(sym, _) => Ok(LLConst::Static(sym, *GCREF)),
            LLConst::Null(_) => Ok(LLConst::Null(*GCREF)),
            _ => Err(TyperError::internal("a container that is no pointer")),
        }
    }
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
            Some(Ok(llops.genop(PlainOp::CastOpaquePtr, [v], t)))
        }
        _ => None,
    }
}

/// The creation sites of the containers that contain the one of this site, with this
/// content, and that it contains; empty if it does not contain itself.
pub(super) fn cycle(
    rt: &RTyper<'_>,
    site: SiteId,
    contents: Vec<SomeValue>,
) -> Typed<BTreeSet<SiteId>> {
    let inside = reachable(rt, contents)?;
    let mut out = BTreeSet::new();
    if !inside.contains_key(&site) {
        return Ok(out);
    }
    for (other, s) in &inside {
        if reachable(rt, content(rt, s)?)?.contains_key(&site) {
            out.insert(*other);
        }
    }
    Ok(out)
}

/// The containers in these values, and in those.
fn reachable(rt: &RTyper<'_>, mut todo: Vec<SomeValue>) -> Typed<BTreeMap<SiteId, SomeValue>> {
    let mut out = BTreeMap::new();
    while let Some(s) = todo.pop() {
        match &s.kind {
            SomeKind::List { site, .. } | SomeKind::Dict { site, .. }
                if out.insert(*site, s.clone()).is_none() =>
            {
                todo.extend(content(rt, &s)?);
            }
            SomeKind::Tuple(items) => todo.extend(items.iter().cloned()),
            _ => {}
        }
    }
    Ok(out)
}

/// What a list or dict contains.
fn content(rt: &RTyper<'_>, s: &SomeValue) -> Typed<Vec<SomeValue>> {
    Ok(match &s.kind {
        SomeKind::List { site, .. } => {
            let def = list_def(rt.db, Site::new(rt.db, rt.roots()?, *site));
            vec![def.item.clone()]
        }
        SomeKind::Dict { site, .. } => {
            let def = dict_def(rt.db, Site::new(rt.db, rt.roots()?, *site));
            vec![def.key.clone(), def.value.clone()]
        }
        _ => Vec::new(),
    })
}
