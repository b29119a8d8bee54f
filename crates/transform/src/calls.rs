//! What operations call, and what that may do.

use taipan_graph::Operation;
use taipan_language::Exc;
use taipan_lltype::{
    ConstantOperand, FuncKind, FuncSym, FuncType, GC, LLConst, LLGraph, LLOp, LLOperand, LowLevel,
    NamedOperands, PlainOp, Program, RAISE, StaticSym, StructId, TypeKind, VOID, View, VoidConst,
};

use crate::ssa::{constant, type_of};
use crate::{Effects, Summaries};

/// Who is called.
pub(crate) enum Callees<'a> {
    /// Nobody: not a call.
    None,
    /// One of these.
    Known(&'a [FuncSym]),
    /// Anybody.
    Unknown,
}

/// The callees of an operation.
pub(crate) fn callees(op: &Operation<LowLevel>) -> Callees<'_> {
    use PlainOp::*;
    // Asked of every operation, and few are calls.
    let LLOp::Plain(DirectCall | IndirectCall | JitConditionalCall | JitConditionalCallValue) =
        op.op
    else {
        return Callees::None;
    };
    match op.view() {
        View::DirectCall { callee, .. }
        | View::JitConditionalCall { callee, .. }
        | View::JitConditionalCallValue { callee, .. } => match callee.as_function() {
            Some(f) => Callees::Known(std::slice::from_ref(f)),
            None => Callees::Unknown,
        },
        View::IndirectCall {
            targets: LLOperand::Const(LLConst::Void(VoidConst::Targets(t))),
            ..
        } => Callees::Known(t),
        _ => Callees::Unknown,
    }
}

/// The functions of the program that a call gives to C code.
pub(crate) fn given_away(op: &Operation<LowLevel>) -> impl Iterator<Item = &FuncSym> {
    let args = match callees(op) {
        Callees::Known([f]) if external_effects(f).is_some() => match op.view() {
            View::DirectCall { args, .. }
            | View::IndirectCall { args, .. }
            | View::JitConditionalCall { args, .. }
            | View::JitConditionalCallValue { args, .. } => args,
            _ => &[],
        },
        _ => &[],
    };
    args.iter()
        .filter_map(|a| match a {
            LLOperand::Const(LLConst::Func(f)) => Some(f),
            _ => None,
        })
        .filter(|f| external_effects(f).is_none())
}

/// What calling an external function may do.
pub(crate) fn external_effects(f: &FuncSym) -> Option<Effects> {
    match f.kind() {
        FuncKind::External {
            can_collect,
            can_raise,
            ..
        } => Some(Effects {
            can_raise: *can_raise,
            can_collect: *can_collect,
            stack_check: false,
        }),
        _ => None,
    }
}

/// Whether an operation calls what is not external.
pub(crate) fn calls_a_graph(op: &Operation<LowLevel>) -> bool {
    match callees(op) {
        Callees::None => false,
        Callees::Unknown => true,
        Callees::Known(fs) => fs.iter().any(|f| external_effects(f).is_none()),
    }
}

fn any_callee(
    op: &Operation<LowLevel>,
    s: &dyn Summaries,
    what: impl Fn(Effects) -> bool,
) -> Option<bool> {
    match callees(op) {
        Callees::None => None,
        Callees::Unknown => Some(true),
        Callees::Known(fs) => Some(
            fs.iter()
                .any(|f| what(external_effects(f).unwrap_or_else(|| s.effects(f)))),
        ),
    }
}

/// Whether an operation may raise.
pub(crate) fn can_raise(op: &Operation<LowLevel>, s: &dyn Summaries) -> bool {
    any_callee(op, s, |e| e.can_raise).unwrap_or(op.op.flags() & RAISE != 0)
}

/// Whether an operation may run the collector, which moves objects.
pub(crate) fn can_collect(op: &Operation<LowLevel>, s: &dyn Summaries) -> bool {
    if let Some(known) = any_callee(op, s, |e| e.can_collect) {
        return known;
    }
    op.op.flags() & GC != 0 && !is_raw_malloc(op)
}

/// Whether it allocates raw memory.
pub(crate) fn is_raw_malloc(op: &Operation<LowLevel>) -> bool {
    matches!(op.op, LLOp::Plain(PlainOp::Malloc | PlainOp::MallocVarsize))
        && (op.view().allocation())
            .and_then(|a| a.ty.as_type())
            .is_some_and(|t| !t.is_gc_container())
}

/// Whether it allocates a GC object.
pub(crate) fn allocates(op: &Operation<LowLevel>) -> bool {
    use PlainOp::*;
    matches!(op.op, LLOp::Plain(Malloc | MallocVarsize | GcMallocFilled)) && !is_raw_malloc(op)
}

/// Whether it is arithmetic with an overflow check.
pub(crate) fn is_ovf(op: &Operation<LowLevel>) -> bool {
    use PlainOp::*;
    matches!(
        op.op,
        LLOp::Plain(IntAddOvf | IntAddNonnegOvf | IntSubOvf | IntMulOvf)
    )
}

/// The vtable that a constant points to.
pub(crate) fn vtable(c: &LLConst) -> Option<&StaticSym> {
    match c {
        LLConst::Static(s, _) => match &**s {
            s @ (StaticSym::Vtable(_) | StaticSym::ObjectVtable) => Some(s),
            _ => None,
        },
        _ => None,
    }
}

/// Whether the class of one vtable is that of the other or a subclass of it.
pub(crate) fn is_subclass(class: &StaticSym, of: &StaticSym, program: &dyn Program) -> bool {
    let mut class = class.clone();
    loop {
        if class == *of || *of == StaticSym::ObjectVtable {
            return true;
        }
        let StaticSym::Vtable(id) = class else {
            return false;
        };
        // The first field of a vtable is that of the base class.
        let body = program.struct_body(&StructId::Vtable(id));
        match body.fields.first().map(|f| f.ty.kind()) {
            Some(TypeKind::Struct(t)) => match t.id {
                StructId::Vtable(base) => class = StaticSym::Vtable(base),
                _ => return false,
            },
            _ => return false,
        }
    }
}

/// Whether an exception link with this case catches everything.
pub(crate) fn catches_all(case: &LLConst, program: &dyn Program) -> bool {
    vtable(case).is_some_and(|v| is_subclass(&program.exception_vtable(Exc::Exception), v, program))
}

/// A call of a function of the runtime that returns nothing.
pub(crate) fn runtime_call(
    g: &mut LLGraph,
    name: &str,
    args: &[LLOperand],
    at: u32,
) -> Operation<LowLevel> {
    let kind = FuncKind::External {
        name: name.into(),
        can_collect: false,
        can_raise: false,
        releases_gil: false,
        library: None,
    };
    let ty = FuncType {
        args: args.iter().map(|a| type_of(g, a)).collect(),
        result: *VOID,
    };
    let result = g.new_var("", *VOID);
    let callee = &constant(LLConst::Func(FuncSym::new(kind, ty)));
    View::DirectCall { callee, args }.operation(result, at)
}
