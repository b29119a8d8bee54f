//! Attribute families: frozen constants and classes whose attributes are read at the
//! same places (RPython: `FrozenAttrFamily`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_graph::{FunctionGraph, HlOp, ObjId};

use super::Projector;
use super::groups::Groups;
use super::index::Dirty;
use crate::Desc;
use crate::eval::FunctionState;
use crate::result::{AttrFamily, FamilyAttr};
use crate::solver::FactJoiner;
use crate::store::NodeIx;
use crate::val::{Atom, Val};

/// One place where an attribute of constants is read.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Read {
    pub(super) members: Arc<[ObjId]>,
    name: Arc<str>,
    val: Val,
}

impl Read {
    /// All such places in a function.
    pub(super) fn all(graph: &FunctionGraph, state: &FunctionState, out: &mut Vec<Read>) {
        for (b, block) in graph.blocks.iter().enumerate() {
            if !state.reached.get(b).copied().unwrap_or(false) {
                continue;
            }
            for op in &block.operations {
                if op.op != HlOp::GetAttr {
                    continue;
                }
                let [x, name] = &op.args[..] else { continue };
                let (Some(x), Some(name)) = (x.as_var(), name.as_const()) else {
                    continue;
                };
                let (Some(Atom::Pbc(descs)), Some(name)) =
                    (state.vars[x.index()].single(), name.as_str())
                else {
                    continue;
                };
                let members: Arc<[ObjId]> = descs
                    .iter()
                    .filter_map(|d| match d {
                        Desc::Frozen(o) | Desc::Class(o) => Some(*o),
                        _ => None,
                    })
                    .collect();
                if !members.is_empty() {
                    out.push(Read {
                        members,
                        name: name.into(),
                        val: state.vars[op.result.index()].clone(),
                    });
                }
            }
        }
    }
}

/// All attribute families.
#[derive(Default)]
pub(super) struct Frozen {
    reads: Groups<Arc<[ObjId]>>,
    families: FxHashMap<ObjId, Vec<ObjId>>,
}

impl Frozen {
    pub(super) fn add(&mut self, read: &Read, node: NodeIx) {
        self.reads.add(&read.members, node);
        self.touch(read);
    }

    pub(super) fn remove(&mut self, read: &Read, node: NodeIx) {
        self.reads.remove(&read.members, node);
        self.touch(read);
    }

    /// What is read at a place changed.
    pub(super) fn touch(&mut self, read: &Read) {
        self.reads.touch(read.members[0]);
    }

    /// Brings everything up to date; `dirty` learns of families that changed.
    pub(super) fn settle(&mut self, dirty: &mut Dirty) {
        let (components, gone) = self.reads.settle();
        for m in gone {
            self.families.remove(&m);
            dirty.attr_families.insert(m);
        }
        for c in components {
            for m in &c.members {
                self.families.remove(m);
                dirty.attr_families.insert(*m);
            }
            self.families.insert(c.members[0], c.members);
        }
    }
}

impl Projector<'_> {
    /// The family that a constant belongs to.
    pub(crate) fn attr_family(&self, member: ObjId) -> Arc<AttrFamily> {
        let frozen = &self.view.frozen;
        let Some(head) = frozen.reads.head(member) else {
            return Arc::default();
        };
        let project = || {
            let members = frozen.families.get(&head).cloned().unwrap_or_default();
            let mut joiner = FactJoiner::new(&self.solver.facts);
            let mut vals: BTreeMap<Arc<str>, (Val, BTreeSet<ObjId>)> = BTreeMap::new();
            for set in members.iter().flat_map(|m| {
                // Once per set: at its first member.
                frozen.reads.sets_of(*m).filter(|s| s[0] == *m)
            }) {
                for node in frozen.reads.users(set) {
                    for read in self.view.nodes.reads(node) {
                        if read.members == *set {
                            let (sum, readers) = vals.entry(read.name.clone()).or_default();
                            *sum = sum.join(&read.val, &mut joiner);
                            readers.extend(read.members.iter());
                        }
                    }
                }
            }
            let attrs = vals
                .into_iter()
                .map(|(name, (v, readers))| {
                    let value = self.view.sites.some_value(&v.not_const());
                    let readers = readers.into_iter().collect();
                    (name, FamilyAttr { value, readers })
                })
                .collect();
            AttrFamily { members, attrs }
        };
        self.view.cached(|c| &mut c.attr_families, head, project)
    }
}
