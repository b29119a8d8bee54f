//! Arithmetic and comparison.

use taipan_graph::VarId;
use taipan_lltype::{LLConst, LLOperand, LLType, NumFamily, NumOp, const_word};

use super::super::{
    Arithmetic, Bad, Binary, Cond, Instructions, Ty, Unary, family_type, is_signed, machine_type,
};
use super::convert;
use crate::runtime;

impl<M: Instructions> Arithmetic for M {
    fn num(
        &mut self,
        family: NumFamily,
        num: NumOp,
        left: &LLOperand,
        right: Option<&LLOperand>,
        to: LLType,
    ) -> Result<Self::Value, Bad> {
        let ty = family_type(family);
        if family == NumFamily::Float {
            let a = self.value(left)?;
            let b = match right {
                Some(b) => self.value(b)?,
                None => a.clone(),
            };
            return float_num(self, num, &a, &b);
        }
        let a = widened(self, left, ty)?;
        let signed = matches!(family, NumFamily::Int | NumFamily::Lllong);
        let value = match (right, shift(num, signed)) {
            (Some(b), Some(op)) => {
                let bits = i128::from(ty.int_bits().unwrap_or(64));
                let known = b.as_const().and_then(const_word);
                let count = self.word(b)?;
                self.shift(op, &a, &count, known.filter(|n| (0..bits).contains(n)))
            }
            (Some(b), None) => {
                let b = widened(self, b, ty)?;
                int_num(self, num, ty, signed, &a, &b)?
            }
            (None, _) => int_num(self, num, ty, signed, &a, &a)?,
        };
        let bits = |ty: Option<Ty>| ty.and_then(Ty::int_bits);
        let (from, wanted) = (bits(Some(self.type_of(&value))), bits(machine_type(to)));
        Ok(match machine_type(to) {
            Some(to) if wanted.is_some() && from > wanted => self.resize(&value, to, signed),
            _ => value,
        })
    }

    fn bool_not(&mut self, a: &Self::Value) -> Self::Value {
        let bit = self.bit(a);
        let other = self.not(&bit);
        self.boolean(other)
    }

    fn int_between(
        &mut self,
        low: &LLOperand,
        value: &LLOperand,
        high: &LLOperand,
    ) -> Result<Self::Value, Bad> {
        let a = self.word(low)?;
        let (b, c) = (self.word(value)?, self.word(high)?);
        if constant(low) == Some(0) && constant(high).is_some_and(|n| n >= 0) {
            let bit = self.compare(Cond::Lt, false, &b, &c);
            return Ok(self.boolean(bit));
        }
        let low = self.compare(Cond::Le, true, &a, &b);
        let high = self.compare(Cond::Lt, true, &b, &c);
        let both = self.both(&low, &high);
        Ok(self.boolean(both))
    }

    fn at_least_zero(&mut self, a: &Self::Value) -> Self::Value {
        super::with_constant(self, Binary::SMax, a, 0)
    }

    fn uint_mul_high(&mut self, a: &Self::Value, b: &Self::Value) -> Self::Value {
        self.binary(Binary::UMulHigh, a, b)
    }

    fn overflowing(
        &mut self,
        num: NumOp,
        left: &LLOperand,
        right: &LLOperand,
        grows: bool,
        _result: VarId,
    ) -> Result<Self::Value, Bad> {
        self.with_overflow(num, left, right, grows)
    }

    fn convert(&mut self, value: &LLOperand, to: LLType) -> Result<Self::Value, Bad> {
        let from = self.ty(value);
        let v = self.value(value)?;
        convert::converted(self, &v, from, to)
    }

    fn with_bits(&mut self, value: &LLOperand, to: LLType) -> Result<Self::Value, Bad> {
        let v = self.value(value)?;
        Ok(self.bitcast(&v, machine_type(to).unwrap_or(Ty::I64)))
    }

    fn cast(&mut self, value: &LLOperand, _to: LLType) -> Result<Option<Self::Value>, Bad> {
        self.maybe(value)
    }

    fn expected(&mut self, value: &LLOperand, _expected: bool) -> Result<Self::Value, Bad> {
        self.value(value)
    }

    fn compare_addresses(
        &mut self,
        cond: Cond,
        left: &LLOperand,
        right: &LLOperand,
    ) -> Result<Self::Value, Bad> {
        let (a, b) = (self.pointer(left)?, self.pointer(right)?);
        let bit = self.compare(cond, false, &a, &b);
        Ok(self.boolean(bit))
    }

    fn compare_to_null(&mut self, cond: Cond, pointer: &LLOperand) -> Result<Self::Value, Bad> {
        let a = self.pointer(pointer)?;
        let null = self.null();
        let bit = self.compare(cond, false, &a, &null);
        Ok(self.boolean(bit))
    }

    fn add_to_address(&mut self, address: &Self::Value, offset: &Self::Value) -> Self::Value {
        self.advance(address, offset)
    }

    fn subtract_from_address(
        &mut self,
        left: &Self::Value,
        right: &Self::Value,
        _to: LLType,
    ) -> Result<Self::Value, Bad> {
        Ok(self.binary(Binary::Sub, left, right))
    }
}

/// An integer operand in a type at least as wide as its own.
fn widened<M: Instructions>(m: &mut M, o: &LLOperand, ty: Ty) -> Result<M::Value, Bad> {
    let v = m.word(o)?;
    let signed = is_signed(m.ty(o));
    Ok(match m.type_of(&v).int_bits() {
        Some(from) if Some(from) < ty.int_bits() => m.resize(&v, ty, signed),
        _ => v,
    })
}

/// The instruction of a shift.
fn shift(num: NumOp, signed: bool) -> Option<Binary> {
    match num {
        NumOp::LShift => Some(Binary::Shl),
        NumOp::RShift if signed => Some(Binary::AShr),
        NumOp::RShift => Some(Binary::LShr),
        _ => None,
    }
}

/// The comparison of two operands that an operation is.
fn comparison(num: NumOp) -> Option<Cond> {
    Some(match num {
        NumOp::Lt => Cond::Lt,
        NumOp::Le => Cond::Le,
        NumOp::Gt => Cond::Gt,
        NumOp::Ge => Cond::Ge,
        NumOp::Eq => Cond::Eq,
        NumOp::Ne => Cond::Ne,
        _ => return None,
    })
}

fn int_num<M: Instructions>(
    m: &mut M,
    num: NumOp,
    ty: Ty,
    signed: bool,
    a: &M::Value,
    b: &M::Value,
) -> Result<M::Value, Bad> {
    use NumOp::*;
    if let Some(cond) = comparison(num) {
        let bit = m.compare(cond, signed, a, b);
        return Ok(m.boolean(bit));
    }
    Ok(match num {
        IsTrue => {
            let zero = m.zero(ty);
            let bit = m.compare(Cond::Ne, false, a, &zero);
            m.boolean(bit)
        }
        Abs if signed => {
            let zero = m.zero(ty);
            let negative = m.compare(Cond::Lt, true, a, &zero);
            let minus = m.unary(Unary::Neg, a);
            m.select(&negative, &minus, a)
        }
        Abs => a.clone(),
        Neg => m.unary(Unary::Neg, a),
        Invert => m.unary(Unary::Not, a),
        Add => m.binary(Binary::Add, a, b),
        Sub => m.binary(Binary::Sub, a, b),
        Mul => m.binary(Binary::Mul, a, b),
        And => m.binary(Binary::And, a, b),
        Or => m.binary(Binary::Or, a, b),
        Xor => m.binary(Binary::Xor, a, b),
        FloorDiv => division(m, true, ty, signed, a, b)?,
        Mod => division(m, false, ty, signed, a, b)?,
        _ => return Err("no such operation on integers".into()),
    })
}

/// Division that truncates: the quotient or the remainder. The divisor is not zero, by the checks around it; the one
/// overflow wraps.
fn division<M: Instructions>(
    m: &mut M,
    quotient: bool,
    ty: Ty,
    signed: bool,
    a: &M::Value,
    b: &M::Value,
) -> Result<M::Value, Bad> {
    if ty == Ty::I128 {
        let f = runtime::division_of_128(quotient, signed);
        let result = m.call_runtime(f, &[a.clone(), b.clone()]);
        return result.ok_or_else(|| "no result".into());
    }
    let op = match (quotient, signed) {
        (true, true) => Binary::SDiv,
        (true, false) => Binary::UDiv,
        (false, true) => Binary::SRem,
        (false, false) => Binary::URem,
    };
    let known = m.known(b);
    if known == Some(0)
        && let Some(any) = m.divided_by_zero(ty)
    {
        return Ok(any);
    }
    if !signed || known.is_some_and(|n| n != 0 && n != -1) {
        return Ok(m.binary(op, a, b));
    }
    let minus_one = m.int(ty, -1);
    let is_minus_one = m.compare(Cond::Eq, false, b, &minus_one);
    let one = m.int(ty, 1);
    let safe = m.select(&is_minus_one, &one, b);
    let result = m.binary(op, a, &safe);
    if !quotient {
        return Ok(result);
    }
    let negated = m.unary(Unary::Neg, a);
    Ok(m.select(&is_minus_one, &negated, &result))
}

fn float_num<M: Instructions>(
    m: &mut M,
    num: NumOp,
    a: &M::Value,
    b: &M::Value,
) -> Result<M::Value, Bad> {
    use NumOp::*;
    if let Some(cond) = comparison(num) {
        let bit = m.compare_floats(cond, a, b);
        return Ok(m.boolean(bit));
    }
    Ok(match num {
        Neg => m.unary(Unary::FNeg, a),
        Abs => m.unary(Unary::FAbs, a),
        Add => m.binary(Binary::FAdd, a, b),
        Sub => m.binary(Binary::FSub, a, b),
        Mul => m.binary(Binary::FMul, a, b),
        TrueDiv => m.binary(Binary::FDiv, a, b),
        IsTrue => {
            let zero = m.zero(Ty::F64);
            let bit = m.compare_floats(Cond::Ne, a, &zero);
            m.boolean(bit)
        }
        _ => return Err("no such operation on floats".into()),
    })
}

/// The value of an operand that is a constant integer.
fn constant(operand: &LLOperand) -> Option<i128> {
    match operand.as_const() {
        Some(LLConst::Int(_, v)) => Some(v.get()),
        _ => None,
    }
}
