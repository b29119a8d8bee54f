//! Calls: of functions that are compiled into their caller, while compiling, and of those
//! that stay calls.

use taipan_lltype::{FuncKind, FuncSym, LLConst, LLOperand, LLType, PlainOp, View, VoidConst};

use super::stubs::{Promoted, Stub};
use super::{Activation, Failure, Specializer};
use crate::binding::Frozen;
use crate::code::{Arg, TsGraph, TsKind, TsOp};
use crate::pure::PureFact;
use crate::residual::void_operand;
use crate::state::{Content, GenVar, JitState, Owner, RedBox, Val, Word};
use crate::timeshift::ENSURE_INDEX;
use crate::world::{Called, World};

/// What a call calls, what it passes, and the functions that may be meant by an indirect one, where
/// they are known.
pub(super) fn callee_and_args(op: &TsOp) -> (&Arg, &[Arg], Option<&LLConst>) {
    match &op.args[..] {
        [
            callee,
            args @ ..,
            Arg::Const(targets @ LLConst::Void(VoidConst::Targets(_))),
        ] => (callee, args, Some(targets)),
        [callee, args @ ..] => (callee, args, None),
        [] => unreachable!("a call without a function"),
    }
}

/// What a call passes.
fn passed(op: &TsOp) -> &[Arg] {
    callee_and_args(op).1
}

/// The helper of lists that gives all items one value, in a loop: the loop would be one of
/// residual code, and the array with it.
const FILL_ITEMS: &str = "rlist.fill_items";

/// Whether the specialiser has its own implementation of a helper. Calls of such a helper are not inlined.
pub fn is_done_by_compilers(f: &FuncSym) -> bool {
    match f.kind() {
        FuncKind::Helper { name, .. } => [FILL_ITEMS, ENSURE_INDEX].contains(&&**name),
        _ => false,
    }
}

/// Whether a call may be specialised by [`Specializer::helper_call`].
pub(super) fn is_helper_call(op: &TsOp) -> bool {
    match op.args.first() {
        Some(Arg::Const(LLConst::Func(f))) => {
            matches!(f.kind(), FuncKind::Helper { name, .. } if &**name == FILL_ITEMS)
        }
        _ => false,
    }
}

impl Specializer<'_> {
    /// Compiles a function into its caller.
    pub(super) fn call(
        &mut self,
        world: &mut dyn World,
        activation: &mut Activation,
        mut state: JitState,
        op: &TsOp,
    ) -> Result<Option<JitState>, Failure> {
        let TsKind::Call(_, targets) = &op.kind else {
            return Err("no call".into());
        };
        if self.helper_call(world, &mut state, op) {
            return Ok(Some(state));
        }
        let (callable, ..) = callee_and_args(op);
        let known = self.known_arg(world, &state, callable);
        let target = match (known, &targets[..]) {
            (_, [only]) if matches!(callable, Arg::Const(_)) => Some(only.1),
            (Some(w), _) => {
                let f = world.function(w);
                (targets.iter())
                    .find(|t| Some(&t.0) == f.as_ref())
                    .map(|t| t.1)
            }
            (None, _) => None,
        };
        let Some(target) = target else {
            // Nobody knows yet which function it is.
            let graph = self.graphs[state.frame().code as usize].clone();
            self.residual_call(world, &mut state, &graph, op)?;
            state.frame_mut().op += 1;
            return Ok(Some(state));
        };
        self.enter(world, &mut state, op, target.0)?;
        let states = self.run_activation(world, vec![state])?;
        let mut states = self.return_to_caller(states).into_iter();
        let first = states.next();
        let rest: Vec<JitState> = states.collect();
        activation.waiting.extend(rest.into_iter().rev());
        Ok(first)
    }

    /// Does what a helper would do. False if that is left to the helper.
    pub(super) fn helper_call(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        op: &TsOp,
    ) -> bool {
        let graph = self.graphs[state.frame().code as usize].clone();
        let known = is_helper_call(op) && self.fill_items(world, state, &graph, passed(op));
        if known {
            let frame = state.frame_mut();
            frame.values.set(op.result, Val::Green(0));
            frame.op += 1;
        }
        known
    }

    /// Goes on in a function that is called.
    pub(super) fn enter(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        op: &TsOp,
        code: u32,
    ) -> Result<(), Failure> {
        let graph = self.graphs[state.frame().code as usize].clone();
        let callee = self.graphs[code as usize].clone();
        let mut frame = self.new_frame(code);
        frame.receiver = self.receiver(world, state, op);
        let inputs = callee.blocks[callee.start as usize].inputs.iter();
        for (arg, input) in passed(op).iter().zip(inputs) {
            let info = &callee.slots[*input as usize];
            let val = if info.ty.is_void() {
                Val::Green(0)
            } else if info.green {
                let known = self.known_arg(world, state, arg);
                Val::Green(known.ok_or("a green argument is not known")?)
            } else {
                Val::Red(self.red_arg(world, state, &graph, arg))
            };
            frame.values.set(*input, val);
        }
        state.keep_only(&op.live);
        let caller = state.frame_mut();
        caller.waiting = op.result;
        caller.op += 1;
        state.frames.push(frame);
        Ok(())
    }

    /// The first argument of a call, if it is known.
    pub(super) fn receiver(
        &mut self,
        world: &mut dyn World,
        state: &JitState,
        op: &TsOp,
    ) -> Option<Word> {
        let first = passed(op).first()?;
        self.known_arg(world, state, first)
    }

    /// A call of a function that gives the same whenever it gets the same arguments, in a
    /// compiler of drivers: it is made while compiling if they are known.
    ///
    /// Where it raises it stays a call, as it does where it gives a null pointer: there are
    /// functions that look for what the program only makes when they find nothing. A tracing
    /// compiler hardly meets these before the program has made it. So null is the first of the
    /// values that a switch on the result knows, and what is found later gets a case of its own.
    /// From then on it stands where the call was: what was found once is found always.
    ///
    /// Where arguments are not known, a call is merged with an equal one before.
    pub(super) fn elidable_call(
        &mut self,
        world: &mut dyn World,
        mut state: JitState,
        op: &TsOp,
    ) -> Result<Option<JitState>, Failure> {
        let graph = self.graphs[state.frame().code as usize].clone();
        let info = &graph.slots[op.result as usize];
        let mut args = op.args.iter();
        let known = args.all(|a| self.known_arg(world, &state, a).is_some());
        let mut found_nothing = false;
        let pure = self.pure_args(world, &mut state, &graph, op);
        if !known && let Some(b) = state.pure_call(info.ty, &pure) {
            self.set(&mut state, &graph, op, Val::Red(b));
            state.frame_mut().op += 1;
            return Ok(Some(state));
        }
        if known {
            let called = self.call_now(world, &state, &graph, op)?;
            let helper = match callee_and_args(op).0 {
                Arg::Const(LLConst::Func(f)) => matches!(f.kind(), FuncKind::Helper { .. }),
                _ => false,
            };
            found_nothing = called == Ok(0) && info.ty.pointee().is_some() && !helper;
            if let (Ok(word), false) = (called, found_nothing) {
                self.set(&mut state, &graph, op, Val::Green(word));
                state.frame_mut().op += 1;
                return Ok(Some(state));
            }
        }
        self.residual_call(world, &mut state, &graph, op)?;
        if let (false, Val::Red(result)) = (known, state.frame().values.get(op.result)) {
            state.remember_pure(PureFact {
                op: PlainOp::DirectCall.into(),
                ty: info.ty,
                args: pure,
                result,
            });
        }
        state.frame_mut().op += 1;
        if found_nothing && let Val::Red(result) = state.frame().values.get(op.result) {
            let mut live = op.live.clone();
            if let Err(at) = live.binary_search(&op.result) {
                live.insert(at, op.result);
            }
            let call = self.variable_of(&state, result).map(|v| (state.at, v));
            let next = self.wait_for(world, state, result, &live, Promoted::Result)?;
            if let (Some((block, v)), Some(Stub::Promotion(point))) = (call, self.stubs.last_mut())
            {
                point.found_by = Some((block, v));
                self.residual.finds_nothing(v);
            }
            return Ok(next);
        }
        Ok(Some(state))
    }

    /// Makes a call while compiling.
    fn call_now(
        &mut self,
        world: &mut dyn World,
        state: &JitState,
        graph: &TsGraph,
        op: &TsOp,
    ) -> Result<Called, Failure> {
        let f =
            (self.known_arg(world, state, callee_and_args(op).0)).ok_or("an unknown function")?;
        let mut args = Vec::new();
        for a in passed(op) {
            let ty = self.ty_of(graph, a);
            if !ty.is_void() {
                let known = self.known_arg(world, state, a);
                args.push((known.ok_or("a green argument is not known")?, ty));
            }
        }
        Ok(world.call(f, &args, graph.slots[op.result as usize].ty)?)
    }

    /// Makes a call while compiling; what it raises becomes the state's exception.
    pub(super) fn green_call(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        graph: &TsGraph,
        op: &TsOp,
    ) -> Result<(), Failure> {
        let info = &graph.slots[op.result as usize];
        let word = match self.call_now(world, state, graph, op)? {
            Ok(w) => w,
            Err((etype, evalue)) => {
                let ty = |s: &JitState, b| s.get(b).ty;
                let (t, v) = (ty(state, state.exc_type), ty(state, state.exc_value));
                state.exc_type = state.constant(etype, t);
                state.exc_value = state.constant(evalue, v);
                0
            }
        };
        let val = match info.green || info.ty.is_void() {
            true => Val::Green(word),
            false => Val::Red(state.constant(word, info.ty)),
        };
        state.frame_mut().values.set(op.result, val);
        Ok(())
    }

    /// Generates a call.
    pub(super) fn residual_call(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        graph: &TsGraph,
        op: &TsOp,
    ) -> Result<(), Failure> {
        let (callable, passed, possible) = callee_and_args(op);
        let known = self.known_arg(world, state, callable);
        let callee = known.and_then(|w| world.function(w));
        let types = match &callee {
            Some(f) => f.ty().args.clone(),
            None => {
                let ty = self.ty_of(graph, callable);
                let f = ty
                    .pointee()
                    .and_then(LLType::as_func)
                    .ok_or("no function")?;
                f.args.clone()
            }
        };
        self.because(|_| match &callee {
            Some(f) => format!("passed to {}", f.name()),
            None => "passed to a function that is not known".to_owned(),
        });
        let function = match &callee {
            Some(f) => LLOperand::Const(LLConst::Func(f.clone())),
            None => {
                let b = self.red_arg(world, state, graph, callable);
                self.operand(world, state, b)
            }
        };
        let mut operands = Vec::with_capacity(types.len());
        for (a, ty) in passed.iter().zip(types) {
            operands.push(match a {
                Arg::Const(c @ LLConst::Void(_)) => LLOperand::Const(c.clone()),
                _ if ty.is_void() => void_operand(),
                a => {
                    let b = self.red_arg(world, state, graph, a);
                    self.typed_operand(world, state, b, ty)
                }
            });
        }
        self.pointers_escape(state, passed);
        let (targets, of_call): (Option<&[FuncSym]>, _) = match (&callee, possible) {
            (Some(f), _) => (Some(std::slice::from_ref(f)), LLConst::void()),
            (None, Some(of_call @ LLConst::Void(VoidConst::Targets(targets)))) => {
                (Some(targets), of_call.clone())
            }
            (None, _) => (None, LLConst::void()),
        };
        let lists = self.passed_lists(state, graph, passed);
        self.calls_out(world, state, targets, &lists);
        let info = &graph.slots[op.result as usize];
        let targets = &LLOperand::Const(of_call);
        let call = match &callee {
            Some(_) => View::DirectCall {
                callee: &function,
                args: &operands,
            },
            None => View::IndirectCall {
                callee: &function,
                args: &operands,
                targets,
            },
        };
        let v = self.residual.op(state.at, call, info.ty);
        let val = match info.ty.is_void() {
            true => Val::Green(0),
            false => Val::Red(state.add(RedBox {
                ty: info.ty,
                var: Some(GenVar::Var(v)),
                nonzero: false,
                content: Content::None,
                fact: None,
                frozen: Frozen::No,
                owner: Owner::Unknown,
            })),
        };
        state.frame_mut().values.set(op.result, val);
        state.exc_unknown |= match (&callee, self.of_driver) {
            (Some(f), true) => self.program.can_raise(f),
            _ => true,
        };
        Ok(())
    }

    pub(super) fn ty_of(&self, graph: &TsGraph, a: &Arg) -> LLType {
        match a {
            Arg::Slot(s) => graph.slots[*s as usize].ty,
            Arg::Const(c) => c.ty(),
        }
    }
}
