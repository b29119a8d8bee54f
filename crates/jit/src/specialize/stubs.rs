//! Places of residual code where compilation has stopped, and how it goes on.

use taipan_graph::{BlockId, ExitCase, VarId};
use taipan_lltype::LLOperand;

use super::predict::Predictor;
use super::{Activation, Failure, Specializer};
use crate::code::{Arg, Slot, TsGraph, TsLink};
use crate::layout::{Place, field_name_of};
use crate::state::{BoxId, Content, Fact, Frame, GenVar, JitState, RedBox, Word};
use crate::world::World;

/// How many values a switch of a compiler of drivers gets cases for: those of a hint, and
/// classes of objects whose methods are called. Others take a way that is for all.
const MOST_CASES: usize = 60;
const MOST_CLASSES: usize = 8;

/// Number of cases of a switch that are found one by one at a place before all of them are compiled.
const MOST_FOUND: u32 = 3;

/// A switch of a graph has a case for each value.
const NO_CASE: &str = "no case of a switch applies";

/// A place where compilation has stopped.
pub(super) enum Stub {
    /// A switch that grows.
    Promotion(PromotionPoint),
    /// A side of a branch.
    Split(Pending),
}

/// What wants a value known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Promoted {
    /// A hint.
    Hint,
    /// The operation before: its result.
    Result,
    /// A call: which function it is, or what says so.
    Callee,
    /// The merge point of a driver: a green.
    Green,
    /// An item of a list that is kept in variables: the index.
    Index,
}

impl Promoted {
    /// Its name in the log.
    pub fn name(self) -> &'static str {
        match self {
            Promoted::Hint => "hint",
            Promoted::Result => "result",
            Promoted::Callee => "callee",
            Promoted::Green => "green",
            Promoted::Index => "index",
        }
    }
}

/// A switch that grows.
pub(super) struct PromotionPoint {
    /// The state before the value was known, at the operation that wants to know it; none when
    /// there is a way for all other values.
    state: Option<Box<JitState>>,
    promoted: BoxId,
    switch: BlockId,
    cases: Vec<Word>,
    of: Promoted,
    /// The block of the call whose result is waited for, and that result, if it was null
    /// while compiling and the same call always finds the same once it finds something.
    pub(super) found_by: Option<(BlockId, VarId)>,
    /// As for a side of a branch, as long as no value has arrived.
    is_hot: bool,
}

/// A side of a branch that nothing is compiled for yet.
pub(super) struct Pending {
    /// The state at its first block, until something is compiled.
    state: Option<Box<JitState>>,
    /// The block that branches.
    from: BlockId,
    /// The block that asks for more.
    asks: BlockId,
    /// Code that was called has left an exception.
    raised: bool,
    /// It is where what was being compiled went, as far as is known: it goes on there.
    pub(super) is_hot: bool,
}

/// Which side of a branch it is.
pub(super) enum Side {
    /// The truth value is that.
    Truth(BoxId, bool, TsLink),
    /// The value is that.
    Case(BoxId, Word, TsLink),
    /// What is left.
    Link(TsLink),
}

/// The parts of a state that [`Specializer::take_side`] changes, so that the state can be restored.
#[expect(
    clippy::large_enum_variant,
    reason = "there is one at a time, on the stack, and the small one is rare"
)]
enum Before {
    /// Changed boxes, number of boxes, innermost frame, and [`JitState::exc_unknown`].
    Parts {
        changed: [Option<(BoxId, RedBox)>; 2],
        boxes: usize,
        frame: Frame,
        exc_unknown: bool,
    },
    /// The whole state: any number of boxes may become constants.
    All(Box<JitState>),
}

impl Before {
    fn new(state: &JitState, side: &Side) -> Before {
        let copy = |b: BoxId| (b, state.get(b).clone());
        let changed = match side {
            Side::Case(..) => return Before::All(Box::new(state.clone())),
            Side::Truth(on, ..) => {
                let of = match state.get(*on).fact {
                    Some(Fact::NonNull { of, .. }) => Some(copy(of)),
                    _ => None,
                };
                [Some(copy(*on)), of]
            }
            Side::Link(_) => [None, None],
        };
        Before::Parts {
            changed,
            boxes: state.boxes.len(),
            frame: state.frame().clone(),
            exc_unknown: state.exc_unknown,
        }
    }

    fn restore(self, state: &mut JitState) {
        match self {
            Before::All(before) => *state = *before,
            Before::Parts {
                changed,
                boxes,
                frame,
                exc_unknown,
            } => {
                for (b, red) in changed.into_iter().flatten() {
                    *state.get_mut(b) = red;
                }
                state.boxes.truncate(boxes);
                *state.frame_mut() = frame;
                state.exc_unknown = exc_unknown;
            }
        }
    }
}

impl Specializer<'_> {
    /// Makes a stub of a block that a state has branched to. What is used after it is
    /// passed on.
    pub(super) fn stub(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        asks: BlockId,
        side: &Side,
    ) -> Result<(), Failure> {
        let from = state.at;
        let before = Before::new(state, side);
        let raised = self.take_side(world, state, side);
        let frame = state.frame();
        let graph = self.graphs[frame.code as usize].clone();
        state.keep_only(&graph.blocks[frame.block as usize].live);
        let made = self.stub_of(state, (from, asks), raised);
        before.restore(state);
        made
    }

    /// Stops until code gets here: what it does before is done by then.
    pub(super) fn stop(
        &mut self,
        world: &mut dyn World,
        mut state: JitState,
        live: &[Slot],
    ) -> Result<(), Failure> {
        state.keep_only(live);
        self.write_unreachable(world, &mut state);
        state.resumed = true;
        let (asks, _) = self.residual.new_block(&[]);
        let from = state.at;
        self.residual.goto(from, asks, Vec::new());
        self.stub_of(&state, (from, asks), false)
    }

    /// The stub of a state: the block that leads to it and the one that asks for more.
    pub(super) fn stub_of(
        &mut self,
        state: &JitState,
        (from, asks): (BlockId, BlockId),
        raised: bool,
    ) -> Result<(), Failure> {
        let mut state = state.settled();
        let outgoing = self.outgoing(&state);
        let mut passed = Vec::with_capacity(outgoing.len());
        let mut types = Vec::with_capacity(outgoing.len());
        for b in &outgoing {
            // At its own type: the block that asks does nothing else.
            let v = (self.variable_of(&state, *b)).ok_or("a stub passes what has no value")?;
            types.push(self.residual.ty(v));
            passed.push(LLOperand::Var(v));
        }
        // Then code is there.
        state.doubtful = false;
        self.residual.ask_for_more(asks, self.stubs.len());
        let (block, inputs) = self.residual.new_entry(&types);
        self.residual.goto(asks, block, passed);
        state.at = block;
        for ((b, v), ty) in outgoing.iter().zip(inputs).zip(types) {
            let red = state.get_mut(*b);
            (red.var, red.ty) = (Some(GenVar::Var(v)), ty);
        }
        self.stubs.push(Stub::Split(Pending {
            state: Some(Box::new(state)),
            from,
            asks,
            raised,
            is_hot: false,
        }));
        Ok(())
    }

    /// A red branch: both sides wait until code gets there, but for the one that code is
    /// about to take; of a test for an exception only the side where there is one.
    pub(super) fn lazy_split(
        &mut self,
        world: &mut dyn World,
        mut state: JitState,
        graph: &TsGraph,
        (on, v): (BoxId, VarId),
        yes: &TsLink,
        no: &TsLink,
    ) -> Result<Option<JitState>, Failure> {
        let exception = state.get(on).fact == Some(Fact::Exception);
        let taken = match exception {
            true => Some(false),
            false if self.splits == super::Splits::Eager => None,
            false => self.predicted(world, state.at, v).map(|w| w != 0),
        };
        state.frame_mut().decides |= !exception;
        let (at_yes, at_no) = self.residual.branch(state.at, v);
        for (at, truth, link) in [(at_yes, true, yes), (at_no, false, no)] {
            if taken != Some(truth) {
                self.stub(world, &mut state, at, &Side::Truth(on, truth, link.clone()))?;
                self.goes_on_at_stub(taken.is_none());
            }
        }
        let Some(truth) = taken else {
            return Ok(None);
        };
        let (at, link) = match truth {
            true => (at_yes, yes),
            false => (at_no, no),
        };
        state.at = at;
        self.learn(&mut state, on, truth);
        self.follow(world, &mut state, graph, link);
        Ok(Some(state))
    }

    /// A switch on a value that is not known.
    pub(super) fn red_switch(
        &mut self,
        world: &mut dyn World,
        activation: &mut Activation,
        mut state: JitState,
        graph: &TsGraph,
        arg: &Arg,
        links: &[TsLink],
    ) -> Result<Option<JitState>, Failure> {
        let on = self.red_arg(world, &mut state, graph, arg);
        let Some(v) = self.variable_of(&state, on) else {
            return Err("a switch on a box without a value".into());
        };
        state.frame_mut().decides = true;
        let cases = links.iter().map(|l| match &l.case {
            ExitCase::None | ExitCase::Exception(_) => ExitCase::Default,
            case => case.clone(),
        });
        let predicted = match self.splits {
            super::Splits::Lazy => self.predicted(world, state.at, v),
            super::Splits::Eager => None,
        };
        if self.takes_one_case(&state, links, predicted) {
            let live = graph.live_at_exit(state.frame().block, arg);
            return self.one_case(world, state, &live, (on, v), links, predicted);
        }
        let blocks = self.residual.switch(state.at, v, cases.collect());
        let mut others = Vec::new();
        let mut taken = None;
        for (link, block) in links.iter().zip(blocks) {
            let (word, side) = case_of(world, on, link);
            let is_taken = predicted.is_some_and(|p| word.is_none_or(|w| w == p));
            if is_taken && taken.is_none() {
                let mut state = state.clone();
                state.at = block;
                self.take_side(world, &mut state, &side);
                taken = Some(state);
            } else if self.splits_lazily(&state) {
                self.stub(world, &mut state, block, &side)?;
                self.goes_on_at_stub(predicted.is_none());
            } else {
                let mut other = state.clone();
                other.at = block;
                self.take_side(world, &mut other, &side);
                others.push(other);
            }
        }
        activation.waiting.extend(others.into_iter().rev());
        Ok(taken)
    }

    /// Whether a switch is compiled for one case, with all others left to one stub. Few of the cases of a switch on, say, the
    /// opcode of an instruction are taken at each place, and a stub for each would be most of the code. A few cases are found
    /// one by one; a place with more gets the whole switch.
    fn takes_one_case(&self, state: &JitState, links: &[TsLink], predicted: Option<Word>) -> bool {
        let found = self.rests.get(&state.at);
        let knows = match found {
            Some(found) => *found < MOST_FOUND && predicted.is_some(),
            None => true,
        };
        knows && self.of_driver && self.splits == super::Splits::Lazy && links.len() > 2
    }

    /// Compiles the case of a switch that code is about to take, if any, and a stub for the rest, at which the switch is
    /// looked at again. `on` is the box that the switch is on, and `v` its variable; `live` are the slots that the exit needs.
    fn one_case(
        &mut self,
        world: &mut dyn World,
        mut state: JitState,
        live: &[Slot],
        (on, v): (BoxId, VarId),
        links: &[TsLink],
        predicted: Option<Word>,
    ) -> Result<Option<JitState>, Failure> {
        let from = state.at;
        let found = self.rests.get(&from).copied().unwrap_or_default();
        let (rest, _) = self.residual.new_block(&[]);
        let mut waits = state.clone();
        waits.keep_only(live);
        let mut taken = None;
        match predicted {
            None => self.residual.goto(from, rest, Vec::new()),
            Some(p) => {
                let sides = links.iter().map(|l| (l, case_of(world, on, l)));
                let sides: Vec<_> = sides.collect();
                let is_it = |word: Option<Word>| word.is_none_or(|w| w == p);
                let at = sides.iter().position(|(_, (word, _))| is_it(*word));
                let (link, (word, side)) = at.and_then(|i| sides.get(i)).ok_or(NO_CASE)?;
                let (yes, _) = self.residual.new_block(&[]);
                let cases = match word {
                    Some(_) => vec![(link.case.clone(), yes), (ExitCase::Default, rest)],
                    None => {
                        let others = sides.iter().filter(|(_, (word, _))| word.is_some());
                        let others = others.map(|(l, _)| (l.case.clone(), rest));
                        others.chain([(ExitCase::Default, yes)]).collect()
                    }
                };
                self.residual.switch_to(from, v, cases);
                state.at = yes;
                self.take_side(world, &mut state, side);
                taken = Some(state);
            }
        }
        self.stub_of(&waits, (from, rest), false)?;
        self.goes_on_at_stub(predicted.is_none());
        if let Some(Stub::Split(Pending { state: Some(s), .. })) = self.stubs.last() {
            let found = found + u32::from(predicted.is_some());
            self.rests.insert(s.at, found);
        }
        Ok(taken)
    }

    /// Notes whether the stub that was made last is on the way that is being compiled.
    fn goes_on_at_stub(&mut self, on_the_way: bool) {
        if let (Some(Stub::Split(pending)), false) = (self.stubs.last_mut(), self.is_cold) {
            pending.is_hot = on_the_way;
        }
    }

    /// Code has got to a side of a branch: the other sides are no longer where it goes.
    fn others_are_cold(&mut self, number: usize, from: BlockId) {
        let (before, after) = self.stubs.split_at_mut(number);
        let siblings = |stub: &&mut Stub| matches!(stub, Stub::Split(p) if p.from == from);
        let before = before.iter_mut().rev().take_while(siblings);
        for stub in before.chain(after.iter_mut().take_while(siblings)) {
            if let Stub::Split(pending) = stub {
                pending.is_hot = false;
            }
        }
    }

    /// Goes to one side of a branch. Returns whether code that was called has left an
    /// exception there.
    fn take_side(&mut self, world: &mut dyn World, state: &mut JitState, side: &Side) -> bool {
        let graph = self.graphs[state.frame().code as usize].clone();
        let mut raised = false;
        let link = match side {
            Side::Truth(on, truth, link) => {
                raised = self.learn_truth(state, *on, *truth);
                link
            }
            Side::Case(on, word, link) => {
                self.make_known(world, state, *on, *word);
                link
            }
            Side::Link(link) => link,
        };
        self.follow(world, state, &graph, link);
        raised
    }

    /// Stops until a value arrives at run time. The operation is then done again, in a
    /// state that knows it.
    pub(super) fn wait_for(
        &mut self,
        world: &mut dyn World,
        mut state: JitState,
        wanted: BoxId,
        live: &[Slot],
        of: Promoted,
    ) -> Result<Option<JitState>, Failure> {
        state.keep_only(live);
        state.forget_old_facts();
        if state.get(wanted).ty.is_gc_ptr() {
            self.write_lists(world, &mut state);
        }
        // Its number changes.
        state.wanted = Some(wanted);
        self.write_unreachable(world, &mut state);
        state.compact();
        let outgoing = self.outgoing(&state);
        self.enter_next_block(world, &mut state, &outgoing);
        let promoted = state.wanted.take().ok_or("a promoted value is gone")?;
        let on = (self.variable_of(&state, promoted)).ok_or("a promoted value is virtual")?;
        let predicted = self.predicted(world, state.at, on);
        self.residual.flexswitch(state.at, on, self.stubs.len());
        let switch = state.at;
        let predicted = predicted.map(|value| world.keep(value, state.get(promoted).ty));
        self.stubs.push(Stub::Promotion(PromotionPoint {
            state: Some(Box::new(state.clone())),
            promoted,
            switch,
            cases: predicted.into_iter().collect(),
            of,
            found_by: None,
            is_hot: predicted.is_none() && !self.is_cold,
        }));
        self.note_promotion(self.stubs.len() - 1, of);
        Ok(predicted.map(|value| self.new_case(world, state, promoted, value)))
    }

    /// Goes on in a state at a promotion, in a new case for a value.
    fn new_case(
        &mut self,
        world: &mut dyn World,
        mut state: JitState,
        promoted: BoxId,
        value: Word,
    ) -> JitState {
        let case = world.constant(value, state.get(promoted).ty);
        state.at = self.residual.add_case(state.at, case);
        self.make_known(world, &mut state, promoted, value);
        state
    }

    /// Goes on at a stub, with the value that arrived there at run time if it waits for one.
    /// Nothing happens if that was done before.
    pub(crate) fn continue_compilation(
        &mut self,
        world: &mut dyn World,
        number: usize,
        value: Word,
        arrived: &[Option<Word>],
    ) -> Result<(), Failure> {
        let of_driver = self.of_driver;
        if of_driver {
            self.steps = 0;
        }
        let moves = world.moves();
        let ahead = |s: &mut Self, block: BlockId, inputs: Vec<VarId>| {
            let known = inputs.into_iter().zip(arrived);
            let known = known.filter_map(|(v, w)| Some((v, (*w)?)));
            let variables = s.residual.graph().vars.len();
            s.predictor = Some(Predictor::new(block, known, variables, moves));
        };
        self.is_cold = of_driver;
        match self.stubs.get_mut(number).ok_or("no such stub")? {
            Stub::Split(pending) => {
                self.is_cold &= !pending.is_hot;
                let Some(state) = pending.state.take() else {
                    return Ok(());
                };
                let (from, asks, raised) = (pending.from, pending.asks, pending.raised);
                let mut state = *state;
                self.others_are_cold(number, from);
                self.residual.leave_out(from, asks);
                let inputs = self.residual.inputs(state.at);
                ahead(self, state.at, inputs);
                if raised {
                    self.fetch_exception(&mut state);
                }
                self.go_on(world, state)
            }
            Stub::Promotion(point) => {
                if point.cases.contains(&value) {
                    return Ok(());
                }
                let Some(state) = point.state.take() else {
                    return Ok(());
                };
                let (switch, promoted, of) = (point.switch, point.promoted, point.of);
                let most = match of {
                    Promoted::Callee => MOST_CLASSES,
                    Promoted::Hint | Promoted::Result | Promoted::Green | Promoted::Index => {
                        MOST_CASES
                    }
                };
                if of_driver && point.cases.len() >= most {
                    let mut state = *state;
                    state.at = self.residual.close_switch(switch);
                    return self.go_on_without(world, state, promoted, of);
                }
                self.is_cold &= !std::mem::take(&mut point.is_hot);
                point.cases.push(value);
                if value != 0
                    && let Some((block, v)) = point.found_by.take()
                {
                    let found = world.constant(value, self.residual.ty(v));
                    self.residual.replace_call(block, v, found);
                }
                point.state = Some(state.clone());
                let state = *state;
                let state = self.new_case(world, state, promoted, value);
                let inputs = self.residual.inputs(switch);
                ahead(self, state.at, inputs);
                self.go_on(world, state)
            }
        }
    }

    /// Learns what a variable of residual code is, and what follows for fields of the
    /// object that never change.
    pub(super) fn make_known(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        b: BoxId,
        value: Word,
    ) {
        let red = state.get_mut(b);
        red.var = Some(GenVar::Const(value.into()));
        red.nonzero = red.ty.pointee().is_some() && value != 0;
        let content = std::mem::replace(&mut red.content, Content::None);
        let Content::Partial(fields) = content else {
            return;
        };
        for (place, field) in fields {
            if value == 0 || state.known(field).is_some() {
                continue;
            }
            if let Some(w) = self.constant_at(world, value, place) {
                self.make_known(world, state, field, w);
            }
        }
    }

    /// What memory holds in a field.
    fn constant_at(&self, world: &mut dyn World, object: Word, place: Place) -> Option<Word> {
        let Place::Field(key) = place else {
            return None;
        };
        let name = field_name_of(self.program, key)?;
        let (at, ty) = world.memory().field(object as u64, key.0, &name).ok()?;
        world.memory().load_word(at, ty).ok()
    }

    /// What the function pointer of a call was read from: the vtable, if that is so.
    pub(super) fn read_from(&self, state: &JitState, pointer: BoxId) -> BoxId {
        let holds = |red: &crate::state::RedBox| match &red.content {
            Content::Partial(fields) => fields.iter().any(|f| f.1 == pointer),
            _ => false,
        };
        match state.boxes.iter().position(holds) {
            Some(i) if matches!(state.boxes[i].var, Some(GenVar::Var(_))) => BoxId(i as u32),
            _ => pointer,
        }
    }
}

/// The word of a case of a switch on a box, and the side that it leads to. No word for all other values.
fn case_of(world: &mut dyn World, on: BoxId, link: &TsLink) -> (Option<Word>, Side) {
    let word = match &link.case {
        ExitCase::Value(c) => Some(world.word(c)),
        ExitCase::Bool(b) => Some(Word::from(*b)),
        _ => None,
    };
    let plain = TsLink::to(link.target, link.args.clone());
    let side = match word {
        Some(w) => Side::Case(on, w, plain),
        None => Side::Link(plain),
    };
    (word, side)
}
