//! Allocation that can fail: where there is no memory the new object is null, and MemoryError is raised.
//!
//! ```text
//! v1 = malloc(<type S>, <gc>)         v1 = malloc(<type S>, <gc>)
//! v2 = setfield(v1, .x, v0)           v2 = ptr_iszero(v1)
//! ...                                 switch v2
//!                                         False: block1(v1, v0)
//!                                         True: block2()
//!                                     block1(v3, v4):
//!                                     v5 = setfield(v3, .x, v4)
//!                                     ...
//!                                     block2():
//!                                     direct_call(&rpy_raise_memory_error, &vtable, &instance)
//!                                     debug_record_traceback()
//!                                     goto return(0)
//! ```
//!
//! This comes late, since until then nothing has to know that an allocation may end a block. Where a
//! handler catches the exception, the allocation does end its block: then the exception transform has made
//! the test.

use rustc_hash::FxHashMap;
use taipan_graph::{BlockId, Link, Operation, VarId};
use taipan_language::Exc;
use taipan_lltype::{
    BOOL, LLConst, LLGraph, LLOperand, LowLevel, NamedOperands, OBJECT, OBJECT_VTABLE, Program,
    VOID, View,
};

use crate::calls::{allocates, runtime_call};
use crate::ssa::{branch, constant, push, zero};

/// Tests the results of all allocations that have no test yet.
pub(crate) fn test_allocations(g: &mut LLGraph, program: &dyn Program) {
    // By position in the source.
    let mut raising: FxHashMap<u32, BlockId> = FxHashMap::default();
    let mut pending = g.reachable();
    while let Some(b) = pending.pop() {
        let operations = &g.block(b).operations;
        let untested = |i: &usize| {
            allocates(&operations[*i])
                && !(operations.get(i + 1)).is_some_and(|next| tests(next, &operations[*i]))
        };
        let Some(i) = (0..operations.len()).find(untested) else {
            continue;
        };
        let (object, at) = (operations[i].result, operations[i].at);
        let rest = g.split_block(b, i + 1);
        pending.push(rest);
        let ok = g.block(b).exits[0].clone();
        let out = match raising.get(&at) {
            Some(out) => *out,
            None => {
                let out = raise_memory_error(g, at, program);
                raising.insert(at, out);
                out
            }
        };
        test(g, b, object.into(), ok, Link::new(out, Vec::new()), at);
    }
}

/// Whether an operation is the test of what another one has allocated.
fn tests(op: &Operation<LowLevel>, allocation: &Operation<LowLevel>) -> bool {
    matches!(op.view(), View::PtrIszero { value } if value.as_var() == Some(allocation.result))
}

/// The new object that a block ends with, and tests.
pub(crate) fn tested_allocation(g: &LLGraph, b: BlockId) -> Option<VarId> {
    let [.., allocation, test] = &g.block(b).operations[..] else {
        return None;
    };
    (allocates(allocation) && tests(test, allocation)).then_some(allocation.result)
}

/// Ends a block by the test of a new object.
pub(crate) fn test(
    g: &mut LLGraph,
    b: BlockId,
    object: LLOperand,
    ok: Link<LowLevel>,
    failed: Link<LowLevel>,
    at: u32,
) {
    let value = &object;
    let is_null = push(g, b, View::PtrIszero { value }, *BOOL, at);
    branch(g, b, is_null, ok, failed);
}

/// The class and the instance that are raised.
pub(crate) fn memory_error(program: &dyn Program) -> [LLOperand; 2] {
    let class = program.exception_vtable(Exc::MemoryError);
    let instance = program.exception_instance(Exc::MemoryError);
    [
        constant(LLConst::data(class, OBJECT_VTABLE.ptr())),
        constant(LLConst::data(instance, OBJECT.ptr())),
    ]
}

/// A block that raises MemoryError.
fn raise_memory_error(g: &mut LLGraph, at: u32, program: &dyn Program) -> BlockId {
    let out = g.new_block(Vec::new());
    // A call: there are many such places, and none is ever reached in most programs.
    let call = runtime_call(g, "rpy_raise_memory_error", &memory_error(program), at);
    g.block_mut(out).operations.push(call);
    push(g, out, View::DebugRecordTraceback {}, *VOID, at);
    let dummy = zero(*g.ty(g.returnvar())).unwrap_or(LLConst::void());
    g.block_mut(out).exits = vec![Link::new(g.returnblock, vec![constant(dummy)])];
    out
}
