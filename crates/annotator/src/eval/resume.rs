//! The evaluation of a function goes on from the one before.
//!
//! While a program is solved, values only grow. So an evaluation takes over what the one
//! before came to, and passes only over blocks that read slots with other values now, and over
//! those to which that makes a difference. It comes to what an evaluation from the start
//! would come to, as long as each outcome contains the one in whose place it stands. Where one
//! does not (a call of a specialisation for a type that has become another one), the function
//! is evaluated from the start.
//!
//! An evaluation also waits, at an operation that is the first to ask for something: a function
//! that was not called before, an attribute that nobody has used. It goes on when that is there.
//!
//! All this is for solving alone. Taking back (`retract`) evaluates from the start, on values
//! of the past.

use taipan_graph::BlockId;

use super::flow::{BlockOutcome, Flow, Pass, grows};
use super::function::{Input, PassEnd, flow_failed};
use super::{Cx, FunctionState, Problem, Waits, Write};
use crate::SiteId;
use crate::facts::Known;
use crate::store::{SlotIx, SlotKey, SpecIx, Stamp, Store};
use crate::val::{EdgeKind, Val};

/// How far the evaluation of a function has come.
pub(crate) struct FunctionProgress {
    flow: Flow,
    /// The pass in which it waits. None if it is complete.
    pass: Option<Pass>,
    /// What the function is called with.
    start: Start,
    told: Told,
    /// The operation at which it waits has asked; otherwise it lacked facts.
    asked: bool,
    /// It waits until nothing else is left to do, since the operation calls what it will perhaps
    /// not call in the end.
    patient: bool,
    /// All that it came to has been contributed before, but for what blocks in `told` add.
    partial: bool,
    /// What was contributed may not be all there any more.
    lost: bool,
    /// Which values of slots it has seen: those before this stamp.
    pub(crate) since: Stamp,
}

/// The way in, before the first block.
#[derive(Default)]
struct Start {
    writes: Vec<Write>,
    met: Vec<(EdgeKind, SiteId, SiteId)>,
    problems: Vec<Problem>,
    read: Vec<SlotIx>,
    /// What is wrong with operations that are left out of the graph.
    dead: Vec<Problem>,
}

/// What is contributed already.
#[derive(Default)]
struct Told {
    start: bool,
    /// Blocks that were passed since.
    since: Vec<BlockId>,
    /// So much of the pass.
    writes: usize,
    met: usize,
}

impl FunctionProgress {
    /// Whether it waits for something.
    pub(super) fn waits(&self) -> Option<Waits> {
        self.pass.as_ref().map(|_| Waits {
            since: self.since,
            patient: self.patient,
        })
    }

    /// What is known of the function.
    pub(crate) fn into_state(self) -> FunctionState {
        let mut state = self.flow.into_state();
        state.problems.splice(0..0, self.start.problems);
        state.dead = self.start.dead;
        state
    }

    /// Has the blocks passed over that read slots which have changed since. Returns whether
    /// the way in is one of them.
    fn catch_up(&mut self, store: &Store) -> bool {
        let since = self.since;
        let changed = |slot: &SlotIx| store.slots[*slot as usize].changed_since(since);
        let outcomes = self.flow.outcomes.iter().enumerate();
        let mut again: Vec<BlockId> = outcomes
            .filter(|(_, o)| o.read.iter().any(changed))
            .map(|(i, _)| BlockId(i as u32))
            .collect();
        let start = self.start.read.iter().any(changed);
        let any = start || !again.is_empty();
        let waits = |p: &mut Pass| any || p.outcome.read.iter().any(changed);
        if let Some(pass) = self.pass.take_if(waits) {
            again.push(pass.block);
            (self.told.writes, self.told.met) = (0, 0);
            (self.asked, self.patient) = (false, false);
            self.lost = true;
        }
        for block in &again {
            self.flow.repeat(*block);
        }
        if start {
            again.push(self.flow.graph.startblock);
        }
        self.flow.continued |= !again.is_empty();
        self.keep_back(again);
        start
    }

    /// These blocks are passed over again. What they and those behind them came to, and has not
    /// been contributed since facts were missing, is out of date: an evaluation from the start
    /// may not get that far. It is contributed when the evaluation is complete.
    fn keep_back(&mut self, again: Vec<BlockId>) {
        if again.is_empty() || self.told.since.is_empty() {
            return;
        }
        let graph = &self.flow.graph;
        let mut behind = vec![false; graph.blocks.len()];
        let mut next = again;
        while let Some(b) = next.pop() {
            if !std::mem::replace(&mut behind[b.index()], true) {
                next.extend(graph.block(b).exits.iter().map(|exit| exit.target));
            }
        }
        self.told.since.retain(|b| !behind[b.index()]);
        self.lost = true;
    }

    fn next_pass(&mut self) -> Option<Pass> {
        self.pass.take().or_else(|| {
            (self.told.writes, self.told.met) = (0, 0);
            self.flow.next_pass()
        })
    }

    fn passed(&mut self, pass: Pass, cx: &mut Cx<'_>) {
        self.told.since.push(pass.block);
        let block = pass.block.index();
        let old = self.flow.passed(pass);
        self.lost |= self.partial && !holds_all(&self.flow.outcomes[block], &old, cx);
    }
}

/// Whether what a pass contributed is all there in what a later one does.
fn holds_all(new: &BlockOutcome, old: &BlockOutcome, cx: &mut Cx<'_>) -> bool {
    old.writes.iter().enumerate().all(|(i, was)| {
        let mut holds = |w: &Write| w.slot == was.slot && grows(&was.val, &w.val, cx);
        new.writes.get(i).is_some_and(&mut holds)
            || !cx.store.slots[was.slot as usize].key.is_judged()
            || new
                .writes
                .iter()
                .any(|w| w.slot == was.slot && grows(&was.val, &w.val, cx))
    })
}

impl Cx<'_> {
    /// Takes up an evaluation.
    pub(super) fn take_up(&mut self, spec: SpecIx, mut p: Box<FunctionProgress>) -> Known<bool> {
        let key = &self.store.specs[spec as usize];
        self.place.owner = format!("{:?} {}", key.func, key.key);
        if p.catch_up(self.store) {
            let Input::Values(values, _) = self.function_input(spec)? else {
                return Ok(false);
            };
            p.start = self.take_start(spec)?;
            p.told.start = false;
            p.lost |= p.partial;
            p.flow.enter(values, self);
        }
        p.since = self.t;
        self.go_on(spec, p)
    }

    /// Begins an evaluation, with what was contributed so far as the way in.
    pub(super) fn begin(&mut self, spec: SpecIx, mut flow: Flow, values: Vec<Val>) -> Known<bool> {
        flow.enter(values, self);
        let progress = FunctionProgress {
            flow,
            pass: None,
            start: self.take_start(spec)?,
            told: Told::default(),
            asked: false,
            patient: false,
            partial: false,
            lost: false,
            since: self.t,
        };
        self.go_on(spec, Box::new(progress))
    }

    fn take_start(&mut self, spec: SpecIx) -> Known<Start> {
        let func = self.store.specs[spec as usize].func;
        let mut problems = match &self.facts.flow(func)?.graph {
            Err(_) => vec![flow_failed()],
            Ok(_) => Vec::new(),
        };
        problems.append(&mut self.problems);
        Ok(Start {
            writes: std::mem::take(&mut self.writes),
            met: std::mem::take(&mut self.met),
            problems,
            read: self.take_read(),
            dead: Vec::new(),
        })
    }

    /// The slots that were read since this was last asked, sorted.
    pub(super) fn take_read(&mut self) -> Vec<SlotIx> {
        let mut read = self.read.clone();
        self.read.clear();
        read.sort_unstable();
        read.dedup();
        read.shrink_to_fit();
        read
    }

    /// Goes on until the function is evaluated or waits, and contributes what is new. False if
    /// it has to begin again.
    fn go_on(&mut self, spec: SpecIx, mut p: Box<FunctionProgress>) -> Known<bool> {
        let mut asked = std::mem::take(&mut p.asked);
        if std::mem::take(&mut p.patient) && asked && std::mem::take(&mut self.gives_up) {
            (asked, self.impatient) = (false, true);
        }
        while let Some(mut pass) = p.next_pass() {
            let outcome = &mut pass.outcome;
            self.writes = std::mem::take(&mut outcome.writes);
            self.met = std::mem::take(&mut outcome.met);
            self.problems = std::mem::take(&mut outcome.problems);
            let end = self.flow_block(&mut p.flow, &mut pass, asked);
            asked = false;
            let outcome = &mut pass.outcome;
            outcome.writes = std::mem::take(&mut self.writes);
            outcome.met = std::mem::take(&mut self.met);
            outcome.problems = std::mem::take(&mut self.problems);
            if p.flow.shrunk {
                return Ok(false);
            }
            match end {
                Ok(PassEnd::Done) => {
                    pass.outcome.read.append(&mut self.read);
                    pass.outcome.read.sort_unstable();
                    pass.outcome.read.dedup();
                    pass.outcome.read.shrink_to_fit();
                    p.passed(pass, self);
                    if p.flow.shrunk {
                        return Ok(false);
                    }
                }
                Ok(PassEnd::Waits) => {
                    // The pass is to take the place of the one before.
                    p.told.since.retain(|b| *b != pass.block);
                    p.pass = Some(pass);
                    self.tell(&mut p);
                    p.asked = true;
                    p.patient = std::mem::take(&mut self.premature);
                    self.whole = false;
                    self.progress = Some(p);
                    return Ok(true);
                }
                Err(missing) => {
                    // What the operation needs is fetched.
                    if std::mem::take(&mut self.fetches) {
                        p.pass = Some(pass);
                        self.progress = Some(p);
                    }
                    return Err(missing);
                }
            }
        }
        self.whole = !p.partial || std::mem::take(&mut p.lost);
        if self.whole {
            p.told.start = false;
            p.told.since = (0..p.flow.outcomes.len() as u32).map(BlockId).collect();
        }
        p.partial = true;
        self.tell(&mut p);
        let result = p.flow.vars[p.flow.graph.returnvar().index()].val.clone();
        self.write(SlotKey::Ret(spec), result);
        let func = self.store.specs[spec as usize].func;
        let left_out = self.facts.flow(func)?.dead.clone();
        if !self.facts.recovering {
            p.start.dead = self.dead_operations(&left_out, &p.flow.vars)?;
        }
        self.progress = Some(p);
        Ok(true)
    }

    /// Contributes what an evaluation has come to since it did last.
    fn tell(&mut self, p: &mut FunctionProgress) {
        if !std::mem::replace(&mut p.told.start, true) {
            self.writes.extend(p.start.writes.iter().cloned());
            self.met.extend(p.start.met.iter().copied());
        }
        let mut blocks = std::mem::take(&mut p.told.since);
        blocks.sort_unstable();
        blocks.dedup();
        for b in blocks {
            let outcome = &p.flow.outcomes[b.index()];
            self.writes.extend(outcome.writes.iter().cloned());
            self.met.extend(outcome.met.iter().copied());
        }
        let Some(pass) = &mut p.pass else { return };
        let (writes, met) = pass.before;
        let outcome = &mut pass.outcome;
        let new = outcome.writes[p.told.writes..].iter();
        self.writes.extend(new.cloned());
        let new = outcome.met[p.told.met..].iter();
        self.met.extend(new.copied());
        // The operation says the same once more.
        outcome.writes.truncate(writes);
        outcome.met.truncate(met);
        (p.told.writes, p.told.met) = (writes, met);
    }
}
