//! Conversions between primitive types (`taipan_lltype::convert` defines them).

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32, F64, I64, I128};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type, Value};
use taipan_codegen::runtime;
use taipan_lltype::{LLOperand, LLType, TypeKind};

use super::types::{clif_type, is_signed};
use super::{Bad, Emitter};

impl Emitter<'_, '_> {
    pub(super) fn convert(&mut self, value: &LLOperand, to: LLType) -> Result<Value, Bad> {
        let from = self.ty(value);
        let v = self.value(value)?;
        self.converted(v, from, to)
    }

    fn converted(&mut self, v: Value, from: LLType, to: LLType) -> Result<Value, Bad> {
        let (Some(f), Some(t)) = (clif_type(from), clif_type(to)) else {
            return Err(format!("from {from} to {to}"));
        };
        if matches!(to.kind(), TypeKind::Bool) && !matches!(from.kind(), TypeKind::Bool) {
            let zero = self.zero(f);
            return Ok(match f.is_float() {
                true => self.b.ins().fcmp(FloatCC::NotEqual, v, zero),
                false => self.b.ins().icmp(IntCC::NotEqual, v, zero),
            });
        }
        Ok(match (f.is_float(), t.is_float()) {
            (true, true) => self.float_to_float(v, f, t),
            (true, false) => self.float_to_int(v, f, t, is_signed(to))?,
            (false, true) => self.int_to_float(v, f, t, is_signed(from)),
            (false, false) => self.int_to_int(v, f, t, is_signed(from)),
        })
    }

    fn int_to_int(&mut self, v: Value, f: Type, t: Type, signed: bool) -> Value {
        match f.bits().cmp(&t.bits()) {
            std::cmp::Ordering::Equal => v,
            // Not reduced: one multiplication makes both words of a product, unless Cranelift
            // makes two of it, each for one word.
            std::cmp::Ordering::Greater if f == I128 => {
                let (low, _) = self.b.ins().isplit(v);
                self.int_to_int(low, I64, t, signed)
            }
            std::cmp::Ordering::Greater => self.b.ins().ireduce(t, v),
            std::cmp::Ordering::Less if signed => self.b.ins().sextend(t, v),
            std::cmp::Ordering::Less => self.b.ins().uextend(t, v),
        }
    }

    fn float_to_float(&mut self, v: Value, f: Type, t: Type) -> Value {
        match (f, t) {
            (F32, F64) => self.b.ins().fpromote(F64, v),
            (F64, F32) => self.b.ins().fdemote(F32, v),
            _ => v,
        }
    }

    /// Out of the target's range, where C leaves the result undefined, its low bits.
    fn float_to_int(&mut self, v: Value, f: Type, t: Type, signed: bool) -> Result<Value, Bad> {
        let v = self.float_to_float(v, f, F64);
        if t == I128 {
            let f = runtime::f64_to_128(signed);
            return (self.call_runtime(f, &[v])).ok_or_else(|| "no result".into());
        }
        let (done, far) = (self.b.create_block(), self.cold_block());
        let result = self.b.append_block_param(done, I64);
        let near = self.b.ins().fcvt_to_sint_sat(I64, v);
        // The largest and the smallest stand for all that is out of range.
        let most = self.int(I64, i64::MAX);
        let distance = self.b.ins().bxor(near, most);
        let one = self.int(I64, 1);
        let distance = self.b.ins().iadd(distance, one);
        let saturated = (self.b.ins()).icmp(IntCC::UnsignedLessThanOrEqual, distance, one);
        self.b.ins().brif(saturated, far, &[], done, &[near.into()]);
        self.b.switch_to_block(far);
        let wide = (self.call_runtime(runtime::F64_TO_I128, &[v])).ok_or("no result")?;
        let low = self.b.ins().ireduce(I64, wide);
        self.jump(done, &[low]);
        self.b.switch_to_block(done);
        Ok(self.int_to_int(result, I64, t, signed))
    }

    fn int_to_float(&mut self, v: Value, f: Type, t: Type, signed: bool) -> Value {
        if f == I128 {
            let f = runtime::f64_of_128(signed);
            if let Some(r) = self.call_runtime(f, &[v]) {
                return self.float_to_float(r, F64, t);
            }
        }
        let wide = self.int_to_int(v, f, I64, signed);
        match signed {
            true => self.b.ins().fcvt_from_sint(t, wide),
            false => self.b.ins().fcvt_from_uint(t, wide),
        }
    }

    /// Between a float and the integer with the same bits.
    pub(super) fn bits(&mut self, value: &LLOperand, to: LLType) -> Result<Value, Bad> {
        let v = self.value(value)?;
        let to = clif_type(to).unwrap_or(I64);
        Ok(self.b.ins().bitcast(to, MemFlagsData::new(), v))
    }

    /// What `rpy_debug_print` takes for a value.
    pub(super) fn printable(&mut self, ty: LLType, v: Value) -> Value {
        let from = self.b.func.dfg.value_type(v);
        match ty.kind() {
            TypeKind::Float | TypeKind::SingleFloat => {
                let wide = self.float_to_float(v, from, F64);
                self.b.ins().bitcast(I64, MemFlagsData::new(), wide)
            }
            _ => self.int_to_int(v, from, I64, is_signed(ty)),
        }
    }
}
