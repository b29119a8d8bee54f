//! Memory that a loop works on, kept in variables while it runs (scalar promotion).
//!
//! ```text
//! block1(i):                          v1 = getarrayitem(l, 0)     ; in front of the loop
//!     v = getarrayitem(l, 0)          block1(i, v):
//!     w = int_add(v, i)                   w = int_add(v, i)
//!     setarrayitem(l, 0, w)               switch ...
//!     switch ...                              True: block1(j, w)
//!         True: block1(j)                     False: setarrayitem(l, 0, w), block2()
//!         False: block2()
//! ```
//!
//! That is right where nothing else in the loop can be the same place: all accesses of that kind
//! are to one object, at constant offsets, and no function that is called accesses it. It comes
//! after peeling: what the first round has accessed, or what is accessed whenever the loop is
//! entered, may be read in front of the loop.

use rustc_hash::FxHashSet;
use taipan_graph::{
    BlockId, Dominators, Link, LinkId, Loop, Operation, Substitution, entry_map, find_loops,
    remove_identical_vars_ssa,
};
use taipan_lltype::{FuncSym, LLGraph, LLOp, LLOperand, LLType, LowLevel, PlainOp};

use crate::around::{Around, CallAccess, Effect, Initialised};
use crate::loops::{certain_blocks, preheader};
use crate::memory::{Place, place};
use crate::ssa::push;

/// So many places of a loop are kept in variables at most: there are not many more registers.
const MOST: usize = 12;

/// A place that is kept in a variable.
struct Kept {
    place: Place,
    ty: LLType,
    load: LLOp,
    store: LLOp,
    /// The operands of a load: those of a store but for the value.
    args: Vec<LLOperand>,
    /// The loop writes it.
    stored: bool,
}

/// Keeps what innermost loops work on in variables. The graph is in SSA form.
pub(crate) fn keep_in_variables(g: &mut LLGraph, around: Around<'_>) {
    remove_identical_vars_ssa(g);
    let initialised = Initialised::of(g, around);
    let around = around.of_graph(&initialised);
    let loops = find_loops(g);
    for l in &loops {
        let is_outer = (loops.iter()).any(|o| o.header != l.header && l.contains(o.header));
        if is_outer || l.header == g.startblock {
            continue;
        }
        let entries: Vec<LinkId> = (entry_map(g)[l.header.index()].iter())
            .filter(|e| !l.contains(e.source))
            .copied()
            .collect();
        let kept = candidates(g, l, &entries, around);
        if kept.iter().any(|k| k.stored) {
            keep(g, l, &entries, &kept, around);
        }
    }
}

/// The places of a loop that can be kept in variables.
fn candidates(g: &LLGraph, l: &Loop, entries: &[LinkId], around: Around<'_>) -> Vec<Kept> {
    let dominators = Dominators::new(g);
    let mut all = Vec::new();
    let mut called: Vec<FuncSym> = Vec::new();
    let mut defined = FxHashSet::default();
    for b in &l.blocks {
        let block = g.block(*b);
        defined.extend(block.definitions());
        if block.exits.iter().any(|e| e.last_exception.is_some()) {
            return Vec::new();
        }
        for op in &block.operations {
            match place(g, op, around) {
                Some(access) => all.push((access, op)),
                None => match around.effect(op) {
                    Effect::None => {}
                    Effect::Calls(fs) => called.extend(fs.iter().cloned()),
                    Effect::Anything => return Vec::new(),
                },
            }
        }
    }
    let mut certain: Vec<BlockId> = certain_blocks(g, l).into_iter().collect();
    certain.sort_unstable();
    let is_fixed = |p: &Place| p.is_constant(|v| defined.contains(&v));
    let mut kept: Vec<Kept> = Vec::new();
    for (access, op) in &all {
        let p = &access.place;
        if let Some(known) = kept.iter_mut().find(|k| k.place == *p) {
            known.stored |= access.stored.is_some();
            continue;
        }
        let alone = (all.iter())
            .filter(|(other, _)| other.place.kind.may_alias(&p.kind))
            .all(|(other, _)| other.place == *p || other.place.is_beside(p));
        let Some((load, store)) = operations(op.op) else {
            continue;
        };
        // What a call reads has to be there.
        let untouched = called.is_empty() || around.access(&called, &p.kind) == CallAccess::None;
        let may = !access.immutable && !p.kind.is_raw() && is_fixed(p) && alone && untouched;
        let accesses = |b: &BlockId| accesses(g, *b, p, around);
        let is_there = certain.iter().any(accesses)
            || (entries.iter()).all(|e| was_accessed(g, &dominators, e.source, p, around));
        if may && is_there {
            let mut args = vec![p.object.clone()];
            args.extend(p.path.iter().cloned());
            kept.push(Kept {
                place: p.clone(),
                ty: p.kind.value(),
                load,
                store,
                args,
                stored: access.stored.is_some(),
            });
        }
    }
    // What is only read, and not among what may be written, is a matter of other passes.
    let written: Vec<_> = kept
        .iter()
        .filter(|k| k.stored)
        .map(|k| k.place.kind.clone())
        .collect();
    kept.retain(|k| written.iter().any(|w| w.may_alias(&k.place.kind)));
    kept.truncate(MOST);
    kept
}

/// The operations that read and write a place which one of them accesses.
fn operations(op: LLOp) -> Option<(LLOp, LLOp)> {
    use PlainOp::*;
    let LLOp::Plain(p) = op else { return None };
    let (load, store) = match p {
        Getfield | Setfield | BareSetfield => (Getfield, Setfield),
        Getarrayitem | Setarrayitem | BareSetarrayitem => (Getarrayitem, Setarrayitem),
        Getinteriorfield | Setinteriorfield | BareSetinteriorfield => {
            (Getinteriorfield, Setinteriorfield)
        }
        _ => return None,
    };
    Some((load.into(), store.into()))
}

/// Whether a block accesses a place.
fn accesses(g: &LLGraph, b: BlockId, p: &Place, around: Around<'_>) -> bool {
    let mut operations = g.block(b).operations.iter();
    operations.any(|op| place(g, op, around).is_some_and(|a| a.place == *p))
}

/// Whether a block or one that dominates it accesses a place: then it is there.
fn was_accessed(
    g: &LLGraph,
    dominators: &Dominators,
    b: BlockId,
    p: &Place,
    around: Around<'_>,
) -> bool {
    let mut at = Some(b);
    while let Some(b) = at {
        if accesses(g, b, p, around) {
            return true;
        }
        at = dominators.immediate(b);
    }
    false
}

fn keep(g: &mut LLGraph, l: &Loop, entries: &[LinkId], kept: &[Kept], around: Around<'_>) {
    for e in entries {
        let before = match g.block(e.source).exits.len() {
            1 => e.source,
            _ => preheader(g, *e),
        };
        let values: Vec<LLOperand> = (kept.iter())
            .map(|k| push(g, before, k.load.view(&k.args), k.ty, 0).into())
            .collect();
        for link in g
            .block_mut(before)
            .exits
            .iter_mut()
            .filter(|e| e.target == l.header)
        {
            link.args.extend(values.iter().cloned());
        }
    }
    let mut map = Substitution::<LowLevel>::default();
    for b in &l.blocks {
        let inputs: Vec<_> = kept.iter().map(|k| g.new_var("", k.ty)).collect();
        g.block_mut(*b).inputargs.extend(&inputs);
        let mut values: Vec<LLOperand> = inputs.into_iter().map(LLOperand::Var).collect();
        let operations = std::mem::take(&mut g.block_mut(*b).operations);
        let mut rest: Vec<Operation<LowLevel>> = Vec::with_capacity(operations.len());
        for op in operations {
            let access = place(g, &op, around);
            let found = access.and_then(|a| {
                let i = kept.iter().position(|k| k.place == a.place)?;
                Some((i, a.stored))
            });
            match found {
                Some((i, Some(value))) => {
                    let known = value.as_var().and_then(|v| map.get(&v));
                    values[i] = known.cloned().unwrap_or(value);
                }
                Some((i, None)) => {
                    map.insert(op.result, values[i].clone());
                }
                None => rest.push(op),
            }
        }
        g.block_mut(*b).operations = rest;
        for exit in 0..g.block(*b).exits.len() {
            let target = g.block(*b).exits[exit].target;
            if l.contains(target) {
                g.block_mut(*b).exits[exit]
                    .args
                    .extend(values.iter().cloned());
                continue;
            }
            let out = g.new_block(Vec::new());
            for (k, value) in kept.iter().zip(&values).filter(|(k, _)| k.stored) {
                let mut args = k.args.clone();
                args.push(value.clone());
                push(g, out, k.store.view(&args), *taipan_lltype::VOID, 0);
            }
            let link = &mut g.block_mut(*b).exits[exit];
            let on = Link::new(target, std::mem::take(&mut link.args));
            link.target = out;
            g.block_mut(out).exits = vec![on];
        }
    }
    for b in g.reachable() {
        g.block_mut(b).substitute(&map);
    }
}
