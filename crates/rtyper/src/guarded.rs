//! Allocations whose MemoryError is caught.
//!
//! ```text
//! v1 = malloc(<type S>, <gc>)                 v1 = malloc(<type S>, <gc>)
//! v2 = direct_call(&S.__init__, v1)           canraise
//! canraise                                        ok: block2(v1)
//!     ok: block1(v1)                              &vtable(MemoryError): block3()
//!     &vtable(MemoryError): block3()          block2(v3):
//!                                                 v2 = direct_call(&S.__init__, v3)
//!                                                 canraise ...
//! ```
//!
//! One operation of the program may allocate and call. The graph's exception links are those of the call;
//! an allocation before it gets links of its own if one of them catches MemoryError. Calls of helpers do,
//! too, where the program names MemoryError: other handlers see what RPython lets them see.

use taipan_graph::{BlockId, ExitSwitch, Link, Operation};
use taipan_lltype::{ConstantOperand, LLGraph, LLOperand, LowLevel, NamedOperands, View};

use crate::llops::Raising;

/// An allocation that is not the last operation of its block: the block, and which one it is.
pub(crate) type GuardedAllocation = (BlockId, usize);

/// Which of the operations from one on, and before the one that raises, allocate GC objects, by
/// themselves or, if these count, in calls.
pub(crate) fn allocations(
    operations: &[Operation<LowLevel>],
    first: usize,
    raising: Raising,
    with_calls: bool,
) -> Vec<usize> {
    let end = match raising {
        Raising::At(i) => i,
        Raising::Unknown | Raising::Removed => operations.len(),
    };
    let allocates = |op: &Operation<LowLevel>| match op.view() {
        View::Malloc { ty, .. } | View::MallocVarsize { ty, .. } => {
            ty.as_type().is_some_and(|t| t.is_gc_container())
        }
        _ => with_calls && op.op.can_raise(),
    };
    (first..end.min(operations.len()))
        .filter(|i| allocates(&operations[*i]))
        .collect()
}

/// Ends a block after an allocation, with exception links like those that the block ends with.
pub(crate) fn guard_allocation(g: &mut LLGraph, (b, index): GuardedAllocation) {
    let handlers: Vec<Link<LowLevel>> = g.block(b).exits[1..].to_vec();
    g.split_block(b, index + 1);
    let mut links = Vec::with_capacity(handlers.len());
    for mut link in handlers {
        for v in [&mut link.last_exception, &mut link.last_exc_value] {
            let Some(old) = *v else { continue };
            let new = g.copy_var(old);
            *v = Some(new);
            for a in &mut link.args {
                if *a == LLOperand::Var(old) {
                    *a = LLOperand::Var(new);
                }
            }
        }
        links.push(link);
    }
    let block = g.block_mut(b);
    block.exitswitch = ExitSwitch::LastException;
    block.exits.extend(links);
}
