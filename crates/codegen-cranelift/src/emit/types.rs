//! Machine types of low-level types.

use cranelift_codegen::ir::types::{F32, F64, I8, I16, I32, I64, I128};
use cranelift_codegen::ir::{AbiParam, Signature, Type};
use cranelift_codegen::isa::CallConv;
use taipan_codegen::runtime::CType;
use taipan_lltype::{FuncType, LLType, TypeKind};

use super::Bad;
use crate::isa::Peculiarities;

/// The machine type of values; none for Void and containers.
pub(crate) fn clif_type(ty: LLType) -> Option<Type> {
    Some(match ty.kind() {
        TypeKind::Bool | TypeKind::Char => I8,
        TypeKind::UniChar => I32,
        TypeKind::Int(k) => match k.bits {
            8 => I8,
            16 => I16,
            32 => I32,
            64 => I64,
            _ => I128,
        },
        TypeKind::Float => F64,
        TypeKind::SingleFloat => F32,
        TypeKind::Address | TypeKind::Ptr(_) => I64,
        _ => return None,
    })
}

/// The machine type of what C functions take and return; none for nothing.
pub(super) fn of_c(ty: CType) -> Option<Type> {
    Some(match ty {
        CType::Void => return None,
        CType::Bool => I8,
        CType::Int32 => I32,
        CType::Signed | CType::Word | CType::Pointer | CType::Constant => I64,
        CType::Int128 | CType::UInt128 => I128,
        CType::Float => F64,
    })
}

/// Whether values widen by their sign.
pub(super) fn is_signed(ty: LLType) -> bool {
    matches!(ty.kind(), TypeKind::Int(k) if k.signed)
}

/// The machine signature of a function; Void arguments are not passed.
pub(super) fn signature(ft: &FuncType) -> Result<Signature, Bad> {
    typed_signature(ft, |_, t| AbiParam::new(t))
}

/// The same of a function that C code calls or that is one: narrow arguments are widened.
pub(super) fn c_signature(ft: &FuncType, machine: Peculiarities) -> Result<Signature, Bad> {
    let mut sig = typed_signature(ft, |ty, t| c_value(t, is_signed(ty), machine))?;
    if !machine.widens_32_bits {
        // Whoever calls it makes no use of the rest of the register.
        sig.returns
            .iter_mut()
            .for_each(|r| *r = AbiParam::new(r.value_type));
    }
    Ok(sig)
}

fn typed_signature(
    ft: &FuncType,
    param: impl Fn(LLType, Type) -> AbiParam,
) -> Result<Signature, Bad> {
    let mut sig = Signature::new(CallConv::SystemV);
    for ty in ft.args.iter().filter(|t| !t.is_void()) {
        let t = clif_type(*ty).ok_or_else(|| format!("a {ty} as argument"))?;
        sig.params.push(param(*ty, t));
    }
    if !ft.result.is_void() {
        let t = clif_type(ft.result).ok_or_else(|| format!("a {} as result", ft.result))?;
        sig.returns.push(param(ft.result, t));
    }
    Ok(sig)
}

/// A value that a C function gets or returns.
pub(super) fn c_value(ty: Type, signed: bool, machine: Peculiarities) -> AbiParam {
    match ty.bits() {
        32 if ty.is_int() && machine.widens_32_bits => AbiParam::new(ty).sext(),
        8 | 16 if signed => AbiParam::new(ty).sext(),
        8 | 16 => AbiParam::new(ty).uext(),
        _ => AbiParam::new(ty),
    }
}
