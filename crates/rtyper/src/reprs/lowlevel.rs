//! Functions on low-level types and values: `lltype`, `llmemory`, `rffi`, `llop`, and
//! the functions of the runtime (RPython: the second half of `rbuiltin.py`).

use taipan_graph::{Const, Operand};
use taipan_language::Exc;
use taipan_lltype::{
    ADDRESS, LLConst, LLOp, LLOperand, LLType, NoProgram, NumFamily, NumOp, PlainOp, SIGNED,
    StaticSym, StructType, TypeKind, View, VoidConst, check_operation, layout,
};

use crate::hop::{cbool, csigned, cvoid};
use crate::reprs::ptr::{PtrRepr, input_of_type, type_arg};
use crate::{Hop, RType, Repr, Typed, TyperError};

pub(super) fn nothing(hop: &Hop<'_>) -> RType {
    hop.exception_cannot_occur()?;
    Ok(Some(cvoid()))
}

pub(super) fn null(hop: &Hop<'_>) -> RType {
    hop.exception_cannot_occur()?;
    Ok(Some(Operand::Const(LLConst::Null(
        hop.r_result.lowleveltype(),
    ))))
}

pub(super) fn raw(hop: &Hop<'_>, op: PlainOp) -> RType {
    hop.exception_cannot_occur()?;
    let mut args = Vec::new();
    for i in 0..hop.nb_args() {
        args.push(crate::calls::low_arg(hop, i)?);
    }
    hop.genop_void(operation(op, &args)?);
    Ok(Some(cvoid()))
}

/// An operation on what a program gives a function of the same name.
pub(super) fn operation(op: PlainOp, args: &[LLOperand]) -> Typed<View<'_, LLOperand>> {
    View::of(op.into(), args)
        .ok_or_else(|| TyperError::new(format!("{}() with {} arguments", op.name(), args.len())))
}

/// `weakref_deref(PTR, weakref)`
pub(super) fn weakref_deref(hop: &Hop<'_>) -> RType {
    hop.exception_cannot_occur()?;
    let ty = crate::hop::ctype(hop.r_result.lowleveltype());
    let weakref = crate::calls::low_arg(hop, 1)?;
    hop.gendirectcall("rmodel.ll_weakref_deref", [ty, weakref])
        .map(Some)
}

pub(super) fn raw_malloc(hop: &Hop<'_>) -> RType {
    let size = hop.inputarg(&Repr::signed(), 0)?;
    hop.exception_cannot_occur()?;
    let zero = matches!(keyword_const(hop, "zero"), Some(Const::Bool(true)));
    Ok(Some(hop.genop(
        View::RawMalloc {
            size: &size,
            zero: Some(&cbool(zero)),
        },
        *ADDRESS,
    )))
}

/// Size of a type; of a container with so many items.
pub(super) fn sizeof(hop: &Hop<'_>, t: LLType) -> RType {
    hop.exception_cannot_occur()?;
    let layout = layout(t, &NoProgram);
    let (size, var) = match &layout.var {
        Some(var) if hop.nb_args() > 1 => (var.empty_size, var.item_size),
        _ => (layout.size, 0),
    };
    if var == 0 {
        return Ok(Some(csigned(size as i64)));
    }
    let n = hop.inputarg(&Repr::signed(), 1)?;
    let items = hop.llops.genop(
        View::Binary {
            family: NumFamily::Int,
            op: NumOp::Mul,
            left: &n,
            right: &csigned(var as i64),
        },
        *SIGNED,
    );
    let all = [items, csigned(size as i64)];
    Ok(Some(hop.llops.genop(
        LLOp::Num(NumFamily::Int, NumOp::Add).view(&all),
        *SIGNED,
    )))
}

pub(super) fn offsetof(hop: &Hop<'_>) -> RType {
    let t = type_arg(hop, 0)?;
    let name = hop.const_name(1)?;
    hop.exception_cannot_occur()?;
    match taipan_lltype::offset_of(t, name, &NoProgram) {
        Some(offset) => Ok(Some(csigned(offset as i64))),
        None => Err(TyperError::new(format!("{t} has no field {name}"))),
    }
}

pub(super) fn itemoffsetof(hop: &Hop<'_>) -> RType {
    let t = type_arg(hop, 0)?;
    hop.exception_cannot_occur()?;
    let n = match hop.const_arg(1) {
        _ if hop.nb_args() < 2 => 0,
        Some(Const::Int(n)) => *n,
        _ => return Err(TyperError::new("itemoffsetof() of an item that varies")),
    };
    match taipan_lltype::item_offset(t, n, &NoProgram) {
        Some(offset) => Ok(Some(csigned(offset))),
        None => Err(TyperError::new(format!("{t} has no items"))),
    }
}

/// `cast_adr_to_int(adr, mode)`: all modes are the same here.
pub(super) fn address_as_int(hop: &Hop<'_>) -> RType {
    let mut hop = hop.clone();
    while hop.nb_args() > 1 {
        hop.r_s_pop(1);
    }
    on_pointer(&hop, PlainOp::CastAdrToInt, *SIGNED)
}

/// `rffi.cast`: like the casts of `lltype`, and pointers to pointers of any type.
pub(super) fn rffi_cast(hop: &Hop<'_>) -> RType {
    let target = hop.r_result.lowleveltype();
    let from_pointer = matches!(hop.args_r.get(1), Some(Repr::Ptr(_)));
    if !from_pointer || target.pointee().is_none() {
        return cast_to_type(hop, 1);
    }
    let v = crate::calls::low_arg(hop, 1)?;
    hop.exception_cannot_occur()?;
    if hop.llops.ty(&v) == target {
        return Ok(Some(v));
    }
    let address = hop.genop(View::CastPtrToAdr { value: &v }, *ADDRESS);
    Ok(Some(
        hop.genop(View::CastAdrToPtr { value: &address }, target),
    ))
}

/// `rffi.make(STRUCT, field=value, ...)`: a struct in raw memory.
pub(super) fn make(hop: &Hop<'_>) -> RType {
    let ty = type_arg(hop, 0)?;
    let flavor = Operand::Const(LLConst::Void(VoidConst::Flavor {
        gc: false,
        zero: false,
    }));
    let r = PtrRepr { ty: ty.ptr() };
    hop.has_implicit_exception(Exc::MemoryError)?;
    hop.exception_is_here()?;
    let v = hop.genop(
        View::Malloc {
            ty: &crate::hop::ctype(ty),
            flavor: &flavor,
            destructor: None,
        },
        r.ty,
    );
    let first = hop.nb_args() - hop.keywords.len();
    for (i, name) in hop.keywords.iter().enumerate() {
        let of = r.field(hop.rt, name)?;
        let value = input_of_type(hop, of, first + i)?;
        let name = crate::hop::cfield(name);
        hop.genop_void(View::Setfield {
            object: &v,
            field: &name,
            value: &value,
        });
    }
    Ok(Some(v))
}

/// The length of a GcArray of primitives behind an opaque pointer.
pub(super) fn gcarray_length(hop: &Hop<'_>) -> RType {
    let v = crate::calls::low_arg(hop, 0)?;
    hop.exception_cannot_occur()?;
    let array = LLType::gc_array(*SIGNED).ptr();
    let v = hop.genop(View::CastOpaquePtr { value: &v }, array);
    Ok(Some(hop.genop(View::Getarraysize { array: &v }, *SIGNED)))
}

/// The value of a keyword argument, and whether it was given.
pub(super) fn keyword_const<'h>(hop: &'h Hop<'_>, name: &str) -> Option<&'h Const> {
    let first = hop.nb_args().checked_sub(hop.keywords.len())?;
    let i = hop.keywords.iter().position(|k| &**k == name)?;
    hop.const_arg(first + i)
}

/// `malloc(T, n=None, flavor='gc', ...)`
pub(super) fn malloc(hop: &Hop<'_>, raw: bool) -> RType {
    let ty = type_arg(hop, 0)?;
    if let TypeKind::Opaque { .. } = ty.kind() {
        return Err(TyperError::new(format!("the size of a {ty} is not known")));
    }
    let positional = hop.nb_args() - hop.keywords.len();
    let raw = raw || keyword_const(hop, "flavor").and_then(Const::as_str) == Some("raw");
    let zero = matches!(
        keyword_const(hop, "zero"),
        Some(Const::Bool(true) | Const::Int(1))
    );
    let flavor = Operand::Const(LLConst::Void(VoidConst::Flavor { gc: !raw, zero }));
    let length = match positional > 1 && hop.const_arg(1) != Some(&Const::None) {
        true => Some(hop.inputarg(&Repr::signed(), 1)?),
        false => None,
    };
    let caught = hop.has_implicit_exception(Exc::MemoryError)?;
    hop.exception_is_here()?;
    if let (true, Some(n)) = (caught, &length) {
        hop.gendirectcall("rlist.ll_check_count", [n.clone()])?;
    }
    let (ty, flavor) = (&crate::hop::ctype(ty), &flavor);
    let malloc = match &length {
        Some(length) => View::MallocVarsize { ty, flavor, length },
        None => View::Malloc {
            ty,
            flavor,
            destructor: None,
        },
    };
    Ok(Some(hop.genop(malloc, hop.r_result.lowleveltype())))
}

/// `empty_array(T)` of the prelude: prebuilt, one for each type.
pub(super) fn empty_array(hop: &Hop<'_>) -> RType {
    let ty = type_arg(hop, 0)?;
    hop.exception_cannot_occur()?;
    let sym = StaticSym::Value(Const::Tuple([].into()), ty);
    Ok(Some(Operand::Const(LLConst::data(sym, ty.ptr()))))
}

pub(super) fn free(hop: &Hop<'_>) -> RType {
    let v = crate::calls::low_arg(hop, 0)?;
    hop.exception_cannot_occur()?;
    let flavor = Operand::Const(LLConst::Void(VoidConst::Flavor {
        gc: false,
        zero: false,
    }));
    hop.genop_void(View::Free {
        object: &v,
        flavor: &flavor,
    });
    Ok(Some(cvoid()))
}

pub(super) fn cast_to_type(hop: &Hop<'_>, i: usize) -> RType {
    let r = hop
        .args_r
        .get(i)
        .cloned()
        .ok_or_else(|| TyperError::new("a cast of nothing"))?;
    let v = hop.inputarg(&r, i)?;
    hop.exception_cannot_occur()?;
    let target = hop.r_result.lowleveltype();
    super::gen_cast(hop.llops, target, v).map(Some)
}

pub(super) fn on_pointer(hop: &Hop<'_>, op: PlainOp, result: LLType) -> RType {
    let v = crate::calls::low_arg(hop, 0)?;
    hop.exception_cannot_occur()?;
    Ok(Some(hop.genop(op.view(&[v]), result)))
}

pub(super) fn direct_fieldptr(hop: &Hop<'_>) -> RType {
    let v = crate::calls::low_arg(hop, 0)?;
    let name = hop.const_name(1)?.to_owned();
    hop.exception_cannot_occur()?;
    Ok(Some(hop.genop(
        View::DirectFieldptr {
            object: &v,
            field: &crate::hop::cfield(&name),
        },
        hop.r_result.lowleveltype(),
    )))
}

pub(super) fn direct_ptradd(hop: &Hop<'_>) -> RType {
    let v = crate::calls::low_arg(hop, 0)?;
    let n = hop.inputarg(&Repr::signed(), 1)?;
    hop.exception_cannot_occur()?;
    Ok(Some(hop.genop(
        View::DirectPtradd {
            items: &v,
            count: &n,
        },
        hop.r_result.lowleveltype(),
    )))
}

/// `llop.NAME(RESULT, args...)`
pub(super) fn low_level_operation(op: LLOp, hop: &Hop<'_>) -> RType {
    let result = type_arg(hop, 0)?;
    let mut args = Vec::with_capacity(hop.nb_args());
    for i in 1..hop.nb_args() {
        args.push(crate::calls::low_arg(hop, i)?);
    }
    let type_of = |a: &LLOperand| hop.llops.ty(a);
    check_operation(op, &args, result, &type_of, &StructType::known_body)
        .map_err(|what| TyperError::new(format!("`llop.{op}()`: {what}")))?;
    if op.can_raise() {
        hop.exception_is_here()?;
    } else {
        hop.exception_cannot_occur()?;
    }
    let v = hop.genop(op.view(&args), result);
    Ok(Some(if result.is_void() { cvoid() } else { v }))
}

pub(super) fn call_external(hop: &Hop<'_>, f: &taipan_lltype::FuncSym) -> RType {
    let params = f.ty().args.clone();
    if params.len() != hop.nb_args() {
        return Err(TyperError::new(format!(
            "{} takes {} arguments",
            f.name(),
            params.len()
        )));
    }
    let mut args = Vec::with_capacity(params.len());
    for (i, t) in params.iter().enumerate() {
        args.push(input_of_type(hop, *t, i)?);
    }
    hop.exception_cannot_occur()?;
    Ok(Some(hop.llops.gencall(f.clone(), args)))
}
