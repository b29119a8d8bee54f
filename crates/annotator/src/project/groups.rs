//! Sets that have members in common, and the connected components that they make.
//!
//! Call sites pick sets of functions, attribute reads pick sets of constants; what is
//! connected through such sets is one family. Sets come and go with the nodes that
//! have them, and only components that this touches are computed again.

use std::collections::BTreeSet;
use std::hash::Hash;

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_graph::ObjId;

use crate::store::NodeIx;

/// A set of objects.
pub(super) trait Members: Clone + Eq + Hash {
    /// The objects, sorted.
    fn members(&self) -> impl Iterator<Item = ObjId> + '_;
}

impl Members for std::sync::Arc<[ObjId]> {
    fn members(&self) -> impl Iterator<Item = ObjId> + '_ {
        self.iter().copied()
    }
}

/// Sets with the nodes that have them, and what they connect.
pub(super) struct Groups<S> {
    users: FxHashMap<S, FxHashSet<NodeIx>>,
    sets: FxHashMap<ObjId, FxHashSet<S>>,
    /// The smallest member of everyone's component.
    heads: FxHashMap<ObjId, ObjId>,
    dirty: BTreeSet<ObjId>,
}

impl<S> Default for Groups<S> {
    fn default() -> Self {
        Groups {
            users: FxHashMap::default(),
            sets: FxHashMap::default(),
            heads: FxHashMap::default(),
            dirty: BTreeSet::new(),
        }
    }
}

/// A component that may be another one than before.
pub(super) struct Component<S> {
    /// Sorted; the first one stands for all.
    pub(super) members: Vec<ObjId>,
    /// In no particular order.
    pub(super) sets: Vec<S>,
}

impl<S: Members> Groups<S> {
    /// A node has a set.
    pub(super) fn add(&mut self, set: &S, node: NodeIx) {
        let users = self.users.entry(set.clone()).or_default();
        if users.is_empty() {
            for m in set.members() {
                self.sets.entry(m).or_default().insert(set.clone());
                self.dirty.insert(m);
            }
        }
        users.insert(node);
    }

    /// A node has it no longer. Answers whether nobody else has.
    pub(super) fn remove(&mut self, set: &S, node: NodeIx) -> bool {
        let Some(users) = self.users.get_mut(set) else {
            return false;
        };
        users.remove(&node);
        if !users.is_empty() {
            return false;
        }
        self.users.remove(set);
        for m in set.members() {
            if let Some(sets) = self.sets.get_mut(&m) {
                sets.remove(set);
                if sets.is_empty() {
                    self.sets.remove(&m);
                }
            }
            self.dirty.insert(m);
        }
        true
    }

    /// Something else about a member's sets changed.
    pub(super) fn touch(&mut self, member: ObjId) {
        self.dirty.insert(member);
    }

    /// What stands for the component of an object.
    pub(super) fn head(&self, member: ObjId) -> Option<ObjId> {
        self.heads.get(&member).copied()
    }

    /// The nodes that have a set.
    pub(super) fn users(&self, set: &S) -> impl Iterator<Item = NodeIx> + '_ {
        self.users.get(set).into_iter().flatten().copied()
    }

    /// The sets that an object is in.
    pub(super) fn sets_of(&self, member: ObjId) -> impl Iterator<Item = &S> + '_ {
        self.sets.get(&member).into_iter().flatten()
    }

    /// Finds the components of everything that was touched, and the objects that are in
    /// none any more.
    pub(super) fn settle(&mut self) -> (Vec<Component<S>>, Vec<ObjId>) {
        let mut components = Vec::new();
        let mut gone = Vec::new();
        let mut seen: FxHashSet<ObjId> = FxHashSet::default();
        for start in std::mem::take(&mut self.dirty) {
            if !self.sets.contains_key(&start) {
                self.heads.remove(&start);
                gone.push(start);
                continue;
            }
            if !seen.insert(start) {
                continue;
            }
            let mut members = vec![start];
            let mut sets: FxHashSet<S> = FxHashSet::default();
            let mut next = 0;
            while let Some(m) = members.get(next).copied() {
                next += 1;
                for set in self.sets.get(&m).into_iter().flatten() {
                    if sets.insert(set.clone()) {
                        members.extend(set.members().filter(|m| seen.insert(*m)));
                    }
                }
            }
            members.sort_unstable();
            for m in &members {
                self.heads.insert(*m, members[0]);
            }
            components.push(Component {
                members,
                sets: sets.into_iter().collect(),
            });
        }
        (components, gone)
    }
}
