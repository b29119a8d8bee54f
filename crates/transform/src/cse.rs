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
//! changes are known in all dominated blocks; loads of mutable memory only along
//! links to blocks without other predecessors, until something may write there.

use rustc_hash::FxHashMap;
use taipan_graph::{
    BlockId, Dominators, ExitCase, ExitSwitch, Operation, Substitution, VarId, entry_map,
    remove_identical_vars_ssa, ssa_to_ssi,
};
use taipan_lltype::{
    EFFECT, LLConst, LLGraph, LLOp, LLOperand, LLType, LowLevel, NumFamily, NumOp, PlainOp,
    Program, VoidConst,
};

use crate::calls::{Callees, callees};
use crate::fold::opposite;
use crate::ssa::{constant, type_of};

/// Merges equal computations.
pub(crate) fn merge_common(g: &mut LLGraph, program: &dyn Program) {
    remove_identical_vars_ssa(g);
    let mut pass = Cse {
        program,
        entries: entry_map(g).iter().map(|e| e.len()).collect(),
        children: vec![Vec::new(); g.blocks.len()],
        replaced: Substitution::<LowLevel>::default(),
        shrinks: (g.blocks.iter().flat_map(|b| &b.operations))
            .any(|op| op.op == PlainOp::ShrinkArray.into()),
        pure: FxHashMap::default(),
        conditions: FxHashMap::default(),
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
    ssa_to_ssi(g);
}

/// A computation: operation, operands, type of the result.
type Key = (LLOp, Vec<LLOperand>, LLType);

/// A place in memory that a load or store is about.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Place {
    object: LLOperand,
    /// Field names and indexes.
    path: Vec<LLOperand>,
    pub(crate) kind: Kind,
}

/// Which stores may change a place.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Kind {
    /// A field of a struct type.
    Field(LLType, LLOperand),
    /// Items of an array type.
    Items(LLType),
    /// A field of the structs that are the items of an array type, or an item (`true`)
    /// or a field of what is inlined in a struct type.
    Interior(LLType, LLOperand, bool),
}

impl Kind {
    pub(crate) fn may_alias(&self, other: &Kind) -> bool {
        match (self, other) {
            (Kind::Field(_, f), Kind::Interior(_, g, _))
            | (Kind::Interior(_, g, _), Kind::Field(_, f)) => f == g,
            (Kind::Items(_), Kind::Interior(_, _, item))
            | (Kind::Interior(_, _, item), Kind::Items(_)) => *item,
            _ => self == other,
        }
    }
}

type Memory = FxHashMap<Place, LLOperand>;

struct Cse<'a> {
    program: &'a dyn Program,
    /// Number of links into each block.
    entries: Vec<usize>,
    children: Vec<Vec<BlockId>>,
    replaced: Substitution<LowLevel>,
    /// Whether lengths may change.
    shrinks: bool,
    /// What was computed in the blocks that dominate the current one, and what is
    /// known of conditions there.
    pure: FxHashMap<Key, LLOperand>,
    conditions: FxHashMap<VarId, LLConst>,
}

/// Steps of the walk down the dominator tree.
enum Step {
    /// A block, with what is known of memory and the condition under which it is entered.
    Enter(BlockId, Memory, Option<(VarId, LLConst)>),
    /// Forget what was added for a block and those below it.
    Leave(Vec<Key>, Option<VarId>),
}

impl Cse<'_> {
    fn walk(&mut self, g: &mut LLGraph) {
        let mut pending = vec![Step::Enter(g.startblock, Memory::default(), None)];
        while let Some(step) = pending.pop() {
            match step {
                Step::Leave(keys, condition) => {
                    for k in keys {
                        self.pure.remove(&k);
                    }
                    condition.and_then(|v| self.conditions.remove(&v));
                }
                Step::Enter(b, mut memory, condition) => {
                    // A condition that is known already stays known.
                    let condition = condition.filter(|(v, _)| !self.conditions.contains_key(v));
                    let known = condition.as_ref().map(|c| c.0);
                    self.conditions.extend(condition);
                    let added = self.block(g, b, &mut memory);
                    pending.push(Step::Leave(added, known));
                    for c in self.children[b.index()].iter().rev() {
                        let alone = self.entries[c.index()] == 1
                            && g.block(b).exits.iter().any(|l| l.target == *c);
                        pending.push(match alone {
                            true => Step::Enter(*c, memory.clone(), condition_of(g, b, *c)),
                            false => Step::Enter(*c, Memory::default(), None),
                        });
                    }
                }
            }
        }
    }

    /// What is known to be the value of an operand here.
    fn value(&self, o: &LLOperand) -> LLOperand {
        let o = o.as_var().and_then(|v| self.replaced.get(&v)).unwrap_or(o);
        match o.as_var().and_then(|v| self.conditions.get(&v)) {
            Some(c) => constant(c.clone()),
            None => o.clone(),
        }
    }

    /// Goes through a block; answers the computations that it added.
    fn block(&mut self, g: &mut LLGraph, b: BlockId, memory: &mut Memory) -> Vec<Key> {
        let mut added = Vec::new();
        let canraise = g.block(b).canraise();
        let operations = std::mem::take(&mut g.block_mut(b).operations);
        let count = operations.len();
        let mut kept = Vec::with_capacity(count);
        for (i, mut op) in operations.into_iter().enumerate() {
            for a in &mut op.args {
                *a = self.value(a);
            }
            let raising = canraise && i + 1 == count;
            match self.operation(g, &op, memory, raising, &mut added) {
                Some(value) => {
                    self.replaced.insert(op.result, value);
                }
                None => kept.push(op),
            }
        }
        let block = g.block_mut(b);
        block.operations = kept;
        if let ExitSwitch::Value(o) = &mut block.exitswitch {
            *o = self.value(o);
        }
        for a in block.exits.iter_mut().flat_map(|l| &mut l.args) {
            *a = self.value(a);
        }
        added
    }

    /// The value of an operation, if it is known already.
    fn operation(
        &mut self,
        g: &LLGraph,
        op: &Operation<LowLevel>,
        memory: &mut Memory,
        raising: bool,
        added: &mut Vec<Key>,
    ) -> Option<LLOperand> {
        let ty = *g.ty(op.result);
        if raising {
            memory.clear();
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
        }) = place(g, op, self.program)
        {
            if let Some(value) = stored {
                if memory.get(&place) == Some(&value) {
                    // It is there already.
                    return Some(constant(LLConst::void()));
                }
                memory.retain(|p, _| !place.kind.may_alias(&p.kind));
                memory.insert(place, value);
                return None;
            }
            if let Some(value) = memory.get(&place) {
                return Some(value.clone());
            }
            if immutable {
                return self.pure(op, ty, added);
            }
            memory.insert(place, op.result.into());
            return None;
        }
        if op.op.flags() & EFFECT != 0 && !is_harmless(op) {
            memory.clear();
        }
        None
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
        added: &mut Vec<Key>,
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
        added.push(key);
        None
    }
}

/// What a load or store is about.
pub(crate) struct Access {
    pub(crate) place: Place,
    /// The value that is stored.
    pub(crate) stored: Option<LLOperand>,
    /// Whether the place never changes after initialisation.
    pub(crate) immutable: bool,
}

/// What a load or store is about; none for other operations.
pub(crate) fn place(
    g: &LLGraph,
    op: &Operation<LowLevel>,
    program: &dyn Program,
) -> Option<Access> {
    use PlainOp::*;
    let LLOp::Plain(p) = op.op else { return None };
    let store = match p {
        Getfield | Getarrayitem | Getinteriorfield => false,
        Setfield | BareSetfield | Setarrayitem | BareSetarrayitem | Setinteriorfield
        | BareSetinteriorfield => true,
        _ => return None,
    };
    let object = op.args.first()?.clone();
    let container = type_of(g, &object).pointee()?;
    let end = op.args.len() - usize::from(store);
    let path = op.args[1..end].to_vec();
    let mut immutable = false;
    let kind = match p {
        Getfield | Setfield | BareSetfield => {
            let name = path.first()?.clone();
            let body = program.body(container.as_struct()?);
            if let LLOperand::Const(LLConst::Void(VoidConst::Field(n))) = &name {
                // What programs declare with `_immutable_fields_` is for values that
                // are known; many write such attributes once more, later.
                immutable = body.immutable.contains(n) && !n.starts_with("inst_");
            }
            Kind::Field(container, name)
        }
        Getarrayitem | Setarrayitem | BareSetarrayitem => {
            immutable = container.as_array().is_some_and(|a| a.immutable);
            Kind::Items(container)
        }
        _ => {
            let field = path.iter().rfind(|o| is_field(o))?.clone();
            let item = !path.last().is_some_and(is_field);
            Kind::Interior(container, field, item)
        }
    };
    let stored = if store { op.args.last().cloned() } else { None };
    Some(Access {
        place: Place { object, path, kind },
        stored,
        immutable,
    })
}

fn is_field(o: &LLOperand) -> bool {
    matches!(o, LLOperand::Const(LLConst::Void(VoidConst::Field(_))))
}

/// What the condition by which control goes from `b` to `c` says of a variable.
fn condition_of(g: &LLGraph, b: BlockId, c: BlockId) -> Option<(VarId, LLConst)> {
    let block = g.block(b);
    let ExitSwitch::Value(LLOperand::Var(v)) = &block.exitswitch else {
        return None;
    };
    let link = block.exits.iter().find(|l| l.target == c)?;
    match &link.case {
        ExitCase::Bool(b) => Some((*v, LLConst::Bool(*b))),
        ExitCase::Value(c) => Some((*v, c.clone())),
        _ => None,
    }
}

/// Whether an operation with an effect leaves memory that loads read alone.
pub(crate) fn is_harmless(op: &Operation<LowLevel>) -> bool {
    use PlainOp::*;
    if let Callees::Known([f]) = callees(op) {
        // External functions write to strings at the most.
        return crate::calls::external_effects(f).is_some_and(|e| !e.can_collect);
    }
    matches!(
        op.op,
        LLOp::Plain(
            Malloc
                | MallocVarsize
                | Keepalive
                | DebugAssert
                | JitMarker
                | Hint
                | DebugStartTraceback
                | DebugRecordTraceback
                | DebugCatchException
                | IntAddOvf
                | IntSubOvf
                | IntMulOvf
        )
    )
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
        LLOp::Plain(p) => matches!(p, PlainOp::PtrEq | PlainOp::PtrNe),
    }
}

/// Variables in order, then constants.
fn order(o: &LLOperand) -> (bool, VarId) {
    match o {
        LLOperand::Var(v) => (false, *v),
        LLOperand::Const(_) => (true, VarId(0)),
    }
}
