//! Allocations that follow each other take their memory at once.
//!
//! ```text
//! v1 = malloc(<type S>, <gc>)                 v1 = gc_reserve(40)
//! setfield(v1, .x, v0)                        canraise
//! v2 = malloc_varsize(<type A>, <gc>, 2)          ok: block1(v1, v0)
//! setfield(v1, .items, v2)                        (full): block2(v0)
//! ...                                         block1(r, v3):
//!                                             v4 = gc_malloc_reserved(<type S>, <gc>, r, 0)
//!                                             setfield(v4, .x, v3)
//!                                             v5 = gc_malloc_reserved(<type A>, <gc>, r, 16, 2)
//!                                             setfield(v4, .items, v5)
//!                                             ...
//!                                             block2(v6):
//!                                             v7 = gc_reserve_slowly(40)
//!                                             goto block1(v7, v6)
//! ```
//!
//! Objects of one group have no collection between them. So one test of the nursery is enough, roots are saved and
//! read back in `block2` alone, and an object needs no write barrier for those behind it in the group
//! (RPython: `jit/backend/llsupport/rewrite.py`).
//!
//! A group extends over blocks that control reaches from the one before alone, and past exits that are rarely
//! taken. Where one of these is taken, the memory of what follows stays unused until the next collection.

use taipan_graph::{BlockId, ExitCase, ExitSwitch, Link, LinkId, Operation, VarId, entry_map};
use taipan_lltype::{
    ADDRESS, ConstantOperand, LLConst, LLGraph, LLOperand, LowLevel, NamedOperands, OBJECT_VTABLE,
    PlainOp, Program, View, cold_blocks_of, has_destructor, layout, round_up,
};

use crate::Summaries;
use crate::calls::can_collect;
use crate::nursery::MAX_SIZE;
use crate::ssa::constant;

/// Bytes that a group takes at most. What is left of the nursery may be less than this when it is full.
const MAX_GROUP: u64 = 1024;

/// Allocations with no collection between them.
struct Group {
    /// The block and the index of each allocation, and where its object is in the group's memory.
    members: Vec<(BlockId, usize, u64)>,
    /// The blocks from that of the first to that of the last.
    path: Vec<BlockId>,
    bytes: u64,
    /// Whether one of them has items.
    has_items: bool,
}

impl Group {
    /// Whether to change it pays. One object without items is for [`crate::nursery`].
    fn pays(&self) -> bool {
        self.members.len() > 1 || self.has_items
    }
}

/// Makes groups of the allocations in code that cannot raise MemoryError.
pub(crate) fn group_allocations(g: &mut LLGraph, s: &dyn Summaries) {
    let order = g.reachable();
    let entries = entry_map(g);
    let cold = cold_blocks_of(g, &order, &entries);
    let mut seen = vec![false; g.blocks.len()];
    let mut groups = Vec::new();
    for b in order {
        if !seen[b.index()] && !cold[b.index()] {
            find_groups(g, b, &entries, &cold, &mut seen, &mut groups, s);
        }
    }
    // The last ones first: to merge one moves what follows in its block.
    for group in groups.iter().rev().filter(|group| group.pays()) {
        merge(g, group);
    }
}

/// The groups that begin in a block, and in those that control goes to from it alone.
fn find_groups(
    g: &LLGraph,
    first: BlockId,
    entries: &[Vec<LinkId>],
    cold: &[bool],
    seen: &mut [bool],
    groups: &mut Vec<Group>,
    s: &dyn Summaries,
) {
    let mut open: Option<Group> = None;
    let mut next = Some(first);
    let mut path = Vec::new();
    while let Some(b) = next {
        seen[b.index()] = true;
        path.push(b);
        for (i, op) in g.block(b).operations.iter().enumerate() {
            if let Some(size) = size_of(op, s.program()) {
                let fits = |group: &Group| group.bytes + size <= MAX_GROUP;
                let mut group = match open.take() {
                    Some(group) if fits(&group) => group,
                    full => {
                        groups.extend(full);
                        path = vec![b];
                        Group {
                            members: Vec::new(),
                            path: Vec::new(),
                            bytes: 0,
                            has_items: false,
                        }
                    }
                };
                group.members.push((b, i, group.bytes));
                group.path.clone_from(&path);
                group.bytes += size;
                group.has_items |= op.op == PlainOp::MallocVarsize.into();
                open = Some(group);
            } else if can_collect(op, s) {
                groups.extend(open.take());
            }
        }
        let mut warm = (g.block(b).exits.iter()).filter(|l| !cold[l.target.index()]);
        next = match (warm.next(), warm.next()) {
            (Some(l), None) if entries[l.target.index()].len() == 1 => Some(l.target),
            _ => None,
        }
        .filter(|b| !seen[b.index()] && *b != g.returnblock && *b != g.exceptblock);
    }
    groups.extend(open);
}

/// The size of the object that an operation makes, in bytes, if that may be in a group.
fn size_of(op: &Operation<LowLevel>, program: &dyn Program) -> Option<u64> {
    let (ty, length) = match op.view() {
        View::Malloc { ty, .. } if !has_destructor(op) => (ty, None),
        View::MallocVarsize { ty, length, .. } => (ty, Some(length)),
        _ => return None,
    };
    let ty = ty.as_type().filter(|ty| ty.is_gc_container())?;
    let layout = layout(ty, program);
    let size = match length {
        None => layout.size,
        Some(LLOperand::Const(LLConst::Int(_, n))) => {
            layout.var.as_ref()?.length?;
            layout.size_of_varsized(u64::try_from(n.get()).ok()?)?
        }
        Some(_) => return None,
    };
    Some(round_up(size, 8)).filter(|size| *size <= MAX_SIZE)
}

/// Has a group take its memory in the place of its first allocation.
fn merge(g: &mut LLGraph, group: &Group) {
    let Some(&(b, first, _)) = group.members.first() else {
        return;
    };
    let at = g.block(b).operations[first].at;
    let rest = g.split_block(b, first);
    let passed = g.block(b).exits[0].args.clone();
    let bytes = constant(LLConst::signed(group.bytes as i64));

    let inputs = g.block(rest).inputargs.clone();
    let copies: Vec<_> = inputs.iter().map(|v| g.copy_var(*v)).collect();
    let slow = g.new_block(copies.clone());
    let slow_room = g.new_var("room", *ADDRESS);
    let reserve = View::GcReserveSlowly { bytes: &bytes };
    let block = g.block_mut(slow);
    block.operations.push(reserve.operation(slow_room, at));
    let args = copies.into_iter().chain([slow_room]);
    block.exits = vec![Link::new(rest, args.map(LLOperand::Var).collect())];

    let room = g.new_var("room", *ADDRESS);
    let full = ExitCase::Exception(LLConst::Null(OBJECT_VTABLE.ptr()));
    let reserve = View::GcReserve { bytes: &bytes };
    let block = g.block_mut(b);
    block.operations.push(reserve.operation(room, at));
    block.exitswitch = ExitSwitch::LastException;
    block.exits[0].args.push(room.into());
    block.exits.push(Link::with_case(slow, passed, full));

    let path: Vec<_> = std::iter::once(rest)
        .chain(group.path.iter().skip(1).copied())
        .collect();
    let mut rooms = Vec::new();
    for (i, b) in path.iter().enumerate() {
        let room = g.new_var("room", *ADDRESS);
        g.block_mut(*b).inputargs.push(room);
        if let (Some(before), Some(passed)) = (i.checked_sub(1), rooms.last()) {
            let exits = &mut g.block_mut(path[before]).exits;
            for link in exits.iter_mut().filter(|l| l.target == *b) {
                link.args.push(LLOperand::Var(*passed));
            }
        }
        rooms.push(room);
    }
    for (member, index, offset) in &group.members {
        let (block, index) = match *member == b {
            true => (0, index - first),
            false => {
                let block = group.path.iter().position(|p| p == member);
                (block.unwrap_or_default(), *index)
            }
        };
        let op = &g.block(path[block]).operations[index];
        let made = reserved(op, rooms[block], *offset);
        g.block_mut(path[block]).operations[index] = made;
    }
}

/// The operation that makes an object of a group in the place of another one.
fn reserved(op: &Operation<LowLevel>, room: VarId, offset: u64) -> Operation<LowLevel> {
    let Some(allocation) = op.view().allocation() else {
        return op.clone();
    };
    View::GcMallocReserved {
        ty: allocation.ty,
        flavor: allocation.flavor,
        room: &room.into(),
        offset: &constant(LLConst::signed(offset as i64)),
        length: allocation.length,
    }
    .operation(op.result, op.at)
}
