//! Integers of 128 bits: two words, the lower one first. Long operations are functions.

use taipan_graph::IntKind;
use taipan_lltype::{NumFamily, NumOp};
use taipan_ootype::{Lack, OOOperand, OOType};
use wasm_encoder::ValType;

use super::Emitter;
use super::arith::known;
use crate::code::Ins;
use crate::symbols::{Glue, WideOp};

/// The locals of a number: the lower and the upper word.
type Pair = (u32, u32);

/// Whether a type has 128 bits.
pub(crate) fn is_wide(ty: OOType) -> bool {
    matches!(ty, OOType::Int(IntKind { bits: 128, .. }))
}

impl Emitter<'_> {
    fn pair(&mut self) -> Pair {
        let low = self.temporary(ValType::I64);
        (low, self.temporary(ValType::I64))
    }

    fn kept_pair(&mut self, o: &OOOperand) -> Result<Pair, Lack> {
        if let Some(low) = self.local_of(o) {
            return Ok((low, low + 1));
        }
        self.push(o)?;
        let pair = self.pair();
        self.out
            .extend([Ins::LocalSet(pair.1), Ins::LocalSet(pair.0)]);
        Ok(pair)
    }

    /// Arithmetic and comparison.
    pub(super) fn wide(
        &mut self,
        family: NumFamily,
        num: NumOp,
        args: &[OOOperand],
    ) -> Result<(), Lack> {
        let signed = family == NumFamily::Lllong;
        let a = self.kept_pair(&args[0])?;
        if matches!(num, NumOp::LShift | NumOp::RShift) {
            return self.wide_shift(signed, num, a, &args[1]);
        }
        let b = match args.get(1) {
            Some(b) => self.kept_pair(b)?,
            None => a,
        };
        match num {
            NumOp::Add => self.wide_sum(a, b),
            NumOp::Sub => self.wide_difference(a, b),
            NumOp::Neg => {
                let zero = self.pair();
                self.set_pair(zero, 0);
                self.wide_difference(zero, a);
            }
            NumOp::Invert => {
                for word in [a.0, a.1] {
                    self.out
                        .extend([Ins::LocalGet(word), Ins::I64Const(-1), Ins::I64Xor]);
                }
            }
            NumOp::Abs if signed => self.wide_absolute(a),
            NumOp::Abs => self.get_pair(a),
            NumOp::Mul => self.wide_product(a, b),
            NumOp::And => self.word_by_word(a, b, &Ins::I64And),
            NumOp::Or => self.word_by_word(a, b, &Ins::I64Or),
            NumOp::Xor => self.word_by_word(a, b, &Ins::I64Xor),
            NumOp::FloorDiv => self.wide_glue(WideOp::Div { signed }, a, b),
            NumOp::Mod => self.wide_glue(WideOp::Rem { signed }, a, b),
            NumOp::IsTrue => {
                self.out.extend([
                    Ins::LocalGet(a.0),
                    Ins::LocalGet(a.1),
                    Ins::I64Or,
                    Ins::I64Const(0),
                    Ins::I64Ne,
                ]);
            }
            NumOp::Eq | NumOp::Ne => {
                self.wide_equal(a, b);
                if num == NumOp::Ne {
                    self.out.push(Ins::I32Eqz);
                }
            }
            NumOp::Lt => self.wide_less(signed, a, b),
            NumOp::Gt => self.wide_less(signed, b, a),
            NumOp::Le => {
                self.wide_less(signed, b, a);
                self.out.push(Ins::I32Eqz);
            }
            NumOp::Ge => {
                self.wide_less(signed, a, b);
                self.out.push(Ins::I32Eqz);
            }
            NumOp::TrueDiv | NumOp::LShift | NumOp::RShift => {
                return Err(super::arith::no_operation(family, num));
            }
        }
        Ok(())
    }

    fn get_pair(&mut self, a: Pair) {
        self.out.extend([Ins::LocalGet(a.0), Ins::LocalGet(a.1)]);
    }

    fn set_pair(&mut self, a: Pair, value: i64) {
        for word in [a.0, a.1] {
            self.out.extend([Ins::I64Const(value), Ins::LocalSet(word)]);
        }
    }

    fn word_by_word(&mut self, a: Pair, b: Pair, ins: &Ins) {
        for (a, b) in [(a.0, b.0), (a.1, b.1)] {
            self.out
                .extend([Ins::LocalGet(a), Ins::LocalGet(b), ins.clone()]);
        }
    }

    fn wide_glue(&mut self, op: WideOp, a: Pair, b: Pair) {
        self.get_pair(a);
        self.get_pair(b);
        self.call_glue(Glue::Wide(op));
    }

    /// The carry is there if the lower word of the sum is less than that of an operand.
    fn wide_sum(&mut self, a: Pair, b: Pair) {
        let low = self.temporary(ValType::I64);
        self.out.extend([
            Ins::LocalGet(a.0),
            Ins::LocalGet(b.0),
            Ins::I64Add,
            Ins::LocalTee(low),
            Ins::LocalGet(a.1),
            Ins::LocalGet(b.1),
            Ins::I64Add,
            Ins::LocalGet(low),
            Ins::LocalGet(a.0),
            Ins::I64LtU,
            Ins::I64ExtendI32U,
            Ins::I64Add,
        ]);
    }

    fn wide_difference(&mut self, a: Pair, b: Pair) {
        self.out.extend([
            Ins::LocalGet(a.0),
            Ins::LocalGet(b.0),
            Ins::I64Sub,
            Ins::LocalGet(a.1),
            Ins::LocalGet(b.1),
            Ins::I64Sub,
            Ins::LocalGet(a.0),
            Ins::LocalGet(b.0),
            Ins::I64LtU,
            Ins::I64ExtendI32U,
            Ins::I64Sub,
        ]);
    }

    /// `(a ^ sign) - sign`
    fn wide_absolute(&mut self, a: Pair) {
        let (sign, flipped) = (self.pair(), self.pair());
        for word in [sign.0, sign.1] {
            self.out.extend([
                Ins::LocalGet(a.1),
                Ins::I64Const(63),
                Ins::I64ShrS,
                Ins::LocalSet(word),
            ]);
        }
        self.word_by_word(a, sign, &Ins::I64Xor);
        self.out
            .extend([Ins::LocalSet(flipped.1), Ins::LocalSet(flipped.0)]);
        self.wide_difference(flipped, sign);
    }

    fn wide_product(&mut self, a: Pair, b: Pair) {
        self.out.extend([
            Ins::LocalGet(a.0),
            Ins::LocalGet(b.0),
            Ins::I64Mul,
            Ins::LocalGet(a.0),
            Ins::LocalGet(b.0),
        ]);
        self.call_glue(Glue::MulHigh);
        for (x, y) in [(a.0, b.1), (a.1, b.0)] {
            self.out
                .extend([Ins::LocalGet(x), Ins::LocalGet(y), Ins::I64Mul, Ins::I64Add]);
        }
    }

    fn wide_equal(&mut self, a: Pair, b: Pair) {
        self.word_by_word(a, b, &Ins::I64Xor);
        self.out.extend([Ins::I64Or, Ins::I64Eqz]);
    }

    /// The upper words decide, or the lower ones where those are equal.
    fn wide_less(&mut self, signed: bool, a: Pair, b: Pair) {
        self.out.extend([
            Ins::LocalGet(a.0),
            Ins::LocalGet(b.0),
            Ins::I64LtU,
            Ins::LocalGet(a.1),
            Ins::LocalGet(b.1),
            if signed { Ins::I64LtS } else { Ins::I64LtU },
            Ins::LocalGet(a.1),
            Ins::LocalGet(b.1),
            Ins::I64Eq,
            Ins::Select,
        ]);
    }

    fn wide_shift(
        &mut self,
        signed: bool,
        num: NumOp,
        a: Pair,
        count: &OOOperand,
    ) -> Result<(), Lack> {
        let right = if signed { Ins::I64ShrS } else { Ins::I64ShrU };
        match (num, known(count)) {
            (_, Some(0)) => self.get_pair(a),
            (NumOp::LShift, Some(n @ 1..64)) => self.out.extend([
                Ins::LocalGet(a.0),
                Ins::I64Const(n as i64),
                Ins::I64Shl,
                Ins::LocalGet(a.1),
                Ins::I64Const(n as i64),
                Ins::I64Shl,
                Ins::LocalGet(a.0),
                Ins::I64Const(64 - n as i64),
                Ins::I64ShrU,
                Ins::I64Or,
            ]),
            (_, Some(n @ 1..64)) => self.out.extend([
                Ins::LocalGet(a.0),
                Ins::I64Const(n as i64),
                Ins::I64ShrU,
                Ins::LocalGet(a.1),
                Ins::I64Const(64 - n as i64),
                Ins::I64Shl,
                Ins::I64Or,
                Ins::LocalGet(a.1),
                Ins::I64Const(n as i64),
                right,
            ]),
            (NumOp::LShift, Some(n @ 64..128)) => self.out.extend([
                Ins::I64Const(0),
                Ins::LocalGet(a.0),
                Ins::I64Const(n as i64 - 64),
                Ins::I64Shl,
            ]),
            (_, Some(n @ 64..128)) => {
                let sign = if signed { 63 } else { 0 };
                self.out.extend([
                    Ins::LocalGet(a.1),
                    Ins::I64Const(n as i64 - 64),
                    right.clone(),
                ]);
                match signed {
                    true => self
                        .out
                        .extend([Ins::LocalGet(a.1), Ins::I64Const(sign), right]),
                    false => self.out.push(Ins::I64Const(0)),
                }
            }
            _ => {
                self.get_pair(a);
                self.push(count)?;
                self.call_glue(Glue::Wide(match num {
                    NumOp::LShift => WideOp::ShiftLeft,
                    _ => WideOp::ShiftRight { signed },
                }));
            }
        }
        Ok(())
    }

    /// Converts the value on the stack, which has 128 bits or gets them.
    pub(super) fn convert_wide(&mut self, from: OOType, to: OOType) -> Result<(), Lack> {
        match (from, to) {
            (OOType::Int(from), to) if from.bits == 128 => match to {
                OOType::Int(to) if to.bits == 128 => {}
                OOType::Bool => self.out.extend([Ins::I64Or, Ins::I64Const(0), Ins::I64Ne]),
                OOType::Float => self.call_glue(Glue::Wide(WideOp::ToFloat {
                    signed: from.signed,
                })),
                OOType::SingleFloat => {
                    self.convert_wide(OOType::Int(from), OOType::Float)?;
                    self.convert(OOType::Float, to)?;
                }
                _ => {
                    self.out.push(Ins::Drop);
                    self.convert(OOType::Int(IntKind::SIGNED), to)?;
                }
            },
            (OOType::Float, OOType::Int(_)) => self.call_glue(Glue::Wide(WideOp::FromFloat)),
            (OOType::SingleFloat, _) => {
                self.convert(from, OOType::Float)?;
                self.convert_wide(OOType::Float, to)?;
            }
            _ => {
                let signed = matches!(from, OOType::Int(k) if k.signed);
                self.convert(from, OOType::Int(IntKind::SIGNED))?;
                if signed {
                    let low = self.temporary(ValType::I64);
                    self.out.extend([
                        Ins::LocalTee(low),
                        Ins::LocalGet(low),
                        Ins::I64Const(63),
                        Ins::I64ShrS,
                    ]);
                } else {
                    self.out.push(Ins::I64Const(0));
                }
            }
        }
        Ok(())
    }
}
