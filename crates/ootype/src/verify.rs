//! The verifier: the rules of [`taipan_graph::verify`] for every graph, and the operands of operations.

use taipan_graph::{Operation, verify};
use taipan_lltype::{
    ConstantOperand, FuncType, LLConst, LLOp, LLOperand, PlainOp, Program, VoidConst,
    check_operation,
};

use crate::{
    Argument, OOGraph, OOOp, OOOperand, OOType, ObjectOp, ObjectOriented, inherited, storage,
    type_of,
};

/// The faults of a graph, a line each: its shape; operands and results that differ from the table of
/// operations; fields that a class does not have; values of another type than the field or item that they are
/// for; variables without values.
pub fn check_graph(graph: &OOGraph, program: &dyn Program) -> Vec<String> {
    let mut wrong = verify(graph).err().map_or_else(Vec::new, |e| e.0);
    for b in graph.reachable() {
        for v in graph.block(b).definitions() {
            if let OOType::Raw(ty) = graph.ty(v) {
                wrong.push(format!("block{}: a variable of type {ty}", b.0));
            }
        }
        for op in &graph.block(b).operations {
            let checked = match op.op {
                OOOp::Object(object) => check_object(graph, object, op, program),
                OOOp::Low(low) => check_low(graph, low, op),
            };
            if let Err(what) = checked {
                wrong.push(format!("block{}: {}: {what}", b.0, op.op));
            }
        }
    }
    wrong
}

/// Operations of `lltype`, by their own table.
fn check_low(graph: &OOGraph, op: LLOp, at: &Operation<ObjectOriented>) -> Result<(), String> {
    if !OOOp::is_shared(op) {
        return Err("it works on memory".to_owned());
    }
    let low: Vec<LLOperand> = at.args.iter().map(low_operand).collect();
    if op == PlainOp::DirectCall.into()
        && let Some(f) = low.first().and_then(ConstantOperand::as_function)
    {
        return check_call(graph, f.ty(), &at.args[1..], *graph.ty(at.result));
    }
    let type_of = |o: &LLOperand| match o {
        LLOperand::Var(v) => graph.ty(*v).low(),
        LLOperand::Const(c) => c.ty(),
    };
    check_operation(op, &low, graph.ty(at.result).low(), &type_of, &|_| None)
}

/// A call: an Address and a GCREF are the same here.
fn check_call(
    graph: &OOGraph,
    f: &FuncType,
    args: &[OOOperand],
    result: OOType,
) -> Result<(), String> {
    if f.args.len() != args.len() {
        return Err(format!("{} arguments are needed", f.args.len()));
    }
    for (o, wanted) in args.iter().zip(&f.args) {
        same(type_of(graph, o), OOType::of(*wanted))?;
    }
    same(result, OOType::of(f.result))
}

fn same(got: OOType, wanted: OOType) -> Result<(), String> {
    match got == wanted {
        true => Ok(()),
        false => Err(format!("{got} where {wanted} is needed")),
    }
}

fn low_operand(o: &OOOperand) -> LLOperand {
    match o {
        OOOperand::Var(v) => LLOperand::Var(*v),
        OOOperand::Const(c) => LLOperand::Const(c.clone()),
    }
}

fn check_object(
    graph: &OOGraph,
    op: ObjectOp,
    at: &Operation<ObjectOriented>,
    program: &dyn Program,
) -> Result<(), String> {
    let (params, result) = op.signature();
    let fixed = params.iter().filter(|p| p.1 != Argument::Rest).count();
    let rest = fixed < params.len();
    if at.args.len() < fixed || at.args.len() > fixed && !rest {
        return Err(format!("{fixed} operands are needed"));
    }
    for ((name, kind), o) in params.iter().zip(&at.args) {
        if !holds(*kind, graph, o) {
            return Err(format!("`{name}` is no {kind:?}"));
        }
    }
    let result_type = *graph.ty(at.result);
    if !holds_type(result, result_type) {
        return Err(format!("the result is no {result:?}"));
    }
    let ty = |i: usize| type_of(graph, &at.args[i]);
    match op {
        ObjectOp::GetField => same(result_type, field(graph, at, program)?),
        ObjectOp::SetField => same(ty(2), field(graph, at, program)?),
        ObjectOp::GetItem => same(result_type, item(ty(0))?),
        ObjectOp::SetItem => same(ty(2), item(ty(0))?),
        ObjectOp::CopyItems => same(item(ty(0))?, item(ty(1))?),
        ObjectOp::Call => {
            let method = ty(0).container().and_then(|t| t.as_func());
            let method = method.ok_or("no function")?;
            check_call(graph, method, &at.args[1..], result_type)
        }
        ObjectOp::New | ObjectOp::NewItems => {
            let made = low_operand(&at.args[0]).as_type().ok_or("no type")?;
            if op == ObjectOp::New {
                for pair in at.args[1..].chunks(2) {
                    let [name, value] = pair else {
                        return Err("a field without a value".to_owned());
                    };
                    same(type_of(graph, value), field_named(made, name, program)?)?;
                }
            }
            same(result_type, OOType::reference(made))
        }
        _ => Ok(()),
    }
}

/// The type of the field that an operation names.
fn field(
    graph: &OOGraph,
    at: &Operation<ObjectOriented>,
    program: &dyn Program,
) -> Result<OOType, String> {
    let class = type_of(graph, &at.args[0]).container().ok_or("no object")?;
    field_named(class, &at.args[1], program)
}

/// The type of the field of a class that an operand names.
fn field_named(
    class: taipan_lltype::LLType,
    name: &OOOperand,
    program: &dyn Program,
) -> Result<OOType, String> {
    let low = low_operand(name);
    let name = low.as_field().ok_or("a field without a name")?;
    match inherited(class, name, program) {
        Some((_, ty)) => Ok(storage(ty)),
        None => Err(format!("{class} has no field {name}")),
    }
}

fn item(array: OOType) -> Result<OOType, String> {
    use taipan_lltype::TypeKind;
    match array.container().map(|t| t.kind()) {
        Some(TypeKind::Array(a)) => Ok(storage(a.of)),
        Some(TypeKind::FixedArray(of, _)) => Ok(storage(*of)),
        _ => Err(format!("{array} has no items")),
    }
}

fn holds(kind: Argument, graph: &OOGraph, o: &OOOperand) -> bool {
    match (kind, o) {
        (Argument::Type, OOOperand::Const(LLConst::Void(VoidConst::Type(_))))
        | (Argument::Field, OOOperand::Const(LLConst::Void(VoidConst::Field(_)))) => true,
        _ => holds_type(kind, type_of(graph, o)),
    }
}

fn holds_type(kind: Argument, ty: OOType) -> bool {
    match kind {
        Argument::Reference => ty.is_reference(),
        Argument::Fields => matches!(
            ty,
            OOType::Instance(_) | OOType::Record(_) | OOType::Class(_)
        ),
        Argument::Array => matches!(ty, OOType::Array(_)),
        Argument::StaticMethod => matches!(ty, OOType::StaticMethod(_)),
        Argument::Signed => ty == OOType::Int(taipan_graph::IntKind::SIGNED),
        Argument::Bool => ty == OOType::Bool,
        Argument::Void => ty == OOType::Void,
        Argument::Any | Argument::Rest => !matches!(ty, OOType::Raw(_)),
        Argument::Type | Argument::Field => false,
    }
}
