//! Constant folding and simplification of single operations
//! (RPython: `constfold.py`, `removenoops.py`).
//!
//! ```text
//! v1 = int_add(2, 3)                  goto block1(5, v0)
//! v2 = cast_pointer(cast_pointer(v0))
//! goto block1(v1, v2)
//! ```
//!
//! And a link that passes constants to a block that then only decides by them goes
//! on directly to where that leads.

use rustc_hash::FxHashMap;
use taipan_graph::{BlockId, ExitSwitch, Operation, Substitution, VarId};
use taipan_lltype::{
    LLConst, LLGraph, LLOp, LLOperand, LLType, LowLevel, NumFamily, NumOp, PlainOp, Program,
    StaticSym, StaticValue, StructId, TypeKind, VoidConst, fold,
};

use crate::calls;
use crate::ssa::{constant, substituted, type_of};

/// Simplifies operations, in SSA or SSI form. Answers whether anything changed.
pub(crate) fn fold_operations(g: &mut LLGraph, program: &dyn Program) -> bool {
    let mut changed = false;
    // Where arrays shrink, their length is not that of the allocation.
    let shrinks = (g.blocks.iter().flat_map(|b| &b.operations))
        .any(|op| op.op == PlainOp::ShrinkArray.into());
    let mut defs: FxHashMap<VarId, Operation<LowLevel>> = FxHashMap::default();
    let mut map = Substitution::<LowLevel>::default();
    for b in g.reachable() {
        let canraise = g.block(b).canraise();
        let count = g.block(b).operations.len();
        g.block_mut(b).substitute(&map);
        let mut operations = std::mem::take(&mut g.block_mut(b).operations);
        let mut fresh = Substitution::<LowLevel>::default();
        let mut kept = Vec::with_capacity(count);
        for (i, mut op) in operations.drain(..).enumerate() {
            for a in &mut op.args {
                if let Some(new) = a.as_var().and_then(|v| fresh.get(&v)) {
                    *a = new.clone();
                }
            }
            let result = *g.ty(op.result);
            let raising = canraise && i + 1 == count;
            let before = (op.op, op.args.len());
            let simpler = simplify(g, &mut op, result, &defs, program);
            changed |= simpler.is_some() || before != (op.op, op.args.len());
            match simpler {
                Some(value) => {
                    fresh.insert(op.result, value);
                    if raising {
                        // It does not raise: only the normal exit is left.
                        let block = g.block_mut(b);
                        block.exits.truncate(1);
                        block.exitswitch = ExitSwitch::None;
                    }
                }
                None => {
                    if !shrinks || op.op != PlainOp::MallocVarsize.into() {
                        defs.insert(op.result, op.clone());
                    }
                    kept.push(op);
                }
            }
        }
        let block = g.block_mut(b);
        block.operations = kept;
        block.substitute(&fresh);
        changed |= simplify_switch(g, b, &defs);
        map.extend(fresh);
    }
    changed
}

/// A switch on a negation is one on the value, with its exits exchanged.
fn simplify_switch(
    g: &mut LLGraph,
    b: BlockId,
    defs: &FxHashMap<VarId, Operation<LowLevel>>,
) -> bool {
    let mut changed = false;
    let block = g.block_mut(b);
    let local = |v: &VarId, block: &taipan_graph::Block<LowLevel>| {
        block.inputargs.contains(v) || block.operations.iter().any(|op| op.result == *v)
    };
    if let ExitSwitch::Value(LLOperand::Var(v)) = &block.exitswitch
        && let Some(def) = defs.get(v)
        && def.op == PlainOp::BoolNot.into()
        && let Some(inner) = def.args[0].as_var()
        && local(&inner, block)
    {
        block.exitswitch = ExitSwitch::Value(inner.into());
        for link in &mut block.exits {
            if let taipan_graph::ExitCase::Bool(case) = &mut link.case {
                *case = !*case;
            }
        }
        block.exits.reverse();
        changed = true;
    }
    changed | g.block_mut(b).fold_exitswitch()
}

/// What an operation's result always is; or changes it to a simpler one.
fn simplify(
    g: &LLGraph,
    op: &mut Operation<LowLevel>,
    result: LLType,
    defs: &FxHashMap<VarId, Operation<LowLevel>>,
    program: &dyn Program,
) -> Option<LLOperand> {
    if op.op.can_fold() && op.args.iter().all(|a| a.as_const().is_some()) {
        let args: Vec<LLConst> = op
            .args
            .iter()
            .filter_map(|a| a.as_const().cloned())
            .collect();
        if let Some(c) = fold(op.op, &args, result) {
            return Some(constant(c));
        }
    }
    let def = |o: &LLOperand| o.as_var().and_then(|v| defs.get(&v));
    match op.op {
        LLOp::Num(family, num) => simplify_num(op, family, num, defs),
        LLOp::Plain(p) => match p {
            PlainOp::SameAs => Some(op.args[0].clone()),
            PlainOp::CastPointer | PlainOp::CastOpaquePtr => {
                if let Some(inner) = def(&op.args[0])
                    && inner.op == op.op
                {
                    op.args[0] = inner.args[0].clone();
                }
                (type_of(g, &op.args[0]) == result).then(|| op.args[0].clone())
            }
            PlainOp::CastUintToInt => inverse(def(&op.args[0]), PlainOp::CastIntToUint),
            PlainOp::CastIntToUint => inverse(def(&op.args[0]), PlainOp::CastUintToInt),
            PlainOp::CastIntToChar => inverse(def(&op.args[0]), PlainOp::CastCharToInt),
            PlainOp::CastIntToUnichar => inverse(def(&op.args[0]), PlainOp::CastUnicharToInt),
            PlainOp::BoolNot => negation(op, defs),
            PlainOp::PtrNonzero | PlainOp::PtrIszero => {
                let inner = def(&op.args[0])?;
                let allocated = matches!(
                    inner.op,
                    LLOp::Plain(PlainOp::Malloc | PlainOp::MallocVarsize)
                );
                if inner.op == PlainOp::CastPointer.into() {
                    op.args[0] = inner.args[0].clone();
                }
                allocated.then(|| constant(LLConst::Bool(p == PlainOp::PtrNonzero)))
            }
            PlainOp::PtrEq | PlainOp::PtrNe => {
                let same = op.args[0].as_var().is_some() && op.args[0] == op.args[1];
                if same {
                    return Some(constant(LLConst::Bool(p == PlainOp::PtrEq)));
                }
                let null = |o: &LLOperand| matches!(o.as_const(), Some(LLConst::Null(_)));
                let at = (0..2).find(|i| null(&op.args[*i]))?;
                op.args.remove(at);
                op.op = if p == PlainOp::PtrEq {
                    PlainOp::PtrIszero
                } else {
                    PlainOp::PtrNonzero
                }
                .into();
                None
            }
            PlainOp::IntBetween => {
                let known = known_subclass(op, defs, program)?;
                Some(constant(LLConst::Bool(known)))
            }
            PlainOp::IndirectCall => {
                call_only_target(g, op);
                None
            }
            PlainOp::Getfield => field_of_constant(op, program),
            PlainOp::Getinteriorarraysize | PlainOp::Getinteriorfield | PlainOp::Getarraysize => {
                let allocated = def(&op.args[0]).filter(|d| {
                    p == PlainOp::Getarraysize && d.op == PlainOp::MallocVarsize.into()
                });
                match allocated {
                    Some(malloc) => malloc.args.get(2).cloned(),
                    None => part_of_constant(op, program),
                }
            }
            PlainOp::IntAddOvf | PlainOp::IntSubOvf | PlainOp::IntAddNonnegOvf => {
                is_int(&op.args[1], 0).then(|| op.args[0].clone())
            }
            PlainOp::IntMulOvf => is_int(&op.args[1], 1).then(|| op.args[0].clone()),
            _ => None,
        },
    }
}

/// Whether a known class is a subclass of another one, which their numbers tell: these
/// stay out of code, but what they say need not.
fn known_subclass(
    op: &Operation<LowLevel>,
    defs: &FxHashMap<VarId, Operation<LowLevel>>,
    program: &dyn Program,
) -> Option<bool> {
    let vtable = |number: &LLOperand, field: &str| {
        let read = number.as_var().and_then(|v| defs.get(&v))?;
        let name = constant(LLConst::field(field));
        if read.op != PlainOp::Getfield.into() || read.args[1] != name {
            return None;
        }
        calls::vtable(read.args[0].as_const()?)
    };
    let of = vtable(&op.args[0], "subclassrange_min")?;
    let class = vtable(&op.args[1], "subclassrange_min")?;
    let above = vtable(&op.args[2], "subclassrange_max")?;
    (of == above).then(|| calls::is_subclass(class, of, program))
}

/// A call of the one function that can be meant.
fn call_only_target(g: &LLGraph, op: &mut Operation<LowLevel>) {
    let Some(LLOperand::Const(LLConst::Void(VoidConst::Targets(targets)))) = op.args.last() else {
        return;
    };
    let [f] = &targets[..] else {
        return;
    };
    if type_of(g, &op.args[0]) != f.ptr_type() {
        return;
    }
    op.args[0] = constant(LLConst::Func(f.clone()));
    op.args.pop();
    op.op = PlainOp::DirectCall.into();
}

/// The operand of the conversion that this one undoes.
fn inverse(def: Option<&Operation<LowLevel>>, other: PlainOp) -> Option<LLOperand> {
    def.filter(|d| d.op == other.into())
        .map(|d| d.args[0].clone())
}

fn is_int(o: &LLOperand, value: i128) -> bool {
    matches!(o.as_const(), Some(LLConst::Int(_, v)) if v.get() == value)
}

fn simplify_num(
    op: &mut Operation<LowLevel>,
    family: NumFamily,
    num: NumOp,
    defs: &FxHashMap<VarId, Operation<LowLevel>>,
) -> Option<LLOperand> {
    use NumOp::*;
    if matches!(family, NumFamily::Float) {
        return None;
    }
    // `int_is_true(cast_bool_to_int(b))` and its like.
    let truth = match num {
        IsTrue => Some(true),
        Ne if is_int(&op.args[1], 0) => Some(true),
        Eq if is_int(&op.args[1], 0) => Some(false),
        _ => None,
    };
    if let Some(truth) = truth
        && let Some(def) = op.args[0].as_var().and_then(|v| defs.get(&v))
        && matches!(
            def.op,
            LLOp::Plain(PlainOp::CastBoolToInt | PlainOp::CastBoolToUint)
        )
    {
        let b = def.args[0].clone();
        if truth {
            return Some(b);
        }
        op.op = PlainOp::BoolNot.into();
        op.args = [b].into_iter().collect();
        return None;
    }
    let same = op.args.len() == 2 && op.args[0].as_var().is_some() && op.args[0] == op.args[1];
    match num {
        Add | Or | Xor if is_int(&op.args[0], 0) => Some(op.args[1].clone()),
        Add | Sub | Or | Xor | LShift | RShift if is_int(&op.args[1], 0) => {
            Some(op.args[0].clone())
        }
        Mul if is_int(&op.args[0], 1) => Some(op.args[1].clone()),
        Mul | FloorDiv if is_int(&op.args[1], 1) => Some(op.args[0].clone()),
        And | Or if same => Some(op.args[0].clone()),
        Eq | Le | Ge if same => Some(constant(LLConst::Bool(true))),
        Ne | Lt | Gt if same => Some(constant(LLConst::Bool(false))),
        _ => None,
    }
}

/// `bool_not` of a comparison is the opposite comparison, except among floats.
fn negation(
    op: &mut Operation<LowLevel>,
    defs: &FxHashMap<VarId, Operation<LowLevel>>,
) -> Option<LLOperand> {
    let def = op.args[0].as_var().and_then(|v| defs.get(&v))?;
    if def.op == PlainOp::BoolNot.into() {
        return Some(def.args[0].clone());
    }
    let opposite = opposite(def.op)?;
    op.op = opposite;
    op.args = def.args.clone();
    None
}

/// The comparison that is true where this one is false.
pub(crate) fn opposite(op: LLOp) -> Option<LLOp> {
    Some(match op {
        LLOp::Plain(PlainOp::PtrNonzero) => PlainOp::PtrIszero.into(),
        LLOp::Plain(PlainOp::PtrIszero) => PlainOp::PtrNonzero.into(),
        LLOp::Plain(PlainOp::PtrEq) => PlainOp::PtrNe.into(),
        LLOp::Plain(PlainOp::PtrNe) => PlainOp::PtrEq.into(),
        LLOp::Num(family, num) if family != NumFamily::Float => LLOp::Num(
            family,
            match num {
                NumOp::Lt => NumOp::Ge,
                NumOp::Ge => NumOp::Lt,
                NumOp::Le => NumOp::Gt,
                NumOp::Gt => NumOp::Le,
                NumOp::Eq => NumOp::Ne,
                NumOp::Ne => NumOp::Eq,
                _ => return None,
            },
        ),
        _ => return None,
    })
}

/// An immutable field of prebuilt data. The numbering of classes stays out of code.
fn field_of_constant(op: &Operation<LowLevel>, program: &dyn Program) -> Option<LLOperand> {
    let Some(LLConst::Static(sym, ptr)) = op.args[0].as_const() else {
        return None;
    };
    let Some(LLConst::Void(VoidConst::Field(name))) = op.args[1].as_const() else {
        return None;
    };
    if name.starts_with("subclassrange")
        || matches!(
            **sym,
            StaticSym::Str(_) | StaticSym::Unicode(_) | StaticSym::Within(..)
        )
    {
        return None;
    }
    let ty = ptr.pointee()?;
    let body = program.body(ty.as_struct()?);
    let is_vtable = matches!(ty.as_struct()?.id, StructId::Vtable(_));
    if !is_vtable && !body.immutable.contains(name) {
        return None;
    }
    let index = body.fields.iter().position(|f| f.name == *name)?;
    let data = program.static_data(sym);
    // The pointer may be to an inlined `super` of the data.
    let (mut seen, mut value) = (data.ty, &data.value);
    while seen != ty {
        let TypeKind::Struct(s) = seen.kind() else {
            return None;
        };
        let StaticValue::Struct(values) = value else {
            return None;
        };
        seen = program.body(s).fields.first()?.ty;
        value = values.first()?;
    }
    match value {
        StaticValue::Struct(values) => match values.get(index)? {
            StaticValue::Const(c) => Some(constant(c.clone())),
            _ => None,
        },
        _ => None,
    }
}

/// Lengths and characters of constant strings.
fn part_of_constant(op: &Operation<LowLevel>, program: &dyn Program) -> Option<LLOperand> {
    let Some(LLConst::Static(sym, _)) = op.args[0].as_const() else {
        return None;
    };
    let size =
        op.op == PlainOp::Getinteriorarraysize.into() || op.op == PlainOp::Getarraysize.into();
    match &**sym {
        StaticSym::Within(..) => None,
        StaticSym::Str(s) if size => Some(constant(LLConst::signed(s.len() as i64))),
        StaticSym::Unicode(s) if size => Some(constant(LLConst::signed(s.len() as i64))),
        StaticSym::Str(s) => match op.args.get(2)?.as_const()? {
            LLConst::Int(_, i) => {
                let c = s.get(usize::try_from(i.get()).ok()?)?;
                Some(constant(LLConst::Char(*c)))
            }
            _ => None,
        },
        StaticSym::Unicode(s) => match op.args.get(2)?.as_const()? {
            LLConst::Int(_, i) => {
                let c = s.get(usize::try_from(i.get()).ok()?)?;
                Some(constant(LLConst::UniChar(*c)))
            }
            _ => None,
        },
        _ if op.op == PlainOp::Getarraysize.into() => match &program.static_data(sym).value {
            StaticValue::Array(items) => Some(constant(LLConst::signed(items.len() as i64))),
            StaticValue::Bytes(b) => Some(constant(LLConst::signed(b.len() as i64))),
            _ => None,
        },
        _ => None,
    }
}

/// Redirects links that pass constants which decide the switch of their target.
/// Needs SSI form, where what the target defines is not used elsewhere. Answers whether
/// anything changed.
pub(crate) fn thread_links(g: &mut LLGraph) -> bool {
    let mut changed = false;
    for source in g.reachable() {
        for exit in 0..g.block(source).exits.len() {
            // A cycle of decided switches is an endless loop that stays one.
            for _ in 0..8 {
                if !thread_link(g, source, exit) {
                    break;
                }
                changed = true;
            }
        }
    }
    changed
}

fn thread_link(g: &mut LLGraph, source: BlockId, exit: usize) -> bool {
    let link = &g.block(source).exits[exit];
    let target = g.block(link.target);
    let ExitSwitch::Value(LLOperand::Var(switch)) = &target.exitswitch else {
        return false;
    };
    if target.operations.len() > 4 || !link.args.iter().any(|a| a.as_const().is_some()) {
        return false;
    }
    let mut map: Substitution<LowLevel> = target
        .inputargs
        .iter()
        .copied()
        .zip(link.args.iter().cloned())
        .collect();
    for op in &target.operations {
        if !op.op.can_fold() || op.op.can_raise() {
            return false;
        }
        let args = substituted(&op.args, &map);
        let args: Option<Vec<LLConst>> = args.iter().map(|a| a.as_const().cloned()).collect();
        let Some(c) = args.and_then(|args| fold(op.op, &args, *g.ty(op.result))) else {
            return false;
        };
        map.insert(op.result, constant(c));
    }
    if map.get(switch).is_none_or(|o| o.as_const().is_none()) {
        return false;
    }
    let mut copy = target.clone();
    copy.substitute(&map);
    if !copy.fold_exitswitch() {
        return false;
    }
    let next = copy.exits.remove(0);
    let link = &mut g.block_mut(source).exits[exit];
    (link.target, link.args) = (next.target, next.args);
    true
}
