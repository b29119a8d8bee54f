//! Arithmetic and comparison. What the operations mean is defined by `taipan_lltype::eval_num`; where C
//! leaves a result undefined, it wraps (`-fwrapv`), and nothing traps.

use taipan_graph::Operation;
use taipan_lltype::{LLOperand, LowLevel, NumFamily, NumOp, const_word};

use super::Emitter;
use super::ops::Value;
use crate::types::Bad;

/// The type that a family computes in, and its width.
fn family_type(family: NumFamily) -> (&'static str, i128) {
    match family {
        NumFamily::Int => ("Signed", 64),
        NumFamily::Uint => ("Unsigned", 64),
        NumFamily::Lllong => ("Int128", 128),
        NumFamily::Ulllong => ("UInt128", 128),
        NumFamily::Float => ("double", 64),
        NumFamily::Char => ("Char", 8),
        NumFamily::Unichar => ("UniChar", 32),
    }
}

impl Emitter<'_> {
    pub(super) fn num(
        &mut self,
        family: NumFamily,
        num: NumOp,
        left: &LLOperand,
        right: Option<&LLOperand>,
    ) -> Result<String, Bad> {
        use NumOp::*;
        if self.types.pairs && matches!(family, NumFamily::Lllong | NumFamily::Ulllong) {
            return self.wide_num(family, num, left, right);
        }
        let (_, bits) = family_type(family);
        let shift = matches!(num, LShift | RShift);
        let a = self.widened(left, family)?;
        let b = match right {
            Some(b) if shift => self.value(b)?,
            Some(b) => self.widened(b, family)?,
            None => a.clone(),
        };
        let known = match right {
            Some(LLOperand::Const(c)) => const_word(c),
            _ => None,
        };
        let signed = matches!(family, NumFamily::Int | NumFamily::Lllong);
        let operator = match num {
            Add => "+",
            Sub => "-",
            Mul => "*",
            And => "&",
            Or => "|",
            Xor => "^",
            Lt => "<",
            Le => "<=",
            Gt => ">",
            Ge => ">=",
            Eq => "==",
            Ne => "!=",
            TrueDiv if family == NumFamily::Float => "/",
            IsTrue => return Ok(format!("{a} != 0")),
            Neg => return Ok(format!("-{a}")),
            Invert => return Ok(format!("~{a}")),
            Abs if family == NumFamily::Float => return Ok(format!("__builtin_fabs({a})")),
            Abs if signed => return Ok(format!("{a} < 0 ? -{a} : {a}")),
            Abs => return Ok(a),
            LShift | RShift if known.is_some_and(|n| (0..bits).contains(&n)) => {
                match num == LShift {
                    true => "<<",
                    false => ">>",
                }
            }
            LShift | RShift => {
                return Ok(format!(
                    "rpy_{}_{}({a}, (Unsigned){b})",
                    family.name(),
                    num.name()
                ));
            }
            FloorDiv | Mod => return division(family, num, &a, &b, known),
            TrueDiv => return Err("no such operation on integers".into()),
        };
        Ok(format!("{a} {operator} {b}"))
    }

    /// An operand in the type that a family computes in.
    fn widened(&mut self, o: &LLOperand, family: NumFamily) -> Result<String, Bad> {
        let v = self.value(o)?;
        let (ty, _) = family_type(family);
        let own = self.types.value(self.ty(o))?;
        let as_it_is = own == ty || matches!(o, LLOperand::Const(_)) && family == NumFamily::Char;
        Ok(match as_it_is {
            true => v,
            false => format!("({ty}){v}"),
        })
    }

    /// Arithmetic that may overflow; it ends its block, whose exits depend on that.
    pub(super) fn overflowing(
        &mut self,
        name: &str,
        left: &LLOperand,
        right: &LLOperand,
        op: &Operation<LowLevel>,
    ) -> Result<Value, Bad> {
        let (a, b) = (self.value(left)?, self.value(right)?);
        let result = self.declare(op.result)?;
        self.overflow = Some(format!("__builtin_{name}_overflow({a}, {b}, &{result})"));
        Ok(Value::Declared)
    }
}

/// Division that truncates. The divisor is not zero, by the checks around it.
fn division(
    family: NumFamily,
    num: NumOp,
    a: &str,
    b: &str,
    known: Option<i128>,
) -> Result<String, Bad> {
    let div = num == NumOp::FloorDiv;
    let name = match (family, div) {
        (NumFamily::Int, true) => "rpy_int_div",
        (NumFamily::Int, false) => "rpy_int_mod",
        (NumFamily::Lllong, true) => "rpy_i128_div",
        (NumFamily::Lllong, false) => "rpy_i128_rem",
        (NumFamily::Ulllong, true) => "rpy_u128_div",
        (NumFamily::Ulllong, false) => "rpy_u128_rem",
        (NumFamily::Float, _) => return Err("no such operation on floats".into()),
        _ => "",
    };
    let plain = name.is_empty()
        || family == NumFamily::Uint
        || family == NumFamily::Int && known.is_some_and(|n| n != 0 && n != -1);
    let operator = if div { "/" } else { "%" };
    Ok(match plain {
        true => format!("{a} {operator} {b}"),
        false => format!("{name}({a}, {b})"),
    })
}
