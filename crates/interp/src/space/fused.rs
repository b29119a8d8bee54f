//! Instructions that the interpreter executes without the engine: the most frequent ones, and pairs and triples of
//! them (superinstructions).
//!
//! ```text
//! LoadFast i; LoadConst j; Binary op; JumpIfFalse t   ->   LoadFast i; BranchConst(j, op, false, t)
//! ```
//!
//! Each instruction has an [`Op`], which may include the following instructions. Those keep an `Op` as well, for jumps
//! into the middle. An `Op` never raises and runs no code of the program: in such a case it changes nothing, and the
//! engine executes the instruction.

use std::sync::Arc;

use taipan_code::{Code, Instr, Pc};
use taipan_engine::{Frame, ObjectSpace};
use taipan_graph::HlOp;

use super::heap::Kind;
use super::iter::Iter;
use super::ops::Running;
use super::quick::in_place;
use super::types::ty;
use super::value::Value;
use super::words;
use super::{Body, Interp};

/// The operation of an instruction.
#[derive(Clone, Copy, Debug)]
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
    /// `Binary`
    Binary(HlOp),
    /// `LoadFast i; Binary`
    BinaryLocal(u32, HlOp),
    /// `LoadConst i; Binary`
    BinaryConst(u32, HlOp),
    /// `Binary; [Not;] JumpIf`
    Branch(Branch),
    /// `LoadFast i; Binary; [Not;] JumpIf`
    BranchLocal(u16, Branch),
    /// `LoadConst i; Binary; [Not;] JumpIf`
    BranchConst(u16, Branch),
    /// `LoadGlobal name`
    Global(u32),
    /// `LoadDeref i`
    Deref(u32),
    /// `LoadAttr name`
    Attr(u32),
    /// `LoadFast i; LoadAttr name`
    AttrLocal(u16, u16),
    /// `StoreAttr name`
    StoreAttr(u32),
    /// `Call`; it is executed by [`Interp::run`].
    Call(u32),
    /// `Return`; it is executed by [`Interp::run`].
    Return,
    /// `Yield`; it is executed by [`Interp::run`].
    Yield,
    /// `ForIter; StoreFast i`, with the target of the former.
    Next(u32, Pc),
}

/// An operation and the jump that tests its result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Branch {
    op: HlOp,
    /// The result for which the jump is taken.
    when: bool,
    /// Number of instructions.
    len: u8,
    target: Pc,
}

/// The operations for all instructions of a body.
pub(crate) fn fuse(code: &Code) -> Box<[Op]> {
    let instrs = &code.instrs[..];
    (0..instrs.len()).map(|at| op(&instrs[at..])).collect()
}

/// The operation for the first of these instructions.
fn op(instrs: &[Instr]) -> Op {
    let small = |i: u32| u16::try_from(i);
    let branch = instrs.get(1..).and_then(branch);
    match *instrs {
        [Instr::LoadFast(i), Instr::Binary(op), ..] => match (small(i), branch) {
            (Ok(i), Some(branch)) => Op::BranchLocal(i, branch),
            _ => Op::BinaryLocal(i, op),
        },
        [Instr::LoadConst(i), Instr::Binary(op), ..] => match (small(i), branch) {
            (Ok(i), Some(branch)) => Op::BranchConst(i, branch),
            _ => Op::BinaryConst(i, op),
        },
        [Instr::LoadFast(i), Instr::LoadAttr(name), ..] => match (small(i), small(name)) {
            (Ok(i), Ok(name)) => Op::AttrLocal(i, name),
            _ => Op::Local(i),
        },
        [Instr::LoadFast(i), Instr::LoadFast(j), Instr::Binary(_), ..] if i != j => Op::Local(i),
        [Instr::LoadFast(i), Instr::LoadFast(j), ..] => match (small(i), small(j)) {
            (Ok(i), Ok(j)) => Op::Locals(i, j),
            _ => Op::Local(i),
        },
        [Instr::LoadFast(i), ..] => Op::Local(i),
        [Instr::LoadConst(i), ..] => Op::Const(i),
        [Instr::StoreFast(i), ..] => Op::Store(i),
        [Instr::LoadGlobal(name), ..] => Op::Global(name),
        [Instr::LoadDeref(i), ..] => Op::Deref(i),
        [Instr::LoadAttr(name), ..] => Op::Attr(name),
        [Instr::StoreAttr(name), ..] => Op::StoreAttr(name),
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
        [Instr::Binary(op), ..] => self::branch(instrs).map_or(Op::Binary(op), Op::Branch),
        [Instr::ForIter(target), Instr::StoreFast(i), ..] => Op::Next(i, target),
        _ => Op::Engine,
    }
}

/// An operation whose result the next instruction tests.
fn branch(instrs: &[Instr]) -> Option<Branch> {
    let [Instr::Binary(op), rest @ ..] = instrs else {
        return None;
    };
    let (negated, rest) = match rest {
        [Instr::Not, rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let (when, target) = match rest {
        [Instr::JumpIfFalse(target), ..] => (false, *target),
        [Instr::JumpIfTrue(target), ..] => (true, *target),
        _ => return None,
    };
    Some(Branch {
        op: *op,
        when: when != negated,
        len: if negated { 3 } else { 2 },
        target,
    })
}

impl Interp<'_> {
    /// Executes an operation at `frame.pc`. Returns the number of instructions that it stands for; 0 if the engine
    /// has to execute the instruction, and nothing is changed then.
    #[inline(always)]
    #[expect(
        clippy::too_many_lines,
        reason = "a table: an arm per operation, with few lines each"
    )]
    pub(crate) fn fused(&mut self, op: &Op, body: &Body, frame: &mut Frame<Value>) -> u64 {
        let done = match *op {
            Op::Engine | Op::Call(_) | Op::Return | Op::Yield => return 0,
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
                    return self.fused_first(i, frame);
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
                frame.pc = target;
                return 1;
            }
            Op::JumpOrPop(when, target) => {
                let Some(truth) = frame.stack.last().and_then(|v| self.quick_truth(v)) else {
                    return 0;
                };
                if truth == when {
                    frame.pc = target;
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
                frame.pc = if truth == when { target } else { frame.pc + 1 };
                return 1;
            }
            Op::Binary(op) => {
                let [.., a, b] = &mut frame.stack[..] else {
                    return 0;
                };
                if !self.binary_in_place(op, a, b) {
                    return 0;
                }
                words::discard(&mut frame.stack);
                1
            }
            Op::BinaryLocal(i, op) => {
                let (Some(a), Some(b)) = (frame.stack.last_mut(), &frame.locals[i as usize]) else {
                    return 0;
                };
                if !self.binary_in_place(op, a, b) {
                    return self.fused_first(i as usize, frame);
                }
                2
            }
            Op::BinaryConst(i, op) => {
                let (Some(a), b) = (frame.stack.last_mut(), &body.consts[i as usize]) else {
                    return 0;
                };
                if !self.binary_in_place(op, a, b) {
                    words::push_copy(&mut frame.stack, b);
                    1
                } else {
                    2
                }
            }
            Op::Branch(branch) => {
                let [.., a, b] = &frame.stack[..] else {
                    return 0;
                };
                let Some(truth) = self.comparison(branch.op, a, b) else {
                    return 0;
                };
                words::discard(&mut frame.stack);
                words::discard(&mut frame.stack);
                return follow(branch, truth, 0, frame);
            }
            Op::BranchLocal(i, branch) => {
                let i = usize::from(i);
                let (Some(a), Some(b)) = (frame.stack.last(), &frame.locals[i]) else {
                    return 0;
                };
                let Some(truth) = self.comparison(branch.op, a, b) else {
                    return self.fused_first(i, frame);
                };
                words::discard(&mut frame.stack);
                return follow(branch, truth, 1, frame);
            }
            Op::BranchConst(i, branch) => {
                let (Some(a), b) = (frame.stack.last(), &body.consts[usize::from(i)]) else {
                    return 0;
                };
                match self.comparison(branch.op, a, b) {
                    Some(truth) => {
                        words::discard(&mut frame.stack);
                        return follow(branch, truth, 1, frame);
                    }
                    None => {
                        words::push_copy(&mut frame.stack, b);
                        1
                    }
                }
            }
            Op::Global(name) => {
                let Value::Ref(globals) = frame.globals else {
                    return 0;
                };
                let (name, hint) = body.name(name);
                let found = match self.heap.the_dict(globals).get_hinted(name, hint) {
                    None => self.heap.the_dict(self.builtins).get_name(name),
                    found => found,
                };
                match found {
                    Some(v) => {
                        words::push_copy(&mut frame.stack, v);
                        1
                    }
                    None => return 0,
                }
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
            Op::AttrLocal(i, name) => {
                let i = usize::from(i);
                let Some(Value::Ref(r)) = frame.locals[i] else {
                    return self.fused_first(i, frame);
                };
                let (name, hint) = body.name(name.into());
                let mut attr = Value::Ref(r);
                let simple = self.simple_attr(&mut attr, name, hint);
                frame.stack.push(attr);
                if simple { 2 } else { 1 }
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
            Op::Next(i, target) => {
                let Some(Value::Ref(r)) = frame.stack.last() else {
                    return 0;
                };
                match self.next_number(*r) {
                    Some(Some(n)) => {
                        let local = &mut frame.locals[i as usize];
                        match local {
                            Some(Value::Int(old)) => *old = n,
                            local => *local = Some(Value::Int(n)),
                        }
                        2
                    }
                    Some(None) => {
                        words::discard(&mut frame.stack);
                        frame.pc = target;
                        return 1;
                    }
                    None => return 0,
                }
            }
        };
        frame.pc += done;
        u64::from(done)
    }

    /// Executes the `LoadFast` of an operation whose rest needs the engine.
    #[inline(always)]
    fn fused_first(&mut self, local: usize, frame: &mut Frame<Value>) -> u64 {
        let Some(v) = &frame.locals[local] else {
            return 0;
        };
        words::push_copy(&mut frame.stack, v);
        frame.pc += 1;
        1
    }

    /// Replaces the first operand by the result of an operation. False if the engine has to execute it.
    #[inline(always)]
    fn binary_in_place(&mut self, op: HlOp, a: &mut Value, b: &Value) -> bool {
        in_place(op, a, b) || self.quick_in_place(op, a, b)
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
            (Value::Int(x), Value::Int(y)) => Some(match op {
                HlOp::Lt => x < y,
                HlOp::Le => x <= y,
                HlOp::Gt => x > y,
                HlOp::Ge => x >= y,
                HlOp::Eq | HlOp::Is => x == y,
                HlOp::Ne => x != y,
                HlOp::And => x & y != 0,
                _ => return None,
            }),
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
                    HlOp::Is => Some(a.is(b)),
                    _ => None,
                }
            }
            (Value::Tuple(_), Value::Tuple(_)) => match op {
                HlOp::Eq => a.plainly_equals(b),
                HlOp::Ne => a.plainly_equals(b).map(|equal| !equal),
                HlOp::Is => Some(a.is(b)),
                _ => None,
            },
            _ => match op {
                HlOp::Is => Some(a.is(b)),
                HlOp::Contains => self.quick_contains(a, b),
                _ => None,
            },
        }
    }

    /// The next number of an iterator over numbers, None at its end; outer None for other iterators.
    #[inline(always)]
    fn next_number(&mut self, r: super::heap::Ref) -> Option<Option<i64>> {
        match self.heap.kind(r) {
            Kind::Iter(state) if matches!(**state, Iter::Range(..)) => {}
            _ => return None,
        }
        let Kind::Iter(state) = &mut self.heap.get_mut(r).kind else {
            return None;
        };
        let Iter::Range(at, left, step) = &mut **state else {
            return None;
        };
        if *left <= 0 {
            return Some(None);
        }
        let n = *at;
        *left -= 1;
        *at = at.wrapping_add(*step);
        Some(Some(n))
    }
}

/// Moves `pc` to the outcome of a test that is `before` instructions after the current one.
#[inline(always)]
fn follow(branch: Branch, truth: bool, before: Pc, frame: &mut Frame<Value>) -> u64 {
    let len = before + Pc::from(branch.len);
    frame.pc = match truth == branch.when {
        true => branch.target,
        false => frame.pc + len,
    };
    u64::from(len)
}
