//! Removal of stores that later stores overwrite, with no read between them
//! (RPython: `optimizeopt/heap.py`, which delays stores until a possible read).
//!
//! ```text
//! block1(o, v):                           block1(o, v):
//!     setfield(o, .depth, v)
//!     w = int_add(v, 1)                       w = int_add(v, 1)
//!     setfield(o, .depth, w)
//!     c = int_lt(w, 9)                        c = int_lt(w, 9)
//!     switch c                                switch c
//!         False: block2(o)                        False: block2(o, w)
//!         True: block3(o, v)                      True: block3(o, v)
//! block2(o):                              block2(o, w):
//!                                             setfield(o, .depth, w)
//!     jit_exit(4096, o)                       jit_exit(4096, o)
//! block3(o, v):                           block3(o, v):
//!     setfield(o, .depth, v)                  setfield(o, .depth, v)
//! ```
//!
//! Interpreters write the depth of their stack with each bytecode. The code behind an exit of a unit may read all
//! memory, so exits between the two stores get a copy of the first one.

use rustc_hash::FxHashSet;
use taipan_graph::{BlockId, entry_map};
use taipan_lltype::{LLGraph, LLOp, PlainOp, READ};

use crate::around::{Around, CallAccess, Effect};
use crate::calls::{Callees, callees};
use crate::memory::{Access, Place, place};
use crate::sink::Exits;

/// Maximum number of exits that a store is moved into.
const MOST_EXITS: usize = 2;

/// A store whose value has not been read so far.
struct Pending {
    place: Place,
    at: (BlockId, usize),
    /// The exits between the store and the current position.
    exits: Vec<BlockId>,
    /// Whether a later store may have been to the same place. If so, the store is not moved behind it.
    stays: bool,
}

/// Removes stores that are overwritten. The graph is in SSA form, and stays in it.
pub(crate) fn remove_dead_stores_ssa(g: &mut LLGraph, around: Around<'_>) {
    let order = g.reachable();
    let exits = Exits::of(g, &order);
    let entries = entry_map(g);
    let mut seen = vec![false; g.blocks.len()];
    let mut dead = Vec::new();
    for b in &order {
        let mut waiting: Vec<Pending> = Vec::new();
        let mut next = Some(*b).filter(|b| !seen[b.index()] && !exits.contains(*b));
        while let Some(b) = next {
            seen[b.index()] = true;
            in_block(g, b, around, &mut waiting, &mut dead);
            let (left, others): (Vec<_>, Vec<_>) = (g.block(b).exits.iter())
                .map(|l| l.target)
                .partition(|t| exits.contains(*t));
            waiting.retain_mut(|p| {
                p.exits.extend(&left);
                p.exits.len() <= MOST_EXITS && (left.is_empty() || !p.stays)
            });
            next = match others[..] {
                [only] if entries[only.index()].len() == 1 && !seen[only.index()] => Some(only),
                _ => None,
            };
        }
    }
    for store in &dead {
        let (b, index) = store.at;
        let op = g.block(b).operations[index].clone();
        for exit in &store.exits {
            let mut copy = op.clone();
            copy.result = g.copy_var(op.result);
            g.block_mut(*exit).operations.insert(0, copy);
        }
    }
    let gone: FxHashSet<_> = dead.iter().map(|p| p.at).collect();
    for b in order {
        let mut index = 0..;
        let operations = &mut g.block_mut(b).operations;
        operations.retain(|_| index.next().is_none_or(|i| !gone.contains(&(b, i))));
    }
}

/// Goes through a block: what waits for a store that overwrites it, and what was overwritten.
fn in_block(
    g: &LLGraph,
    b: BlockId,
    around: Around<'_>,
    waiting: &mut Vec<Pending>,
    dead: &mut Vec<Pending>,
) {
    for (i, op) in g.block(b).operations.iter().enumerate() {
        if let Some(Access { place, stored, .. }) = place(g, op, around) {
            let other =
                |p: &Pending| !p.place.kind.may_alias(&place.kind) || place.is_beside(&p.place);
            if stored.is_none() {
                waiting.retain(other);
                continue;
            }
            if let Some(same) = waiting.iter().position(|p| p.place == place) {
                dead.push(waiting.swap_remove(same));
            }
            for p in waiting.iter_mut().filter(|p| !other(p)) {
                p.stays = true;
            }
            if !place.kind.is_raw() {
                waiting.push(Pending {
                    place,
                    at: (b, i),
                    exits: Vec::new(),
                    stays: false,
                });
            }
            continue;
        }
        let is_length = matches!(
            op.op,
            LLOp::Plain(PlainOp::Getarraysize | PlainOp::Getinteriorarraysize)
        );
        match (around.effect(op), callees(op)) {
            (Effect::Calls(fs), _) => {
                waiting.retain(|p| around.access(fs, &p.place.kind) == CallAccess::None);
            }
            (Effect::None, Callees::None) if op.op.flags() & READ == 0 || is_length => {}
            _ => waiting.clear(),
        }
    }
}
