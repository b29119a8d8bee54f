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

use rustc_hash::FxHashMap;
use taipan_graph::{BlockId, Loop, Substitution, VarId, find_loops};
use taipan_lltype::{LLGraph, LLOperand, LowLevel};

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
    let reachable = g.reachable();
    let copies: FxHashMap<BlockId, BlockId> =
        (l.blocks.iter()).map(|b| (*b, copy_block(g, *b))).collect();
    for copy in copies.values() {
        for link in &mut g.block_mut(*copy).exits {
            // What is left of the first round goes on in the loop.
            if link.target != l.header
                && let Some(target) = copies.get(&link.target)
            {
                link.target = *target;
            }
        }
    }
    for b in reachable {
        if !copies.contains_key(&b) {
            for link in &mut g.block_mut(b).exits {
                if link.target == l.header {
                    link.target = copies[&l.header];
                }
            }
        }
    }
}

/// A copy of a block with variables of its own, which leads to where that leads.
fn copy_block(g: &mut LLGraph, b: BlockId) -> BlockId {
    let mut copy = g.block(b).clone();
    let mut map: Substitution<LowLevel> = Substitution::<LowLevel>::default();
    let mut renamed = |g: &mut LLGraph, v: &mut VarId| {
        let new = g.copy_var(*v);
        map.insert(*v, LLOperand::Var(new));
        *v = new;
    };
    for v in &mut copy.inputargs {
        renamed(g, v);
    }
    for op in &mut copy.operations {
        renamed(g, &mut op.result);
    }
    for link in &mut copy.exits {
        for v in [&mut link.last_exception, &mut link.last_exc_value]
            .into_iter()
            .flatten()
        {
            renamed(g, v);
        }
    }
    copy.substitute(&map);
    let new = g.new_block(Vec::new());
    *g.block_mut(new) = copy;
    new
}
