//! Arithmetic and comparison. What the operations mean is defined by `taipan_lltype::eval_num`; where C
//! leaves a result undefined, it wraps (`-fwrapv`), and nothing traps.

use taipan_codegen::machine::{Arithmetic, Bad, Cond, Operands};
use taipan_graph::VarId;
use taipan_lltype::{LLOperand, LLType, NumFamily, NumOp, TypeKind, const_word};

use super::Emitter;

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

impl Arithmetic for Emitter<'_> {
    fn num(
        &mut self,
        family: NumFamily,
        num: NumOp,
        left: &LLOperand,
        right: Option<&LLOperand>,
        _to: LLType,
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

    fn bool_not(&mut self, a: &String) -> String {
        format!("!{a}")
    }

    fn int_between(
        &mut self,
        low: &LLOperand,
        value: &LLOperand,
        high: &LLOperand,
    ) -> Result<String, Bad> {
        let (low, value) = (self.value(low)?, self.value(value)?);
        let high = self.value(high)?;
        Ok(format!("{low} <= {value} && {value} < {high}"))
    }

    fn at_least_zero(&mut self, a: &String) -> String {
        format!("{a} < 0 ? 0 : {a}")
    }

    fn uint_mul_high(&mut self, a: &String, b: &String) -> String {
        format!("rpy_uint_mul_high({a}, {b})")
    }

    fn overflowing(
        &mut self,
        num: NumOp,
        left: &LLOperand,
        right: &LLOperand,
        _grows: bool,
        result: VarId,
    ) -> Result<String, Bad> {
        let (a, b) = (self.value(left)?, self.value(right)?);
        let (name, result) = (num.name(), self.declare(result)?);
        self.overflow = Some(format!("__builtin_{name}_overflow({a}, {b}, &{result})"));
        Ok(result)
    }

    fn convert(&mut self, value: &LLOperand, to: LLType) -> Result<String, Bad> {
        self.converted(value, to)
    }

    fn with_bits(&mut self, value: &LLOperand, to: LLType) -> Result<String, Bad> {
        let v = self.value(value)?;
        Ok(match to.kind() {
            TypeKind::Float => format!("rpy_bits_float({v})"),
            _ => format!("rpy_float_bits({v})"),
        })
    }

    fn cast(&mut self, value: &LLOperand, to: LLType) -> Result<Option<String>, Bad> {
        match self.maybe(value)? {
            Some(v) if !to.is_void() => self.cast_text(&v, self.ty(value), to).map(Some),
            _ => Ok(None),
        }
    }

    fn expected(&mut self, value: &LLOperand, expected: bool) -> Result<String, Bad> {
        let v = self.value(value)?;
        Ok(match expected {
            true => format!("RPY_LIKELY({v})"),
            false => format!("RPY_UNLIKELY({v})"),
        })
    }

    fn compare_addresses(
        &mut self,
        cond: Cond,
        left: &LLOperand,
        right: &LLOperand,
    ) -> Result<String, Bad> {
        let (a, b) = (self.value(left)?, self.value(right)?);
        Ok(format!("(Word){a} {} (Word){b}", operator(cond)))
    }

    fn compare_to_null(&mut self, cond: Cond, pointer: &LLOperand) -> Result<String, Bad> {
        Ok(format!("{} {} NULL", self.value(pointer)?, operator(cond)))
    }

    fn add_to_address(&mut self, address: &String, offset: &String) -> String {
        format!("(Address)((Word){address} + (Word){offset})")
    }

    fn subtract_from_address(
        &mut self,
        left: &String,
        right: &String,
        to: LLType,
    ) -> Result<String, Bad> {
        let to = self.types.value(to)?;
        Ok(format!("({to})((Word){left} - (Word){right})"))
    }
}

impl Emitter<'_> {
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
}

fn operator(cond: Cond) -> &'static str {
    match cond {
        Cond::Eq => "==",
        Cond::Ne => "!=",
        Cond::Lt => "<",
        Cond::Le => "<=",
        Cond::Gt => ">",
        Cond::Ge => ">=",
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
