//! Inlining (RPython: `inline.py`).
//!
//! ```text
//! v1 = direct_call(&g, v0)            v3 = int_add(v0, 1)     ; the body of g
//! v2 = int_mul(v1, 2)                 v2 = int_mul(v3, 2)
//! ```
//!
//! What is inlined is the callee's simplified graph, in which nothing has been inlined
//! yet; then the calls that came with it are looked at in turn, unless they are
//! of a function whose body they are in. So a function depends on the simplified
//! graphs of what it calls and never on another function's optimised graph. A small
//! function that calls itself gets its own body once.
//!
//! A function that the program marks with `@always_inline` or `@dont_inline` is inlined, or is not,
//! whatever its size ([`Inlining`]).
//!
//! Arguments that are constant truth values, mostly flags of helpers, decide about the
//! callee's branches before its size is measured and before it is copied.
//!
//! Where the call has exception links, exceptions raised in the body go to them: at
//! once where the class is known, by tests of the class otherwise.

use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_graph::{BlockId, ExitCase, ExitSwitch, Link, Operation, cleanup, ssa_to_ssi};
use taipan_language::Exc;
use taipan_lltype::{
    BOOL, FuncSym, LLConst, LLGraph, LLOperand, LowLevel, NamedOperands, OBJECT_VTABLE, PlainOp,
    SIGNED, View,
};

use crate::calls::{
    Callees, allocates, callees, catches_all, external_effects, is_subclass, vtable,
};
use crate::devirtualize::{expand_call, tested_targets};
use crate::ssa::{
    CutCall, branch, constant, copy_handler, cut_out_call, goto, handler_args, push, split_ssa,
};
use crate::{Inlining, Summaries, Summary};

/// Sum of size and cost (see [`Summary`]) up to which a function is inlined.
const THRESHOLD: u32 = 48;
/// The same for functions that contain loops, which gain little.
const LOOP_THRESHOLD: u32 = 20;
/// Size up to which a function is inlined even into a big one.
const TINY: u32 = 12;
/// Size up to which a function is inlined into itself.
const RECURSIVE: u32 = 24;
/// By how much inlining may make a function grow.
const GROWTH: u32 = 6000;
/// How deep bodies may be nested.
const DEPTH: usize = 10;

/// Up to which sum of size and cost functions are inlined.
#[derive(Clone, Copy)]
struct Limits {
    plain: u32,
    with_loops: u32,
    /// Whether targets of virtual calls are tested for, so that they can be inlined.
    virtual_calls: bool,
}

/// Inlines what is worth it.
pub(crate) fn inline_calls(f: &FuncSym, g: &mut LLGraph, s: &dyn Summaries) {
    let limits = Limits {
        plain: THRESHOLD,
        with_loops: LOOP_THRESHOLD,
        virtual_calls: true,
    };
    inline_within(limits, f, g, s);
}

/// Inlines what is not larger than that, with loops or without
/// (RPython: `auto_inlining`).
pub(crate) fn inline_below(threshold: u32, f: &FuncSym, g: &mut LLGraph, s: &dyn Summaries) {
    let limits = Limits {
        plain: threshold,
        with_loops: threshold,
        virtual_calls: false,
    };
    inline_within(limits, f, g, s);
}

/// Inlines calls of small functions without loops for which `s` has a graph.
pub(crate) fn inline_small(f: &FuncSym, g: &mut LLGraph, s: &dyn Summaries) {
    let limits = Limits {
        plain: THRESHOLD,
        with_loops: 0,
        virtual_calls: false,
    };
    inline_within(limits, f, g, s);
}

fn inline_within(limits: Limits, f: &FuncSym, g: &mut LLGraph, s: &dyn Summaries) {
    let mut inliner = Inliner {
        s,
        limits,
        bodies: FxHashMap::default(),
        flagged: FxHashMap::default(),
        room: GROWTH,
        changed: false,
    };
    let own = Rc::new(Body {
        function: f.clone(),
        parent: None,
        depth: 0,
    });
    let mut pending = g.reachable();
    pending.reverse();
    while let Some(b) = pending.pop() {
        inliner.block(g, b, &own, &mut pending);
    }
    if inliner.changed {
        // Much of what was copied is not reached any more: later passes need not carry it.
        g.compact();
        ssa_to_ssi(g);
        cleanup(g);
    }
}

/// Whose code a block is.
struct Body {
    function: FuncSym,
    parent: Option<Rc<Body>>,
    depth: usize,
}

impl Body {
    fn is_inside(&self, f: &FuncSym) -> bool {
        self.function == *f || self.parent.as_ref().is_some_and(|p| p.is_inside(f))
    }
}

/// What a call copies.
#[derive(Clone)]
struct Copied {
    graph: Arc<LLGraph>,
    summary: Arc<Summary>,
}

/// Arguments of a call that are constant truth values, by their numbers.
type Flags = Vec<(usize, bool)>;

struct Inliner<'a> {
    s: &'a dyn Summaries,
    limits: Limits,
    /// Blocks that came from callees.
    bodies: FxHashMap<BlockId, Rc<Body>>,
    /// Callees in which flags have been decided.
    flagged: FxHashMap<(FuncSym, Flags), Option<Copied>>,
    /// By how much the function may still grow.
    room: u32,
    changed: bool,
}

impl Inliner<'_> {
    /// Inlines the first call of a block that is worth it; the blocks that come of
    /// that are pending.
    fn block(&mut self, g: &mut LLGraph, b: BlockId, own: &Rc<Body>, pending: &mut Vec<BlockId>) {
        let body = self.bodies.get(&b).unwrap_or(own).clone();
        if self.limits.virtual_calls {
            self.expand_virtual_calls(g, b, &body, pending);
        }
        let found = (g.block(b).operations.iter().enumerate())
            .find_map(|(i, op)| Some((i, self.candidate(op, &body)?)));
        let Some((i, (f, callee))) = found else {
            return;
        };
        self.room = self.room.saturating_sub(callee.summary.size);
        self.changed = true;
        let (tail, first) = inline_call(g, b, i, &callee.graph, self.s);
        self.bodies.insert(tail, body.clone());
        pending.push(tail);
        let inner = Rc::new(Body {
            function: f,
            depth: body.depth + 1,
            parent: Some(body),
        });
        for b in (first..g.blocks.len() as u32).rev().map(BlockId) {
            self.bodies.insert(b, inner.clone());
            pending.push(b);
        }
    }

    /// Makes tests of the virtual calls of a block where that makes calls that are worth
    /// inlining.
    fn expand_virtual_calls(
        &mut self,
        g: &mut LLGraph,
        b: BlockId,
        body: &Rc<Body>,
        pending: &mut Vec<BlockId>,
    ) {
        let found = (g.block(b).operations.iter().enumerate()).find_map(|(i, op)| {
            let arguments = op.args.len().saturating_sub(2);
            // Those that call nothing: else what calls what multiplies.
            let worth = |f: &FuncSym| {
                self.s.summary(f).is_some_and(|s| s.is_leaf())
                    && self.is_candidate(f, arguments, body)
            };
            let tested = tested_targets(g, op, worth);
            (!tested.is_empty()).then_some((i, tested))
        });
        if let Some((i, tested)) = found {
            self.changed = true;
            for new in expand_call(g, b, i, &tested) {
                self.bodies.insert(new, body.clone());
                pending.push(new);
            }
        }
    }

    /// The callee, if it is to be inlined, and what of it.
    fn candidate(&mut self, op: &Operation<LowLevel>, body: &Body) -> Option<(FuncSym, Copied)> {
        if op.op != PlainOp::DirectCall.into() {
            return None;
        }
        let Callees::Known([f]) = callees(op) else {
            return None;
        };
        let arguments = op.args.len() - 1;
        let flags = flags(op);
        let callee = if flags.is_empty() || body.is_inside(f) {
            self.is_candidate(f, arguments, body).then_some(())?;
            Copied {
                summary: self.s.summary(f)?,
                graph: self.s.simplified(f)?,
            }
        } else {
            self.may_be_copied(f, arguments, body).then_some(())?;
            let callee = self.with_flags(f, flags)?;
            self.is_worth_it(&callee.summary).then_some(callee)?
        };
        Some((f.clone(), callee))
    }

    /// Whether a function with that many arguments can be inlined at all.
    fn may_be_copied(&self, f: &FuncSym, arguments: usize, body: &Body) -> bool {
        body.depth < DEPTH && external_effects(f).is_none() && arguments == f.ty().args.len()
    }

    /// Whether a call of a function with that many arguments is to be inlined.
    fn is_candidate(&self, f: &FuncSym, arguments: usize, body: &Body) -> bool {
        if !self.may_be_copied(f, arguments, body) {
            return false;
        }
        let Some(summary) = self.s.summary(f) else {
            return false;
        };
        if body.is_inside(f) && summary.inlining != Inlining::Never {
            // A small function is unrolled once into itself.
            let own = body.parent.is_none() && body.function == *f;
            return own && summary.size <= RECURSIVE && !summary.has_loop;
        }
        self.is_worth_it(&summary)
    }

    /// A callee in which flags have been decided.
    fn with_flags(&mut self, f: &FuncSym, flags: Flags) -> Option<Copied> {
        let s = self.s;
        let decide = |(f, flags): &(FuncSym, Flags)| {
            let mut g = LLGraph::clone(&*s.simplified(f)?);
            let start = g.startblock;
            let args = g.block(start).inputargs.clone();
            let map = (flags.iter())
                .map(|(i, flag)| (args[*i], constant(LLConst::Bool(*flag))))
                .collect();
            let block = g.block_mut(start);
            block.substitute(&map);
            cleanup(&mut g);
            g.compact();
            let summary = Arc::new(Summary {
                inlining: s.summary(f)?.inlining,
                ..crate::summary(&g)
            });
            let graph = Arc::new(g);
            Some(Copied { graph, summary })
        };
        let key = (f.clone(), flags);
        if let Some(known) = self.flagged.get(&key) {
            return known.clone();
        }
        let new = decide(&key);
        self.flagged.insert(key, new.clone());
        new
    }

    fn is_worth_it(&self, s: &Summary) -> bool {
        match s.inlining {
            Inlining::Never => return false,
            Inlining::Always => return self.room > 0,
            Inlining::BySize => {}
        }
        let weight = s.size + s.cost / 10;
        if s.has_loop {
            return weight <= self.limits.with_loops && self.room > 0;
        }
        let tiny = TINY.min(self.limits.plain);
        s.size <= tiny || weight <= self.limits.plain && self.room > 0
    }
}

/// The arguments of a call that are constant truth values.
fn flags(call: &Operation<LowLevel>) -> Flags {
    let flag = |(i, a): (usize, &LLOperand)| match a.as_const() {
        Some(LLConst::Bool(b)) => Some((i, *b)),
        _ => None,
    };
    arguments(call)
        .iter()
        .enumerate()
        .filter_map(flag)
        .collect()
}

/// What a direct call passes.
fn arguments(call: &Operation<LowLevel>) -> &[LLOperand] {
    match call.view() {
        View::DirectCall { args, .. } => args,
        _ => unreachable!("only direct calls are inlined"),
    }
}

/// Replaces a call by the body of the callee. Returns the block with the rest of
/// the caller, and the number of the first block of the body.
fn inline_call(
    g: &mut LLGraph,
    b: BlockId,
    index: usize,
    callee: &LLGraph,
    s: &dyn Summaries,
) -> (BlockId, u32) {
    let (tail, cut) = cut_out_call(g, b, index);
    let Some(CutCall { call, handlers }) = cut else {
        return (tail, g.blocks.len() as u32);
    };
    let (first, _) = g.append(callee);
    let args = arguments(&call).to_vec();
    goto(g, b, Link::new(BlockId(callee.startblock.0 + first), args));
    let body: Vec<BlockId> = (first..g.blocks.len() as u32).map(BlockId).collect();
    let (ret, exc) = (
        BlockId(callee.returnblock.0 + first),
        BlockId(callee.exceptblock.0 + first),
    );
    let mut catcher = Catcher {
        handlers,
        dispatch: None,
        at: call.at,
    };
    for block in body {
        for op in &mut g.block_mut(block).operations {
            op.at = call.at;
        }
        for exit in 0..g.block(block).exits.len() {
            let link = &mut g.block_mut(block).exits[exit];
            link.at = link.at.and(Some(call.at));
            if link.target == ret {
                link.target = tail;
            } else if link.target == exc {
                let [etype, evalue] = [0, 1].map(|i| link.args[i].clone());
                let (target, args) = catcher.target(g, etype, evalue, s);
                let link = &mut g.block_mut(block).exits[exit];
                (link.target, link.args) = (target, args);
            }
        }
        if !catcher.handlers.is_empty() && block != ret && block != exc {
            catcher.guard(g, block, s);
        }
    }
    (tail, first)
}

/// The exception links of the call.
struct Catcher {
    handlers: Vec<Link<LowLevel>>,
    /// The block that tests the class of an exception.
    dispatch: Option<BlockId>,
    at: u32,
}

impl Catcher {
    /// Where an exception goes.
    fn target(
        &mut self,
        g: &mut LLGraph,
        etype: LLOperand,
        evalue: LLOperand,
        s: &dyn Summaries,
    ) -> (BlockId, Vec<LLOperand>) {
        let class = etype.as_const().and_then(vtable);
        for h in &self.handlers {
            let ExitCase::Exception(case) = &h.case else {
                continue;
            };
            let caught = match (class, vtable(case)) {
                _ if catches_all(case, s.program()) => true,
                (Some(class), Some(of)) => is_subclass(class, of, s.program()),
                _ => break,
            };
            if caught {
                return (h.target, handler_args(h, etype, evalue));
            }
        }
        if self.handlers.is_empty() || class.is_some() {
            return (g.exceptblock, vec![etype, evalue]);
        }
        let dispatch = match self.dispatch {
            Some(b) => b,
            None => {
                let b = self.make_dispatch(g, s);
                self.dispatch = Some(b);
                b
            }
        };
        (dispatch, vec![etype, evalue])
    }

    fn make_dispatch(&self, g: &mut LLGraph, s: &dyn Summaries) -> BlockId {
        let (t, v) = (
            g.block(g.exceptblock).inputargs[0],
            g.block(g.exceptblock).inputargs[1],
        );
        let (t, v) = (g.copy_var(t), g.copy_var(v));
        let first = g.new_block(vec![t, v]);
        let mut block = first;
        let number = class_number(g, block, t.into(), "subclassrange_min", self.at);
        for h in &self.handlers {
            let ExitCase::Exception(case) = &h.case else {
                continue;
            };
            let args = handler_args(h, t.into(), v.into());
            if catches_all(case, s.program()) {
                goto(g, block, Link::new(h.target, args));
                return first;
            }
            let found = class_test(g, block, number.into(), case, self.at);
            let next = g.new_block(Vec::new());
            branch(
                g,
                block,
                found,
                Link::new(next, Vec::new()),
                Link::new(h.target, args),
            );
            block = next;
        }
        let raise = Link::new(g.exceptblock, vec![t.into(), v.into()]);
        goto(g, block, raise);
        first
    }

    /// Sends what operations of a block raise by themselves to the handlers.
    fn guard(&self, g: &mut LLGraph, block: BlockId, s: &dyn Summaries) {
        let mut block = block;
        loop {
            let b = g.block(block);
            let raising = b.operations.iter().position(|op| {
                allocates(op) && self.catches_memory_error(s)
                    || op.op.can_raise()
                    && !matches!(callees(op), Callees::Known([f]) if external_effects(f).is_some_and(|e| !e.can_raise))
            });
            let Some(i) = raising else {
                return;
            };
            let last = i + 1 == b.operations.len();
            if !(last && b.canraise()) {
                let next = split_ssa(g, block, i + 1);
                g.block_mut(block).exitswitch = ExitSwitch::LastException;
                self.add_handlers(g, block, s);
                block = next;
                continue;
            }
            self.add_handlers(g, block, s);
            return;
        }
    }

    /// Whether the handlers get to see it when an allocation fails.
    fn catches_memory_error(&self, s: &dyn Summaries) -> bool {
        let class = s.program().exception_vtable(Exc::MemoryError);
        self.handlers.iter().any(|h| match &h.case {
            ExitCase::Exception(case) => {
                vtable(case).is_some_and(|of| is_subclass(&class, of, s.program()))
            }
            _ => false,
        })
    }

    fn add_handlers(&self, g: &mut LLGraph, block: BlockId, s: &dyn Summaries) {
        for h in &self.handlers {
            let covered = g.block(block).exits[1..]
                .iter()
                .any(|l| match (&l.case, &h.case) {
                    (ExitCase::Exception(c), new) => l.case == *new || catches_all(c, s.program()),
                    _ => false,
                });
            if covered {
                continue;
            }
            let link = copy_handler(g, h);
            g.block_mut(block).exits.push(link);
        }
    }
}

/// Loads one of the two numbers of a class.
pub(crate) fn class_number(
    g: &mut LLGraph,
    b: BlockId,
    vtable: LLOperand,
    name: &str,
    at: u32,
) -> taipan_graph::VarId {
    let read = View::Getfield {
        object: &vtable,
        field: &constant(LLConst::field(name)),
    };
    push(g, b, read, *SIGNED, at)
}

/// Tests whether the class with that number is `class` or a subclass of it.
pub(crate) fn class_test(
    g: &mut LLGraph,
    b: BlockId,
    number: LLOperand,
    class: &LLConst,
    at: u32,
) -> taipan_graph::VarId {
    let class = match class {
        LLConst::Static(s, _) => LLConst::Static(s.clone(), OBJECT_VTABLE.ptr()),
        other => other.clone(),
    };
    let min = class_number(g, b, constant(class.clone()), "subclassrange_min", at);
    let max = class_number(g, b, constant(class), "subclassrange_max", at);
    let is_between = View::IntBetween {
        low: &min.into(),
        value: &number,
        high: &max.into(),
    };
    push(g, b, is_between, *BOOL, at)
}
