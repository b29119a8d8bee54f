//! Machine types of low-level types.

use cranelift_codegen::ir::types::{F32, F64, I8, I16, I32, I64, I128};
use cranelift_codegen::ir::{AbiParam, Signature, Type};
use cranelift_codegen::isa::CallConv;
use taipan_lltype::{FuncType, LLType, TypeKind};

use super::Bad;

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

/// Whether values widen by their sign.
pub(super) fn is_signed(ty: LLType) -> bool {
    matches!(ty.kind(), TypeKind::Int(k) if k.signed)
}

/// The machine signature of a function; Void arguments are not passed. C functions
/// expect narrow arguments widened.
pub(super) fn signature(ft: &FuncType, c_convention: bool) -> Result<Signature, Bad> {
    let mut sig = Signature::new(CallConv::SystemV);
    for ty in ft.args.iter().filter(|t| !t.is_void()) {
        let t = clif_type(*ty).ok_or_else(|| format!("a {ty} as argument"))?;
        sig.params
            .push(match c_convention && t.is_int() && t.bits() < 32 {
                true if is_signed(*ty) => AbiParam::new(t).sext(),
                true => AbiParam::new(t).uext(),
                false => AbiParam::new(t),
            });
    }
    if !ft.result.is_void() {
        let t = clif_type(ft.result).ok_or_else(|| format!("a {} as result", ft.result))?;
        sig.returns.push(AbiParam::new(t));
    }
    Ok(sig)
}

/// A parameter of a runtime function, unsigned if narrow.
pub(super) fn c_param(ty: Type) -> AbiParam {
    if ty.is_int() && ty.bits() < 32 {
        AbiParam::new(ty).uext()
    } else {
        AbiParam::new(ty)
    }
}
