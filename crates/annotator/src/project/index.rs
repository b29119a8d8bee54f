//! What projections need to know of the solved program as a whole, kept up to date:
//! which sites are one, which functions are called at the same places, which classes
//! declare what. An update looks at the nodes and slots that the solver changed, and
//! says which projections may have changed with them.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use la_arena::ArenaMap;
use rustc_hash::{FxHashMap, FxHashSet};
use taipan_graph::ObjId;

use super::classes::{ClassRead, ClassUses, Classes};
use super::families::{Families, Row};
use super::frozen::{Frozen, Read};
use super::values::{Sites, User, is_conflict};
use crate::eval::FunctionState;
use crate::result::{
    AttrFamily, CallFamily, ClassAttributes, ClassDef, FunctionAnnotation, Signature,
};
use crate::solver::{Changed, Solver};
use crate::store::{NodeIx, NodeKey, SlotIx, SlotKey, SpecIx};
use crate::val::{EdgeKind, Val};
use crate::{CallInfo, DictDef, ListDef, SiteId};

/// Projections that may have changed.
#[derive(Default)]
pub(crate) struct Dirty {
    /// Annotated functions.
    pub(crate) functions: FxHashSet<SpecIx>,
    pub(crate) signatures: FxHashSet<SpecIx>,
    pub(crate) classes: FxHashSet<ObjId>,
    pub(crate) attributes: FxHashSet<ObjId>,
    pub(crate) lists: FxHashSet<SiteId>,
    pub(crate) dicts: FxHashSet<SiteId>,
    /// By members.
    pub(crate) call_families: FxHashSet<ObjId>,
    pub(crate) attr_families: FxHashSet<ObjId>,
    /// Which classes are in use.
    pub(crate) class_list: bool,
    /// Which functions are called.
    pub(crate) order: bool,
    /// What is wrong with the program.
    pub(crate) faults: bool,
}

impl Dirty {
    /// Whether nothing has changed.
    pub(crate) fn is_empty(&self) -> bool {
        self.functions.is_empty()
            && self.signatures.is_empty()
            && self.classes.is_empty()
            && self.attributes.is_empty()
            && self.lists.is_empty()
            && self.dicts.is_empty()
            && self.call_families.is_empty()
            && self.attr_families.is_empty()
            && !self.class_list
            && !self.order
            && !self.faults
    }
}

/// What one function puts into the tables of a [`View`].
#[derive(Default)]
struct NodeUses {
    /// What its calls pick; whether the place in the family's table matters to it.
    rows: Vec<(Row, bool)>,
    reads: Vec<Read>,
    classes: ClassUses,
    sites: Vec<SiteId>,
    /// Nodes of sets of methods that it calls.
    dispatches: Vec<NodeIx>,
}

/// By node.
#[derive(Default)]
pub(super) struct Nodes(ArenaMap<NodeIx, Box<NodeUses>>);

impl Nodes {
    fn get(&self, n: NodeIx) -> Option<&NodeUses> {
        self.0.get(n).map(|uses| &**uses)
    }

    pub(super) fn reads(&self, n: NodeIx) -> &[Read] {
        self.get(n).map_or(&[], |u| &u.reads)
    }

    pub(super) fn class_reads(&self, n: NodeIx) -> &[ClassRead] {
        self.get(n).map_or(&[], |u| &u.classes.reads)
    }

    fn replace(&mut self, n: NodeIx, new: Option<Box<NodeUses>>) -> Option<Box<NodeUses>> {
        match new {
            Some(new) => self.0.insert(n, new),
            None => self.0.remove(n),
        }
    }
}

/// Where something is wrong.
#[derive(Default)]
pub(crate) struct Faults {
    /// Functions with problems or local conflicts.
    pub(crate) functions: BTreeSet<SpecIx>,
    /// Functions with operations that wait for ever.
    pub(crate) blocked: BTreeSet<SpecIx>,
    /// Functions with operations that could not succeed, and are left out.
    pub(crate) dead: BTreeSet<SpecIx>,
    /// Sets of methods whose calls have problems.
    pub(crate) dispatches: BTreeSet<NodeIx>,
    /// Prebuilt objects and attributes with problems.
    pub(crate) data: BTreeSet<NodeIx>,
    /// Slots whose contributions have no common annotation.
    pub(crate) slots: BTreeSet<SlotIx>,
}

/// Outcomes of projections that still hold.
#[derive(Default)]
pub(super) struct Cache {
    pub(super) called: Option<Arc<[ObjId]>>,
    pub(super) functions: FxHashMap<SpecIx, Arc<FunctionAnnotation>>,
    pub(super) classes: FxHashMap<ObjId, Arc<ClassDef>>,
    pub(super) attributes: FxHashMap<ObjId, Arc<ClassAttributes>>,
    pub(super) lists: FxHashMap<SiteId, Arc<ListDef>>,
    pub(super) dicts: FxHashMap<SiteId, Arc<DictDef>>,
    /// By the smallest member.
    pub(super) call_families: FxHashMap<ObjId, Arc<CallFamily>>,
    pub(super) attr_families: FxHashMap<ObjId, Arc<AttrFamily>>,
    /// Of functions that share call sites, by the first of them.
    pub(super) signatures: FxHashMap<SpecIx, Arc<Signature>>,
    /// By the nodes of sets.
    pub(super) dispatches: FxHashMap<NodeIx, Arc<CallInfo>>,
}

/// A called function, in the order in which they are listed.
type Called = (Arc<str>, ObjId, Arc<str>);

/// Tables over a solved program.
pub(crate) struct View {
    /// Helpers are known by what they are specialised by; calls that pick one of them
    /// have no part in any family.
    helpers: bool,
    pub(super) nodes: Nodes,
    pub(super) sites: Sites,
    pub(super) families: Families,
    pub(super) frozen: Frozen,
    pub(super) classes: Classes,
    called: BTreeMap<Called, SpecIx>,
    names: FxHashMap<SpecIx, Arc<str>>,
    /// Who calls the methods of a set.
    callers: FxHashMap<NodeIx, FxHashSet<NodeIx>>,
    pub(crate) faults: Faults,
    cache: Mutex<Cache>,
}

impl View {
    /// Of a solver that has not solved anything yet.
    pub(crate) fn new(helpers: bool) -> View {
        View {
            helpers,
            nodes: Nodes::default(),
            sites: Sites::default(),
            families: Families::default(),
            frozen: Frozen::default(),
            classes: Classes::default(),
            called: BTreeMap::new(),
            names: FxHashMap::default(),
            callers: FxHashMap::default(),
            faults: Faults::default(),
            cache: Mutex::default(),
        }
    }

    /// Functions that are called, by module, name and specialisation.
    pub(crate) fn called(&self) -> impl Iterator<Item = SpecIx> + '_ {
        self.called.values().copied()
    }

    /// The same without specialisations, sorted.
    pub(crate) fn called_functions(&self) -> Arc<[ObjId]> {
        let mut cache = self.cache();
        let list = || {
            let all: BTreeSet<ObjId> = self.called.keys().map(|(_, f, _)| *f).collect();
            all.into_iter().collect()
        };
        cache.called.get_or_insert_with(list).clone()
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A projection as it was computed last, or computes it.
    pub(super) fn cached<K: Copy + Eq + Hash, T>(
        &self,
        table: impl Fn(&mut Cache) -> &mut FxHashMap<K, Arc<T>>,
        key: K,
        project: impl FnOnce() -> T,
    ) -> Arc<T> {
        if let Some(old) = table(&mut self.cache()).get(&key) {
            return old.clone();
        }
        let new = Arc::new(project());
        table(&mut self.cache()).insert(key, new.clone());
        new
    }

    /// Takes in what the solver changed since the last call.
    pub(crate) fn update(&mut self, solver: &mut Solver) -> Dirty {
        let Changed {
            mut nodes,
            slots,
            touched,
            classes,
            restated,
        } = std::mem::take(&mut solver.changed);
        let mut dirty = Dirty::default();
        #[expect(
            clippy::iter_over_hash_type,
            reason = "each goes into a map by its own key"
        )]
        for n in &touched {
            nodes.entry(*n).or_default();
        }
        for c in classes {
            self.class_reshaped(solver, c, &mut dirty);
        }
        let mut slots: Vec<(SlotIx, Val)> = slots.into_iter().collect();
        slots.sort_unstable_by_key(|s| s.0);
        for (slot, old) in slots {
            if *solver.store.slots[slot].current() != old {
                self.slot_changed(solver, slot, &old, &mut dirty);
            }
        }
        for slot in restated {
            self.slot_looks_different(solver, slot, &mut dirty);
        }
        let mut nodes: Vec<_> = nodes.into_iter().collect();
        nodes.sort_unstable_by_key(|n| n.0);
        for (n, old) in nodes {
            let new = solver.functions.get(n).map(|s| &**s);
            if touched.contains(&n) || old.as_deref() != new {
                self.node_changed(solver, n, new, &mut dirty);
            }
        }
        for site in self.sites.settle() {
            let users: Vec<User> = self.sites.users(site).collect();
            for user in users {
                match user {
                    User::Slot(s) => self.slot_looks_different(solver, s, &mut dirty),
                    User::Node(n) => self.node_looks_different(solver, n, &mut dirty),
                }
            }
        }
        self.frozen.settle(&mut dirty);
        for (n, row) in self.families.settle(&solver.store, &mut dirty) {
            let uses = self.nodes.get(n);
            if uses.is_some_and(|u| u.rows.contains(&(row, true))) {
                self.calls_look_different(solver, n, &mut dirty);
            }
        }
        self.follow_signatures(solver, &mut dirty);
        self.forget(&dirty);
        dirty
    }

    /// A signature is part of the function's own annotation and of its family.
    fn follow_signatures(&self, solver: &Solver, dirty: &mut Dirty) {
        let changed: Vec<SpecIx> = dirty.signatures.iter().copied().collect();
        // Groups and families can be large, and all of one may have changed: each is gone
        // through once.
        let (mut grouped, mut families) = (FxHashSet::default(), FxHashSet::default());
        for spec in changed {
            if grouped.contains(&spec) {
                continue;
            }
            for s in self.families.group(spec) {
                grouped.insert(s);
                dirty.signatures.insert(s);
                dirty.functions.insert(s);
                let func = solver.store.specs[s].func;
                if let Some(head) = self.families.head(func)
                    && families.insert(head)
                {
                    dirty.call_families.extend(self.families.members(func));
                }
            }
        }
    }

    #[expect(clippy::iter_over_hash_type, reason = "each is removed by its own key")]
    fn forget(&mut self, dirty: &Dirty) {
        let cache = self.cache.get_mut().unwrap_or_else(PoisonError::into_inner);
        cache.dispatches.clear();
        if dirty.order {
            cache.called = None;
        }
        for s in &dirty.functions {
            cache.functions.remove(s);
        }
        for c in &dirty.classes {
            cache.classes.remove(c);
        }
        for c in &dirty.attributes {
            cache.attributes.remove(c);
        }
        for s in &dirty.lists {
            cache.lists.remove(s);
        }
        for s in &dirty.dicts {
            cache.dicts.remove(s);
        }
        for f in &dirty.call_families {
            cache.call_families.remove(f);
        }
        for o in &dirty.attr_families {
            cache.attr_families.remove(o);
        }
        for s in &dirty.signatures {
            cache.signatures.remove(s);
        }
    }

    fn class_reshaped(&mut self, solver: &Solver, class: ObjId, dirty: &mut Dirty) {
        let used = solver.store.value(&SlotKey::ClassUsed(class));
        if !used.is_bottom() {
            self.classes.set_used(class, true, &solver.facts, dirty);
        }
    }

    fn slot_changed(&mut self, solver: &Solver, slot: SlotIx, old: &Val, dirty: &mut Dirty) {
        let s = &solver.store.slots[slot];
        let new = s.current();
        let there = !new.is_bottom();
        match &s.key {
            SlotKey::Called(spec) if there == old.is_bottom() => {
                self.set_called(solver, *spec, there);
                dirty.order = true;
                dirty.functions.insert(*spec);
            }
            SlotKey::ClassUsed(c) if there == old.is_bottom() => {
                self.classes.set_used(*c, there, &solver.facts, dirty);
            }
            SlotKey::AttrUsed(c, name) if there == old.is_bottom() => {
                self.classes.set_attr(*c, name, there, &solver.facts, dirty);
            }
            SlotKey::Edge(EdgeKind::List | EdgeKind::Dict, a, b) if there == old.is_bottom() => {
                self.sites.set_edge(*a, *b, there);
            }
            SlotKey::Arg(..)
            | SlotKey::Ret(_)
            | SlotKey::Attr(..)
            | SlotKey::Item(_)
            | SlotKey::Key(_)
            | SlotKey::Value(_)
            | SlotKey::Custom(_) => {
                self.sites.replace(User::Slot(slot), old, new);
                let wrong = is_conflict(new) && !matches!(s.key, SlotKey::Custom(_));
                let was = if wrong {
                    !self.faults.slots.insert(slot)
                } else {
                    self.faults.slots.remove(&slot)
                };
                dirty.faults |= wrong || was;
            }
            _ => {}
        }
        self.slot_looks_different(solver, slot, dirty);
    }

    /// What a slot's value is projected to may be something else.
    fn slot_looks_different(&self, solver: &Solver, slot: SlotIx, dirty: &mut Dirty) {
        match &solver.store.slots[slot].key {
            SlotKey::Arg(spec, _) | SlotKey::Ret(spec) => {
                dirty.signatures.insert(*spec);
            }
            SlotKey::Attr(c, _) | SlotKey::AttrSet(c, _) => {
                dirty.attributes.insert(*c);
            }
            SlotKey::Item(s) | SlotKey::Flags(s) => {
                dirty.lists.insert(*s);
            }
            SlotKey::Key(s) | SlotKey::Value(s) | SlotKey::Custom(s) => {
                dirty.dicts.insert(*s);
            }
            _ => {}
        }
    }

    /// Calls in a function, or of a set of methods, may be resolved in another way.
    fn calls_look_different(&self, solver: &Solver, n: NodeIx, dirty: &mut Dirty) {
        let callers = self.callers.get(&n).into_iter().flatten();
        for n in std::iter::once(&n).chain(callers) {
            if let NodeKey::Spec(spec) = solver.store.nodes[*n].key {
                dirty.functions.insert(spec);
            }
        }
    }

    fn node_looks_different(&mut self, solver: &Solver, n: NodeIx, dirty: &mut Dirty) {
        let NodeKey::Spec(spec) = solver.store.nodes[n].key else {
            return;
        };
        dirty.functions.insert(spec);
        for r in self.nodes.reads(n) {
            self.frozen.touch(r);
        }
        let bases = self.nodes.class_reads(n).iter().map(|r| r.base);
        dirty.attributes.extend(bases);
    }

    fn set_called(&mut self, solver: &Solver, spec: SpecIx, called: bool) {
        let key = &solver.store.specs[spec];
        if let Some(name) = self.names.remove(&spec) {
            self.called.remove(&(name, key.func, key.key.clone()));
        }
        if called {
            let name: Arc<str> = match solver.facts.function(key.func) {
                Ok(Some(info)) => format!("{}.{}", info.data.module, info.data.name).into(),
                _ => "".into(),
            };
            self.names.insert(spec, name.clone());
            self.called.insert((name, key.func, key.key.clone()), spec);
        }
    }

    fn node_changed(
        &mut self,
        solver: &Solver,
        n: NodeIx,
        new: Option<&FunctionState>,
        dirty: &mut Dirty,
    ) {
        let spec = match solver.store.nodes[n].key {
            NodeKey::Spec(spec) => Some(spec),
            NodeKey::Dispatch(..) => None,
            NodeKey::Prebuilt(_) | NodeKey::Attr(..) => {
                dirty.faults = true;
                if new.is_some_and(|s| !s.problems.is_empty()) {
                    self.faults.data.insert(n)
                } else {
                    self.faults.data.remove(&n)
                };
                return;
            }
            _ => {
                dirty.faults = true;
                return;
            }
        };
        self.calls_look_different(solver, n, dirty);
        let uses = new.map(|state| Box::new(self.uses(solver, spec, state)));
        if let Some(uses) = &uses {
            for (row, _) in &uses.rows {
                self.families.add(row, n);
            }
            for r in &uses.reads {
                self.frozen.add(r, n);
            }
            self.classes.add_uses(&uses.classes, n, dirty);
            for s in &uses.sites {
                self.sites.add_user(*s, User::Node(n));
            }
            for d in &uses.dispatches {
                self.callers.entry(*d).or_default().insert(n);
            }
        }
        let old = self.nodes.replace(n, uses);
        if let Some(old) = old {
            let new = self.nodes.get(n);
            for (row, _) in &old.rows {
                if !new.is_some_and(|u| u.rows.iter().any(|(r, _)| r == row)) {
                    self.families.remove(row, n);
                }
            }
            for r in &old.reads {
                if new.is_some_and(|u| u.reads.iter().any(|x| x.members == r.members)) {
                    self.frozen.touch(r);
                } else {
                    self.frozen.remove(r, n);
                }
            }
            for s in &old.sites {
                if new.is_none_or(|u| u.sites.binary_search(s).is_err()) {
                    self.sites.remove_user(*s, User::Node(n));
                }
            }
            for d in &old.dispatches {
                if !new.is_some_and(|u| u.dispatches.contains(d))
                    && let Some(callers) = self.callers.get_mut(d)
                {
                    callers.remove(&n);
                }
            }
            self.classes.remove_uses(&old.classes, n, dirty);
        }
        let Some(spec) = spec else {
            let wrong = new.is_some_and(|s| !s.problems.is_empty());
            let was = if wrong {
                !self.faults.dispatches.insert(n)
            } else {
                self.faults.dispatches.remove(&n)
            };
            dirty.faults |= wrong || was;
            return;
        };
        let wrong = new.is_some_and(|s| !s.problems.is_empty() || s.vars.iter().any(is_conflict));
        let waits = new.is_some_and(|s| !s.blocked.is_empty());
        let dead = new.is_some_and(|s| !s.dead.is_empty());
        for (set, now) in [
            (&mut self.faults.functions, wrong),
            (&mut self.faults.blocked, waits),
            (&mut self.faults.dead, dead),
        ] {
            let was = if now {
                !set.insert(spec)
            } else {
                set.remove(&spec)
            };
            dirty.faults |= now || was;
        }
    }

    fn uses(&self, solver: &Solver, spec: Option<SpecIx>, state: &FunctionState) -> NodeUses {
        let mut uses = NodeUses::default();
        let fewest = if self.helpers { 2 } else { 1 };
        for (_, _, record) in &state.ops {
            if record.calls.len() >= fewest {
                let row = Row::of(&solver.store.specs, &record.calls);
                let entry = (row, record.calls.len() > 1);
                if entry.0.len() >= fewest && !uses.rows.contains(&entry) {
                    uses.rows.push(entry);
                }
            }
            if let Some((set, count)) = record.family
                && let Some(n) = (solver.store).find_node(&NodeKey::Dispatch(set, count))
            {
                uses.dispatches.push(n);
            }
            if let Some((_, v)) = &record.special {
                v.sites(&mut uses.sites);
            }
        }
        for v in &state.vars {
            v.sites(&mut uses.sites);
        }
        uses.sites.sort_unstable();
        uses.sites.dedup();
        if let Some(spec) = spec
            && let Ok(flow) = (solver.facts).flow(solver.store.specs[spec].func)
            && let Ok(graph) = &flow.graph
            && !state.vars.is_empty()
        {
            Read::all(graph, state, &mut uses.reads);
            uses.classes = ClassUses::of(&solver.facts, graph, state);
        }
        uses
    }
}
