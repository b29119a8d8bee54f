//! Conversions between primitive types (`taipan_lltype::convert` defines them), and casts of pointers.

use taipan_codegen::machine::{Bad, Operands, is_signed};
use taipan_lltype::{LLOperand, LLType, TypeKind};

use super::Emitter;
use super::wide::{is_wide, widened};

fn is_float(ty: LLType) -> bool {
    matches!(ty.kind(), TypeKind::Float | TypeKind::SingleFloat)
}

/// Whether values are addresses in C.
fn is_address(ty: LLType) -> bool {
    matches!(ty.kind(), TypeKind::Ptr(_) | TypeKind::Address)
}

impl Emitter<'_> {
    pub(super) fn converted(&mut self, value: &LLOperand, to: LLType) -> Result<String, Bad> {
        let from = self.ty(value);
        let v = self.value(value)?;
        if is_address(from) || is_address(to) {
            return self.cast_text(&v, from, to);
        }
        let target = self.types.value(to)?;
        if self.types.pairs && !is_float(from) && !is_float(to) && is_wide(from) != is_wide(to) {
            return Ok(match to.kind() {
                TypeKind::Bool => format!("rpy_wide_is_true({v})"),
                _ if is_wide(to) => widened(&v, from),
                _ => format!("({target})RPY_LOW({v})"),
            });
        }
        if matches!(to.kind(), TypeKind::Bool) {
            return Ok(format!("{v} != 0"));
        }
        Ok(match (is_float(from), is_float(to)) {
            // Out of the target's range, where C leaves the result undefined, its low bits.
            (true, false) if is_wide(to) => match is_signed(to) {
                true => format!("rpy_f64_to_i128({v})"),
                false => format!("rpy_f64_to_u128({v})"),
            },
            (true, false) => format!("({target})rpy_float_to_int({v})"),
            (false, true) if is_wide(from) => match is_signed(from) {
                true => format!("rpy_i128_to_f64({v})"),
                false => format!("rpy_u128_to_f64({v})"),
            },
            // The sign of pairs of words is not in their type.
            _ if self.types.pairs && is_wide(to) => v,
            _ => format!("({target}){v}"),
        })
    }

    /// Between pointers, addresses and integers.
    pub(super) fn cast_text(&mut self, v: &str, from: LLType, to: LLType) -> Result<String, Bad> {
        let target = self.types.value(to)?;
        if from == to {
            return Ok(v.to_owned());
        }
        Ok(match (is_address(from), is_address(to)) {
            // Addresses may have fewer bits than integers.
            (true, false) | (false, true) => format!("({target})(Word){v}"),
            _ => format!("({target}){v}"),
        })
    }
}
