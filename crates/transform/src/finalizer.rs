//! Which finalizers are light (RPython: `backendopt/finalizer.py`).

use std::sync::Arc;

use rustc_hash::FxHashSet;
use taipan_graph::{BlockId, Operation};
use taipan_lltype::{
    Accessed, FuncSym, LLGraph, LLOp, LLOperand, LowLevel, NamedOperands, PlainOp,
};

use crate::calls::{Callees, callees, external_effects, is_raw_malloc};

/// Whether a finalizer may be called in the middle of a collection: neither it nor
/// what it calls allocates GC objects, reads or writes a field that holds one, or calls
/// what may run the collector. `graph_of` answers the graph of a function, none for
/// external ones.
pub fn is_light_finalizer(
    f: &FuncSym,
    graph_of: &mut dyn FnMut(&FuncSym) -> Option<Arc<LLGraph>>,
) -> bool {
    let mut seen = FxHashSet::default();
    let mut todo = vec![f.clone()];
    while let Some(f) = todo.pop() {
        if !seen.insert(f.clone()) {
            continue;
        }
        let light = match external_effects(&f) {
            Some(effects) => !effects.can_collect,
            None => graph_of(&f).is_some_and(|g| is_light_graph(&g, &mut todo)),
        };
        if !light {
            return false;
        }
    }
    true
}

/// Whether a graph is light if what it calls, put into `called`, is.
fn is_light_graph(g: &LLGraph, called: &mut Vec<FuncSym>) -> bool {
    let light = |b: BlockId| {
        let mut operations = g.block(b).operations.iter();
        operations.all(|op| match callees(op) {
            Callees::Known(fs) => {
                called.extend(fs.iter().cloned());
                true
            }
            Callees::Unknown => false,
            Callees::None => is_light_operation(g, op),
        })
    };
    g.reachable().into_iter().all(light)
}

fn is_light_operation(g: &LLGraph, op: &Operation<LowLevel>) -> bool {
    use PlainOp::*;
    let is_gc = |o: &LLOperand| crate::ssa::type_of(g, o).is_gc_ptr();
    match op.op {
        LLOp::Num(..) => true,
        LLOp::Plain(Malloc | MallocVarsize) => is_raw_malloc(op),
        LLOp::Plain(Setfield | BareSetfield | Getfield) => match op.view().access() {
            Some(Accessed {
                stored: Some(value),
                ..
            }) => !is_gc(value),
            _ => !g.ty(op.result).is_gc_ptr(),
        },
        // Reads and writes of raw memory; objects themselves stay where they are.
        LLOp::Plain(
            Getarrayitem | Setarrayitem | BareSetarrayitem | Getinteriorfield | Setinteriorfield
            | BareSetinteriorfield,
        ) => {
            let Some(access) = op.view().access() else {
                return false;
            };
            let container = crate::ssa::type_of(g, access.object).pointee();
            container.is_some_and(|t| !t.is_gc_container())
                && !access.stored.is_some_and(is_gc)
                && !g.ty(op.result).is_gc_ptr()
        }
        LLOp::Plain(
            RawMalloc | RawFree | Free | RawMemclear | RawMemset | RawMemcopy | RawMemmove
            | RawLoad | RawStore | Keepalive | SameAs | Hint | JitMarker,
        ) => true,
        LLOp::Plain(p) => p.flags() & (taipan_lltype::FOLD | taipan_lltype::OVF) != 0,
    }
}
