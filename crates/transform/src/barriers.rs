//! Write barriers: before a pointer that may be to a young object is stored into a GC object.
//!
//! ```text
//! v1 = setfield(v0, .x, v2)           gc_writebarrier(v0)
//! v3 = setarrayitem(v4, v5, v2)       v1 = setfield(v0, .x, v2)
//!                                     gc_writebarrier(v4, v5)
//!                                     v3 = setarrayitem(v4, v5, v2)
//! ```
//!
//! A barrier for a store into an array has the index as second operand. Barriers are left
//! out for null and prebuilt values (which never move), and for objects that were allocated,
//! or had a barrier, since the last collection, whichever way control came: those are
//! either young or remembered until then. What had a barrier for one item counts as
//! remembered for the items near it alone.

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_graph::{BlockId, LinkId, Operation, VarId, entry_map};
use taipan_lltype::{
    LLConst, LLGraph, LLOp, LLOperand, LowLevel, NamedOperands, PlainOp, VOID, View,
};

use crate::Summaries;
use crate::calls::{can_collect, is_raw_malloc};
use crate::ssa::type_of;

/// The first so many items of an array are remembered together: the collector's cards are
/// as long as this or longer.
pub const SHARED_CARD: i128 = 128;

/// Inserts the barriers that are needed. The graph is in SSI form.
pub(crate) fn insert_barriers(g: &mut LLGraph, s: &dyn Summaries) {
    let order = g.reachable();
    let mut operations = order.iter().flat_map(|b| &g.block(*b).operations);
    if !operations.any(|op| stored_into(g, op).is_some()) {
        return;
    }
    let at_exit = clean_at_exit(g, &order, s);
    let entries = entry_map(g);
    for b in order {
        let mut clean = clean_at_entry(g, b, &entries[b.index()], &at_exit);
        insert_in(g, b, Some(&mut clean), s);
    }
}

/// Inserts a barrier before every store that may need one.
pub(crate) fn insert_all_barriers(g: &mut LLGraph, s: &dyn Summaries) {
    for b in g.reachable() {
        insert_in(g, b, None, s);
    }
}

/// Inserts the barriers that one block needs, whatever came before it.
pub(crate) fn insert_barriers_in_block(g: &mut LLGraph, b: BlockId, s: &dyn Summaries) {
    let mut operations = g.block(b).operations.iter();
    if operations.any(|op| stored_into(g, op).is_some()) {
        insert_in(g, b, Some(&mut Clean::default()), s);
    }
}

/// Inserts barriers except where objects are known to need none, if that is looked at.
fn insert_in(g: &mut LLGraph, b: BlockId, mut clean: Option<&mut Clean>, s: &dyn Summaries) {
    let operations = std::mem::take(&mut g.block_mut(b).operations);
    let mut new = Vec::with_capacity(operations.len());
    for op in operations {
        if let Some(object) = stored_into(g, &op)
            && !clean.as_ref().is_some_and(|clean| clean.knows(g, &op))
        {
            let result = g.new_var("", *VOID);
            let index = stored_item(g, &op);
            let barrier = View::GcWritebarrier {
                object: &object,
                index: index.as_ref(),
            };
            new.push(barrier.operation(result, op.at));
        }
        if let Some(clean) = &mut clean {
            clean.pass(g, &op, s);
        }
        new.push(op);
    }
    g.block_mut(b).operations = new;
}

/// Objects that need no barrier at some place.
#[derive(Clone, Default, PartialEq, Eq)]
struct Clean {
    /// Whole objects.
    objects: FxHashSet<VarId>,
    /// Arrays whose first items ([`SHARED_CARD`]) need none.
    starts: FxHashSet<VarId>,
    /// What the results of casts in this block are made of.
    sources: FxHashMap<VarId, VarId>,
}

impl Clean {
    /// Whether an operation that stores into an object needs no barrier.
    fn knows(&self, g: &LLGraph, op: &Operation<LowLevel>) -> bool {
        let Some(v) = stored_into(g, op).and_then(|o| o.as_var()) else {
            return false;
        };
        self.objects.contains(&v)
            || self.starts.contains(&v) && stored_item(g, op).is_some_and(|i| is_first(&i))
    }

    /// What an operation, with a barrier before it if it needs one, changes.
    fn pass(&mut self, g: &LLGraph, op: &Operation<LowLevel>, s: &dyn Summaries) {
        if let Some(v) = stored_into(g, op).and_then(|o| o.as_var()) {
            let set = match stored_item(g, op) {
                None => Some(&mut self.objects),
                Some(i) if is_first(&i) => Some(&mut self.starts),
                Some(_) => None,
            };
            if let Some(set) = set {
                // It is the same object by whatever type.
                set.extend(std::iter::successors(Some(v), |v| {
                    self.sources.get(v).copied()
                }));
            }
        }
        if can_collect(op, s) {
            self.objects.clear();
            self.starts.clear();
        }
        match op.op {
            LLOp::Plain(
                PlainOp::Malloc
                | PlainOp::MallocVarsize
                | PlainOp::GcMallocFilled
                | PlainOp::GcMallocReserved,
            ) if !is_raw_malloc(op) => {
                self.objects.insert(op.result);
            }
            LLOp::Plain(PlainOp::CastPointer | PlainOp::CastOpaquePtr) => {
                if let View::CastPointer { value } | View::CastOpaquePtr { value } = op.view()
                    && let Some(v) = value.as_var()
                {
                    self.sources.insert(op.result, v);
                    for set in [&mut self.objects, &mut self.starts] {
                        if set.contains(&v) {
                            set.insert(op.result);
                        }
                    }
                }
            }
            _ => {}
        }
    }
}

/// What is clean at the end of each block: the greatest fixpoint.
fn clean_at_exit(g: &LLGraph, order: &[BlockId], s: &dyn Summaries) -> FxHashMap<BlockId, Clean> {
    let entries = entry_map(g);
    let mut at_exit: FxHashMap<BlockId, Clean> = FxHashMap::default();
    loop {
        let mut changed = false;
        for b in order {
            let mut clean = clean_at_entry(g, *b, &entries[b.index()], &at_exit);
            for op in &g.block(*b).operations {
                clean.pass(g, op, s);
            }
            changed |= at_exit.get(b) != Some(&clean);
            at_exit.insert(*b, clean);
        }
        if !changed {
            return at_exit;
        }
    }
}

/// The input arguments of a block that are clean whichever way control came, as far as it is
/// known what is clean there.
fn clean_at_entry(
    g: &LLGraph,
    b: BlockId,
    entries: &[LinkId],
    at_exit: &FxHashMap<BlockId, Clean>,
) -> Clean {
    let mut clean = Clean::default();
    if b == g.startblock {
        return clean;
    }
    for (i, v) in g.block(b).inputargs.iter().enumerate() {
        if !g.ty(*v).is_gc_ptr() {
            continue;
        }
        let everywhere = |within: fn(&Clean) -> [&FxHashSet<VarId>; 2]| {
            entries.iter().all(|l| {
                let arg = g.link(*l).args[i].as_var();
                (at_exit.get(&l.source)).is_none_or(|clean| {
                    arg.is_some_and(|a| within(clean).iter().any(|set| set.contains(&a)))
                })
            })
        };
        if everywhere(|c| [&c.objects, &c.objects]) {
            clean.objects.insert(*v);
        } else if everywhere(|c| [&c.objects, &c.starts]) {
            clean.starts.insert(*v);
        }
    }
    clean
}

/// Whether an index is one of the first items.
fn is_first(index: &LLOperand) -> bool {
    matches!(index.as_const(), Some(LLConst::Int(_, i)) if (0..SHARED_CARD).contains(&i.get()))
}

/// The GC object that an operation stores a pointer into, if that pointer may be to
/// a young object.
fn stored_into(g: &LLGraph, op: &Operation<LowLevel>) -> Option<LLOperand> {
    let LLOp::Plain(PlainOp::Setfield | PlainOp::Setarrayitem | PlainOp::Setinteriorfield) = op.op
    else {
        return None;
    };
    let access = op.view().access()?;
    let (object, value) = (access.object, access.stored?);
    (value.as_var().is_some() && type_of(g, value).is_gc_ptr() && type_of(g, object).is_gc_ptr())
        .then(|| object.clone())
}

/// The index, if an operation stores into an item of a GC array.
fn stored_item(g: &LLGraph, op: &Operation<LowLevel>) -> Option<LLOperand> {
    let access = op.view().access()?;
    let array = type_of(g, access.object).pointee()?.as_array().is_some();
    access.path.first().filter(|_| array).cloned()
}
