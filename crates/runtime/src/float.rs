//! Text of floats and back, correctly rounded (C: `PyOS_double_to_string`,
//! `PyOS_string_to_double`).

use core::fmt::Write;

/// Flag: a sign also for positive numbers.
pub const SIGN: i64 = 1;
/// Flag: `.0` after integral values.
pub const ADD_DOT_0: i64 = 2;
/// Flag: alternate form, a point always and trailing zeros kept.
pub const ALTERNATE: i64 = 4;
/// Flag: exponents of one digit stay so.
pub const CUT_EXPONENT: i64 = 8;
/// Flag: no sign in front of what reads as zero.
pub const NO_NEGATIVE_ZERO: i64 = 16;

/// Most digits that are asked of the formatting machinery; a double has fewer.
const MAX_PRECISION: i64 = 1100;
/// Most digits after a point: the machinery takes no more.
const MAX_FIXED: i64 = 60_000;

/// Writes the text of `x` into `out` and returns its length. `code` is one of
/// `e E f F g G r`; for `r` the precision is ignored and the digits are the shortest
/// that read back. What does not fit `out` is cut.
pub fn format(x: f64, code: u8, precision: i64, flags: i64, out: &mut [u8]) -> i64 {
    let mut out = Text { out, len: 0 };
    let upper = code.is_ascii_uppercase();
    let negative = x.is_sign_negative() && !x.is_nan();
    if negative {
        out.push(b'-');
    } else if flags & SIGN != 0 && !x.is_nan() {
        out.push(b'+');
    }
    if !x.is_finite() {
        out.extend(match (x.is_nan(), upper) {
            (true, false) => b"nan",
            (true, true) => b"NAN",
            (false, false) => b"inf",
            (false, true) => b"INF",
        });
        return out.len as i64;
    }
    let start = out.len;
    let alternate = flags & ALTERNATE != 0;
    let style = Style {
        point: alternate,
        upper,
        exponent_digits: if flags & CUT_EXPONENT != 0 { 1 } else { 2 },
    };
    match code.to_ascii_lowercase() {
        b'f' => {
            let precision = precision.clamp(0, MAX_FIXED);
            let _ = write!(out, "{:.*}", precision as usize, x.abs());
            if alternate && precision == 0 {
                out.push(b'.');
            }
        }
        b'e' => {
            let d = Digits::exactly(x.abs(), precision.clamp(0, MAX_PRECISION) + 1);
            out.scientific(d.digits(), d.exponent, style);
        }
        b'g' => {
            let precision = precision.clamp(1, MAX_PRECISION);
            let d = Digits::exactly(x.abs(), precision);
            let digits = if alternate {
                d.digits()
            } else {
                without_trailing_zeros(d.digits())
            };
            // An integer of as many digits needs room for the `.0`.
            let room = precision - i64::from(flags & ADD_DOT_0 != 0);
            if (-4..room).contains(&d.exponent) {
                out.fixed(digits, d.exponent, alternate);
            } else {
                out.scientific(digits, d.exponent, style);
            }
        }
        _ => {
            let d = Digits::shortest(x.abs());
            if (-4..16).contains(&d.exponent) {
                out.fixed(d.digits(), d.exponent, alternate);
            } else {
                out.scientific(d.digits(), d.exponent, style);
            }
        }
    }
    let digits_only = out.written(start).iter().all(u8::is_ascii_digit);
    if flags & ADD_DOT_0 != 0 && digits_only {
        out.extend(b".0");
    }
    if negative && flags & NO_NEGATIVE_ZERO != 0 && reads_as_zero(out.written(start)) {
        out.remove_sign();
    }
    out.len as i64
}

/// Value of a float literal; 0 for what [`parse_ok`] refuses.
pub fn parse(text: &[u8]) -> f64 {
    parsed(text).unwrap_or(0.0)
}

/// Whether the text is a float literal: of digits, unlike Python's `float('inf')`.
pub fn parse_ok(text: &[u8]) -> bool {
    parsed(text).is_some()
}

/// What a float literal stands for.
pub(crate) fn parsed(text: &[u8]) -> Option<f64> {
    let digits = text.strip_prefix(b"-").or(text.strip_prefix(b"+"));
    if !matches!(digits.unwrap_or(text), [b'0'..=b'9' | b'.', ..]) {
        return None;
    }
    core::str::from_utf8(text).ok()?.parse().ok()
}

/// First result of `frexp`.
pub fn frexp_mantissa(x: f64) -> f64 {
    frexp(x).0
}

/// Second result of `frexp`.
pub fn frexp_exponent(x: f64) -> i64 {
    frexp(x).1
}

/// `x` as `m * 2**e` with `0.5 <= abs(m) < 1`.
fn frexp(x: f64) -> (f64, i64) {
    if x == 0.0 || !x.is_finite() {
        return (x, 0);
    }
    let subnormal = x.abs() < f64::MIN_POSITIVE;
    let (bits, bias) = if subnormal {
        ((x * (1u64 << 54) as f64).to_bits(), 1022 + 54)
    } else {
        (x.to_bits(), 1022)
    };
    let exponent = (bits >> 52 & 0x7ff) as i64 - bias;
    let mantissa = f64::from_bits(bits & !(0x7ff << 52) | 1022 << 52);
    (mantissa, exponent)
}

/// `x * 2**n`
pub fn ldexp(x: f64, n: i64) -> f64 {
    let n = n.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32;
    // SAFETY: a pure function of the C library.
    unsafe { crate::sys::ldexp(x, n) }
}

/// How numbers with an exponent are written.
#[derive(Clone, Copy)]
struct Style {
    /// A point even if no digit follows.
    point: bool,
    upper: bool,
    /// At least so many digits in the exponent.
    exponent_digits: usize,
}

/// Output that drops what does not fit.
struct Text<'a> {
    out: &'a mut [u8],
    len: usize,
}

impl Text<'_> {
    fn push(&mut self, b: u8) {
        if let Some(slot) = self.out.get_mut(self.len) {
            *slot = b;
            self.len += 1;
        }
    }

    fn extend(&mut self, s: &[u8]) {
        s.iter().for_each(|b| self.push(*b));
    }

    fn written(&self, from: usize) -> &[u8] {
        &self.out[from..self.len]
    }

    /// Takes back the first character.
    fn remove_sign(&mut self) {
        self.out.copy_within(1..self.len, 0);
        self.len -= 1;
    }

    /// `d.ddde+XX`
    fn scientific(&mut self, digits: &[u8], exponent: i64, style: Style) {
        self.push(digits[0]);
        if digits.len() > 1 || style.point {
            self.push(b'.');
        }
        self.extend(&digits[1..]);
        self.push(if style.upper { b'E' } else { b'e' });
        self.push(if exponent < 0 { b'-' } else { b'+' });
        let width = style.exponent_digits;
        let _ = write!(self, "{:0width$}", exponent.unsigned_abs());
    }

    /// `ddd.ddd`, the point after digit number `exponent`.
    fn fixed(&mut self, digits: &[u8], exponent: i64, point: bool) {
        if exponent < 0 {
            self.extend(b"0.");
            (1..-exponent).for_each(|_| self.push(b'0'));
            self.extend(digits);
            return;
        }
        let whole = exponent as usize + 1;
        let (before, after) = digits.split_at(whole.min(digits.len()));
        self.extend(before);
        (before.len()..whole).for_each(|_| self.push(b'0'));
        if !after.is_empty() || point {
            self.push(b'.');
        }
        self.extend(after);
    }
}

impl Write for Text<'_> {
    fn write_str(&mut self, s: &str) -> core::fmt::Result {
        self.extend(s.as_bytes());
        Ok(())
    }
}

/// Significant decimal digits and the decimal exponent of the first one.
struct Digits {
    buffer: [u8; MAX_PRECISION as usize + 16],
    len: usize,
    exponent: i64,
}

impl Digits {
    /// That many digits, correctly rounded.
    fn exactly(x: f64, count: i64) -> Digits {
        Self::from_text(|t| write!(t, "{:.*e}", (count - 1) as usize, x))
    }

    /// The fewest that read back as `x`.
    fn shortest(x: f64) -> Digits {
        let mut d = Self::from_text(|t| write!(t, "{x:e}"));
        d.break_tie(x);
        d
    }

    /// Of two shortest texts that are equally far from `x`, Python takes the one that ends
    /// in an even digit; the formatting machinery takes the greater one.
    fn break_tie(&mut self, x: f64) {
        // Texts of fewer digits are farther apart than the floats that read as `x`.
        const FEWEST: usize = 15;
        let len = self.len;
        if len < FEWEST || self.buffer[len - 1] & 1 == 0 {
            return;
        }
        let middle = |d: &Digits| {
            d.exponent == self.exponent
                && d.buffer[len - 1] + 1 == self.buffer[len - 1]
                && d.buffer[len] == b'5'
                && d.buffer[len + 1..d.len].iter().all(|b| *b == b'0')
        };
        // A few digits tell most numbers apart, and all are few enough only for some.
        if middle(&Self::exactly(x, len as i64 + 4)) && middle(&Self::exactly(x, MAX_PRECISION)) {
            self.buffer[len - 1] -= 1;
        }
    }

    /// Takes apart `d.ddde-5`.
    fn from_text(f: impl FnOnce(&mut Text<'_>) -> core::fmt::Result) -> Digits {
        let mut d = Digits {
            buffer: [0; MAX_PRECISION as usize + 16],
            len: 0,
            exponent: 0,
        };
        let mut text = Text {
            out: &mut d.buffer,
            len: 0,
        };
        let _ = f(&mut text);
        let len = text.len;
        let e = d.buffer[..len]
            .iter()
            .position(|b| *b == b'e')
            .unwrap_or(len);
        let mut exponent = 0i64;
        let mut negative = false;
        for b in &d.buffer[(e + 1).min(len)..len] {
            match b {
                b'-' => negative = true,
                digit => exponent = exponent * 10 + i64::from(digit - b'0'),
            }
        }
        d.exponent = if negative { -exponent } else { exponent };
        if e > 1 {
            d.buffer.copy_within(2..e, 1);
        }
        d.len = if e > 1 { e - 1 } else { e };
        d
    }

    fn digits(&self) -> &[u8] {
        &self.buffer[..self.len]
    }
}

/// Whether there is no digit but 0 in front of the exponent.
fn reads_as_zero(text: &[u8]) -> bool {
    let mantissa = text.iter().take_while(|b| !matches!(b, b'e' | b'E'));
    mantissa.into_iter().all(|b| matches!(b, b'0' | b'.'))
}

/// Keeps the first digit in any case.
fn without_trailing_zeros(digits: &[u8]) -> &[u8] {
    let last = digits.iter().rposition(|b| *b != b'0').unwrap_or(0);
    &digits[..=last]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fmt(x: f64, code: u8, precision: i64, flags: i64) -> String {
        let mut out = [0; 2000];
        let n = format(x, code, precision, flags, &mut out);
        String::from_utf8(out[..n as usize].to_vec()).unwrap()
    }

    #[test]
    fn as_python_prints_them() {
        let cases: &[(f64, u8, i64, i64, &str)] = &[
            (0.1, b'r', 0, ADD_DOT_0, "0.1"),
            (1.0, b'r', 0, ADD_DOT_0, "1.0"),
            (-0.0, b'r', 0, ADD_DOT_0, "-0.0"),
            (1e16, b'r', 0, ADD_DOT_0, "1e+16"),
            (
                123456789012345680.0,
                b'r',
                0,
                ADD_DOT_0,
                "1.2345678901234568e+17",
            ),
            (1e15, b'r', 0, ADD_DOT_0, "1000000000000000.0"),
            (1e-4, b'r', 0, ADD_DOT_0, "0.0001"),
            (1e-5, b'r', 0, ADD_DOT_0, "1e-05"),
            (5e-324, b'r', 0, ADD_DOT_0, "5e-324"),
            (0.1 + 0.2, b'r', 0, ADD_DOT_0, "0.30000000000000004"),
            (0.1 + 0.2, b'g', 12, ADD_DOT_0, "0.3"),
            (1e12, b'g', 12, ADD_DOT_0, "1e+12"),
            (1e11, b'g', 12, ADD_DOT_0, "1e+11"),
            (1e10, b'g', 12, ADD_DOT_0, "10000000000.0"),
            (1.0 / 3.0, b'g', 12, 0, "0.333333333333"),
            (1234567.0, b'g', 6, 0, "1.23457e+06"),
            (100000.0, b'g', 6, 0, "100000"),
            (100000.0, b'g', 6, ALTERNATE, "100000."),
            (0.0, b'g', 6, 0, "0"),
            (0.5, b'f', 0, 0, "0"),
            (1.5, b'f', 0, 0, "2"),
            (2.5, b'f', 0, 0, "2"),
            (2.5, b'f', 0, ALTERNATE, "2."),
            (0.125, b'f', 2, 0, "0.12"),
            (2.675, b'f', 2, 0, "2.67"),
            (1e22, b'f', 1, 0, "10000000000000000000000.0"),
            (2.71859, b'f', 3, SIGN, "+2.719"),
            (12345.678, b'e', 3, 0, "1.235e+04"),
            (12345.678, b'E', 0, 0, "1E+04"),
            (0.0, b'e', 2, 0, "0.00e+00"),
            (12345.678, b'e', 3, CUT_EXPONENT, "1.235e+4"),
            (1.0, b'g', 1, ADD_DOT_0, "1e+00"),
            (1e16, b'g', 17, ADD_DOT_0, "1e+16"),
            (10.0, b'g', 2, 0, "10"),
            (-0.001, b'f', 2, NO_NEGATIVE_ZERO, "0.00"),
            (-0.001, b'f', 3, NO_NEGATIVE_ZERO, "-0.001"),
            (-0.0, b'e', 1, NO_NEGATIVE_ZERO, "0.0e+00"),
            // Exactly between two texts of 16 digits.
            (3602879701896397.0 / 4.0, b'r', 0, 0, "900719925474099.2"),
            (7378697629483821.0 / 4.0, b'r', 0, 0, "1844674407370955.2"),
            (3602879701896399.0 / 4.0, b'r', 0, 0, "900719925474099.8"),
            (f64::NAN, b'r', 0, ADD_DOT_0, "nan"),
            (f64::NAN, b'f', 2, SIGN, "nan"),
            (f64::INFINITY, b'f', 2, SIGN, "+inf"),
            (f64::NEG_INFINITY, b'G', 2, 0, "-INF"),
        ];
        for (x, code, precision, flags, expected) in cases {
            let got = fmt(*x, *code, *precision, *flags);
            assert_eq!(got, *expected, "{x:?} {}", *code as char);
        }
    }

    #[test]
    fn literals() {
        for (text, value) in [
            ("1", Some(1.0)),
            ("-.5", Some(-0.5)),
            ("1.e3", Some(1000.0)),
            ("+Infinity", None),
            ("nan", None),
            ("0.1", Some(0.1)),
            ("", None),
            (".", None),
            ("1_0", None),
            ("1 ", None),
            ("0x10", None),
        ] {
            assert_eq!(parsed(text.as_bytes()), value, "{text:?}");
        }
    }

    #[test]
    fn powers_of_two() {
        for x in [1.0, -3.5, 1e300, 5e-324, 0.1] {
            let (m, e) = frexp(x);
            assert!((0.5..1.0).contains(&m.abs()));
            assert_eq!(ldexp(m, e), x);
        }
        assert_eq!(frexp(0.0), (0.0, 0));
        assert_eq!(ldexp(1.0, i64::MAX), f64::INFINITY);
    }
}
