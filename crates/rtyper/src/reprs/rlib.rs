//! Functions of `rpython.rlib` that mean something else once translated, or nothing
//! (RPython: the `ExtRegistryEntry`s of rlib).

use taipan_graph::Const;
use taipan_lltype::{BOOL, FLOAT, GCREF, PlainOp, SIGNED, UNSIGNED};

use crate::hop::{cbool, csigned, cvoid};
use crate::reprs::InstanceRepr;
use crate::reprs::lowlevel::keyword_const;
use crate::{Hop, RType, Repr, TyperError};

/// Types a call of a function, by its module and name.
pub(super) fn rtype(name: &str, hop: &Hop<'_>) -> Option<RType> {
    let (module, function) = name.split_once('.')?;
    match module {
        "rarithmetic" => rarithmetic(function, hop),
        "objectmodel" => objectmodel(function, hop),
        "debug" => debug(function, hop),
        "jit" => super::jit::rtype(function, hop),
        "rgc" => rgc(function, hop),
        "longlong2float" => longlong2float(function, hop),
        "annlowlevel" => annlowlevel(function, hop),
        "nonconst" | "rstring" => match function {
            "NonConstant" | "assert_str0" | "check_str0" => Some(first_argument(hop)),
            _ => None,
        },
        _ => None,
    }
}

fn rarithmetic(function: &str, hop: &Hop<'_>) -> Option<RType> {
    Some(match function {
        "intmask" | "longlongmask" => converted(hop, &Repr::signed()),
        "ovfcheck" => converted(hop, &hop.r_result.clone()),
        "int_between" => int_between(hop),
        "int_force_ge_zero" => int_force_ge_zero(hop),
        "is_valid_int" => returns(hop, cbool(true)),
        "widen" | "longlonglongmask" => cast(hop),
        "uint_mul_high" => uint_mul_high(hop),
        _ if function.starts_with("r_") => construct(hop),
        _ => return None,
    })
}

fn objectmodel(function: &str, hop: &Hop<'_>) -> Option<RType> {
    Some(match function {
        "we_are_translated" | "we_are_translated_to_c" => returns(hop, cbool(true)),
        "running_on_llinterp" | "revdb_enabled" | "revdb_flag_io_disabled" => {
            returns(hop, cbool(false))
        }
        "keepalive_until_here" => keepalive(hop),
        "compute_hash" => hop.args_r.first()?.clone().methods().rtype_hash(hop),
        "compute_identity_hash" => identity(hop, PlainOp::GcIdentityhash),
        "compute_unique_id" | "current_object_addr_as_int" => identity(hop, PlainOp::GcId),
        "instantiate" => instantiate(hop),
        "likely" => branch_hint(hop, PlainOp::Likely),
        "unlikely" => branch_hint(hop, PlainOp::Unlikely),
        _ => return None,
    })
}

/// Assertions stay; output for debugging goes.
fn debug(function: &str, hop: &Hop<'_>) -> Option<RType> {
    Some(match function {
        "ll_assert" => ll_assert(hop),
        "ll_assert_not_none"
        | "make_sure_not_resized"
        | "check_annotation"
        | "check_not_access_directly"
        | "mark_dict_non_null" => first_argument(hop),
        "have_debug_prints" | "have_debug_prints_for" => returns(hop, cbool(false)),
        "debug_offset" => returns(hop, csigned(-1)),
        "debug_start" | "debug_stop" => returns(hop, csigned(0)),
        "debug_print"
        | "debug_flush"
        | "debug_forked"
        | "attach_gdb"
        | "check_nonneg"
        | "check_regular_int"
        | "check_list_of_chars" => returns(hop, cvoid()),
        _ => return None,
    })
}

fn rgc(function: &str, hop: &Hop<'_>) -> Option<RType> {
    Some(match function {
        "collect" => gc_collect(hop),
        "can_move" => match crate::calls::low_arg(hop, 0) {
            Ok(v) => hop
                .exception_cannot_occur()
                .map(|()| Some(hop.genop(PlainOp::GcCanMove, [v], *BOOL))),
            Err(e) => Err(e),
        },
        _ => return None,
    })
}

fn longlong2float(function: &str, hop: &Hop<'_>) -> Option<RType> {
    let (op, result) = match function {
        "float2longlong" => (PlainOp::ConvertFloatBytesToLonglong, *SIGNED),
        "longlong2float" => (PlainOp::ConvertLonglongBytesToFloat, *FLOAT),
        _ => return None,
    };
    Some(crate::calls::low_arg(hop, 0).and_then(|v| {
        hop.exception_cannot_occur()?;
        Ok(Some(hop.genop(op, [v], result)))
    }))
}

/// High-level values as what stands for them at the low level, and back.
fn annlowlevel(function: &str, hop: &Hop<'_>) -> Option<RType> {
    let root = || Repr::Instance(InstanceRepr::root());
    Some(match function {
        "llstr" | "hlstr" => same_pointer(hop, 0, &Repr::Str),
        "llunicode" | "hlunicode" => same_pointer(hop, 0, &Repr::Unicode),
        "cast_instance_to_base_ptr" => same_pointer(hop, 0, &root()),
        "cast_instance_to_gcref" => same_pointer(hop, 0, &root())
            .map(|v| v.map(|v| hop.genop(PlainOp::CastOpaquePtr, [v], *GCREF))),
        "cast_gcref_to_instance" => gcref_to_instance(hop),
        "checked_cast_gcref_to_instance" => checked_gcref_to_instance(hop),
        "llhelper" => llhelper(hop),
        "cast_base_ptr_to_instance" => same_pointer(hop, 1, &root())
            .and_then(|v| v.map_or(Ok(None), |v| hop.convert_result(v, &root()).map(Some))),
        _ => return None,
    })
}

/// `cast_gcref_to_instance(Class, gcref)`
fn gcref_to_instance(hop: &Hop<'_>) -> RType {
    hop.exception_cannot_occur()?;
    let v = crate::calls::low_arg(hop, 1)?;
    let result = hop.r_result.lowleveltype();
    Ok(Some(hop.genop(PlainOp::CastOpaquePtr, [v], result)))
}

/// `checked_cast_gcref_to_instance(Class, gcref)`: None for an instance of another class
fn checked_gcref_to_instance(hop: &Hop<'_>) -> RType {
    let root = Repr::Instance(InstanceRepr::root());
    let v = crate::calls::low_arg(hop, 1)?;
    let object = hop.genop(PlainOp::CastOpaquePtr, [v], root.lowleveltype());
    let class = hop.inputarg(&Repr::Type, 0)?;
    let found = hop.gendirectcall("rclass.ll_checked_cast", [object, class])?;
    hop.convert_result(found, &root).map(Some)
}

/// `llhelper(FUNCTYPE, f)`: a pointer to the function; f may be one already.
fn llhelper(hop: &Hop<'_>) -> RType {
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
fn same_pointer(hop: &Hop<'_>, i: usize, r: &Repr) -> RType {
    hop.exception_cannot_occur()?;
    match &hop.args_r[i] {
        pointer @ Repr::Ptr(_) => hop.inputarg(pointer, i).map(Some),
        _ => hop.inputarg(r, i).map(Some),
    }
}

/// A value that does not depend on the arguments; the annotator's constant wins.
fn returns(hop: &Hop<'_>, v: taipan_lltype::LLOperand) -> RType {
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

fn converted(hop: &Hop<'_>, r: &Repr) -> RType {
    hop.exception_cannot_occur()?;
    let v = hop.inputarg(r, 0)?;
    hop.convert_result(v, r).map(Some)
}

/// Any number to the kind of the result.
fn cast(hop: &Hop<'_>) -> RType {
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
        return Err(TyperError::with_code("TP0401", message));
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
fn construct(hop: &Hop<'_>) -> RType {
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
        return Err(TyperError::with_code("TP0401", message));
    }
    cast(hop)
}

fn int_between(hop: &Hop<'_>) -> RType {
    let r = Repr::signed();
    let args = hop.inputargs([&r, &r, &r])?;
    hop.exception_cannot_occur()?;
    Ok(Some(hop.genop(PlainOp::IntBetween, args, *BOOL)))
}

fn int_force_ge_zero(hop: &Hop<'_>) -> RType {
    let args = hop.inputargs([&Repr::signed()])?;
    hop.exception_cannot_occur()?;
    Ok(Some(hop.genop(PlainOp::IntForceGeZero, args, *SIGNED)))
}

fn uint_mul_high(hop: &Hop<'_>) -> RType {
    let r = Repr::unsigned();
    let args = hop.inputargs([&r, &r])?;
    hop.exception_cannot_occur()?;
    Ok(Some(hop.genop(PlainOp::UintMulHigh, args, *UNSIGNED)))
}

fn keepalive(hop: &Hop<'_>) -> RType {
    hop.exception_cannot_occur()?;
    for i in 0..hop.nb_args() {
        let v = crate::calls::low_arg(hop, i)?;
        hop.genop_void(PlainOp::Keepalive, [v]);
    }
    Ok(Some(cvoid()))
}

fn identity(hop: &Hop<'_>, op: PlainOp) -> RType {
    let r = hop.args_r[0].clone();
    let v = hop.inputarg(&r, 0)?;
    hop.exception_cannot_occur()?;
    Ok(Some(hop.genop(op, [v], *SIGNED)))
}

fn branch_hint(hop: &Hop<'_>, op: PlainOp) -> RType {
    let v = hop.inputarg(&Repr::Bool, 0)?;
    hop.exception_cannot_occur()?;
    Ok(Some(hop.genop(op, [v], *BOOL)))
}

/// `rgc.collect(generation)`: of the youngest one only where that is a constant 0.
pub(super) fn gc_collect(hop: &Hop<'_>) -> RType {
    hop.exception_cannot_occur()?;
    let op = match hop.const_arg(0) {
        Some(Const::Int(0)) => PlainOp::GcCollectMinor,
        _ => PlainOp::GcCollect,
    };
    hop.genop_void(op, []);
    Ok(Some(cvoid()))
}

/// `instantiate(cls, nonmovable=False)`: without `__init__`. What has outlived a collection
/// of the nursery does not move any more.
fn instantiate(hop: &Hop<'_>) -> RType {
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
        hop.genop_void(PlainOp::GcCollectMinor, []);
    }
    Ok(Some(v))
}

fn ll_assert(hop: &Hop<'_>) -> RType {
    let v = hop.inputarg(&Repr::Bool, 0)?;
    let message = hop.inputarg(&Repr::Str, 1)?;
    hop.exception_cannot_occur()?;
    hop.genop_void(PlainOp::DebugAssert, [v, message]);
    Ok(Some(cvoid()))
}
