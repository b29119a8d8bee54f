//! LLVM's types of low-level types.

use std::fmt;

use taipan_codegen::runtime::CType;
use taipan_lltype::{FuncType, LLType, TypeKind};

/// What is wrong with a graph.
pub(crate) type Bad = String;

/// A type of values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Ty {
    I8,
    I16,
    I32,
    I64,
    I128,
    F32,
    F64,
    Ptr,
}

impl Ty {
    /// Bits of an integer; none of others.
    pub(crate) fn int_bits(self) -> Option<u32> {
        Some(match self {
            Ty::I8 => 8,
            Ty::I16 => 16,
            Ty::I32 => 32,
            Ty::I64 => 64,
            Ty::I128 => 128,
            Ty::F32 | Ty::F64 | Ty::Ptr => return None,
        })
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(self, Ty::F32 | Ty::F64)
    }

    /// The zero of the type.
    pub(crate) fn zero(self) -> &'static str {
        match self {
            Ty::Ptr => "null",
            Ty::F32 | Ty::F64 => "0.0",
            _ => "0",
        }
    }

    /// Its alignment in objects of the program.
    pub(crate) fn align(self) -> u32 {
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
pub(crate) fn llvm_type(ty: LLType) -> Option<Ty> {
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

/// The type of what C functions take and return; none for nothing.
pub(crate) fn of_c(ty: CType) -> Option<Ty> {
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

/// Whether values widen by their sign.
pub(crate) fn is_signed(ty: LLType) -> bool {
    matches!(ty.kind(), TypeKind::Int(k) if k.signed)
}

/// A parameter or argument: its type, and how it is widened where C's conventions say so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Param {
    pub(crate) ty: Ty,
    pub(crate) extend: &'static str,
}

impl Param {
    /// A parameter of a function of the runtime, unsigned if narrow.
    pub(crate) fn of_runtime(ty: Ty) -> Param {
        let narrow = ty.int_bits().is_some_and(|b| b < 32);
        Param {
            ty,
            extend: if narrow { " zeroext" } else { "" },
        }
    }
}

impl fmt::Display for Param {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.ty, self.extend)
    }
}

/// The type of a function: what is passed, and what is returned, if something is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Signature {
    pub(crate) params: Vec<Param>,
    pub(crate) result: Option<Ty>,
}

impl Signature {
    /// Void arguments are not passed. C functions expect narrow arguments widened.
    pub(crate) fn of(ft: &FuncType, c_convention: bool) -> Result<Signature, Bad> {
        let mut params = Vec::with_capacity(ft.args.len());
        for ty in ft.args.iter().filter(|t| !t.is_void()) {
            let t = llvm_type(*ty).ok_or_else(|| format!("a {ty} as argument"))?;
            let narrow = c_convention && t.int_bits().is_some_and(|b| b < 32);
            params.push(Param {
                ty: t,
                extend: match narrow {
                    true if is_signed(*ty) => " signext",
                    true => " zeroext",
                    false => "",
                },
            });
        }
        let result = match ft.result.is_void() {
            true => None,
            false => {
                Some(llvm_type(ft.result).ok_or_else(|| format!("a {} as result", ft.result))?)
            }
        };
        Ok(Signature { params, result })
    }

    pub(crate) fn result_text(&self) -> String {
        self.result.map_or("void".to_owned(), |t| t.to_string())
    }

    /// The declaration of a function of this type.
    pub(crate) fn declare(&self, name: &str, attributes: &str) -> String {
        let params: Vec<String> = self.params.iter().map(Param::to_string).collect();
        let result = self.result_text();
        format!(
            "declare {result} {name}({}) nounwind{attributes}",
            params.join(", ")
        )
    }
}
