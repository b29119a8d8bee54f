//! Loop rotation and hoisting of invariant operations.
//!
//! ```text
//! block1(i):                          block1(i):              ; once
//!     n = getfield(l, .length)            n = getfield(l, .length)
//!     c = int_lt(i, n)                    c = int_lt(i, n)
//!     switch c                            switch c
//!         True: block2(i)                     True: block2(i)
//!         False: block3()                     False: block3()
//! block2(i2):                         block2(i2):
//!     ...                                 ...
//!     goto block1(j)                      n2 = getfield(l, .length)
//!                                         c2 = int_lt(j, n2)
//!                                         switch c2 True: block2(j) False: block3()
//! ```
//!
//! After the rotation the loop is entered only to be run through, so what its first
//! block computes from values of outside can be computed before it; then the two
//! copies of the test share what does not change.

use rustc_hash::FxHashSet;
use taipan_graph::{
    BlockId, Dominators, ExitSwitch, LinkId, Loop, Operation, Substitution, VarId, entry_map,
    find_loops, remove_identical_vars_ssa, ssa_to_ssi,
};
use taipan_lltype::{
    LLConst, LLGraph, LLOp, LLOperand, LowLevel, NamedOperands, NumOp, PlainOp, Program, View,
};

use crate::around::{Around, Initialised};
use crate::calls::calls_a_graph;
use crate::memory::{Writes, place};

/// Number of operations of a loop test that may be copied.
const MAX_TEST: usize = 12;

/// Copies the tests of loops to their ends. The graph is in SSI form.
pub(crate) fn rotate_loops(g: &mut LLGraph) {
    for l in find_loops(g) {
        let header = g.block(l.header);
        let leaves = header.exits.iter().any(|e| !l.contains(e.target));
        let stays = header
            .exits
            .iter()
            .any(|e| l.contains(e.target) && e.target != l.header);
        let operations = header.operations.iter();
        let count = operations
            .filter(|op| op.op != PlainOp::JitNote.into())
            .count();
        let small = count <= MAX_TEST && !header.operations.iter().any(is_costly);
        let is_test = matches!(header.exitswitch, ExitSwitch::Value(_)) && leaves && stays;
        if !is_test || !small || l.header == g.startblock {
            continue;
        }
        for back in &l.back_links {
            let single = matches!(&g.block(back.source).exits[..], [e] if e.target == l.header);
            if single && back.source != l.header {
                append_copy(g, back.source, l.header);
            }
        }
    }
}

fn is_costly(op: &Operation<LowLevel>) -> bool {
    op.op.can_raise() || matches!(op.op, LLOp::Plain(PlainOp::Malloc | PlainOp::MallocVarsize))
}

/// Replaces the goto at the end of a block by a copy of its target.
fn append_copy(g: &mut LLGraph, source: BlockId, target: BlockId) {
    let mut copy = g.block(target).clone();
    let args = g.block(source).exits[0].args.clone();
    let mut map: Substitution<LowLevel> = copy.inputargs.iter().copied().zip(args).collect();
    for op in &mut copy.operations {
        let result = g.copy_var(op.result);
        map.insert(op.result, result.into());
        op.result = result;
    }
    copy.substitute(&map);
    let block = g.block_mut(source);
    block.operations.append(&mut copy.operations);
    block.exitswitch = copy.exitswitch;
    block.exits = copy.exits;
}

/// Moves what does not change in a loop in front of it. The graph is in SSI form.
pub(crate) fn hoist_invariants(g: &mut LLGraph, program: &dyn Program) {
    if find_loops(g).is_empty() {
        return;
    }
    hoist_invariants_ssa(g, Around::program(program));
    ssa_to_ssi(g);
}

/// The same for a graph in SSA form, which it stays in.
pub(crate) fn hoist_invariants_ssa(g: &mut LLGraph, around: Around<'_>) {
    remove_identical_vars_ssa(g);
    let initialised = Initialised::of(g, around);
    let around = around.of_graph(&initialised);
    // Inner loops first: what leaves them may go on out of the outer ones.
    let mut loops = find_loops(g);
    loops.sort_by_key(|l| l.blocks.len());
    for i in 0..loops.len() {
        let Some(place) = hoist(g, &loops[i], around) else {
            continue;
        };
        // A new block on the way into a loop belongs to the loops around it.
        let header = loops[i].header;
        for outer in &mut loops[i + 1..] {
            if outer.header != header && outer.contains(header) {
                outer.blocks.push(place);
            }
        }
    }
}

/// Answers the block in front of the loop that it made, if it made one.
fn hoist(g: &mut LLGraph, l: &Loop, around: Around<'_>) -> Option<BlockId> {
    let inside: FxHashSet<BlockId> = l.blocks.iter().copied().collect();
    let entries = entry_map(g);
    let outside: Vec<LinkId> = (entries[l.header.index()].iter())
        .filter(|e| !inside.contains(&e.source))
        .copied()
        .collect();
    let [entry] = outside[..] else {
        return None;
    };
    let mut defined: FxHashSet<VarId> = FxHashSet::default();
    for b in &l.blocks {
        defined.extend(g.block(*b).definitions());
    }
    let written = Writes::of(g, &l.blocks, around);
    let calls = (l.blocks.iter())
        .flat_map(|b| &g.block(*b).operations)
        .any(calls_a_graph);
    let certain = certain_blocks(g, l);
    let mut known = dereferenced_before(g, entry.source);
    #[expect(clippy::iter_over_hash_type, reason = "what is found goes into a set")]
    for b in &certain {
        known.extend(g.block(*b).operations.iter().filter_map(dereferenced));
    }
    let mut hoisted: Vec<Operation<LowLevel>> = Vec::new();
    let mut progress = true;
    while progress {
        progress = false;
        for b in &l.blocks {
            let canraise = g.block(*b).canraise();
            let mut operations = std::mem::take(&mut g.block_mut(*b).operations);
            let count = operations.len();
            let mut i = 0;
            operations.retain(|op| {
                i += 1;
                let invariant =
                    (op.args.iter()).all(|a| a.as_var().is_none_or(|v| !defined.contains(&v)));
                let movable = invariant
                    && !(canraise && i == count)
                    && !(calls && is_load(op))
                    && may_move(g, op, &known, certain.contains(b), &written, around);
                if movable {
                    defined.remove(&op.result);
                    hoisted.push(op.clone());
                    progress = true;
                }
                !movable
            });
            g.block_mut(*b).operations = operations;
        }
    }
    if hoisted.is_empty() {
        return None;
    }
    let made = (g.block(entry.source).exits.len() > 1).then(|| preheader(g, entry));
    let place = made.unwrap_or(entry.source);
    g.block_mut(place).operations.append(&mut hoisted);
    made
}

/// A block on the way into a loop. In SSA form it needs no input arguments.
pub(crate) fn preheader(g: &mut LLGraph, entry: LinkId) -> BlockId {
    let b = g.new_block(Vec::new());
    let link = g.link_mut(entry);
    let (target, args) = (link.target, std::mem::take(&mut link.args));
    link.target = b;
    g.block_mut(b).exits = vec![taipan_graph::Link::new(target, args)];
    b
}

/// Blocks that are run through whenever the loop is entered.
pub(crate) fn certain_blocks(g: &LLGraph, l: &Loop) -> FxHashSet<BlockId> {
    let mut certain = FxHashSet::default();
    let mut b = l.header;
    while certain.insert(b) {
        match &g.block(b).exits[..] {
            [link] if l.contains(link.target) => b = link.target,
            _ => break,
        }
    }
    certain
}

/// The object that an operation accesses, and which is not null after it.
pub(crate) fn dereferenced(op: &Operation<LowLevel>) -> Option<VarId> {
    match op.view() {
        View::Getfield { object, .. }
        | View::Setfield { object, .. }
        | View::Getarrayitem { array: object, .. }
        | View::Setarrayitem { array: object, .. }
        | View::Getarraysize { array: object }
        | View::Getinteriorfield { object, .. }
        | View::Setinteriorfield { object, .. }
        | View::Getinteriorarraysize { object, .. } => object.as_var(),
        View::Malloc { .. } | View::MallocVarsize { .. } => Some(op.result),
        _ => None,
    }
}

/// Objects that are accessed in a block or those that dominate it.
fn dereferenced_before(g: &LLGraph, b: BlockId) -> FxHashSet<VarId> {
    let dominators = Dominators::new(g);
    let mut known = FxHashSet::default();
    let mut at = Some(b);
    while let Some(b) = at {
        known.extend(g.block(b).operations.iter().filter_map(dereferenced));
        at = dominators.immediate(b);
    }
    known
}

/// Whether an operation reads memory. Where a loop calls functions, what is kept for the whole
/// loop is kept in memory, so that a load in front of it saves none in it; and in a loop
/// over bytecodes, which has hundreds of blocks, it takes the place of what they all need.
fn is_load(op: &Operation<LowLevel>) -> bool {
    use PlainOp::*;
    matches!(
        op.op,
        LLOp::Plain(
            Getfield | Getarrayitem | Getarraysize | Getinteriorfield | Getinteriorarraysize
        )
    )
}

fn may_move(
    g: &LLGraph,
    op: &Operation<LowLevel>,
    known: &FxHashSet<VarId>,
    certain: bool,
    written: &Writes<'_>,
    around: Around<'_>,
) -> bool {
    let accessible = |o: &LLOperand| match o {
        LLOperand::Var(v) => known.contains(v),
        LLOperand::Const(c) => !matches!(c, LLConst::Null(_)),
    };
    let stays = || {
        let access = place(g, op, around);
        access.is_some_and(|a| a.immutable || !written.may_change(&a.place.kind))
    };
    match op.view() {
        View::Binary {
            op: NumOp::FloorDiv | NumOp::Mod,
            right,
            ..
        } => {
            matches!(right.as_const(), Some(LLConst::Int(_, d)) if !matches!(d.get(), 0 | -1))
        }
        View::Unary { .. } | View::Binary { .. } => true,
        View::Getarraysize { array: object } | View::Getinteriorarraysize { object, .. } => {
            certain || accessible(object)
        }
        View::Getfield { object, .. } => (certain || accessible(object)) && stays(),
        View::Getarrayitem { .. } | View::Getinteriorfield { .. } => certain && stays(),
        View::SameAs { .. } | View::CastPointer { .. } => true,
        _ => op.op.can_fold() && !op.op.can_raise(),
    }
}
