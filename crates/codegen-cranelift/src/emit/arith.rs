//! Shifts by any count, and arithmetic that may overflow.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I64, I128};
use cranelift_codegen::ir::{InstBuilder, Value};
use taipan_codegen::machine::{Bad, Binary, Instructions, Operands};
use taipan_lltype::{LLConst, LLOperand, NumOp};

use super::Emitter;
use super::types::machine_type_of;

impl Emitter<'_, '_> {
    /// A shift. The machine's takes counts of any width modulo the width of the other operand.
    pub(super) fn shifted(
        &mut self,
        op: Binary,
        a: Value,
        count: Value,
        known: Option<i128>,
    ) -> Value {
        let ty = self.b.func.dfg.value_type(a);
        match known {
            Some(n) if n >= 64 && ty == I128 && op != Binary::Shl => {
                return self.upper_word(op == Binary::AShr, a, n as i64 - 64);
            }
            Some(_) => return self.binary(op, &a, &count),
            None => {}
        }
        let count_type = self.b.func.dfg.value_type(count);
        let most = self.word_constant(count_type, i64::from(ty.bits()) - 1);
        let good = (self.b.ins()).icmp(IntCC::UnsignedLessThanOrEqual, count, most);
        if op == Binary::AShr {
            let count = self.b.ins().select(good, count, most);
            return self.b.ins().sshr(a, count);
        }
        let shifted = self.binary(op, &a, &count);
        let zero = self.zero(machine_type_of(ty));
        self.b.ins().select(good, shifted, zero)
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
        let zero = self.word_constant(I64, 0);
        self.b.ins().iconcat(low, zero)
    }

    /// A result, and whether it has overflowed. `right` is not negative if `grows`.
    pub(super) fn overflowing_result(
        &mut self,
        num: NumOp,
        left: &LLOperand,
        right: &LLOperand,
        grows: bool,
    ) -> Result<(Value, Value), Bad> {
        let (a, b) = (self.value(left)?, self.value(right)?);
        Ok(match (num, constant(left), constant(right)) {
            _ if grows => self.overflowing_by(a, b, true),
            (NumOp::Add, _, Some(n)) => self.overflowing_by(a, b, n > 0),
            (NumOp::Add, Some(n), _) => self.overflowing_by(b, a, n > 0),
            // The opposite of the least number is none.
            (NumOp::Sub, _, Some(n)) if n != i64::MIN.into() => {
                let minus = self.word_constant(I64, -n as i64);
                self.overflowing_by(a, minus, n < 0)
            }
            _ if self.machine.overflow_operations => self.overflowing_by_flag(num, a, b),
            _ => self.overflowing_by_hand(num, a, b),
        })
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

    fn overflowing_by_flag(&mut self, num: NumOp, a: Value, b: Value) -> (Value, Value) {
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
        let zero = self.word_constant(I64, 0);
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
