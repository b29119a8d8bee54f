//! Malloc removal (RPython: `malloc.py`): an object that never leaves the function
//! becomes one variable per field.
//!
//! ```text
//! v1 = malloc(<type S>, <gc>)         goto block1(v0, 0)
//! v2 = setfield(v1, .x, v0)           block1(v5, v6):
//! goto block1(v1)                     ...                     ; v5 for v4
//! block1(v3):
//! v4 = getfield(v3, .x)
//! ```
//!
//! So does a small array of a known length whose items are only reached by constant
//! indices, such as that of the list in `[None] * n`.
//!
//! Works in SSA form: an object that meets another one at a join stays.

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_graph::{
    BlockId, Operation, Substitution, VarId, entry_map, remove_identical_vars_ssa, ssa_to_ssi,
};
use taipan_lltype::{
    Allocated, ConstantOperand, LLConst, LLGraph, LLOp, LLOperand, LLType, LowLevel, NamedOperands,
    PlainOp, TypeKind, View, has_destructor,
};

use crate::ssa::{constant, goto, type_of, zero};

/// Length up to which arrays become variables.
const MAX_ITEMS: i128 = 16;

/// Removes what can be removed. Answers whether there was anything.
pub(crate) fn remove_mallocs(g: &mut LLGraph) -> bool {
    if !has_candidates(g) {
        return false;
    }
    remove_identical_vars_ssa(g);
    let mut changed = false;
    // Removing one object may free another one that it held.
    for _ in 0..4 {
        let found = candidates(g);
        let mut removed = false;
        for (b, v, length) in found {
            if let Some(aliases) = confined(g, v, length) {
                remove(g, b, v, length, &aliases);
                removed = true;
            }
        }
        changed |= removed;
        if !removed {
            break;
        }
    }
    ssa_to_ssi(g);
    changed
}

/// How many items an object has that an operation allocates and that may be removed: none
/// if it is a struct.
fn candidate(op: &Operation<LowLevel>) -> Option<i128> {
    let LLOp::Plain(PlainOp::Malloc | PlainOp::MallocVarsize) = op.op else {
        return None;
    };
    let Allocated { ty, length, .. } = op.view().allocation()?;
    let ty = ty.as_type()?;
    if !ty.is_gc_container() || has_destructor(op) {
        return None;
    }
    match (length, ty.kind()) {
        (None, TypeKind::Struct(_)) => Some(0),
        (Some(length), TypeKind::Array(_)) => index(length).filter(|n| *n <= MAX_ITEMS),
        _ => None,
    }
}

/// A constant that is no negative number.
fn index(o: &LLOperand) -> Option<i128> {
    match o.as_const()? {
        LLConst::Int(_, n) => Some(n.get()).filter(|n| *n >= 0),
        _ => None,
    }
}

fn has_candidates(g: &LLGraph) -> bool {
    (g.blocks.iter().flat_map(|b| &b.operations)).any(|op| candidate(op).is_some())
}

fn candidates(g: &LLGraph) -> Vec<(BlockId, VarId, i128)> {
    let mut found = Vec::new();
    for b in g.reachable() {
        let ops = g.block(b).operations.iter();
        found.extend(ops.filter_map(|op| Some((b, op.result, candidate(op)?))));
    }
    found
}

/// The names of an object, if it is only used for access to its fields or to items that it
/// has.
fn confined(g: &LLGraph, v: VarId, length: i128) -> Option<FxHashSet<VarId>> {
    let mut aliases: FxHashSet<VarId> = [v].into_iter().collect();
    let is_alias = |o: &LLOperand, aliases: &FxHashSet<VarId>| {
        o.as_var().is_some_and(|v| aliases.contains(&v))
    };
    // Reverse postorder: definitions come before uses.
    for b in g.reachable() {
        let block = g.block(b);
        for op in &block.operations {
            if !op.args.iter().any(|a| is_alias(a, &aliases)) {
                continue;
            }
            let is_there = |i: &LLOperand| index(i).is_some_and(|i| i < length);
            match op.view() {
                View::Getfield { .. } | View::Getarraysize { .. } => {}
                View::Setfield { value, .. } | View::BareSetfield { value, .. }
                    if !is_alias(value, &aliases) => {}
                View::Getarrayitem { index, .. } if is_there(index) => {}
                View::Setarrayitem { index, value, .. }
                | View::BareSetarrayitem { index, value, .. }
                    if is_there(index) && !is_alias(value, &aliases) => {}
                View::PtrNonzero { .. } | View::PtrIszero { .. } | View::Keepalive { .. } => {}
                View::JitForceQuasiImmutable { .. } => {}
                View::PtrEq { .. } | View::PtrNe { .. } => {}
                View::CastPointer { .. } => {
                    aliases.insert(op.result);
                }
                _ => return None,
            }
        }
        if block
            .exits
            .iter()
            .flat_map(|l| &l.args)
            .any(|a| is_alias(a, &aliases))
        {
            return None;
        }
    }
    Some(aliases)
}

/// A field or an item: the struct or array that it is declared in, and its name or index.
type FieldKey = (LLType, LLOperand);

struct Removal<'a> {
    aliases: &'a FxHashSet<VarId>,
    /// Number of items.
    length: i128,
    /// Input arguments for the fields that a block needs.
    inputs: FxHashMap<BlockId, FxHashMap<FieldKey, VarId>>,
}

impl Removal<'_> {
    fn is_alias(&self, o: &LLOperand) -> bool {
        o.as_var().is_some_and(|v| self.aliases.contains(&v))
    }

    /// The field that an operation on the object reads, or writes that value into.
    fn access<'o>(
        &self,
        g: &LLGraph,
        op: &'o Operation<LowLevel>,
    ) -> Option<(FieldKey, Option<&'o LLOperand>)> {
        op.args.first().filter(|o| self.is_alias(o))?;
        let access = op.view().access()?;
        let [at] = access.path else { return None };
        let key = (type_of(g, access.object).pointee()?, at.clone());
        Some((key, access.stored))
    }
}

fn remove(g: &mut LLGraph, home: BlockId, v: VarId, length: i128, aliases: &FxHashSet<VarId>) {
    let mut r = Removal {
        aliases,
        length,
        inputs: FxHashMap::default(),
    };
    let order = g.reachable();
    let entries = entry_map(g);
    // Which fields each block needs on entry: those read before they are written.
    let mut pending: Vec<(BlockId, FieldKey, LLType)> = Vec::new();
    for b in &order {
        let mut written: FxHashSet<FieldKey> = FxHashSet::default();
        let mut inside = *b != home;
        for op in &g.block(*b).operations {
            inside |= op.result == v;
            if let Some((key, stored)) = r.access(g, op) {
                if stored.is_none() && *b != home && inside && !written.contains(&key) {
                    pending.push((*b, key.clone(), *g.ty(op.result)));
                }
                written.insert(key);
            }
        }
    }
    let writes = |g: &LLGraph, b: BlockId, key: &FieldKey| {
        (g.block(b).operations.iter())
            .any(|op| (r.access(g, op)).is_some_and(|(k, stored)| stored.is_some() && k == *key))
    };
    let mut inputs: FxHashMap<BlockId, FxHashMap<FieldKey, VarId>> = FxHashMap::default();
    let mut ordered: Vec<(BlockId, FieldKey, VarId)> = Vec::new();
    while let Some((b, key, ty)) = pending.pop() {
        if inputs.get(&b).is_some_and(|i| i.contains_key(&key)) {
            continue;
        }
        let input = g.new_var("", ty);
        inputs.entry(b).or_default().insert(key.clone(), input);
        ordered.push((b, key.clone(), input));
        for l in &entries[b.index()] {
            if l.source != home && !writes(g, l.source, &key) {
                pending.push((l.source, key.clone(), ty));
            }
        }
    }
    r.inputs = inputs;
    let mut map = Substitution::<LowLevel>::default();
    for b in order {
        rewrite(g, b, v, &r, &ordered, &mut map);
    }
    for (b, _, input) in &ordered {
        g.block_mut(*b).inputargs.push(*input);
    }
    for b in g.reachable() {
        g.block_mut(b).substitute(&map);
    }
}

/// Replaces the accesses of one block, and passes on what its targets need.
fn rewrite(
    g: &mut LLGraph,
    b: BlockId,
    v: VarId,
    r: &Removal<'_>,
    ordered: &[(BlockId, FieldKey, VarId)],
    map: &mut Substitution<LowLevel>,
) {
    let mut values: FxHashMap<FieldKey, LLOperand> = FxHashMap::default();
    for (key, input) in r.inputs.get(&b).into_iter().flatten() {
        values.insert(key.clone(), (*input).into());
    }
    let resolve = |o: &LLOperand, map: &Substitution<LowLevel>| {
        o.as_var().and_then(|v| map.get(&v)).unwrap_or(o).clone()
    };
    let mut operations = std::mem::take(&mut g.block_mut(b).operations);
    if g.block(b).canraise() && operations.last().is_some_and(|op| op.result == v) {
        // What is not made cannot fail.
        let link = g.block(b).exits[0].clone();
        goto(g, b, link);
    }
    operations.retain(|op| {
        if op.result == v || r.aliases.contains(&op.result) {
            return false;
        }
        if let Some((key, stored)) = r.access(g, op) {
            if let Some(value) = stored {
                values.insert(key, resolve(value, map));
            } else {
                let ty = *g.ty(op.result);
                let value = values.get(&key).cloned().or_else(|| zero(ty).map(constant));
                let value = value.unwrap_or_else(|| constant(LLConst::void()));
                map.insert(op.result, value);
            }
            return false;
        }
        if !op.args.iter().any(|a| r.is_alias(a)) {
            return true;
        }
        // What is left are comparisons (it equals only itself) and lengths.
        let itself = op.args.iter().all(|a| r.is_alias(a));
        let c = match op.op {
            LLOp::Plain(PlainOp::PtrNonzero) => LLConst::Bool(true),
            LLOp::Plain(PlainOp::PtrIszero) => LLConst::Bool(false),
            LLOp::Plain(PlainOp::PtrEq) => LLConst::Bool(itself),
            LLOp::Plain(PlainOp::PtrNe) => LLConst::Bool(!itself),
            LLOp::Plain(PlainOp::Getarraysize) => LLConst::signed(r.length as i64),
            _ => LLConst::void(),
        };
        map.insert(op.result, constant(c));
        false
    });
    g.block_mut(b).operations = operations;
    for exit in 0..g.block(b).exits.len() {
        let target = g.block(b).exits[exit].target;
        for (_, key, input) in ordered.iter().filter(|(t, ..)| *t == target) {
            let value = (values.get(key).cloned())
                .or_else(|| zero(*g.ty(*input)).map(constant))
                .unwrap_or_else(|| constant(LLConst::void()));
            g.block_mut(b).exits[exit].args.push(value);
        }
    }
}
