//! Functions of `rpython.rlib` that mean something else once translated, or nothing
//! (RPython: the `ExtRegistryEntry`s of rlib).

use taipan_base::ErrorCode;
use taipan_graph::Const;
use taipan_lltype::{BOOL, LLType, PlainOp, SIGNED, UNSIGNED, View};

use crate::hop::{cbool, cvoid};
use crate::reprs::InstanceRepr;
use crate::reprs::lowlevel::keyword_const;
use crate::{Hop, RType, Repr, TyperError};

/// The bytes of a number as those of another one.
pub(super) fn float_bytes(hop: &Hop<'_>, op: PlainOp, result: LLType) -> RType {
    let v = crate::calls::low_arg(hop, 0)?;
    hop.exception_cannot_occur()?;
    Ok(Some(hop.genop(op.view(&[v]), result)))
}

/// `cast_gcref_to_instance(Class, gcref)`
pub(super) fn gcref_to_instance(hop: &Hop<'_>) -> RType {
    hop.exception_cannot_occur()?;
    let v = crate::calls::low_arg(hop, 1)?;
    let result = hop.r_result.lowleveltype();
    Ok(Some(hop.genop(View::CastOpaquePtr { value: &v }, result)))
}

/// `checked_cast_gcref_to_instance(Class, gcref)`: None for an instance of another class
pub(super) fn checked_gcref_to_instance(hop: &Hop<'_>) -> RType {
    let root = Repr::Instance(InstanceRepr::root());
    let v = crate::calls::low_arg(hop, 1)?;
    let object = hop.genop(View::CastOpaquePtr { value: &v }, root.lowleveltype());
    let class = hop.inputarg(&Repr::Type, 0)?;
    let found = hop.gendirectcall("rclass.ll_checked_cast", [object, class])?;
    hop.convert_result(found, &root).map(Some)
}

/// `llhelper(FUNCTYPE, f)`: a pointer to the function; f may be one already.
pub(super) fn llhelper(hop: &Hop<'_>) -> RType {
    hop.exception_cannot_occur()?;
    let ty = hop.r_result.lowleveltype();
    match &hop.args_r[1] {
        Repr::Function(r) => {
            let f = crate::convert::pointed_function(hop.rt, r.func, ty)?;
            Ok(Some(taipan_graph::Operand::Const(
                taipan_lltype::LLConst::Func(f),
            )))
        }
        other => {
            let v = hop.inputarg(&other.clone(), 1)?;
            let got = hop.llops.ty(&v);
            if got == ty {
                return Ok(Some(v));
            }
            Err(TyperError::new(format!("a {got} where a {ty} is needed")))
        }
    }
}

/// An argument of that Repr, or a pointer to what the Repr points to.
pub(super) fn same_pointer(hop: &Hop<'_>, i: usize, r: &Repr) -> RType {
    hop.exception_cannot_occur()?;
    match &hop.args_r[i] {
        pointer @ Repr::Ptr(_) => hop.inputarg(pointer, i).map(Some),
        _ => hop.inputarg(r, i).map(Some),
    }
}

/// A value that does not depend on the arguments; the annotator's constant wins.
pub(super) fn returns(hop: &Hop<'_>, v: taipan_lltype::LLOperand) -> RType {
    hop.exception_cannot_occur()?;
    match hop.result_const() {
        Some(c) => c.map(Some),
        None => Ok(Some(v)),
    }
}

pub(super) fn first_argument(hop: &Hop<'_>) -> RType {
    hop.exception_cannot_occur()?;
    if let Some(Const::None) = hop.const_arg(0)
        && hop.r_result == Repr::None
    {
        return Ok(Some(cvoid()));
    }
    hop.inputarg(&hop.r_result, 0).map(Some)
}

pub(super) fn converted(hop: &Hop<'_>, r: &Repr) -> RType {
    hop.exception_cannot_occur()?;
    let v = hop.inputarg(r, 0)?;
    hop.convert_result(v, r).map(Some)
}

/// Any number to the kind of the result.
pub(super) fn cast(hop: &Hop<'_>) -> RType {
    hop.exception_cannot_occur()?;
    let Some(arg) = hop.args_r.first().cloned() else {
        return hop.inputconst(&hop.r_result, &Const::Int(0)).map(Some);
    };
    if !matches!(
        arg,
        Repr::Int(_) | Repr::Bool | Repr::Float | Repr::SingleFloat
    ) {
        let (from, to) = (arg.methods(), hop.r_result.methods());
        let message = format!("cannot make {} of {}", to.describe(), from.describe());
        return Err(TyperError::with_code(
            ErrorCode::NotSupportedByRTyper,
            message,
        ));
    }
    if let (Some(c @ (Const::Int(_) | Const::RInt(..) | Const::Bool(_))), Repr::Int(_)) =
        (hop.const_arg(0), &hop.r_result)
    {
        return hop.inputconst(&hop.r_result, &c.clone()).map(Some);
    }
    let v = hop.inputarg(&arg, 0)?;
    super::gen_cast(hop.llops, hop.r_result.lowleveltype(), v).map(Some)
}

/// An integer or single-precision float made of another number: numbers of the widest
/// integers and of floats do not become each other, and nothing but a float is made of
/// a single-precision one.
pub(super) fn construct(hop: &Hop<'_>) -> RType {
    let wide = |r: &Repr| matches!(r, Repr::Int(i) if i.kind.bits > 64);
    let to = &hop.r_result;
    let refused = match hop.args_r.first() {
        Some(Repr::SingleFloat) => true,
        Some(Repr::Float) => {
            wide(to)
                || matches!(to, Repr::Int(_)) && matches!(hop.const_arg(0), Some(Const::Float(_)))
        }
        Some(from) => wide(from) && matches!(to, Repr::SingleFloat),
        None => false,
    };
    if refused {
        let (from, to) = (hop.args_r[0].methods().describe(), to.methods().describe());
        let message = format!("cannot make {to} of {from}");
        return Err(TyperError::with_code(
            ErrorCode::NotSupportedByRTyper,
            message,
        ));
    }
    cast(hop)
}

pub(super) fn int_between(hop: &Hop<'_>) -> RType {
    let r = Repr::signed();
    let [low, value, high] = &hop.inputargs([&r, &r, &r])?;
    hop.exception_cannot_occur()?;
    Ok(Some(
        hop.genop(View::IntBetween { low, value, high }, *BOOL),
    ))
}

pub(super) fn int_force_ge_zero(hop: &Hop<'_>) -> RType {
    let [value] = &hop.inputargs([&Repr::signed()])?;
    hop.exception_cannot_occur()?;
    Ok(Some(hop.genop(View::IntForceGeZero { value }, *SIGNED)))
}

pub(super) fn uint_mul_high(hop: &Hop<'_>) -> RType {
    let r = Repr::unsigned();
    let [left, right] = &hop.inputargs([&r, &r])?;
    hop.exception_cannot_occur()?;
    Ok(Some(
        hop.genop(View::UintMulHigh { left, right }, *UNSIGNED),
    ))
}

pub(super) fn keepalive(hop: &Hop<'_>) -> RType {
    hop.exception_cannot_occur()?;
    for i in 0..hop.nb_args() {
        let v = crate::calls::low_arg(hop, i)?;
        hop.genop_void(View::Keepalive { value: &v });
    }
    Ok(Some(cvoid()))
}

pub(super) fn identity(hop: &Hop<'_>, op: PlainOp) -> RType {
    let r = hop.args_r[0].clone();
    let v = hop.inputarg(&r, 0)?;
    hop.exception_cannot_occur()?;
    Ok(Some(hop.genop(op.view(&[v]), *SIGNED)))
}

pub(super) fn branch_hint(hop: &Hop<'_>, op: PlainOp) -> RType {
    let v = hop.inputarg(&Repr::Bool, 0)?;
    hop.exception_cannot_occur()?;
    Ok(Some(hop.genop(op.view(&[v]), *BOOL)))
}

/// `rgc.collect(generation)`: of the youngest one only where that is a constant 0.
pub(super) fn gc_collect(hop: &Hop<'_>) -> RType {
    hop.exception_cannot_occur()?;
    hop.genop_void(match hop.const_arg(0) {
        Some(Const::Int(0)) => View::GcCollectMinor {},
        _ => View::GcCollect { generation: None },
    });
    Ok(Some(cvoid()))
}

/// `instantiate(cls, nonmovable=False)`: without `__init__`. What has outlived a collection
/// of the nursery does not move any more.
pub(super) fn instantiate(hop: &Hop<'_>) -> RType {
    hop.exception_cannot_occur()?;
    let Repr::Classes(classes) = hop.args_r[0].clone() else {
        return Err(TyperError::new(
            "instantiate() of something else than a class",
        ));
    };
    let v = if let [class] = classes.classes[..] {
        let r = InstanceRepr::new(hop.rt, Some(class));
        let v = r.new_instance(hop.llops)?;
        hop.convert_result(v, &Repr::Instance(r))?
    } else {
        let vcls = hop.inputarg(&Repr::Type, 0)?;
        let result = hop.r_result.lowleveltype();
        crate::calls::instantiate_runtime_class(hop, vcls, &classes.classes, result)
    };
    let positional = hop.nb_args() - hop.keywords.len();
    let nonmovable = match positional {
        0 | 1 => keyword_const(hop, "nonmovable"),
        _ => hop.const_arg(1),
    };
    if matches!(nonmovable, Some(Const::Bool(true))) {
        hop.genop_void(View::GcCollectMinor {});
    }
    Ok(Some(v))
}

/// A function of the runtime for sections of debug output. A time is returned where the last
/// argument says so.
pub(super) fn debug_output(hop: &Hop<'_>, name: &str) -> RType {
    let f = taipan_lltype::external(name)
        .ok_or_else(|| TyperError::internal(format!("{name} is not in the table")))?;
    let mut args = Vec::new();
    for (i, ty) in f.ty().args.iter().enumerate() {
        args.push(match ty {
            ty if *ty == *BOOL && i >= hop.nb_args() => cbool(false),
            ty if *ty == *BOOL => hop.inputarg(&Repr::Bool, i)?,
            ty if *ty == *SIGNED => hop.inputarg(&Repr::signed(), i)?,
            _ => hop.inputarg(&Repr::Str, i)?,
        });
    }
    hop.exception_cannot_occur()?;
    Ok(Some(hop.llops.gencall(f, args)))
}

/// `debug_print()`: what its arguments are represented by.
pub(super) fn debug_print(hop: &Hop<'_>) -> RType {
    let mut values = Vec::with_capacity(hop.nb_args());
    for (i, r) in hop.args_r.iter().enumerate() {
        values.push(hop.inputarg(r, i)?);
    }
    hop.exception_cannot_occur()?;
    hop.genop_void(View::DebugPrint { values: &values });
    Ok(Some(cvoid()))
}

pub(super) fn ll_assert(hop: &Hop<'_>) -> RType {
    let v = hop.inputarg(&Repr::Bool, 0)?;
    let message = hop.inputarg(&Repr::Str, 1)?;
    hop.exception_cannot_occur()?;
    hop.genop_void(View::DebugAssert {
        condition: &v,
        message: Some(&message),
    });
    Ok(Some(cvoid()))
}
