//! Taking back what no longer follows.
//!
//! An edit re-runs the contributions of the edited functions, each on the values
//! that slots had before its stamp, and keeps what old and new have in common. Where
//! that changes what a slot held as of some stamp, the readers' contributions of
//! later stamps are run again in the same way. What survives is justified by older
//! entries alone, so nothing holds itself up in a cycle and results shrink back.
//!
//! All this goes in the order of stamps. A slot with a changed contribution is put
//! together again one contribution at a time, as far as it differs from what it was:
//! however many of them change, its history is made once.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_graph::ObjId;

use crate::eval::Past;
use crate::solver::{FactJoiner, Solver};
use crate::store::{NodeIx, NodeKey, Slot, SlotIx, SlotKey, Stamp, Store, Writes};
use crate::val::Val;

/// What is to be done at a stamp.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// The evaluation of that stamp is run again, on what slots held before it.
    Recheck(NodeIx),
    /// The value of a slot from there on is another one, perhaps.
    Rejoin(SlotIx),
}

/// A slot whose history is made again from some stamp on.
struct Sweep {
    /// What it held before.
    base: Val,
    /// What it held from then on.
    old: Vec<(Stamp, Val)>,
    /// How many of these are not later than the present stamp.
    passed: usize,
    /// Evaluations to come that depend on the slot, the next one last; none before it
    /// turned out to differ.
    later: Option<Vec<(Stamp, NodeIx)>>,
}

impl Sweep {
    /// Cuts a slot's history off at a stamp.
    fn new(slot: &mut Slot, t: Stamp) -> Sweep {
        let from = slot.history.partition_point(|h| h.0 < t);
        Sweep {
            old: slot.history.drain(from..).collect(),
            base: slot.current().clone(),
            passed: 0,
            later: None,
        }
    }

    /// What the slot held after a stamp; to be asked in the order of stamps.
    fn was(&mut self, t: Stamp) -> &Val {
        let ahead = self.old[self.passed..].iter();
        self.passed += ahead.take_while(|h| h.0 <= t).count();
        let last = self.passed.checked_sub(1);
        last.map_or(&self.base, |i| &self.old[i].1)
    }

    /// What it held in the end.
    fn last(&self) -> &Val {
        self.old.last().map_or(&self.base, |h| &h.1)
    }
}

/// The evaluations after a stamp that depend on a slot, the first one last.
fn dependants(store: &Store, slot: &Slot, t: Stamp) -> Vec<(Stamp, NodeIx)> {
    let mut out = Vec::new();
    for n in slot.readers.iter().copied().chain(contributors(slot)) {
        let events = store.nodes[n].events.iter().rev();
        let later = events.take_while(|e| e.0 > t).filter(|e| !e.1.is_empty());
        out.extend(later.map(|e| (e.0, n)));
    }
    out.sort_unstable_by_key(|e| Reverse(e.0));
    out.dedup();
    out
}

/// Whoever contributes lists depends on the list that was there before.
fn contributors(slot: &Slot) -> impl Iterator<Item = NodeIx> + '_ {
    let lists = slot.log.iter().filter(|e| e.val.has_site());
    lists.map(|e| e.node)
}

/// A retraction on its way.
struct Retraction<'s> {
    solver: &'s mut Solver,
    /// What is to be done, in the order of stamps.
    steps: BinaryHeap<Reverse<(Stamp, Step)>>,
    sweeps: FxHashMap<SlotIx, Sweep>,
    /// The last evaluations of functions that are evaluated again and again.
    pasts: FxHashMap<NodeIx, Option<Box<Past>>>,
}

/// A function with so many evaluations goes on from one of them to the next.
const MANY_EVENTS: usize = 8;

impl Solver {
    /// Takes back what no longer follows after the functions of these nodes changed, and
    /// these classes stand elsewhere among the others, and schedules what has to be added.
    /// [`Solver::ascend`] must follow.
    pub(crate) fn retract(&mut self, edited: &[NodeIx], moved: &FxHashSet<ObjId>) {
        self.forget_progress();
        let mut retraction = Retraction::new(self);
        if !moved.is_empty() {
            retraction.join_again(moved);
        }
        for &n in edited {
            let solver = &mut retraction.solver;
            for (t, _) in &solver.store.nodes[n].events {
                retraction.steps.push(Reverse((*t, Step::Recheck(n))));
            }
            solver.enqueue(n);
        }
        retraction.run();
    }

    /// Takes back what nodes contributed on the way and do not any more, and what
    /// followed from it. Answers whether there was anything of the kind.
    pub(crate) fn prune(&mut self, outgrown: &[NodeIx]) -> bool {
        let now = self.clock.next();
        let writes: Vec<_> = (outgrown.iter())
            .filter_map(|n| Some((*n, self.run(*n, now).ok()?.0)))
            .collect();
        let mut retraction = Retraction::new(self);
        let mut any = false;
        for (n, writes) in writes {
            any |= retraction.prune(n, &writes, outgrown);
        }
        retraction.run();
        any
    }
}

impl<'s> Retraction<'s> {
    fn new(solver: &'s mut Solver) -> Self {
        Retraction {
            solver,
            steps: BinaryHeap::new(),
            sweeps: FxHashMap::default(),
            pasts: FxHashMap::default(),
        }
    }

    /// Joins again what was joined by where classes stand. Nodes that did so are among the
    /// edited ones.
    fn join_again(&mut self, moved: &FxHashSet<ObjId>) {
        for (slot, s) in self.solver.store.slots.iter() {
            let mut log = s.log.iter();
            let Some(first) = log.position(|e| e.val.depends_on_classes(moved)) else {
                continue;
            };
            for e in &s.log[first..] {
                let step = Step::Rejoin(slot);
                self.steps.push(Reverse((e.stamp, step)));
            }
            self.solver.changed.restated.push(slot);
        }
    }

    fn run(mut self) {
        let mut last = None;
        while let Some(Reverse((t, step))) = self.steps.pop() {
            if last.replace((t, step)) == Some((t, step)) {
                continue;
            }
            match step {
                Step::Recheck(n) => self.recheck(n, t),
                Step::Rejoin(slot) => self.rejoin(slot, t),
            }
        }
        self.solver.forget_empty_events();
    }

    /// Takes back what a node does not contribute any more. Answers whether there was
    /// anything of the kind.
    fn prune(&mut self, n: NodeIx, writes: &Writes, outgrown: &[NodeIx]) -> bool {
        let sets = self.sets_called(writes, outgrown);
        let mut gone: Vec<(Stamp, SlotIx)> = Vec::new();
        let mut joiner = FactJoiner::new(&self.solver.facts);
        for (t, event) in &self.solver.store.nodes[n].events {
            for (slot, was) in event {
                let stays = !self.solver.is_judged(n, *slot)
                    || (self.solver).still_there(*slot, was, writes, &mut joiner)
                    || self.passed_on(&sets, *slot, was, &mut joiner);
                if !stays {
                    gone.push((*t, *slot));
                }
            }
        }
        let mut slots: Vec<SlotIx> = gone.iter().map(|g| g.1).collect();
        slots.sort_unstable();
        slots.dedup();
        slots.retain(|slot| self.solver.take_back(n, *slot));
        gone.retain(|(_, slot)| slots.binary_search(slot).is_ok());
        let node = &mut self.solver.store.nodes[n];
        for (t, event) in &mut node.events {
            event.retain(|(slot, _)| gone.binary_search(&(*t, *slot)).is_err());
        }
        for (t, slot) in &gone {
            self.replace(*slot, *t, None);
        }
        // What is left of values that became others is added again.
        if !gone.is_empty() {
            self.solver.start_again(n);
        }
        !gone.is_empty()
    }

    /// The nodes of the sets of methods that an evaluation calls, as far as they have not
    /// outgrown anything themselves.
    fn sets_called(&self, writes: &Writes, outgrown: &[NodeIx]) -> Vec<NodeIx> {
        let store = &self.solver.store;
        let keys = writes.iter().map(|w| &store.slots[w.0].key);
        let sets = keys.filter_map(|key| match key {
            SlotKey::SetCalled(set, n) => store.find_node(&NodeKey::Dispatch(*set, *n)),
            _ => None,
        });
        sets.filter(|n| outgrown.binary_search(n).is_err())
            .collect()
    }

    /// Whether sets of methods contribute it: a method that was called by itself, as long
    /// as it was the only one, is called as one of a set now. Whoever calls the set passes
    /// it at least what it passed to the method.
    fn passed_on(
        &self,
        sets: &[NodeIx],
        slot: SlotIx,
        was: &Val,
        joiner: &mut FactJoiner<'_>,
    ) -> bool {
        sets.iter().any(|n| {
            let now = self.solver.store.nodes[*n].before(Stamp::MAX, slot);
            was.has_site() && !now.is_bottom() || now.contains(was, joiner)
        })
    }

    /// Runs one past evaluation again and keeps what is still justified of it.
    fn recheck(&mut self, n: NodeIx, t: Stamp) {
        let events = &self.solver.store.nodes[n].events;
        let Ok(at) = events.binary_search_by_key(&t, |e| e.0) else {
            return;
        };
        if events[at].1.is_empty() {
            return;
        }
        let writes = match self.solver.store.nodes[n].key {
            NodeKey::Spec(spec) if events.len() >= MANY_EVENTS => {
                let slots: Vec<SlotIx> = events[at].1.iter().map(|w| w.0).collect();
                let before = self.pasts.entry(n).or_default();
                self.solver.run_past((n, spec), t, &slots, before)
            }
            _ => self.solver.run(n, t).map(|r| r.0),
        };
        // Where facts are missing nothing is known to follow: it is added again when
        // they are there.
        let writes = writes.unwrap_or_default();
        self.solver.facts.record();
        let node = &mut self.solver.store.nodes[n];
        let old = std::mem::take(&mut node.events[at].1);
        let mut joiner = FactJoiner::new(&self.solver.facts);
        let mut kept: Writes = Vec::new();
        let mut dirty: Vec<(SlotIx, Option<Val>)> = Vec::new();
        let mut lists = false;
        for (slot, was) in old {
            let before = node.before(t, slot);
            let now = match writes.binary_search_by_key(&slot, |w| w.0) {
                Ok(i) => before.join(&writes[i].1, &mut joiner),
                Err(_) => before.clone(),
            };
            let common = was.meet(&now, &mut joiner);
            let keep = !common.is_bottom() && common != *before;
            if common != was || !keep {
                lists |= was.has_site();
                dirty.push((slot, keep.then(|| common.clone())));
            }
            if keep {
                kept.push((slot, common));
            }
        }
        node.events[at].1 = kept;
        self.solver.note_facts(n);
        if dirty.is_empty() {
            return;
        }
        let node = &self.solver.store.nodes[n];
        // What it contributed later adds to that.
        for (later, writes) in &node.events[at + 1..] {
            let adds = |w: &(SlotIx, Val)| dirty.binary_search_by_key(&w.0, |d| d.0).is_ok();
            if lists || writes.iter().any(adds) {
                self.steps.push(Reverse((*later, Step::Recheck(n))));
            }
        }
        self.solver.start_again(n);
        for (slot, val) in dirty {
            self.replace(slot, t, val);
        }
    }

    /// Puts a changed contribution into the log of its slot.
    fn replace(&mut self, slot: SlotIx, t: Stamp, val: Option<Val>) {
        let log = &mut self.solver.store.slots[slot].log;
        let i = log.partition_point(|e| e.stamp < t);
        match val {
            Some(v) => log[i].val = v,
            None => {
                log.remove(i);
            }
        }
        self.steps.push(Reverse((t, Step::Rejoin(slot))));
    }

    /// Joins what was contributed to a slot at a stamp to what it held before, and
    /// follows those who look at it until the next contribution, if it is something else
    /// than it was.
    fn rejoin(&mut self, slot: SlotIx, t: Stamp) {
        let Solver { facts, store, .. } = &mut *self.solver;
        let s = &mut store.slots[slot];
        let known = self.sweeps.remove(&slot);
        let mut sweep = known.unwrap_or_else(|| Sweep::new(s, t));
        let mut next = s.log.partition_point(|e| e.stamp < t);
        if let Some(e) = s.log.get(next).filter(|e| e.stamp == t) {
            let now = s.joined_with(&e.val, &mut FactJoiner::new(facts));
            if now != *s.current() {
                s.history.push((t, now));
            }
            next += 1;
        }
        let next = s.log.get(next).map(|e| e.stamp);
        if sweep.was(t) == s.current() {
            // So it is what it was from here on, until something else changes.
            s.history.extend(sweep.old.drain(sweep.passed..));
            return;
        }
        let s = &store.slots[slot];
        let later = sweep.later.get_or_insert_with(|| dependants(store, s, t));
        let end = next.unwrap_or(Stamp::MAX);
        while let Some((stamp, n)) = later.pop_if(|e| e.0 <= end) {
            self.steps.push(Reverse((stamp, Step::Recheck(n))));
        }
        if let Some(next) = next {
            self.steps.push(Reverse((next, Step::Rejoin(slot))));
            self.sweeps.insert(slot, sweep);
        } else if sweep.last() != s.current() {
            let wake: Vec<NodeIx> = s.readers.iter().copied().chain(contributors(s)).collect();
            let was = sweep.last().clone();
            self.solver.changed.slots.entry(slot).or_insert(was);
            for r in wake {
                self.solver.start_again(r);
            }
        }
    }
}
