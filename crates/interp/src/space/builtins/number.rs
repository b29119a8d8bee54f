//! Methods of `int`, `long`, `float` and `complex`.

use num_traits::{FromPrimitive, ToPrimitive};

use super::object::*;
use crate::space::builtin::{Args, Builtin};
use crate::space::value::Value;
use crate::space::{Interp, R};

fn bit_length(it: &mut Interp, args: Args<'_>) -> R {
    let v = args.need(it, 0, "bit_length")?;
    let b = it.big_int(v).unwrap_or_default();
    Ok(Value::Int(b.bits() as i64))
}

fn conjugate(it: &mut Interp, args: Args<'_>) -> R {
    Ok(match args.need(it, 0, "conjugate")? {
        Value::Complex(c) => Value::Complex(c.conjugate()),
        real => real.clone(),
    })
}

fn as_int(it: &mut Interp, args: Args<'_>) -> R {
    let v = args.need(it, 0, "__int__")?;
    let v = it.unboxed(v);
    it.int_of(&v, None)
}

fn as_long(it: &mut Interp, args: Args<'_>) -> R {
    let v = as_int(it, args)?;
    it.long_of(&v)
}

fn as_float(it: &mut Interp, args: Args<'_>) -> R {
    let v = args.need(it, 0, "__float__")?;
    let v = it.unboxed(v);
    Ok(Value::Float(it.float_of(&v)?))
}

fn cmp(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "__cmp__", 2, 2)?;
    let (a, b) = (it.unboxed(&args.pos[0]), it.unboxed(&args.pos[1]));
    Ok(Value::Int(it.cmp(&a, &b)? as i64))
}

fn is_integer(it: &mut Interp, args: Args<'_>) -> R {
    let v = args.need(it, 0, "is_integer")?;
    let f = it.float_of(v)?;
    Ok(Value::Bool(f.is_finite() && f.fract() == 0.0))
}

fn as_integer_ratio(it: &mut Interp, args: Args<'_>) -> R {
    let v = args.need(it, 0, "as_integer_ratio")?;
    let mut f = it.float_of(v)?;
    if !f.is_finite() {
        return it.value_error("Cannot pass NaN or infinity to float.as_integer_ratio.");
    }
    let mut shift = 0u32;
    while f.fract() != 0.0 {
        f *= 2.0;
        shift += 1;
    }
    let n = num_bigint::BigInt::from_f64(f).unwrap_or_default();
    let d = num_bigint::BigInt::from(1) << shift;
    Ok(Value::tuple(vec![
        Value::int_or_long(n),
        Value::int_or_long(d),
    ]))
}

fn hex(it: &mut Interp, args: Args<'_>) -> R {
    let v = args.need(it, 0, "hex")?;
    let f = it.float_of(v)?;
    let bits = f.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i64;
    let mantissa = bits & ((1 << 52) - 1);
    let sign = if f.is_sign_negative() { "-" } else { "" };
    let (lead, e) = match (exponent, mantissa) {
        (0, 0) => return Ok(Value::str(&format!("{sign}0x0.0p+0"))),
        (0, _) => (0, -1022),
        (e, _) => (1, e - 1023),
    };
    Ok(Value::str(&format!("{sign}0x{lead}.{mantissa:013x}p{e:+}")))
}

/// `float.__getformat__(kind)`: how floats of that C type are laid out.
fn getformat(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "__getformat__", 1, 1)?;
    match &*it.bytes_of(&args.pos[0])? {
        b"double" | b"float" => Ok(Value::bytes(b"IEEE, little-endian")),
        _ => it.value_error("__getformat__() argument 1 must be 'double' or 'float'"),
    }
}

fn fromhex(it: &mut Interp, args: Args<'_>) -> R {
    let text = match args.get(1) {
        Some(v) => it.name_of(v, "fromhex argument")?,
        None => String::new(),
    };
    let t = text.trim().to_ascii_lowercase();
    let (sign, t) = match t.strip_prefix('-') {
        Some(r) => (-1.0, r.to_owned()),
        None => (1.0, t),
    };
    let t = t.strip_prefix("0x").unwrap_or(&t).to_owned();
    let (m, e) = t.split_once('p').unwrap_or((&t, "0"));
    let (whole, frac) = m.split_once('.').unwrap_or((m, ""));
    let digits = format!("{whole}{frac}");
    let parsed = num_bigint::BigInt::parse_bytes(digits.as_bytes(), 16)
        .and_then(|n| n.to_f64())
        .zip(e.parse::<i32>().ok());
    match parsed {
        Some((n, e)) => Ok(Value::Float(
            sign * n * 2f64.powi(e - 4 * frac.len() as i32),
        )),
        None => it.value_error("invalid hexadecimal floating-point string"),
    }
}

macro_rules! number_methods {
    ($name:ident, $t:literal, $($extra:expr,)*) => {
        /// Methods of the class.
        pub(crate) const $name: &[Builtin] = &[
            Builtin::method(concat!($t, ".__add__"), operator_add),
            Builtin::method(concat!($t, ".__sub__"), operator_sub),
            Builtin::method(concat!($t, ".__mul__"), operator_mul),
            Builtin::method(concat!($t, ".__div__"), operator_div),
            Builtin::method(concat!($t, ".__truediv__"), operator_truediv),
            Builtin::method(concat!($t, ".__floordiv__"), operator_floordiv),
            Builtin::method(concat!($t, ".__mod__"), operator_mod),
            Builtin::method(concat!($t, ".__divmod__"), operator_divmod),
            Builtin::method(concat!($t, ".__pow__"), operator_pow),
            Builtin::method(concat!($t, ".__radd__"), operator_radd),
            Builtin::method(concat!($t, ".__rsub__"), operator_rsub),
            Builtin::method(concat!($t, ".__rmul__"), operator_rmul),
            Builtin::method(concat!($t, ".__rdiv__"), operator_rdiv),
            Builtin::method(concat!($t, ".__rtruediv__"), operator_rtruediv),
            Builtin::method(concat!($t, ".__rfloordiv__"), operator_rfloordiv),
            Builtin::method(concat!($t, ".__rmod__"), operator_rmod),
            Builtin::method(concat!($t, ".__rpow__"), operator_rpow),
            Builtin::method(concat!($t, ".__neg__"), operator_neg),
            Builtin::method(concat!($t, ".__pos__"), operator_pos),
            Builtin::method(concat!($t, ".__abs__"), operator_abs),
            Builtin::method(concat!($t, ".__nonzero__"), operator_nonzero),
            Builtin::method(concat!($t, ".__int__"), as_int),
            Builtin::method(concat!($t, ".__long__"), as_long),
            Builtin::method(concat!($t, ".__float__"), as_float),
            Builtin::method(concat!($t, ".__eq__"), operator_eq),
            Builtin::method(concat!($t, ".__ne__"), operator_ne),
            Builtin::method(concat!($t, ".__lt__"), operator_lt),
            Builtin::method(concat!($t, ".__le__"), operator_le),
            Builtin::method(concat!($t, ".__gt__"), operator_gt),
            Builtin::method(concat!($t, ".__ge__"), operator_ge),
            Builtin::method(concat!($t, ".__cmp__"), cmp),
            Builtin::method(concat!($t, ".conjugate"), conjugate),
            $($extra,)*
        ];
    };
}
number_methods!(
    INT,
    "int",
    Builtin::method("int.__and__", operator_and),
    Builtin::method("int.__or__", operator_or),
    Builtin::method("int.__xor__", operator_xor),
    Builtin::method("int.__lshift__", operator_lshift),
    Builtin::method("int.__rshift__", operator_rshift),
    Builtin::method("int.__rand__", operator_rand),
    Builtin::method("int.__ror__", operator_ror),
    Builtin::method("int.__rxor__", operator_rxor),
    Builtin::method("int.__rlshift__", operator_rlshift),
    Builtin::method("int.__rrshift__", operator_rrshift),
    Builtin::method("int.__invert__", operator_invert),
    Builtin::method("int.__index__", as_int),
    Builtin::method("int.bit_length", bit_length),
);
number_methods!(
    LONG,
    "long",
    Builtin::method("long.__and__", operator_and),
    Builtin::method("long.__or__", operator_or),
    Builtin::method("long.__xor__", operator_xor),
    Builtin::method("long.__lshift__", operator_lshift),
    Builtin::method("long.__rshift__", operator_rshift),
    Builtin::method("long.__rand__", operator_rand),
    Builtin::method("long.__ror__", operator_ror),
    Builtin::method("long.__rxor__", operator_rxor),
    Builtin::method("long.__rlshift__", operator_rlshift),
    Builtin::method("long.__rrshift__", operator_rrshift),
    Builtin::method("long.__invert__", operator_invert),
    Builtin::method("long.__index__", as_int),
    Builtin::method("long.bit_length", bit_length),
);
number_methods!(
    FLOAT,
    "float",
    Builtin::method("float.is_integer", is_integer),
    Builtin::method("float.as_integer_ratio", as_integer_ratio),
    Builtin::method("float.hex", hex),
    Builtin::class_method("float.fromhex", fromhex),
    Builtin::static_method("float.__getformat__", getformat),
);
number_methods!(COMPLEX, "complex",);
