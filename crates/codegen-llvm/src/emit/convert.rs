//! Conversions between primitive types (`taipan_lltype::convert` defines them).

use taipan_codegen::runtime;
use taipan_lltype::{LLOperand, LLType, TypeKind};

use super::{Emitter, Value};
use crate::text::Metadata;
use crate::types::{Bad, Ty, is_signed, llvm_type};

impl Emitter<'_> {
    pub(super) fn convert(&mut self, value: &LLOperand, to: LLType) -> Result<Value, Bad> {
        let from = self.ty(value);
        let v = self.value(value)?;
        let Some(t) = llvm_type(to) else {
            return Err(format!("from {from} to {to}"));
        };
        // Addresses are numbers here.
        let v = self.as_type(&v, Ty::I64);
        let wanted = if t == Ty::Ptr { Ty::I64 } else { t };
        if matches!(to.kind(), TypeKind::Bool) && !matches!(from.kind(), TypeKind::Bool) {
            if v.ty.is_float() {
                return Ok(self.float_is_true(&v));
            }
            let zero = self.int(v.ty, 0);
            return Ok(self.compared("ne", &v, &zero));
        }
        let made = match (v.ty.is_float(), wanted.is_float()) {
            (true, true) => self.float_to_float(&v, wanted),
            (true, false) => self.float_to_int(&v, wanted, is_signed(to))?,
            (false, true) => self.int_to_float(&v, wanted, is_signed(from)),
            (false, false) => self.int_to_int(&v, wanted, is_signed(from)),
        };
        Ok(self.as_type(&made, t))
    }

    pub(super) fn int_to_int(&mut self, v: &Value, t: Ty, signed: bool) -> Value {
        let (Some(from), Some(to)) = (v.ty.int_bits(), t.int_bits()) else {
            return v.clone();
        };
        match from.cmp(&to) {
            std::cmp::Ordering::Equal => v.clone(),
            std::cmp::Ordering::Greater => match v.constant() {
                Some(n) => self.int(t, n),
                None => self.ins(t, &format!("trunc {} to {t}", v.typed())),
            },
            std::cmp::Ordering::Less => self.extended(v, t, signed),
        }
    }

    fn float_to_float(&mut self, v: &Value, t: Ty) -> Value {
        match (v.ty, t) {
            (Ty::F32, Ty::F64) => self.ins(t, &format!("fpext {} to double", v.typed())),
            (Ty::F64, Ty::F32) => self.ins(t, &format!("fptrunc {} to float", v.typed())),
            _ => v.clone(),
        }
    }

    /// Out of the target's range, where LLVM leaves the result undefined, its low bits.
    fn float_to_int(&mut self, v: &Value, t: Ty, signed: bool) -> Result<Value, Bad> {
        let v = self.float_to_float(v, Ty::F64);
        if t == Ty::I128 {
            let f = runtime::f64_to_128(signed);
            return (self.call_runtime(f, &[v])).ok_or_else(|| "no result".into());
        }
        let near = self.intrinsic("llvm.fptosi.sat.i64.f64", &[&v], "i64");
        let near = Value::new(near, Ty::I64);
        // The largest and the smallest stand for all that is out of range.
        let distance = self.part(&format!("xor i64 {}, {}", near.text, i64::MAX));
        let distance = self.part(&format!("add i64 {distance}, 1"));
        let saturated = self.part(&format!("icmp ule i64 {distance}, 1"));
        let (far, done) = (self.new_label("far"), self.new_label("done"));
        let before = self.label.clone();
        self.branch_if(&saturated, &far, &done, Some(Metadata::FirstIsRare));
        self.start(&far);
        let wide = (self.call_runtime(runtime::F64_TO_I128, &[v])).ok_or("no result")?;
        let low = self.ins(Ty::I64, &format!("trunc {} to i64", wide.typed()));
        self.go(&done);
        self.start(&done);
        let result = self.merge(Ty::I64, &[(&near, &before), (&low, &far)]);
        Ok(self.int_to_int(&result, t, signed))
    }

    fn int_to_float(&mut self, v: &Value, t: Ty, signed: bool) -> Value {
        if v.ty == Ty::I128 {
            let f = runtime::f64_of_128(signed);
            if let Some(r) = self.call_runtime(f, std::slice::from_ref(v)) {
                return self.float_to_float(&r, t);
            }
        }
        let wide = self.int_to_int(v, Ty::I64, signed);
        let how = if signed { "sitofp" } else { "uitofp" };
        self.ins(t, &format!("{how} {} to {t}", wide.typed()))
    }

    /// Between a float and the integer with the same bits.
    pub(super) fn with_bits(&mut self, value: &LLOperand, to: LLType) -> Result<Value, Bad> {
        let v = self.value(value)?;
        let to = llvm_type(to).unwrap_or(Ty::I64);
        Ok(self.ins(to, &format!("bitcast {} to {to}", v.typed())))
    }

    /// The bits of a value, in a machine word.
    pub(super) fn word_of(&mut self, v: &Value) -> Result<Value, Bad> {
        Ok(match v.ty {
            Ty::Ptr => self.as_type(v, Ty::I64),
            Ty::F64 => self.ins(Ty::I64, &format!("bitcast {} to i64", v.typed())),
            Ty::F32 => {
                let bits = self.ins(Ty::I32, &format!("bitcast {} to i32", v.typed()));
                self.extended(&bits, Ty::I64, false)
            }
            Ty::I128 => return Err("a value of more than a machine word".into()),
            _ => self.int_to_int(v, Ty::I64, false),
        })
    }

    /// What `rpy_debug_print` takes for a value.
    pub(super) fn printable(&mut self, ty: LLType, v: &Value) -> Result<Value, Bad> {
        Ok(match ty.kind() {
            TypeKind::Float | TypeKind::SingleFloat => {
                let wide = self.float_to_float(v, Ty::F64);
                self.word_of(&wide)?
            }
            TypeKind::Ptr(_) | TypeKind::Address => self.as_type(v, Ty::I64),
            _ => self.int_to_int(v, Ty::I64, is_signed(ty)),
        })
    }
}
