//! What the pure operations compute: the one definition that the constant folder and
//! the LLInterpreter share (RPython: `opimpl.py`).
//!
//! Values are *words*: integers sign- or zero-extended by their kind, Bool as 0 or 1,
//! characters as their code, floats and single floats as their bits.

use std::mem::discriminant;

use taipan_graph::IntKind;

use crate::{LLConst, LLOp, LLType, NumFamily, NumOp, PlainOp, StaticSym, TypeKind};

/// Arithmetic and comparison on 64-bit words; unary operations ignore `b`. A shift by a
/// count that is out of range, negative ones too, shifts everything out. `None` where the
/// operation is not defined (division by zero and its like).
#[inline]
pub fn eval_num(family: NumFamily, op: NumOp, a: u64, b: u64) -> Option<u64> {
    match family {
        NumFamily::Int | NumFamily::Lllong => eval_int(op, a as i64, b as i64),
        NumFamily::Float => eval_float(op, f64::from_bits(a), f64::from_bits(b)),
        NumFamily::Uint | NumFamily::Ulllong | NumFamily::Char | NumFamily::Unichar => {
            eval_uint(op, a, b)
        }
    }
}

#[inline]
fn eval_int(op: NumOp, a: i64, b: i64) -> Option<u64> {
    Some(match op {
        NumOp::IsTrue => u64::from(a != 0),
        NumOp::Neg => a.wrapping_neg() as u64,
        NumOp::Abs => a.wrapping_abs() as u64,
        NumOp::Invert => !a as u64,
        NumOp::Add => a.wrapping_add(b) as u64,
        NumOp::Sub => a.wrapping_sub(b) as u64,
        NumOp::Mul => a.wrapping_mul(b) as u64,
        NumOp::FloorDiv if b != 0 => a.wrapping_div(b) as u64,
        NumOp::Mod if b != 0 => a.wrapping_rem(b) as u64,
        NumOp::FloorDiv | NumOp::Mod | NumOp::TrueDiv => return None,
        NumOp::And => (a & b) as u64,
        NumOp::Or => (a | b) as u64,
        NumOp::Xor => (a ^ b) as u64,
        NumOp::LShift => shl(a as u64, b),
        NumOp::RShift => (a >> (b as u64).min(63)) as u64,
        NumOp::Lt => u64::from(a < b),
        NumOp::Le => u64::from(a <= b),
        NumOp::Eq => u64::from(a == b),
        NumOp::Ne => u64::from(a != b),
        NumOp::Gt => u64::from(a > b),
        NumOp::Ge => u64::from(a >= b),
    })
}

#[inline]
fn eval_uint(op: NumOp, a: u64, b: u64) -> Option<u64> {
    Some(match op {
        NumOp::FloorDiv if b != 0 => a / b,
        NumOp::Mod if b != 0 => a % b,
        NumOp::RShift => a.checked_shr(b.min(64) as u32).unwrap_or(0),
        NumOp::Abs => a,
        NumOp::Lt => u64::from(a < b),
        NumOp::Le => u64::from(a <= b),
        NumOp::Gt => u64::from(a > b),
        NumOp::Ge => u64::from(a >= b),
        _ => return eval_int(op, a as i64, b as i64),
    })
}

#[inline]
fn eval_float(op: NumOp, a: f64, b: f64) -> Option<u64> {
    Some(match op {
        NumOp::IsTrue => u64::from(a != 0.0),
        NumOp::Neg => (-a).to_bits(),
        NumOp::Abs => a.abs().to_bits(),
        NumOp::Add => (a + b).to_bits(),
        NumOp::Sub => (a - b).to_bits(),
        NumOp::Mul => (a * b).to_bits(),
        NumOp::TrueDiv => (a / b).to_bits(),
        NumOp::Lt => u64::from(a < b),
        NumOp::Le => u64::from(a <= b),
        NumOp::Eq => u64::from(a == b),
        NumOp::Ne => u64::from(a != b),
        NumOp::Gt => u64::from(a > b),
        NumOp::Ge => u64::from(a >= b),
        _ => return None,
    })
}

#[inline]
fn shl(a: u64, by: i64) -> u64 {
    if (0..64).contains(&by) { a << by } else { 0 }
}

/// Arithmetic and comparison on 128-bit words (`lllong_*`, `ulllong_*`). The second
/// operand of a shift is Signed.
pub fn eval_wide(signed: bool, op: NumOp, a: i128, b: i128) -> Option<i128> {
    let (ua, ub) = (a as u128, b as u128);
    Some(match op {
        NumOp::IsTrue => i128::from(a != 0),
        NumOp::Neg => a.wrapping_neg(),
        NumOp::Abs if signed => a.wrapping_abs(),
        NumOp::Abs => a,
        NumOp::Invert => !a,
        NumOp::Add => a.wrapping_add(b),
        NumOp::Sub => a.wrapping_sub(b),
        NumOp::Mul => a.wrapping_mul(b),
        NumOp::FloorDiv if b != 0 && signed => a.wrapping_div(b),
        NumOp::FloorDiv if b != 0 => (ua / ub) as i128,
        NumOp::Mod if b != 0 && signed => a.wrapping_rem(b),
        NumOp::Mod if b != 0 => (ua % ub) as i128,
        NumOp::FloorDiv | NumOp::Mod | NumOp::TrueDiv => return None,
        NumOp::And => a & b,
        NumOp::Or => a | b,
        NumOp::Xor => a ^ b,
        NumOp::LShift if (0..128).contains(&b) => a << b,
        NumOp::LShift => 0,
        NumOp::RShift if signed => a >> (b as u128).min(127),
        NumOp::RShift if (0..128).contains(&b) => (ua >> b) as i128,
        NumOp::RShift => 0,
        NumOp::Lt => i128::from(if signed { a < b } else { ua < ub }),
        NumOp::Le => i128::from(if signed { a <= b } else { ua <= ub }),
        NumOp::Eq => i128::from(a == b),
        NumOp::Ne => i128::from(a != b),
        NumOp::Gt => i128::from(if signed { a > b } else { ua > ub }),
        NumOp::Ge => i128::from(if signed { a >= b } else { ua >= ub }),
    })
}

/// The upper 64 of the 128 bits of a product.
#[inline]
pub fn mul_high(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

/// The `int_*_ovf` operations; `None` on overflow.
#[inline]
pub fn eval_ovf(op: PlainOp, a: i64, b: i64) -> Option<i64> {
    match op {
        PlainOp::IntSubOvf => a.checked_sub(b),
        PlainOp::IntMulOvf => a.checked_mul(b),
        _ => a.checked_add(b),
    }
}

/// Converts a word between primitive types, as every `cast_*` between them does:
/// floats truncate towards zero, integers wrap.
pub fn convert(v: i128, from: LLType, to: LLType) -> Option<i128> {
    let as_float = match from.kind() {
        TypeKind::Float => Some(f64::from_bits(v as u64)),
        TypeKind::SingleFloat => Some(f64::from(f32::from_bits(v as u32))),
        _ => None,
    };
    let unsigned_wide = matches!(
        from.kind(),
        TypeKind::Int(IntKind {
            signed: false,
            bits: 128
        })
    );
    let float = || match as_float {
        Some(f) => f,
        None if unsigned_wide => v as u128 as f64,
        None => v as f64,
    };
    let int = || as_float.map_or(v, |f| f as i128);
    Some(match to.kind() {
        TypeKind::Bool => i128::from(as_float.map_or(v != 0, |f| f != 0.0)),
        TypeKind::Char => int() & 0xff,
        TypeKind::UniChar => int() & 0xffff_ffff,
        TypeKind::Int(k) => k.wrap(int()),
        TypeKind::Float => i128::from(float().to_bits()),
        TypeKind::SingleFloat => i128::from((float() as f32).to_bits()),
        TypeKind::Address | TypeKind::Ptr(_) => IntKind::UNSIGNED.wrap(int()),
        _ => return None,
    })
}

/// Whether an operation converts between primitive types by value.
pub fn is_conversion(op: PlainOp) -> bool {
    matches!(op, crate::conversion!())
}

/// The word of a primitive constant.
pub fn const_word(c: &LLConst) -> Option<i128> {
    Some(match c {
        LLConst::Bool(b) => i128::from(*b),
        LLConst::Char(c) => i128::from(*c),
        LLConst::UniChar(c) => i128::from(*c),
        LLConst::Int(_, v) => v.get(),
        LLConst::Float(b) => i128::from(*b),
        LLConst::SingleFloat(b) => i128::from(*b),
        _ => return None,
    })
}

/// The constant of a primitive type with that word.
pub fn word_const(w: i128, ty: LLType) -> Option<LLConst> {
    Some(match ty.kind() {
        TypeKind::Void => LLConst::void(),
        TypeKind::Bool => LLConst::Bool(w != 0),
        TypeKind::Char => LLConst::Char(w as u8),
        TypeKind::UniChar => LLConst::UniChar(w as u32),
        TypeKind::Int(k) => LLConst::int(*k, k.wrap(w)),
        TypeKind::Float => LLConst::Float(w as u64),
        TypeKind::SingleFloat => LLConst::SingleFloat(w as u32),
        _ => return None,
    })
}

/// Computes an operation on constants, where its result does not depend on the
/// program's memory; `None` if it has to stay (also where it would raise).
pub fn fold(op: LLOp, args: &[LLConst], result: LLType) -> Option<LLConst> {
    match op {
        LLOp::Num(family, num) => fold_num(family, num, args, result),
        LLOp::Plain(p) => fold_plain(p, args, result),
    }
}

fn fold_num(family: NumFamily, op: NumOp, args: &[LLConst], result: LLType) -> Option<LLConst> {
    let a = const_word(args.first()?)?;
    let b = match args.get(1) {
        Some(c) => const_word(c)?,
        None => 0,
    };
    word_const(fold_number(family, op, (a, b), result)?, result)
}

/// Computes an operation on the words of numbers. The second word is 0 for unary operations. `None` if the operation
/// has to stay, as for [`fold`].
pub fn fold_number(
    family: NumFamily,
    op: NumOp,
    (a, b): (i128, i128),
    result: LLType,
) -> Option<i128> {
    let wide = matches!(family, NumFamily::Lllong | NumFamily::Ulllong);
    Some(if wide {
        eval_wide(family == NumFamily::Lllong, op, a, b)?
    } else {
        word_of_u64(eval_num(family, op, a as u64, b as u64)?, result)
    })
}

fn fold_plain(p: PlainOp, args: &[LLConst], result: LLType) -> Option<LLConst> {
    use PlainOp::*;
    let word = |i: usize| args.get(i).and_then(const_word);
    match p {
        BoolNot => word_const(1 - word(0)?, result),
        IntBetween => {
            let (a, b, c) = (word(0)?, word(1)?, word(2)?);
            Some(LLConst::Bool(a <= b && b < c))
        }
        IntForceGeZero => word_const(word(0)?.max(0), result),
        UintMulHigh => {
            let high = mul_high(word(0)? as u64, word(1)? as u64);
            word_const(i128::from(high), result)
        }
        IntAddOvf | IntAddNonnegOvf | IntSubOvf | IntMulOvf => {
            let r = eval_ovf(p, word(0)? as i64, word(1)? as i64)?;
            word_const(i128::from(r), result)
        }
        _ if is_conversion(p) => word_const(convert(word(0)?, args[0].ty(), result)?, result),
        ConvertFloatBytesToLonglong => word_const(i128::from(word(0)? as u64 as i64), result),
        ConvertLonglongBytesToFloat => word_const(i128::from(word(0)? as u64), result),
        Likely | Unlikely | SameAs => args.first().cloned(),
        PtrEq => Some(LLConst::Bool(same_pointer(args.first()?, args.get(1)?)?)),
        PtrNe => Some(LLConst::Bool(!same_pointer(args.first()?, args.get(1)?)?)),
        PtrNonzero => Some(LLConst::Bool(is_nonnull(args.first()?)?)),
        PtrIszero => Some(LLConst::Bool(!is_nonnull(args.first()?)?)),
        CastPointer | CastOpaquePtr => match args.first()? {
            LLConst::Null(_) => Some(LLConst::Null(result)),
            LLConst::Static(s, _) => Some(LLConst::Static(s.clone(), result)),
            _ => None,
        },
        _ => None,
    }
}

fn is_nonnull(c: &LLConst) -> Option<bool> {
    match c {
        LLConst::Null(_) => Some(false),
        LLConst::Func(_) | LLConst::Static(..) => Some(true),
        _ => None,
    }
}

/// Whether two pointer constants are equal. Distinct names of statics may stand for
/// one address only if they name the same object in another form, which never happens
/// among names of one kind.
fn same_pointer(a: &LLConst, b: &LLConst) -> Option<bool> {
    match (a, b) {
        (LLConst::Null(_), LLConst::Null(_)) => Some(true),
        (LLConst::Null(_), LLConst::Func(_) | LLConst::Static(..))
        | (LLConst::Func(_) | LLConst::Static(..), LLConst::Null(_)) => Some(false),
        (LLConst::Func(f), LLConst::Func(g)) => Some(f == g),
        (LLConst::Static(s, _), LLConst::Static(t, _)) if s == t => Some(true),
        (LLConst::Static(s, _), LLConst::Static(t, _)) => match (&**s, &**t) {
            // The first part of an object is where the object is.
            (StaticSym::Within(..), _) | (_, StaticSym::Within(..)) => None,
            (s, t) if discriminant(s) == discriminant(t) => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// The canonical word of a 64-bit register that holds a value of that type.
pub fn word_of_u64(bits: u64, ty: LLType) -> i128 {
    match ty.kind() {
        TypeKind::Int(k) if k.signed => i128::from(bits as i64),
        _ => i128::from(bits),
    }
}
