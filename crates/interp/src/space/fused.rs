//! Instructions that the interpreter executes without the engine: the most frequent ones, and pairs and triples of
//! them (superinstructions).
//!
//! ```text
//! LoadFast i; LoadConst j; Binary op; StoreFast k     ->   Binary(op, Local i, Const j, Local k)
//! LoadFast i; LoadConst j; Binary op; JumpIfFalse t   ->   Branch(op, Local i, Const j, false, t)
//! ```
//!
//! Each instruction has an [`Op`], which may include the following instructions. Those keep an `Op` as well, for jumps
//! into the middle. An `Op` never raises and runs no code of the program: in such a case it changes nothing, and the
//! engine executes the instruction.

use std::sync::Arc;

use taipan_code::{Code, Instr, Pc};
use taipan_engine::{Frame, ObjectSpace};
use taipan_graph::HlOp;

use super::heap::{Kind, Ref};
use super::iter::Iter;
use super::ops::Running;
use super::quick::{integer, test};
use super::sizes::MOST_ITEMS;
use super::types::ty;
use super::value::Value;
use super::words;
use super::{Body, Interp};

/// An operand: a local, a constant, or the top of the stack, which is popped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Src {
    Pop,
    Local(u16),
    Const(u16),
}

/// Destination of a result: the stack or a local.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dst {
    Push,
    Local(u16),
}

/// The operation of an instruction.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub(crate) enum Op {
    /// The engine executes it.
    Engine,
    /// `LoadFast i`
    Local(u32),
    /// `LoadFast i; LoadFast j`
    Locals(u16, u16),
    /// `LoadConst i`
    Const(u32),
    /// `StoreFast i`
    Store(u32),
    /// `LoadFast i; StoreFast j` or `LoadConst i; StoreFast j`
    Move(Src, u16),
    /// `Pop`
    Pop,
    /// `Dup`
    Dup,
    /// `Rot2`
    Rot2,
    /// `Rot3`
    Rot3,
    /// `Not`
    Not,
    /// `Jump`
    Jump(Pc),
    /// A jump that is taken if the truth value on top of the stack is this one, and pops it otherwise.
    JumpOrPop(bool, Pc),
    /// A jump that pops a truth value and is taken if it is this one.
    JumpIf(bool, Pc),
    /// `LoadFast i; JumpIf`
    JumpIfLocal(u16, bool, Pc),
    /// Loads of operands; `Binary`; perhaps `StoreFast`.
    Binary(Binary),
    /// Loads of operands; `Binary; [Not;] JumpIf`.
    Branch(Branch),
    /// `LoadGlobal name`
    Global(u32),
    /// `LoadName name`
    Name(u32),
    /// `StoreName name` in a body with a dict of local names, or `StoreGlobal name`
    StoreNamed(u32, Scope),
    /// `LoadDeref i`
    Deref(u32),
    /// `LoadAttr name`
    Attr(u32),
    /// `LoadFast i; LoadAttr name`, perhaps `StoreFast`.
    AttrLocal(u16, u16, Dst),
    /// `StoreAttr name`
    StoreAttr(u32),
    /// `LoadFast i; StoreAttr name`
    StoreAttrLocal(u16, u16),
    /// `StoreSubscr`
    SetItem,
    /// `ListAppend`
    ListAppend(u32),
    /// `UnpackSequence`
    Unpack(u32),
    /// `Call`; it is executed by [`Interp::run`].
    Call(u32),
    /// `Return`; it is executed by [`Interp::run`].
    Return,
    /// `Yield`; it is executed by [`Interp::run`].
    Yield,
    /// `ForIter; StoreFast i`; a generator is executed by [`Interp::run`].
    Next(u32),
    /// `ForIter`; it is executed by [`Interp::run`].
    Iterate,
    /// `GetIter`; it is executed by [`Interp::run`].
    GetIter,
}

/// Where a name is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Local,
    Global,
}

/// A binary operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binary {
    op: HlOp,
    a: Src,
    b: Src,
    dst: Dst,
}

/// An operation and the jump that tests its result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Branch {
    op: HlOp,
    a: Src,
    b: Src,
    /// The result for which the jump is taken.
    when: bool,
    /// Number of instructions from the operation on.
    len: u8,
    target: Pc,
}

impl Binary {
    /// Number of instructions.
    fn len(self) -> Pc {
        1 + loads(self.a, self.b) + Pc::from(self.dst != Dst::Push)
    }
}

/// Number of instructions that load two operands.
fn loads(a: Src, b: Src) -> Pc {
    Pc::from(a != Src::Pop) + Pc::from(b != Src::Pop)
}

/// The operations for all instructions of a body.
pub(crate) fn fuse(code: &Code) -> Box<[Op]> {
    let instrs = &code.instrs[..];
    (0..instrs.len()).map(|at| op(&instrs[at..])).collect()
}

/// The operand that an instruction loads.
fn load(instr: Option<&Instr>) -> Option<Src> {
    match instr? {
        Instr::LoadFast(i) => u16::try_from(*i).ok().map(Src::Local),
        Instr::LoadConst(i) => u16::try_from(*i).ok().map(Src::Const),
        _ => None,
    }
}

/// The local that an instruction stores to.
fn store(instr: Option<&Instr>) -> Option<u16> {
    match instr? {
        Instr::StoreFast(i) => u16::try_from(*i).ok(),
        _ => None,
    }
}

/// The operation for the first of these instructions.
fn op(instrs: &[Instr]) -> Op {
    let loaded = (load(instrs.first()), load(instrs.get(1)));
    let binary = match loaded {
        (Some(a), Some(b)) => binary(&instrs[2..], a, b),
        (Some(b), None) => binary(&instrs[1..], Src::Pop, b),
        _ => binary(instrs, Src::Pop, Src::Pop),
    };
    if let Some(op) = binary {
        return op;
    }
    if let (Some(src), Some(dst)) = (loaded.0, store(instrs.get(1))) {
        return Op::Move(src, dst);
    }
    let small = |i: u32| u16::try_from(i);
    match *instrs {
        [Instr::LoadFast(i), Instr::LoadAttr(name), ..] => match (small(i), small(name)) {
            (Ok(i), Ok(name)) => {
                Op::AttrLocal(i, name, store(instrs.get(2)).map_or(Dst::Push, Dst::Local))
            }
            _ => Op::Local(i),
        },
        [Instr::LoadFast(i), Instr::StoreAttr(name), ..] => match (small(i), small(name)) {
            (Ok(i), Ok(name)) => Op::StoreAttrLocal(i, name),
            _ => Op::Local(i),
        },
        [Instr::LoadFast(i), Instr::JumpIfFalse(target), ..] => {
            small(i).map_or(Op::Local(i), |i| Op::JumpIfLocal(i, false, target))
        }
        [Instr::LoadFast(i), Instr::JumpIfTrue(target), ..] => {
            small(i).map_or(Op::Local(i), |i| Op::JumpIfLocal(i, true, target))
        }
        // The second load may begin a longer operation.
        [Instr::LoadFast(i), Instr::LoadFast(j), ref rest @ ..] => match (small(i), small(j)) {
            (Ok(i), Ok(j))
                if matches!(op(&instrs[1..]), Op::Local(_) | Op::Locals(..)) || rest.is_empty() =>
            {
                Op::Locals(i, j)
            }
            _ => Op::Local(i),
        },
        [Instr::LoadFast(i), ..] => Op::Local(i),
        [Instr::LoadConst(i), ..] => Op::Const(i),
        [Instr::StoreFast(i), ..] => Op::Store(i),
        [Instr::LoadGlobal(name), ..] => Op::Global(name),
        [Instr::LoadName(name), ..] => Op::Name(name),
        [Instr::StoreName(name), ..] => Op::StoreNamed(name, Scope::Local),
        [Instr::StoreGlobal(name), ..] => Op::StoreNamed(name, Scope::Global),
        [Instr::ListAppend(n), ..] => Op::ListAppend(n),
        [Instr::UnpackSequence(n), ..] => Op::Unpack(n),
        [Instr::LoadDeref(i), ..] => Op::Deref(i),
        [Instr::LoadAttr(name), ..] => Op::Attr(name),
        [Instr::StoreAttr(name), ..] => Op::StoreAttr(name),
        [Instr::StoreSubscr, ..] => Op::SetItem,
        [Instr::Call(i), ..] => Op::Call(i),
        [Instr::Return, ..] => Op::Return,
        [Instr::Yield, ..] => Op::Yield,
        [Instr::Dup, ..] => Op::Dup,
        [Instr::Rot2, ..] => Op::Rot2,
        [Instr::Rot3, ..] => Op::Rot3,
        [Instr::Not, ..] => Op::Not,
        [Instr::JumpIfFalseOrPop(target), ..] => Op::JumpOrPop(false, target),
        [Instr::JumpIfTrueOrPop(target), ..] => Op::JumpOrPop(true, target),
        [Instr::Pop, ..] => Op::Pop,
        [Instr::Jump(target), ..] => Op::Jump(target),
        [Instr::JumpIfFalse(target), ..] => Op::JumpIf(false, target),
        [Instr::JumpIfTrue(target), ..] => Op::JumpIf(true, target),
        [Instr::ForIter(_), Instr::StoreFast(i), ..] => Op::Next(i),
        [Instr::ForIter(_), ..] => Op::Iterate,
        [Instr::GetIter, ..] => Op::GetIter,
        _ => Op::Engine,
    }
}

/// A binary operation on two operands, with the instruction that uses its result.
fn binary(instrs: &[Instr], a: Src, b: Src) -> Option<Op> {
    let [Instr::Binary(op), rest @ ..] = instrs else {
        return None;
    };
    let op = *op;
    let (negated, tested) = match rest {
        [Instr::Not, rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let jump = match tested {
        [Instr::JumpIfFalse(target), ..] => Some((false, *target)),
        [Instr::JumpIfTrue(target), ..] => Some((true, *target)),
        _ => None,
    };
    Some(match jump {
        Some((when, target)) => Op::Branch(Branch {
            op,
            a,
            b,
            when: when != negated,
            len: if negated { 3 } else { 2 },
            target,
        }),
        None => Op::Binary(Binary {
            op,
            a,
            b,
            dst: store(rest.first()).map_or(Dst::Push, Dst::Local),
        }),
    })
}

/// The values of two operands. None if a local is unset.
#[inline(always)]
fn operands<'f>(
    a: Src,
    b: Src,
    frame: &'f Frame<Value>,
    body: &'f Body,
) -> Option<(&'f Value, &'f Value)> {
    let mut top = frame.stack.len();
    let mut value = |src| match src {
        Src::Local(i) => frame.locals[usize::from(i)].as_ref(),
        Src::Const(i) => body.consts.get(usize::from(i)),
        Src::Pop => {
            top = top.wrapping_sub(1);
            frame.stack.get(top)
        }
    };
    let b = value(b)?;
    Some((value(a)?, b))
}

/// Stores a result and pops the operands that were on the stack.
#[inline(always)]
fn finish(a: Src, b: Src, dst: Dst, result: Value, frame: &mut Frame<Value>) {
    match dst {
        Dst::Push => {
            if b == Src::Pop {
                words::discard(&mut frame.stack);
            }
            match frame.stack.last_mut() {
                Some(place) if a == Src::Pop => words::put(place, result),
                _ => frame.stack.push(result),
            }
        }
        Dst::Local(i) => {
            pop_operands(a, b, frame);
            match &mut frame.locals[usize::from(i)] {
                Some(place) => words::put(place, result),
                place => *place = Some(result),
            }
        }
    }
}

/// Stores a number as [`finish`] does, in words.
#[inline(always)]
fn finish_int(a: Src, b: Src, dst: Dst, n: i64, frame: &mut Frame<Value>) {
    match dst {
        Dst::Push => {
            if b == Src::Pop {
                words::discard(&mut frame.stack);
            }
            match frame.stack.last_mut() {
                Some(place) if a == Src::Pop => words::put_int(place, n),
                _ => words::push_int(&mut frame.stack, n),
            }
        }
        Dst::Local(i) => {
            pop_operands(a, b, frame);
            match &mut frame.locals[usize::from(i)] {
                Some(place) => words::put_int(place, n),
                place => *place = Some(Value::Int(n)),
            }
        }
    }
}

/// Pops the operands that are on the stack.
#[inline(always)]
fn pop_operands(a: Src, b: Src, frame: &mut Frame<Value>) {
    if b == Src::Pop {
        words::discard(&mut frame.stack);
    }
    if a == Src::Pop {
        words::discard(&mut frame.stack);
    }
}

impl Interp<'_> {
    /// Executes an operation at `frame.pc`. Returns the number of instructions that it stands for; 0 if the engine
    /// has to execute the instruction, and nothing is changed then.
    #[inline(always)]
    #[expect(
        clippy::too_many_lines,
        reason = "a table: an arm per operation, with few lines each"
    )]
    pub(crate) fn fused(
        &mut self,
        op: &Op,
        body: &Body,
        frame: &mut Frame<Value>,
        pc: &mut Pc,
    ) -> u64 {
        let done = match *op {
            Op::Engine | Op::Call(_) | Op::Return | Op::Yield | Op::Iterate | Op::GetIter => {
                return 0;
            }
            Op::Local(i) => match &frame.locals[i as usize] {
                Some(v) => {
                    words::push_copy(&mut frame.stack, v);
                    1
                }
                None => return 0,
            },
            Op::Locals(i, j) => {
                let (i, j) = (usize::from(i), usize::from(j));
                let (Some(a), Some(b)) = (&frame.locals[i], &frame.locals[j]) else {
                    return first(Src::Local(i as u16), frame, body, pc);
                };
                words::push_copy(&mut frame.stack, a);
                words::push_copy(&mut frame.stack, b);
                2
            }
            Op::Const(i) => {
                words::push_copy(&mut frame.stack, &body.consts[i as usize]);
                1
            }
            Op::Store(i) => {
                Running::pop_into(&mut frame.stack, &mut frame.locals[i as usize]);
                1
            }
            Op::Move(src, i) => {
                let v = match src {
                    Src::Local(j) => match &frame.locals[usize::from(j)] {
                        Some(v) => words::copy(v),
                        None => return 0,
                    },
                    Src::Const(j) => words::copy(&body.consts[usize::from(j)]),
                    Src::Pop => return 0,
                };
                finish(Src::Local(0), Src::Local(0), Dst::Local(i), v, frame);
                2
            }
            Op::Pop => {
                words::discard(&mut frame.stack);
                1
            }
            Op::Dup => {
                let at = frame.stack.len() - 1;
                frame.stack.extend_from_within(at..);
                1
            }
            Op::Rot2 => {
                let at = frame.stack.len() - 1;
                frame.stack.swap(at - 1, at);
                1
            }
            Op::Rot3 => {
                let at = frame.stack.len() - 1;
                frame.stack.swap(at - 1, at);
                frame.stack.swap(at - 2, at - 1);
                1
            }
            Op::Not => {
                let Some(truth) = frame.stack.last().and_then(|v| self.quick_truth(v)) else {
                    return 0;
                };
                if let Some(top) = frame.stack.last_mut() {
                    words::put(top, Value::Bool(!truth));
                }
                1
            }
            Op::Jump(target) => {
                *pc = target;
                return 1;
            }
            Op::JumpOrPop(when, target) => {
                let Some(truth) = frame.stack.last().and_then(|v| self.quick_truth(v)) else {
                    return 0;
                };
                if truth == when {
                    *pc = target;
                    return 1;
                }
                words::discard(&mut frame.stack);
                1
            }
            Op::JumpIf(when, target) => {
                let Some(truth) = frame.stack.last().and_then(|v| self.quick_truth(v)) else {
                    return 0;
                };
                words::discard(&mut frame.stack);
                *pc = if truth == when { target } else { *pc + 1 };
                return 1;
            }
            Op::JumpIfLocal(i, when, target) => {
                let local = frame.locals[usize::from(i)].as_ref();
                let Some(truth) = local.and_then(|v| self.quick_truth(v)) else {
                    return first(Src::Local(i), frame, body, pc);
                };
                *pc = if truth == when { target } else { *pc + 2 };
                return 2;
            }
            Op::Binary(binary) => {
                let Binary { op, a, b, dst } = binary;
                let Some((x, y)) = operands(a, b, frame, body) else {
                    return first(if a == Src::Pop { b } else { a }, frame, body, pc);
                };
                if let (Value::Int(x), Value::Int(y)) = (x, y) {
                    let (x, y) = (*x, *y);
                    match integer(op, x, y) {
                        Some(n) => finish_int(a, b, dst, n, frame),
                        None => match test(op, x, y) {
                            Some(truth) => finish(a, b, dst, Value::Bool(truth), frame),
                            None => {
                                return first(if a == Src::Pop { b } else { a }, frame, body, pc);
                            }
                        },
                    }
                    *pc += binary.len();
                    return u64::from(binary.len());
                }
                let Some(result) = self.computed(op, x, y) else {
                    return first(if a == Src::Pop { b } else { a }, frame, body, pc);
                };
                finish(a, b, dst, result, frame);
                binary.len()
            }
            Op::Branch(branch) => {
                let Branch { op, a, b, .. } = branch;
                let truth = match operands(a, b, frame, body) {
                    Some((x, y)) => self.comparison(op, x, y),
                    None => None,
                };
                let Some(truth) = truth else {
                    return first(if a == Src::Pop { b } else { a }, frame, body, pc);
                };
                pop_operands(a, b, frame);
                let len = loads(a, b) + Pc::from(branch.len);
                *pc = match truth == branch.when {
                    true => branch.target,
                    false => *pc + len,
                };
                return u64::from(len);
            }
            Op::Global(name) => {
                let Value::Ref(globals) = frame.globals else {
                    return 0;
                };
                match self.known_global(globals, body, name) {
                    Some(v) => words::push_copy(&mut frame.stack, v),
                    None => return 0,
                }
                1
            }
            Op::Name(name) => {
                let Some(Value::Ref(names)) = frame.names else {
                    return 0;
                };
                let Value::Ref(globals) = frame.globals else {
                    return 0;
                };
                let (key, hint) = body.name(name);
                let found = match self.heap.names_opt(names, key) {
                    Some(names) => names.get_hinted(key, hint),
                    None => return 0,
                };
                let found = match found {
                    None => self.known_global(globals, body, name),
                    found => found,
                };
                match found {
                    Some(v) => words::push_copy(&mut frame.stack, v),
                    None => return 0,
                }
                1
            }
            Op::StoreNamed(name, scope) => {
                let names = match (scope, &frame.names, &frame.globals) {
                    (Scope::Local, Some(Value::Ref(names)), _) => *names,
                    (Scope::Global, _, Value::Ref(globals)) => *globals,
                    _ => return 0,
                };
                let (key, hint) = body.name(name);
                let slot = match self.heap.names_opt(names, key) {
                    Some(names) => names.hinted_slot(key, hint),
                    None => return 0,
                };
                let (Some(slot), Some(v)) = (slot, frame.stack.last()) else {
                    return 0;
                };
                words::put_copy(self.heap.names_mut(names, key).at_mut(slot), v);
                words::discard(&mut frame.stack);
                1
            }
            Op::Deref(i) => {
                let Value::Ref(cell) = frame.cells[i as usize] else {
                    return 0;
                };
                match self.heap.kind(cell) {
                    Kind::Cell(Some(v)) => {
                        words::push_copy(&mut frame.stack, v);
                        1
                    }
                    _ => return 0,
                }
            }
            Op::Attr(name) => {
                let Some(top) = frame.stack.last_mut() else {
                    return 0;
                };
                let (name, hint) = body.name(name);
                if !self.simple_attr(top, name, hint) {
                    return 0;
                }
                1
            }
            Op::AttrLocal(i, name, dst) => {
                let Some(Value::Ref(r)) = frame.locals[usize::from(i)] else {
                    return first(Src::Local(i), frame, body, pc);
                };
                let (name, hint) = body.name(name.into());
                words::push_ref(&mut frame.stack, r);
                let Some(top) = frame.stack.last_mut() else {
                    return 0;
                };
                if !self.simple_attr(top, name, hint) {
                    *pc += 1;
                    return 1;
                }
                match dst {
                    Dst::Push => 2,
                    Dst::Local(j) => {
                        Running::pop_into(&mut frame.stack, &mut frame.locals[usize::from(j)]);
                        3
                    }
                }
            }
            Op::StoreAttr(name) => {
                let [.., v, obj] = &frame.stack[..] else {
                    return 0;
                };
                if !self.simple_setattr(obj, &body.names[name as usize], v) {
                    return 0;
                }
                words::discard(&mut frame.stack);
                words::discard(&mut frame.stack);
                1
            }
            Op::StoreAttrLocal(i, name) => {
                let (Some(v), Some(obj)) = (frame.stack.last(), &frame.locals[usize::from(i)])
                else {
                    return 0;
                };
                if !self.simple_setattr(obj, &body.names[usize::from(name)], v) {
                    return first(Src::Local(i), frame, body, pc);
                }
                words::discard(&mut frame.stack);
                2
            }
            Op::SetItem => {
                let [.., v, obj, key] = &frame.stack[..] else {
                    return 0;
                };
                if !self.quick_setitem(obj, key, v) {
                    return 0;
                }
                for _ in 0..3 {
                    words::discard(&mut frame.stack);
                }
                1
            }
            Op::ListAppend(n) => {
                let at = frame.stack.len() - 1 - n as usize;
                let Value::Ref(list) = frame.stack[at] else {
                    return 0;
                };
                let Some(v) = frame.stack.last() else {
                    return 0;
                };
                match &mut self.heap.get_mut(list).kind {
                    Kind::List(items) if items.len() < MOST_ITEMS => words::push_copy(items, v),
                    _ => return 0,
                }
                self.heap.fresh += super::meter::ENTRY;
                words::discard(&mut frame.stack);
                1
            }
            Op::Unpack(n) => {
                let Some(Value::Tuple(t)) = frame.stack.last() else {
                    return 0;
                };
                // Large values are counted by the engine.
                if t.len() != n as usize || !t.iter().all(words::is_bare) {
                    return 0;
                }
                let t = t.clone();
                words::discard(&mut frame.stack);
                for v in t.iter().rev() {
                    words::push_copy(&mut frame.stack, v);
                }
                1
            }
            Op::Next(i) => {
                let Some(Value::Ref(r)) = frame.stack.last() else {
                    return 0;
                };
                let r = *r;
                match self.next_bare(r) {
                    Upcoming::Number(n) => {
                        let local = &mut frame.locals[i as usize];
                        match local {
                            Some(Value::Int(old)) => *old = n,
                            local => *local = Some(Value::Int(n)),
                        }
                        2
                    }
                    Upcoming::Object(o) => {
                        let local = &mut frame.locals[i as usize];
                        match local {
                            Some(Value::Ref(old)) => *old = o,
                            local => *local = Some(Value::Ref(o)),
                        }
                        // One more for the item.
                        *pc += 2;
                        return 3;
                    }
                    Upcoming::End => {
                        *pc = self.leave_loop(body, frame, r, *pc);
                        return 1;
                    }
                    Upcoming::Other => return 0,
                }
            }
        };
        *pc += done;
        u64::from(done)
    }

    /// A global or a builtin name.
    #[inline(always)]
    fn known_global(&self, globals: Ref, body: &Body, name: u32) -> Option<&Value> {
        let (key, hint) = body.name(name);
        match self.heap.names(globals, key).get_hinted(key, hint) {
            None => {
                let hint = &body.builtin_hints[name as usize];
                self.heap.names(self.builtins, key).get_hinted(key, hint)
            }
            found => found,
        }
    }

    /// The truth of a value whose class has no method for it.
    #[inline(always)]
    fn quick_truth(&self, v: &Value) -> Option<bool> {
        match v {
            Value::Bool(b) => Some(*b),
            Value::Int(i) => Some(*i != 0),
            Value::None => Some(false),
            Value::Str(s) => Some(!s.is_empty()),
            Value::Ref(r) => {
                let o = self.heap.get(*r);
                match &o.kind {
                    Kind::List(items) if o.class == ty::LIST => Some(!items.is_empty()),
                    Kind::Dict(table) if o.class == ty::DICT => Some(table.len() > 0),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The truth of the result of an operation.
    #[inline(always)]
    fn comparison(&self, op: HlOp, a: &Value, b: &Value) -> Option<bool> {
        match (a, b) {
            (Value::Int(x), Value::Int(y)) => match op {
                HlOp::And => Some(x & y != 0),
                op => test(op, *x, *y),
            },
            _ => self.comparison_of_others(op, a, b),
        }
    }

    /// The same for other operands than two integers.
    #[inline(never)]
    fn comparison_of_others(&self, op: HlOp, a: &Value, b: &Value) -> Option<bool> {
        match (a, b) {
            (Value::Str(x), Value::Str(y)) => {
                let equal = || {
                    let short = x.len().min(y.len()) < super::quick::SHORT;
                    (short || x.len() != y.len()).then(|| Arc::ptr_eq(x, y) || x == y)
                };
                match op {
                    HlOp::Eq => equal(),
                    HlOp::Ne => equal().map(|equal| !equal),
                    HlOp::Is => Some(self.identical(a, b)),
                    _ => None,
                }
            }
            (Value::Tuple(_), Value::Tuple(_)) => match op {
                HlOp::Eq => a.plainly_equals(b),
                HlOp::Ne => a.plainly_equals(b).map(|equal| !equal),
                HlOp::Is => Some(self.identical(a, b)),
                _ => None,
            },
            _ => match op {
                HlOp::Is => Some(self.identical(a, b)),
                HlOp::Contains => self.quick_contains(a, b),
                _ => None,
            },
        }
    }

    /// Advances an iterator over numbers, or one over a list whose next item is a number or an object that is no list.
    #[inline(always)]
    fn next_bare(&mut self, r: Ref) -> Upcoming {
        match self.heap.kind(r) {
            Kind::Iter(state) => match **state {
                Iter::Range(..) => {}
                Iter::List(list, at) => return self.next_of_list(r, list, at),
                _ => return Upcoming::Other,
            },
            _ => return Upcoming::Other,
        }
        let Kind::Iter(state) = &mut self.heap.get_mut(r).kind else {
            return Upcoming::Other;
        };
        let Iter::Range(at, left, step) = &mut **state else {
            return Upcoming::Other;
        };
        if *left <= 0 {
            return Upcoming::End;
        }
        let n = *at;
        *left -= 1;
        *at = at.wrapping_add(*step);
        Upcoming::Number(n)
    }

    fn next_of_list(&mut self, r: Ref, list: Ref, at: usize) -> Upcoming {
        let Some(item) = self.heap.list_items(list).and_then(|l| l.get(at)) else {
            return Upcoming::Other;
        };
        let item = match *item {
            Value::Int(n) => Upcoming::Number(n),
            Value::Ref(o) if matches!(self.heap.kind(o), Kind::Plain | Kind::Function(_)) => {
                Upcoming::Object(o)
            }
            _ => return Upcoming::Other,
        };
        if let Kind::Iter(state) = &mut self.heap.get_mut(r).kind
            && let Iter::List(_, at) = &mut **state
        {
            *at += 1;
        }
        item
    }
}

/// The next item of an iterator.
enum Upcoming {
    Number(i64),
    Object(Ref),
    /// There is none.
    End,
    /// The iterator is unchanged, and has to be asked.
    Other,
}

/// Executes the load that begins an operation whose rest needs the engine. 0 if it begins with no load.
#[inline(always)]
fn first(src: Src, frame: &mut Frame<Value>, body: &Body, pc: &mut Pc) -> u64 {
    let v = match src {
        Src::Local(i) => frame.locals[usize::from(i)].as_ref(),
        Src::Const(i) => body.consts.get(usize::from(i)),
        Src::Pop => None,
    };
    let Some(v) = v else {
        return 0;
    };
    words::push_copy(&mut frame.stack, v);
    *pc += 1;
    1
}
