//! Removal of assertions (RPython: `removeassert.py`, done at `-O3` and for small size).
//!
//! ```text
//! switch v0                           goto block1()
//!     True: block1()
//!     False: except(&vtable AssertionError, ...)
//! ```
//!
//! The condition is taken to hold: what only led to the failure goes.

use taipan_graph::{BlockId, ExitCase, ExitSwitch, cleanup};
use taipan_language::Exc;
use taipan_lltype::{LLGraph, Program};

use crate::calls::vtable;

/// Removes the failing ways of assertions.
pub(crate) fn remove_asserts(g: &mut LLGraph, program: &dyn Program) {
    let class = program.exception_vtable(Exc::AssertionError);
    let mut failing = vec![false; g.blocks.len()];
    let mut changed = false;
    // Successors first: a block that only leads to a failure fails too.
    for b in g.reachable().into_iter().rev() {
        let fails = |i: usize, failing: &[bool]| {
            let link = &g.block(b).exits[i];
            failing[link.target.index()]
                || link.target == g.exceptblock
                    && link.args[0].as_const().and_then(vtable) == Some(&class)
        };
        let block = g.block(b);
        let dead: Vec<bool> = (0..block.exits.len()).map(|i| fails(i, &failing)).collect();
        if !dead.contains(&true) || block.canraise() {
            continue;
        }
        if dead.iter().all(|d| *d) {
            // What it does before it fails is lost; that is the idea. But it must
            // not be entered as a whole function.
            failing[b.index()] = b != g.startblock;
            continue;
        }
        changed |= drop_exits(g, b, &dead);
    }
    if changed {
        cleanup(g);
    }
}

fn drop_exits(g: &mut LLGraph, b: BlockId, dead: &[bool]) -> bool {
    let block = g.block_mut(b);
    let bools = block
        .exits
        .iter()
        .all(|l| matches!(l.case, ExitCase::Bool(_)));
    if !bools {
        return false;
    }
    let mut flags = dead.iter();
    block
        .exits
        .retain(|_| !flags.next().copied().unwrap_or(false));
    block.exitswitch = ExitSwitch::None;
    block.exits[0].case = ExitCase::None;
    true
}
