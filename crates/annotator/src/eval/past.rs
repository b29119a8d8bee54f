//! Evaluations of the past, one after the other.
//!
//! Taking back evaluates a function once more for each time that it contributed something, on what
//! slots held then. A function that calls a thousand others did so a thousand times, since it
//! waited for each of them. These evaluations come in the order of stamps, and on the way
//! from one to the next values only grow: so the next one passes over the blocks alone that read
//! something else, or are reached with something else. A block that ended at an operation that came
//! to nothing goes on there.
//!
//! Nothing waits here, as nothing does in an evaluation from the start: it comes to the same.
//! Where something does not grow, the function is evaluated from the start.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use taipan_graph::BlockId;

use super::flow::{Flow, Pass, Stop};
use super::function::{Input, PassEnd};
use super::resume::Start;
use super::{Cx, Meetings, Write};
use crate::facts::Known;
use crate::store::{SlotIx, SlotKey, SpecIx, Stamp, Store, Writes};
use crate::val::Val;

/// A block, or the way in, and a position among what that writes.
type Place = (Option<BlockId>, u32);

/// What an evaluation of the past came to; the next one goes on from there.
pub(crate) struct Past {
    spec: SpecIx,
    flow: Flow,
    start: Start,
    /// Where it contributes to a slot.
    places: FxHashMap<SlotIx, SmallVec<[Place; 1]>>,
    /// Which values of slots it has seen: those before this stamp.
    since: Stamp,
}

impl Past {
    fn new(spec: SpecIx, flow: Flow, start: Start) -> Box<Past> {
        let mut past = Past {
            spec,
            flow,
            start,
            places: FxHashMap::default(),
            since: Stamp::NONE,
        };
        past.place(None, 0);
        Box::new(past)
    }

    fn written(&self, block: Option<BlockId>) -> &[Write] {
        match block {
            Some(b) => &self.flow.outcomes[b.index()].writes,
            None => &self.start.writes,
        }
    }

    /// Notes what a block, or the way in, writes from a position on.
    fn place(&mut self, block: Option<BlockId>, from: usize) {
        for i in from..self.written(block).len() {
            let slot = self.written(block)[i].slot;
            self.places.entry(slot).or_default().push((block, i as u32));
        }
    }

    /// What a block, or the way in, writes from a position on is written no more.
    fn displace(&mut self, block: Option<BlockId>, from: usize) {
        for i in from..self.written(block).len() {
            let slot = self.written(block)[i].slot;
            if let Some(places) = self.places.get_mut(&slot) {
                places.retain(|p| *p != (block, i as u32));
            }
        }
    }

    /// What it contributes to a slot.
    pub(crate) fn writes_to(&self, slot: SlotIx, store: &Store) -> Vec<Val> {
        let places = self.places.get(&slot).into_iter().flatten();
        let val = |(block, i): &Place| self.written(*block)[*i as usize].val.clone();
        let mut vals: Vec<Val> = places.map(val).collect();
        if store.slots[slot].key == SlotKey::Ret(self.spec) {
            vals.push(self.result());
        }
        vals
    }

    fn result(&self) -> Val {
        let result = self.flow.graph.returnvar();
        self.flow.vars[result.index()].val.clone()
    }

    /// All that it contributes, and the sites that meet.
    pub(crate) fn contributions(&self, store: &mut Store) -> (Writes, Meetings) {
        let outcomes = &self.flow.outcomes;
        let inside = outcomes.iter().flat_map(|o| &o.writes);
        let writes = inside.chain(&self.start.writes);
        let mut writes: Writes = writes.map(|w| (w.slot, w.val.clone())).collect();
        let result = self.result();
        if !result.is_bottom() {
            writes.push((store.slot(SlotKey::Ret(self.spec)), result));
        }
        let met = outcomes.iter().flat_map(|o| &o.met).chain(&self.start.met);
        (writes, met.copied().collect())
    }

    /// Has the blocks passed over that read slots which hold something else now. Returns whether
    /// the way in is one of them.
    fn catch_up(&mut self, store: &Store, now: Stamp) -> bool {
        let since = self.since;
        let changed = |slot: &SlotIx| store.slots[*slot].changed_between(since, now);
        let (mut again, mut further) = (Vec::new(), Vec::new());
        for (i, outcome) in self.flow.outcomes.iter().enumerate() {
            let block = BlockId(i as u32);
            if outcome.read.iter().any(changed) {
                again.push(block);
            } else if let Some(stop) = self.flow.stops.get(&block)
                && stop.read.iter().any(changed)
            {
                further.push(block);
            }
        }
        let start = self.start.read.iter().any(changed);
        self.flow.continued |= start || !again.is_empty() || !further.is_empty();
        again.into_iter().for_each(|b| self.flow.repeat(b));
        further.into_iter().for_each(|b| self.flow.go_on(b));
        start
    }
}

impl Cx<'_> {
    /// Evaluates a function as of a stamp that is later than that of the evaluation before. What
    /// it comes to is in `before` then, or is nothing but what was contributed on the way.
    pub(super) fn past_function(
        &mut self,
        spec: SpecIx,
        before: &mut Option<Box<Past>>,
    ) -> Known<()> {
        let key = self.store.specs[spec].clone();
        self.place.owner = format!("{:?} {}", key.func, key.key);
        if let Some(mut past) = before.take() {
            if self.go_on_in_past(&mut past)? {
                *before = Some(past);
                return Ok(());
            }
            self.writes.clear();
            self.met.clear();
            self.problems.clear();
            self.read.clear();
        }
        let Input::Values(values, graph) = self.function_input(spec)? else {
            return Ok(());
        };
        let shape = self.facts.shape(key.func, &graph);
        let mut past = Past::new(spec, Flow::new(graph, shape), self.take_start(spec)?);
        past.flow.enter(values, self);
        // There was nothing that it could fail to contain.
        self.pass_in_past(&mut past)?;
        *before = Some(past);
        Ok(())
    }

    /// Takes up an evaluation. False if it has to begin again.
    fn go_on_in_past(&mut self, past: &mut Past) -> Known<bool> {
        if past.catch_up(self.store, self.t) {
            let Input::Values(values, _) = self.function_input(past.spec)? else {
                return Ok(false);
            };
            past.displace(None, 0);
            past.start = self.take_start(past.spec)?;
            past.place(None, 0);
            past.flow.enter(values, self);
        }
        self.pass_in_past(past)?;
        Ok(!past.flow.shrunk)
    }

    /// Passes over blocks until nothing changes any more, or something shrinks.
    fn pass_in_past(&mut self, past: &mut Past) -> Known<()> {
        past.since = self.t;
        past.flow.begins();
        while !past.flow.shrunk
            && let Some(block) = past.flow.next_block()
        {
            if past.flow.is_endless() {
                self.store.endless = Some(self.node);
                break;
            }
            let stop = past.flow.stops.remove(&block);
            let from = stop.as_ref().map_or(0, |stop| stop.writes);
            past.displace(Some(block), from);
            let mut pass = match stop {
                Some(stop) => past.flow.pass_from(block, stop),
                None => Pass::over(block),
            };
            let outcome = &mut pass.outcome;
            self.writes = std::mem::take(&mut outcome.writes);
            self.met = std::mem::take(&mut outcome.met);
            let end = self.flow_block(&mut past.flow, &mut pass, false)?;
            let outcome = &mut pass.outcome;
            outcome.writes = std::mem::take(&mut self.writes);
            outcome.met = std::mem::take(&mut self.met);
            self.problems.clear();
            let stop = match end {
                PassEnd::Stops => Some(Stop {
                    op: pass.op,
                    writes: pass.before.0,
                    met: pass.before.1,
                    read: std::mem::take(&mut self.read),
                }),
                PassEnd::Done | PassEnd::Waits => {
                    outcome.read.append(&mut self.read);
                    None
                }
            };
            past.flow.passed(pass);
            past.flow.stops.extend(stop.map(|stop| (block, stop)));
            past.place(Some(block), from);
        }
        Ok(())
    }
}
