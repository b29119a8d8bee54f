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
//! Where an operation calls what it will perhaps not call in the end, only its block is put
//! aside, until nothing else is left to do: the rest may lead to what the function is called with
//! in the end. Had it to wait, too, there might be nothing else to do very early, and what is
//! called too early is taken back later with all that has followed from it, which is about
//! everything then.
//!
//! All this is for solving alone. Taking back (`retract`) evaluates on values of the past, where
//! nothing waits (`past`).

use taipan_graph::BlockId;

use super::flow::{BlockOutcome, Flow, Pass, grows};
use super::function::{Input, PassEnd, flow_failed};
use super::{Cx, FunctionState, Meetings, Problem, Waits, Write};
use crate::facts::Known;
use crate::store::{SlotIx, SlotKey, SpecIx, Stamp, Store};
use crate::val::Val;

/// How far the evaluation of a function has come.
pub(crate) struct FunctionProgress {
    flow: Flow,
    /// The pass in which it waits. None if it is complete, but for those put aside.
    pass: Option<Pass>,
    /// Passes that wait until nothing else is left to do, since their operations call what they
    /// will perhaps not call in the end. No block is among those twice, or to be passed over.
    aside: Vec<Aside>,
    /// It waits as a whole for such an operation: with passes in another order something came to
    /// what does not contain what it was before.
    in_order: bool,
    /// What the function is called with.
    start: Start,
    told: Told,
    /// The operation at which it waits has asked; otherwise it lacked facts.
    asked: bool,
    /// All that it came to has been contributed before, but for what blocks in `told` add.
    partial: bool,
    /// What was contributed may not be all there any more.
    lost: bool,
    /// Which values of slots it has seen: those before this stamp.
    pub(crate) since: Stamp,
}

/// The way in, before the first block.
#[derive(Default)]
pub(super) struct Start {
    pub(super) writes: Vec<Write>,
    pub(super) met: Meetings,
    problems: Vec<Problem>,
    pub(super) read: Vec<SlotIx>,
    /// What is wrong with operations that are left out of the graph.
    dead: Vec<Problem>,
}

/// A pass that is put aside.
struct Aside {
    pass: Pass,
    /// So much of what it has written, and has met, is contributed.
    told: (usize, usize),
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
        let patient = self.pass.is_none();
        (!patient || !self.aside.is_empty()).then_some(Waits {
            since: self.since,
            patient,
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
        let changed = |slot: &SlotIx| store.slots[*slot].changed_since(since);
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
            self.asked = false;
            self.lost = true;
        }
        let waits = |a: &mut Aside| any || a.pass.outcome.read.iter().any(changed);
        for aside in self.aside.extract_if(.., waits) {
            again.push(aside.pass.block);
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
        if let Some(pass) = self.pass.take() {
            return Some(pass);
        }
        (self.told.writes, self.told.met) = (0, 0);
        let pass = self.flow.next_pass()?;
        // From the start, blocks would be passed over in another order.
        self.flow.continued |= !self.aside.is_empty();
        let same = |a: &Aside| a.pass.block == pass.block;
        if let Some(i) = self.aside.iter().position(same) {
            self.aside.remove(i);
            self.lost = true;
        }
        Some(pass)
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
            || !cx.store.slots[was.slot].key.is_judged()
            || new
                .writes
                .iter()
                .any(|w| w.slot == was.slot && grows(&was.val, &w.val, cx))
    })
}

impl Cx<'_> {
    /// Takes up an evaluation.
    pub(super) fn take_up(&mut self, spec: SpecIx, mut p: Box<FunctionProgress>) -> Known<bool> {
        let key = &self.store.specs[spec];
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

    /// Begins an evaluation, with what was contributed so far as the way in. False if it has to
    /// begin again, with passes in order: see [`FunctionProgress`].
    pub(super) fn begin(
        &mut self,
        spec: SpecIx,
        mut flow: Flow,
        values: Vec<Val>,
        in_order: bool,
    ) -> Known<bool> {
        flow.enter(values, self);
        let progress = FunctionProgress {
            flow,
            pass: None,
            aside: Vec::new(),
            in_order,
            start: self.take_start(spec)?,
            told: Told::default(),
            asked: false,
            partial: false,
            lost: false,
            since: self.t,
        };
        self.go_on(spec, Box::new(progress))
    }

    pub(super) fn take_start(&mut self, spec: SpecIx) -> Known<Start> {
        let func = self.store.specs[spec].func;
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
        // In order, what comes behind it is not passed over before it.
        let its_turn = p.in_order || self.gives_up && p.flow.is_passed();
        if its_turn && p.pass.is_none() && !p.aside.is_empty() {
            let Aside { pass, told } = p.aside.remove(0);
            p.pass = Some(pass);
            (p.told.writes, p.told.met) = told;
            self.impatient = std::mem::take(&mut self.gives_up);
            asked = !self.impatient;
        }
        p.flow.begins();
        while let Some(mut pass) = p.next_pass() {
            if p.flow.is_endless() {
                self.store.endless = Some(self.node);
                break;
            }
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
                Ok(PassEnd::Done | PassEnd::Stops) => {
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
                    if std::mem::take(&mut self.premature) {
                        let told = (p.told.writes, p.told.met);
                        p.aside.push(Aside { pass, told });
                        if !p.in_order {
                            continue;
                        }
                    } else {
                        p.pass = Some(pass);
                        p.asked = true;
                    }
                    return Ok(self.wait(p));
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
        if !p.aside.is_empty() {
            self.write_result(spec, &p);
            return Ok(self.wait(p));
        }
        self.whole = !p.partial || std::mem::take(&mut p.lost);
        if self.whole {
            p.told.start = false;
            p.told.since = (0..p.flow.outcomes.len() as u32).map(BlockId).collect();
        }
        p.partial = true;
        self.tell(&mut p);
        self.write_result(spec, &p);
        let func = self.store.specs[spec].func;
        let left_out = self.facts.flow(func)?.dead.clone();
        if !self.facts.recovering {
            p.start.dead = self.dead_operations(&left_out, &p.flow.vars)?;
        }
        self.progress = Some(p);
        Ok(true)
    }

    fn write_result(&mut self, spec: SpecIx, p: &FunctionProgress) {
        let result = p.flow.vars[p.flow.graph.returnvar().index()].val.clone();
        self.write(SlotKey::Ret(spec), result);
    }

    /// The evaluation stops here for now.
    fn wait(&mut self, mut p: Box<FunctionProgress>) -> bool {
        self.tell(&mut p);
        self.whole = false;
        self.progress = Some(p);
        true
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
        for Aside { pass, told } in &mut p.aside {
            self.tell_of(pass, told);
        }
        if let Some(pass) = &mut p.pass {
            let mut told = (p.told.writes, p.told.met);
            self.tell_of(pass, &mut told);
            (p.told.writes, p.told.met) = told;
        }
    }

    /// Contributes what a pass that waits has come to since it did last.
    fn tell_of(&mut self, pass: &mut Pass, told: &mut (usize, usize)) {
        let (writes, met) = pass.before;
        let outcome = &mut pass.outcome;
        let new = outcome.writes[told.0..].iter();
        self.writes.extend(new.cloned());
        let new = outcome.met[told.1..].iter();
        self.met.extend(new.copied());
        // The operation says the same once more.
        outcome.writes.truncate(writes);
        outcome.met.truncate(met);
        *told = (writes, met);
    }
}
