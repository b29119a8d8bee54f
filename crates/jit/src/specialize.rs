//! The specialiser: runs timeshifted graphs and generates residual code (RPython, 2008:
//! `rtimeshift.py`).
//!
//! A state is what is known at one point of the generated code. Where the code splits the
//! state is copied; one copy goes on, the other waits. Where paths join, a state that
//! agrees with an earlier one on all green values goes on there, and if it is not quite
//! like it, both are generalised. A function that is compiled into its caller runs until
//! all its states have returned; these meet, and go on in the caller.
//!
//! Where the original resumes by replaying the path from the last global merge point,
//! states here keep all the functions that they are in, so that a promotion goes on right
//! where it stopped.

mod assume;
mod calls;
mod delay;
mod effects;
mod flat;
mod leave;
mod memory;
mod merge;
mod merge_points;
mod ops;
mod position;
mod predict;
mod stubs;
mod switches;

pub(crate) use ops::touches_memory;
pub use stubs::Promoted;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_graph::{BlockId, VarId};
use taipan_language::Exc;
use taipan_lltype::{
    CodePlace, FuncKind, FuncSym, LLConst, LLOperand, LLType, OBJECT, OBJECT_VTABLE, TypeKind,
    VOID, View,
};

use crate::arguments::{Part, VirtualArguments};
use crate::code::{Arg, Slot, TsExit, TsGraph, TsKind, TsLink};
use crate::drivers::{DriverInfo, portal_of};
use crate::heap::Heap;
use crate::held::Held;
use crate::layout::Layouts;
use crate::notes::Notes;
use crate::program::JitProgram;
use crate::residual::{Residual, void_operand};
use crate::state::{
    BoxId, Content, Fact, Frame, GenVar, JitState, RedBox, SetVal, Val, Values, Word,
};
use crate::timeshift::NO_SLOT;
use crate::touches::Touches;
use crate::world::World;
pub use calls::is_done_by_compilers;
use predict::Predictor;
use stubs::{Side, Stub};

/// Why the specialiser gave up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// What could not be done.
    pub why: String,
    /// Where the specialiser was, if that is known.
    pub place: Option<CodePlace>,
    /// What helps.
    pub remedy: Option<&'static str>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl From<String> for Failure {
    fn from(why: String) -> Self {
        Failure {
            why,
            place: None,
            remedy: None,
        }
    }
}

impl From<&str> for Failure {
    fn from(why: &str) -> Self {
        why.to_owned().into()
    }
}

/// Bounds on what one portal call may generate.
pub(crate) const MOST_BLOCKS: usize = 20_000;
const MOST_FRAMES: usize = 300;
const MOST_STEPS: u64 = 20_000_000;

/// Native stack that one function inside another needs at most, and how much there is
/// more of when that runs out.
const STACK_LEFT: usize = 256 << 10;
const STACK_MORE: usize = 4 << 20;

/// Where states meet: block, operation, and the green values.
type MergeKey = (u32, u32, Vec<Word>);

/// States that went on, and the blocks that they went on in.
type Seen = BTreeMap<MergeKey, Vec<(JitState, BlockId)>>;

/// One run of a function that is compiled into its caller.
#[derive(Default)]
struct Activation {
    /// States that wait, the next one last.
    waiting: Vec<JitState>,
    /// States that wait at global merge points.
    global: Vec<JitState>,
    returned: Vec<JitState>,
    seen: Seen,
}

/// What becomes of the two sides of a branch of residual code.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Splits {
    /// Both are compiled.
    #[default]
    Eager,
    /// Each is compiled when code gets there.
    Lazy,
}

/// What is compiled, and how.
pub(crate) struct Setup<'a> {
    /// The name of the residual function.
    pub(crate) name: &'a str,
    /// Tells its stubs apart from those of other functions.
    pub(crate) number: usize,
    pub(crate) splits: Splits,
    /// What is compiled is the portal of a driver.
    pub(crate) of_driver: bool,
    /// Of all residual functions of the driver.
    pub(crate) shared: Rc<Shared>,
    /// When code has so many blocks what comes has to be short.
    pub(crate) most_blocks: usize,
    /// Virtual arguments of the portal, if any.
    pub(crate) virtual_arguments: Option<&'a VirtualArguments>,
    /// Memoized facts about types.
    pub(crate) layouts: Rc<Layouts>,
}

/// Lists of greens that all residual functions of a driver know.
#[derive(Default)]
pub(crate) struct Shared {
    /// Those for which there are residual functions.
    pub(crate) started: RefCell<BTreeSet<Vec<Word>>>,
    /// Those at whose merge point a call begins in which a loop of the interpreted program closed.
    pub(crate) with_loops: RefCell<BTreeSet<Rc<[Word]>>>,
}

/// The compiler that was generated for a portal, and the residual function that it is
/// writing.
pub(crate) struct Specializer<'p> {
    pub(crate) program: &'p dyn JitProgram,
    graphs: Vec<Arc<TsGraph>>,
    /// The driver of each, if it has a merge point.
    drivers: Vec<Option<DriverInfo>>,
    /// For each graph, whether its function is one of the program and not a helper.
    own: Vec<bool>,
    /// Where the graphs of functions are that compilers of drivers follow.
    by_function: FxHashMap<FuncSym, Option<u32>>,
    pub(crate) residual: Residual,
    splits: Splits,
    of_driver: bool,
    shared: Rc<Shared>,
    pub(crate) most_blocks: usize,
    /// Global merge points of the portal.
    global_seen: Seen,
    /// States that went on at other merge points, where functions do not run to their end
    /// one by one.
    flat_seen: flat::FlatSeen,
    /// Number of positions in the interpreted program, by places of functions.
    positions: position::Positions,
    switches: switches::Switches,
    /// Blocks at which the rest of a switch is looked at, and how many of its cases were found before.
    rests: FxHashMap<BlockId, u32>,
    stubs: Vec<Stub>,
    /// How often states came back to a merge point of a driver to start again, by greens.
    started_again: BTreeMap<Rc<[Word]>, u32>,
    steps: u64,
    /// Scratch memory for the values that a link passes.
    passing: Vec<Option<SetVal>>,
    /// What is being compiled is seldom reached, as far as is known.
    is_cold: bool,
    /// What is computed ahead of code that is being compiled.
    predictor: Option<Predictor>,
    layouts: Rc<Layouts>,
    /// What calls do to memory, if what is known of memory is kept.
    touches: Option<Rc<Touches<'p>>>,
}

impl<'p> Specializer<'p> {
    /// Compiles the portal. `args` are the words of the arguments that are known; the
    /// others become the arguments of the residual function, and `arrived` are the words that
    /// these have now, as far as that is known.
    pub(crate) fn compile(
        program: &'p dyn JitProgram,
        graphs: Vec<Arc<TsGraph>>,
        setup: &Setup<'_>,
        args: &[Option<Word>],
        touches: Option<Rc<Touches<'p>>>,
        arrived: &[Option<Word>],
        world: &mut dyn World,
    ) -> Result<Specializer<'p>, Failure> {
        let portal = graphs[0].clone();
        let inputs = portal.blocks[portal.start as usize].inputs.clone();
        let types: Vec<LLType> = match setup.virtual_arguments {
            Some(arguments) => arguments.types().to_vec(),
            None => (inputs.iter().zip(args))
                .filter(|(_, w)| w.is_none())
                .map(|(s, _)| portal.slots[*s as usize].ty)
                .collect(),
        };
        let result = portal.func.ty().result;
        let (residual, vars) = Residual::new(setup.name, setup.number, &types, result);
        let driver = |g: &Arc<TsGraph>| program.driver(&g.func);
        let drivers = match setup.of_driver {
            true => graphs.iter().map(driver).collect(),
            false => vec![None; graphs.len()],
        };
        let mut s = Specializer {
            program,
            own: graphs.iter().map(|g| is_own(&g.func)).collect(),
            graphs,
            drivers,
            by_function: FxHashMap::default(),
            residual,
            splits: setup.splits,
            of_driver: setup.of_driver,
            shared: setup.shared.clone(),
            most_blocks: setup.most_blocks,
            global_seen: Seen::new(),
            flat_seen: flat::FlatSeen::default(),
            positions: position::Positions::default(),
            switches: switches::Switches::default(),
            rests: FxHashMap::default(),
            stubs: Vec::new(),
            started_again: BTreeMap::new(),
            steps: 0,
            passing: Vec::new(),
            is_cold: false,
            predictor: None,
            layouts: setup.layouts.clone(),
            touches,
        };
        s.residual.notes = Notes::new(world.wants_notes());
        if !arrived.is_empty() {
            let known = vars.iter().zip(arrived);
            let known = known.filter_map(|(v, w)| Some((*v, (*w)?)));
            let (start, variables) = (s.residual.start(), s.residual.graph().vars.len());
            s.predictor = Some(Predictor::new(start, known, variables, world.moves()));
        }
        let mut state = s.fresh_state();
        let arguments = setup.virtual_arguments;
        let arguments = arguments.map(|a| s.virtual_arguments(world, &mut state, a, &vars));
        let mut virtual_arguments = arguments.transpose()?.into_iter().flatten();
        let mut vars = vars.into_iter();
        for (slot, word) in inputs.iter().zip(args) {
            let info = &portal.slots[*slot as usize];
            let val = match word {
                _ if info.ty.is_void() => Val::Green(0),
                Some(w) if info.green => Val::Green(*w),
                Some(w) => Val::Red(state.constant(*w, info.ty)),
                None if info.green => {
                    let why = format!(
                        "the argument `{}` of {} is green, so its value has to be given",
                        info.name, portal.name
                    );
                    return Err(why.into());
                }
                None if setup.virtual_arguments.is_some() => {
                    Val::Red(virtual_arguments.next().ok_or("an argument is missing")?)
                }
                None => {
                    let v = vars.next().ok_or("an argument is missing")?;
                    Val::Red(state.variable(v, info.ty))
                }
            };
            state.frame_mut().values.set(*slot, val);
        }
        if s.is_flat() {
            s.run_flat(world, state)?;
        } else {
            let returned = s.run_activation(world, vec![state])?;
            s.finish(world, returned)?;
        }
        Ok(s)
    }

    /// Builds the boxes of the reds from virtual arguments and the passed variables.
    fn virtual_arguments(
        &self,
        world: &mut dyn World,
        state: &mut JitState,
        arguments: &VirtualArguments,
        vars: &[VarId],
    ) -> Result<Vec<BoxId>, Failure> {
        let values = vars.iter().zip(arguments.types());
        let values: Vec<BoxId> = values.map(|(v, ty)| state.variable(*v, *ty)).collect();
        let objects = arguments.objects.iter();
        let objects: Vec<BoxId> = objects
            .map(|o| self.new_virtual(state, o.ty, o.length))
            .collect();
        let mut of = |state: &mut JitState, part: &Part| {
            Some(match part {
                Part::Value(number) => *values.get(*number)?,
                Part::Object(number) => *objects.get(*number)?,
                Part::Known(c, ty) => {
                    let word = world.word(c);
                    state.constant(word, *ty)
                }
            })
        };
        for (object, own) in arguments.objects.iter().zip(&objects) {
            let fields = object.fields.iter().map(|part| of(state, part));
            let fields: Option<Vec<BoxId>> = fields.collect();
            let Content::Virtual(number) = state.get(*own).content else {
                return Err("a virtual argument is none".into());
            };
            state.virtuals[number.0 as usize].fields = fields.ok_or("an argument is missing")?;
        }
        let reds = arguments.reds.iter().map(|part| of(state, part));
        let reds: Option<Vec<BoxId>> = reds.collect();
        reds.ok_or("an argument is missing".into())
    }

    /// Where an operation of residual code comes from.
    pub(crate) fn origin(&self, at: u32) -> Option<CodePlace> {
        self.instruction_at(self.residual.place(at)?)
    }

    /// An instruction of a graph.
    pub(crate) fn instruction_at(&self, (code, at): (u32, u32)) -> Option<CodePlace> {
        let func = self.graphs.get(code as usize)?.func.clone();
        Some(CodePlace { func, at })
    }

    /// Where the innermost function of a state is.
    fn place(&self, state: &JitState) -> Option<CodePlace> {
        self.place_in(state.frames.last()?)
    }

    /// Where the function is that called the innermost one.
    fn caller(&self, state: &JitState) -> Option<CodePlace> {
        self.place_in(state.frames.iter().rev().nth(1)?)
    }

    fn place_in(&self, frame: &Frame) -> Option<CodePlace> {
        let func = self.graphs[frame.code as usize].func.clone();
        let at = self.instruction(frame)?;
        Some(CodePlace { func, at })
    }

    /// The instruction that is under way in a function, or its last one before.
    fn instruction(&self, frame: &Frame) -> Option<u32> {
        let graph = &self.graphs[frame.code as usize];
        let ops = &graph.blocks[frame.block as usize].ops;
        Some(ops.get(frame.op as usize).or(ops.last())?.at)
    }

    /// Graph and instruction of the innermost function of the program: helpers have no places.
    fn own_place(&self, state: &JitState) -> (u32, u32) {
        let mut frames = state.frames.iter().rev();
        let own = frames.find(|f| self.own[f.code as usize]);
        let frame = own.unwrap_or(state.frame());
        (frame.code, self.instruction(frame).unwrap_or(0))
    }

    /// Why a state is not followed any further.
    fn endless(&self, state: &JitState) -> Failure {
        Failure {
            why: format!(
                "the residual code of {} has no end: there are more than {MOST_BLOCKS} blocks",
                self.graphs[0].name
            ),
            place: self.place(state),
            remedy: Some(
                "put `hint(None, global_merge_point=True)` at the head of the loop that is unrolled",
            ),
        }
    }

    fn fresh_state(&self) -> JitState {
        let mut state = JitState {
            boxes: Vec::new(),
            virtuals: Vec::new(),
            heap: Heap::default(),
            frames: vec![self.new_frame(0)],
            exc_type: BoxId(0),
            exc_value: BoxId(0),
            exc_unknown: false,
            returned: Val::Unset,
            pure: Vec::new(),
            wanted: None,
            version: None,
            resumed: false,
            doubtful: false,
            assumed: None,
            met: None,
            at: self.residual.start(),
        };
        state.exc_type = state.constant(0, OBJECT_VTABLE.ptr());
        state.exc_value = state.constant(0, OBJECT.ptr());
        state
    }

    fn new_frame(&self, code: u32) -> Frame {
        let graph = &self.graphs[code as usize];
        Frame {
            code,
            block: graph.start,
            op: 0,
            values: Values::with_room(),
            waiting: NO_SLOT,
            receiver: None,
            greens: None,
            began: None,
            closes: false,
            decides: false,
        }
    }

    /// Whether states go on in callers by themselves, and do not wait until all that their
    /// function can do is compiled.
    fn is_flat(&self) -> bool {
        self.of_driver || self.splits == Splits::Lazy
    }

    /// Whether the sides of a branch are compiled when code gets there. One that comes after what
    /// hardly happens is, whatever the policy: there is no end to what else could follow.
    fn splits_lazily(&self, state: &JitState) -> bool {
        self.splits == Splits::Lazy || state.doubtful
    }

    /// Goes on with states that stopped somewhere inside functions.
    fn go_on(&mut self, world: &mut dyn World, state: JitState) -> Result<(), Failure> {
        if self.is_flat() {
            return self.run_flat(world, state);
        }
        // The functions that it is in, from the innermost one outwards.
        let mut left = state.frames.len();
        let mut states = vec![state];
        loop {
            states = self.run_activation(world, states)?;
            left -= 1;
            if states.is_empty() {
                return Ok(());
            }
            if left == 0 {
                return self.finish(world, states);
            }
            states = self.return_to_caller(states);
        }
    }

    /// Runs states of one function until all have returned, and lets those meet.
    fn run_activation(
        &mut self,
        world: &mut dyn World,
        states: Vec<JitState>,
    ) -> Result<Vec<JitState>, Failure> {
        if let Some(state) = states.first()
            && state.frames.len() > MOST_FRAMES
        {
            return Err(Failure {
                why: format!("more than {MOST_FRAMES} calls are followed inside each other"),
                place: self.caller(state),
                remedy: Some(
                    "put `@dont_look_inside` on the function, so that calls of it stay calls",
                ),
            });
        }
        stacker::maybe_grow(STACK_LEFT, STACK_MORE, || self.run_states(world, states))
    }

    fn run_states(
        &mut self,
        world: &mut dyn World,
        mut states: Vec<JitState>,
    ) -> Result<Vec<JitState>, Failure> {
        let mut activation = Activation::default();
        // The first one goes first.
        states.reverse();
        activation.waiting = states;
        loop {
            if let Some(state) = activation.waiting.pop() {
                self.run_state(world, &mut activation, state)?;
            } else if let Some(state) = activation.global.pop() {
                self.global_merge(world, &mut activation, state)?;
            } else {
                break;
            }
        }
        let returned = std::mem::take(&mut activation.returned);
        let portal = returned.first().is_some_and(|s| s.frames.len() == 1);
        self.merge_returned(world, returned, portal)
    }

    /// Runs a state until it waits, ends or returns.
    fn run_state(
        &mut self,
        world: &mut dyn World,
        activation: &mut Activation,
        state: JitState,
    ) -> Result<(), Failure> {
        let mut current = Some(state);
        while let Some(mut state) = current.take() {
            self.steps += 1;
            if self.steps > MOST_STEPS || self.residual.block_count() > MOST_BLOCKS {
                return Err(self.endless(&state));
            }
            let frame = state.frame();
            let graph = self.graphs[frame.code as usize].clone();
            let block = &graph.blocks[frame.block as usize];
            let Some(op) = block.ops.get(frame.op as usize) else {
                current = self.leave_block(world, activation, state, &graph, &block.exit)?;
                continue;
            };
            self.residual.here = self.own_place(&state);
            match &op.kind {
                TsKind::MergePoint { global: true } => activation.global.push(state),
                TsKind::MergePoint { global: false } => {
                    state.keep_only(&op.live);
                    let key = self.merge_key(&state, &op.live);
                    let seen = &mut activation.seen;
                    current = self.merge(world, seen, key, state, false)?;
                    if let Some(s) = &mut current {
                        s.frame_mut().op += 1;
                    }
                }
                TsKind::Promote => current = self.promote(world, state, op)?,
                TsKind::PromoteField => match self.known_source(world, &state, op) {
                    Some(object) if object != 0 => current = self.promote(world, state, op)?,
                    _ => {
                        state.frame_mut().op += 1;
                        current = Some(state);
                    }
                },
                TsKind::Inline(_) | TsKind::DriverMergePoint { .. } | TsKind::LoopCloses => {
                    return Err("a graph for compilers of drivers".into());
                }
                TsKind::Call(..) => current = self.call(world, activation, state, op)?,
                TsKind::ReverseSplitQueue => {
                    activation.waiting.reverse();
                    state.frame_mut().op += 1;
                    current = Some(state);
                }
                _ => {
                    self.operation(world, &mut state, &graph, op)?;
                    state.frame_mut().op += 1;
                    current = Some(state);
                }
            }
        }
        Ok(())
    }

    fn leave_block(
        &mut self,
        world: &mut dyn World,
        activation: &mut Activation,
        mut state: JitState,
        graph: &TsGraph,
        exit: &TsExit,
    ) -> Result<Option<JitState>, Failure> {
        match exit {
            TsExit::Goto(link) => self.follow(world, &mut state, graph, link),
            TsExit::Switch(on, links) => {
                let Some(on) = self.known_arg(world, &state, on) else {
                    return self.red_switch(world, activation, state, graph, on, links);
                };
                let at = (state.frame().code, state.frame().block);
                let link =
                    (self.taken(world, at, on, links)).ok_or("no case of a switch applies")?;
                self.follow(world, &mut state, graph, link);
            }
            TsExit::Split(on, yes, no) => {
                let on = self.red_arg(world, &mut state, graph, on);
                match state.get(on).var {
                    Some(GenVar::Const(w)) => {
                        let truth = w.word() != 0;
                        self.learn(&mut state, on, truth);
                        let link = if truth { yes } else { no };
                        self.follow(world, &mut state, graph, link);
                    }
                    Some(GenVar::Var(v)) if self.splits_lazily(&state) => {
                        return self.lazy_split(world, state, graph, (on, v), yes, no);
                    }
                    Some(GenVar::Var(v)) => {
                        let (at_yes, at_no) = self.residual.branch(state.at, v);
                        let mut other = state.clone();
                        (state.at, other.at) = (at_yes, at_no);
                        self.learn(&mut state, on, true);
                        self.learn(&mut other, on, false);
                        self.follow(world, &mut state, graph, yes);
                        self.follow(world, &mut other, graph, no);
                        activation.waiting.push(other);
                    }
                    None => return Err("a virtual truth value".into()),
                }
            }
            TsExit::Overflow(ok, raised) => {
                let frame = state.frame();
                let last = &graph.blocks[frame.block as usize].ops[frame.op as usize - 1];
                let result = state.frame().values.get(last.result);
                match result {
                    // Computed while compiling, without and with overflow.
                    Val::Green(_) => self.follow(world, &mut state, graph, ok),
                    Val::Unset => self.follow(world, &mut state, graph, raised),
                    Val::Red(b) if state.known(b).is_some() => {
                        self.follow(world, &mut state, graph, ok);
                    }
                    Val::Red(_) => {
                        let class = self.program.exception_vtable(Exc::OverflowError);
                        let class = LLConst::data(class, OBJECT_VTABLE.ptr());
                        let (at_ok, at_raised) = self.residual.overflow(state.at, &class);
                        if self.splits_lazily(&state) {
                            self.stub(world, &mut state, at_raised, &Side::Link(raised.clone()))?;
                            state.at = at_ok;
                            self.follow(world, &mut state, graph, ok);
                            return Ok(Some(state));
                        }
                        let mut other = state.clone();
                        (state.at, other.at) = (at_ok, at_raised);
                        self.follow(world, &mut state, graph, ok);
                        self.follow(world, &mut other, graph, raised);
                        activation.waiting.push(other);
                    }
                }
            }
            TsExit::Return(slot) => {
                if state.frames.len() == 1 {
                    self.write_all_pending(world, &mut state);
                }
                state.returned = returned(&state, graph, *slot);
                state.keep_only(&[]);
                activation.returned.push(state);
                return Ok(None);
            }
        }
        Ok(Some(state))
    }

    fn follow(&mut self, world: &mut dyn World, state: &mut JitState, graph: &TsGraph, l: &TsLink) {
        let inputs = &graph.blocks[l.target as usize].inputs;
        // All are read before the first is written: links may exchange values.
        let mut values = std::mem::take(&mut self.passing);
        for (arg, input) in l.args.iter().zip(inputs) {
            let info = &graph.slots[*input as usize];
            let val = match arg {
                Arg::Slot(s) => state.frame().values.held(*s),
                Arg::Const(_) if info.ty.is_void() => Some(SetVal::Green(Held::from(0))),
                Arg::Const(c) => Some(SetVal::Green(world.word(c).into())),
            };
            values.push(match val {
                Some(SetVal::Green(w)) if !info.green && !info.ty.is_void() => {
                    Some(SetVal::Red(state.held_constant(w, info.ty)))
                }
                Some(SetVal::Red(b)) if info.green => match state.constant_of(b) {
                    Some(w) => Some(SetVal::Green(w)),
                    None => val,
                },
                other => other,
            });
        }
        let frame = state.frame_mut();
        for (input, val) in inputs.iter().zip(values.drain(..)) {
            frame.values.hold(*input, val);
        }
        (frame.block, frame.op) = (l.target, 0);
        self.passing = values;
    }

    /// Learns what follows from the truth of a box.
    fn learn(&mut self, state: &mut JitState, on: BoxId, truth: bool) {
        if self.learn_truth(state, on, truth) {
            self.fetch_exception(state);
        }
    }

    /// The same, but for the exception that code has left: returns whether there is one.
    fn learn_truth(&mut self, state: &mut JitState, on: BoxId, truth: bool) -> bool {
        let fact = state.get_mut(on).fact.take();
        if state.known(on).is_none() {
            state.get_mut(on).var = Some(GenVar::Const(Word::from(truth).into()));
        }
        match fact {
            Some(Fact::NonNull { of, reverse }) => {
                state.learn_nonzero(of, truth != reverse);
                false
            }
            Some(Fact::Exception) => {
                state.exc_unknown = false;
                truth
            }
            None => false,
        }
    }

    /// Makes the exception that code has left one of the state.
    fn fetch_exception(&mut self, state: &mut JitState) {
        self.take_exception(state);
        state.learn_nonzero(state.exc_type, true);
        state.learn_nonzero(state.exc_value, true);
    }

    /// The same without knowing that there is an exception: class and instance are null if there is none.
    fn take_exception(&mut self, state: &mut JitState) {
        state.forget_pure_calls();
        let (t, v) = (OBJECT_VTABLE.ptr(), OBJECT.ptr());
        let etype = self.residual.op(state.at, View::ExcType {}, t);
        let evalue = self.residual.op(state.at, View::ExcValue {}, v);
        self.residual.op(state.at, View::ExcClear {}, *VOID);
        state.exc_type = state.variable(etype, t);
        state.exc_value = state.variable(evalue, v);
    }

    /// Moves the pending exception of a state to where another state has it: into the state, or into the thread's
    /// exception words in residual code. Required before a forced merge.
    fn keep_exception_as(&mut self, world: &mut dyn World, state: &mut JitState, other: &JitState) {
        if state.exc_unknown == other.exc_unknown {
            return;
        }
        if state.exc_unknown {
            self.take_exception(state);
        } else if state.known(state.exc_type) != Some(0) {
            self.give_exception(world, state);
        }
        state.exc_unknown = other.exc_unknown;
    }

    /// Moves the exception of a state into residual code.
    fn give_exception(&mut self, world: &mut dyn World, state: &mut JitState) {
        let (class, value) = (state.exc_type, state.exc_value);
        let class = &self.operand(world, state, class);
        let value = &self.operand(world, state, value);
        self.residual
            .op(state.at, View::ExcSet { class, value }, *VOID);
        state.exc_type = state.constant(0, OBJECT_VTABLE.ptr());
        state.exc_value = state.constant(0, OBJECT.ptr());
    }

    /// The portal returns.
    fn finish(&mut self, world: &mut dyn World, states: Vec<JitState>) -> Result<(), Failure> {
        self.because(|_| "returned".to_owned());
        for mut state in states {
            if state.known(state.exc_type) != Some(0) {
                self.give_exception(world, &mut state);
            }
            let value = match state.returned {
                Val::Unset => void_operand(),
                Val::Green(w) => {
                    let ty = self.graphs[0].func.ty().result;
                    LLOperand::Const(world.constant(w, ty))
                }
                Val::Red(b) => {
                    let ty = self.graphs[0].func.ty().result;
                    self.typed_operand(world, &mut state, b, ty)
                }
            };
            self.residual.return_(state.at, value);
        }
        Ok(())
    }

    // Operands.

    /// The value of an operand that is known.
    fn known_arg(&mut self, world: &mut dyn World, state: &JitState, a: &Arg) -> Option<Word> {
        match a {
            Arg::Const(LLConst::Void(_)) => Some(0),
            Arg::Const(c) => Some(world.word(c)),
            Arg::Slot(s) => match state.frame().values.get(*s) {
                Val::Green(w) => Some(w),
                Val::Red(b) => state.known(b),
                Val::Unset => None,
            },
        }
    }

    /// An operand as a box.
    fn red_arg(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        graph: &TsGraph,
        a: &Arg,
    ) -> BoxId {
        match a {
            Arg::Const(c) => {
                let w = match c {
                    LLConst::Void(_) => 0,
                    c => world.word(c),
                };
                state.constant(w, c.ty())
            }
            Arg::Slot(s) => match state.frame().values.get(*s) {
                Val::Red(b) => b,
                Val::Green(w) => state.constant(w, graph.slots[*s as usize].ty),
                // Nothing ever reads it.
                Val::Unset => state.constant(0, graph.slots[*s as usize].ty),
            },
        }
    }

    /// What stands for a box in residual code; a virtual object is made.
    fn operand(&mut self, world: &mut dyn World, state: &mut JitState, b: BoxId) -> LLOperand {
        if let Content::Virtual(_) = state.get(b).content {
            self.force(world, state, b);
        }
        let RedBox { ty, var, .. } = state.get(b);
        match var {
            Some(GenVar::Var(v)) => LLOperand::Var(*v),
            Some(GenVar::Const(w)) => LLOperand::Const(world.constant(w.word(), *ty)),
            None => LLOperand::Const(world.constant(0, *ty)),
        }
    }

    /// The same at another pointer type.
    fn typed_operand(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        b: BoxId,
        ty: LLType,
    ) -> LLOperand {
        let operand = self.operand(world, state, b);
        match operand {
            LLOperand::Var(v) if self.residual.ty(v) != ty && ty.pointee().is_some() => {
                let opaque = |t: LLType| {
                    (t.pointee()).is_some_and(|t| matches!(t.kind(), TypeKind::Opaque { .. }))
                };
                let cast = match opaque(ty) || opaque(self.residual.ty(v)) {
                    true => View::CastOpaquePtr { value: &operand },
                    false => View::CastPointer { value: &operand },
                };
                LLOperand::Var(self.residual.op(state.at, cast, ty))
            }
            LLOperand::Const(_) if ty.pointee().is_some() => match state.known(b) {
                Some(w) => LLOperand::Const(world.constant(w, ty)),
                None => operand,
            },
            other => other,
        }
    }

    fn variable_of(&self, state: &JitState, b: BoxId) -> Option<VarId> {
        match state.get(b).var {
            Some(GenVar::Var(v)) => Some(v),
            _ => None,
        }
    }
}

/// Whether a function is one of the program and not a helper. The portal of a driver is one of the program.
fn is_own(func: &FuncSym) -> bool {
    let func = portal_of(func).unwrap_or(func);
    matches!(func.kind(), FuncKind::User { .. })
}

/// The return value of a function, given its slot.
fn returned(state: &JitState, graph: &TsGraph, slot: Slot) -> Val {
    match graph.slots[slot as usize].ty.is_void() {
        true => Val::Unset,
        false => state.frame().values.get(slot),
    }
}
