//! Numbers of one type as numbers of another. Floats truncate towards zero; integers wrap.

use taipan_graph::IntKind;
use taipan_ootype::{Lack, OOType};
use wasm_encoder::ValType;

use super::{Emitter, is_wide};
use crate::code::Ins;
use crate::types::val_type;

/// The range of a type that is an integer in WebAssembly: whether it has a sign, and its bits.
fn range(ty: OOType) -> Option<(bool, u8)> {
    Some(match ty {
        OOType::Bool => (false, 1),
        OOType::Char => (false, 8),
        OOType::UniChar => (false, 32),
        OOType::Int(IntKind { signed, bits }) => (signed, bits),
        _ => return None,
    })
}

impl Emitter<'_> {
    /// Converts the value on the stack.
    pub(super) fn convert(&mut self, from: OOType, to: OOType) -> Result<(), Lack> {
        if from == to {
            return Ok(());
        }
        let bad = || Lack::Operation(format!("cast from {from} to {to}"));
        if is_wide(from) || is_wide(to) {
            return self.convert_wide(from, to);
        }
        val_type(from, &mut self.symbols)?;
        val_type(to, &mut self.symbols)?;
        match (range(from), range(to)) {
            (Some(from), Some(to)) => self.integer(from, to),
            (Some((signed, bits)), None) => {
                let ins = match (val_type(to, &mut self.symbols)?, bits, signed) {
                    (Some(ValType::F64), 64, true) => Ins::F64ConvertI64S,
                    (Some(ValType::F64), 64, false) => Ins::F64ConvertI64U,
                    (Some(ValType::F64), _, true) => Ins::F64ConvertI32S,
                    (Some(ValType::F64), _, false) => Ins::F64ConvertI32U,
                    (Some(ValType::F32), 64, true) => Ins::F32ConvertI64S,
                    (Some(ValType::F32), 64, false) => Ins::F32ConvertI64U,
                    (Some(ValType::F32), _, true) => Ins::F32ConvertI32S,
                    (Some(ValType::F32), _, false) => Ins::F32ConvertI32U,
                    _ => return Err(bad()),
                };
                self.out.push(ins);
            }
            (None, Some(to)) => {
                if from == OOType::SingleFloat {
                    self.out.push(Ins::F64PromoteF32);
                } else if from != OOType::Float {
                    return Err(bad());
                }
                self.truncate(to);
            }
            (None, None) => match (from, to) {
                (OOType::Float, OOType::SingleFloat) => self.out.push(Ins::F32DemoteF64),
                (OOType::SingleFloat, OOType::Float) => self.out.push(Ins::F64PromoteF32),
                _ => return Err(bad()),
            },
        }
        Ok(())
    }

    fn integer(&mut self, (signed, from): (bool, u8), (to_signed, to): (bool, u8)) {
        match (from == 64, to == 64) {
            (true, true) => return,
            (false, true) => {
                self.out.push(match signed {
                    true => Ins::I64ExtendI32S,
                    false => Ins::I64ExtendI32U,
                });
                return;
            }
            (true, false) if to == 1 => {
                self.out.extend([Ins::I64Const(0), Ins::I64Ne]);
                return;
            }
            (true, false) => self.out.push(Ins::I32WrapI64),
            (false, false) if to == 1 => {
                self.out.extend([Ins::I32Const(0), Ins::I32Ne]);
                return;
            }
            (false, false) => {}
        }
        let fits = from < to && (!signed || to_signed) || from == to && signed == to_signed;
        if !fits {
            self.wrap(to_signed, to);
        }
    }

    /// Brings an `i32` into the range of a narrower integer.
    fn wrap(&mut self, signed: bool, bits: u8) {
        match (signed, bits) {
            (true, 8) => self.out.push(Ins::I32Extend8S),
            (true, 16) => self.out.push(Ins::I32Extend16S),
            (false, 8 | 16) => {
                self.out
                    .extend([Ins::I32Const((1 << bits) - 1), Ins::I32And]);
            }
            _ => {}
        }
    }

    /// A float as an integer.
    fn truncate(&mut self, (signed, bits): (bool, u8)) {
        match (signed, bits) {
            (_, 1) => self.out.extend([Ins::F64Const(0.0.into()), Ins::F64Ne]),
            (false, 64) => {
                // Negative values wrap, as on other machines.
                let f = self.temporary(ValType::F64);
                self.out.extend([
                    Ins::LocalTee(f),
                    Ins::I64TruncSatF64S,
                    Ins::LocalGet(f),
                    Ins::I64TruncSatF64U,
                    Ins::LocalGet(f),
                    Ins::F64Const(0.0.into()),
                    Ins::F64Lt,
                    Ins::Select,
                ]);
            }
            (_, 64) => self.out.push(Ins::I64TruncSatF64S),
            _ => {
                self.out.extend([Ins::I64TruncSatF64S, Ins::I32WrapI64]);
                self.wrap(signed, bits);
            }
        }
    }
}
