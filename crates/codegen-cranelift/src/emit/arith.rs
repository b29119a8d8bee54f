//! Arithmetic and comparison. What the operations mean is defined by
//! `taipan_lltype::eval_num`; where C leaves a result undefined, the machine decides,
//! except that nothing traps.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F64, I8, I32, I64, I128};
use cranelift_codegen::ir::{InstBuilder, Type, Value};
use taipan_codegen::runtime;
use taipan_lltype::{LLConst, LLOperand, LLType, NumFamily, NumOp, const_word};

use super::types::{clif_type, is_signed};
use super::{Bad, Emitter};

/// The machine type that a family computes in.
fn family_type(family: NumFamily) -> Type {
    match family {
        NumFamily::Int | NumFamily::Uint => I64,
        NumFamily::Lllong | NumFamily::Ulllong => I128,
        NumFamily::Float => F64,
        NumFamily::Char => I8,
        NumFamily::Unichar => I32,
    }
}

impl Emitter<'_, '_> {
    pub(super) fn num(
        &mut self,
        family: NumFamily,
        num: NumOp,
        left: &LLOperand,
        right: Option<&LLOperand>,
        result: LLType,
    ) -> Result<Value, Bad> {
        let ty = family_type(family);
        if family == NumFamily::Float {
            let a = self.value(left)?;
            let b = match right {
                Some(b) => self.value(b)?,
                None => a,
            };
            return self.float_num(num, a, b);
        }
        let a = self.widened(left, ty)?;
        let shift = matches!(num, NumOp::LShift | NumOp::RShift);
        let b = match right {
            // Cranelift takes shift counts of any width.
            Some(b) if shift => self.value(b)?,
            Some(b) => self.widened(b, ty)?,
            None => a,
        };
        let signed = matches!(family, NumFamily::Int | NumFamily::Lllong);
        let in_range = match right {
            Some(LLOperand::Const(c)) => {
                const_word(c).is_some_and(|n| (0..i128::from(ty.bits())).contains(&n))
            }
            _ => false,
        };
        let upper = match right {
            Some(LLOperand::Const(c)) if in_range && ty == I128 && num == NumOp::RShift => {
                const_word(c).filter(|n| *n >= 64)
            }
            _ => None,
        };
        let value = if let Some(n) = upper {
            self.upper_word(signed, a, n as i64 - 64)
        } else if shift && !in_range {
            self.any_shift(num, ty, signed, a, b)
        } else {
            self.int_num(num, ty, signed, a, b)?
        };
        Ok(match clif_type(result) {
            Some(to) if to.is_int() && self.b.func.dfg.value_type(value).bits() > to.bits() => {
                self.b.ins().ireduce(to, value)
            }
            _ => value,
        })
    }

    /// The upper word of a 128-bit integer, shifted to the right, as such an integer.
    fn upper_word(&mut self, signed: bool, value: Value, by: i64) -> Value {
        let (_, high) = self.b.ins().isplit(value);
        if signed {
            let low = self.b.ins().sshr_imm_s(high, by);
            let sign = self.b.ins().sshr_imm_s(high, 63);
            return self.b.ins().iconcat(low, sign);
        }
        let low = self.b.ins().ushr_imm_u(high, by);
        let zero = self.int(I64, 0);
        self.b.ins().iconcat(low, zero)
    }

    /// An integer operand in a machine type at least as wide as its own.
    fn widened(&mut self, o: &LLOperand, ty: Type) -> Result<Value, Bad> {
        let v = self.value(o)?;
        let from = self.b.func.dfg.value_type(v);
        if !from.is_int() || from.bits() >= ty.bits() {
            return Ok(v);
        }
        Ok(match is_signed(self.ty(o)) {
            true => self.b.ins().sextend(ty, v),
            false => self.b.ins().uextend(ty, v),
        })
    }

    fn int_num(
        &mut self,
        num: NumOp,
        ty: Type,
        signed: bool,
        a: Value,
        b: Value,
    ) -> Result<Value, Bad> {
        use NumOp::*;
        let cc = |s, u| if signed { s } else { u };
        let cc = match num {
            Lt => Some(cc(IntCC::SignedLessThan, IntCC::UnsignedLessThan)),
            Le => Some(cc(
                IntCC::SignedLessThanOrEqual,
                IntCC::UnsignedLessThanOrEqual,
            )),
            Gt => Some(cc(IntCC::SignedGreaterThan, IntCC::UnsignedGreaterThan)),
            Ge => Some(cc(
                IntCC::SignedGreaterThanOrEqual,
                IntCC::UnsignedGreaterThanOrEqual,
            )),
            Eq => Some(IntCC::Equal),
            Ne => Some(IntCC::NotEqual),
            _ => None,
        };
        if let Some(cc) = cc {
            return Ok(self.b.ins().icmp(cc, a, b));
        }
        let zero = match num {
            IsTrue | Abs => Some(self.zero(ty)),
            _ => None,
        };
        let ins = self.b.ins();
        Ok(match (num, zero) {
            (IsTrue, Some(zero)) => ins.icmp(IntCC::NotEqual, a, zero),
            (Abs, Some(zero)) if signed => {
                let negative = ins.icmp(IntCC::SignedLessThan, a, zero);
                let minus = self.b.ins().ineg(a);
                self.b.ins().select(negative, minus, a)
            }
            (Abs, _) => a,
            (Neg, _) => ins.ineg(a),
            (Invert, _) => ins.bnot(a),
            (Add, _) => ins.iadd(a, b),
            (Sub, _) => ins.isub(a, b),
            (Mul, _) => ins.imul(a, b),
            (And, _) => ins.band(a, b),
            (Or, _) => ins.bor(a, b),
            (Xor, _) => ins.bxor(a, b),
            (LShift, _) => ins.ishl(a, b),
            (RShift, _) if signed => ins.sshr(a, b),
            (RShift, _) => ins.ushr(a, b),
            (FloorDiv | Mod, _) => self.division(num, ty, signed, a, b)?,
            _ => return Err("no such operation on integers".into()),
        })
    }

    /// A shift by any count, where the machine's takes counts modulo the width: one that
    /// is out of range shifts everything out.
    fn any_shift(&mut self, num: NumOp, ty: Type, signed: bool, a: Value, b: Value) -> Value {
        let most = self.int(self.b.func.dfg.value_type(b), i64::from(ty.bits()) - 1);
        let good = (self.b.ins()).icmp(IntCC::UnsignedLessThanOrEqual, b, most);
        if num == NumOp::RShift && signed {
            let count = self.b.ins().select(good, b, most);
            return self.b.ins().sshr(a, count);
        }
        let shifted = if num == NumOp::LShift {
            self.b.ins().ishl(a, b)
        } else {
            self.b.ins().ushr(a, b)
        };
        let zero = self.zero(ty);
        self.b.ins().select(good, shifted, zero)
    }

    /// Division that truncates. The divisor is not zero, by the checks around it; the
    /// one overflow wraps instead of trapping.
    fn division(
        &mut self,
        num: NumOp,
        ty: Type,
        signed: bool,
        a: Value,
        b: Value,
    ) -> Result<Value, Bad> {
        let div = num == NumOp::FloorDiv;
        if ty == I128 {
            let f = runtime::division_of_128(div, signed);
            let result = self.call_runtime(f, &[a, b]);
            return result.ok_or_else(|| "no result".into());
        }
        if !signed {
            return Ok(match div {
                true => self.b.ins().udiv(a, b),
                false => self.b.ins().urem(a, b),
            });
        }
        let constant =
            self.b
                .func
                .dfg
                .value_def(b)
                .inst()
                .and_then(|i| match self.b.func.dfg.insts[i] {
                    cranelift_codegen::ir::InstructionData::UnaryImm { imm, .. } => {
                        Some(imm.bits())
                    }
                    _ => None,
                });
        if constant.is_some_and(|c| c != 0 && c != -1) {
            return Ok(match div {
                true => self.b.ins().sdiv(a, b),
                false => self.b.ins().srem(a, b),
            });
        }
        let minus_one = self.int(ty, -1);
        let is_minus_one = self.b.ins().icmp(IntCC::Equal, b, minus_one);
        let one = self.int(ty, 1);
        let safe = self.b.ins().select(is_minus_one, one, b);
        if div {
            let quotient = self.b.ins().sdiv(a, safe);
            let negated = self.b.ins().ineg(a);
            Ok(self.b.ins().select(is_minus_one, negated, quotient))
        } else {
            Ok(self.b.ins().srem(a, safe))
        }
    }

    fn float_num(&mut self, num: NumOp, a: Value, b: Value) -> Result<Value, Bad> {
        use NumOp::*;
        let ins = self.b.ins();
        Ok(match num {
            Neg => ins.fneg(a),
            Abs => ins.fabs(a),
            Add => ins.fadd(a, b),
            Sub => ins.fsub(a, b),
            Mul => ins.fmul(a, b),
            TrueDiv => ins.fdiv(a, b),
            Lt => ins.fcmp(FloatCC::LessThan, a, b),
            Le => ins.fcmp(FloatCC::LessThanOrEqual, a, b),
            Gt => ins.fcmp(FloatCC::GreaterThan, a, b),
            Ge => ins.fcmp(FloatCC::GreaterThanOrEqual, a, b),
            Eq => ins.fcmp(FloatCC::Equal, a, b),
            Ne => ins.fcmp(FloatCC::NotEqual, a, b),
            IsTrue => {
                let zero = ins.f64const(0.0);
                self.b.ins().fcmp(FloatCC::NotEqual, a, zero)
            }
            _ => return Err("no such operation on floats".into()),
        })
    }

    /// `low <= value < high`
    pub(super) fn int_between(
        &mut self,
        low: &LLOperand,
        value: &LLOperand,
        high: &LLOperand,
    ) -> Result<Value, Bad> {
        let a = self.value(low)?;
        let (b, c) = (self.value(value)?, self.value(high)?);
        if constant(low) == Some(0) && constant(high).is_some_and(|n| n >= 0) {
            return Ok(self.b.ins().icmp(IntCC::UnsignedLessThan, b, c));
        }
        let low = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, a, b);
        let high = self.b.ins().icmp(IntCC::SignedLessThan, b, c);
        Ok(self.b.ins().band(low, high))
    }

    /// The result of arithmetic that may overflow; it ends its block, whose exits depend on that.
    pub(super) fn with_overflow(
        &mut self,
        num: NumOp,
        left: &LLOperand,
        right: &LLOperand,
    ) -> Result<Value, Bad> {
        let (a, b) = (self.value(left)?, self.value(right)?);
        let (result, overflow) = match (num, constant(left), constant(right)) {
            (NumOp::Add, _, Some(n)) => self.overflowing_by(a, b, n > 0),
            (NumOp::Add, Some(n), _) => self.overflowing_by(b, a, n > 0),
            // The opposite of the least number is none.
            (NumOp::Sub, _, Some(n)) if n != i64::MIN.into() => {
                let minus = self.int(I64, -n as i64);
                self.overflowing_by(a, minus, n < 0)
            }
            _ if self.machine.overflow_operations => self.overflowing(num, a, b),
            _ => self.overflowing_by_hand(num, a, b),
        };
        self.overflow = Some(overflow);
        Ok(result)
    }

    /// The sum of a number and one that is not negative.
    pub(super) fn growing(&mut self, a: Value, by: Value) -> Value {
        let (result, overflow) = self.overflowing_by(a, by, true);
        self.overflow = Some(overflow);
        result
    }

    /// The sum with a number whose sign is known. Where it has overflowed it is on the wrong side of the other
    /// number: a comparison and a jump, while Cranelift makes a number of the machine's flag
    /// before it tests that.
    fn overflowing_by(&mut self, a: Value, by: Value, grows: bool) -> (Value, Value) {
        let wrong = match grows {
            true => IntCC::SignedLessThan,
            false => IntCC::SignedGreaterThan,
        };
        let sum = self.b.ins().iadd(a, by);
        (sum, self.b.ins().icmp(wrong, sum, a))
    }

    fn overflowing(&mut self, num: NumOp, a: Value, b: Value) -> (Value, Value) {
        match num {
            NumOp::Add => self.b.ins().sadd_overflow(a, b),
            NumOp::Sub => self.b.ins().ssub_overflow(a, b),
            _ => self.b.ins().smul_overflow(a, b),
        }
    }

    fn overflowing_by_hand(&mut self, num: NumOp, a: Value, b: Value) -> (Value, Value) {
        let (result, signs) = match num {
            // The operands have the same sign, and the result has another one.
            NumOp::Add => {
                let sum = self.b.ins().iadd(a, b);
                (sum, [(a, sum), (b, sum)])
            }
            // They have different signs, and the result has another one than the first.
            NumOp::Sub => {
                let difference = self.b.ins().isub(a, b);
                (difference, [(a, b), (a, difference)])
            }
            _ => {
                let product = self.b.ins().imul(a, b);
                let high = self.b.ins().smulhi(a, b);
                let sign = self.b.ins().sshr_imm_u(product, 63);
                let overflow = self.b.ins().icmp(IntCC::NotEqual, high, sign);
                return (product, overflow);
            }
        };
        let [first, second] = signs.map(|(a, b)| self.b.ins().bxor(a, b));
        let both = self.b.ins().band(first, second);
        let zero = self.int(I64, 0);
        let overflow = self.b.ins().icmp(IntCC::SignedLessThan, both, zero);
        (result, overflow)
    }
}

/// The value of an operand that is a constant integer.
fn constant(operand: &LLOperand) -> Option<i128> {
    match operand.as_const() {
        Some(LLConst::Int(_, v)) => Some(v.get()),
        _ => None,
    }
}
