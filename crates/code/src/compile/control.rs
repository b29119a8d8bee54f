//! Loops, `try`, `with`, and what leaves them early.
//!
//! The body of a `finally` is compiled once per way out: at its normal end, before
//! every `return`, `break` and `continue` that crosses it, and as a handler. So the
//! frame needs no block stack at run time.

use taipan_syntax::{Block, ExceptClause, ExprId, Stmt, StmtId, Try};

use super::Compiler;
use super::assembler::Label;
use crate::bytecode::*;

/// A protected range while it is open. Copies of `finally` bodies that run on the
/// way out interrupt it.
pub(super) struct Range {
    handler: Label,
    depth: u32,
    /// Where the current piece starts; none while interrupted.
    start: Option<Pc>,
    pieces: Vec<(Pc, Pc)>,
}

/// What encloses a statement.
pub(super) enum Frame<'a> {
    /// A loop.
    Loop {
        head: Label,
        end: Label,
        /// Whether its iterator is on the stack.
        iterator: bool,
    },
    /// Protected by except clauses.
    Try(Range),
    /// Protected by a `finally`.
    Finally(Range, &'a Block),
    /// Protected by a `with`; the local holds the manager's `__exit__`.
    With(Range, u32),
    /// In an except clause; locals hold the exception's value and class where a bare
    /// `raise` may ask for them.
    Handler(Option<(u32, u32)>),
    /// So many values are on the stack that a jump out drops.
    Stacked(u32),
}

impl<'a> Frame<'a> {
    fn range(&mut self) -> Option<&mut Range> {
        match self {
            Frame::Try(r) | Frame::Finally(r, _) | Frame::With(r, _) => Some(r),
            _ => None,
        }
    }
}

impl<'a> Compiler<'a> {
    pub(super) fn open_range(&mut self) -> Range {
        Range {
            handler: self.out.label(),
            depth: self.out.depth(),
            start: Some(self.out.pc()),
            pieces: Vec::new(),
        }
    }

    /// Ends the range of the innermost frame and takes the frame away. Answers the
    /// handler to bind, or none if nothing is protected.
    pub(super) fn close_range(&mut self) -> Option<(Label, u32)> {
        let mut frame = self.frames.pop()?;
        let range = frame.range()?;
        if let Some(start) = range.start.take() {
            range.pieces.push((start, self.out.pc()));
        }
        let mut used = false;
        for (start, end) in &range.pieces {
            used |= self.out.protect(*start, *end, range.handler, range.depth);
        }
        used.then_some((range.handler, range.depth))
    }

    /// Emits what must happen on the way out to the frame of that index (which stays
    /// entered): `finally` bodies, `__exit__` calls. With `value` the top of the stack
    /// is kept, else the stack is brought to what the outer frame expects.
    fn unwind(&mut self, to: usize, value: bool) {
        let mut left: Vec<Frame<'a>> = Vec::new();
        while self.frames.len() > to {
            let pc = self.out.pc();
            let Some(mut frame) = self.frames.pop() else {
                break;
            };
            if let Some(range) = frame.range()
                && let Some(start) = range.start.take()
            {
                range.pieces.push((start, pc));
            }
            match &frame {
                Frame::Loop { iterator: true, .. } => self.drop_below(1, value),
                Frame::Stacked(n) => self.drop_below(*n, value),
                Frame::Finally(_, body) => {
                    let at = self.out.at;
                    if value {
                        self.frames.push(Frame::Stacked(1));
                    }
                    self.block(body);
                    if value {
                        self.frames.pop();
                    }
                    self.out.at = at;
                }
                Frame::With(_, exit) => self.call_exit(*exit),
                _ => {}
            }
            left.push(frame);
        }
        // Entered again: what follows the jump is inside.
        while let Some(frame) = left.pop() {
            self.frames.push(frame);
        }
    }

    /// Starts the interrupted ranges again, after the jump was emitted.
    fn resume(&mut self) {
        let pc = self.out.pc();
        for frame in &mut self.frames {
            if let Some(range) = frame.range() {
                range.start.get_or_insert(pc);
            }
        }
    }

    /// Drops values from the stack, those below the top if that is kept.
    fn drop_below(&mut self, n: u32, value: bool) {
        for _ in 0..n {
            if value {
                self.out.emit(Instr::Rot2);
            }
            self.out.emit(Instr::Pop);
        }
    }

    pub(super) fn return_statement(&mut self, id: StmtId, value: Option<ExprId>) {
        let range = self.parsed.spans.stmt(id);
        if !self.in_function() {
            self.poison(range, "`return` outside a function");
            self.out.emit(Instr::Pop);
            return;
        }
        match value {
            Some(e) => {
                if self.scopes.scopes[self.scope].generator {
                    self.poison(range, "`return` with a value in a generator");
                    self.out.emit(Instr::Pop);
                }
                self.expr(e);
            }
            None => self.out.load_const(CodeConst::None),
        }
        self.out.at = range;
        let crosses = self
            .frames
            .iter()
            .any(|f| matches!(f, Frame::Finally(..) | Frame::With(..)));
        if crosses {
            let depth = self.out.depth();
            self.unwind(0, true);
            self.out.emit(Instr::Return);
            self.resume();
            self.out.set_depth(depth - 1);
        } else {
            self.out.emit(Instr::Return);
        }
    }

    /// `break`, or `continue`.
    pub(super) fn leave_loop(&mut self, id: StmtId, is_break: bool) {
        let range = self.parsed.spans.stmt(id);
        let found = self
            .frames
            .iter()
            .rposition(|f| matches!(f, Frame::Loop { .. }));
        let Some(i) = found else {
            let word = if is_break { "break" } else { "continue" };
            self.poison(range, &format!("`{word}` outside a loop"));
            self.out.emit(Instr::Pop);
            return;
        };
        let depth = self.out.depth();
        self.unwind(i + 1, false);
        if let Frame::Loop {
            head,
            end,
            iterator,
        } = self.frames[i]
        {
            if is_break {
                if iterator {
                    self.out.emit(Instr::Pop);
                }
                self.out.jump(Instr::Jump, end);
            } else {
                self.out.jump(Instr::Jump, head);
            }
        }
        self.resume();
        self.out.set_depth(depth);
    }

    pub(super) fn while_loop(&mut self, test: ExprId, body: &'a Block, orelse: &'a Block) {
        let (head, no, end) = (self.out.label(), self.out.label(), self.out.label());
        self.out.bind(head);
        self.jump_if(test, false, no);
        self.frames.push(Frame::Loop {
            head,
            end,
            iterator: false,
        });
        self.block(body);
        self.frames.pop();
        self.out.jump(Instr::Jump, head);
        self.out.bind(no);
        self.block(orelse);
        self.out.bind(end);
    }

    pub(super) fn for_loop(
        &mut self,
        target: ExprId,
        iter: ExprId,
        body: &'a Block,
        orelse: &'a Block,
    ) {
        self.expr(iter);
        self.out.at = self.range(iter);
        self.out.emit(Instr::GetIter);
        let (head, exhausted, end) = (self.out.label(), self.out.label(), self.out.label());
        self.out.bind(head);
        self.out.at = self.range(iter);
        self.out.jump(Instr::ForIter, exhausted);
        self.store_to(target);
        self.frames.push(Frame::Loop {
            head,
            end,
            iterator: true,
        });
        self.block(body);
        self.frames.pop();
        self.out.jump(Instr::Jump, head);
        self.out.bind(exhausted);
        let depth = self.out.depth();
        self.block(orelse);
        self.out.set_depth(depth);
        self.out.bind(end);
    }

    pub(super) fn try_statement(&mut self, t: &'a Try) {
        if t.finally.is_empty() {
            self.try_except(t);
            return;
        }
        let range = self.open_range();
        self.frames.push(Frame::Finally(range, &t.finally));
        if t.handlers.is_empty() {
            self.block(&t.body);
        } else {
            self.try_except(t);
        }
        let handler = self.close_range();
        self.block(&t.finally);
        let end = self.out.label();
        self.out.jump(Instr::Jump, end);
        if let Some((handler, depth)) = handler {
            self.out.bind_handler(handler, depth);
            self.frames.push(Frame::Stacked(2));
            self.block(&t.finally);
            self.frames.pop();
            self.out.emit(Instr::Reraise);
        }
        self.out.bind(end);
    }

    fn try_except(&mut self, t: &'a Try) {
        let end = self.out.label();
        let range = self.open_range();
        self.frames.push(Frame::Try(range));
        self.block(&t.body);
        let handler = self.close_range();
        self.block(&t.orelse);
        self.out.jump(Instr::Jump, end);
        if let Some((handler, depth)) = handler {
            self.out.bind_handler(handler, depth);
            for h in &t.handlers {
                self.except_clause(h, end);
            }
            self.out.emit(Instr::Reraise);
        }
        self.out.bind(end);
    }

    /// With the exception's value and class on the stack.
    fn except_clause(&mut self, h: &'a ExceptClause, end: Label) {
        let next = self.out.label();
        let depth = self.out.depth();
        if let Some(class) = h.class {
            self.out.at = self.range(class);
            self.out.emit(Instr::Dup);
            self.expr(class);
            self.out.at = self.range(class);
            self.out.emit(Instr::ExcMatch);
            self.out.jump(Instr::JumpIfFalse, next);
        }
        // `raise` raises what was caught last, be it by a handler inside of its own one.
        let saved = match self.caught() {
            None if self.raises_again(&h.body) => {
                Some((self.hidden_local("value"), self.hidden_local("class")))
            }
            around => around,
        };
        match saved {
            Some((value, class)) => {
                self.out.emit(Instr::StoreFast(class));
                self.out.emit(Instr::Dup);
                self.out.emit(Instr::StoreFast(value));
            }
            None => self.out.emit(Instr::Pop),
        }
        match h.target {
            Some(target) => self.store_to(target),
            None => self.out.emit(Instr::Pop),
        }
        self.frames.push(Frame::Handler(saved));
        self.block(&h.body);
        self.frames.pop();
        self.out.jump(Instr::Jump, end);
        self.out.set_depth(depth);
        self.out.bind(next);
    }

    /// The locals with the value and class of the exception that was caught last, where
    /// something raises it again.
    fn caught(&self) -> Option<(u32, u32)> {
        (self.frames.iter().rev())
            .find_map(|f| match f {
                Frame::Handler(saved) => Some(*saved),
                _ => None,
            })
            .flatten()
    }

    /// Whether there is a `raise` without operands in a block.
    fn raises_again(&self, block: &Block) -> bool {
        block.iter().any(|s| match &self.ast.stmts[*s] {
            Stmt::Raise(operands) => operands.is_empty(),
            Stmt::If(branches, orelse) => {
                branches.iter().any(|(_, b)| self.raises_again(b)) || self.raises_again(orelse)
            }
            Stmt::While { body, orelse, .. } | Stmt::For { body, orelse, .. } => {
                self.raises_again(body) || self.raises_again(orelse)
            }
            Stmt::With(_, body) => self.raises_again(body),
            Stmt::Try(t) => {
                // Its own except clauses raise again what they caught.
                [&t.body, &t.orelse, &t.finally]
                    .into_iter()
                    .any(|b| self.raises_again(b))
            }
            _ => false,
        })
    }

    pub(super) fn raise(&mut self, id: StmtId, operands: &[ExprId]) {
        let range = self.parsed.spans.stmt(id);
        if operands.is_empty() {
            self.out.at = range;
            match self.caught() {
                Some((value, class)) => {
                    self.out.emit(Instr::LoadFast(value));
                    self.out.emit(Instr::LoadFast(class));
                    self.out.emit(Instr::Reraise);
                }
                None => self.out.emit(Instr::Raise(0)),
            }
            return;
        }
        for e in operands {
            self.expr(*e);
        }
        self.out.at = range;
        self.out.emit(Instr::Raise(operands.len() as u32));
    }

    pub(super) fn with(&mut self, items: &'a [(ExprId, Option<ExprId>)], body: &'a Block) {
        let Some(((manager, target), rest)) = items.split_first() else {
            self.block(body);
            return;
        };
        if self.with_raises(*manager, *target, rest, body) {
            return;
        }
        let at = self.range(*manager);
        self.expr(*manager);
        self.out.at = at;
        let exit = self.hidden_local("exit");
        let (exit_name, enter_name) = (self.out.name("__exit__"), self.out.name("__enter__"));
        self.out.emit(Instr::Dup);
        self.out.emit(Instr::LoadAttr(exit_name));
        self.out.emit(Instr::StoreFast(exit));
        self.out.emit(Instr::LoadAttr(enter_name));
        self.out.call_positional(0);
        let mut range = self.open_range();
        range.depth -= 1;
        self.frames.push(Frame::With(range, exit));
        match target {
            Some(t) => self.store_to(*t),
            None => self.out.emit(Instr::Pop),
        }
        self.with(rest, body);
        let handler = self.close_range();
        self.out.at = at;
        self.call_exit(exit);
        let end = self.out.label();
        self.out.jump(Instr::Jump, end);
        if let Some((handler, depth)) = handler {
            self.out.bind_handler(handler, depth);
            self.out.emit(Instr::Dup2);
            self.out.emit(Instr::LoadFast(exit));
            self.out.emit(Instr::Rot3);
            self.out.emit(Instr::Rot2);
            self.out.load_const(CodeConst::None);
            self.out.call_positional(3);
            let suppressed = self.out.label();
            self.out.jump(Instr::JumpIfSuppressed, suppressed);
            self.out.emit(Instr::Reraise);
            self.out.bind(suppressed);
            self.out.emit(Instr::Pop);
            self.out.emit(Instr::Pop);
        }
        self.out.bind(end);
    }

    /// Calls a context manager's `__exit__` where no exception happened.
    fn call_exit(&mut self, exit: u32) {
        self.out.emit(Instr::LoadFast(exit));
        for _ in 0..3 {
            self.out.load_const(CodeConst::None);
        }
        self.out.call_positional(3);
        self.out.emit(Instr::Pop);
    }
}
