//! Allocations without a collection between them share one reservation of memory.
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
//! The nursery is tested once for a group, and only `block2` saves roots and reads them back. An object needs no
//! write barrier for references to later objects of its group (RPython: `jit/backend/llsupport/rewrite.py`).
//!
//! A group extends over blocks with a single entry, from the block before. Exits to cold blocks do not end it: where
//! one is taken, the memory of the remaining objects stays unused until the next collection.

use taipan_graph::{BlockId, ExitCase, ExitSwitch, Link, LinkId, Operation, VarId, entry_map};
use taipan_lltype::{
    ADDRESS, ConstantOperand, LLConst, LLGraph, LLOperand, LowLevel, NamedOperands, OBJECT_VTABLE,
    PlainOp, Program, View, cold_blocks_of, has_destructor, layout, round_up,
};

use crate::Summaries;
use crate::calls::can_collect;
use crate::nursery::MAX_SIZE;
use crate::ssa::constant;

/// Maximum size of a group, in bytes. A full nursery wastes less than this.
const MAX_GROUP: u64 = 1024;

/// Allocations with no collection between them.
#[derive(Default)]
struct Group {
    /// The blocks from that of the first allocation to that of the last.
    path: Vec<BlockId>,
    members: Vec<Member>,
    /// The size of all objects together.
    bytes: u64,
    /// Whether an object of the group has items.
    has_items: bool,
}

/// An allocation of a group.
struct Member {
    /// The position of its block in [`Group::path`].
    block: usize,
    /// The index of its operation in the block.
    operation: usize,
    /// The offset of its object from the group's memory, in bytes.
    offset: u64,
}

impl Group {
    /// Whether one reservation is cheaper than an allocation for each member. [`crate::nursery`] handles a single
    /// object without items.
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
    // From the last to the first: a merge moves the operations behind the group to another block.
    for group in groups.iter().rev().filter(|group| group.pays()) {
        merge(g, group);
    }
}

/// Finds the groups on the path of warm blocks that begins with `first`.
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
    while let Some(b) = next {
        seen[b.index()] = true;
        if let Some(group) = &mut open {
            group.path.push(b);
        }
        for (operation, op) in g.block(b).operations.iter().enumerate() {
            let Some(size) = size_of(op, s.program()) else {
                if can_collect(op, s) {
                    groups.extend(open.take());
                }
                continue;
            };
            if open.as_ref().is_some_and(|g| g.bytes + size > MAX_GROUP) {
                groups.extend(open.take());
            }
            let group = open.get_or_insert_with(|| Group {
                path: vec![b],
                ..Group::default()
            });
            group.members.push(Member {
                block: group.path.len() - 1,
                operation,
                offset: group.bytes,
            });
            group.bytes += size;
            group.has_items |= op.op == PlainOp::MallocVarsize.into();
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

/// Reserves the memory of a group before its first allocation, and replaces the allocations.
fn merge(g: &mut LLGraph, group: &Group) {
    let (Some(first), Some(last)) = (group.members.first(), group.members.last()) else {
        return;
    };
    let b = group.path[0];
    let at = g.block(b).operations[first.operation].at;
    let rest = g.split_block(b, first.operation);
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

    let mut path = group.path[..=last.block].to_vec();
    path[0] = rest;
    let rooms = pass_along(g, &path);
    for member in &group.members {
        let skipped = if member.block == 0 {
            first.operation
        } else {
            0
        };
        let operations = &mut g.block_mut(path[member.block]).operations;
        let op = &mut operations[member.operation - skipped];
        *op = reserved(op, rooms[member.block], member.offset);
    }
}

/// Adds an input argument to each block of a path, and passes it along the path.
///
/// The result has the variable of each block. The links to the first block are the caller's.
fn pass_along(g: &mut LLGraph, path: &[BlockId]) -> Vec<VarId> {
    let mut rooms: Vec<VarId> = Vec::with_capacity(path.len());
    for (i, b) in path.iter().enumerate() {
        let room = g.new_var("room", *ADDRESS);
        g.block_mut(*b).inputargs.push(room);
        if let Some(passed) = rooms.last() {
            let exits = g.block_mut(path[i - 1]).exits.iter_mut();
            for link in exits.filter(|l| l.target == *b) {
                link.args.push((*passed).into());
            }
        }
        rooms.push(room);
    }
    rooms
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
