//! The exception transform (RPython: `exceptiontransform.py`): exceptions become a
//! flag that is tested after calls that can raise.
//!
//! ```text
//! v1 = direct_call(&g, v0)                 v1 = direct_call(&g, v0)
//! canraise                                 v2 = exc_occurred()
//!     ok: block1(v1)                       switch v2
//!     &vtable(t, e): block2(e)                 False: block1(v1)
//!                                              True: block3()
//!                                          block3():
//!                                              v4 = exc_type()
//!                                              v5 = exc_value()
//!                                              ...                  ; is v4 a subclass?
//!                                              debug_catch_exception(v4)
//!                                              exc_clear()
//!                                              goto block2(v5)
//! ```
//!
//! A function that raises does `exc_set`, `debug_start_traceback` and returns a dummy
//! value; one that passes an exception on does `debug_record_traceback`, and one that raises what it has
//! caught `debug_reraise_traceback` before that. Overflow
//! checks need no flag: a block that ends in an `int_*_ovf` operation keeps its
//! `canraise` switch, with two exits, the second for the overflow; its link has no
//! exception variables. An allocation that ends a block with handlers is followed by a test of its result
//! ([`crate::memory_errors`] makes those of the others). Functions that break cycles of calls get a `stack_check` before
//! their calls, whose Bool result says that the stack is used up.

use taipan_graph::{
    BlockId, Dominators, ExitCase, ExitSwitch, Link, Operation, eliminate_empty_blocks, find_loops,
    ssa_to_ssi,
};
use taipan_language::Exc;
use taipan_lltype::{
    BOOL, LLConst, LLGraph, LLOperand, LowLevel, OBJECT, OBJECT_VTABLE, StaticSym, VOID, View,
};

use crate::calls::{allocates, calls_a_graph, can_raise, catches_all, is_ovf, is_subclass, vtable};
use crate::check::check;
use crate::inline::{class_number, class_test};
use crate::memory_errors::{memory_error, test};
use crate::reraised::Reraised;
use crate::ssa::{branch, constant, goto, handler_args, push, split_ssa, zero};
use crate::{Effects, Summaries};

/// Makes the exceptions of a function explicit. `own` are its own effects.
pub fn exception_transform(graph: &LLGraph, own: Effects, s: &dyn Summaries) -> LLGraph {
    let mut t = Transformer {
        g: graph.clone(),
        s,
    };
    let blocks = t.g.reachable();
    for b in &blocks {
        t.block(*b);
    }
    let blocks = t.g.reachable();
    let raises = |b: &BlockId| (t.g.block(*b).exits.iter()).any(|l| l.target == t.g.exceptblock);
    let raising: Vec<BlockId> = blocks.into_iter().filter(raises).collect();
    if !raising.is_empty() {
        let reraised = Reraised::of(&t.g);
        for b in raising {
            t.raising_links(b, &reraised);
        }
    }
    if own.stack_check {
        t.check_stack();
    }
    ssa_to_ssi(&mut t.g);
    eliminate_empty_blocks(&mut t.g);
    t.g.compact();
    check("the exception transform", &t.g);
    t.g
}

/// What raises.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A call, or something else that sets the flag.
    Call,
    /// Arithmetic.
    Overflow,
    /// An allocation.
    Allocation,
}

impl Kind {
    fn of(op: &Operation<LowLevel>) -> Kind {
        match op {
            op if is_ovf(op) => Kind::Overflow,
            op if allocates(op) => Kind::Allocation,
            _ => Kind::Call,
        }
    }
}

struct Transformer<'a> {
    g: LLGraph,
    s: &'a dyn Summaries,
}

impl Transformer<'_> {
    /// Ends the block after each operation that can raise.
    fn block(&mut self, b: BlockId) {
        let mut b = b;
        let mut start = 0;
        loop {
            let block = self.g.block(b);
            let canraise = block.canraise();
            let count = block.operations.len();
            let found = (block.operations.iter().enumerate().skip(start))
                .find(|(i, op)| {
                    can_raise(op, self.s) || canraise && i + 1 == count && allocates(op)
                })
                .map(|(i, op)| (i, op.at, Kind::of(op)));
            let Some((i, at, kind)) = found else {
                if canraise {
                    // The operation at the end cannot raise after all.
                    let link = self.g.block(b).exits[0].clone();
                    goto(&mut self.g, b, link);
                }
                return;
            };
            let last = i + 1 == count;
            if kind == Kind::Call && last && !canraise && self.returns_result(b) {
                // Whether the result or the dummy: it is returned as it is.
                return;
            }
            let handlers = if last && canraise {
                self.g.block_mut(b).exits.split_off(1)
            } else {
                Vec::new()
            };
            let rest = if last && canraise {
                let mut link = self.g.block(b).exits[0].clone();
                link.case = ExitCase::None;
                link
            } else {
                Link::new(split_ssa(&mut self.g, b, i + 1), Vec::new())
            };
            match kind {
                Kind::Overflow => self.overflow(b, rest.clone(), &handlers, at),
                Kind::Allocation => self.no_memory(b, rest.clone(), &handlers, at),
                Kind::Call => self.check(b, rest.clone(), &handlers, at),
            }
            if last && canraise {
                return;
            }
            (b, start) = (rest.target, 0);
        }
    }

    /// Whether a block ends by returning the result of its last operation.
    fn returns_result(&self, b: BlockId) -> bool {
        let block = self.g.block(b);
        let [link] = &block.exits[..] else {
            return false;
        };
        let Some(op) = block.operations.last() else {
            return false;
        };
        link.target == self.g.returnblock
            && (self.g.ty(self.g.returnvar()).is_void() || link.args == [LLOperand::Var(op.result)])
    }

    /// After a call: tests the flag.
    fn check(&mut self, b: BlockId, rest: Link<LowLevel>, handlers: &[Link<LowLevel>], at: u32) {
        let occurred = push(&mut self.g, b, View::ExcOccurred {}, *BOOL, at);
        let caught = self.dispatch(handlers, at);
        branch(
            &mut self.g,
            b,
            occurred,
            rest,
            Link::new(caught, Vec::new()),
        );
    }

    /// A block that finds out who handles the current exception.
    fn dispatch(&mut self, handlers: &[Link<LowLevel>], at: u32) -> BlockId {
        let first = self.g.new_block(Vec::new());
        let mut block = first;
        let handlers = match handlers {
            // Catching to raise again is not catching.
            [rest @ .., all] if self.reraises(all) => rest,
            all => all,
        };
        if !handlers.is_empty() {
            let etype = push(
                &mut self.g,
                block,
                View::ExcType {},
                OBJECT_VTABLE.ptr(),
                at,
            );
            let evalue = push(&mut self.g, block, View::ExcValue {}, OBJECT.ptr(), at);
            let mut number = None;
            for h in handlers {
                let ExitCase::Exception(case) = &h.case else {
                    continue;
                };
                let target = if self.reraises(h) {
                    self.propagate(at)
                } else {
                    self.handler(h, etype.into(), evalue.into(), at)
                };
                if catches_all(case, self.s.program()) {
                    goto(&mut self.g, block, Link::new(target, Vec::new()));
                    return first;
                }
                let n = *number.get_or_insert_with(|| {
                    class_number(&mut self.g, block, etype.into(), "subclassrange_min", at)
                });
                let found = class_test(&mut self.g, block, n.into(), case, at);
                let next = self.g.new_block(Vec::new());
                let (no, yes) = (Link::new(next, Vec::new()), Link::new(target, Vec::new()));
                branch(&mut self.g, block, found, no, yes);
                block = next;
            }
        }
        let out = self.propagate(at);
        goto(&mut self.g, block, Link::new(out, Vec::new()));
        first
    }

    fn reraises(&self, h: &Link<LowLevel>) -> bool {
        let vars = [h.last_exception, h.last_exc_value];
        h.target == self.g.exceptblock
            && (h.args.iter().zip(vars)).all(|(a, v)| v.is_some() && a.as_var() == v)
    }

    /// A block that takes the exception and goes where its handler is.
    fn handler(
        &mut self,
        h: &Link<LowLevel>,
        etype: LLOperand,
        evalue: LLOperand,
        at: u32,
    ) -> BlockId {
        let b = self.g.new_block(Vec::new());
        let catch = View::DebugCatchException { class: &etype };
        push(&mut self.g, b, catch, *VOID, at);
        push(&mut self.g, b, View::ExcClear {}, *VOID, at);
        let args = handler_args(h, etype, evalue);
        goto(&mut self.g, b, Link::new(h.target, args));
        b
    }

    /// A block that passes the current exception on to the caller.
    fn propagate(&mut self, at: u32) -> BlockId {
        let b = self.g.new_block(Vec::new());
        push(&mut self.g, b, View::DebugRecordTraceback {}, *VOID, at);
        let link = self.return_dummy();
        goto(&mut self.g, b, link);
        b
    }

    fn return_dummy(&self) -> Link<LowLevel> {
        let dummy = zero(*self.g.ty(self.g.returnvar())).unwrap_or(LLConst::void());
        Link::new(self.g.returnblock, vec![constant(dummy)])
    }

    /// The two exits of a block that ends in an overflow check.
    fn overflow(&mut self, b: BlockId, rest: Link<LowLevel>, handlers: &[Link<LowLevel>], at: u32) {
        let program = self.s.program();
        let class = program.exception_vtable(Exc::OverflowError);
        let instance = program.exception_instance(Exc::OverflowError);
        let etype = LLConst::data(class, OBJECT_VTABLE.ptr());
        let case = ExitCase::Exception(etype.clone());
        let evalue = LLConst::data(instance, OBJECT.ptr());
        let link = self.raised_here(constant(etype), constant(evalue), handlers, at);
        let block = self.g.block_mut(b);
        block.exitswitch = ExitSwitch::LastException;
        block.exits = vec![rest, Link { case, ..link }];
    }

    /// The two exits of a block that ends in an allocation.
    fn no_memory(
        &mut self,
        b: BlockId,
        rest: Link<LowLevel>,
        handlers: &[Link<LowLevel>],
        at: u32,
    ) {
        let Some(object) = self.g.block(b).operations.last().map(|op| op.result) else {
            return;
        };
        let [etype, evalue] = memory_error(self.s.program());
        let failed = self.raised_here(etype, evalue, handlers, at);
        test(&mut self.g, b, object.into(), rest, failed, at);
    }

    /// Where an exception of a known class goes that an operation raises by itself.
    fn raised_here(
        &mut self,
        etype: LLOperand,
        evalue: LLOperand,
        handlers: &[Link<LowLevel>],
        at: u32,
    ) -> Link<LowLevel> {
        let program = self.s.program();
        let class = etype.as_const().and_then(vtable);
        let caught = handlers.iter().find(|h| match &h.case {
            ExitCase::Exception(c) => {
                (class.zip(vtable(c))).is_some_and(|(class, of)| is_subclass(class, of, program))
            }
            _ => false,
        });
        match caught {
            Some(h) if h.target != self.g.exceptblock => {
                Link::new(h.target, handler_args(h, etype, evalue))
            }
            _ => {
                // Who catches it may raise something else at once.
                let raised = caught.map(|h| handler_args(h, etype.clone(), evalue.clone()));
                let out = match raised.as_deref() {
                    Some([etype, evalue]) => self.raise(etype.clone(), evalue.clone(), at),
                    _ => self.raise(etype, evalue, at),
                };
                Link::new(out, Vec::new())
            }
        }
    }

    /// A block that raises.
    fn raise(&mut self, etype: LLOperand, evalue: LLOperand, at: u32) -> BlockId {
        let start = View::DebugStartTraceback { class: &etype };
        self.set_and_return(&etype, &evalue, [start], at)
    }

    /// A block that raises what was caught.
    fn raise_again(&mut self, etype: LLOperand, evalue: LLOperand, at: u32) -> BlockId {
        let again = View::DebugReraiseTraceback {
            class: Some(&etype),
        };
        let record = View::DebugRecordTraceback {};
        self.set_and_return(&etype, &evalue, [again, record], at)
    }

    /// A block that sets the current exception, notes that, and returns.
    fn set_and_return<'n>(
        &mut self,
        class: &LLOperand,
        value: &LLOperand,
        notes: impl IntoIterator<Item = View<'n, LLOperand>>,
        at: u32,
    ) -> BlockId {
        let b = self.g.new_block(Vec::new());
        push(&mut self.g, b, View::ExcSet { class, value }, *VOID, at);
        for note in notes {
            push(&mut self.g, b, note, *VOID, at);
        }
        let link = self.return_dummy();
        goto(&mut self.g, b, link);
        b
    }

    /// Where in the source a block ends: the position of its last operation, or where
    /// the nearest block before it ends if it has none.
    fn position(&self, b: BlockId) -> u32 {
        let mut at = b;
        // Blocks without operations are few in a row.
        for _ in 0..self.g.blocks.len() {
            if let Some(op) = self.g.block(at).operations.last() {
                return op.at;
            }
            let before = (self.g.reachable().into_iter())
                .find(|p| self.g.block(*p).exits.iter().any(|l| l.target == at));
            match before {
                Some(p) if p != at => at = p,
                _ => break,
            }
        }
        0
    }

    /// Links to the except block raise.
    fn raising_links(&mut self, b: BlockId, reraised: &Reraised) {
        let near = self.position(b);
        for i in 0..self.g.block(b).exits.len() {
            let link = &self.g.block(b).exits[i];
            if link.target != self.g.exceptblock {
                continue;
            }
            let at = link.at;
            let [etype, evalue] = [0, 1].map(|i| link.args[i].clone());
            let out = match reraised.place(&self.g, &evalue) {
                // What only passes was raised where it was caught.
                Some(place) => self.raise_again(etype, evalue, at.unwrap_or(place)),
                None => self.raise(etype, evalue, at.unwrap_or(near)),
            };
            let link = &mut self.g.block_mut(b).exits[i];
            (link.target, link.args) = (out, Vec::new());
        }
    }

    /// Checks the stack before the calls of the function, at a place that is passed
    /// once: ways without calls need no check.
    fn check_stack(&mut self) {
        let start = self.place_of_check();
        let rest = split_ssa(&mut self.g, start, 0);
        let used_up = push(&mut self.g, start, View::StackCheck {}, *BOOL, 0);
        let program = self.s.program();
        let static_ = |s: StaticSym, ty| constant(LLConst::data(s, ty));
        let etype = static_(
            program.exception_vtable(Exc::StackOverflow),
            OBJECT_VTABLE.ptr(),
        );
        let evalue = static_(program.exception_instance(Exc::StackOverflow), OBJECT.ptr());
        let out = self.raise(etype, evalue, 0);
        let (no, yes) = (Link::new(rest, Vec::new()), Link::new(out, Vec::new()));
        branch(&mut self.g, start, used_up, no, yes);
    }

    /// The innermost block outside loops that dominates all calls.
    fn place_of_check(&self) -> BlockId {
        let dominators = Dominators::new(&self.g);
        let loops = find_loops(&self.g);
        let calls: Vec<BlockId> = (self.g.reachable().into_iter())
            .filter(|b| self.g.block(*b).operations.iter().any(calls_a_graph))
            .collect();
        let Some(mut b) = calls.first().copied() else {
            return self.g.startblock;
        };
        loop {
            let good = calls.iter().all(|c| dominators.dominates(b, *c))
                && !loops.iter().any(|l| l.contains(b));
            match dominators.immediate(b) {
                Some(up) if !good => b = up,
                _ => return b,
            }
        }
    }
}
