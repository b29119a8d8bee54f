//! Arrays of pointers that are filled as soon as they are there need not be cleared.
//!
//! ```text
//! v1 = malloc_varsize(<type A>, <gc>, v0)     v1 = gc_malloc_filled(<type A>, <gc>, v0)
//! v2 = int_lt(0, v0)                          v2 = int_lt(0, v0)
//! switch v2 True: block1(0, v1, v0, v3)       ...
//! block1(i, a, n, x):
//!     setarrayitem(a, i, x)
//!     j = int_add(i, 1)
//!     c = int_lt(j, n)
//!     switch c True: block1(j, a, n, x)
//! ```
//!
//! Such is `[x] * n`. What the items are before that loop is seen by nobody: the loop is
//! run through without a collection, from 0 to the length, and what is not positive is the
//! length of an array without items.

use taipan_graph::{BlockId, ExitCase, ExitSwitch, Link, Operation, VarId};
use taipan_lltype::{
    ConstantOperand, LLConst, LLGraph, LLOperand, LowLevel, NamedOperands, NumFamily, NumOp,
    PlainOp, View,
};

use crate::Summaries;
use crate::calls::can_collect;
use crate::ssa::type_of;

/// Marks the allocations of arrays that are filled at once. The graph is in SSI form.
pub(crate) fn mark_filled(g: &mut LLGraph, s: &dyn Summaries) {
    for b in g.reachable() {
        // Only the last one can be what the loop behind the block fills.
        let last = (g.block(b).operations.iter()).rposition(|op| can_collect(op, s));
        if let Some(i) = last
            && is_filled(g, b, i, s)
        {
            let malloc = &mut g.block_mut(b).operations[i];
            if let View::MallocVarsize { ty, flavor, length } = malloc.view() {
                let filled = View::GcMallocFilled { ty, flavor, length };
                *malloc = filled.operation(malloc.result, malloc.at);
            }
        }
    }
}

/// Whether an operation allocates an array that the block's end fills.
fn is_filled(g: &LLGraph, b: BlockId, index: usize, s: &dyn Summaries) -> bool {
    let block = g.block(b);
    let malloc = &block.operations[index];
    let (array, View::MallocVarsize { ty, length, .. }) = (malloc.result, malloc.view()) else {
        return false;
    };
    if !is_array_of_pointers(ty) {
        return false;
    }
    let rest = &block.operations[index + 1..];
    let is_zero = |o: &LLOperand| matches!(o.as_const(), Some(LLConst::Int(_, n)) if n.get() == 0);
    let tests_length = |v: VarId| {
        (rest.iter().filter(|op| op.result == v).filter_map(less))
            .any(|(left, right)| is_zero(left) && right == length)
    };
    let Some(into) = taken_if(g, b, tests_length) else {
        return false;
    };
    let Some(filled) = filling(g, into.target, s) else {
        return false;
    };
    let passed = |input: usize| &into.args[input];
    passed(filled.array).as_var() == Some(array)
        && passed(filled.length) == length
        && is_zero(passed(filled.index))
        && !rest.iter().any(|op| op.args.contains(&array.into()))
}

/// Whether a type is that of an array whose items are pointers.
fn is_array_of_pointers(ty: &LLOperand) -> bool {
    (ty.as_type()).is_some_and(|t| t.as_array().is_some_and(|a| a.of.is_gc_ptr()))
}

/// What an operation compares: whether the first is less than the second.
fn less(op: &Operation<LowLevel>) -> Option<(&LLOperand, &LLOperand)> {
    match op.view() {
        View::Binary {
            family: NumFamily::Int,
            op: NumOp::Lt,
            left,
            right,
        } => Some((left, right)),
        _ => None,
    }
}

/// Where a block goes on if what it ends with is true.
fn taken_if(g: &LLGraph, b: BlockId, test: impl Fn(VarId) -> bool) -> Option<&Link<LowLevel>> {
    let block = g.block(b);
    match &block.exitswitch {
        ExitSwitch::Value(LLOperand::Var(c)) if test(*c) => {
            block.exits.iter().find(|l| l.case == ExitCase::Bool(true))
        }
        _ => None,
    }
}

/// Input arguments of a loop of one block, by number.
struct Filling {
    array: usize,
    index: usize,
    length: usize,
}

/// If a block is a loop that stores into each item of an array, from an index up to a length.
fn filling(g: &LLGraph, b: BlockId, s: &dyn Summaries) -> Option<Filling> {
    let block = g.block(b);
    if block.operations.iter().any(|op| can_collect(op, s)) {
        return None;
    }
    let position = |o: &LLOperand| {
        let v = o.as_var()?;
        block.inputargs.iter().position(|w| *w == v)
    };
    let set = (block.operations.iter()).find(|op| op.op == PlainOp::Setarrayitem.into())?;
    let View::Setarrayitem {
        array: filled,
        index,
        value,
    } = set.view()
    else {
        return None;
    };
    let (array, index) = (position(filled)?, position(index)?);
    let one = |o: &LLOperand| matches!(o.as_const(), Some(LLConst::Int(_, n)) if n.get() == 1);
    let is_next = |o: &LLOperand| {
        let made = |op: &&Operation<LowLevel>| LLOperand::from(op.result) == *o;
        (block.operations.iter().filter(made)).any(|op| match op.view() {
            View::Binary {
                family: NumFamily::Int,
                op: NumOp::Add,
                left,
                right,
            } => position(left) == Some(index) && one(right),
            _ => false,
        })
    };
    let test = |c: VarId| {
        (block.operations.iter().filter(|op| op.result == c))
            .filter_map(less)
            .find(|(next, _)| is_next(next))
    };
    let again = taken_if(g, b, |c| test(c).is_some()).filter(|l| l.target == b)?;
    let ExitSwitch::Value(LLOperand::Var(c)) = &block.exitswitch else {
        return None;
    };
    let length = position(test(*c)?.1)?;
    let stays = |i: usize| position(&again.args[i]) == Some(i);
    let others = |op: &&Operation<LowLevel>| op.result != set.result;
    let used = |op: &Operation<LowLevel>| op.args.contains(filled);
    let good = stays(array)
        && stays(length)
        && is_next(&again.args[index])
        && !block.operations.iter().filter(others).any(used)
        && type_of(g, value).is_gc_ptr();
    good.then_some(Filling {
        array,
        index,
        length,
    })
}
