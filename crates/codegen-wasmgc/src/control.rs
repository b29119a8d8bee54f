//! Control flow, structured (N. Ramsey: Beyond Relooper: Recursive Translation of Unstructured Control Flow to
//! Structured Control Flow, ICFP 2022).
//!
//! A block is written inside of the one that immediately dominates it. One that several links lead forward to comes behind a
//! WebAssembly block, which these links leave; one that a link leads back to begins a `loop`.
//!
//! ```text
//! a: switch c  False: b  True: d        block $d
//! b: goto d                               <a> c; if br $d end
//! d: ...                                  <b>
//!                                       end
//!                                       <d>
//! ```
//!
//! Where a loop is entered at several places, there is one loop around all blocks, and a local says which is next.

use taipan_graph::{BlockId, Dominators, ExitCase, ExitSwitch, Link};
use taipan_lltype::{LLConst, const_word};
use taipan_ootype::{Lack, OOOperand, OOType, ObjectOriented};
use wasm_encoder::{BlockType, ValType};

use crate::code::Ins;
use crate::emit::Emitter;
use crate::symbols::Global;
use crate::types::val_type;

/// A construct that encloses a place in the code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Frame {
    /// An `if`, or a block that is left by the switch inside of it.
    Other,
    /// The loop that begins with a block.
    Loop(BlockId),
    /// A WebAssembly block that this one comes behind.
    Before(BlockId),
    /// The loop around all blocks.
    Dispatch,
}

/// How the blocks of a graph hang together.
struct Shape {
    order: Vec<BlockId>,
    /// Position in `order`.
    position: Vec<usize>,
    /// Blocks that several links lead forward to.
    merges: Vec<bool>,
    /// Blocks that a link leads back to.
    headers: Vec<bool>,
    /// The blocks that a block immediately dominates, in order.
    dominated: Vec<Vec<BlockId>>,
    irreducible: bool,
}

impl Shape {
    fn of(e: &Emitter<'_>) -> Shape {
        let graph = e.graph;
        let order = graph.reachable();
        let mut position = vec![usize::MAX; graph.blocks.len()];
        for (i, b) in order.iter().enumerate() {
            position[b.index()] = i;
        }
        let dominators = Dominators::new(graph);
        let mut forward = vec![0; graph.blocks.len()];
        let mut shape = Shape {
            position,
            merges: vec![false; graph.blocks.len()],
            headers: vec![false; graph.blocks.len()],
            dominated: vec![Vec::new(); graph.blocks.len()],
            irreducible: false,
            order,
        };
        for b in &shape.order {
            for link in &graph.block(*b).exits {
                let to = link.target.index();
                if shape.position[to] > shape.position[b.index()] {
                    forward[to] += 1;
                    shape.merges[to] = forward[to] > 1;
                } else {
                    shape.headers[to] = true;
                    shape.irreducible |= !dominators.dominates(link.target, *b);
                }
            }
            if let Some(d) = dominators.immediate(*b) {
                shape.dominated[d.index()].push(*b);
            }
        }
        shape
    }

    fn leads_back(&self, from: BlockId, to: BlockId) -> bool {
        self.position[to.index()] <= self.position[from.index()]
    }
}

/// Least number of cases of a switch with a table.
const FEWEST_FOR_TABLE: usize = 4;

impl Emitter<'_> {
    /// All blocks.
    pub(crate) fn structured(&mut self) -> Result<(), Lack> {
        let shape = Shape::of(self);
        match shape.irreducible {
            true => self.dispatched(&shape),
            false => self.tree(self.graph.startblock, &shape),
        }
    }

    /// A block with those that it dominates.
    fn tree(&mut self, b: BlockId, shape: &Shape) -> Result<(), Lack> {
        // As deep as the program's own code is nested.
        stacker::maybe_grow(64 << 10, 1 << 20, || {
            let is_merge = |m: &&BlockId| shape.merges[m.index()] && !self.ends(**m);
            let merges: Vec<BlockId> = (shape.dominated[b.index()].iter())
                .filter(is_merge)
                .copied()
                .collect();
            let is_loop = shape.headers[b.index()];
            if is_loop {
                self.open(Ins::Loop(BlockType::Empty), Frame::Loop(b));
            }
            // The last one is outermost: it comes behind all others.
            for m in merges.iter().rev() {
                self.open(Ins::Block(BlockType::Empty), Frame::Before(*m));
            }
            self.block(b, shape)?;
            for m in &merges {
                self.close();
                self.tree(*m, shape)?;
            }
            if is_loop {
                self.close();
                self.out.push(Ins::Unreachable);
            }
            Ok(())
        })
    }

    /// Whether links to a block return, or raise.
    fn ends(&self, b: BlockId) -> bool {
        b == self.graph.returnblock || b == self.graph.exceptblock
    }

    fn open(&mut self, ins: Ins, frame: Frame) {
        self.out.push(ins);
        self.frames.push(frame);
    }

    fn close(&mut self) {
        self.frames.pop();
        self.out.push(Ins::End);
    }

    /// The loop around all blocks, where graphs cannot be structured otherwise.
    fn dispatched(&mut self, shape: &Shape) -> Result<(), Lack> {
        let next = self.temporary(ValType::I32);
        let blocks: Vec<BlockId> = (shape.order.iter())
            .filter(|b| !self.ends(**b))
            .copied()
            .collect();
        self.next = Some(next);
        self.open(Ins::Loop(BlockType::Empty), Frame::Dispatch);
        for _ in &blocks {
            self.open(Ins::Block(BlockType::Empty), Frame::Other);
        }
        let last = blocks.len() as u32 - 1;
        let targets: Vec<u32> = (0..last).collect();
        self.out.push(Ins::LocalGet(next));
        self.out.push(Ins::BrTable(targets.into(), last));
        for b in &blocks {
            self.close();
            self.block(*b, shape)?;
        }
        self.close();
        Ok(())
    }

    /// The operations of a block and its end.
    fn block(&mut self, b: BlockId, shape: &Shape) -> Result<(), Lack> {
        let block = self.graph.block(b);
        self.operations(b)?;
        match (&block.exitswitch, &block.exits[..]) {
            (ExitSwitch::None, [link]) => self.follow(b, link, shape),
            // Control does not get to the end.
            (ExitSwitch::None, []) => {
                self.out.push(Ins::Unreachable);
                Ok(())
            }
            (ExitSwitch::LastException, [ok, overflow]) if overflow.last_exception.is_none() => {
                let op = block.operations.last();
                let op = op.ok_or_else(|| Lack::Operation("exception link".into()))?;
                self.set_at(op.at);
                self.overflowing(op)?;
                self.either(b, overflow, ok, shape)
            }
            (ExitSwitch::Value(on), exits) => self.switch(b, on, exits, shape),
            _ => Err(Lack::Operation("exception link".into())),
        }
    }

    /// One link if the condition on the stack holds, else the other one.
    fn either(
        &mut self,
        b: BlockId,
        yes: &Link<ObjectOriented>,
        no: &Link<ObjectOriented>,
        shape: &Shape,
    ) -> Result<(), Lack> {
        self.open(Ins::If(BlockType::Empty), Frame::Other);
        let pending = self.kept_pending();
        self.follow(b, yes, shape)?;
        self.close();
        self.restore_pending(pending);
        self.follow(b, no, shape)
    }

    fn switch(
        &mut self,
        b: BlockId,
        on: &OOOperand,
        exits: &[Link<ObjectOriented>],
        shape: &Shape,
    ) -> Result<(), Lack> {
        if let [x, y] = exits
            && let (ExitCase::Bool(first), ExitCase::Bool(second)) = (&x.case, &y.case)
            && first != second
        {
            let (yes, no) = if *first { (x, y) } else { (y, x) };
            self.push(on)?;
            return self.either(b, yes, no, shape);
        }
        let mut cases: Vec<(i64, &Link<ObjectOriented>)> = Vec::new();
        let mut otherwise = None;
        for link in exits {
            let value = match &link.case {
                ExitCase::Bool(v) => i64::from(*v),
                ExitCase::Value(c) => number(c)?,
                _ => {
                    otherwise = Some(link);
                    continue;
                }
            };
            // Of exits for the same value the first one counts.
            if cases.iter().all(|(v, _)| *v != value) {
                cases.push((value, link));
            }
        }
        let ty = val_type(self.ty(on), &mut self.symbols)?.unwrap_or(ValType::I32);
        let value = self.temporary(ty);
        self.push(on)?;
        self.out.push(Ins::LocalSet(value));
        match table_of(&cases) {
            Some((least, size)) => {
                self.by_table(b, (value, ty), (least, size), &cases, otherwise, shape)
            }
            None => self.one_by_one(b, (value, ty), &cases, otherwise, shape),
        }
    }

    fn one_by_one(
        &mut self,
        b: BlockId,
        (value, ty): (u32, ValType),
        cases: &[(i64, &Link<ObjectOriented>)],
        otherwise: Option<&Link<ObjectOriented>>,
        shape: &Shape,
    ) -> Result<(), Lack> {
        for (n, link) in cases {
            self.out.push(Ins::LocalGet(value));
            self.out.extend(match ty {
                ValType::I64 => [Ins::I64Const(*n), Ins::I64Eq],
                _ => [Ins::I32Const(*n as i32), Ins::I32Eq],
            });
            self.open(Ins::If(BlockType::Empty), Frame::Other);
            let pending = self.kept_pending();
            self.follow(b, link, shape)?;
            self.restore_pending(pending);
            self.close();
        }
        self.last_exit(b, otherwise, shape)
    }

    fn last_exit(
        &mut self,
        b: BlockId,
        otherwise: Option<&Link<ObjectOriented>>,
        shape: &Shape,
    ) -> Result<(), Lack> {
        match otherwise {
            Some(link) => self.follow(b, link, shape),
            None => {
                self.out.push(Ins::Unreachable);
                Ok(())
            }
        }
    }

    fn by_table(
        &mut self,
        b: BlockId,
        (value, ty): (u32, ValType),
        (least, size): (i64, usize),
        cases: &[(i64, &Link<ObjectOriented>)],
        otherwise: Option<&Link<ObjectOriented>>,
        shape: &Shape,
    ) -> Result<(), Lack> {
        for _ in 0..=cases.len() {
            self.open(Ins::Block(BlockType::Empty), Frame::Other);
        }
        let default = cases.len() as u32;
        let mut targets = vec![default; size];
        for (i, (n, _)) in cases.iter().enumerate() {
            targets[(n - least) as usize] = i as u32;
        }
        self.out.push(Ins::LocalGet(value));
        match ty {
            ValType::I64 => {
                let index = self.temporary(ValType::I64);
                self.out.extend([
                    Ins::I64Const(least),
                    Ins::I64Sub,
                    Ins::LocalTee(index),
                    Ins::I32WrapI64,
                    Ins::I32Const(size as i32),
                    Ins::LocalGet(index),
                    Ins::I64Const(size as i64),
                    Ins::I64LtU,
                    Ins::Select,
                ]);
            }
            _ => self.out.extend([Ins::I32Const(least as i32), Ins::I32Sub]),
        }
        self.out.push(Ins::BrTable(targets.into(), default));
        for (_, link) in cases {
            self.close();
            let pending = self.kept_pending();
            self.follow(b, link, shape)?;
            self.restore_pending(pending);
        }
        self.close();
        self.last_exit(b, otherwise, shape)
    }

    /// Goes along a link.
    fn follow(
        &mut self,
        from: BlockId,
        link: &Link<ObjectOriented>,
        shape: &Shape,
    ) -> Result<(), Lack> {
        let to = link.target;
        if to == self.graph.returnblock {
            self.push(&link.args[0])?;
            self.return_();
            return Ok(());
        }
        if to == self.graph.exceptblock {
            return self.raise(link);
        }
        self.pass(link)?;
        // The others are for other exits.
        self.restore_pending(Vec::new());
        if let Some(next) = self.next {
            let number = shape.order.iter().filter(|b| !self.ends(**b));
            let number = number.take_while(|b| **b != to).count();
            self.out
                .extend([Ins::I32Const(number as i32), Ins::LocalSet(next)]);
            self.jump(Frame::Dispatch);
            return Ok(());
        }
        if shape.leads_back(from, to) {
            self.jump(Frame::Loop(to));
        } else if shape.merges[to.index()] {
            self.jump(Frame::Before(to));
        } else {
            return self.tree(to, shape);
        }
        Ok(())
    }

    fn jump(&mut self, to: Frame) {
        let depth = self.frames.iter().rev().position(|f| *f == to);
        debug_assert!(depth.is_some(), "a jump to {to:?}, which is not around it");
        self.out.push(Ins::Br(depth.unwrap_or(0) as u32));
    }

    /// Gives arguments to a block, all at once.
    fn pass(&mut self, link: &Link<ObjectOriented>) -> Result<(), Lack> {
        let inputs = &self.graph.block(link.target).inputargs;
        let mut set = Vec::new();
        for (arg, input) in link.args.iter().zip(inputs) {
            let same = *arg == OOOperand::Var(*input);
            if !same {
                let locals = self.local(*input)?;
                self.push(arg)?;
                set.extend(locals);
            }
        }
        self.out.extend(set.into_iter().rev().map(Ins::LocalSet));
        Ok(())
    }

    /// Raises an exception: the caller checks for it.
    fn raise(&mut self, link: &Link<ObjectOriented>) -> Result<(), Lack> {
        for (arg, global) in link.args.iter().zip([Global::ExcType, Global::ExcValue]) {
            self.push(arg)?;
            let number = self.symbols.global(global);
            self.out.push(Ins::GlobalSet(number));
        }
        let ty = *self.graph.ty(self.graph.returnvar());
        if ty != OOType::Void {
            self.default_of(ty)?;
        }
        self.return_();
        Ok(())
    }
}

/// The least case, and the size of the table of cases, if it pays.
fn table_of(cases: &[(i64, &Link<ObjectOriented>)]) -> Option<(i64, usize)> {
    let least = cases.iter().map(|(v, _)| *v).min()?;
    let most = cases.iter().map(|(v, _)| *v).max()?;
    let size = usize::try_from(most.checked_sub(least)?)
        .ok()?
        .checked_add(1)?;
    let is_dense = size <= 4 * cases.len() + 8;
    (cases.len() >= FEWEST_FOR_TABLE && is_dense).then_some((least, size))
}

/// The number of a case.
fn number(c: &LLConst) -> Result<i64, Lack> {
    let word = const_word(c).ok_or_else(|| Lack::Operation(format!("switch on {c}")))?;
    Ok(word as i64)
}
