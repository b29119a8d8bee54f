//! A loop over bytecodes finds the next handler behind each handler ("threaded code"): the machine
//! then predicts by each what follows its bytecode, and what a handler knows need not fit what all
//! the others know.
//!
//! ```text
//! block1(pc):                         block1(pc):                 ; a copy behind each handler
//!     op = getarrayitem(code, pc)         op = getarrayitem(code, pc)
//!     switch op                           goto block9(op, pc)
//!         0: block2(pc)               block9(op9, pc9):           ; once
//!         1: block3(pc)                   switch op9
//!         ...                                 0: block2(pc9)
//! block2(pc2):                                1: block3(pc9)
//!     ...                                     ...
//!     goto block1(pc3)
//! ```
//!
//! The switch itself stays one block without operations, so that the graph grows with the handlers and not
//! with their square. A back end that can jump to an address ends each copy with such a jump.
//!
//! What is copied are all blocks between the header of the loop and the switch, so they must be
//! few and short. Where all handlers go through one block to the header, that one is copied, too.

use std::borrow::Cow;

use rustc_hash::FxHashSet;
use taipan_graph::{BlockId, LinkId, Loop, entry_map, find_loops};
use taipan_language::Pass;
use taipan_lltype::{LLGraph, is_large_switch};

use crate::Passes;

/// How many operations, and how many blocks, are copied at most.
const MAX_OPERATIONS: usize = 40;
const MAX_BLOCKS: usize = 10;
/// How many operations a function grows by at most.
const MAX_GROWTH: usize = 8000;

/// Copies what leads to large switches in loops. The graph is in SSI form.
pub fn thread_dispatch<'a>(graph: &'a LLGraph, passes: &mut Passes<'_>) -> Cow<'a, LLGraph> {
    let mut switches = graph.reachable();
    switches.retain(|b| is_large_switch(graph.block(*b)));
    if switches.is_empty() || !passes.contains(Pass::Dispatch) {
        return Cow::Borrowed(graph);
    }
    let mut g = graph.clone();
    passes.run(Pass::Dispatch, &mut g, |g| {
        for switch in switches {
            let loops = find_loops(g);
            let around = loops.iter().filter(|l| l.contains(switch));
            if let Some(l) = around.min_by_key(|l| l.blocks.len()) {
                copy_for_each_entry(g, l, switch);
            }
        }
        g.compact();
    });
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
    let small = way.len() <= MAX_BLOCKS
        && operations <= MAX_OPERATIONS
        && operations * links.len() <= MAX_GROWTH;
    if !small || links.len() < 2 {
        return;
    }
    g.split_block(switch, g.block(switch).operations.len());
    let at = way.iter().position(|b| *b == start);
    let at = at.expect("the way starts there");
    // The first one keeps the original, with those who come from outside.
    for link in links.into_iter().skip(1) {
        let (copies, _) = g.copy_blocks(&way);
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
