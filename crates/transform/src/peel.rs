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

use rustc_hash::FxHashSet;
use taipan_graph::{LinkId, Loop, VarId, entry_map, find_loops, remove_identical_vars_ssa};
use taipan_lltype::{LLGraph, LLOp, PlainOp};

use crate::around::{Around, Initialised};
use crate::calls::calls_a_graph;
use crate::memory::{Writes, place};

/// Loops with more operations than this are left as they are.
const LARGEST: usize = 400;

/// In a loop that calls functions, one in so many operations has to vanish at least: across calls
/// values are kept in memory anyway.
const WORTHWHILE: usize = 8;

/// How many operations a call that vanishes counts for.
const CALL: usize = 16;

/// Peels innermost loops. The graph is in SSI form.
pub(crate) fn peel_loops(g: &mut LLGraph, around: Around<'_>) {
    let loops = find_loops(g);
    let mut ssa = None;
    for l in &loops {
        let is_outer = (loops.iter()).any(|o| o.header != l.header && l.contains(o.header));
        let operations = || l.blocks.iter().flat_map(|b| &g.block(*b).operations);
        // Notes exist only when a log is written, which must not change the code.
        let count = operations()
            .filter(|op| op.op != PlainOp::JitNote.into())
            .count();
        if is_outer || count > LARGEST || l.header == g.startblock {
            continue;
        }
        if operations().any(calls_a_graph) {
            let ssa = ssa.get_or_insert_with(|| {
                let mut ssa = g.clone();
                remove_identical_vars_ssa(&mut ssa);
                let initialised = Initialised::of(&ssa, around);
                (ssa, initialised)
            });
            if saved(&ssa.0, l, around.of_graph(&ssa.1)) * WORTHWHILE < count {
                continue;
            }
        }
        peel(g, l);
    }
}

/// How many operations of a loop give the same in each round, so that the first one is enough.
/// The graph is in SSA form.
fn saved(g: &LLGraph, l: &Loop, around: Around<'_>) -> usize {
    let written = Writes::of(g, &l.blocks, around);
    let blocks = || l.blocks.iter().map(|b| g.block(*b));
    let mut changing: FxHashSet<VarId> = blocks().flat_map(|b| b.definitions()).collect();
    let mut saved = 0;
    loop {
        let before = changing.len();
        for op in blocks().flat_map(|b| &b.operations) {
            let changes = |v: &VarId| changing.contains(v);
            if !changes(&op.result)
                || op
                    .args
                    .iter()
                    .filter_map(|a| a.as_var())
                    .any(|v| changes(&v))
            {
                continue;
            }
            saved += match (place(g, op, around), around.elidable(op)) {
                (_, Some(_)) => CALL,
                (Some(load), _) if load.stored.is_none() => {
                    match load.immutable || !written.may_change(&load.place.kind) {
                        true => 1,
                        false => continue,
                    }
                }
                (None, None) if op.op.can_fold() && !op.op.can_raise() => {
                    let costs =
                        !matches!(op.op, LLOp::Plain(PlainOp::CastPointer | PlainOp::SameAs));
                    usize::from(costs)
                }
                _ => continue,
            };
            changing.remove(&op.result);
        }
        if changing.len() == before {
            return saved;
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
