//! The worklist: evaluates nodes until nothing changes, and mends its state after an
//! edit instead of starting over.
//!
//! An edit takes back what no longer follows (`retract`); then the ordinary ascending
//! worklist adds what is missing, with fresh stamps.

use std::collections::{VecDeque, hash_map};
use std::sync::Arc;

use la_arena::ArenaMap;
use rustc_hash::{FxHashMap, FxHashSet};
use taipan_graph::ObjId;

use crate::SiteId;
use crate::bounds;
use crate::eval::{
    Evaluation, FunctionState, Meetings, Past, Progress, Root, Solving, evaluate, evaluate_lazily,
    evaluate_past,
};
use crate::facts::{Facts, Known, Missing, Request};
use crate::store::{Entry, NodeIx, NodeKey, SlotIx, SlotKey, SpecIx, Stamp, Store, Writes};
use crate::val::{EdgeKind, Joiner, Val, join_evenly};

/// A join that knows the classes and notes which sites meet.
pub(crate) struct FactJoiner<'a> {
    facts: &'a Facts,
    pub(crate) met: Meetings,
    /// A class was not known: the join means nothing.
    pub(crate) missing: bool,
}

impl<'a> FactJoiner<'a> {
    pub(crate) fn new(facts: &'a Facts) -> Self {
        FactJoiner {
            facts,
            met: Vec::new(),
            missing: false,
        }
    }
}

impl Joiner for FactJoiner<'_> {
    fn common_base(&mut self, a: ObjId, b: ObjId) -> Option<ObjId> {
        self.facts.common_base(a, b).unwrap_or_else(|_| {
            self.missing = true;
            None
        })
    }

    fn is_subclass(&mut self, a: ObjId, b: ObjId) -> bool {
        self.facts.is_subclass(a, b).unwrap_or_else(|_| {
            self.missing = true;
            false
        })
    }

    fn same_site(&mut self, kind: EdgeKind, a: SiteId, b: SiteId) {
        self.met.push((kind, a.min(b), a.max(b)));
    }
}

/// How often [`Solver::ascend`] takes back the same thing: where that brings it about
/// again there would be no end.
const PRUNINGS: u8 = 2;

/// Whether a contribution holds what another one did.
fn holds(now: &Val, was: &Val, joiner: &mut FactJoiner<'_>) -> bool {
    was.has_site() || was == now || now.contains(was, joiner)
}

/// What may have changed, with what it was.
#[derive(Default)]
pub(crate) struct Changed {
    /// Nodes with another outcome.
    pub(crate) nodes: FxHashMap<NodeIx, Option<Arc<FunctionState>>>,
    /// Slots with another value.
    pub(crate) slots: FxHashMap<SlotIx, Val>,
    /// Nodes that read facts which changed, whatever their outcome.
    pub(crate) touched: FxHashSet<NodeIx>,
    /// Classes that look different.
    pub(crate) classes: Vec<ObjId>,
    /// Slots whose values may mean something else, since classes stand elsewhere.
    pub(crate) restated: Vec<SlotIx>,
}

/// The solver's state.
pub(crate) struct Solver {
    pub(crate) facts: Facts,
    pub(crate) store: Store,
    pub(crate) roots: Vec<Root>,
    /// The index of each root. A hash table: each helper is a root, and there are thousands.
    places: FxHashMap<Root, usize>,
    /// Outcome of the last evaluation of each function, by node.
    pub(crate) functions: ArenaMap<NodeIx, Arc<FunctionState>>,
    /// What changed since the last projection.
    pub(crate) changed: Changed,
    /// Who asked for which object.
    fact_readers: FxHashMap<ObjId, Vec<NodeIx>>,
    /// What each node asked for, sorted.
    facts_of: ArenaMap<NodeIx, Vec<ObjId>>,
    /// Nodes that contributed something which they do not any more.
    outgrown: FxHashSet<NodeIx>,
    /// How often a node's contribution to a slot was taken back for that.
    taken_back: FxHashMap<(NodeIx, SlotIx), u8>,
    pub(crate) clock: Stamp,
    /// How many nodes were evaluated since the program was solved last.
    evaluations: usize,
    /// What all evaluations have cost so far; see [`Solving::steps`].
    pub(crate) steps: u64,
    /// What is to be evaluated, by [`Solver::urgency`].
    queues: [VecDeque<NodeIx>; 5],
    queued: ArenaMap<NodeIx, ()>,
    /// How far evaluations have come, until the program is solved.
    progress: FxHashMap<NodeIx, Progress>,
    /// The order in which some began to wait, with what has gone on since: first those that
    /// wait for something, then those that wait until nothing else is left to do.
    waiting: [VecDeque<(NodeIx, Stamp)>; 2],
    /// What a function waits for will not come.
    given_up: Option<NodeIx>,
}

/// The index of each root.
fn places(roots: &[Root]) -> FxHashMap<Root, usize> {
    let numbered = roots.iter().enumerate();
    numbered.map(|(i, root)| (root.clone(), i)).collect()
}

impl Solver {
    pub(crate) fn new(facts: Facts, roots: Vec<Root>) -> Solver {
        let mut s = Solver {
            facts,
            store: Store::default(),
            places: places(&roots),
            roots,
            functions: ArenaMap::default(),
            changed: Changed::default(),
            fact_readers: FxHashMap::default(),
            facts_of: ArenaMap::default(),
            outgrown: FxHashSet::default(),
            taken_back: FxHashMap::default(),
            clock: Stamp::FIRST,
            evaluations: 0,
            steps: 0,
            queues: Default::default(),
            queued: ArenaMap::default(),
            progress: FxHashMap::default(),
            waiting: Default::default(),
            given_up: None,
        };
        for i in 0..s.roots.len() {
            s.enqueue_root(i);
        }
        s
    }

    /// Adds a root to a solved program.
    pub(crate) fn add_root(&mut self, root: Root) {
        let place = self.roots.len();
        if let hash_map::Entry::Vacant(entry) = self.places.entry(root) {
            self.roots.push(entry.key().clone());
            entry.insert(place);
            self.enqueue_root(place);
        }
    }

    /// Makes these the roots. Those that stay keep their nodes.
    pub(crate) fn set_roots(&mut self, roots: Vec<Root>) {
        if self.roots == roots {
            return;
        }
        let old = std::mem::take(&mut self.roots);
        let wanted = places(&roots);
        let new: Vec<_> = (roots.iter().filter(|r| !self.places.contains_key(r)))
            .cloned()
            .collect();
        let mut new = new.into_iter();
        let mut edited = Vec::new();
        // New roots take the places of old ones; places that stay free are filled from
        // the end.
        let mut kept: Vec<Option<Root>> = Vec::new();
        for (i, r) in old.into_iter().enumerate() {
            if wanted.contains_key(&r) {
                kept.push(Some(r));
            } else {
                kept.push(new.next());
                edited.push(i);
            }
        }
        for r in new {
            edited.push(kept.len());
            kept.push(Some(r));
        }
        let mut i = 0;
        while i < kept.len() {
            if kept[i].is_none() {
                edited.push(kept.len() - 1);
                kept.swap_remove(i);
            } else {
                i += 1;
            }
        }
        self.roots = kept.into_iter().flatten().collect();
        self.places = places(&self.roots);
        edited.sort_unstable();
        edited.dedup();
        let nodes: Vec<NodeIx> = (edited.into_iter())
            .map(|i| self.store.node(NodeKey::Root(i as u32)))
            .collect();
        self.retract(&nodes, &FxHashSet::default());
    }

    fn enqueue_root(&mut self, i: usize) {
        let n = self.store.node(NodeKey::Root(i as u32));
        self.enqueue(n);
    }

    /// What a root calls, and what is wrong with the call.
    pub(crate) fn root_state(&self, i: usize) -> Option<&FunctionState> {
        let n = self.store.find_node(&NodeKey::Root(i as u32))?;
        self.functions.get(n).map(|s| &**s)
    }

    /// What a node contributes to a slot now, with the instructions that do.
    pub(crate) fn contributions(&mut self, n: NodeIx, slot: SlotIx) -> Vec<(Val, Option<u32>)> {
        let now = self.clock.next();
        let Ok(e) = evaluate(&self.facts, &mut self.store, &self.roots, n, now) else {
            return Vec::new();
        };
        e.writes
            .into_iter()
            .filter(|w| w.slot == slot)
            .map(|w| (w.val, w.at))
            .collect()
    }

    /// The function that a root calls.
    pub(crate) fn spec_of_root(&self, root: &Root) -> Option<SpecIx> {
        let i = *self.places.get(root)?;
        let (_, _, record) = self.root_state(i)?.ops.first()?;
        record.calls.first()?.target
    }

    /// Schedules a node.
    pub(crate) fn enqueue(&mut self, n: NodeIx) {
        if self.queued.insert(n, ()).is_none() {
            let urgency = self.urgency(n);
            self.queues[urgency].push_back(n);
        }
    }

    /// Which nodes go first. The outcome is the same in any order, but what is known of
    /// classes and attributes grows with every function that is looked into for the first
    /// time, and makes work for those that have been. So: what belongs to no function,
    /// then new functions, then all that looks at many of these again: attributes, which
    /// go over all subclasses and prebuilt instances, functions, and at last calls of sets of
    /// functions, which look at every member again when one of them returns something else.
    fn urgency(&self, n: NodeIx) -> usize {
        let node = &self.store.nodes[n];
        match node.key {
            NodeKey::Spec(_) => {
                let solved = self.functions.get(n);
                let known = match self.progress.get(&n) {
                    Some(progress) => progress.waits().is_none(),
                    None => solved.is_some_and(|state| !state.vars.is_empty()),
                };
                if known { 3 } else { 1 }
            }
            NodeKey::Dispatch(..) if !node.events.is_empty() => 4,
            NodeKey::Dispatch(..) => 1,
            NodeKey::Attr(..) if !node.events.is_empty() => 2,
            _ => 0,
        }
    }

    fn next_queued(&mut self) -> Option<NodeIx> {
        let n = self.queues.iter_mut().find_map(VecDeque::pop_front)?;
        self.queued.remove(n);
        Some(n)
    }

    /// Evaluates a node on the values as of a stamp, and notes which facts it depends on.
    pub(crate) fn run(&mut self, n: NodeIx, t: Stamp) -> Known<(Writes, Option<FunctionState>)> {
        self.run_lazily(n, t, None)
    }

    /// The same, but a function goes on from where it was, and may wait.
    fn run_lazily(
        &mut self,
        n: NodeIx,
        t: Stamp,
        solving: Option<&mut Solving>,
    ) -> Known<(Writes, Option<FunctionState>)> {
        self.facts.record();
        let result = self.evaluate(n, t, solving);
        self.note_facts(n);
        result
    }

    /// Notes that a node depends on what was asked for since [`Facts::record`].
    pub(crate) fn note_facts(&mut self, n: NodeIx) {
        let known = self.facts_of.entry(n).or_default();
        let recorded = self.facts.recorded();
        if *known == recorded {
            return;
        }
        for fact in recorded {
            if let Err(at) = known.binary_search(&fact) {
                known.insert(at, fact);
                self.fact_readers.entry(fact).or_default().push(n);
            }
        }
    }

    /// The nodes that asked for one of these objects.
    pub(crate) fn readers_of(&self, facts: &[ObjId]) -> Vec<NodeIx> {
        let mut nodes: Vec<NodeIx> = facts
            .iter()
            .filter_map(|f| self.fact_readers.get(f))
            .flatten()
            .copied()
            .collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    fn evaluate(
        &mut self,
        n: NodeIx,
        t: Stamp,
        mut solving: Option<&mut Solving>,
    ) -> Known<(Writes, Option<FunctionState>)> {
        let e = evaluate_lazily(
            &self.facts,
            &mut self.store,
            &self.roots,
            n,
            t,
            solving.as_deref_mut(),
        )?;
        if solving.is_none() {
            self.steps += e.steps;
        }
        let writes = e.writes.into_iter().map(|w| (w.slot, w.val)).collect();
        let all = self.put_together(n, t, writes, e.met);
        if let (Err(_), Some(solving)) = (&all, solving) {
            solving.progress = None;
        }
        Ok((all?, e.state))
    }

    /// Joins what goes to the same slot; meetings of sites are contributions too.
    fn put_together(
        &mut self,
        n: NodeIx,
        t: Stamp,
        mut writes: Writes,
        mut met: Meetings,
    ) -> Known<Writes> {
        let mut out: Writes = Vec::new();
        loop {
            writes.sort_by_key(|w| w.0);
            let mut joiner = FactJoiner::new(&self.facts);
            let first = out.is_empty();
            let mut joined: Writes = Vec::new();
            for same in writes.chunk_by(|a, b| a.0 == b.0) {
                let vals = same.iter().map(|w| w.1.clone()).collect();
                joined.push((same[0].0, join_evenly(vals, &mut joiner)));
            }
            writes.clear();
            for (slot, val) in joined {
                if first {
                    out.push((slot, val));
                    continue;
                }
                match out.binary_search_by_key(&slot, |w| w.0) {
                    Ok(i) => out[i].1 = out[i].1.join(&val, &mut joiner),
                    Err(i) => out.insert(i, (slot, val)),
                }
            }
            // A list that arrives in a slot where there is another one meets it.
            if met.is_empty() {
                for (slot, val) in &out {
                    if self.store.slots[*slot].is_log() {
                        continue;
                    }
                    let there = self.store.slots[*slot].as_of(t);
                    let before = self.store.nodes[n].before(t, *slot);
                    for old in [there, before] {
                        if !old.is_bottom() && old != val {
                            old.join(val, &mut joiner);
                        }
                    }
                }
            }
            if joiner.missing {
                return Err(Missing);
            }
            met.append(&mut joiner.met);
            met.sort_unstable();
            met.dedup();
            for (kind, a, b) in met.drain(..) {
                if a != b {
                    let slot = self.store.slot(SlotKey::Edge(kind, a, b));
                    if out.binary_search_by_key(&slot, |w| w.0).is_err() {
                        writes.push((slot, Val::event()));
                    }
                }
            }
            if writes.is_empty() {
                return Ok(out);
            }
        }
    }

    /// What a function contributes to some slots as of a stamp. That is later than the stamp of the
    /// evaluation before, from which this one goes on.
    pub(crate) fn run_past(
        &mut self,
        (n, spec): (NodeIx, SpecIx),
        t: Stamp,
        slots: &[SlotIx],
        before: &mut Option<Box<Past>>,
    ) -> Known<Writes> {
        self.facts.record();
        let node = (n, spec);
        let result = match evaluate_past(&self.facts, &mut self.store, node, t, before) {
            Ok(e) => self.contributed(n, t, e, slots, before),
            Err(missing) => Err(missing),
        };
        self.note_facts(n);
        result
    }

    fn contributed(
        &mut self,
        n: NodeIx,
        t: Stamp,
        e: Evaluation,
        slots: &[SlotIx],
        before: &mut Option<Box<Past>>,
    ) -> Known<Writes> {
        self.steps += e.steps;
        let Some(past) = before else {
            let writes = e.writes.into_iter().map(|w| (w.slot, w.val)).collect();
            return self.put_together(n, t, writes, e.met);
        };
        // Whether sites meet is known when all is.
        let is_edge = |s: &SlotIx| matches!(self.store.slots[*s].key, SlotKey::Edge(..));
        if slots.iter().any(is_edge) {
            let (writes, met) = past.contributions(&mut self.store);
            return self.put_together(n, t, writes, met);
        }
        let mut joiner = FactJoiner::new(&self.facts);
        let mut out: Writes = Vec::new();
        for slot in slots {
            let val = join_evenly(past.writes_to(*slot, &self.store), &mut joiner);
            if !val.is_bottom() {
                out.push((*slot, val));
            }
        }
        if joiner.missing {
            Err(Missing)
        } else {
            Ok(out)
        }
    }

    /// Runs the worklist until it is empty or needs facts; answers what it needs. An
    /// empty answer means that the program is solved.
    /// Nor is it solved where [`Store::endless`] says so.
    pub(crate) fn ascend(&mut self) -> Vec<Request> {
        loop {
            let wanted = self.climb();
            if !wanted.is_empty() || self.store.endless.is_some() {
                return wanted;
            }
            let mut nodes: Vec<NodeIx> = self.outgrown.drain().collect();
            nodes.sort_unstable();
            if nodes.is_empty() || !self.prune(&nodes) {
                self.taken_back.clear();
                self.evaluations = 0;
                self.keep_progress();
                return wanted;
            }
        }
    }

    fn climb(&mut self) -> Vec<Request> {
        let mut waiting = Vec::new();
        loop {
            while let Some(n) = self.next_queued() {
                if !self.climb_from(n) {
                    waiting.push(n);
                }
                if self.store.endless.is_some() {
                    return Vec::new();
                }
            }
            // What nobody waits for in vain may bring what others wait for.
            if !waiting.is_empty() || !self.give_up() {
                break;
            }
        }
        for n in waiting {
            self.enqueue(n);
        }
        self.facts.take_wanted()
    }

    /// Evaluates a node and contributes what it comes to. False if it lacks facts.
    fn climb_from(&mut self, n: NodeIx) -> bool {
        let t = self.clock.next();
        self.clock = t;
        self.evaluations += 1;
        if bounds::is_evaluated_endlessly(self.evaluations, self.store.nodes.len()) {
            self.store.endless = Some(n);
        }
        let mut solving = Solving {
            gives_up: self.given_up.take_if(|g| *g == n).is_some(),
            progress: self.progress.remove(&n),
            ..Solving::default()
        };
        let outcome = self.run_lazily(n, t, Some(&mut solving));
        self.steps += solving.steps;
        if let Some(progress) = solving.progress {
            if let (Ok(_), Some(waits)) = (&outcome, progress.waits()) {
                self.waiting[usize::from(waits.patient)].push_back((n, waits.since));
            }
            self.progress.insert(n, progress);
        }
        let Ok((writes, state)) = outcome else {
            return false;
        };
        self.keep_state(n, state);
        self.contribute(n, t, writes, solving.whole);
        true
    }

    /// Schedules the function that has waited longest, to go on without what it waits for.
    /// False if none waits.
    fn give_up(&mut self) -> bool {
        while let Some((n, since)) = (self.waiting.iter_mut()).find_map(VecDeque::pop_front) {
            let waits = self.progress.get(&n).and_then(Progress::waits);
            if waits.is_some_and(|w| w.since == since) {
                self.given_up = Some(n);
                self.enqueue(n);
                return true;
            }
        }
        false
    }

    /// All functions that are not solved start again: what they have come to may be wrong.
    pub(crate) fn forget_progress(&mut self) {
        self.waiting.iter_mut().for_each(VecDeque::clear);
        self.given_up = None;
        let mut nodes: Vec<NodeIx> = self.progress.drain().map(|(n, _)| n).collect();
        nodes.sort_unstable();
        nodes.into_iter().for_each(|n| self.enqueue(n));
    }

    /// Schedules a node of which something was taken back, or that reads something smaller:
    /// it does not go on from where it was.
    pub(crate) fn start_again(&mut self, n: NodeIx) {
        self.progress.remove(&n);
        self.enqueue(n);
    }

    /// The program is solved: what functions have come to is known of them.
    fn keep_progress(&mut self) {
        let mut all: Vec<_> = self.progress.drain().collect();
        all.sort_unstable_by_key(|(n, _)| *n);
        for (n, progress) in all {
            if let Some(state) = progress.into_state() {
                self.keep_state(n, Some(state));
            }
        }
    }

    fn keep_state(&mut self, n: NodeIx, state: Option<FunctionState>) {
        let data = |key: &NodeKey| matches!(key, NodeKey::Prebuilt(_) | NodeKey::Attr(..));
        let state = match state {
            Some(state) => state,
            // Nothing is wrong with it any more.
            None if data(&self.store.nodes[n].key) && self.functions.contains_idx(n) => {
                FunctionState::default()
            }
            None => return,
        };
        if self.functions.get(n).map(|old| &**old) != Some(&state) {
            let was = self.functions.insert(n, Arc::new(state));
            self.changed.nodes.entry(n).or_insert(was);
        }
    }

    /// Whether a node contributed something before that it does not any more: a call of a
    /// specialisation for a type that has become another one, of a method that turned out
    /// to be overridden. All else only grows.
    /// What it passes on through sets of methods counts only when these have been looked
    /// at: [`Solver::prune`] does.
    fn has_outgrown(&self, n: NodeIx, writes: &Writes) -> bool {
        let mut joiner = FactJoiner::new(&self.facts);
        let events = &self.store.nodes[n].events;
        events.iter().flat_map(|e| &e.1).any(|(slot, was)| {
            self.is_judged(n, *slot) && !self.still_there(*slot, was, writes, &mut joiner)
        })
    }

    /// Whether what a node contributes to a slot is part of the outcome by itself. What a class
    /// has of an attribute goes to the nearest base class on which it is used, and from there
    /// further up: what went there directly, as long as that was the nearest one, is there.
    pub(crate) fn is_judged(&self, n: NodeIx, slot: SlotIx) -> bool {
        let key = &self.store.slots[slot].key;
        let passed_up = match (&self.store.nodes[n].key, key) {
            (NodeKey::Attr(from, _), SlotKey::Attr(to, _) | SlotKey::AttrSet(to, _)) => from != to,
            _ => false,
        };
        key.is_judged() && !passed_up
    }

    pub(crate) fn still_there(
        &self,
        slot: SlotIx,
        was: &Val,
        writes: &Writes,
        joiner: &mut FactJoiner<'_>,
    ) -> bool {
        match writes.binary_search_by_key(&slot, |w| w.0) {
            Ok(i) => holds(&writes[i].1, was, joiner),
            Err(_) => self.moved_up(slot, was, writes, joiner),
        }
    }

    /// Whether it concerns an attribute of a class whose instances turned out to be those
    /// of a base class, on which the same attribute is used now: it is common to both, and
    /// nothing is seen of it in the subclass.
    fn moved_up(
        &self,
        slot: SlotIx,
        was: &Val,
        writes: &Writes,
        joiner: &mut FactJoiner<'_>,
    ) -> bool {
        let (class, above): (_, fn(ObjId, &Arc<str>) -> SlotKey) = match &self.store.slots[slot].key
        {
            SlotKey::AttrUsed(c, n) => ((c, n), |c, n| SlotKey::AttrUsed(c, n.clone())),
            SlotKey::AttrSet(c, n) => ((c, n), |c, n| SlotKey::AttrSet(c, n.clone())),
            SlotKey::Attr(c, n) => ((c, n), |c, n| SlotKey::Attr(c, n.clone())),
            _ => return false,
        };
        let (class, name) = class;
        if !matches!(self.facts.class(*class), Ok(Some(_))) {
            return false;
        }
        let Some(used) = self.store.used.get(name) else {
            return false;
        };
        let bases = self.facts.hierarchy(|h| used.above(*class, h));
        bases.into_iter().any(|base| {
            let slot = self.store.find_slot_ix(&above(base, name));
            let at = slot.and_then(|s| writes.binary_search_by_key(&s, |w| w.0).ok());
            at.is_some_and(|i| holds(&writes[i].1, was, joiner))
        })
    }

    /// Contributes what an evaluation came to, as a whole or what is new of it.
    fn contribute(&mut self, n: NodeIx, t: Stamp, writes: Writes, whole: bool) {
        // What is new alone leaves nothing out.
        if whole && self.has_outgrown(n, &writes) {
            self.outgrown.insert(n);
        } else if whole {
            self.outgrown.remove(&n);
        }
        // What it adds up to can depend on more classes than the evaluation itself.
        self.facts.record();
        let mut joiner = FactJoiner::new(&self.facts);
        let mut event: Writes = Vec::new();
        let mut wake: Vec<NodeIx> = Vec::new();
        for (slot, val) in writes {
            let before = self.store.nodes[n].before(t, slot);
            let sum = before.join(&val, &mut joiner);
            if sum == *before {
                continue;
            }
            let s = &mut self.store.slots[slot];
            // Most slots have one contribution.
            if s.log.is_empty() {
                s.log.reserve_exact(1);
            }
            s.log.push(Entry {
                stamp: t,
                node: n,
                val: sum.clone(),
            });
            let now = s.joined_with(&sum, &mut joiner);
            event.push((slot, sum));
            if now != *s.current() {
                let was = self.changed.slots.entry(slot);
                was.or_insert_with(|| s.current().clone());
                s.history.push((t, now));
                wake.extend_from_slice(&s.readers);
                if bounds::changes_endlessly(s.history.len(), self.facts.objects.len()) {
                    self.store.endless = Some(n);
                }
            }
        }
        if !event.is_empty() {
            event.shrink_to_fit();
            self.store.nodes[n].add_event(t, event);
        }
        self.note_facts(n);
        for r in wake {
            self.enqueue(r);
        }
    }

    /// Drops evaluations of which nothing is left. Those that lost something are queued.
    pub(crate) fn forget_empty_events(&mut self) {
        for n in self.queues.iter().flatten() {
            let node = &mut self.store.nodes[*n];
            node.events.retain(|e| !e.1.is_empty());
        }
    }

    /// Whether a contribution may be taken back once more.
    pub(crate) fn take_back(&mut self, n: NodeIx, slot: SlotIx) -> bool {
        let times = self.taken_back.entry((n, slot)).or_default();
        let more = *times < PRUNINGS;
        *times += u8::from(more);
        more
    }

    /// Counts contributions that do not follow from what was there before them: none,
    /// if the state is right.
    #[cfg(test)]
    pub(crate) fn audit(&mut self) -> usize {
        let mut events: Vec<(Stamp, NodeIx, usize)> = Vec::new();
        for (n, node) in self.store.nodes.iter() {
            for (i, e) in node.events.iter().enumerate() {
                events.push((e.0, n, i));
            }
        }
        events.sort_unstable();
        let mut wrong = 0;
        for (t, n, i) in events {
            let Ok((writes, _)) = self.run(n, t) else {
                wrong += 1;
                continue;
            };
            let mut joiner = FactJoiner::new(&self.facts);
            for (slot, was) in self.store.nodes[n].events[i].1.clone() {
                let before = self.store.nodes[n].before(t, slot);
                let now = match writes.binary_search_by_key(&slot, |w| w.0) {
                    Ok(i) => before.join(&writes[i].1, &mut joiner),
                    Err(_) => before.clone(),
                };
                if was.meet(&now, &mut joiner) != was {
                    wrong += 1;
                }
            }
        }
        wrong
    }
}
