//! `math`.

use std::f64::consts::LN_2;

use num_bigint::BigInt;
use num_traits::{FromPrimitive, Signed, ToPrimitive};

use crate::space::builtin::{Args, Builtin};
use crate::space::heap::Ref;
use crate::space::types::ty;
use crate::space::value::Value;
use crate::space::{Interp, R};

/// Above this number `sqrt(x * x + 1)` equals `x`.
const LARGE: f64 = 1e10;

fn float(it: &mut Interp, args: Args<'_>, i: usize, f: &str) -> R<f64> {
    let v = args.need(it, i, f)?;
    it.float_of(v)
}

/// Checks a result as C's `errno` would: no NaN or infinity out of finite operands.
fn checked(it: &mut Interp, r: f64, operands: &[f64]) -> R {
    if r.is_nan() && !operands.iter().any(|x| x.is_nan()) {
        return it.value_error("math domain error");
    }
    if r.is_infinite() && operands.iter().all(|x| x.is_finite()) {
        return it.raise(ty::OVERFLOW_ERROR, "math range error");
    }
    Ok(Value::Float(r))
}

macro_rules! unary {
    ($($name:ident = $f:expr;)*) => {
        $(fn $name(it: &mut Interp, args: Args<'_>) -> R {
            let x = float(it, args, 0, stringify!($name))?;
            let f: fn(f64) -> f64 = $f;
            checked(it, f(x), &[x])
        })*
    };
}
unary! {
    acos = f64::acos;
    // The product in `ln(2 * x)` may overflow.
    acosh = |x| if x > LARGE { x.ln() + LN_2 } else { x.acosh() };
    asin = f64::asin;
    asinh = |x| if x.abs() > LARGE { (x.abs().ln() + LN_2).copysign(x) } else { x.asinh() };
    atan = f64::atan;
    // A pole is a domain error, not an overflow.
    atanh = |x| if x.abs() == 1.0 { f64::NAN } else { x.atanh() };
    ceil = f64::ceil;
    cos = f64::cos;
    cosh = f64::cosh;
    erf = libm::erf;
    erfc = libm::erfc;
    exp = f64::exp;
    expm1 = f64::exp_m1;
    fabs = f64::abs;
    floor = f64::floor;
    log1p = f64::ln_1p;
    sin = f64::sin;
    sinh = f64::sinh;
    sqrt = f64::sqrt;
    tan = f64::tan;
    tanh = f64::tanh;
    degrees = f64::to_degrees;
    radians = f64::to_radians;
}

macro_rules! binary {
    ($($name:ident = $f:expr;)*) => {
        $(fn $name(it: &mut Interp, args: Args<'_>) -> R {
            let x = float(it, args, 0, stringify!($name))?;
            let y = float(it, args, 1, stringify!($name))?;
            let f: fn(f64, f64) -> f64 = $f;
            checked(it, f(x, y), &[x, y])
        })*
    };
}
binary! {
    atan2 = f64::atan2;
    copysign = f64::copysign;
    fmod = |x, y| x % y;
    hypot = f64::hypot;
    pow = f64::powf;
}

fn gamma(it: &mut Interp, args: Args<'_>) -> R {
    let x = float(it, args, 0, "gamma")?;
    if x == 0.0 {
        return it.value_error("math domain error");
    }
    checked(it, libm::tgamma(x), &[x])
}

fn lgamma(it: &mut Interp, args: Args<'_>) -> R {
    let x = float(it, args, 0, "lgamma")?;
    if x <= 0.0 && x == x.floor() && x.is_finite() {
        return it.value_error("math domain error");
    }
    checked(it, libm::lgamma(x), &[x])
}

fn logarithm(it: &mut Interp, v: &Value) -> R<f64> {
    if let Value::Long(l) = v
        && l.bits() > 1000
    {
        let shift = l.bits() - 64;
        let top = (&**l >> shift).to_f64().unwrap_or(1.0);
        return Ok(top.ln() + shift as f64 * LN_2);
    }
    let x = it.float_of(v)?;
    if x <= 0.0 {
        return it.value_error("math domain error");
    }
    Ok(x.ln())
}

fn log(it: &mut Interp, args: Args<'_>) -> R {
    let v = args.need(it, 0, "log")?;
    let x = logarithm(it, v)?;
    match args.get(1) {
        Some(base) => {
            let b = logarithm(it, base)?;
            Ok(Value::Float(x / b))
        }
        None => Ok(Value::Float(x)),
    }
}

fn log10(it: &mut Interp, args: Args<'_>) -> R {
    let x = float(it, args, 0, "log10")?;
    if x <= 0.0 {
        return it.value_error("math domain error");
    }
    Ok(Value::Float(x.log10()))
}

fn isnan(it: &mut Interp, args: Args<'_>) -> R {
    Ok(Value::Bool(float(it, args, 0, "isnan")?.is_nan()))
}

fn isinf(it: &mut Interp, args: Args<'_>) -> R {
    Ok(Value::Bool(float(it, args, 0, "isinf")?.is_infinite()))
}

fn modf(it: &mut Interp, args: Args<'_>) -> R {
    let x = float(it, args, 0, "modf")?;
    let whole = x.trunc();
    let part = if x.is_infinite() { 0.0 } else { x - whole };
    Ok(Value::tuple(vec![
        Value::Float(part.copysign(x)),
        Value::Float(whole),
    ]))
}

/// Mantissa in 0.5..1 and exponent.
pub(crate) fn frexp_parts(x: f64) -> (f64, i64) {
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    let mut e = ((x.to_bits() >> 52) & 0x7ff) as i64 - 1022;
    let mut m = x;
    if e == -1022 {
        m *= 2f64.powi(54);
        e = ((m.to_bits() >> 52) & 0x7ff) as i64 - 1022 - 54;
    }
    let bits = (m.to_bits() & !(0x7ff << 52)) | (1022 << 52);
    (f64::from_bits(bits), e)
}

fn frexp(it: &mut Interp, args: Args<'_>) -> R {
    let x = float(it, args, 0, "frexp")?;
    let (m, e) = frexp_parts(x);
    Ok(Value::tuple(vec![Value::Float(m), Value::Int(e)]))
}

fn ldexp(it: &mut Interp, args: Args<'_>) -> R {
    let x = float(it, args, 0, "ldexp")?;
    let arg = args.need(it, 1, "ldexp")?;
    let e = match arg {
        Value::Long(l) => i32::from(l.is_positive()) * 6000 - 3000,
        _ => it.index_of(arg)?.clamp(-3000, 3000) as i32,
    };
    if x == 0.0 || !x.is_finite() {
        return Ok(Value::Float(x));
    }
    let half = e / 2;
    checked(it, x * 2f64.powi(half) * 2f64.powi(e - half), &[x])
}

fn fsum(it: &mut Interp, args: Args<'_>) -> R {
    let mut sum = 0.0;
    let mut carry = 0.0;
    let arg = args.need(it, 0, "fsum")?;
    for v in it.list_of(arg)? {
        let x = it.float_of(&v)?;
        let t: f64 = sum + x;
        carry += if f64::abs(sum) >= f64::abs(x) {
            (sum - t) + x
        } else {
            (x - t) + sum
        };
        sum = t;
    }
    Ok(Value::Float(sum + carry))
}

fn factorial(it: &mut Interp, args: Args<'_>) -> R {
    let arg = args.need(it, 0, "factorial")?;
    let n = it.index_of(arg)?;
    if !(0..=5000).contains(&n) {
        return it.value_error("factorial() not defined for negative values");
    }
    let product = (1..=n).fold(BigInt::from(1), |p, i| p * i);
    Ok(Value::int_or_long(product))
}

fn trunc(it: &mut Interp, args: Args<'_>) -> R {
    let x = float(it, args, 0, "trunc")?;
    Ok(Value::int_or_long(
        BigInt::from_f64(x.trunc()).unwrap_or_default(),
    ))
}

/// Functions of `math`.
pub(crate) const MATH: &[Builtin] = &[
    Builtin::function("math.acos", acos),
    Builtin::function("math.acosh", acosh),
    Builtin::function("math.asin", asin),
    Builtin::function("math.asinh", asinh),
    Builtin::function("math.atan", atan),
    Builtin::function("math.atan2", atan2),
    Builtin::function("math.atanh", atanh),
    Builtin::function("math.ceil", ceil),
    Builtin::function("math.copysign", copysign),
    Builtin::function("math.cos", cos),
    Builtin::function("math.cosh", cosh),
    Builtin::function("math.degrees", degrees),
    Builtin::function("math.erf", erf),
    Builtin::function("math.erfc", erfc),
    Builtin::function("math.exp", exp),
    Builtin::function("math.expm1", expm1),
    Builtin::function("math.fabs", fabs),
    Builtin::function("math.factorial", factorial),
    Builtin::function("math.floor", floor),
    Builtin::function("math.fmod", fmod),
    Builtin::function("math.frexp", frexp),
    Builtin::function("math.fsum", fsum),
    Builtin::function("math.gamma", gamma),
    Builtin::function("math.hypot", hypot),
    Builtin::function("math.isinf", isinf),
    Builtin::function("math.isnan", isnan),
    Builtin::function("math.ldexp", ldexp),
    Builtin::function("math.lgamma", lgamma),
    Builtin::function("math.log", log),
    Builtin::function("math.log10", log10),
    Builtin::function("math.log1p", log1p),
    Builtin::function("math.modf", modf),
    Builtin::function("math.pow", pow),
    Builtin::function("math.radians", radians),
    Builtin::function("math.sin", sin),
    Builtin::function("math.sinh", sinh),
    Builtin::function("math.sqrt", sqrt),
    Builtin::function("math.tan", tan),
    Builtin::function("math.tanh", tanh),
    Builtin::function("math.trunc", trunc),
];

/// The constants of `math`.
pub(crate) fn init(it: &mut Interp, m: Ref) {
    it.heap
        .set_attr(m, "pi", Value::Float(std::f64::consts::PI));
    it.heap.set_attr(m, "e", Value::Float(std::f64::consts::E));
}
