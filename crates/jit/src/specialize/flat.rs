//! Compilers of drivers, and compilers that stop at branches: states go on from one
//! function into another by themselves.
//!
//! States meet where all the functions that they are in are at the same places, and where
//! the one that went on before is as general as the other, or becomes so. Some versions
//! are kept apart first: what is known in one way only is what makes code short. At the
//! merge point of a driver there are versions for each set of greens.

use rustc_hash::FxHashMap;
use taipan_graph::BlockId;
use taipan_lltype::{FuncSym, LLConst, View};

use super::calls::{callee_and_args, is_helper_call};
use super::position::FlatKey;
use super::stubs::Promoted;
use super::{Activation, Failure, MOST_BLOCKS, MOST_STEPS, Specializer, is_own, returned};
use crate::code::{Arg, Slot, TsExit, TsGraph, TsKind, TsOp};
use crate::freeze::Matched;
use crate::state::{BoxId, GenVar, JitState, Val, Word};
use crate::timeshift::is_item_access;
use crate::world::World;

/// States that went on, and the blocks that they went on in.
pub(super) type FlatSeen = FxHashMap<FlatKey, Vec<(JitState, BlockId)>>;

/// After so many operations without stopping, what comes has to be short.
const MOST_STEPS_AT_ONCE: u64 = 50_000;

/// Number of versions above which a state forces its virtual objects rather than starting a further version.
const MOST_FORCING: usize = 3;

/// Maximum inlining depth of a recursive function of the interpreter with one receiver or an unknown one (RPython:
/// `max_unroll_recursion`).
const MOST_RECURSION: usize = 7;
/// Maximum inlining depth of all calls.
const MOST_DEPTH: usize = 100;

/// Number of blocks of a function above which its merge points have fewer versions.
const MANY_BLOCKS: usize = 600;

/// Kinds of merge points.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MergePlace {
    /// Any merge point of a function that is full.
    Full,
    /// A merge point inside a function of the interpreter.
    Inside,
    /// A driver's merge point where no loop closes. Generalising a state there would allocate objects that can stay virtual
    /// until the loop closes.
    Between,
    /// A driver's merge point where a loop closes.
    Loop,
}

impl MergePlace {
    fn is_of_driver(self) -> bool {
        matches!(self, MergePlace::Between | MergePlace::Loop)
    }

    /// Maximum number of versions, at a driver's merge point for each set of greens; fewer in a large function.
    fn most_versions(self, is_large: bool) -> usize {
        match self {
            MergePlace::Full => 1,
            MergePlace::Inside => 8,
            MergePlace::Between if is_large => 4,
            MergePlace::Between => 12,
            MergePlace::Loop if is_large => 2,
            MergePlace::Loop => 5,
        }
    }

    /// Number of versions above which a state emits delayed writes rather than starting a further version. The second version
    /// of a loop keeps them in each round.
    fn most_writing(self) -> usize {
        match self {
            MergePlace::Loop => 2,
            MergePlace::Full | MergePlace::Inside | MergePlace::Between => 1,
        }
    }
}

impl Specializer<'_> {
    /// Whether so much is compiled, in all or since compilation stopped last, that what comes
    /// has to be short: nothing is followed into functions any more, states that are at the
    /// same places meet at any price, and at merge points of the driver the interpreter goes
    /// on. So there is an end.
    pub(super) fn is_full(&self) -> bool {
        let many = self.of_driver && self.steps > MOST_STEPS_AT_ONCE;
        many || self.residual.block_count() > self.most_blocks
    }

    /// Runs a state, and all that come of it, until they wait or end.
    pub(super) fn run_flat(
        &mut self,
        world: &mut dyn World,
        state: JitState,
    ) -> Result<(), Failure> {
        let mut activation = Activation::default();
        let mut next = Some(state);
        while let Some(state) = next.take().or_else(|| activation.waiting.pop()) {
            let mut current = Some(state);
            while let Some(state) = current.take() {
                current = self.flat_step(world, &mut activation, state)?;
            }
        }
        Ok(())
    }

    /// Runs a state up to the first operation or exit that may produce further states: plain operations, jumps, known
    /// branches, returns, and calls of known functions that are followed.
    fn run_plain(&mut self, world: &mut dyn World, state: &mut JitState) -> Result<(), Failure> {
        while self.steps <= MOST_STEPS {
            let frame = state.frame();
            let graph = self.graphs[frame.code as usize].clone();
            let block = &graph.blocks[frame.block as usize];
            let left = block.ops.get(frame.op as usize..).unwrap_or_default();
            let mut entered = None;
            for op in left {
                if !is_plain(&op.kind) {
                    entered = self.followed(world, state, op);
                    if entered.is_none() {
                        return Ok(());
                    }
                    self.steps += 1;
                    break;
                }
                self.steps += 1;
                self.residual.here = self.own_place(state);
                self.operation(world, state, &graph, op)?;
                state.frame_mut().op += 1;
            }
            if let Some(code) = entered {
                let op = &block.ops[state.frame().op as usize];
                self.enter(world, state, op, code)?;
                continue;
            }
            match &block.exit {
                TsExit::Goto(link) => self.follow(world, state, &graph, link),
                TsExit::Split(on, yes, no) => {
                    let on = self.red_arg(world, state, &graph, on);
                    let Some(w) = state.known(on) else {
                        return Ok(());
                    };
                    self.learn(state, on, w != 0);
                    let link = if w != 0 { yes } else { no };
                    self.follow(world, state, &graph, link);
                }
                TsExit::Switch(on, links) => {
                    let at = (state.frame().code, state.frame().block);
                    let known = self.known_arg(world, state, on);
                    let Some(link) = known.and_then(|w| self.taken(world, at, w, links)) else {
                        return Ok(());
                    };
                    self.follow(world, state, &graph, link);
                }
                TsExit::Return(slot) if state.frames.len() > 1 => {
                    state.returned = returned(state, &graph, *slot);
                    self.return_one(state);
                }
                TsExit::Overflow(..) | TsExit::Return(_) => return Ok(()),
            }
            self.steps += 1;
        }
        Ok(())
    }

    /// The graph that a call enters, if the callee is a constant and is followed.
    fn followed(&mut self, world: &mut dyn World, state: &JitState, op: &TsOp) -> Option<u32> {
        let (TsKind::Call(..) | TsKind::Inline(_)) = &op.kind else {
            return None;
        };
        let Arg::Const(LLConst::Func(f)) = callee_and_args(op).0 else {
            return None;
        };
        if is_helper_call(op) {
            return None;
        }
        match &op.kind {
            TsKind::Call(_, targets) => match &targets[..] {
                [only] => Some(only.1.0),
                _ => None,
            },
            TsKind::Inline(targets) if targets.contains(f) => self.inlined(world, state, op, f),
            _ => None,
        }
    }

    /// The graph of a callee that is inlined. None if calls of it stay calls here.
    ///
    /// A recursion with a different known receiver at each level follows a finite structure, as a syntax tree is. It is
    /// limited by [`MOST_DEPTH`] alone.
    fn inlined(
        &mut self,
        world: &mut dyn World,
        state: &JitState,
        op: &TsOp,
        f: &FuncSym,
    ) -> Option<u32> {
        if self.is_full() || state.frames.len() >= MOST_DEPTH {
            return None;
        }
        let code = self.code_of(f)?;
        let receiver = self.receiver(world, state, op);
        let differ = |other: Option<Word>| receiver.zip(other).is_some_and(|(a, b)| a != b);
        let already = (state.frames.iter()).filter(|f| f.code == code && !differ(f.receiver));
        let inside = already.count() < MOST_RECURSION || self.drivers[code as usize].is_some();
        inside.then_some(code)
    }

    /// One operation, or the end of a block, and what is plain before.
    fn flat_step(
        &mut self,
        world: &mut dyn World,
        activation: &mut Activation,
        mut state: JitState,
    ) -> Result<Option<JitState>, Failure> {
        self.run_plain(world, &mut state)?;
        self.steps += 1;
        let endless = self.steps > MOST_STEPS || self.residual.block_count() > 2 * MOST_BLOCKS;
        if endless && !self.of_driver {
            return Err(self.endless(&state));
        }
        let frame = state.frame();
        let graph = self.graphs[frame.code as usize].clone();
        let block = &graph.blocks[frame.block as usize];
        let Some(op) = block.ops.get(frame.op as usize) else {
            let went = self.leave_block(world, activation, state, &graph, &block.exit)?;
            return match (went, activation.returned.pop()) {
                (None, Some(returned)) if returned.frames.len() == 1 => {
                    self.finish(world, vec![returned])?;
                    Ok(None)
                }
                (None, Some(returned)) => Ok(self.return_to_caller(vec![returned]).pop()),
                (went, _) => Ok(went),
            };
        };
        self.residual.here = self.own_place(&state);
        match &op.kind {
            TsKind::MergePoint { .. } => self.flat_merge(world, state, &op.live),
            TsKind::Promote => self.promote(world, state, op),
            TsKind::AssumeField => self.assume_field(world, state, &graph, op).map(Some),
            TsKind::PromoteField => match self.known_source(world, &state, op) {
                Some(object) if object != 0 => self.promote(world, state, op),
                _ => {
                    state.frame_mut().op += 1;
                    Ok(Some(state))
                }
            },
            TsKind::DriverMergePoint { greens } => {
                self.driver_merge_point(world, state, op, *greens)
            }
            TsKind::LoopCloses => {
                let frame = state.frame_mut();
                frame.closes = true;
                frame.op += 1;
                Ok(Some(state))
            }
            TsKind::Call(..) | TsKind::Inline(_) | TsKind::ResidualCall
                if self.helper_call(world, &mut state, op) =>
            {
                Ok(Some(state))
            }
            TsKind::Call(_, targets) => {
                let (callable, ..) = callee_and_args(op);
                let known = self.known_arg(world, &state, callable);
                let target = match (known, &targets[..]) {
                    (_, [only]) if matches!(callable, Arg::Const(_)) => Some(only.1.0),
                    (Some(w), _) => {
                        let f = world.function(w);
                        let found = targets.iter().find(|t| Some(&t.0) == f.as_ref());
                        found.map(|t| t.1.0)
                    }
                    (None, _) => None,
                };
                match target {
                    Some(code) => {
                        self.enter(world, &mut state, op, code)?;
                        Ok(Some(state))
                    }
                    None => self.call_residual(world, state, op).map(Some),
                }
            }
            TsKind::Inline(targets) => self.inline(world, state, op, targets),
            TsKind::ElidableCall | TsKind::GreenCall
                if self.write_for_call_now(world, &mut state, &graph, op) =>
            {
                self.stop(world, state, &with_arguments(op))?;
                Ok(None)
            }
            TsKind::ElidableCall if self.of_driver => self.elidable_call(world, state, op),
            TsKind::ReverseSplitQueue => {
                activation.waiting.reverse();
                state.frame_mut().op += 1;
                Ok(Some(state))
            }
            _ => {
                if let Some(index) = self.unknown_index(world, &mut state, &graph, op) {
                    return self.wait_for(
                        world,
                        state,
                        index,
                        &with_arguments(op),
                        Promoted::Index,
                    );
                }
                self.operation(world, &mut state, &graph, op)?;
                state.frame_mut().op += 1;
                Ok(Some(state))
            }
        }
    }

    /// The index of an item of a virtualizable's list, if it is not known: it is promoted, so
    /// that the item can be kept in a variable (RPython: `_get_arrayitem_vable_index`).
    fn unknown_index(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        graph: &TsGraph,
        op: &TsOp,
    ) -> Option<BoxId> {
        if !self.of_driver || !is_item_access(&op.kind) {
            return None;
        }
        let (View::Getarrayitem { array, index }
        | View::Setarrayitem { array, index, .. }
        | View::BareSetarrayitem { array, index, .. }) = op.view()?
        else {
            return None;
        };
        let list = self.red_arg(world, state, graph, array);
        if !self.is_list_of_virtualizable(state, list) {
            return None;
        }
        let index = self.red_arg(world, state, graph, index);
        state.known(index).is_none().then_some(index)
    }

    fn call_residual(
        &mut self,
        world: &mut dyn World,
        mut state: JitState,
        op: &TsOp,
    ) -> Result<JitState, Failure> {
        let graph = self.graphs[state.frame().code as usize].clone();
        self.residual_call(world, &mut state, &graph, op)?;
        state.frame_mut().op += 1;
        Ok(state)
    }

    /// The graph of a function that is followed.
    fn code_of(&mut self, f: &FuncSym) -> Option<u32> {
        if let Some(code) = self.by_function.get(f) {
            return *code;
        }
        let code = self.program.timeshifted(f).map(|graph| {
            self.drivers.push(self.program.driver(&graph.func));
            self.own.push(is_own(&graph.func));
            self.graphs.push(graph);
            self.graphs.len() as u32 - 1
        });
        self.by_function.insert(f.clone(), code);
        code
    }

    /// A call that is compiled into its caller once it is known what is called.
    fn inline(
        &mut self,
        world: &mut dyn World,
        mut state: JitState,
        op: &TsOp,
        targets: &[FuncSym],
    ) -> Result<Option<JitState>, Failure> {
        if self.is_full() || state.frames.len() >= MOST_DEPTH {
            return self.call_residual(world, state, op).map(Some);
        }
        let called = match callee_and_args(op).0 {
            Arg::Const(LLConst::Func(f)) => Some(f.clone()),
            a => match self.known_arg(world, &state, a) {
                Some(w) => world.function(w),
                None => {
                    let graph = self.graphs[state.frame().code as usize].clone();
                    let pointer = self.red_arg(world, &mut state, &graph, a);
                    let wanted = self.read_from(&state, pointer);
                    let live = with_arguments(op);
                    return self.wait_for(world, state, wanted, &live, Promoted::Callee);
                }
            },
        };
        let called = called.filter(|f| targets.contains(f));
        match called.and_then(|f| self.inlined(world, &state, op, &f)) {
            Some(code) => {
                self.enter(world, &mut state, op, code)?;
                Ok(Some(state))
            }
            None => self.call_residual(world, state, op).map(Some),
        }
    }

    /// A value that was waited for gets no more cases: what is done without it.
    pub(super) fn go_on_without(
        &mut self,
        world: &mut dyn World,
        mut state: JitState,
        value: BoxId,
        of: Promoted,
    ) -> Result<(), Failure> {
        let frame = state.frame();
        let graph = self.graphs[frame.code as usize].clone();
        let ops = &graph.blocks[frame.block as usize].ops;
        let op = match ops.get(frame.op as usize) {
            Some(op) if of != Promoted::Result => op,
            // The operation is done.
            _ => return self.run_flat(world, state),
        };
        match of {
            Promoted::Hint | Promoted::Result => {
                let frame = state.frame_mut();
                frame.values.set(op.result, Val::Red(value));
                frame.op += 1;
                self.run_flat(world, state)
            }
            Promoted::Callee => {
                let state = self.call_residual(world, state, op)?;
                self.run_flat(world, state)
            }
            Promoted::Index => {
                self.operation(world, &mut state, &graph, op)?;
                state.frame_mut().op += 1;
                self.run_flat(world, state)
            }
            Promoted::Green => match self.leave_to_portal(world, state, op, None)? {
                Some(state) => self.run_flat(world, state),
                None => Ok(()),
            },
        }
    }

    // Merging.

    /// Lets a state go on where one like it went on before; returns it if it goes on by
    /// itself, in a new block.
    fn flat_merge(
        &mut self,
        world: &mut dyn World,
        mut state: JitState,
        live: &[Slot],
    ) -> Result<Option<JitState>, Failure> {
        state.keep_only(live);
        if self.is_met_before(&state) {
            state.frame_mut().op += 1;
            return Ok(Some(state));
        }
        state.forget_old_facts();
        self.write_unreachable(world, &mut state);
        state.compact();
        let key = self.flat_key(&state);
        if self.is_head(state.frame()) {
            state.frame_mut().decides = false;
        }
        let place = match self.is_full() {
            true => MergePlace::Full,
            false => MergePlace::Inside,
        };
        self.meet(world, state, key, place)
    }

    /// Whether states that come this way meet before: they did, and nothing was decided at run
    /// time since. The head of a loop is a place to meet all the same, or there were no end
    /// to rounds in which nothing is.
    fn is_met_before(&self, state: &JitState) -> bool {
        let frame = state.frame();
        self.of_driver && !self.is_head(frame) && state.met == Some(state.at) && !self.is_full()
    }

    pub(super) fn meet(
        &mut self,
        world: &mut dyn World,
        mut state: JitState,
        key: FlatKey,
        place: MergePlace,
    ) -> Result<Option<JitState>, Failure> {
        let seen = self.flat_seen.get_mut(&key);
        let mut entries = seen.map(std::mem::take).unwrap_or_default();
        let met = self.meet_one(world, &mut state, &mut entries, place);
        // Most of what a compiler keeps are these.
        entries.shrink_to_fit();
        match self.flat_seen.get_mut(&key) {
            Some(seen) => *seen = entries,
            None => {
                let (mut places, mut greens) = key;
                places.shrink_to_fit();
                greens.shrink_to_fit();
                self.flat_seen.insert((places, greens), entries);
            }
        }
        Ok(match met? {
            true => None,
            false => {
                state.frame_mut().op += 1;
                state.met = Some(state.at);
                Some(state)
            }
        })
    }

    /// True if the state went on where another one had been, false if it is in a new block.
    fn meet_one(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        entries: &mut Vec<(JitState, BlockId)>,
        place: MergePlace,
    ) -> Result<bool, Failure> {
        entries.retain(|e| e.0.assumed.is_none_or(|a| world.holds(a)));
        let is_large = self.residual.block_count() > MANY_BLOCKS;
        let (most, of_driver) = (place.most_versions(is_large), place.is_of_driver());
        let (mut similar, mut forcing) = (None, None);
        let boxes = state.boxes.len();
        for (i, entry) in entries.iter().enumerate().rev() {
            match self.compare(world, &entry.0, state, false) {
                Ok(m) if m.exact && !m.forces && !m.writes => {
                    self.jump(world, state, entry, &m)?;
                    return Ok(true);
                }
                Ok(m) if m.exact => {
                    // Prefer the version that forces the fewest objects.
                    let makes = |m: &Matched| (m.forces, m.unwritten.len());
                    let better = |f: &(usize, Matched)| makes(&m) <= makes(&f.1);
                    if forcing.as_ref().is_none_or(better) {
                        forcing = Some((i, m));
                    }
                }
                Ok(m) if similar.is_none() => similar = Some((i, m)),
                _ => {}
            }
        }
        if let Some((i, m)) = forcing {
            let most_here = match m.forces {
                true => MOST_FORCING,
                false => place.most_writing(),
            };
            if entries.len() >= most.min(most_here) {
                self.jump(world, state, &entries[i], &m)?;
                return Ok(true);
            }
            let entry = match state.boxes.len() == boxes {
                // Comparing has read nothing.
                true => self.start_block_compact(world, state)?,
                false => self.start_new_block(world, state)?,
            };
            entries.push(entry);
            return Ok(false);
        }
        // Numbers that change from one time to the next are no reason for a version.
        let numbers = |m: &Matched, i: usize| {
            of_driver
                && entries[i].0.virtuals.len() == state.virtuals.len()
                && m.outgoing.iter().all(|b| {
                    let red = state.get(*b);
                    red.ty.pointee().is_none() || matches!(red.var, Some(GenVar::Var(_)))
                })
        };
        let full = entries.len() >= most;
        let general = match similar {
            Some((i, m)) if full || m.but_pure || numbers(&m, i) => Some((i, m)),
            None if full => {
                let last = entries.len() - 1;
                let Ok(m) = self.compare(world, &entries[last].0, state, true) else {
                    return Err("states cannot meet".into());
                };
                if m.exact {
                    self.jump(world, state, &entries[last], &m)?;
                    return Ok(true);
                }
                Some((last, m))
            }
            _ => None,
        };
        let Some((i, m)) = general else {
            let entry = match state.boxes.len() == boxes {
                // Comparing has read nothing.
                true => self.start_block_compact(world, state)?,
                false => self.start_new_block(world, state)?,
            };
            entries.push(entry);
            return Ok(false);
        };
        let general = entries[i].0.heap.general.after(!m.missing.is_empty());
        self.generalize(world, state, &m, general);
        if of_driver {
            // All at once, rather than one by one each time somebody comes by.
            state.pure.clear();
        }
        entries[i] = self.start_new_block(world, state)?;
        entries[i].0.heap.general = general;
        Ok(false)
    }

    pub(super) fn jump(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        (other, target): &(JitState, BlockId),
        matched: &Matched,
    ) -> Result<(), Failure> {
        self.agree(state, other.assumed)?;
        self.because(|_| "passed on where code joins other code".to_owned());
        self.write_these(world, state, &matched.unwritten);
        let inputs = self.residual.inputs(*target);
        debug_assert_eq!(inputs.len(), matched.outgoing.len());
        let mut args = Vec::with_capacity(inputs.len());
        for (b, input) in matched.outgoing.iter().zip(inputs) {
            let ty = self.residual.ty(input);
            args.push(self.typed_operand(world, state, *b, ty));
        }
        self.residual.goto(state.at, *target, args);
        Ok(())
    }
}

/// Whether an operation changes its state alone. An item of a virtualizable's list may have to wait
/// for its index.
fn is_plain(kind: &TsKind) -> bool {
    match kind {
        TsKind::SameAs | TsKind::Cast | TsKind::Malloc(_) | TsKind::ExcOccurred => true,
        TsKind::Plain(_) | TsKind::Read { .. } => !is_item_access(kind),
        _ => false,
    }
}

/// The slots that are used from an operation on, by it as well.
pub(super) fn with_arguments(op: &TsOp) -> Vec<Slot> {
    let mut live = op.live.clone();
    live.extend(op.args.iter().filter_map(|a| match a {
        Arg::Slot(s) => Some(*s),
        Arg::Const(_) => None,
    }));
    live.sort_unstable();
    live.dedup();
    live
}
