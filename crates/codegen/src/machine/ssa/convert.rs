//! Conversions between primitive types.

use taipan_lltype::{LLType, TypeKind};

use super::super::{Bad, Binary, Cond, Instructions, Rare, Ty, is_signed, machine_type};
use crate::runtime;

/// A number of one type as one of another.
pub(super) fn converted<M: Instructions>(
    m: &mut M,
    v: &M::Value,
    from: LLType,
    to: LLType,
) -> Result<M::Value, Bad> {
    let (Some(_), Some(result)) = (machine_type(from), machine_type(to)) else {
        return Err(format!("from {from} to {to}"));
    };
    // Addresses are numbers here.
    let v = m.as_type(v, Ty::I64);
    let f = m.type_of(&v);
    let t = if result == Ty::Ptr { Ty::I64 } else { result };
    if matches!(to.kind(), TypeKind::Bool) && !matches!(from.kind(), TypeKind::Bool) {
        let zero = m.zero(f);
        let bit = match f.is_float() {
            true => m.compare_floats(Cond::Ne, &v, &zero),
            false => m.compare(Cond::Ne, false, &v, &zero),
        };
        return Ok(m.boolean(bit));
    }
    let made = match (f.is_float(), t.is_float()) {
        (true, true) => m.resize_float(&v, t),
        (true, false) => float_to_int(m, &v, t, is_signed(to))?,
        (false, true) => int_to_float(m, &v, t, is_signed(from)),
        (false, false) => m.resize(&v, t, is_signed(from)),
    };
    Ok(m.as_type(&made, result))
}

/// Out of the target's range, where C leaves the result undefined, its low bits.
fn float_to_int<M: Instructions>(
    m: &mut M,
    v: &M::Value,
    t: Ty,
    signed: bool,
) -> Result<M::Value, Bad> {
    let v = m.resize_float(v, Ty::F64);
    if t == Ty::I128 {
        return (m.call_runtime(runtime::f64_to_128(signed), &[v]))
            .ok_or_else(|| "no result".into());
    }
    let (mut done, far) = (m.join("done", Ty::I64), m.cold_block("far"));
    let near = m.saturated(&v);
    // The largest and the smallest stand for all that is out of range.
    let most = m.int(Ty::I64, i64::MAX.into());
    let distance = m.binary(Binary::Xor, &near, &most);
    let one = m.int(Ty::I64, 1);
    let distance = m.binary(Binary::Add, &distance, &one);
    let saturated = m.compare(Cond::Le, false, &distance, &one);
    m.branch_or_join(&saturated, &far, (&mut done, &near), Rare::First);
    m.start(&far);
    let wide = (m.call_runtime(runtime::F64_TO_I128, &[v])).ok_or("no result")?;
    let low = m.resize(&wide, Ty::I64, true);
    m.jump_to_join(&mut done, &low);
    let result = m.start_join(done);
    Ok(m.resize(&result, t, signed))
}

fn int_to_float<M: Instructions>(m: &mut M, v: &M::Value, t: Ty, signed: bool) -> M::Value {
    if m.type_of(v) == Ty::I128 {
        let f = runtime::f64_of_128(signed);
        if let Some(r) = m.call_runtime(f, std::slice::from_ref(v)) {
            return m.resize_float(&r, t);
        }
    }
    let wide = m.resize(v, Ty::I64, signed);
    m.float_of(&wide, t, signed)
}

/// The bits of a value as `rpy_debug_print` takes them.
pub(super) fn printable<M: Instructions>(m: &mut M, ty: LLType, v: &M::Value) -> M::Value {
    match ty.kind() {
        TypeKind::Float | TypeKind::SingleFloat => {
            let wide = m.resize_float(v, Ty::F64);
            m.bitcast(&wide, Ty::I64)
        }
        _ => {
            let v = m.as_type(v, Ty::I64);
            m.resize(&v, Ty::I64, is_signed(ty))
        }
    }
}
