//! Loop peeling: the first round of a loop gets code of its own (RPython: `unroll.py` of the
//! tracing compiler's optimizer).
//!
//! ```text
//! block1(i):                          block2(i):              ; once
//!     c = getfield(p, .class)             c = getfield(p, .class)
//!     switch ptr_eq(c, A)                 switch ptr_eq(c, A)
//!         True: goto block1(j)                True: goto block1(j)
//!                                     block1(i):
//!                                         c2 = getfield(p, .class)
//!                                         ...
//! ```
//!
//! What is known after the first round, that a pointer is not null or that an object has
//! a class, is known in all that follow: loads and tests of what does not change vanish from the
//! loop, though it would be wrong to move them in front of it.

use taipan_graph::{LinkId, Loop, entry_map, find_loops};
use taipan_lltype::LLGraph;

use crate::calls::calls_a_graph;

/// Loops with more operations than this are left as they are.
const LARGEST: usize = 400;

/// Peels the innermost loops that call nothing: across calls values are kept in memory anyway.
/// The graph is in SSI form.
pub(crate) fn peel_loops(g: &mut LLGraph) {
    let loops = find_loops(g);
    for l in &loops {
        let is_outer = (loops.iter()).any(|o| o.header != l.header && l.contains(o.header));
        let operations = || l.blocks.iter().flat_map(|b| &g.block(*b).operations);
        let fits = operations().count() <= LARGEST && !operations().any(calls_a_graph);
        if !is_outer && fits && l.header != g.startblock {
            peel(g, l);
        }
    }
}

fn peel(g: &mut LLGraph, l: &Loop) {
    let entries = entry_map(g);
    let entries = entries[l.header.index()].iter();
    let entries: Vec<LinkId> = entries.filter(|e| !l.contains(e.source)).copied().collect();
    let (copies, _) = g.copy_blocks(&l.blocks);
    let first = l.blocks.iter().position(|b| *b == l.header);
    let Some(first) = first.map(|i| copies[i]) else {
        return;
    };
    // What is left of the first round goes on in the loop.
    for copy in copies {
        for link in &mut g.block_mut(copy).exits {
            if link.target == first {
                link.target = l.header;
            }
        }
    }
    for e in entries {
        g.link_mut(e).target = first;
    }
}
