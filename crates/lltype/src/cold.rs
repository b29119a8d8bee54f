//! Blocks that are rarely executed: their code is placed apart, and what can be done there
//! is not done elsewhere.
//!
//! Residual code leaves a unit for what was rare when the unit was made.

use taipan_graph::{Block, BlockId, ExitCase, ExitSwitch, Link, LinkId, entry_map};

use crate::{LLGraph, LLOp, LowLevel, PlainOp};

/// Whether each block deals with an exception, an overflow or a full nursery, or
/// leaves a unit, or only leads to such blocks or comes from them.
pub fn cold_blocks(graph: &LLGraph) -> Vec<bool> {
    cold_blocks_of(graph, &graph.reachable(), &entry_map(graph))
}

/// The same for who knows the reachable blocks, in their order, and the links into each.
pub fn cold_blocks_of(graph: &LLGraph, order: &[BlockId], entries: &[Vec<LinkId>]) -> Vec<bool> {
    let mut cold = vec![false; graph.blocks.len()];
    let mut pending = Vec::new();
    // By block, the links to it and from it that are not known to be rare.
    let mut links = vec![(0, 0); graph.blocks.len()];
    for b in order {
        let block = graph.block(*b);
        let into = &entries[b.index()];
        links[b.index()] = (into.len(), block.exits.len());
        // Unless other ways lead there too.
        let rare = match into[..] {
            [link] => link.exit == 1 && ends_rarely(graph, link.source),
            _ => false,
        };
        if rare || block.operations.iter().any(|op| is_rare(op.op)) {
            pending.push(*b);
        }
    }
    while let Some(b) = pending.pop() {
        let fixed = b == graph.startblock || b == graph.returnblock || b == graph.exceptblock;
        if fixed || std::mem::replace(&mut cold[b.index()], true) {
            continue;
        }
        for link in &graph.block(b).exits {
            let (into, _) = &mut links[link.target.index()];
            *into -= 1;
            if *into == 0 {
                pending.push(link.target);
            }
        }
        for link in &entries[b.index()] {
            let (_, out) = &mut links[link.source.index()];
            *out -= 1;
            if *out == 0 {
                pending.push(link.source);
            }
        }
    }
    cold
}

/// Whether the second of a block's exits is a rare one.
fn ends_rarely(graph: &LLGraph, b: BlockId) -> bool {
    let block = graph.block(b);
    matches!(block.exitswitch, ExitSwitch::LastException) && block.exits.len() == 2
}

fn is_rare(op: LLOp) -> bool {
    use PlainOp::*;
    matches!(
        op,
        LLOp::Plain(
            DebugStartTraceback
                | DebugRecordTraceback
                | DebugCatchException
                | DebugReraiseTraceback
                | ExcType
                | JitExit
        )
    )
}

/// Whether a block ends in a switch with so many cases that it is taken for that of an interpreter's loop.
pub fn is_large_switch(block: &Block<LowLevel>) -> bool {
    const LARGE: usize = 8;
    let cases = |e: &&Link<LowLevel>| matches!(e.case, ExitCase::Value(_));
    block.exits.iter().filter(cases).count() >= LARGE
}
