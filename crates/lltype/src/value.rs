//! Values of low-level types, and how they lie in memory.

use taipan_graph::IntKind;

use crate::{LLType, TypeKind, convert};

/// An address of the runnable heap: number of the object in the upper half, offset
/// in the lower one. Function addresses have the top bit set. 0 is null.
pub type Addr = u64;

/// A value of a low-level type.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum LLValue {
    /// Void
    Void,
    /// Bool
    Bool(bool),
    /// Char
    Char(u8),
    /// UniChar
    UniChar(u32),
    /// An integer of this kind.
    Int(IntKind, i128),
    /// Float
    Float(f64),
    /// SingleFloat
    SingleFloat(f32),
    /// A pointer or an Address.
    Ptr(Addr),
}

impl LLValue {
    /// A Signed.
    pub fn signed(v: i64) -> LLValue {
        LLValue::Int(IntKind::SIGNED, i128::from(v))
    }

    /// The null pointer.
    pub const NULL: LLValue = LLValue::Ptr(0);

    /// The value of type `ty` that a word stands for (see [`crate::eval_num`]).
    pub fn from_word(w: i128, ty: LLType) -> LLValue {
        match ty.kind() {
            TypeKind::Bool => LLValue::Bool(w != 0),
            TypeKind::Char => LLValue::Char(w as u8),
            TypeKind::UniChar => LLValue::UniChar(w as u32),
            TypeKind::Int(k) => LLValue::Int(*k, k.wrap(w)),
            TypeKind::Float => LLValue::Float(f64::from_bits(w as u64)),
            TypeKind::SingleFloat => LLValue::SingleFloat(f32::from_bits(w as u32)),
            TypeKind::Ptr(_) | TypeKind::Address => LLValue::Ptr(w as u64),
            _ => LLValue::Void,
        }
    }

    /// Its word; 0 for Void.
    pub fn word(self) -> i128 {
        match self {
            LLValue::Void => 0,
            LLValue::Bool(b) => i128::from(b),
            LLValue::Char(c) => i128::from(c),
            LLValue::UniChar(c) => i128::from(c),
            LLValue::Int(_, v) => v,
            LLValue::Float(f) => i128::from(f.to_bits()),
            LLValue::SingleFloat(f) => i128::from(f.to_bits()),
            LLValue::Ptr(a) => i128::from(a),
        }
    }

    /// The integer, if it is one that fits.
    pub fn as_i64(self) -> Option<i64> {
        match self {
            LLValue::Int(_, v) => i64::try_from(v).ok(),
            LLValue::Bool(b) => Some(i64::from(b)),
            _ => None,
        }
    }

    /// The address, if it is a pointer.
    pub fn as_addr(self) -> Option<Addr> {
        match self {
            LLValue::Ptr(a) => Some(a),
            _ => None,
        }
    }

    /// This value as one of type `ty`, converted as `cast_primitive` does.
    pub fn cast(self, from: LLType, ty: LLType) -> Option<LLValue> {
        Some(LLValue::from_word(convert(self.word(), from, ty)?, ty))
    }
}

/// How a primitive or a pointer is loaded and stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Nothing.
    Void,
    /// An unsigned byte: Bool, Char and UInt8.
    U8,
    /// A signed byte.
    I8,
    /// Two bytes, zero-extended.
    U16,
    /// Two bytes, sign-extended.
    I16,
    /// Four bytes, zero-extended.
    U32,
    /// Four bytes, sign-extended.
    I32,
    /// A machine word.
    W64,
    /// Two machine words.
    W128,
}

impl Access {
    /// How values of that type are accessed; `None` for containers.
    pub fn of(ty: LLType) -> Option<Access> {
        Some(match ty.kind() {
            TypeKind::Void => Access::Void,
            TypeKind::Bool | TypeKind::Char => Access::U8,
            TypeKind::UniChar | TypeKind::SingleFloat => Access::U32,
            TypeKind::Float | TypeKind::Address | TypeKind::Ptr(_) => Access::W64,
            TypeKind::Int(k) => match (k.bits, k.signed) {
                (8, false) => Access::U8,
                (8, true) => Access::I8,
                (16, false) => Access::U16,
                (16, true) => Access::I16,
                (32, false) => Access::U32,
                (32, true) => Access::I32,
                (64, _) => Access::W64,
                _ => Access::W128,
            },
            _ => return None,
        })
    }

    /// Number of bytes.
    pub fn size(self) -> usize {
        match self {
            Access::Void => 0,
            Access::U8 | Access::I8 => 1,
            Access::U16 | Access::I16 => 2,
            Access::U32 | Access::I32 => 4,
            Access::W64 => 8,
            Access::W128 => 16,
        }
    }

    /// The 64-bit register that holds what these bytes stand for ([`Access::W128`]:
    /// its lower half).
    #[inline]
    pub fn decode(self, b: &[u8]) -> u64 {
        match self {
            Access::Void => 0,
            Access::U8 => u64::from(b[0]),
            Access::I8 => b[0] as i8 as u64,
            Access::U16 => u64::from(u16::from_le_bytes([b[0], b[1]])),
            Access::I16 => i16::from_le_bytes([b[0], b[1]]) as u64,
            Access::U32 => u64::from(u32::from_le_bytes([b[0], b[1], b[2], b[3]])),
            Access::I32 => i32::from_le_bytes([b[0], b[1], b[2], b[3]]) as u64,
            Access::W64 | Access::W128 => {
                u64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]])
            }
        }
    }
}
