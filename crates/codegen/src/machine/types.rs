//! The types of a machine's values, and which of them low-level types have.

use std::fmt;

use taipan_lltype::{LLType, NumFamily, TypeKind};

use crate::runtime::CType;

/// A type of a machine's values. It is written as LLVM writes it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs, reason = "the number of bits")]
pub enum Ty {
    I8,
    I16,
    I32,
    I64,
    I128,
    F32,
    F64,
    /// An address. Machines may take it for an integer of as many bits.
    Ptr,
}

impl Ty {
    /// Bits of an integer; none of others.
    pub fn int_bits(self) -> Option<u32> {
        Some(match self {
            Ty::I8 => 8,
            Ty::I16 => 16,
            Ty::I32 => 32,
            Ty::I64 => 64,
            Ty::I128 => 128,
            Ty::F32 | Ty::F64 | Ty::Ptr => return None,
        })
    }

    /// Whether values are floats.
    pub fn is_float(self) -> bool {
        matches!(self, Ty::F32 | Ty::F64)
    }

    /// Its alignment in objects of the program.
    pub fn align(self) -> u32 {
        match self {
            Ty::I8 => 1,
            Ty::I16 => 2,
            Ty::I32 | Ty::F32 => 4,
            Ty::I64 | Ty::I128 | Ty::F64 | Ty::Ptr => 8,
        }
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Ty::I8 => "i8",
            Ty::I16 => "i16",
            Ty::I32 => "i32",
            Ty::I64 => "i64",
            Ty::I128 => "i128",
            Ty::F32 => "float",
            Ty::F64 => "double",
            Ty::Ptr => "ptr",
        })
    }
}

/// The type of values; none for Void and containers. A Bool is a byte, 0 or 1.
pub fn machine_type(ty: LLType) -> Option<Ty> {
    Some(match ty.kind() {
        TypeKind::Bool | TypeKind::Char => Ty::I8,
        TypeKind::UniChar => Ty::I32,
        TypeKind::Int(k) => match k.bits {
            8 => Ty::I8,
            16 => Ty::I16,
            32 => Ty::I32,
            64 => Ty::I64,
            _ => Ty::I128,
        },
        TypeKind::Float => Ty::F64,
        TypeKind::SingleFloat => Ty::F32,
        TypeKind::Address | TypeKind::Ptr(_) => Ty::Ptr,
        _ => return None,
    })
}

/// The type of arguments and results of C functions; none for nothing.
pub fn type_of_c(ty: CType) -> Option<Ty> {
    Some(match ty {
        CType::Void => return None,
        CType::Bool => Ty::I8,
        CType::Int32 => Ty::I32,
        CType::Signed | CType::Word => Ty::I64,
        CType::Int128 | CType::UInt128 => Ty::I128,
        CType::Float => Ty::F64,
        CType::Pointer | CType::Constant => Ty::Ptr,
    })
}

/// The type that a family of arithmetic computes in.
pub fn family_type(family: NumFamily) -> Ty {
    match family {
        NumFamily::Int | NumFamily::Uint => Ty::I64,
        NumFamily::Lllong | NumFamily::Ulllong => Ty::I128,
        NumFamily::Float => Ty::F64,
        NumFamily::Char => Ty::I8,
        NumFamily::Unichar => Ty::I32,
    }
}

/// Whether values are compared and widened by their sign.
pub fn is_signed(ty: LLType) -> bool {
    matches!(ty.kind(), TypeKind::Int(k) if k.signed)
}
