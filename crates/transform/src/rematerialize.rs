//! One name for each object across collections.
//!
//! ```text
//! v1: *A = cast_pointer(v0)           v1: *A = cast_pointer(v0)
//! v2 = getfield(v1, .x)               v2 = getfield(v1, .x)
//! v3 = direct_call(&g)                v3 = direct_call(&g)
//! v4 = getfield(v1, .y)               v5: *A = cast_pointer(v0)
//! v6 = getfield(v0, .z)               v4 = getfield(v5, .y)
//!                                     v6 = getfield(v0, .z)
//! ```
//!
//! A cast is no instruction, but its result is another variable: where both it and what it
//! was made of are needed after a collection, the object would take two slots of the frame
//! and be read back twice, into two registers. So casts are repeated where they are used,
//! and what lives through collections, and along links, is what was cast. The result of a
//! cast is its operand with another type, whenever it is made, so this changes no value; and
//! nothing lives longer than what was live before, since a cast that is not used any more
//! goes.

use rustc_hash::FxHashMap;
use taipan_graph::{BlockId, Operation, VarId, remove_identical_vars_ssa, ssa_to_ssi};
use taipan_lltype::{LLGraph, LLOperand, LowLevel, NamedOperands, PlainOp, View};

use crate::Summaries;
use crate::calls::can_collect;

/// Repeats casts of GC pointers instead of keeping their results across collections.
pub(crate) fn repeat_casts(g: &mut LLGraph, s: &dyn Summaries) {
    let order = g.reachable();
    let operations = || order.iter().flat_map(|b| &g.block(*b).operations);
    if !operations().any(|op| can_collect(op, s)) || !order.iter().any(|b| outlives(g, *b, s)) {
        return;
    }
    remove_identical_vars_ssa(g);
    let order = g.reachable();
    let mut casts: FxHashMap<VarId, Operation<LowLevel>> = FxHashMap::default();
    for b in &order {
        let made = g.block(*b).operations.iter().filter(|op| is_cast(g, op));
        casts.extend(made.map(|op| (op.result, op.clone())));
    }
    for b in order {
        Stretch::default().rewrite(g, b, &casts, s);
    }
    ssa_to_ssi(g);
}

/// Whether the result of a cast in a block is needed after a collection or in other blocks.
fn outlives(g: &LLGraph, b: BlockId, s: &dyn Summaries) -> bool {
    let block = g.block(b);
    let mut casts: Vec<VarId> = Vec::new();
    let mut collected = 0;
    let is_among = |o: &LLOperand, casts: &[VarId]| o.as_var().is_some_and(|v| casts.contains(&v));
    for op in &block.operations {
        if op.args.iter().any(|a| is_among(a, &casts[..collected])) {
            return true;
        }
        if is_cast(g, op) {
            casts.push(op.result);
        }
        if can_collect(op, s) {
            collected = casts.len();
        }
    }
    let mut passed = block.exits.iter().flat_map(|l| &l.args);
    passed.any(|a| is_among(a, &casts))
}

/// Whether an operation only gives an object another type.
fn is_cast(g: &LLGraph, op: &Operation<LowLevel>) -> bool {
    let casts = [PlainOp::CastPointer, PlainOp::CastOpaquePtr];
    let Some(View::CastPointer { value } | View::CastOpaquePtr { value }) = op.view_among(&casts)
    else {
        return false;
    };
    g.ty(op.result).is_gc_ptr() && value.as_var().is_some_and(|v| g.ty(v).is_gc_ptr())
}

/// Operations of a block between two collections.
#[derive(Default)]
struct Stretch {
    /// What the results of casts are called here.
    names: FxHashMap<VarId, VarId>,
    operations: Vec<Operation<LowLevel>>,
}

impl Stretch {
    fn rewrite(
        &mut self,
        g: &mut LLGraph,
        b: BlockId,
        casts: &FxHashMap<VarId, Operation<LowLevel>>,
        s: &dyn Summaries,
    ) {
        // Nothing may come after an operation that has exits of its own.
        let raising = g.block(b).canraise();
        let mut operations = std::mem::take(&mut g.block_mut(b).operations);
        let last = operations.pop_if(|_| raising);
        for op in operations {
            self.operation(g, op, casts, s);
        }
        let mut exits = std::mem::take(&mut g.block_mut(b).exits);
        for a in exits.iter_mut().flat_map(|l| &mut l.args) {
            self.operand(g, a, casts);
        }
        g.block_mut(b).exits = exits;
        if let Some(op) = last {
            self.operation(g, op, casts, s);
        }
        g.block_mut(b).operations = std::mem::take(&mut self.operations);
    }

    fn operation(
        &mut self,
        g: &mut LLGraph,
        mut op: Operation<LowLevel>,
        casts: &FxHashMap<VarId, Operation<LowLevel>>,
        s: &dyn Summaries,
    ) {
        for a in &mut op.args {
            self.operand(g, a, casts);
        }
        if casts.contains_key(&op.result) {
            self.names.insert(op.result, op.result);
        }
        if can_collect(&op, s) {
            self.names.clear();
        }
        self.operations.push(op);
    }

    /// Makes an operand what it is called here, after a cast if need be.
    fn operand(
        &mut self,
        g: &mut LLGraph,
        a: &mut LLOperand,
        casts: &FxHashMap<VarId, Operation<LowLevel>>,
    ) {
        let Some((v, cast)) = a.as_var().and_then(|v| Some((v, casts.get(&v)?))) else {
            return;
        };
        if let Some(name) = self.names.get(&v) {
            *a = (*name).into();
            return;
        }
        let mut again = cast.clone();
        for a in &mut again.args {
            self.operand(g, a, casts);
        }
        again.result = g.copy_var(v);
        self.names.insert(v, again.result);
        *a = again.result.into();
        self.operations.push(again);
    }
}
