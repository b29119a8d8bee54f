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

/// Number of a set. A set of ten thousand objects is hashed once when it comes and once when it
/// goes, not once for each of them.
type SetIx = u32;

/// A set, and the nodes that have it.
struct Entry<S> {
    set: S,
    users: FxHashSet<NodeIx>,
}

/// Sets with the nodes that have them, and what they connect.
pub(super) struct Groups<S> {
    numbers: FxHashMap<S, SetIx>,
    entries: Vec<Option<Entry<S>>>,
    free: Vec<SetIx>,
    /// The sets that an object is in.
    sets: FxHashMap<ObjId, FxHashSet<SetIx>>,
    /// The smallest member of everyone's component.
    heads: FxHashMap<ObjId, ObjId>,
    dirty: BTreeSet<ObjId>,
}

impl<S> Default for Groups<S> {
    fn default() -> Self {
        Groups {
            numbers: FxHashMap::default(),
            entries: Vec::new(),
            free: Vec::new(),
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
        if let Some(entry) = self.entry_mut(set) {
            entry.users.insert(node);
            return;
        }
        let entry = Some(Entry {
            set: set.clone(),
            users: FxHashSet::from_iter([node]),
        });
        let n = match self.free.pop() {
            Some(n) => {
                self.entries[n as usize] = entry;
                n
            }
            None => {
                self.entries.push(entry);
                self.entries.len() as SetIx - 1
            }
        };
        self.numbers.insert(set.clone(), n);
        for m in set.members() {
            self.sets.entry(m).or_default().insert(n);
            self.dirty.insert(m);
        }
    }

    /// A node has it no longer. Returns whether nobody else has.
    pub(super) fn remove(&mut self, set: &S, node: NodeIx) -> bool {
        let Some(entry) = self.entry_mut(set) else {
            return false;
        };
        entry.users.remove(&node);
        if !entry.users.is_empty() {
            return false;
        }
        let Some(n) = self.numbers.remove(set) else {
            return false;
        };
        self.entries[n as usize] = None;
        self.free.push(n);
        for m in set.members() {
            if let Some(sets) = self.sets.get_mut(&m) {
                sets.remove(&n);
                if sets.is_empty() {
                    self.sets.remove(&m);
                }
            }
            self.dirty.insert(m);
        }
        true
    }

    fn entry(&self, n: SetIx) -> Option<&Entry<S>> {
        self.entries.get(n as usize)?.as_ref()
    }

    fn entry_mut(&mut self, set: &S) -> Option<&mut Entry<S>> {
        let n = self.numbers.get(set)?;
        self.entries.get_mut(*n as usize)?.as_mut()
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
        let entry = self.numbers.get(set).and_then(|n| self.entry(*n));
        entry.into_iter().flat_map(|e| e.users.iter().copied())
    }

    /// The sets that an object is in.
    pub(super) fn sets_of(&self, member: ObjId) -> impl Iterator<Item = &S> + '_ {
        let sets = self.sets.get(&member).into_iter().flatten();
        sets.filter_map(|n| Some(&self.entry(*n)?.set))
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
            let mut sets: FxHashSet<SetIx> = FxHashSet::default();
            let mut next = 0;
            while let Some(m) = members.get(next).copied() {
                next += 1;
                for n in self.sets.get(&m).into_iter().flatten() {
                    if sets.insert(*n)
                        && let Some(entry) = self.entry(*n)
                    {
                        members.extend(entry.set.members().filter(|m| seen.insert(*m)));
                    }
                }
            }
            members.sort_unstable();
            for m in &members {
                self.heads.insert(*m, members[0]);
            }
            components.push(Component {
                members,
                sets: (sets.into_iter())
                    .filter_map(|n| Some(self.entry(n)?.set.clone()))
                    .collect(),
            });
        }
        (components, gone)
    }
}
