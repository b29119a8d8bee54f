//! A loop over bytecodes gets a switch of its own behind each handler ("threaded code"): the
//! machine then predicts by each what follows its bytecode, and what a handler knows need not
//! fit what all the others know.
//!
//! ```text
//! block1(pc):                         block1(pc):                 ; once
//!     op = getarrayitem(code, pc)         op = getarrayitem(code, pc)
//!     switch op                           switch op 0: block2(pc) 1: block3(pc) ...
//!         0: block2(pc)               block2(pc2):
//!         1: block3(pc)                   ...
//!         ...                             op2 = getarrayitem(code, pc3)
//! block2(pc2):                            switch op2 0: block2(pc3) 1: block3(pc3) ...
//!     ...                             block3(pc4):
//!     goto block1(pc3)                    ...
//! block3(pc4): ...
//! ```
//!
//! What is copied are all blocks between the header of the loop and the switch, so they must be
//! few and short. Where all handlers go through one block to the header, that one is copied, too.

use std::borrow::Cow;

use rustc_hash::FxHashSet;
use taipan_graph::{BlockId, ExitCase, LinkId, Loop, entry_map, find_loops};
use taipan_lltype::LLGraph;

/// From how many cases on a switch is taken for that of an interpreter.
const MIN_CASES: usize = 8;
/// How many operations, and how many blocks, are copied at most.
const MAX_OPERATIONS: usize = 40;
const MAX_BLOCKS: usize = 10;
/// How many operations and links a function grows by at most.
const MAX_GROWTH: usize = 8000;

/// Copies what leads to large switches in loops. The graph is in SSI form.
pub fn duplicate_dispatch(graph: &LLGraph) -> Cow<'_, LLGraph> {
    let is_large = |b: &BlockId| {
        let exits = graph.block(*b).exits.iter();
        let cases = exits.filter(|e| matches!(e.case, ExitCase::Value(_)));
        cases.count() >= MIN_CASES
    };
    let switches: Vec<BlockId> = graph.reachable().into_iter().filter(is_large).collect();
    if switches.is_empty() {
        return Cow::Borrowed(graph);
    }
    let mut g = graph.clone();
    for switch in switches {
        let loops = find_loops(&g);
        let around = (loops.iter().filter(|l| l.contains(switch))).min_by_key(|l| l.blocks.len());
        if let Some(l) = around {
            copy_for_each_entry(&mut g, l, switch);
        }
    }
    g.compact();
    Cow::Owned(g)
}

/// Gives each link back to the header its own way to the switch.
fn copy_for_each_entry(g: &mut LLGraph, l: &Loop, switch: BlockId) {
    let entries = entry_map(g);
    let mut way = way_to(g, l, switch, &entries);
    let mut start = l.header;
    let mut links: Vec<LinkId> = back_links(l, &way);
    // One block that all handlers go to: what leads there counts.
    while let [only] = links[..]
        && let [_] = g.block(only.source).exits[..]
        && l.contains(only.source)
        && only.source != l.header
        && way.len() < MAX_BLOCKS
    {
        start = only.source;
        way.push(start);
        links = (entries[start.index()].iter().copied())
            .filter(|link| !way.contains(&link.source))
            .collect();
    }
    let operations: usize = way.iter().map(|b| g.block(*b).operations.len()).sum();
    let exits: usize = way.iter().map(|b| g.block(*b).exits.len()).sum();
    let small = way.len() <= MAX_BLOCKS
        && operations <= MAX_OPERATIONS
        && (operations + exits) * links.len() <= MAX_GROWTH;
    if !small {
        return;
    }
    // The first one keeps the original, with those who come from outside.
    for link in links.into_iter().skip(1) {
        let (copies, _) = g.copy_blocks(&way);
        let at = way.iter().position(|b| *b == start);
        let at = at.expect("the way starts there");
        g.link_mut(link).target = copies[at];
    }
}

fn back_links(l: &Loop, way: &[BlockId]) -> Vec<LinkId> {
    let inside = |link: &&LinkId| !way.contains(&link.source);
    l.back_links.iter().filter(inside).copied().collect()
}

/// The blocks on ways from the header of a loop to the switch, those two included, in the order
/// of the loop's blocks.
fn way_to(g: &LLGraph, l: &Loop, switch: BlockId, entries: &[Vec<LinkId>]) -> Vec<BlockId> {
    let mut from_header = FxHashSet::default();
    let mut pending = vec![l.header];
    while let Some(b) = pending.pop() {
        if l.contains(b) && from_header.insert(b) && b != switch {
            pending.extend(g.block(b).exits.iter().map(|e| e.target));
        }
    }
    let mut to_switch = FxHashSet::default();
    let mut pending = vec![switch];
    while let Some(b) = pending.pop() {
        if l.contains(b) && to_switch.insert(b) && b != l.header {
            pending.extend(entries[b.index()].iter().map(|link| link.source));
        }
    }
    let both = |b: &&BlockId| from_header.contains(*b) && to_switch.contains(*b);
    l.blocks.iter().filter(both).copied().collect()
}
