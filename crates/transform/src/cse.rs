//! Common subexpressions, redundant loads and known conditions
//! (RPython: `storesink.py`, parts of `constfold.py`).
//!
//! ```text
//! v1 = getfield(v0, .length)          v1 = getfield(v0, .length)
//! v2 = int_lt(v3, v1)                 v2 = int_lt(v3, v1)
//! switch v2 ...                       switch v2 ...
//!     True: block1                        True: block1
//! block1:                             block1:
//! v4 = getfield(v0, .length)
//! v5 = int_lt(v3, v4)
//! switch v5 ...                       ; decided
//! ```
//!
//! Works in SSA form, down the dominator tree. Pure operations and loads of what never
//! changes are known in all dominated blocks, what mutable memory holds ([`Ways`]) until
//! something may write there.

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_graph::{
    BlockId, Dominators, ExitSwitch, Operation, Substitution, VarId, remove_identical_vars_ssa,
    ssa_to_ssi,
};
use taipan_lltype::{
    BOOL, LLConst, LLGraph, LLOp, LLOperand, LLType, LowLevel, NumFamily, NumOp, PlainOp, Program,
};

use crate::around::{Around, Effect, Initialised, asks_for_exception};
use crate::fold::opposite;
use crate::loops::dereferenced;
use crate::memory::{Access, Memory, PlaceId, Ways, condition_of, place, searched};
use crate::ssa::constant;

/// Merges equal computations. The graph is in SSI form.
pub(crate) fn merge_common(g: &mut LLGraph, program: &dyn Program) {
    merge_common_ssa(g, Around::program(program));
    ssa_to_ssi(g);
}

/// The same for a graph in SSA form, which it stays in.
pub(crate) fn merge_common_ssa(g: &mut LLGraph, around: Around<'_>) {
    remove_identical_vars_ssa(g);
    let initialised = Initialised::of(g, around);
    let around = around.of_graph(&initialised);
    let mut pass = Cse {
        around,
        ways: Ways::new(g, around),
        children: vec![Vec::new(); g.blocks.len()],
        replaced: Substitution::<LowLevel>::default(),
        shrinks: (g.blocks.iter().flat_map(|b| &b.operations))
            .any(|op| op.op == PlainOp::ShrinkArray.into()),
        pure: FxHashMap::default(),
        conditions: FxHashMap::default(),
        asked: FxHashMap::default(),
        computed: FxHashMap::default(),
        accessed: FxHashSet::default(),
    };
    let dominators = Dominators::new(g);
    for b in g.reachable() {
        if let Some(d) = dominators.immediate(b) {
            pass.children[d.index()].push(b);
        }
    }
    pass.walk(g);
    let replaced = std::mem::take(&mut pass.replaced);
    for b in g.reachable() {
        g.block_mut(b).substitute(&replaced);
        g.block_mut(b).fold_exitswitch();
    }
}

/// A computation: operation, operands, type of the result.
type Key = (LLOp, Vec<LLOperand>, LLType);

struct Cse<'a> {
    around: Around<'a>,
    ways: Ways<'a>,
    children: Vec<Vec<BlockId>>,
    replaced: Substitution<LowLevel>,
    /// Whether lengths may change.
    shrinks: bool,
    /// What was computed in the blocks that dominate the current one, and what is
    /// known of conditions there.
    pure: FxHashMap<Key, LLOperand>,
    conditions: FxHashMap<VarId, LLConst>,
    /// Calls that can be merged once it is known that they have not raised, by the variable
    /// that says so.
    asked: FxHashMap<VarId, (Called, LLOperand)>,
    /// Arithmetic that has not overflowed, by the block that control then reaches.
    computed: FxHashMap<BlockId, (Key, LLOperand)>,
    /// Objects that were accessed in the blocks that dominate the current one.
    accessed: FxHashSet<VarId>,
}

/// What a block adds to what is known in those that it dominates.
#[derive(Default)]
struct Added {
    keys: Vec<Key>,
    accessed: Vec<VarId>,
}

/// A call that can be merged with others.
#[derive(Clone)]
enum Called {
    Pure(Key),
    /// A search for a key in a dict.
    Search(PlaceId),
}

/// The last operation of a block so far, where it was a call that can be merged.
enum Last {
    Other,
    /// It may have raised.
    Called(Called, LLOperand),
    /// It has been merged with one that has not raised.
    Merged,
}

/// Steps of the walk down the dominator tree.
enum Step {
    /// A block. If one link alone leads to it: what is known of memory there, and the
    /// condition of that link.
    Enter(BlockId, Option<(Memory, Option<(VarId, LLConst)>)>),
    /// Forget what was added for a block and those below it.
    Leave(Added, Option<VarId>),
}

impl Cse<'_> {
    fn walk(&mut self, g: &mut LLGraph) {
        let mut pending = vec![Step::Enter(g.startblock, None)];
        while let Some(step) = pending.pop() {
            match step {
                Step::Leave(added, condition) => {
                    for k in added.keys {
                        self.pure.remove(&k);
                    }
                    for v in added.accessed {
                        self.accessed.remove(&v);
                    }
                    condition.and_then(|v| self.conditions.remove(&v));
                }
                Step::Enter(b, alone) => {
                    let (mut memory, condition) =
                        alone.unwrap_or_else(|| (self.ways.enter(g, b), None));
                    let returned = self.returned(condition.as_ref(), &mut memory);
                    // A condition that is known already stays known.
                    let condition = condition.filter(|(v, _)| !self.conditions.contains_key(v));
                    let known = condition.as_ref().map(|c| c.0);
                    self.conditions.extend(condition);
                    let computed = self.computed.remove(&b).map(|(key, result)| {
                        self.pure.insert(key.clone(), result);
                        key
                    });
                    let mut added = self.block(g, b, &mut memory);
                    added.keys.extend(returned);
                    added.keys.extend(computed);
                    pending.push(Step::Leave(added, known));
                    let block = g.block(b);
                    let children = self.children[b.index()].iter().rev().map(|c| {
                        let link = block.exits.iter().find(|l| l.target == *c);
                        let link = link.filter(|_| self.ways.entries(*c) == 1);
                        (*c, link, link.is_some() && !leaves(g, *c))
                    });
                    let children: Vec<_> = children.collect();
                    // Code with hundreds of exits knows hundreds of places: one child takes the memory, exits need none.
                    let last = children.iter().rposition(|(.., asks)| *asks);
                    for (i, (c, link, asks)) in children.into_iter().enumerate() {
                        let alone = link.map(|l| {
                            let memory = match asks {
                                true if Some(i) == last => std::mem::take(&mut memory),
                                true => memory.clone(),
                                false => Memory::default(),
                            };
                            (memory, condition_of(&block.exitswitch, l))
                        });
                        pending.push(Step::Enter(c, alone));
                    }
                }
            }
        }
    }

    /// Where a condition says that a call has not raised, that can be merged with others from
    /// here on.
    fn returned(
        &mut self,
        condition: Option<&(VarId, LLConst)>,
        memory: &mut Memory,
    ) -> Option<Key> {
        let Some((v, LLConst::Bool(false))) = condition else {
            return None;
        };
        let (called, result) = self.asked.get(v)?.clone();
        match called {
            Called::Pure(key) => {
                self.pure.insert(key.clone(), result);
                Some(key)
            }
            Called::Search(place) => {
                memory.loaded(place, result);
                None
            }
        }
    }

    /// What is known to be the value of an operand here.
    fn value(&self, o: &LLOperand) -> LLOperand {
        known_value(&self.replaced, &self.conditions, o)
    }

    /// Goes through a block; returns what it added.
    fn block(&mut self, g: &mut LLGraph, b: BlockId, memory: &mut Memory) -> Added {
        let mut added = Added::default();
        let canraise = g.block(b).canraise();
        let operations = std::mem::take(&mut g.block_mut(b).operations);
        let count = operations.len();
        let mut kept = Vec::with_capacity(count);
        let mut last = Last::Other;
        for (i, mut op) in operations.into_iter().enumerate() {
            for a in &mut op.args {
                *a = self.value(a);
            }
            let raising = canraise && i + 1 == count;
            if raising && op.op.can_fold() && self.overflow(g, b, &op) {
                continue;
            }
            let before = std::mem::replace(&mut last, Last::Other);
            if asks_for_exception(&op) {
                match before {
                    Last::Merged => {
                        let value = constant(LLConst::Bool(false));
                        self.replaced.insert(op.result, value);
                        continue;
                    }
                    Last::Called(called, result) => {
                        self.asked.insert(op.result, (called, result));
                    }
                    Last::Other => {}
                }
            }
            if let Some(call) = (!raising)
                .then(|| {
                    let search = self.search(g, &op, memory);
                    search.or_else(|| self.call(&op, *g.ty(op.result), &mut added))
                })
                .flatten()
            {
                if !matches!(call, Last::Merged) {
                    kept.push(op);
                }
                last = call;
                continue;
            }
            match self.operation(g, &op, memory, raising, &mut added) {
                Some(value) => {
                    self.replaced.insert(op.result, value);
                }
                None => {
                    if let Some(v) = dereferenced(&op)
                        && self.accessed.insert(v)
                    {
                        added.accessed.push(v);
                    }
                    kept.push(op);
                }
            }
        }
        let block = g.block_mut(b);
        block.operations = kept;
        if let ExitSwitch::Value(o) = &mut block.exitswitch {
            *o = self.value(o);
        }
        for link in &mut block.exits {
            let condition = condition_of(&block.exitswitch, link);
            for a in &mut link.args {
                *a = match &condition {
                    Some((v, c)) if a.as_var() == Some(*v) => constant(c.clone()),
                    _ => self.value(a),
                };
            }
        }
        let (replaced, conditions) = (&self.replaced, &self.conditions);
        self.ways
            .leave(g, b, memory, |o| known_value(replaced, conditions, o));
        added
    }

    /// Removes the last operation of a block, which may overflow, if an equal one has not overflowed on all paths to it.
    /// Otherwise its result is known in the block that control reaches without overflow.
    fn overflow(&mut self, g: &mut LLGraph, b: BlockId, op: &Operation<LowLevel>) -> bool {
        let key = canonical(op.op, op.args.to_vec(), *g.ty(op.result));
        if let Some(value) = self.pure.get(&key) {
            self.replaced.insert(op.result, value.clone());
            let block = g.block_mut(b);
            block.exitswitch = ExitSwitch::None;
            block.exits.truncate(1);
            return true;
        }
        let ok = g.block(b).exits[0].target;
        if self.ways.entries(ok) == 1 {
            self.computed.insert(ok, (key, op.result.into()));
        }
        false
    }

    /// The value of an operation, if it is known already.
    fn operation(
        &mut self,
        g: &mut LLGraph,
        op: &Operation<LowLevel>,
        memory: &mut Memory,
        raising: bool,
        added: &mut Added,
    ) -> Option<LLOperand> {
        let ty = *g.ty(op.result);
        if raising {
            self.affect(op, memory);
            return None;
        }
        let changes = self.shrinks
            && matches!(
                op.op,
                LLOp::Plain(PlainOp::Getarraysize | PlainOp::Getinteriorarraysize)
            );
        if op.op.can_fold() && !op.op.can_raise() && !changes {
            return self.pure(op, ty, added);
        }
        if let Some(Access {
            place,
            stored,
            immutable,
        }) = place(g, op, self.around)
        {
            let place = self.ways.number(place);
            if let Some(value) = stored {
                let there = self.ways.store(memory, place, value);
                return there.then(|| constant(LLConst::void()));
            }
            if let Some(value) = self.ways.load(g, memory, place, ty) {
                return Some(value);
            }
            if immutable {
                return self.pure(op, ty, added);
            }
            memory.loaded(place, op.result.into());
            return None;
        }
        self.affect(op, memory);
        None
    }

    /// Whether a pointer is known not to be null.
    fn is_nonnull(&self, o: &LLOperand) -> bool {
        let Some(v) = o.as_var() else {
            return !matches!(o, LLOperand::Const(LLConst::Null(_)));
        };
        let tested = |op: PlainOp, truth: bool| {
            let test = self.pure.get(&(op.into(), vec![o.clone()], *BOOL));
            let test = test.and_then(LLOperand::as_var);
            test.and_then(|t| self.conditions.get(&t)) == Some(&LLConst::Bool(truth))
        };
        self.accessed.contains(&v)
            || tested(PlainOp::PtrNonzero, true)
            || tested(PlainOp::PtrIszero, false)
    }

    /// Forgets what an operation may write.
    fn affect(&self, op: &Operation<LowLevel>, memory: &mut Memory) {
        match self.around.effect(op) {
            Effect::None => {}
            Effect::Calls(fs) => self.ways.called(memory, fs, self.around),
            Effect::Anything => memory.clear(),
        }
    }

    /// Merges a call that can be with one before, if there is one. One that may raise is known
    /// once it was asked whether it has. None for all other operations.
    ///
    /// A null pointer may mean that something was not found. Programs then make it, and find it
    /// from then on, though they call the search elidable.
    fn call(&mut self, op: &Operation<LowLevel>, ty: LLType, added: &mut Added) -> Option<Last> {
        let raises = self.around.elidable(op)?;
        let key = canonical(op.op, op.args.to_vec(), ty);
        if let Some(value) = self.pure.get(&key)
            && (ty.pointee().is_none() || self.is_nonnull(value))
        {
            self.replaced.insert(op.result, value.clone());
            return Some(Last::Merged);
        }
        if raises {
            return Some(Last::Called(Called::Pure(key), op.result.into()));
        }
        self.pure.insert(key.clone(), op.result.into());
        added.keys.push(key);
        Some(Last::Other)
    }

    /// Merges a call that looks for a key in a dict with an earlier one, if the dict's index has not changed since. The
    /// result of one that may raise is known behind the test for its exception. None for all other operations.
    fn search(
        &mut self,
        g: &mut LLGraph,
        op: &Operation<LowLevel>,
        memory: &mut Memory,
    ) -> Option<Last> {
        let raises = self.around.search(op)?;
        let place = searched(g, op, self.around)?;
        let place = self.ways.number(place);
        if let Some(value) = self.ways.load(g, memory, place, *g.ty(op.result)) {
            self.replaced.insert(op.result, value);
            return Some(Last::Merged);
        }
        self.affect(op, memory);
        let result = op.result.into();
        if raises {
            return Some(Last::Called(Called::Search(place), result));
        }
        memory.loaded(place, result);
        Some(Last::Other)
    }

    /// Whether one of two numbers is known to be less than the other.
    fn is_decided_less(&self, family: NumFamily, args: &[LLOperand], ty: LLType) -> bool {
        let known = |num, swap: bool, truth| {
            let mut args = args.to_vec();
            if swap {
                args.swap(0, 1);
            }
            let key = canonical(LLOp::Num(family, num), args, ty);
            let v = self.pure.get(&key).and_then(LLOperand::as_var);
            v.and_then(|v| self.conditions.get(&v)) == Some(&LLConst::Bool(truth))
        };
        [false, true].into_iter().any(|swap| {
            known(NumOp::Lt, swap, true)
                || family != NumFamily::Float && known(NumOp::Le, swap, false)
        })
    }

    fn pure(
        &mut self,
        op: &Operation<LowLevel>,
        ty: LLType,
        added: &mut Added,
    ) -> Option<LLOperand> {
        let key = canonical(op.op, op.args.to_vec(), ty);
        if let Some(value) = self.pure.get(&key) {
            return Some(value.clone());
        }
        // The opposite comparison may have been decided.
        if let Some(opposite) = opposite(op.op)
            && let Some(LLOperand::Var(v)) =
                self.pure.get(&canonical(opposite, op.args.to_vec(), ty))
            && let Some(LLConst::Bool(b)) = self.conditions.get(v)
        {
            return Some(constant(LLConst::Bool(!b)));
        }
        if let LLOp::Num(family, num @ (NumOp::Eq | NumOp::Ne)) = op.op
            && self.is_decided_less(family, &op.args, ty)
        {
            return Some(constant(LLConst::Bool(num == NumOp::Ne)));
        }
        self.pure.insert(key.clone(), op.result.into());
        added.keys.push(key);
        None
    }
}

/// Whether a block ends the function and has no operation that depends on memory.
fn leaves(g: &LLGraph, b: BlockId) -> bool {
    let block = g.block(b);
    let is_simple = |op: &Operation<LowLevel>| op.op == PlainOp::JitExit.into() || op.op.can_fold();
    block.exits.iter().all(|l| l.target == g.returnblock) && block.operations.iter().all(is_simple)
}

/// What an operand is known to be.
fn known_value(
    replaced: &Substitution<LowLevel>,
    conditions: &FxHashMap<VarId, LLConst>,
    o: &LLOperand,
) -> LLOperand {
    let o = o.as_var().and_then(|v| replaced.get(&v)).unwrap_or(o);
    match o.as_var().and_then(|v| conditions.get(&v)) {
        Some(c) => constant(c.clone()),
        None => o.clone(),
    }
}

/// The key of a computation, the same for `a < b` and `b > a`, `a + b` and `b + a`.
fn canonical(op: LLOp, mut args: Vec<LLOperand>, ty: LLType) -> Key {
    use taipan_lltype::NumOp::{Ge, Gt, Le, Lt};
    let op = match op {
        LLOp::Num(family, num @ (Gt | Ge)) => {
            args.swap(0, 1);
            LLOp::Num(family, if num == Gt { Lt } else { Le })
        }
        op => op,
    };
    if is_commutative(op) && order(&args[1]) < order(&args[0]) {
        args.swap(0, 1);
    }
    (op, args, ty)
}

fn is_commutative(op: LLOp) -> bool {
    use taipan_lltype::NumOp::*;
    match op {
        LLOp::Num(_, num) => matches!(num, Add | Mul | And | Or | Xor | Eq | Ne),
        LLOp::Plain(p) => matches!(
            p,
            PlainOp::PtrEq | PlainOp::PtrNe | PlainOp::IntAddOvf | PlainOp::IntMulOvf
        ),
    }
}

/// Variables in order, then constants.
fn order(o: &LLOperand) -> (bool, VarId) {
    match o {
        LLOperand::Var(v) => (false, *v),
        LLOperand::Const(_) => (true, VarId(0)),
    }
}
