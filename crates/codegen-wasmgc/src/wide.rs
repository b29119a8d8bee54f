//! Long operations on integers of 128 bits, as functions. A number is two words, the lower one first.

use taipan_ootype::Lack;
use wasm_encoder::{BlockType, ValType};

use crate::code::Ins;
use crate::glue::Writer;
use crate::symbols::{Glue, WideOp};

/// 2 to the power of 64.
const WORD: f64 = 18_446_744_073_709_551_616.0;

/// The parameters and the results.
pub(crate) fn wide_type(op: WideOp) -> (Vec<ValType>, Vec<ValType>) {
    use ValType::{F64, I64};
    match op {
        WideOp::Div { .. } | WideOp::Rem { .. } => (vec![I64; 4], vec![I64; 2]),
        WideOp::ShiftLeft | WideOp::ShiftRight { .. } => (vec![I64; 3], vec![I64; 2]),
        WideOp::ToFloat { .. } => (vec![I64; 2], vec![F64]),
        WideOp::FromFloat => (vec![F64], vec![I64; 2]),
    }
}

impl Writer<'_> {
    /// The code of an operation.
    pub(crate) fn wide(&mut self, op: WideOp) -> Result<(), Lack> {
        match op {
            WideOp::Div { signed: false } => self.divide(true),
            WideOp::Rem { signed: false } => self.divide(false),
            WideOp::Div { signed: true } => self.divide_signed(op),
            WideOp::Rem { signed: true } => self.divide_signed(op),
            WideOp::ShiftLeft => self.shift(true, false),
            WideOp::ShiftRight { signed } => self.shift(false, signed),
            WideOp::ToFloat { signed } => self.float_of_wide(signed),
            WideOp::FromFloat => self.wide_of_float(),
        }
        Ok(())
    }

    /// Replaces the number in two locals by its opposite.
    fn negate(&mut self, (low, high): (u32, u32)) {
        self.add([
            Ins::I64Const(0),
            Ins::LocalGet(high),
            Ins::I64Sub,
            Ins::LocalGet(low),
            Ins::I64Const(0),
            Ins::I64Ne,
            Ins::I64ExtendI32U,
            Ins::I64Sub,
            Ins::LocalSet(high),
            Ins::I64Const(0),
            Ins::LocalGet(low),
            Ins::I64Sub,
            Ins::LocalSet(low),
        ]);
    }

    /// Where the number in two locals is negative: its opposite.
    fn make_positive(&mut self, pair: (u32, u32)) {
        self.add([
            Ins::LocalGet(pair.1),
            Ins::I64Const(0),
            Ins::I64LtS,
            Ins::If(BlockType::Empty),
        ]);
        self.negate(pair);
        self.add([Ins::End]);
    }

    /// Division that truncates: of the sizes. A quotient is negative if the signs differ, a remainder if the dividend is.
    fn divide_signed(&mut self, op: WideOp) {
        let sign = self.local(ValType::I64);
        let result = (self.local(ValType::I64), self.local(ValType::I64));
        self.add([Ins::LocalGet(1)]);
        let unsigned = match op {
            WideOp::Div { .. } => {
                self.add([Ins::LocalGet(3), Ins::I64Xor]);
                WideOp::Div { signed: false }
            }
            _ => WideOp::Rem { signed: false },
        };
        self.add([Ins::LocalSet(sign)]);
        self.make_positive((0, 1));
        self.make_positive((2, 3));
        self.add([
            Ins::LocalGet(0),
            Ins::LocalGet(1),
            Ins::LocalGet(2),
            Ins::LocalGet(3),
        ]);
        self.call_glue(Glue::Wide(unsigned));
        self.add([
            Ins::LocalSet(result.1),
            Ins::LocalSet(result.0),
            Ins::LocalGet(sign),
            Ins::I64Const(0),
            Ins::I64LtS,
            Ins::If(BlockType::Empty),
        ]);
        self.negate(result);
        self.add([Ins::End, Ins::LocalGet(result.0), Ins::LocalGet(result.1)]);
    }

    /// Division bit by bit, of numbers without sign: the remainder takes the dividend's bits from the top, and gives the
    /// divisor where it can. Where both are words, the host divides.
    fn divide(&mut self, quotient: bool) {
        let rest = (self.local(ValType::I64), self.local(ValType::I64));
        let [bits, carry] = [ValType::I64, ValType::I32].map(|t| self.local(t));
        self.add([
            Ins::LocalGet(1),
            Ins::LocalGet(3),
            Ins::I64Or,
            Ins::I64Eqz,
            Ins::If(BlockType::Empty),
            Ins::LocalGet(0),
            Ins::LocalGet(2),
            if quotient { Ins::I64DivU } else { Ins::I64RemU },
            Ins::I64Const(0),
            Ins::Return,
            Ins::End,
            Ins::LocalGet(2),
            Ins::LocalGet(3),
            Ins::I64Or,
            Ins::I64Eqz,
            Ins::If(BlockType::Empty),
            Ins::Unreachable,
            Ins::End,
            Ins::I64Const(128),
            Ins::LocalSet(bits),
            Ins::Loop(BlockType::Empty),
            // The bit that leaves the remainder at the top: then it is more than the divisor.
            Ins::LocalGet(rest.1),
            Ins::I64Const(63),
            Ins::I64ShrU,
            Ins::I32WrapI64,
            Ins::LocalSet(carry),
        ]);
        // rest:dividend, shifted left by one place.
        for (word, below) in [(rest.1, rest.0), (rest.0, 1), (1, 0)] {
            self.add([
                Ins::LocalGet(word),
                Ins::I64Const(1),
                Ins::I64Shl,
                Ins::LocalGet(below),
                Ins::I64Const(63),
                Ins::I64ShrU,
                Ins::I64Or,
                Ins::LocalSet(word),
            ]);
        }
        self.add([
            Ins::LocalGet(0),
            Ins::I64Const(1),
            Ins::I64Shl,
            Ins::LocalSet(0),
            // rest >= divisor
            Ins::LocalGet(carry),
            Ins::LocalGet(rest.0),
            Ins::LocalGet(2),
            Ins::I64GeU,
            Ins::LocalGet(rest.1),
            Ins::LocalGet(3),
            Ins::I64GtU,
            Ins::LocalGet(rest.1),
            Ins::LocalGet(3),
            Ins::I64Eq,
            Ins::Select,
            Ins::I32Or,
            Ins::If(BlockType::Empty),
            Ins::LocalGet(rest.1),
            Ins::LocalGet(3),
            Ins::I64Sub,
            Ins::LocalGet(rest.0),
            Ins::LocalGet(2),
            Ins::I64LtU,
            Ins::I64ExtendI32U,
            Ins::I64Sub,
            Ins::LocalSet(rest.1),
            Ins::LocalGet(rest.0),
            Ins::LocalGet(2),
            Ins::I64Sub,
            Ins::LocalSet(rest.0),
            Ins::LocalGet(0),
            Ins::I64Const(1),
            Ins::I64Or,
            Ins::LocalSet(0),
            Ins::End,
            Ins::LocalGet(bits),
            Ins::I64Const(1),
            Ins::I64Sub,
            Ins::LocalTee(bits),
            Ins::I64Const(0),
            Ins::I64Ne,
            Ins::BrIf(0),
            Ins::End,
        ]);
        match quotient {
            true => self.add([Ins::LocalGet(0), Ins::LocalGet(1)]),
            false => self.add([Ins::LocalGet(rest.0), Ins::LocalGet(rest.1)]),
        }
    }

    /// By any count: one out of range shifts everything out.
    fn shift(&mut self, left: bool, signed: bool) {
        let right = if signed { Ins::I64ShrS } else { Ins::I64ShrU };
        let gone = |w: &mut Self| match signed {
            true => w.add([Ins::LocalGet(1), Ins::I64Const(63), Ins::I64ShrS]),
            false => w.add([Ins::I64Const(0)]),
        };
        self.add([
            Ins::LocalGet(2),
            Ins::I64Const(128),
            Ins::I64GeU,
            Ins::If(BlockType::Empty),
        ]);
        gone(self);
        gone(self);
        self.add([
            Ins::Return,
            Ins::End,
            Ins::LocalGet(2),
            Ins::I64Const(64),
            Ins::I64GeU,
            Ins::If(BlockType::Empty),
        ]);
        // WebAssembly takes counts modulo 64.
        match left {
            true => self.add([
                Ins::I64Const(0),
                Ins::LocalGet(0),
                Ins::LocalGet(2),
                Ins::I64Shl,
            ]),
            false => {
                self.add([Ins::LocalGet(1), Ins::LocalGet(2), right.clone()]);
                gone(self);
            }
        }
        self.add([
            Ins::Return,
            Ins::End,
            Ins::LocalGet(2),
            Ins::I64Eqz,
            Ins::If(BlockType::Empty),
            Ins::LocalGet(0),
            Ins::LocalGet(1),
            Ins::Return,
            Ins::End,
        ]);
        let (inner, outer, (first, second)) = match left {
            true => (Ins::I64Shl, Ins::I64ShrU, (0, 1)),
            false => (Ins::I64ShrU, Ins::I64Shl, (1, 0)),
        };
        let across = [
            Ins::LocalGet(second),
            Ins::LocalGet(2),
            inner,
            Ins::LocalGet(first),
            Ins::I64Const(64),
            Ins::LocalGet(2),
            Ins::I64Sub,
            outer,
            Ins::I64Or,
        ];
        match left {
            true => {
                self.add([Ins::LocalGet(0), Ins::LocalGet(2), Ins::I64Shl]);
                self.add(across);
            }
            false => {
                self.add(across);
                self.add([Ins::LocalGet(1), Ins::LocalGet(2), right]);
            }
        }
    }

    /// Rounded once: the number is brought to 64 bits first, of which the last one says whether any behind it were set.
    fn float_of_wide(&mut self, signed: bool) {
        let [sign, places, kept] = [(); 3].map(|()| self.local(ValType::I64));
        let result = self.local(ValType::F64);
        if signed {
            self.add([Ins::LocalGet(1), Ins::LocalSet(sign)]);
            self.make_positive((0, 1));
        }
        self.add([
            Ins::LocalGet(1),
            Ins::I64Eqz,
            Ins::If(BlockType::Empty),
            Ins::LocalGet(0),
            Ins::F64ConvertI64U,
            Ins::LocalSet(result),
            Ins::Else,
            // 64 - leading zeroes of the upper word, 1 to 64.
            Ins::I64Const(64),
            Ins::LocalGet(1),
            Ins::I64Clz,
            Ins::I64Sub,
            Ins::LocalTee(places),
            Ins::I64Const(64),
            Ins::I64Eq,
            Ins::If(BlockType::Result(ValType::I64)),
            Ins::LocalGet(1),
            Ins::LocalGet(0),
            Ins::I64Const(0),
            Ins::I64Ne,
            Ins::I64ExtendI32U,
            Ins::I64Or,
            Ins::Else,
            Ins::LocalGet(1),
            Ins::I64Const(64),
            Ins::LocalGet(places),
            Ins::I64Sub,
            Ins::I64Shl,
            Ins::LocalGet(0),
            Ins::LocalGet(places),
            Ins::I64ShrU,
            Ins::I64Or,
            Ins::LocalGet(0),
            Ins::I64Const(64),
            Ins::LocalGet(places),
            Ins::I64Sub,
            Ins::I64Shl,
            Ins::I64Const(0),
            Ins::I64Ne,
            Ins::I64ExtendI32U,
            Ins::I64Or,
            Ins::End,
            Ins::LocalSet(kept),
            // Times 2 to the power of places, by its bits.
            Ins::LocalGet(kept),
            Ins::F64ConvertI64U,
            Ins::LocalGet(places),
            Ins::I64Const(1023),
            Ins::I64Add,
            Ins::I64Const(52),
            Ins::I64Shl,
            Ins::F64ReinterpretI64,
            Ins::F64Mul,
            Ins::LocalSet(result),
            Ins::End,
        ]);
        self.add([
            Ins::LocalGet(result),
            Ins::F64Neg,
            Ins::LocalGet(result),
            Ins::LocalGet(sign),
            Ins::I64Const(0),
            Ins::I64LtS,
            Ins::Select,
        ]);
    }

    /// Truncated towards zero.
    fn wide_of_float(&mut self) {
        let size = self.local(ValType::F64);
        let pair = (self.local(ValType::I64), self.local(ValType::I64));
        self.add([
            Ins::LocalGet(0),
            Ins::F64Abs,
            Ins::F64Trunc,
            Ins::LocalTee(size),
            Ins::F64Const((1.0 / WORD).into()),
            Ins::F64Mul,
            Ins::I64TruncSatF64U,
            Ins::LocalTee(pair.1),
            Ins::Drop,
            // The rest of the upper word: both products are exact.
            Ins::LocalGet(size),
            Ins::LocalGet(pair.1),
            Ins::F64ConvertI64U,
            Ins::F64Const(WORD.into()),
            Ins::F64Mul,
            Ins::F64Sub,
            Ins::I64TruncSatF64U,
            Ins::LocalSet(pair.0),
            Ins::LocalGet(0),
            Ins::F64Const(0.0.into()),
            Ins::F64Lt,
            Ins::If(BlockType::Empty),
        ]);
        self.negate(pair);
        self.add([Ins::End, Ins::LocalGet(pair.0), Ins::LocalGet(pair.1)]);
    }
}
