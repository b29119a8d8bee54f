//! Blocks that are rarely executed: their code is placed apart, and what can be done there
//! is not done elsewhere.
//!
//! Residual code leaves a unit for what was rare when the unit was made.

use taipan_graph::{BlockId, ExitSwitch, LinkId, entry_map};

use crate::{LLGraph, LLOp, PlainOp};

/// Whether each block deals with an exception, an overflow or a full nursery, or
/// leaves a unit, or only leads to such blocks or comes from them.
pub fn cold_blocks(graph: &LLGraph) -> Vec<bool> {
    cold_blocks_of(graph, &graph.reachable(), &entry_map(graph))
}

/// The same for who knows the reachable blocks, in their order, and the links into each.
pub fn cold_blocks_of(graph: &LLGraph, order: &[BlockId], entries: &[Vec<LinkId>]) -> Vec<bool> {
    let mut cold = vec![false; graph.blocks.len()];
    for b in order {
        let block = graph.block(*b);
        if let (ExitSwitch::LastException, [_, rare]) = (&block.exitswitch, &block.exits[..]) {
            // Unless other ways lead there too.
            cold[rare.target.index()] |= entries[rare.target.index()].len() == 1;
        }
        cold[b.index()] |= block.operations.iter().any(|op| {
            matches!(
                op.op,
                LLOp::Plain(
                    PlainOp::DebugStartTraceback
                        | PlainOp::DebugRecordTraceback
                        | PlainOp::DebugCatchException
                        | PlainOp::ExcType
                        | PlainOp::JitExit
                )
            )
        });
    }
    let fixed = [graph.startblock, graph.returnblock, graph.exceptblock];
    fixed.iter().for_each(|b| cold[b.index()] = false);
    let mut changed = true;
    while changed {
        changed = false;
        for b in order.iter().filter(|b| !fixed.contains(b)) {
            let exits = &graph.block(*b).exits;
            let mut into = entries[b.index()].iter();
            let is_cold = exits.iter().all(|l| cold[l.target.index()])
                || into.all(|l| cold[l.source.index()]);
            if is_cold && !cold[b.index()] {
                cold[b.index()] = true;
                changed = true;
            }
        }
    }
    cold
}
