//! What must hold of the frame of roots in every graph.

use taipan_graph::{BlockId, Operation};
use taipan_lltype::{LLConst, LLGraph, LLOp, LLOperand, LowLevel, PlainOp};

use crate::Summaries;
use crate::calls::can_collect;

/// What a slot may hold: these put together.
const UNKNOWN: u8 = 1;
const NOTHING: u8 = 2;
const ROOT: u8 = 4;

/// What may be where a block begins: no frame, or one with such slots.
#[derive(Clone, PartialEq)]
enum At {
    Unreached,
    Outside,
    Inside(Vec<u8>),
}

/// The frame is entered and left once on each way; what is restored was saved; and where the
/// collector may run, slots hold nothing, or a root that is restored on some way from there.
pub(super) fn check(g: &LLGraph, s: &dyn Summaries) {
    let order = g.reachable();
    let mut at = vec![At::Unreached; g.blocks.len()];
    at[g.startblock.index()] = At::Outside;
    loop {
        let before = at.clone();
        for b in &order {
            let out = walk(g, *b, at[b.index()].clone(), s);
            for l in &g.block(*b).exits {
                let to = &mut at[l.target.index()];
                *to = match (&*to, &out) {
                    (At::Unreached, _) => out.clone(),
                    (At::Outside, At::Outside) => At::Outside,
                    (At::Inside(x), At::Inside(y)) => {
                        At::Inside(x.iter().zip(y).map(|(x, y)| x | y).collect())
                    }
                    _ => panic!("{}: a frame on some ways to {:?}", g.name, l.target),
                };
            }
        }
        if at == before {
            break;
        }
    }
    let left = |b: BlockId| !matches!(at[b.index()], At::Inside(_));
    assert!(left(g.returnblock), "{}: the frame is not left", g.name);
}

/// From the beginning of a block to its end.
fn walk(g: &LLGraph, b: BlockId, mut at: At, s: &dyn Summaries) -> At {
    for (i, op) in g.block(b).operations.iter().enumerate() {
        let place = || format!("{}, {b:?}, operation {i}", g.name);
        match (plain(op), &mut at) {
            (Some(PlainOp::GcEnterRootsFrame), at) => {
                assert!(*at == At::Outside, "{}: entered twice", place());
                *at = At::Inside(vec![UNKNOWN; number(op)]);
            }
            (Some(PlainOp::GcLeaveRootsFrame), at) => {
                assert!(matches!(at, At::Inside(_)), "{}: left twice", place());
                *at = At::Outside;
            }
            (Some(PlainOp::GcSaveRoot), At::Inside(slots)) => {
                let null = matches!(op.args[1], LLOperand::Const(LLConst::Null(_)));
                slots[number(op)] = if null { NOTHING } else { ROOT };
            }
            (Some(PlainOp::GcRestoreRoot), At::Inside(slots)) => {
                let was = slots[number(op)];
                assert!(
                    was & UNKNOWN == 0,
                    "{}: restores what was not saved",
                    place()
                );
            }
            (Some(PlainOp::GcSaveRoot | PlainOp::GcRestoreRoot), _) => {
                panic!("{}: outside the frame", place())
            }
            (_, At::Inside(slots)) if can_collect(op, s) => {
                for (slot, holds) in slots.iter().enumerate() {
                    let fine =
                        *holds == NOTHING || holds & UNKNOWN == 0 && is_read(g, b, i + 1, slot);
                    assert!(fine, "{}: slot {slot} keeps something alive", place());
                }
            }
            _ => {}
        }
    }
    at
}

/// Whether a slot is read before it is written, from an operation of a block on.
fn is_read(g: &LLGraph, b: BlockId, from: usize, slot: usize) -> bool {
    let mut seen = vec![false; g.blocks.len()];
    let mut pending = vec![(b, from)];
    while let Some((b, from)) = pending.pop() {
        let uses = g.block(b).operations[from..]
            .iter()
            .filter(|op| number_of(op) == Some(slot));
        let next = uses
            .map(plain)
            .find(|p| matches!(p, Some(PlainOp::GcRestoreRoot | PlainOp::GcSaveRoot)));
        match next {
            Some(Some(PlainOp::GcRestoreRoot)) => return true,
            Some(_) => {}
            None => {
                for l in &g.block(b).exits {
                    if !std::mem::replace(&mut seen[l.target.index()], true) {
                        pending.push((l.target, 0));
                    }
                }
            }
        }
    }
    false
}

fn plain(op: &Operation<LowLevel>) -> Option<PlainOp> {
    match op.op {
        LLOp::Plain(p) => Some(p),
        LLOp::Num(..) => None,
    }
}

fn number_of(op: &Operation<LowLevel>) -> Option<usize> {
    match op.args.first() {
        Some(LLOperand::Const(LLConst::Int(_, n))) => Some(n.get() as usize),
        _ => None,
    }
}

fn number(op: &Operation<LowLevel>) -> usize {
    number_of(op).expect("a constant")
}
