//! The parts of residual functions that are worth optimisations: loops and whole functions.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_graph::{BlockId, Dominators};
use taipan_jit::engine::ResidualFunction;

/// Regions of more blocks are not compiled again with optimisations.
pub(crate) const LARGEST_REGION: usize = 10_000;

/// The blocks that are compiled together when a block has been entered often: its loop, or
/// the whole function if it is the first one. None if there is no such region.
pub(crate) fn hot_region(residual: &ResidualFunction<'_>, head: BlockId) -> FxHashSet<BlockId> {
    let graph = residual.graph();
    if head == graph.startblock {
        return graph.reachable().into_iter().collect();
    }
    loop_of(residual, head)
}

/// The blocks of the loop that starts with a block; none if there is no such loop.
fn loop_of(residual: &ResidualFunction<'_>, head: BlockId) -> FxHashSet<BlockId> {
    let graph = residual.graph();
    let dominators = Dominators::new(graph);
    let mut from: FxHashMap<BlockId, Vec<BlockId>> = FxHashMap::default();
    for b in graph.reachable() {
        // A promotion that asks again is no loop.
        if residual.stub(b).is_some_and(|s| s.value.is_some()) {
            continue;
        }
        for link in &graph.block(b).exits {
            from.entry(link.target).or_default().push(b);
        }
    }
    let mut inside = FxHashSet::default();
    let sources = from.get(&head).into_iter().flatten().copied();
    let mut waiting: Vec<BlockId> = sources.filter(|b| dominators.dominates(head, *b)).collect();
    if !waiting.is_empty() {
        inside.insert(head);
    }
    while let Some(b) = waiting.pop() {
        if inside.insert(b) {
            waiting.extend(from.get(&b).into_iter().flatten());
        }
    }
    inside
}

/// The head of the innermost loop around a block.
pub(crate) fn loop_around(residual: &ResidualFunction<'_>, inner: BlockId) -> Option<BlockId> {
    let graph = residual.graph();
    let dominators = Dominators::new(graph);
    let mut heads = BTreeSet::new();
    for b in graph.reachable() {
        let targets = graph.block(b).exits.iter().map(|l| l.target);
        heads.extend(targets.filter(|t| residual.is_entry(*t) && dominators.dominates(*t, b)));
    }
    heads.remove(&inner);
    let loops = heads
        .into_iter()
        .map(|head| (loop_of(residual, head), head));
    let around = loops.filter(|l| l.0.contains(&inner) && l.0.len() <= LARGEST_REGION);
    around.min_by_key(|l| l.0.len()).map(|l| l.1)
}
