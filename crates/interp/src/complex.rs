//! Complex numbers. They exist while compiling only: import-time code computes with
//! them, and operations on constants of a function are folded. RPython has none at run
//! time.

use taipan_graph::{Const, HlOp};

use crate::space::format::general;
use crate::space::repr::float_repr;

/// A Python `complex`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Complex {
    /// The real part.
    pub re: f64,
    /// The imaginary part.
    pub im: f64,
}

/// Why there is no result, in Python's words.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Trouble {
    /// ZeroDivisionError
    Zero(&'static str),
    /// OverflowError
    Overflow,
    /// There is no such operation.
    NoOperation,
}

const TO_NEGATIVE: &str = "0.0 to a negative or complex power";

impl Complex {
    /// A number with an imaginary part alone, as literals have it.
    pub fn imaginary(im: f64) -> Complex {
        Complex { re: 0.0, im }
    }

    /// The number behind a constant: complex, float, int or bool; None for all else.
    pub(crate) fn of(c: &Const) -> Option<Complex> {
        let re = match c {
            Const::Complex(re, im) => {
                return Some(Complex {
                    re: f64::from_bits(*re),
                    im: f64::from_bits(*im),
                });
            }
            Const::Float(bits) => f64::from_bits(*bits),
            Const::Int(i) => *i as f64,
            Const::Bool(b) => f64::from(u8::from(*b)),
            _ => return None,
        };
        Some(Complex { re, im: 0.0 })
    }

    /// It as a constant.
    pub fn to_const(self) -> Const {
        Const::Complex(self.re.to_bits(), self.im.to_bits())
    }

    /// `repr(c)`
    pub(crate) fn repr(self) -> String {
        self.text(|x| {
            let s = float_repr(x);
            s.strip_suffix(".0").map_or(s.clone(), str::to_owned)
        })
    }

    /// `str(c)`: twelve digits of each part.
    pub(crate) fn str(self) -> String {
        self.text(|x| match x.is_finite() {
            true => general(x, 12, false, false),
            false => float_repr(x),
        })
    }

    fn text(self, part: impl Fn(f64) -> String) -> String {
        if self.re == 0.0 && self.re.is_sign_positive() {
            return format!("{}j", part(self.im));
        }
        let im = part(self.im);
        let plus = if im.starts_with('-') { "" } else { "+" };
        format!("({}{plus}{im}j)", part(self.re))
    }

    /// Arithmetic.
    pub(crate) fn binary(self, op: HlOp, other: Complex) -> Result<Complex, Trouble> {
        let (a, b) = (self, other);
        Ok(match op {
            HlOp::Add => Complex {
                re: a.re + b.re,
                im: a.im + b.im,
            },
            HlOp::Sub => a.minus(b),
            HlOp::Mul => a.times(b),
            HlOp::Div | HlOp::TrueDiv => match b.is_zero() {
                true => return Err(Trouble::Zero("complex division by zero")),
                false => a.divided(b),
            },
            HlOp::FloorDiv | HlOp::Mod => match b.is_zero() {
                true if op == HlOp::Mod => return Err(Trouble::Zero("complex remainder")),
                true => return Err(Trouble::Zero("complex divmod()")),
                false => {
                    let floor = Complex {
                        re: a.divided(b).re.floor(),
                        im: 0.0,
                    };
                    match op {
                        HlOp::FloorDiv => floor,
                        _ => a.minus(b.times(floor)),
                    }
                }
            },
            HlOp::Pow => a.power(b)?,
            _ => return Err(Trouble::NoOperation),
        })
    }

    fn minus(self, other: Complex) -> Complex {
        Complex {
            re: self.re - other.re,
            im: self.im - other.im,
        }
    }

    fn times(self, other: Complex) -> Complex {
        Complex {
            re: self.re * other.re - self.im * other.im,
            im: self.re * other.im + self.im * other.re,
        }
    }

    fn power(self, exponent: Complex) -> Result<Complex, Trouble> {
        /// Up to here powers are products.
        const MOST: f64 = 100.0;
        const ONE: Complex = Complex { re: 1.0, im: 0.0 };
        let whole = exponent.im == 0.0 && exponent.re == exponent.re.trunc();
        let power = if whole && (0.0..=MOST).contains(&exponent.re.abs()) {
            let n = exponent.re.abs() as u32;
            // By squares: the order of the products is Python's, bit by bit.
            let (mut power, mut square) = (ONE, self);
            for bit in 0..=n.checked_ilog2().unwrap_or(0) {
                if n & (1 << bit) != 0 {
                    power = power.times(square);
                }
                square = square.times(square);
            }
            match exponent.re > 0.0 {
                true => power,
                false if power.is_zero() => return Err(Trouble::Zero(TO_NEGATIVE)),
                false => ONE.divided(power),
            }
        } else if exponent.is_zero() {
            ONE
        } else if self.is_zero() {
            if exponent.im != 0.0 || exponent.re < 0.0 {
                return Err(Trouble::Zero(TO_NEGATIVE));
            }
            Complex { re: 0.0, im: 0.0 }
        } else {
            let angle = self.im.atan2(self.re);
            let (mut size, mut phase) = (self.abs().powf(exponent.re), angle * exponent.re);
            if exponent.im != 0.0 {
                size /= (angle * exponent.im).exp();
                phase += exponent.im * self.abs().ln();
            }
            if phase.is_infinite() {
                // As the sine of it is an error to C, and Python knows of one alone.
                return Err(Trouble::Zero(TO_NEGATIVE));
            }
            Complex {
                re: size * phase.cos(),
                im: size * phase.sin(),
            }
        };
        match power.re.is_infinite() || power.im.is_infinite() {
            true => Err(Trouble::Overflow),
            false => Ok(power),
        }
    }

    /// Scales by the larger part of the divisor, so that its square cannot overflow.
    fn divided(self, by: Complex) -> Complex {
        if by.re.abs() >= by.im.abs() {
            let ratio = by.im / by.re;
            let scale = by.re + by.im * ratio;
            Complex {
                re: (self.re + self.im * ratio) / scale,
                im: (self.im - self.re * ratio) / scale,
            }
        } else {
            let ratio = by.re / by.im;
            let scale = by.re * ratio + by.im;
            Complex {
                re: (self.re * ratio + self.im) / scale,
                im: (self.im * ratio - self.re) / scale,
            }
        }
    }

    /// Whether both parts are zero.
    pub(crate) fn is_zero(self) -> bool {
        self.re == 0.0 && self.im == 0.0
    }

    /// `-c`
    pub(crate) fn negated(self) -> Complex {
        Complex {
            re: -self.re,
            im: -self.im,
        }
    }

    /// `c.conjugate()`
    pub(crate) fn conjugate(self) -> Complex {
        Complex {
            re: self.re,
            im: -self.im,
        }
    }

    /// `abs(c)`
    pub(crate) fn abs(self) -> f64 {
        self.re.hypot(self.im)
    }

    /// `c.real` and `c.imag`; None for other names.
    pub(crate) fn part(self, name: &str) -> Option<f64> {
        match name {
            "real" => Some(self.re),
            "imag" => Some(self.im),
            _ => None,
        }
    }
}
