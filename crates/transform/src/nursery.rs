//! Allocation in the nursery, with the collection out of the way.
//!
//! ```text
//! v1 = malloc(<type S>, <gc>)         v1 = gc_malloc_nursery(<type S>, <gc>)
//! ...                                 canraise
//!                                         ok: block1(v1, v0)
//!                                         (full): block2(v0)
//!                                     block1(v2, v3): ...
//!                                     block2(v4):
//!                                     v5 = malloc(<type S>, <gc>)
//!                                     goto block1(v5, v4)
//! ```
//!
//! Where the new object is tested for null (see [`crate::memory_errors`]), that is done in `block2` alone.
//!
//! Done where roots are live, which are then saved and read back only in `block2`.

use taipan_graph::{BlockId, ExitCase, ExitSwitch, Link, Operation};
use taipan_lltype::{
    ConstantOperand, LLConst, LLGraph, LLOperand, LowLevel, NamedOperands, OBJECT_VTABLE, PlainOp,
    Program, View, has_destructor, layout,
};

use crate::ssa::substituted;

/// Size up to which objects are allocated in this way; code generators support it.
pub(crate) const MAX_SIZE: u64 = 128;

/// Whether an operation allocates an object that can be allocated in this way.
fn is_simple(op: &Operation<LowLevel>, program: &dyn Program) -> bool {
    op.op == PlainOp::Malloc.into()
        && !has_destructor(op)
        && (op.view().allocation().and_then(|a| a.ty.as_type()))
            .is_some_and(|t| t.is_gc_container() && layout(t, program).size <= MAX_SIZE)
}

/// Splits the blocks after allocations across which GC pointers are live.
pub(crate) fn split_mallocs(g: &mut LLGraph, program: &dyn Program) {
    let mut pending = g.reachable();
    pending.reverse();
    while let Some(b) = pending.pop() {
        let mut from = 0;
        while let Some(i) = (g.block(b).operations.iter().skip(from))
            .position(|op| is_simple(op, program))
            .map(|i| i + from)
        {
            if split(g, b, i) {
                let rest = g.block(b).exits[0].target;
                pending.push(rest);
                break;
            }
            from = i + 1;
        }
    }
}

/// Splits a block after an allocation, unless no other GC pointer is needed after it.
fn split(g: &mut LLGraph, b: BlockId, index: usize) -> bool {
    let result = g.block(b).operations[index].result;
    let block = g.block(b);
    let used_after = (block.operations[index + 1..].iter().flat_map(|op| &op.args))
        .chain(block.exits.iter().flat_map(|l| &l.args));
    let defined_after: Vec<_> = block.operations[index + 1..]
        .iter()
        .map(|op| op.result)
        .collect();
    let mut roots = (used_after.filter_map(LLOperand::as_var))
        .filter(|v| *v != result && g.ty(*v).is_gc_ptr() && !defined_after.contains(v));
    if roots.next().is_none() {
        return false;
    }
    let rest = g.split_block(b, index + 1);
    let passed = g.block(b).exits[0].args.clone();
    let Some(malloc) = g.block_mut(b).operations.pop() else {
        return false;
    };
    // The slow way gets all but the new object, and passes on its own.
    let others: Vec<_> = passed
        .iter()
        .filter_map(LLOperand::as_var)
        .filter(|v| *v != result)
        .collect();
    let copies: Vec<_> = others.iter().map(|v| g.copy_var(*v)).collect();
    let slow = g.new_block(copies.clone());
    let object = g.copy_var(result);
    let args = (passed.iter())
        .map(|a| match a.as_var() {
            Some(v) if v == result => object.into(),
            Some(v) => match others.iter().position(|o| *o == v) {
                Some(i) => copies[i].into(),
                None => a.clone(),
            },
            None => a.clone(),
        })
        .collect::<Vec<_>>();
    let View::Malloc { ty, flavor, .. } = malloc.view() else {
        return false;
    };
    let again = malloc.view().operation(object, malloc.at);
    g.block_mut(slow).operations.push(again);
    match after_test(g, rest) {
        // What is in the nursery is there: only the slow way needs the test.
        Some(ok) => {
            let inputs = g.block(rest).inputargs.clone();
            let map = inputs.iter().copied().zip(passed).collect();
            let passed_on = substituted(&ok.args, &map);
            let mut test = g.block(rest).clone();
            let map = inputs.into_iter().zip(args).collect();
            test.substitute(&map);
            let result = g.copy_var(test.operations[0].result);
            test.operations[0].result = result;
            let block = g.block_mut(slow);
            block.operations.append(&mut test.operations);
            block.exitswitch = ExitSwitch::Value(result.into());
            block.exits = test.exits;
            g.block_mut(b).exits = vec![Link::new(ok.target, passed_on)];
        }
        None => g.block_mut(slow).exits = vec![Link::new(rest, args)],
    }
    let fast = View::GcMallocNursery { ty, flavor }.operation(result, malloc.at);
    let block = g.block_mut(b);
    block.operations.push(fast);
    block.exitswitch = ExitSwitch::LastException;
    let full = ExitCase::Exception(LLConst::Null(OBJECT_VTABLE.ptr()));
    let others = others.into_iter().map(LLOperand::Var).collect();
    block.exits.push(Link::with_case(slow, others, full));
    true
}

/// Where a block goes on with a new object, if all that it does is to test whether there is one.
fn after_test(g: &LLGraph, b: BlockId) -> Option<Link<LowLevel>> {
    let block = g.block(b);
    let [test] = &block.operations[..] else {
        return None;
    };
    let is_test = matches!(test.view(), View::PtrIszero { .. })
        && matches!(&block.exitswitch, ExitSwitch::Value(LLOperand::Var(v)) if *v == test.result);
    let ok = (block.exits.iter()).find(|l| l.case == ExitCase::Bool(false))?;
    let passes_test = |l: &Link<LowLevel>| l.args.iter().any(|a| a.as_var() == Some(test.result));
    (is_test && !block.exits.iter().any(passes_test)).then(|| ok.clone())
}
