//! Integers of 128 bits where C compilers have none: calls of the functions of `wide.h`.

use taipan_codegen::machine::{Bad, Operands, is_signed};
use taipan_lltype::{LLOperand, LLType, NumFamily, NumOp, TypeKind};

use super::Emitter;

/// Whether values of a type have 128 bits.
pub(super) fn is_wide(ty: LLType) -> bool {
    matches!(ty.kind(), TypeKind::Int(k) if k.bits == 128)
}

impl Emitter<'_> {
    /// Arithmetic and comparison.
    pub(super) fn wide_num(
        &mut self,
        family: NumFamily,
        num: NumOp,
        left: &LLOperand,
        right: Option<&LLOperand>,
    ) -> Result<String, Bad> {
        use NumOp::*;
        let shift = matches!(num, LShift | RShift);
        let a = self.pair(left)?;
        let b = match right {
            Some(b) if shift => Some(self.value(b)?),
            Some(b) => Some(self.pair(b)?),
            None => None,
        };
        let sign = family.name();
        let name = match num {
            Add => "wide_add".to_owned(),
            Sub => "wide_sub".to_owned(),
            Mul => "wide_mul".to_owned(),
            And => "wide_and".to_owned(),
            Or => "wide_or".to_owned(),
            Xor => "wide_xor".to_owned(),
            Eq => "wide_eq".to_owned(),
            Ne => "wide_ne".to_owned(),
            IsTrue => "wide_is_true".to_owned(),
            Neg => "wide_neg".to_owned(),
            Invert => "wide_invert".to_owned(),
            Abs if family == NumFamily::Ulllong => return Ok(a),
            Lt | Le | Gt | Ge | Abs | LShift | RShift => format!("{sign}_{}", num.name()),
            FloorDiv | Mod => {
                let kind = if family == NumFamily::Lllong {
                    'i'
                } else {
                    'u'
                };
                let what = if num == FloorDiv { "div" } else { "rem" };
                format!("{kind}128_{what}")
            }
            TrueDiv => return Err("no such operation on integers".into()),
        };
        Ok(match b {
            Some(b) if shift => format!("rpy_{name}({a}, (Unsigned){b})"),
            Some(b) => format!("rpy_{name}({a}, {b})"),
            None => format!("rpy_{name}({a})"),
        })
    }

    /// An operand as an integer of 128 bits.
    fn pair(&mut self, o: &LLOperand) -> Result<String, Bad> {
        let v = self.value(o)?;
        Ok(widened(&v, self.ty(o)))
    }
}

/// An integer, Bool or Char of any size as one of 128 bits.
pub(super) fn widened(v: &str, from: LLType) -> String {
    match is_wide(from) {
        true => v.to_owned(),
        false if is_signed(from) => format!("rpy_wide_of_int({v})"),
        false => format!("rpy_wide_of_uint({v})"),
    }
}
