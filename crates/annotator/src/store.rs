//! Slots and nodes of the solver.
//!
//! A *slot* is a place whose value the program determines as a whole: an argument of
//! a function, an attribute, the items of the lists of a creation site. A *node*
//! computes contributions to slots from the values of other slots: a function with
//! its specialisation, a class, an attribute of a class, a prebuilt object, a pair of
//! creation sites that meet.
//!
//! A slot keeps a log of what came when from where, and a history of the joined
//! value. A node keeps its contributions by the stamp of the evaluation that made
//! them; each is the join of all that it contributed to the slot up to then.

use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

use hashbrown::HashTable;
use indexmap::IndexSet;
use la_arena::{Arena, Idx};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use smallvec::SmallVec;
use taipan_graph::{Const, ObjId};

use crate::hierarchy::ClassSet;
use crate::val::{Atom, EdgeKind, Joiner, Val};
use crate::{Desc, Descs, SiteId};

/// Index of a slot.
pub(crate) type SlotIx = Idx<Slot>;
/// Index of a node.
pub(crate) type NodeIx = Idx<Node>;
/// Index of a function with its specialisation.
pub(crate) type SpecIx = Idx<SpecKey>;

/// Index of a set of methods that is called.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct SetIx(u32);

/// Number of an evaluation: those that come later have larger ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Stamp(u32);

impl Stamp {
    /// Before all evaluations.
    pub(crate) const NONE: Stamp = Stamp(0);
    /// The first one.
    pub(crate) const FIRST: Stamp = Stamp(1);
    /// After all evaluations.
    pub(crate) const MAX: Stamp = Stamp(u32::MAX);

    /// The one after it.
    pub(crate) fn next(self) -> Stamp {
        Stamp(self.0 + 1)
    }

    /// How many evaluations there were up to it.
    #[cfg(test)]
    pub(crate) fn count(self) -> u32 {
        self.0
    }
}

/// What a slot is the value of.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum SlotKey {
    /// A function is called.
    Called(SpecIx),
    /// An argument of it.
    Arg(SpecIx, u32),
    /// What it returns.
    Ret(SpecIx),
    /// A class is in use.
    ClassUsed(ObjId),
    /// Somebody asks for the subclasses of a class.
    SubClassesUsed(ObjId),
    /// Those in use, itself included. What the slot holds only tells one set from another: see
    /// [`Slot::members`].
    SubClasses(ObjId),
    /// Classes in use whose `_immutable_fields_` have that entry, which is one `name[*]`; again
    /// see [`Slot::members`].
    ImmutableItems(Arc<str>),
    /// Prebuilt instances of this very class are in use.
    HasInstances(ObjId),
    /// Classes above this one that an attribute is used on and that have come to know since
    /// then that this one has something of it; again see [`Slot::members`].
    Homes(ObjId, Arc<str>),
    /// Somebody asks for an attribute of prebuilt instances of this very class.
    FieldUsed(ObjId, Arc<str>),
    /// Its value in all of them.
    Field(ObjId, Arc<str>),
    /// A prebuilt list, dict or instance is in use.
    Seen(ObjId),
    /// An attribute is read or written on instances of this very class.
    AttrUsed(ObjId, Arc<str>),
    /// An attribute is assigned on instances of this very class.
    AttrSet(ObjId, Arc<str>),
    /// Its value.
    Attr(ObjId, Arc<str>),
    /// Items of a list.
    Item(SiteId),
    /// What else is known of it.
    Flags(SiteId),
    /// Keys of a dict.
    Key(SiteId),
    /// Its values.
    Value(SiteId),
    /// Equality and hash functions of an `r_dict`: a tuple of two.
    Custom(SiteId),
    /// Two sites meet.
    Edge(EdgeKind, SiteId, SiteId),
    /// The methods that an attribute of instances of a class stands for, bound to it.
    Bound(ObjId, Arc<str>),
    /// A set of methods is called somewhere.
    SetUsed(SetIx),
    /// None of them is specialised by its arguments: call sites need not look at each.
    SetPlain(SetIx),
    /// Some are.
    SetMixed(SetIx),
    /// Such a set is called with so many arguments.
    SetCalled(SetIx, u32),
    /// With these.
    SetArg(SetIx, u32, u32),
    /// And answers this.
    SetRet(SetIx, u32),
}

impl SlotKey {
    /// Whether what a node contributes is part of the outcome by itself, so that it must follow
    /// from the final state. What is exchanged between creation sites, and by sets of methods,
    /// depends on the way there, but comes to the same.
    pub(crate) fn is_judged(&self) -> bool {
        matches!(
            self,
            SlotKey::Called(_)
                | SlotKey::Arg(..)
                | SlotKey::ClassUsed(_)
                | SlotKey::Seen(_)
                | SlotKey::AttrUsed(..)
                | SlotKey::AttrSet(..)
                | SlotKey::Attr(..)
        )
    }
}

/// What a node computes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum NodeKey {
    /// What is given from outside, by the index of the root.
    Root(u32),
    /// A function.
    Spec(SpecIx),
    /// A class: tells its base that it is in use.
    Class(ObjId),
    /// The subclasses in use of a class.
    SubClasses(ObjId),
    /// What a class has of an attribute: as it is on its instances, if it is used on these, or
    /// for instances of a base class.
    Attr(ObjId, Arc<str>),
    /// Content of a prebuilt list, dict or instance.
    Prebuilt(ObjId),
    /// Copies between two sites.
    Edge(EdgeKind, SiteId, SiteId),
    /// Calls of an `r_dict`'s functions.
    Custom(SiteId),
    /// What a set of methods is like.
    Set(SetIx),
    /// Calls of all methods of a set: what call sites pass is put together first, so that
    /// call sites and methods meet here and not each with each.
    Dispatch(SetIx, u32),
}

/// A contribution.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) stamp: Stamp,
    pub(crate) node: NodeIx,
    /// Join of all that the node contributed up to this stamp.
    pub(crate) val: Val,
}

/// A slot.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) key: SlotKey,
    /// Contributions by stamp.
    pub(crate) log: Vec<Entry>,
    /// Joined values, each from its stamp on.
    pub(crate) history: SmallVec<[(Stamp, Val); 1]>,
    pub(crate) readers: Vec<NodeIx>,
}

static BOTTOM: Val = Val::BOTTOM;

/// The joined value before a stamp.
pub(crate) fn as_of(history: &[(Stamp, Val)], t: Stamp) -> &Val {
    history
        .iter()
        .rev()
        .find(|h| h.0 < t)
        .map_or(&BOTTOM, |h| &h.1)
}

impl Slot {
    pub(crate) fn current(&self) -> &Val {
        self.history.last().map_or(&BOTTOM, |h| &h.1)
    }

    pub(crate) fn as_of(&self, t: Stamp) -> &Val {
        as_of(&self.history, t)
    }

    /// Whether its value has changed at a stamp or since.
    pub(crate) fn changed_since(&self, t: Stamp) -> bool {
        self.history.last().is_some_and(|h| h.0 >= t)
    }

    /// The same, as of a later stamp.
    pub(crate) fn changed_between(&self, since: Stamp, t: Stamp) -> bool {
        let earlier = self.history.partition_point(|h| h.0 < t);
        self.history[..earlier].last().is_some_and(|h| h.0 >= since)
    }

    /// What it holds after one more contribution.
    pub(crate) fn joined_with(&self, val: &Val, joiner: &mut dyn Joiner) -> Val {
        if !self.is_log() {
            return self.current().join(val, joiner);
        }
        let sum = classes_in(val).fold(self.current().const_i64().unwrap_or(0), |sum, c| {
            sum.wrapping_add(c.0 as i64)
        });
        Val::event().with_const(Some(Const::Int(sum)))
    }

    /// Whether its members are in the log alone: hierarchies are deep and wide, and a copy
    /// of the set for each class that comes would be large.
    pub(crate) fn is_log(&self) -> bool {
        matches!(
            self.key,
            SlotKey::SubClasses(_) | SlotKey::ImmutableItems(_) | SlotKey::Homes(..)
        )
    }

    /// The classes that had been contributed before a stamp, sorted.
    pub(crate) fn members(&self, t: Stamp) -> Vec<ObjId> {
        let earlier = self.log.iter().take_while(|e| e.stamp < t);
        let mut all: Vec<ObjId> = earlier.flat_map(|e| classes_in(&e.val)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// Classes that are members of a PBC.
pub(crate) fn classes_in(v: &Val) -> impl Iterator<Item = ObjId> + '_ {
    let descs = match v.single() {
        Some(Atom::Pbc(descs)) => &descs[..],
        _ => &[],
    };
    descs.iter().filter_map(|d| match d {
        Desc::Class(c) => Some(*c),
        _ => None,
    })
}

/// One evaluation's contributions, sorted by slot.
pub(crate) type Writes = Vec<(SlotIx, Val)>;

/// A node.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) key: NodeKey,
    /// Evaluations that contributed something new, by stamp.
    pub(crate) events: Vec<(Stamp, Writes)>,
    /// Of a node with many of them, the stamps of those that contributed to a slot, in
    /// ascending order. Some may have been taken back since.
    stamps: FxHashMap<SlotIx, SmallVec<[Stamp; 2]>>,
}

/// So many evaluations are looked through one by one.
const FEW_EVENTS: usize = 8;

impl Node {
    /// Notes what an evaluation contributed, which is later than all others.
    pub(crate) fn add_event(&mut self, t: Stamp, writes: Writes) {
        self.events.push((t, writes));
        let new = match self.events.len() {
            n if n <= FEW_EVENTS => return,
            n if self.stamps.is_empty() => 0..n,
            n => n - 1..n,
        };
        for (t, writes) in &self.events[new] {
            for (slot, _) in writes {
                self.stamps.entry(*slot).or_default().push(*t);
            }
        }
    }

    /// What it had contributed to a slot before a stamp.
    pub(crate) fn before(&self, t: Stamp, slot: SlotIx) -> &Val {
        let in_event =
            |(_, writes): &'_ (Stamp, Writes)| writes.binary_search_by_key(&slot, |w| w.0).ok();
        let found = if self.stamps.is_empty() {
            let mut earlier = self.events.iter().rev().filter(|e| e.0 < t);
            earlier.find_map(|e| Some(&e.1[in_event(e)?].1))
        } else {
            let stamps = self.stamps.get(&slot).map_or(&[][..], |s| s);
            let mut earlier = stamps.iter().rev().filter(|s| **s < t);
            earlier.find_map(|s| {
                let at = self.events.binary_search_by_key(s, |e| e.0).ok()?;
                Some(&self.events[at].1[in_event(&self.events[at])?].1)
            })
        };
        found.unwrap_or(&BOTTOM)
    }
}

/// A function and its specialisation.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct SpecKey {
    pub(crate) func: ObjId,
    pub(crate) key: Arc<str>,
}

/// All slots and nodes.
#[derive(Default)]
pub(crate) struct Store {
    pub(crate) slots: Arena<Slot>,
    pub(crate) nodes: Arena<Node>,
    pub(crate) specs: Arena<SpecKey>,
    sets: IndexSet<Descs, FxBuildHasher>,
    slot_ix: Numbers<Slot>,
    node_ix: Numbers<Node>,
    spec_ix: FxHashMap<SpecKey, SpecIx>,
    by_function: FxHashMap<ObjId, Vec<SpecIx>>,
    /// Classes that somebody has asked for the subclasses of, or will.
    pub(crate) families: ClassSet,
    /// The same of attributes that are used on instances of a class.
    pub(crate) used: FxHashMap<Arc<str>, ClassSet>,
    /// Classes whose prebuilt instances have an attribute, some of them.
    pub(crate) fields: FxHashMap<Arc<str>, ClassSet>,
    /// Who reads slots that many read.
    reads: FxHashSet<(SlotIx, NodeIx)>,
    /// The node that exceeded a limit of [`crate::bounds`], if any.
    pub(crate) endless: Option<NodeIx>,
}

/// So many readers of a slot are looked through one by one.
const FEW_READERS: usize = 16;

/// Indexes by keys, which are held elsewhere.
struct Numbers<T>(HashTable<Idx<T>>);

impl<T> Default for Numbers<T> {
    fn default() -> Self {
        Numbers(HashTable::new())
    }
}

impl<T> Numbers<T> {
    fn get<'k, K: Hash + Eq + 'k>(
        &self,
        key: &K,
        held: impl Fn(Idx<T>) -> &'k K,
    ) -> Option<Idx<T>> {
        let hash = FxBuildHasher.hash_one(key);
        self.0.find(hash, |i| held(*i) == key).copied()
    }

    /// The index of a key that is new.
    fn insert<'k, K: Hash + 'k>(&mut self, index: Idx<T>, held: impl Fn(Idx<T>) -> &'k K) {
        let hash = |i: &Idx<T>| FxBuildHasher.hash_one(held(*i));
        self.0.insert_unique(hash(&index), index, hash);
    }
}

impl Store {
    /// The number of a function with its specialisation.
    pub(crate) fn spec(&mut self, func: ObjId, key: &Arc<str>) -> SpecIx {
        let k = SpecKey {
            func,
            key: key.clone(),
        };
        if let Some(i) = self.spec_ix.get(&k) {
            return *i;
        }
        let i = self.specs.alloc(k.clone());
        self.by_function.entry(func).or_default().push(i);
        self.spec_ix.insert(k, i);
        i
    }

    /// The same, if it has ever been called.
    pub(crate) fn find_spec(&self, func: ObjId, key: &Arc<str>) -> Option<SpecIx> {
        let key = key.clone();
        self.spec_ix.get(&SpecKey { func, key }).copied()
    }

    /// All specialisations of a function, called or not.
    pub(crate) fn specs_of(&self, func: ObjId) -> &[SpecIx] {
        self.by_function.get(&func).map_or(&[], |s| s)
    }

    /// The number of a set of methods.
    pub(crate) fn set(&mut self, descs: &Descs) -> SetIx {
        SetIx(match self.sets.get_index_of(descs) {
            Some(i) => i as u32,
            None => self.sets.insert_full(descs.clone()).0 as u32,
        })
    }

    /// The methods of a set.
    pub(crate) fn methods(&self, set: SetIx) -> &Descs {
        &self.sets[set.0 as usize]
    }

    /// The slot of that key. A slot that sets a node going brings its node with it.
    pub(crate) fn slot(&mut self, key: SlotKey) -> SlotIx {
        if let Some(i) = self.find_slot_ix(&key) {
            return i;
        }
        let i = self.slots.alloc(Slot {
            key: key.clone(),
            log: Vec::new(),
            history: SmallVec::new(),
            readers: Vec::new(),
        });
        let node = match &key {
            SlotKey::Called(s) => Some(NodeKey::Spec(*s)),
            SlotKey::ClassUsed(c) => Some(NodeKey::Class(*c)),
            SlotKey::SubClassesUsed(c) => Some(NodeKey::SubClasses(*c)),
            SlotKey::AttrUsed(c, n) | SlotKey::Homes(c, n) => Some(NodeKey::Attr(*c, n.clone())),
            SlotKey::Seen(o) => Some(NodeKey::Prebuilt(*o)),
            SlotKey::Edge(k, a, b) => Some(NodeKey::Edge(*k, *a, *b)),
            SlotKey::Custom(s) => Some(NodeKey::Custom(*s)),
            SlotKey::SetUsed(s) => Some(NodeKey::Set(*s)),
            SlotKey::SetCalled(s, n) => Some(NodeKey::Dispatch(*s, *n)),
            _ => None,
        };
        match &key {
            SlotKey::SubClassesUsed(c) => {
                self.families.insert(*c);
            }
            SlotKey::AttrUsed(c, n) => {
                self.used.entry(n.clone()).or_default().insert(*c);
            }
            SlotKey::FieldUsed(c, n) => {
                self.fields.entry(n.clone()).or_default().insert(*c);
            }
            _ => {}
        }
        self.slot_ix.insert(i, |i| &self.slots[i].key);
        if let Some(n) = node {
            let n = self.node(n);
            self.register(i, n);
        }
        i
    }

    /// The slot of that key, if it has ever been used.
    pub(crate) fn find_slot(&self, key: &SlotKey) -> Option<&Slot> {
        self.find_slot_ix(key).map(|i| &self.slots[i])
    }

    /// The same, by its number.
    pub(crate) fn find_slot_ix(&self, key: &SlotKey) -> Option<SlotIx> {
        self.slot_ix.get(key, |i| &self.slots[i].key)
    }

    /// The current value of a slot.
    pub(crate) fn value(&self, key: &SlotKey) -> &Val {
        self.find_slot(key).map_or(&BOTTOM, Slot::current)
    }

    /// The node of that key.
    pub(crate) fn node(&mut self, key: NodeKey) -> NodeIx {
        if let Some(i) = self.find_node(&key) {
            return i;
        }
        let i = self.nodes.alloc(Node {
            key,
            events: Vec::new(),
            stamps: FxHashMap::default(),
        });
        self.node_ix.insert(i, |i| &self.nodes[i].key);
        i
    }

    /// The node of that key, if it has ever been used.
    pub(crate) fn find_node(&self, key: &NodeKey) -> Option<NodeIx> {
        self.node_ix.get(key, |i| &self.nodes[i].key)
    }

    /// Notes that a node reads a slot.
    pub(crate) fn register(&mut self, slot: SlotIx, node: NodeIx) {
        let readers = &mut self.slots[slot].readers;
        let new = match readers.len() {
            n if n < FEW_READERS => !readers.contains(&node),
            n => {
                if n == FEW_READERS {
                    self.reads.extend(readers.iter().map(|r| (slot, *r)));
                }
                self.reads.insert((slot, node))
            }
        };
        if new {
            readers.push(node);
        }
    }
}
