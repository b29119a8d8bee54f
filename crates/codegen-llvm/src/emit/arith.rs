//! Arithmetic and comparison. What the operations mean is defined by
//! `taipan_lltype::eval_num`; where LLVM leaves a result undefined, it is defined here as on
//! Cranelift, except for divisions by zero, which are checked for before.

use taipan_codegen::runtime;
use taipan_lltype::{LLConst, LLOperand, LLType, NumFamily, NumOp, const_word};

use super::{Emitter, Value};
use crate::types::{Bad, Ty, is_signed, llvm_type};

/// The type that a family computes in.
fn family_type(family: NumFamily) -> Ty {
    match family {
        NumFamily::Int | NumFamily::Uint => Ty::I64,
        NumFamily::Lllong | NumFamily::Ulllong => Ty::I128,
        NumFamily::Float => Ty::F64,
        NumFamily::Char => Ty::I8,
        NumFamily::Unichar => Ty::I32,
    }
}

fn bits(ty: Ty) -> u32 {
    ty.int_bits().unwrap_or(64)
}

impl Emitter<'_> {
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
                None => a.clone(),
            };
            return self.float_num(num, &a, &b);
        }
        let a = self.widened(left, ty)?;
        let shift = matches!(num, NumOp::LShift | NumOp::RShift);
        let signed = matches!(family, NumFamily::Int | NumFamily::Lllong);
        let value = match right {
            Some(b) if shift => self.shift(num, ty, signed, &a, b)?,
            Some(b) => {
                let b = self.widened(b, ty)?;
                self.int_num(num, ty, signed, &a, &b)?
            }
            None => self.int_num(num, ty, signed, &a, &a)?,
        };
        Ok(match (llvm_type(result), value.ty.int_bits()) {
            (Some(to), Some(from)) if to.int_bits().is_some_and(|to| from > to) => {
                self.ins(to, &format!("trunc {} to {to}", value.typed()))
            }
            _ => value,
        })
    }

    /// An integer operand in a type at least as wide as its own.
    fn widened(&mut self, o: &LLOperand, ty: Ty) -> Result<Value, Bad> {
        let v = self.value(o)?;
        let v = self.as_type(&v, Ty::I64);
        let signed = is_signed(self.ty(o));
        Ok(match v.ty.int_bits() {
            Some(from) if from < bits(ty) => self.extended(&v, ty, signed),
            _ => v,
        })
    }

    /// A wider integer.
    pub(super) fn extended(&mut self, v: &Value, to: Ty, signed: bool) -> Value {
        if let Some(n) = v.constant() {
            let from = bits(v.ty);
            let n = match signed || from >= 128 {
                true => n,
                false => n & ((1 << from) - 1),
            };
            return self.int(to, n);
        }
        let how = if signed { "sext" } else { "zext" };
        self.ins(to, &format!("{how} {} to {to}", v.typed()))
    }

    fn int_num(
        &mut self,
        num: NumOp,
        ty: Ty,
        signed: bool,
        a: &Value,
        b: &Value,
    ) -> Result<Value, Bad> {
        use NumOp::*;
        let cc = |s, u| if signed { s } else { u };
        let cc = match num {
            Lt => Some(cc("slt", "ult")),
            Le => Some(cc("sle", "ule")),
            Gt => Some(cc("sgt", "ugt")),
            Ge => Some(cc("sge", "uge")),
            Eq => Some("eq"),
            Ne => Some("ne"),
            _ => None,
        };
        if let Some(cc) = cc {
            return Ok(self.compared(cc, a, b));
        }
        let mut ins = |text: &str| Ok(self.ins(ty, &format!("{text} {}, {}", a.typed(), b.text)));
        match num {
            Add => ins("add"),
            Sub => ins("sub"),
            Mul => ins("mul"),
            And => ins("and"),
            Or => ins("or"),
            Xor => ins("xor"),
            IsTrue => {
                let zero = self.int(ty, 0);
                Ok(self.compared("ne", a, &zero))
            }
            Abs if signed => {
                let minus = self.ins(ty, &format!("sub {ty} 0, {}", a.text));
                let negative = self.part(&format!("icmp slt {}, 0", a.typed()));
                Ok(self.select(&negative, &minus, a))
            }
            Abs => Ok(a.clone()),
            Neg => Ok(self.ins(ty, &format!("sub {ty} 0, {}", a.text))),
            Invert => Ok(self.ins(ty, &format!("xor {}, -1", a.typed()))),
            FloorDiv | Mod => self.division(num, ty, signed, a, b),
            _ => Err("no such operation on integers".into()),
        }
    }

    /// The Bool of a comparison.
    pub(super) fn compared(&mut self, cc: &str, a: &Value, b: &Value) -> Value {
        let bit = self.part(&format!("icmp {cc} {}, {}", a.typed(), b.text));
        self.boolean(bit)
    }

    pub(super) fn select(&mut self, bit: &str, yes: &Value, no: &Value) -> Value {
        let text = format!("select i1 {bit}, {}, {}", yes.typed(), no.typed());
        self.ins(yes.ty, &text)
    }

    /// A shift by any count: one that is out of range shifts everything out.
    fn shift(
        &mut self,
        num: NumOp,
        ty: Ty,
        signed: bool,
        a: &Value,
        count: &LLOperand,
    ) -> Result<Value, Bad> {
        let how = match (num, signed) {
            (NumOp::LShift, _) => "shl",
            (_, true) => "ashr",
            (_, false) => "lshr",
        };
        let in_range = match count {
            LLOperand::Const(c) => {
                const_word(c).is_some_and(|n| (0..i128::from(bits(ty))).contains(&n))
            }
            LLOperand::Var(_) => false,
        };
        let b = self.value(count)?;
        let b = self.as_type(&b, Ty::I64);
        let sized = |this: &mut Self, v: &Value| match bits(v.ty).cmp(&bits(ty)) {
            std::cmp::Ordering::Less => this.extended(v, ty, false),
            std::cmp::Ordering::Equal => v.clone(),
            std::cmp::Ordering::Greater => this.ins(ty, &format!("trunc {} to {ty}", v.typed())),
        };
        if in_range {
            let b = sized(self, &b);
            return Ok(self.ins(ty, &format!("{how} {}, {}", a.typed(), b.text)));
        }
        let most = self.int(b.ty, i128::from(bits(ty)) - 1);
        let good = self.part(&format!("icmp ule {}, {}", b.typed(), most.text));
        let clamped = self.select(&good, &b, &most);
        let clamped = sized(self, &clamped);
        let shifted = self.ins(ty, &format!("{how} {}, {}", a.typed(), clamped.text));
        if how == "ashr" {
            return Ok(shifted);
        }
        let zero = self.int(ty, 0);
        Ok(self.select(&good, &shifted, &zero))
    }

    /// Division that truncates. The divisor is not zero, by the checks around it; the one
    /// overflow wraps.
    fn division(
        &mut self,
        num: NumOp,
        ty: Ty,
        signed: bool,
        a: &Value,
        b: &Value,
    ) -> Result<Value, Bad> {
        let div = num == NumOp::FloorDiv;
        if ty == Ty::I128 {
            let f = runtime::division_of_128(div, signed);
            let result = self.call_runtime(f, &[a.clone(), b.clone()]);
            return result.ok_or_else(|| "no result".into());
        }
        let (d, r) = if signed {
            ("sdiv", "srem")
        } else {
            ("udiv", "urem")
        };
        let how = if div { d } else { r };
        if b.constant() == Some(0) {
            // The machine's instruction faults; LLVM's would make what is around it undefined.
            self.trap();
            return Ok(self.int(ty, 0));
        }
        if !signed || b.constant().is_some_and(|c| c != -1) {
            return Ok(self.ins(ty, &format!("{how} {}, {}", a.typed(), b.text)));
        }
        let is_minus_one = self.part(&format!("icmp eq {}, -1", b.typed()));
        let one = self.int(ty, 1);
        let safe = self.select(&is_minus_one, &one, b);
        let result = self.ins(ty, &format!("{how} {}, {}", a.typed(), safe.text));
        if !div {
            return Ok(result);
        }
        let negated = self.ins(ty, &format!("sub {ty} 0, {}", a.text));
        Ok(self.select(&is_minus_one, &negated, &result))
    }

    fn float_num(&mut self, num: NumOp, a: &Value, b: &Value) -> Result<Value, Bad> {
        use NumOp::*;
        let cc = match num {
            Lt => Some("olt"),
            Le => Some("ole"),
            Gt => Some("ogt"),
            Ge => Some("oge"),
            Eq => Some("oeq"),
            Ne => Some("une"),
            IsTrue => return Ok(self.float_is_true(a)),
            _ => None,
        };
        if let Some(cc) = cc {
            let bit = self.part(&format!("fcmp {cc} {}, {}", a.typed(), b.text));
            return Ok(self.boolean(bit));
        }
        let mut ins = |text: &str| {
            let text = format!("{text} {}, {}", a.typed(), b.text);
            Ok(self.ins(Ty::F64, &text))
        };
        match num {
            Add => ins("fadd"),
            Sub => ins("fsub"),
            Mul => ins("fmul"),
            TrueDiv => ins("fdiv"),
            Neg => Ok(self.ins(Ty::F64, &format!("fneg {}", a.typed()))),
            Abs => {
                let text = self.intrinsic("llvm.fabs.f64", &[a], "double");
                Ok(Value::new(text, Ty::F64))
            }
            _ => Err("no such operation on floats".into()),
        }
    }

    /// Whether a float is not zero.
    pub(super) fn float_is_true(&mut self, v: &Value) -> Value {
        let bit = self.part(&format!("fcmp une {}, 0.0", v.typed()));
        self.boolean(bit)
    }

    /// `low <= value < high`
    pub(super) fn int_between(
        &mut self,
        low: &LLOperand,
        value: &LLOperand,
        high: &LLOperand,
    ) -> Result<Value, Bad> {
        let a = self.word(low)?;
        let (b, c) = (self.word(value)?, self.word(high)?);
        let constant = |operand: &LLOperand| match operand.as_const() {
            Some(LLConst::Int(_, v)) => Some(v.get()),
            _ => None,
        };
        if constant(low) == Some(0) && constant(high).is_some_and(|n| n >= 0) {
            return Ok(self.compared("ult", &b, &c));
        }
        let low = self.part(&format!("icmp sle {}, {}", a.typed(), b.text));
        let high = self.part(&format!("icmp slt {}, {}", b.typed(), c.text));
        let both = self.part(&format!("and i1 {low}, {high}"));
        Ok(self.boolean(both))
    }

    /// The result of arithmetic that may overflow; it ends its block, whose exits depend on that.
    pub(super) fn with_overflow(
        &mut self,
        what: &str,
        left: &LLOperand,
        right: &LLOperand,
    ) -> Result<Value, Bad> {
        let (a, b) = (self.word(left)?, self.word(right)?);
        let name = format!("llvm.{what}.with.overflow.i64");
        let both = self.intrinsic(&name, &[&a, &b], "{ i64, i1 }");
        let value = self.ins(Ty::I64, &format!("extractvalue {{ i64, i1 }} {both}, 0"));
        let overflow = self.part(&format!("extractvalue {{ i64, i1 }} {both}, 1"));
        self.overflow = Some(overflow.to_string());
        Ok(value)
    }

    /// The upper half of a product.
    pub(super) fn multiply_high(&mut self, a: &Value, b: &Value) -> Value {
        let (a, b) = (
            self.extended(a, Ty::I128, false),
            self.extended(b, Ty::I128, false),
        );
        let product = self.ins(Ty::I128, &format!("mul {}, {}", a.typed(), b.text));
        let high = self.ins(Ty::I128, &format!("lshr {}, 64", product.typed()));
        self.ins(Ty::I64, &format!("trunc {} to i64", high.typed()))
    }
}
