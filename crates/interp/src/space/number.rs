//! Arithmetic of ints, longs and floats, and conversions between them.

use num_bigint::{BigInt, Sign};
use num_integer::Integer;
use num_traits::{FromPrimitive, Pow, Signed, ToPrimitive, Zero};
use taipan_graph::HlOp;

use super::types::ty;
use super::value::Value;
use super::{Interp, R};
use crate::Complex;
use crate::complex::Trouble;

/// A number for arithmetic.
enum Num {
    Int(i64),
    Long(BigInt),
    Float(f64),
    Complex(Complex),
}

fn num(v: &Value) -> Option<Num> {
    Some(match v {
        Value::Bool(b) => Num::Int(i64::from(*b)),
        Value::Int(i) => Num::Int(*i),
        Value::Long(l) => Num::Long((**l).clone()),
        Value::Float(f) => Num::Float(*f),
        Value::Complex(c) => Num::Complex(*c),
        _ => return None,
    })
}

impl Interp<'_> {
    /// Arithmetic on two builtin numbers; None if they are none.
    pub(crate) fn arithmetic(&mut self, op: HlOp, a: &Value, b: &Value) -> R<Option<Value>> {
        let (Some(x), Some(y)) = (num(a), num(b)) else {
            return Ok(None);
        };
        Ok(Some(match (x, y) {
            (Num::Int(x), Num::Int(y)) => match (op, a, b) {
                (HlOp::And, Value::Bool(p), Value::Bool(q)) => Value::Bool(*p & *q),
                (HlOp::Or, Value::Bool(p), Value::Bool(q)) => Value::Bool(*p | *q),
                (HlOp::Xor, Value::Bool(p), Value::Bool(q)) => Value::Bool(*p ^ *q),
                _ => self.int_op(op, x, y)?,
            },
            (Num::Complex(x), y) => {
                let y = self.as_complex(y)?;
                self.complex_op(op, x, y)?
            }
            (x, Num::Complex(y)) => {
                let x = self.as_complex(x)?;
                self.complex_op(op, x, y)?
            }
            (Num::Float(x), Num::Float(y)) => self.float_op(op, x, y)?,
            (Num::Float(x), y) => {
                let y = self.as_float(y)?;
                self.float_op(op, x, y)?
            }
            (x, Num::Float(y)) => {
                let x = self.as_float(x)?;
                self.float_op(op, x, y)?
            }
            (x, y) => self.long_op(op, &big(x), &big(y))?,
        }))
    }

    fn as_complex(&mut self, n: Num) -> R<Complex> {
        Ok(match n {
            Num::Complex(c) => c,
            n => Complex {
                re: self.as_float(n)?,
                im: 0.0,
            },
        })
    }

    fn complex_op(&mut self, op: HlOp, x: Complex, y: Complex) -> R {
        match x.binary(op, y) {
            Ok(c) => Ok(Value::Complex(c)),
            Err(Trouble::Zero(message)) => self.zero_division(message),
            Err(Trouble::Overflow) => self.raise(ty::OVERFLOW_ERROR, "complex exponentiation"),
            Err(Trouble::NoOperation) => {
                self.type_error(format!("unsupported operand type(s) for {op}: 'complex'"))
            }
        }
    }

    /// A number as one of the kind of another if that is wider, as it is otherwise; None
    /// where one of them is no number.
    pub(crate) fn as_kind_of(&mut self, v: &Value, other: &Value) -> R<Option<Value>> {
        let (Some(n), Some(o)) = (num(v), num(other)) else {
            return Ok(None);
        };
        Ok(Some(match (n, o) {
            (Num::Complex(_), _) => v.clone(),
            (n, Num::Complex(_)) => Value::Complex(self.as_complex(n)?),
            (Num::Float(_), _) => v.clone(),
            (n, Num::Float(_)) => Value::Float(self.as_float(n)?),
            (n @ Num::Int(_), Num::Long(_)) => Value::long(big(n)),
            _ => v.clone(),
        }))
    }

    /// `complex(real, imag)` of numbers.
    pub(crate) fn complex_of(&mut self, real: Option<&Value>, imag: Option<&Value>) -> R {
        let mut part = |v: Option<&Value>| match v {
            None => Ok(Complex::imaginary(0.0)),
            Some(v) => match num(&self.unboxed(v)) {
                Some(n) => self.as_complex(n),
                None => self.type_error("complex() argument must be a number"),
            },
        };
        let (real, imag) = (part(real)?, part(imag)?);
        Ok(Value::Complex(Complex {
            re: real.re - imag.im,
            im: real.im + imag.re,
        }))
    }

    fn as_float(&mut self, n: Num) -> R<f64> {
        match (&n, to_f64(&n)) {
            (_, Some(f)) => Ok(f),
            (Num::Complex(_), _) => self.type_error("can't convert complex to float"),
            _ => self.raise(ty::OVERFLOW_ERROR, "long int too large to convert to float"),
        }
    }

    fn int_op(&mut self, op: HlOp, x: i64, y: i64) -> R {
        let small = match op {
            HlOp::Add => x.checked_add(y),
            HlOp::Sub => x.checked_sub(y),
            HlOp::Mul => x.checked_mul(y),
            HlOp::And => Some(x & y),
            HlOp::Or => Some(x | y),
            HlOp::Xor => Some(x ^ y),
            HlOp::Div | HlOp::FloorDiv => {
                if y == 0 {
                    return self.zero_division("integer division or modulo by zero");
                }
                if y == -1 {
                    x.checked_neg()
                } else {
                    Some(Integer::div_floor(&x, &y))
                }
            }
            HlOp::Mod => {
                if y == 0 {
                    return self.zero_division("integer division or modulo by zero");
                }
                Some(if y == -1 {
                    0
                } else {
                    Integer::mod_floor(&x, &y)
                })
            }
            HlOp::TrueDiv => {
                if y == 0 {
                    return self.zero_division("division by zero");
                }
                return Ok(Value::Float(x as f64 / y as f64));
            }
            HlOp::LShift => {
                if y < 0 {
                    return self.value_error("negative shift count");
                }
                if x == 0 {
                    Some(0)
                } else if y < 64 && (x << y) >> y == x {
                    Some(x << y)
                } else {
                    None
                }
            }
            HlOp::RShift => {
                if y < 0 {
                    return self.value_error("negative shift count");
                }
                Some(x >> y.min(63))
            }
            HlOp::Pow => {
                if y < 0 {
                    return self.float_op(op, x as f64, y as f64);
                }
                u32::try_from(y).ok().and_then(|y| x.checked_pow(y))
            }
            _ => None,
        };
        match small {
            Some(v) => Ok(Value::Int(v)),
            None => self.long_op(op, &x.into(), &y.into()),
        }
    }

    fn zero_division<T>(&mut self, message: &str) -> R<T> {
        self.raise(ty::ZERO_DIVISION_ERROR, message)
    }

    fn long_op(&mut self, op: HlOp, x: &BigInt, y: &BigInt) -> R {
        let (n, m) = (words(x), words(y));
        match op {
            HlOp::Mul => self.work_long(products(n, m))?,
            HlOp::Div | HlOp::FloorDiv | HlOp::Mod => {
                self.work_long((n.saturating_sub(m) + 1) * m)?;
            }
            _ => self.work_items((n + m) as usize)?,
        }
        let v = match op {
            HlOp::Add => x + y,
            HlOp::Sub => x - y,
            HlOp::Mul => x * y,
            HlOp::And => x & y,
            HlOp::Or => x | y,
            HlOp::Xor => x ^ y,
            HlOp::Div | HlOp::FloorDiv | HlOp::Mod => {
                if y.is_zero() {
                    return self.zero_division("long division or modulo by zero");
                }
                if op == HlOp::Mod {
                    x.mod_floor(y)
                } else {
                    x.div_floor(y)
                }
            }
            HlOp::TrueDiv => {
                if y.is_zero() {
                    return self.zero_division("division by zero");
                }
                let (x, y) = (x.to_f64(), y.to_f64());
                return Ok(Value::Float(x.unwrap_or(0.0) / y.unwrap_or(1.0)));
            }
            HlOp::LShift | HlOp::RShift => {
                if y.is_negative() {
                    return self.value_error("negative shift count");
                }
                // CPython takes the count for a Py_ssize_t.
                let Some(n) = y.to_i64().and_then(|n| usize::try_from(n).ok()) else {
                    return self.raise(ty::OVERFLOW_ERROR, "long int too large to convert to int");
                };
                match op {
                    HlOp::RShift => x >> n,
                    _ if n < 1 << 24 => x << n,
                    _ => return self.raise(ty::MEMORY_ERROR, "shift count too large"),
                }
            }
            HlOp::Pow => {
                if y.is_negative() {
                    let (x, y) = (x.to_f64(), y.to_f64());
                    return self.float_op(op, x.unwrap_or(0.0), y.unwrap_or(0.0));
                }
                // The same again with every factor.
                let small = x.to_i8().filter(|x| matches!(x, -1..=1));
                let y = match small {
                    Some(_) if y.is_zero() => BigInt::zero(),
                    Some(_) => BigInt::from(if y.is_even() { 2 } else { 1 }),
                    None => y.clone(),
                };
                match y.to_u32() {
                    Some(n) if x.bits().saturating_mul(u64::from(n)) < 1 << 26 => {
                        // The last square costs as much as all before it.
                        let half = words(x) * u64::from(n) / 2;
                        self.work_long(2 * products(half, half))?;
                        Pow::pow(x, n)
                    }
                    _ => return self.raise(ty::MEMORY_ERROR, "power too large"),
                }
            }
            _ => return self.type_error(format!("unsupported operand type(s) for {op}")),
        };
        Ok(Value::long(v))
    }

    fn float_op(&mut self, op: HlOp, x: f64, y: f64) -> R {
        Ok(Value::Float(match op {
            HlOp::Add => x + y,
            HlOp::Sub => x - y,
            HlOp::Mul => x * y,
            HlOp::Div | HlOp::TrueDiv => {
                if y == 0.0 {
                    return self.zero_division("float division by zero");
                }
                x / y
            }
            HlOp::FloorDiv => {
                if y == 0.0 {
                    return self.zero_division("float divmod()");
                }
                float_divmod(x, y).0
            }
            HlOp::Mod => {
                if y == 0.0 {
                    return self.zero_division("float modulo");
                }
                float_divmod(x, y).1
            }
            HlOp::Pow => {
                if x == 0.0 && y < 0.0 {
                    return self.zero_division("0.0 cannot be raised to a negative power");
                }
                if x < 0.0 && x.is_finite() && y.is_finite() && y.fract() != 0.0 {
                    return self
                        .value_error("negative number cannot be raised to a fractional power");
                }
                let r = x.powf(y);
                if r.is_infinite() && x.is_finite() && y.is_finite() {
                    return self.raise(ty::OVERFLOW_ERROR, "Numerical result out of range");
                }
                r
            }
            _ => return self.type_error(format!("unsupported operand type(s) for {op}: 'float'")),
        }))
    }

    /// An operation on one builtin number; None if it is none.
    pub(crate) fn unary_number(&mut self, op: HlOp, v: &Value) -> Option<Value> {
        Some(match (op, num(v)?) {
            (HlOp::Pos, Num::Int(i)) => Value::Int(i),
            (HlOp::Pos, _) => v.clone(),
            (HlOp::Neg, Num::Int(i)) => match i.checked_neg() {
                Some(n) => Value::Int(n),
                None => Value::long(-BigInt::from(i)),
            },
            (HlOp::Neg, Num::Long(l)) => Value::long(-l),
            (HlOp::Neg, Num::Float(f)) => Value::Float(-f),
            (HlOp::Neg, Num::Complex(c)) => Value::Complex(c.negated()),
            (HlOp::Abs, Num::Complex(c)) => Value::Float(c.abs()),
            (HlOp::Abs, Num::Int(i)) => match i.checked_abs() {
                Some(n) => Value::Int(n),
                None => Value::long(BigInt::from(i).abs()),
            },
            (HlOp::Abs, Num::Long(l)) => Value::long(l.abs()),
            (HlOp::Abs, Num::Float(f)) => Value::Float(f.abs()),
            (HlOp::Invert, Num::Int(i)) => Value::Int(!i),
            (HlOp::Invert, Num::Long(l)) => Value::long(-l - 1),
            _ => return None,
        })
    }

    /// `int(v, base)`
    pub(crate) fn int_of(&mut self, v: &Value, base: Option<&Value>) -> R {
        let v = &self.unboxed(v);
        if let Some(base) = base {
            let base = self.index_of(base)?;
            let text = match v {
                Value::Str(s) => String::from_utf8_lossy(s).into_owned(),
                Value::Unicode(u) => text_of(u),
                _ => {
                    return self.type_error("int() can't convert non-string with explicit base");
                }
            };
            return self.int_of_text(&text, base);
        }
        match v {
            Value::Bool(b) => Ok(Value::Int(i64::from(*b))),
            Value::Int(_) => Ok(v.clone()),
            Value::Long(l) => Ok(Value::int_or_long((**l).clone())),
            Value::Float(f) => {
                if f.is_nan() {
                    return self.value_error("cannot convert float NaN to integer");
                }
                match truncated(*f) {
                    Some(l) => Ok(Value::int_or_long(l)),
                    None => self.raise(
                        ty::OVERFLOW_ERROR,
                        "cannot convert float infinity to integer",
                    ),
                }
            }
            Value::Str(s) => {
                let text = String::from_utf8_lossy(s).into_owned();
                self.int_of_text(&text, 10)
            }
            Value::Unicode(u) => self.int_of_text(&text_of(u), 10),
            _ => {
                for name in ["__int__", "__trunc__", "__long__"] {
                    if let Some(r) = self.call_special(v, name, &[])? {
                        return Ok(r);
                    }
                }
                let t = self.heap.type_name(v).to_owned();
                self.type_error(format!(
                    "int() argument must be a string or a number, not '{t}'"
                ))
            }
        }
    }

    /// `long(v)` of what `int` answered.
    pub(crate) fn long_of(&mut self, v: &Value) -> R {
        match self.unboxed(v) {
            Value::Bool(b) => Ok(Value::long(i64::from(b).into())),
            Value::Int(i) => Ok(Value::long(i.into())),
            other => Ok(other),
        }
    }

    fn int_of_text(&mut self, text: &str, base: i64) -> R {
        if base != 0 && !(2..=36).contains(&base) {
            return self.value_error("int() base must be >= 2 and <= 36");
        }
        let radix = if base == 0 { 10 } else { base as u32 };
        self.work_radix(text.len() as u64 / 12 + 1, radix)?;
        match parse_int(text, base, true) {
            Some(v) => Ok(Value::int_or_long(v)),
            None => {
                let quoted = super::repr::quote_bytes(text.as_bytes());
                self.value_error(format!(
                    "invalid literal for int() with base {base}: {quoted}"
                ))
            }
        }
    }

    /// A long in a base, with a sign.
    pub(crate) fn digits(&mut self, v: &BigInt, base: u32) -> R<String> {
        self.work_radix(words(v), base)?;
        Ok(v.to_str_radix(base))
    }

    /// `base ** exponent % modulus`
    pub(crate) fn power_modulo(
        &mut self,
        base: &BigInt,
        exponent: &BigInt,
        modulus: &BigInt,
    ) -> R<BigInt> {
        let m = words(modulus);
        let square = m.saturating_mul(m).saturating_mul(2);
        self.work_long(exponent.bits().saturating_mul(square))?;
        self.work_long(words(base).saturating_mul(m))?;
        Ok(base.modpow(exponent, modulus))
    }

    /// Counts the conversion of a number of so many digits from or to a base.
    fn work_radix(&mut self, words: u64, base: u32) -> R<()> {
        if base.is_power_of_two() {
            return self.work_items(words as usize);
        }
        self.work_long(words.saturating_mul(words))
    }

    /// `float(v)`
    pub(crate) fn float_of(&mut self, v: &Value) -> R<f64> {
        let v = &self.unboxed(v);
        match v {
            Value::Str(_) | Value::Unicode(_) => {
                let text = match v {
                    Value::Str(s) => String::from_utf8_lossy(s).into_owned(),
                    Value::Unicode(u) => text_of(u),
                    _ => String::new(),
                };
                match parse_float(&text) {
                    Some(f) => Ok(f),
                    None => self.value_error(format!("could not convert string to float: {text}")),
                }
            }
            _ => match num(v) {
                Some(n) => self.as_float(n),
                None => {
                    if let Some(r) = self.call_special(v, "__float__", &[])? {
                        return self.float_of(&r);
                    }
                    let t = self.heap.type_name(v).to_owned();
                    let message = if t == "instance" || t == "NoneType" {
                        "float() argument must be a string or a number".to_owned()
                    } else {
                        format!("float() argument must be a string or a number, not '{t}'")
                    };
                    self.type_error(message)
                }
            },
        }
    }

    /// An integer for use as an index or count.
    pub(crate) fn index_of(&mut self, v: &Value) -> R<i64> {
        match self.unboxed(v) {
            Value::Bool(b) => Ok(i64::from(b)),
            Value::Int(i) => Ok(i),
            Value::Long(l) => match l.to_i64() {
                Some(i) => Ok(i),
                None => self.raise(
                    ty::OVERFLOW_ERROR,
                    "Python int too large to convert to C long",
                ),
            },
            other => {
                for name in ["__index__", "__int__"] {
                    if let Some(r) = self.call_special(&other, name, &[])? {
                        return self.index_of(&r);
                    }
                }
                self.type_error("an integer is required")
            }
        }
    }

    /// The integer value of an int, long or bool, if it is one.
    pub(crate) fn big_int(&self, v: &Value) -> Option<BigInt> {
        integer(&self.unboxed(v))
    }
}

impl Value {
    /// A builtin number as a complex one; none for other values.
    pub(crate) fn as_complex(&self) -> Option<Complex> {
        let re = match num(self)? {
            Num::Complex(c) => return Some(c),
            Num::Float(f) => f,
            Num::Int(i) => i as f64,
            Num::Long(l) => l.to_f64()?,
        };
        Some(Complex { re, im: 0.0 })
    }
}

/// The integer value of an int, long or bool that is in no box.
pub(crate) fn integer(v: &Value) -> Option<BigInt> {
    match v {
        Value::Bool(b) => Some(i64::from(*b).into()),
        Value::Int(i) => Some((*i).into()),
        Value::Long(l) => Some((**l).clone()),
        _ => None,
    }
}

/// A number other than a complex one as a float; none where it is too large.
pub(crate) fn as_f64(v: &Value) -> Option<f64> {
    to_f64(&num(v)?)
}

fn to_f64(n: &Num) -> Option<f64> {
    match n {
        Num::Complex(_) => None,
        Num::Int(i) => Some(*i as f64),
        Num::Float(f) => Some(*f),
        Num::Long(l) => l.to_f64().filter(|f| f.is_finite()),
    }
}

/// The integral part of a float; none if it is not finite.
pub(crate) fn truncated(f: f64) -> Option<BigInt> {
    BigInt::from_f64(f.trunc())
}

/// An integer literal as `int()` takes it in a base, or in the base that it says itself
/// for 0. `long` ones may end in an L.
pub(crate) fn parse_int(text: &str, base: i64, long: bool) -> Option<BigInt> {
    let t = text.trim();
    let (negative, digits) = match t.as_bytes().first() {
        Some(b'-') => (true, &t[1..]),
        Some(b'+') => (false, &t[1..]),
        _ => (false, t),
    };
    let lower = digits.to_ascii_lowercase();
    let (base, digits) = match (base, lower.as_bytes()) {
        (16 | 0, [b'0', b'x', ..]) => (16, &lower[2..]),
        (8 | 0, [b'0', b'o', ..]) => (8, &lower[2..]),
        (2 | 0, [b'0', b'b', ..]) => (2, &lower[2..]),
        (0, [b'0', _, ..]) => (8, &lower[1..]),
        (0, _) => (10, &lower[..]),
        (b, _) => (b, &lower[..]),
    };
    let digits = digits
        .strip_suffix('l')
        .filter(|_| long && base < 22)
        .unwrap_or(digits);
    if digits.is_empty() || digits.contains(['_', '+', '-']) {
        return None;
    }
    let v = BigInt::parse_bytes(digits.as_bytes(), base as u32)?;
    Some(if negative { -v } else { v })
}

/// Digits of 64 bits.
fn words(n: &BigInt) -> u64 {
    n.bits() / 64 + 1
}

/// Products of digits that multiplying numbers of so many digits takes, about: large numbers
/// are multiplied by Karatsuba's and Toom's methods.
fn products(n: u64, m: u64) -> u64 {
    let (small, large) = (n.min(m), n.max(m));
    if small <= 32 {
        return small * large;
    }
    (large / small + 1) * small * small.isqrt() * 4
}

fn big(n: Num) -> BigInt {
    match n {
        Num::Complex(c) => BigInt::from_f64(c.re).unwrap_or_default(),
        Num::Int(i) => i.into(),
        Num::Long(l) => l,
        Num::Float(f) => BigInt::from_f64(f).unwrap_or_default(),
    }
}

/// The text of code points.
pub(crate) fn text_of(u: &[u32]) -> String {
    u.iter()
        .map(|c| char::from_u32(*c).unwrap_or('\u{fffd}'))
        .collect()
}

/// A float literal as `float()` takes it.
pub(crate) fn parse_float(text: &str) -> Option<f64> {
    let t = text.trim();
    let bare = t.trim_start_matches(['+', '-']).to_ascii_lowercase();
    match &*bare {
        "inf" | "infinity" | "nan" => {}
        _ if bare.starts_with(|c: char| c.is_ascii_digit() || c == '.')
            && bare
                .chars()
                .all(|c| c.is_ascii_digit() || ".e+-".contains(c)) => {}
        _ => return None,
    }
    t.parse().ok()
}

/// Python's floor division and modulo of floats.
pub(crate) fn float_divmod(x: f64, y: f64) -> (f64, f64) {
    let mut m = x % y;
    let mut d = (x - m) / y;
    if m != 0.0 {
        if (y < 0.0) != (m < 0.0) {
            m += y;
            d -= 1.0;
        }
    } else {
        m = 0.0f64.copysign(y);
    }
    let floor = if d != 0.0 {
        let f = d.floor();
        if d - f > 0.5 { f + 1.0 } else { f }
    } else {
        0.0f64.copysign(x / y)
    };
    (floor, m)
}

/// Whether it is below zero.
pub(crate) fn is_negative(v: &BigInt) -> bool {
    v.sign() == Sign::Minus
}
