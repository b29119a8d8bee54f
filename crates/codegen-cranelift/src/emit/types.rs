//! Machine types of low-level types.

use cranelift_codegen::ir::types::{F32, F64, I8, I16, I32, I64, I128};
use cranelift_codegen::ir::{AbiParam, Signature, Type};
use cranelift_codegen::isa::CallConv;
use taipan_codegen::machine::{Bad, Ty, is_signed, machine_type};
use taipan_lltype::{FuncType, LLType};

use crate::isa::Peculiarities;

/// Cranelift's type. Addresses are words.
pub(super) fn clif(ty: Ty) -> Type {
    match ty {
        Ty::I8 => I8,
        Ty::I16 => I16,
        Ty::I32 => I32,
        Ty::I64 | Ty::Ptr => I64,
        Ty::I128 => I128,
        Ty::F32 => F32,
        Ty::F64 => F64,
    }
}

/// The type that Cranelift has that type for.
pub(super) fn machine_type_of(ty: Type) -> Ty {
    match ty {
        I8 => Ty::I8,
        I16 => Ty::I16,
        I32 => Ty::I32,
        I128 => Ty::I128,
        F32 => Ty::F32,
        F64 => Ty::F64,
        _ => Ty::I64,
    }
}

/// The machine type of values; none for Void and containers.
pub(crate) fn clif_type(ty: LLType) -> Option<Type> {
    machine_type(ty).map(clif)
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
