//! Merge points of drivers: where code for one begins, joins other code, or is left to the portal (RPython:
//! `opimpl_jit_merge_point`).

use taipan_graph::VarId;
use taipan_lltype::{BOOL, FuncSym, LLConst, LLOperand, LLType, View};

use super::flat::MergePlace;
use super::position::where_frames_are;
use super::stubs::Promoted;
use super::{Failure, Specializer};
use crate::code::{TsGraph, TsKind, TsOp};
use crate::drivers::DriverInfo;
use crate::residual::PortalCall;
use crate::state::{Frame, JitState, Val, Word};
use crate::world::World;

/// Maximum number of times that code for a merge point is compiled again, because the interpreter came back to it at
/// once.
const MOST_STARTS: u32 = 4;

/// Maximum inlining depth of a recursive function of the interpreted program. RPython allows seven levels, but a trace
/// has one path: code for both sides of each branch doubles with each level.
const MOST_INSIDE: usize = 2;

/// Maximum number of functions with merge points inside each other, and of blocks at which another one is followed.
/// Others enter their own compiled code.
const MOST_PORTALS: usize = 12;
const MOST_FOLLOWED: usize = 1_500;

/// Number of blocks of a function above which code continues in another function where a loop closes: in an existing one
/// for the greens, and in a new one. Otherwise code behind a loop is a part of every function that gets there.
const LARGE: usize = 2_000;
const VERY_LARGE: usize = 4_000;

impl Specializer<'_> {
    /// The head of the interpreter's loop: greens are known from here on.
    pub(super) fn driver_merge_point(
        &mut self,
        world: &mut dyn World,
        mut state: JitState,
        op: &TsOp,
        greens: usize,
    ) -> Result<Option<JitState>, Failure> {
        let graph = self.graphs[state.frame().code as usize].clone();
        let followed = state.frames.len() > 1;
        if followed && !self.follows_loop(&state) {
            self.note_loop(&state);
            return self.call_portal(world, state, op).map(Some);
        }
        let mut words = Vec::with_capacity(greens);
        for a in &op.args[..greens] {
            let b = self.red_arg(world, &mut state, &graph, a);
            match state.known(b) {
                Some(w) => words.push(w),
                None => {
                    self.operand(world, &mut state, b);
                    self.residual.notes.green = words.len();
                    return self.wait_for(world, state, b, &op.live, Promoted::Green);
                }
            }
        }
        if followed && (self.is_inside_itself(&state, &words) || self.stays(world, &state, &words))
        {
            return self.call_portal(world, state, op).map(Some);
        }
        // Each function has at least what is at its own merge point.
        let began = !followed && state.version.is_some();
        if began && (self.is_full() || self.goes_on_elsewhere(&state, &words)) {
            if self.closes_loop(world, &state, op, &words, true)? {
                return Ok(None);
            }
            return self.leave_to_portal(world, state, op, Some(words));
        }
        let again = self.starts_again(&state, &graph, &words);
        if began && self.is_cold {
            match self.leave_for_now(world, state, op, (words, again))? {
                Some((back, greens)) => (state, words) = (back, greens),
                None => return Ok(None),
            }
        }
        if again && !state.resumed {
            self.stop(world, state, &op.live)?;
            return Ok(None);
        }
        state.keep_only(&op.live);
        if !again && self.is_between(&state) && state.met == Some(state.at) {
            // No branch was taken at run time since the last merge.
            let frame = state.frame_mut();
            frame.greens = Some(words.into());
            frame.op += 1;
            state.resumed = false;
            let greens = state.frame().greens.clone();
            self.note_merge_point(state.at, &graph.func, greens.as_deref().unwrap_or_default());
            return Ok(Some(state));
        }
        state.forget_old_facts();
        self.write_unreachable(world, &mut state);
        state.compact();
        let place = match self.is_between(&state) {
            true => MergePlace::Between,
            false => MergePlace::Loop,
        };
        let frame = state.frame_mut();
        (frame.greens, frame.closes) = (Some(words.into()), false);
        if frame.began.is_none() {
            frame.began = frame.greens.clone();
        }
        state.resumed = false;
        if followed && self.driver(&state).is_some_and(|d| d.enters_at_merge_point) {
            // The next one closes the loop.
            state.frame_mut().closes = true;
        }
        let key = match followed {
            true => self.flat_key(&state),
            false => where_frames_are(&state),
        };
        if again {
            let greens = state.frame().greens.clone().unwrap_or_default();
            *self.started_again.entry(greens).or_default() += 1;
            self.flat_seen.remove(&key);
        }
        let mut went = self.meet(world, state, key, place)?;
        if let Some(state) = &mut went {
            let greens = state.frame().greens.clone();
            self.note_merge_point(state.at, &graph.func, greens.as_deref().unwrap_or_default());
        }
        if let Some(state) = &mut went
            && !followed
        {
            state.version = Some(state.at);
        }
        Ok(went)
    }

    /// Whether a state is at a driver's merge point where no loop closes, and the function is not full. States are
    /// merged there only to limit code size.
    fn is_between(&self, state: &JitState) -> bool {
        let frame = state.frame();
        let enters = (self.driver(state)).is_some_and(|d| d.enters_at_merge_point);
        frame.greens.is_some() && !frame.closes && !enters && !self.is_full()
    }

    /// Whether a state is back at the merge point without a loop of the program: the
    /// interpreter has changed the program, and looks at the same instruction again. Code
    /// that was compiled before does not know the new one. (A tracing compiler does nothing
    /// at merge points where no loop closes.)
    fn starts_again(&self, state: &JitState, graph: &TsGraph, greens: &[Word]) -> bool {
        let closes = |op: &TsOp| op.kind == TsKind::LoopCloses;
        let frame = state.frame();
        frame.greens.as_deref() == Some(greens)
            && !frame.closes
            && (self.started_again.get(greens)).is_none_or(|n| *n < MOST_STARTS)
            && graph.blocks.iter().any(|b| b.ops.iter().any(closes))
    }

    /// Whether what comes at a merge point is left to another residual function, since this
    /// one is large already. Where large loops are cut into functions, these begin at the
    /// same places each time around.
    fn goes_on_elsewhere(&self, state: &JitState, greens: &[Word]) -> bool {
        let half = self.most_blocks / 2;
        let (in_existing, in_any) = match state.frame().closes {
            true => (LARGE.min(half), VERY_LARGE),
            false => (half, usize::MAX),
        };
        let blocks = self.residual.block_count();
        blocks > in_any || blocks > in_existing && self.shared.started.borrow().contains(greens)
    }

    /// Jumps to an existing version of a merge point that is at least as general as the state. Compiles nothing else.
    /// Virtual objects are forced for that only if `may_force`. Returns whether it jumped.
    pub(super) fn closes_loop(
        &mut self,
        world: &mut dyn World,
        state: &JitState,
        op: &TsOp,
        greens: &[Word],
        may_force: bool,
    ) -> Result<bool, Failure> {
        let mut state = state.clone();
        state.keep_only(&op.live);
        let frame = state.frame_mut();
        (frame.greens, frame.closes) = (Some(greens.into()), false);
        state.resumed = false;
        let key = where_frames_are(&state);
        let Some(entries) = self.flat_seen.remove(&key) else {
            return Ok(false);
        };
        self.write_unreachable(world, &mut state);
        state.compact();
        let mut found = false;
        for entry in entries.iter().rev() {
            if entry.0.assumed.is_some_and(|a| !world.holds(a)) {
                // The check before the jump would fail, and compilation would arrive here again.
                continue;
            }
            if let Ok(m) = self.compare(world, &entry.0, &mut state, false)
                && m.exact
                && (may_force || (!m.forces && !m.writes))
            {
                self.jump(world, &mut state, entry, &m)?;
                found = true;
                break;
            }
        }
        self.flat_seen.insert(key, entries);
        Ok(found)
    }

    /// The driver of the function that a state is in.
    pub(super) fn driver(&self, state: &JitState) -> Option<&DriverInfo> {
        self.drivers[state.frame().code as usize].as_ref()
    }

    /// Whether code goes on after a merge point in a function that is called: until a loop
    /// of the interpreted program closes there (RPython: `opimpl_jit_merge_point`).
    fn follows_loop(&self, state: &JitState) -> bool {
        let frame = state.frame();
        // In a large function the whole call stays a call. Otherwise the callee would be cut at its loop.
        let much = self.residual.block_count() > MOST_FOLLOWED && frame.greens.is_none();
        if frame.closes || much {
            return false;
        }
        let driver = self.driver(state);
        driver.is_some_and(|d| {
            let unrolls = d.hooks.should_unroll_one_iteration.is_some();
            unrolls || !d.enters_at_merge_point
        })
    }

    /// Notes that a loop closes in a call that was compiled into its caller. Later calls stay calls: they enter the
    /// code of the whole function, and callers need no copies of the first round.
    fn note_loop(&self, state: &JitState) {
        let frame = state.frame();
        if let (true, Some(began)) = (frame.closes, &frame.began) {
            self.shared.with_loops.borrow_mut().insert(began.clone());
        }
    }

    /// Whether inlining a call of the portal with these greens exceeds a limit of recursion or depth.
    fn is_inside_itself(&self, state: &JitState, greens: &[Word]) -> bool {
        let mut depth = 0;
        let mut same = 0;
        let (own, callers) = match state.frames.split_last() {
            Some(split) => split,
            None => return false,
        };
        if own.greens.is_some() {
            // Not the first merge point in this call.
            return false;
        }
        let number = |f: &Frame| self.drivers[f.code as usize].as_ref().map(|d| d.number);
        let this = number(own);
        for f in callers {
            let other = number(f);
            if other == this && f.began.as_deref() == Some(greens) {
                same += 1;
            }
            depth += usize::from(other.is_some());
        }
        same >= MOST_INSIDE || depth >= MOST_PORTALS
    }

    /// Whether the driver says of the first merge point in a call that it stays one.
    fn stays(&mut self, world: &mut dyn World, state: &JitState, greens: &[Word]) -> bool {
        let Some(driver) = self
            .driver(state)
            .filter(|_| state.frame().greens.is_none())
        else {
            return false;
        };
        let args: Vec<_> = greens
            .iter()
            .copied()
            .zip(driver.greens.iter().copied())
            .collect();
        let mut ask = |hook: &Option<FuncSym>, otherwise: bool| {
            let Some(hook) = hook else {
                return otherwise;
            };
            let f = world.word(&LLConst::Func(hook.clone()));
            match world.call(f, &args, *BOOL) {
                Ok(Ok(w)) => w != 0,
                _ => otherwise,
            }
        };
        let loops =
            driver.enters_at_merge_point || self.shared.with_loops.borrow().contains(greens);
        ask(&driver.hooks.can_never_inline, false)
            || (loops && !ask(&driver.hooks.should_unroll_one_iteration, false))
    }

    /// Leaves the rest of a function that is called to its portal, which enters its own
    /// compiled code: the function returns what that returns.
    fn call_portal(
        &mut self,
        world: &mut dyn World,
        mut state: JitState,
        op: &TsOp,
    ) -> Result<JitState, Failure> {
        let driver = self
            .driver(&state)
            .ok_or("a merge point without a driver")?;
        let (portal, runner) = (driver.portal.clone(), driver.runner.clone());
        let (number, greens) = (driver.number, driver.greens.len());
        let asks = driver.hooks.confirm_enter_jit.is_some();
        let greens = op.args[..greens].iter();
        let greens: Option<Vec<Word>> =
            (greens.map(|a| self.known_arg(world, &state, a))).collect();
        let begins = state.frame().greens.is_none();
        self.because(|_| "passed to a call of the interpreter".to_owned());
        let (value, ty) = self.portal_call(world, &mut state, op, (&runner, &portal));
        if let Some(greens) = greens.filter(|_| !asks) {
            let call = PortalCall {
                driver: number,
                greens,
                begins,
            };
            self.residual.calls_portal(value, call);
        }
        state.returned = match ty.is_void() {
            true => Val::Unset,
            false => Val::Red(state.variable(value, ty)),
        };
        state.exc_unknown |= self.program.can_raise(&portal);
        state.keep_only(&[]);
        (self.return_to_caller(vec![state]).pop()).ok_or("a state is gone".into())
    }

    /// A call of a portal with the values of its merge point, by way of a function that may
    /// be itself.
    fn portal_call(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        op: &TsOp,
        (callee, portal): (&FuncSym, &FuncSym),
    ) -> (VarId, LLType) {
        let graph = self.graphs[state.frame().code as usize].clone();
        let mut operands = Vec::with_capacity(op.args.len());
        for (a, ty) in op.args.iter().zip(&portal.ty().args) {
            let b = self.red_arg(world, state, &graph, a);
            operands.push(self.typed_operand(world, state, b, *ty));
        }
        self.pointers_escape(state, &op.args);
        let lists = self.passed_lists(state, &graph, &op.args);
        self.calls_out(world, state, Some(std::slice::from_ref(portal)), &lists);
        let result = portal.ty().result;
        let call = View::DirectCall {
            callee: &LLOperand::Const(LLConst::Func(callee.clone())),
            args: &operands,
        };
        (self.residual.op(state.at, call, result), result)
    }

    /// Leaves the rest to the interpreter, or to the residual function for the greens, if
    /// they are known: residual code returns what the portal returns. At a merge point in a
    /// function that is called the rest of that one is left; what comes after it goes on.
    pub(super) fn leave_to_portal(
        &mut self,
        world: &mut dyn World,
        mut state: JitState,
        op: &TsOp,
        greens: Option<Vec<Word>>,
    ) -> Result<Option<JitState>, Failure> {
        if state.frames.len() > 1 {
            return self.call_portal(world, state, op).map(Some);
        }
        let portal = self.graphs[0].func.clone();
        self.because(|_| "left to the interpreter".to_owned());
        self.anything_happens(world, &mut state);
        let (v, result) = self.portal_call(world, &mut state, op, (&portal, &portal));
        let value = match result.is_void() {
            true => crate::residual::void_operand(),
            false => LLOperand::Var(v),
        };
        match greens {
            Some(greens) => self.residual.leaves_for(state.at, greens),
            // Unknown greens have no compiled code. A call of the interpreter would nest once per round
            // and overflow the stack.
            None if self.driver(&state).is_some_and(DriverInfo::can_leave) => {
                self.residual.leaves_to_interpreter(state.at);
            }
            None => {}
        }
        self.residual.return_(state.at, value);
        Ok(None)
    }
}
