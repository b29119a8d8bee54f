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

/// Division by a complex zero, in Python's words.
pub(crate) const ZERO_DIVISION: &str = "complex division by zero";

impl Complex {
    /// A number with an imaginary part alone, as literals have it.
    pub fn imaginary(im: f64) -> Complex {
        Complex { re: 0.0, im }
    }

    /// The number behind a constant: complex, float, int or bool; None for all else.
    pub fn of(c: &Const) -> Option<Complex> {
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
    pub fn repr(self) -> String {
        self.text(|x| {
            let s = float_repr(x);
            s.strip_suffix(".0").map_or(s.clone(), str::to_owned)
        })
    }

    /// `str(c)`: twelve digits of each part.
    pub fn str(self) -> String {
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

    /// `+`, `-`, `*` and the divisions. None for other operations and for a division by
    /// zero.
    pub fn binary(self, op: HlOp, other: Complex) -> Option<Complex> {
        let (a, b) = (self, other);
        Some(match op {
            HlOp::Add => Complex {
                re: a.re + b.re,
                im: a.im + b.im,
            },
            HlOp::Sub => Complex {
                re: a.re - b.re,
                im: a.im - b.im,
            },
            HlOp::Mul => Complex {
                re: a.re * b.re - a.im * b.im,
                im: a.re * b.im + a.im * b.re,
            },
            HlOp::Div | HlOp::TrueDiv if b.is_zero() => return None,
            HlOp::Div | HlOp::TrueDiv => a.divided(b),
            _ => return None,
        })
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
    pub fn is_zero(self) -> bool {
        self.re == 0.0 && self.im == 0.0
    }

    /// `-c`
    pub fn negated(self) -> Complex {
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
    pub fn abs(self) -> f64 {
        self.re.hypot(self.im)
    }

    /// `c.real` and `c.imag`; None for other names.
    pub fn part(self, name: &str) -> Option<f64> {
        match name {
            "real" => Some(self.re),
            "imag" => Some(self.im),
            _ => None,
        }
    }
}
