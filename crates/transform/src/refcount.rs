//! References that are counted (RPython: `memory/gctransform/refcounting.py`).
//!
//! ```text
//! block0(v0: *GcStruct S, v1: *GcStruct S):    block0(v0, v1):
//!     v2 = getfield(v0, .next)                     v2 = getfield(v0, .next)
//!                                                  direct_call(&rpy_gc_incref, v2)
//!     v3 = direct_call(&g, v2)                     v3 = direct_call(&g, v2)
//!                                                  direct_call(&rpy_gc_decref, v2)
//!     v4 = setfield(v0, .next, v1)                 v5 = getfield(v0, .next)
//!                                                  direct_call(&rpy_gc_incref, v1)
//!                                                  v4 = setfield(v0, .next, v1)
//!                                                  direct_call(&rpy_gc_decref, v5)
//!     goto return(v3)                              goto return(v3)
//! ```
//!
//! Who owns a reference has to see to it that its end is counted:
//!
//! - Arguments of functions are borrowed from the caller, who keeps what it passes, and so are input
//!   arguments of blocks that are nothing else whichever way control came. All other input arguments
//!   are owned, what a function returns is, and so is every result.
//! - A reference is let go of after its last use in a block, or on the links that do not pass it
//!   on; a link that passes it on hands it over. A borrowed one, or one that is passed on twice,
//!   is counted there.
//! - Casts of an object, and pointers into it, are the object: as long as they are used it is kept.
//!   Where a link passes on a pointer into an object, it passes the object on as well.
//! - Memory owns what is stored there. What was there before is read first and let go of
//!   afterwards, unless the object is new and nothing was stored in that place.
//! - Prebuilt objects are not counted, so constants need nothing.
//!
//! What is read and used up before anything else can happen to it is not counted: memory keeps it.

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_graph::{
    BlockId, ExitCase, ExitSwitch, Link, LinkId, Operation, VarId, entry_map,
    transform_dead_op_vars,
};
use taipan_lltype::{
    BOOL, ConstantOperand, EFFECT, GCREF, LLConst, LLGraph, LLOp, LLOperand, LLType, LowLevel,
    NamedOperands, PlainOp, Program, VOID, View, layout,
};

use crate::Summaries;
use crate::calls::{is_raw_malloc, runtime_call};
use crate::memory_errors::tested_allocation;
use crate::ssa::{constant, type_of};

/// Makes a graph count references.
pub(crate) fn count_references(g: &mut LLGraph, s: &dyn Summaries) {
    transform_dead_op_vars(g);
    let entries = entry_map(g);
    if !entries[g.startblock.index()].is_empty() {
        separate_start(g);
    }
    let new = new_inputs(g);
    keep_bases(g);
    let borrowed = borrowed(g);
    for b in g.reachable() {
        if b != g.returnblock && b != g.exceptblock {
            Block::new(g, b, &borrowed, &new).rewrite(g, s);
        }
    }
}

/// The input arguments that are objects which the block before has just allocated.
fn new_inputs(g: &LLGraph) -> FxHashSet<VarId> {
    let entries = entry_map(g);
    let mut new = FxHashSet::default();
    for b in g.reachable() {
        let [link] = entries[b.index()][..] else {
            continue;
        };
        let Some(object) = tested_allocation(g, link.source) else {
            continue;
        };
        let passed = g.link(link).args.iter().zip(&g.block(b).inputargs);
        new.extend((passed.filter(|(a, _)| a.as_var() == Some(object))).map(|(_, v)| *v));
    }
    new
}

/// Gives a graph whose first block is in a loop another first block: arguments are borrowed there
/// alone.
fn separate_start(g: &mut LLGraph) {
    let old = g.startblock;
    let args = g.block(old).inputargs.clone();
    let copies: Vec<VarId> = args.iter().map(|v| g.copy_var(*v)).collect();
    let passed = copies.iter().map(|v| LLOperand::Var(*v)).collect();
    let new = g.new_block(copies);
    g.block_mut(new).exits = vec![Link::new(old, passed)];
    g.startblock = new;
}

/// The input arguments that are arguments of the function, or constants, whichever way control
/// came: a greatest fixpoint.
fn borrowed(g: &LLGraph) -> FxHashSet<VarId> {
    let order = g.reachable();
    let last = [g.returnblock, g.exceptblock];
    let mut borrowed: FxHashSet<VarId> = (order.iter())
        .filter(|b| !last.contains(b))
        .flat_map(|b| &g.block(*b).inputargs)
        .filter(|v| is_root(g, **v))
        .copied()
        .collect();
    let objects: Vec<_> = order.iter().map(|b| (*b, objects_of(g, *b))).collect();
    loop {
        let before = borrowed.len();
        for (b, objects) in &objects {
            for link in &g.block(*b).exits {
                for (a, v) in link.args.iter().zip(&g.block(link.target).inputargs) {
                    if let Some(a) = a.as_var()
                        && let Some(object) = objects.get(&a)
                        && !borrowed.contains(object)
                    {
                        borrowed.remove(v);
                    }
                }
            }
        }
        if borrowed.len() == before {
            return borrowed;
        }
    }
}

/// What an operation's result is made of, if it is the same object or a place in it.
fn part_of(op: &Operation<LowLevel>) -> Option<&LLOperand> {
    match op.view() {
        View::CastPointer { value }
        | View::CastOpaquePtr { value }
        | View::SameAs { value }
        | View::Hint { value, .. }
        | View::CastPtrToAdr { value } => Some(value),
        View::Getsubstruct { object, .. } | View::DirectFieldptr { object, .. } => Some(object),
        View::Getarraysubstruct { array, .. } | View::DirectArrayitems { array } => Some(array),
        View::DirectPtradd { items, .. } => Some(items),
        View::AdrAdd { address, .. } | View::AdrSub { address, .. } => Some(address),
        _ => None,
    }
}

fn is_root(g: &LLGraph, v: VarId) -> bool {
    g.ty(v).is_gc_ptr()
}

/// By variable of a block, the one that has the whole object.
fn objects_of(g: &LLGraph, b: BlockId) -> FxHashMap<VarId, VarId> {
    let mut objects: FxHashMap<VarId, VarId> = FxHashMap::default();
    let block = g.block(b);
    for v in block.inputargs.iter().filter(|v| is_root(g, **v)) {
        objects.insert(*v, *v);
    }
    for op in &block.operations {
        match part_of(op) {
            Some(of) => {
                // Casts of constants are no more counted than these.
                if let Some(object) = of.as_var().and_then(|v| objects.get(&v)) {
                    objects.insert(op.result, *object);
                } else if is_root(g, op.result) && of.as_const().is_none() {
                    objects.insert(op.result, op.result);
                }
            }
            None if is_root(g, op.result) => {
                objects.insert(op.result, op.result);
            }
            None => {}
        }
    }
    objects
}

/// Has links that pass on pointers into objects pass on the objects, too.
fn keep_bases(g: &mut LLGraph) {
    let order = g.reachable();
    let mut within: FxHashSet<VarId> = FxHashSet::default();
    // By block, what pointers are made of that came in as pointers.
    let made_of = |g: &LLGraph, b: BlockId, within: &FxHashSet<VarId>| {
        let mut parts: FxHashMap<VarId, VarId> = FxHashMap::default();
        let inputs = g.block(b).inputargs.iter();
        parts.extend(inputs.filter(|v| within.contains(v)).map(|v| (*v, *v)));
        for op in &g.block(b).operations {
            if let Some(of) = part_of(op).and_then(|of| of.as_var())
                && let Some(from) = parts.get(&of).copied()
            {
                parts.insert(op.result, from);
            }
        }
        parts
    };
    loop {
        let before = within.len();
        for b in &order {
            let objects = objects_of(g, *b);
            let parts = made_of(g, *b, &within);
            for link in &g.block(*b).exits {
                for (a, v) in link.args.iter().zip(&g.block(link.target).inputargs) {
                    if let Some(a) = a.as_var()
                        && !is_root(g, a)
                        && (objects.contains_key(&a) || parts.contains_key(&a))
                    {
                        within.insert(*v);
                    }
                }
            }
        }
        if within.len() == before {
            break;
        }
    }
    let last = [g.returnblock, g.exceptblock];
    within.retain(|v| !last.iter().any(|b| g.block(*b).inputargs.contains(v)));
    if within.is_empty() {
        return;
    }
    // What is passed on is found out before blocks get more arguments.
    let mut companions: FxHashMap<VarId, VarId> = FxHashMap::default();
    let found: Vec<_> = (order.iter())
        .map(|b| (*b, objects_of(g, *b), made_of(g, *b, &within)))
        .collect();
    for b in &order {
        for v in g.block(*b).inputargs.clone() {
            if within.contains(&v) {
                let companion = g.new_var("", *GCREF);
                companions.insert(v, companion);
                g.block_mut(*b).inputargs.push(companion);
            }
        }
    }
    for (b, objects, parts) in found {
        for exit in 0..g.block(b).exits.len() {
            let link = &g.block(b).exits[exit];
            let inputs = &g.block(link.target).inputargs;
            let pairs = link.args.iter().zip(inputs);
            let wanted: Vec<Option<VarId>> = (pairs.filter(|(_, v)| within.contains(v)))
                .map(|(a, _)| a.as_var())
                .collect();
            for a in wanted {
                let object = a.and_then(|a| objects.get(&a).copied());
                let part = a.and_then(|a| parts.get(&a)).map(|from| companions[from]);
                let passed = match (object, part) {
                    (Some(object), _) => whole(g, b, object).into(),
                    (None, Some(companion)) => companion.into(),
                    (None, None) => constant(LLConst::Null(*GCREF)),
                };
                g.block_mut(b).exits[exit].args.push(passed);
            }
        }
        // Pointers that came in are of the objects that came with them.
        let inputs = g.block(b).inputargs.iter();
        let came: Vec<VarId> = inputs.filter_map(|v| companions.get(v).copied()).collect();
        for companion in came {
            keep_to_the_end(g, b, companion);
        }
    }
}

/// An object as a pointer of the general type, made where it is defined.
fn whole(g: &mut LLGraph, b: BlockId, object: VarId) -> VarId {
    if *g.ty(object) == *GCREF {
        return object;
    }
    let block = g.block(b);
    let defined = block.operations.iter().position(|op| op.result == object);
    let at = defined.map_or(0, |i| i + 1);
    let line = block.operations.get(at).map_or(0, |op| op.at);
    let result = g.new_var("", *GCREF);
    let value = &LLOperand::Var(object);
    let cast = View::CastOpaquePtr { value }.operation(result, line);
    g.block_mut(b).operations.insert(at, cast);
    result
}

/// Has an object used behind everything else in a block.
fn keep_to_the_end(g: &mut LLGraph, b: BlockId, object: VarId) {
    let at = end(g, b);
    let line = g.block(b).operations.last().map_or(0, |op| op.at);
    let result = g.new_var("", *VOID);
    let value = &LLOperand::Var(object);
    let keep = View::Keepalive { value }.operation(result, line);
    g.block_mut(b).operations.insert(at, keep);
}

/// Where operations may be put at the end of a block.
fn end(g: &LLGraph, b: BlockId) -> usize {
    let block = g.block(b);
    // Nothing follows an overflow check.
    block.operations.len() - usize::from(block.canraise() && !block.operations.is_empty())
}

/// The function of the runtime that counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Count {
    Up,
    Down,
}

impl Count {
    fn operation(self, g: &mut LLGraph, object: VarId, at: u32) -> Operation<LowLevel> {
        let name = match self {
            Count::Up => "rpy_gc_incref",
            Count::Down => "rpy_gc_decref",
        };
        runtime_call(g, name, &[object.into()], at)
    }
}

/// What is put into a block: operations, and counts of references that may turn out to be
/// superfluous.
enum Step {
    Op(Operation<LowLevel>),
    Count(Count, VarId, u32),
}

struct Block<'a> {
    b: BlockId,
    /// The input arguments of all blocks that are borrowed.
    borrowed: &'a FxHashSet<VarId>,
    /// By variable, the one that has the whole object.
    objects: FxHashMap<VarId, VarId>,
    /// Objects whose reference belongs to the block, until it is handed over.
    owned: FxHashSet<VarId>,
    /// The last operation that uses an object which no link passes on.
    last_use: FxHashMap<VarId, usize>,
    passed_on: FxHashSet<VarId>,
    /// New objects that nobody else knows, with the offsets of the places that were stored to.
    fresh: FxHashMap<VarId, Vec<u64>>,
    /// The current exception, as read by an operation since which it is the same.
    exception: Option<VarId>,
    steps: Vec<Step>,
}

impl Block<'_> {
    fn new<'a>(
        g: &LLGraph,
        b: BlockId,
        borrowed: &'a FxHashSet<VarId>,
        new: &FxHashSet<VarId>,
    ) -> Block<'a> {
        let objects = objects_of(g, b);
        let block = g.block(b);
        let object = |o: &LLOperand| objects.get(&o.as_var()?).copied();
        let mut passed_on: FxHashSet<VarId> = FxHashSet::default();
        for link in &block.exits {
            passed_on.extend(link.args.iter().filter_map(object));
        }
        let mut last_use = FxHashMap::default();
        for (i, op) in block.operations.iter().enumerate() {
            let used = op.args.iter().filter_map(object);
            last_use.extend(used.map(|o| (o, i)));
            if objects.get(&op.result) == Some(&op.result) {
                last_use.insert(op.result, i);
            }
        }
        let owned = (block.inputargs.iter().copied())
            .filter(|v| is_root(g, *v) && !borrowed.contains(v))
            .collect();
        Block {
            b,
            borrowed,
            objects,
            owned,
            last_use,
            passed_on,
            fresh: (block.inputargs.iter())
                .filter(|v| new.contains(v))
                .map(|v| (*v, Vec::new()))
                .collect(),
            exception: None,
            steps: Vec::new(),
        }
    }

    fn object(&self, o: &LLOperand) -> Option<VarId> {
        self.objects.get(&o.as_var()?).copied()
    }

    fn rewrite(mut self, g: &mut LLGraph, s: &dyn Summaries) {
        let operations = std::mem::take(&mut g.block_mut(self.b).operations);
        let first = operations.first().map_or(0, |op| op.at);
        let mut unused: Vec<VarId> = self.owned.iter().copied().collect();
        unused.retain(|v| !self.passed_on.contains(v) && !self.last_use.contains_key(v));
        unused.sort_unstable();
        for v in unused {
            self.let_go(v, first);
        }
        let mut last = first;
        for (i, op) in operations.into_iter().enumerate() {
            last = op.at;
            self.operation(g, i, op, s);
        }
        self.drop_pairs();
        let steps = std::mem::take(&mut self.steps);
        let operations = steps.into_iter().map(|step| match step {
            Step::Op(op) => op,
            Step::Count(count, object, at) => count.operation(g, object, at),
        });
        let operations: Vec<_> = operations.collect();
        g.block_mut(self.b).operations = operations;
        self.exits(g, last);
    }

    fn count(&mut self, count: Count, object: VarId, at: u32) {
        self.steps.push(Step::Count(count, object, at));
    }

    fn let_go(&mut self, object: VarId, at: u32) {
        if self.owned.remove(&object) {
            self.count(Count::Down, object, at);
        }
    }

    fn operation(&mut self, g: &mut LLGraph, i: usize, op: Operation<LowLevel>, s: &dyn Summaries) {
        let (result, at) = (op.result, op.at);
        let mut used: Vec<VarId> = op.args.iter().filter_map(|o| self.object(o)).collect();
        used.sort_unstable();
        used.dedup();
        let gives = self.emit(g, i, op, s);
        if self.objects.get(&result) == Some(&result) {
            self.owned.insert(result);
            if !gives {
                self.count(Count::Up, result, at);
            }
            used.push(result);
        }
        for object in used {
            if self.last_use.get(&object) == Some(&i) && !self.passed_on.contains(&object) {
                self.let_go(object, at);
            }
        }
    }

    /// Puts an operation into the block, with what has to be done to what it stores. Whether its
    /// result comes with a reference of its own.
    fn emit(
        &mut self,
        g: &mut LLGraph,
        i: usize,
        op: Operation<LowLevel>,
        s: &dyn Summaries,
    ) -> bool {
        let (result, at) = (op.result, op.at);
        let mut known = None;
        match op.view() {
            View::Malloc { .. } | View::MallocVarsize { .. } if !is_raw_malloc(&op) => {
                self.steps.push(Step::Op(op));
                self.fresh.insert(result, Vec::new());
                return true;
            }
            View::Setfield { .. }
            | View::BareSetfield { .. }
            | View::Setarrayitem { .. }
            | View::BareSetarrayitem { .. }
            | View::Setinteriorfield { .. }
            | View::BareSetinteriorfield { .. } => {
                self.store(g, i, op, s);
                return false;
            }
            View::GcCopyArray { source, .. } if has_pointers(g, source, s) => {
                let copy = runtime_call(g, "rpy_gc_copy_counted", &op.args, at);
                self.fresh.clear();
                self.steps.push(Step::Op(copy));
                return false;
            }
            // Neither is possible: who asks does it in another way.
            View::GcWritebarrierBeforeCopy { .. } | View::ShrinkArray { .. } => {
                debug_assert!(*g.ty(result) == *BOOL, "both have a Bool");
                let value = &constant(LLConst::Bool(false));
                let no = View::SameAs { value }.operation(result, at);
                self.steps.push(Step::Op(no));
                return false;
            }
            View::ExcSet { value, .. } => {
                if let Some(object) = self.object(value)
                    && !self.hand_over(i, object)
                {
                    self.count(Count::Up, object, at);
                }
                self.exception = None;
            }
            View::ExcValue {} => known = Some(result),
            View::ExcClear {} => {
                // Who has read it takes over the reference that is there.
                let old = match self.exception.take() {
                    Some(v) => v,
                    None => {
                        let old = g.new_var("", *GCREF);
                        let read = View::ExcValue {}.operation(old, at);
                        self.steps.push(Step::Op(read));
                        old
                    }
                };
                self.steps.push(Step::Op(op));
                self.count(Count::Down, old, at);
                return false;
            }
            View::JitConditionalCallValue { value, .. } if is_root(g, result) => {
                // Null needs no count; then the function gives its own.
                if let Some(object) = self.object(value) {
                    self.count(Count::Up, object, at);
                }
            }
            _ => {}
        }
        let mut gives = false;
        match op.op {
            LLOp::Plain(
                PlainOp::DirectCall
                | PlainOp::IndirectCall
                | PlainOp::JitConditionalCall
                | PlainOp::JitConditionalCallValue,
            ) => {
                self.fresh.clear();
                self.exception = None;
                gives = true;
            }
            LLOp::Plain(PlainOp::WeakrefCreate | PlainOp::GcFqNextDead) => gives = true,
            _ => {}
        }
        // Whoever else gets to know a new object may store into it.
        let harmless = op.view().access().is_some() || part_of(&op).is_some();
        if !harmless {
            for o in &op.args {
                if let Some(object) = self.object(o) {
                    self.fresh.remove(&object);
                }
            }
        }
        self.steps.push(Step::Op(op));
        if known.is_some() {
            self.exception = known;
        }
        gives
    }

    /// Whether the block's own reference to an object goes to an operation that keeps it: it has
    /// one, and does not need it any more.
    fn hand_over(&mut self, i: usize, object: VarId) -> bool {
        self.last_use.get(&object) == Some(&i)
            && !self.passed_on.contains(&object)
            && self.owned.remove(&object)
    }

    fn store(&mut self, g: &mut LLGraph, i: usize, op: Operation<LowLevel>, s: &dyn Summaries) {
        let at = op.at;
        let access = op.view().access();
        let Some((container, path, Some(value))) =
            access.map(|a| (a.object.clone(), a.path.to_vec(), a.stored.cloned()))
        else {
            self.steps.push(Step::Op(op));
            return;
        };
        let ty = type_of(g, &value);
        if !ty.is_gc_ptr() {
            self.steps.push(Step::Op(op));
            return;
        }
        let old = match self.is_new_place(g, &container, &path, s) {
            true => None,
            false => {
                let old = g.new_var("", ty);
                let read = load(&op, &container, &path).operation(old, at);
                self.steps.push(Step::Op(read));
                Some(old)
            }
        };
        if let Some(object) = self.object(&value) {
            let uses = op.args.iter().filter(|o| self.object(o) == Some(object));
            if uses.count() > 1 || !self.hand_over(i, object) {
                self.count(Count::Up, object, at);
            }
            self.fresh.remove(&object);
        }
        self.steps.push(Step::Op(op));
        if let Some(old) = old {
            self.count(Count::Down, old, at);
        }
    }

    /// Whether nothing was stored in that place of a new object, which is from now on.
    fn is_new_place(
        &mut self,
        g: &LLGraph,
        container: &LLOperand,
        path: &[LLOperand],
        s: &dyn Summaries,
    ) -> bool {
        let Some(object) = self.object(container) else {
            return false;
        };
        let Some(places) = self.fresh.get_mut(&object) else {
            return false;
        };
        // Pointers into it start elsewhere.
        let ty = type_of(g, container);
        let offset = match ty.is_gc_ptr() {
            true => offset_of(ty, path, s.program()),
            false => None,
        };
        let Some(offset) = offset else {
            self.fresh.remove(&object);
            return false;
        };
        let is_new = !places.contains(&offset);
        places.push(offset);
        is_new
    }

    /// Leaves out counts up and down of what is kept by the memory that it was read from.
    fn drop_pairs(&mut self) {
        loop {
            let mut dropped = false;
            let mut at = 0;
            while at < self.steps.len() {
                if let Step::Count(Count::Up, object, _) = self.steps[at]
                    && let Some(down) = self.end_of(at, object)
                {
                    self.steps.remove(down);
                    self.steps.remove(at);
                    dropped = true;
                } else {
                    at += 1;
                }
            }
            if !dropped {
                return;
            }
        }
    }

    /// Where a reference that is counted at `from` ends, if until there nothing can be let go of.
    fn end_of(&self, from: usize, object: VarId) -> Option<usize> {
        for (i, step) in self.steps.iter().enumerate().skip(from + 1) {
            match step {
                Step::Count(Count::Up, ..) => {}
                Step::Count(Count::Down, o, _) => return (*o == object).then_some(i),
                Step::Op(op) if frees(op) => return None,
                Step::Op(_) => {}
            }
        }
        None
    }

    /// Counts what links pass on, or do not.
    fn exits(&self, g: &mut LLGraph, at: u32) {
        let single = g.block(self.b).exits.len() == 1;
        let mut objects: Vec<VarId> = (self.passed_on.union(&self.owned)).copied().collect();
        objects.sort_unstable();
        for exit in 0..g.block(self.b).exits.len() {
            let link = LinkId {
                source: self.b,
                exit,
            };
            let mut counts: Vec<(Count, VarId)> = Vec::new();
            for object in &objects {
                let inputs = &g.block(g.link(link).target).inputargs;
                let args = g.link(link).args.iter().zip(inputs);
                let taken = args.filter(|(a, v)| {
                    a.as_var().is_some_and(|a| is_root(g, a)) && !self.borrowed.contains(v)
                });
                let times = taken
                    .filter(|(a, _)| self.object(a) == Some(*object))
                    .count();
                let own = usize::from(self.owned.contains(object));
                if times < own && !self.is_null_on(g, link, *object) {
                    counts.push((Count::Down, *object));
                }
                counts.extend((own..times).map(|_| (Count::Up, *object)));
            }
            if counts.is_empty() {
                continue;
            }
            // Ups first: what is let go of may be all that keeps the rest.
            counts.sort_by_key(|(count, _)| *count == Count::Down);
            if single {
                let place = end(g, self.b);
                let operations = counts.into_iter().map(|(c, v)| c.operation(g, v, at));
                let operations: Vec<_> = operations.collect();
                let block = g.block_mut(self.b);
                block.operations.splice(place..place, operations);
                continue;
            }
            self.count_on(g, link, counts, at);
        }
    }

    /// Puts counts into a block of their own on a link.
    fn count_on(&self, g: &mut LLGraph, link: LinkId, counts: Vec<(Count, VarId)>, at: u32) {
        let target = g.link(link).target;
        let old = std::mem::take(&mut g.link_mut(link).args);
        // What the new block is given: everything that it passes on or counts.
        let mut given: Vec<VarId> = Vec::new();
        let counted = counts.iter().map(|(_, v)| *v);
        for v in old.iter().filter_map(LLOperand::as_var).chain(counted) {
            if !given.contains(&v) {
                given.push(v);
            }
        }
        let copies: Vec<VarId> = given.iter().map(|v| g.copy_var(*v)).collect();
        let copy = |v: VarId| {
            let at = given.iter().position(|g| *g == v);
            copies[at.unwrap_or_default()]
        };
        let args = (old.iter())
            .map(|a| a.as_var().map_or_else(|| a.clone(), |v| copy(v).into()))
            .collect();
        let new = g.new_block(copies.clone());
        for (count, v) in counts {
            let op = count.operation(g, copy(v), at);
            g.block_mut(new).operations.push(op);
        }
        g.block_mut(new).exits = vec![Link::new(target, args)];
        let link = g.link_mut(link);
        link.target = new;
        link.args = given.into_iter().map(LLOperand::Var).collect();
    }

    /// Whether an object is the result of a call that has raised, where that is so: null.
    fn is_null_on(&self, g: &LLGraph, link: LinkId, object: VarId) -> bool {
        let block = g.block(self.b);
        let [.., call, occurred] = &block.operations[..] else {
            return false;
        };
        g.link(link).case == ExitCase::Bool(true)
            && occurred.op == PlainOp::ExcOccurred.into()
            && call.result == object
            && matches!(&block.exitswitch, ExitSwitch::Value(v) if v.as_var() == Some(occurred.result))
    }
}

/// Whether an operation may let go of references that are not counted in its block. What is let go
/// of by a store of a reference, or with the current exception, is counted there.
fn frees(op: &Operation<LowLevel>) -> bool {
    use PlainOp::*;
    match op.op {
        LLOp::Plain(
            Malloc
            | MallocVarsize
            | Setfield
            | BareSetfield
            | Setarrayitem
            | BareSetarrayitem
            | Setinteriorfield
            | BareSetinteriorfield
            | GcStoreIndexed
            | RawStore
            | ExcClear
            | Keepalive
            | Hint
            | JitMarker
            | DebugAssert
            | DebugCatchException
            | DebugRecordTraceback
            | DebugReraiseTraceback
            | DebugStartTraceback
            | StackCheck,
        ) => false,
        op => op.flags() & EFFECT != 0,
    }
}

/// Where a field or an item with a constant index is in what a pointer points to.
fn offset_of(ty: LLType, path: &[LLOperand], program: &dyn Program) -> Option<u64> {
    let [step] = path else {
        return None;
    };
    let container = ty.pointee()?;
    let layout = layout(container, program);
    if container.as_array().is_some() {
        let var = layout.var.as_ref()?;
        let Some(LLConst::Int(_, i)) = step.as_const() else {
            return None;
        };
        return Some(var.items + u64::try_from(i.get()).ok()? * var.item_size);
    }
    taipan_lltype::offset_of(container, step.as_field()?, program)
}

/// The operation that reads what another one stores to.
fn load<'a>(
    store: &Operation<LowLevel>,
    object: &'a LLOperand,
    path: &'a [LLOperand],
) -> View<'a, LLOperand> {
    match (store.op, path) {
        (LLOp::Plain(PlainOp::Setfield | PlainOp::BareSetfield), [field]) => {
            View::Getfield { object, field }
        }
        (LLOp::Plain(PlainOp::Setarrayitem | PlainOp::BareSetarrayitem), [index]) => {
            View::Getarrayitem {
                array: object,
                index,
            }
        }
        _ => View::Getinteriorfield { object, path },
    }
}

/// Whether the items of an array have GC pointers.
fn has_pointers(g: &LLGraph, array: &LLOperand, s: &dyn Summaries) -> bool {
    let container = type_of(g, array).pointee();
    container.is_some_and(|ty| {
        let var = layout(ty, s.program()).var.clone();
        var.is_some_and(|var| !var.item_gc_pointers.is_empty())
    })
}
