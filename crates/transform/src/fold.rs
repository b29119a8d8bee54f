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
    ConstantOperand, LLConst, LLGraph, LLOp, LLOperand, LLType, LowLevel, NamedOperands, NumFamily,
    NumOp, PlainOp, Program, StaticSym, StaticValue, StructId, TypeKind, View, VoidConst, fold,
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
        && let View::BoolNot { value } = def.view()
        && let Some(inner) = value.as_var()
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
    let def = |o: &LLOperand| Some(defs.get(&o.as_var()?)?.view());
    let (to, at) = (op.result, op.at);
    match op.view() {
        View::Unary { .. } | View::Binary { .. } => simplify_num(op, defs),
        View::SameAs { value } => Some(value.clone()),
        View::CastPointer { value } => {
            if let Some(View::CastPointer { value }) = def(value) {
                *op = View::CastPointer { value }.operation(to, at);
            }
            cast_to_itself(g, op, result)
        }
        View::CastOpaquePtr { value } => {
            if let Some(View::CastOpaquePtr { value }) = def(value) {
                *op = View::CastOpaquePtr { value }.operation(to, at);
            }
            cast_to_itself(g, op, result)
        }
        View::CastUintToInt { value } => match def(value)? {
            View::CastIntToUint { value } => Some(value.clone()),
            _ => None,
        },
        View::CastIntToUint { value } => match def(value)? {
            View::CastUintToInt { value } => Some(value.clone()),
            _ => None,
        },
        View::CastIntToChar { value } => match def(value)? {
            View::CastCharToInt { value } => Some(value.clone()),
            _ => None,
        },
        View::CastIntToUnichar { value } => match def(value)? {
            View::CastUnicharToInt { value } => Some(value.clone()),
            _ => None,
        },
        View::BoolNot { value } => {
            let test = defs.get(&value.as_var()?)?;
            if let View::BoolNot { value } = test.view() {
                return Some(value.clone());
            }
            // That of a comparison is the opposite comparison, except among floats.
            (op.op, op.args) = (opposite(test.op)?, test.args.clone());
            None
        }
        View::PtrNonzero { value } => match def(value)? {
            View::Malloc { .. } | View::MallocVarsize { .. } => Some(constant(LLConst::Bool(true))),
            View::CastPointer { value } => {
                *op = View::PtrNonzero { value }.operation(to, at);
                None
            }
            _ => None,
        },
        View::PtrIszero { value } => match def(value)? {
            View::Malloc { .. } | View::MallocVarsize { .. } => {
                Some(constant(LLConst::Bool(false)))
            }
            View::CastPointer { value } => {
                *op = View::PtrIszero { value }.operation(to, at);
                None
            }
            _ => None,
        },
        View::PtrEq { left, right } => match compared_with_null(left, right) {
            _ if is_same(left, right) => Some(constant(LLConst::Bool(true))),
            Some(value) => {
                *op = View::PtrIszero { value }.operation(to, at);
                None
            }
            None => None,
        },
        View::PtrNe { left, right } => match compared_with_null(left, right) {
            _ if is_same(left, right) => Some(constant(LLConst::Bool(false))),
            Some(value) => {
                *op = View::PtrNonzero { value }.operation(to, at);
                None
            }
            None => None,
        },
        View::IntBetween { low, value, high } => {
            let known = known_subclass([low, value, high], defs, program)?;
            Some(constant(LLConst::Bool(known)))
        }
        View::IndirectCall { .. } => {
            call_only_target(g, op);
            None
        }
        View::Getfield { object, field } => field_of_constant(object, field, program),
        View::Getarraysize { array } => match def(array) {
            Some(View::MallocVarsize { length, .. }) => Some(length.clone()),
            _ => length_of_constant(array, true, program),
        },
        View::Getinteriorarraysize { object, .. } => length_of_constant(object, false, program),
        View::Getinteriorfield { object, path } => item_of_constant(object, path),
        View::IntAddOvf { left, right }
        | View::IntSubOvf { left, right }
        | View::IntAddNonnegOvf { left, right } => is_int(right, 0).then(|| left.clone()),
        View::IntMulOvf { left, right } => is_int(right, 1).then(|| left.clone()),
        _ => None,
    }
}

/// The operand of a cast, if it has the type already.
fn cast_to_itself(g: &LLGraph, op: &Operation<LowLevel>, result: LLType) -> Option<LLOperand> {
    let (View::CastPointer { value } | View::CastOpaquePtr { value }) = op.view() else {
        return None;
    };
    (type_of(g, value) == result).then(|| value.clone())
}

/// Whether two operands are one variable.
fn is_same(left: &LLOperand, right: &LLOperand) -> bool {
    left.as_var().is_some() && left == right
}

/// What is compared with the null pointer, if one of two pointers is that.
fn compared_with_null<'a>(left: &'a LLOperand, right: &'a LLOperand) -> Option<&'a LLOperand> {
    let null = |o: &LLOperand| matches!(o.as_const(), Some(LLConst::Null(_)));
    match (null(left), null(right)) {
        (true, _) => Some(right),
        (_, true) => Some(left),
        _ => None,
    }
}

/// Whether a known class is a subclass of another one, which their numbers tell: these
/// stay out of code, but what they say need not.
fn known_subclass(
    [low, value, high]: [&LLOperand; 3],
    defs: &FxHashMap<VarId, Operation<LowLevel>>,
    program: &dyn Program,
) -> Option<bool> {
    let vtable = |number: &LLOperand, field: &str| match number
        .as_var()
        .and_then(|v| defs.get(&v))?
        .view()
    {
        View::Getfield {
            object,
            field: name,
        } if name.as_field() == Some(field) => calls::vtable(object.as_const()?),
        _ => None,
    };
    let of = vtable(low, "subclassrange_min")?;
    let class = vtable(value, "subclassrange_min")?;
    let above = vtable(high, "subclassrange_max")?;
    (of == above).then(|| calls::is_subclass(class, of, program))
}

/// A call of the one function that can be meant.
fn call_only_target(g: &LLGraph, op: &mut Operation<LowLevel>) {
    if let View::IndirectCall {
        callee,
        args,
        targets: LLOperand::Const(LLConst::Void(VoidConst::Targets(targets))),
    } = op.view()
        && let [f] = &targets[..]
        && type_of(g, callee) == f.ptr_type()
    {
        let callee = &constant(LLConst::Func(f.clone()));
        *op = View::DirectCall { callee, args }.operation(op.result, op.at);
    }
}

fn is_int(o: &LLOperand, value: i128) -> bool {
    matches!(o.as_const(), Some(LLConst::Int(_, v)) if v.get() == value)
}

fn simplify_num(
    op: &mut Operation<LowLevel>,
    defs: &FxHashMap<VarId, Operation<LowLevel>>,
) -> Option<LLOperand> {
    use NumOp::*;
    // `int_is_true(cast_bool_to_int(b))` and its like.
    let (number, truth) = match op.view() {
        View::Unary { family, .. } | View::Binary { family, .. } if family == NumFamily::Float => {
            return None;
        }
        View::Unary {
            op: IsTrue, value, ..
        } => (Some(value), true),
        View::Binary {
            op: num @ (Ne | Eq),
            left,
            right,
            ..
        } if is_int(right, 0) => (Some(left), num == Ne),
        _ => (None, true),
    };
    let def = number
        .and_then(LLOperand::as_var)
        .and_then(|v| defs.get(&v));
    if let Some(View::CastBoolToInt { value } | View::CastBoolToUint { value }) =
        def.map(NamedOperands::view)
    {
        if truth {
            return Some(value.clone());
        }
        *op = View::BoolNot { value }.operation(op.result, op.at);
        return None;
    }
    let View::Binary {
        op: num,
        left,
        right,
        ..
    } = op.view()
    else {
        return None;
    };
    let same = is_same(left, right);
    match num {
        Add | Or | Xor if is_int(left, 0) => Some(right.clone()),
        Add | Sub | Or | Xor | LShift | RShift if is_int(right, 0) => Some(left.clone()),
        Mul if is_int(left, 1) => Some(right.clone()),
        Mul | FloorDiv if is_int(right, 1) => Some(left.clone()),
        And | Or if same => Some(left.clone()),
        Eq | Le | Ge if same => Some(constant(LLConst::Bool(true))),
        Ne | Lt | Gt if same => Some(constant(LLConst::Bool(false))),
        _ => None,
    }
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
fn field_of_constant(
    object: &LLOperand,
    field: &LLOperand,
    program: &dyn Program,
) -> Option<LLOperand> {
    let Some(LLConst::Static(sym, ptr)) = object.as_const() else {
        return None;
    };
    let Some(LLConst::Void(VoidConst::Field(name))) = field.as_const() else {
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

/// Lengths of constant strings and, by their own data, of constant arrays.
fn length_of_constant(
    object: &LLOperand,
    is_array: bool,
    program: &dyn Program,
) -> Option<LLOperand> {
    let Some(LLConst::Static(sym, _)) = object.as_const() else {
        return None;
    };
    let length = match &**sym {
        StaticSym::Within(..) => return None,
        StaticSym::Str(s) => s.len(),
        StaticSym::Unicode(s) => s.len(),
        _ if is_array => match &program.static_data(sym).value {
            StaticValue::Array(items) => items.len(),
            StaticValue::Bytes(b) => b.len(),
            _ => return None,
        },
        _ => return None,
    };
    Some(constant(LLConst::signed(length as i64)))
}

/// Characters of constant strings: what is read is in their array.
fn item_of_constant(object: &LLOperand, path: &[LLOperand]) -> Option<LLOperand> {
    let (Some(LLConst::Static(sym, _)), [_, LLOperand::Const(LLConst::Int(_, i))]) =
        (object.as_const(), path)
    else {
        return None;
    };
    let i = usize::try_from(i.get()).ok()?;
    match &**sym {
        StaticSym::Str(s) => Some(constant(LLConst::Char(*s.get(i)?))),
        StaticSym::Unicode(s) => Some(constant(LLConst::UniChar(*s.get(i)?))),
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
