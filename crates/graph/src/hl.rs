//! The high-level dialect: what the flow space records
//! (RPython: `rpython/flowspace/operation.py`).

use std::fmt;
use std::sync::Arc;

use num_bigint::BigInt;
use serde::{Deserialize, Serialize};
use taipan_language::HlOp;

use crate::{Dialect, Graph, Wide};

/// The dialect of the flow space: untyped operations on Python values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HighLevel;

impl Dialect for HighLevel {
    type Op = HlOp;
    type Const = Const;
    type Ty = ();

    fn const_ty(_: &Const) {}

    fn is_removable(op: HlOp) -> bool {
        use HlOp::*;
        match op {
            NewList | NewDict | Iter => true,
            GetSlice | NewSlice | Unicode | Chr => false,
            op => op.is_pure() && !op.name().ends_with("_ovf"),
        }
    }

    fn as_bool(c: &Const) -> Option<bool> {
        match c {
            Const::Bool(b) => Some(*b),
            _ => None,
        }
    }
}

/// The flow graph of a function.
pub type FunctionGraph = Graph<HighLevel>;

/// Identity of a live object of the import-time image: a hash of its stable key
/// (module and name where there is one, allocation site and sequence number
/// otherwise), so it is the same in every run and process. Its content is read
/// through the projections of the `interp` crate.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ObjId(pub u64);

impl fmt::Debug for ObjId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:016x}", self.0)
    }
}

/// Width and signedness of an integer type (RPython: the `r_int` family).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct IntKind {
    /// Whether negative values exist.
    pub signed: bool,
    /// 8, 16, 32, 64 or 128.
    pub bits: u8,
}

impl IntKind {
    /// `Signed`, the type of plain `int`.
    pub const SIGNED: IntKind = IntKind {
        signed: true,
        bits: 64,
    };
    /// `Unsigned`, the type of `r_uint`.
    pub const UNSIGNED: IntKind = IntKind {
        signed: false,
        bits: 64,
    };

    /// Whether a constant of this kind is not negative. Of unsigned numbers of 128 bits
    /// constants hold the bits.
    pub fn is_nonneg(self, v: Wide) -> bool {
        !self.signed || v.get() >= 0
    }

    /// Wraps a value to this kind's range, as `intmask` and `r_uint()` do.
    pub fn wrap(self, v: i128) -> i128 {
        if self.bits == 128 {
            return v;
        }
        let shift = 128 - u32::from(self.bits);
        if self.signed {
            v << shift >> shift
        } else {
            ((v as u128) << shift >> shift) as i128
        }
    }
}

/// How arguments are passed in a `call_args` operation (RPython: `CallShape`).
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct CallShape {
    /// Number of positional arguments.
    pub positional: u32,
    /// Names of the keyword arguments, in the order of their values.
    pub keywords: Vec<Box<str>>,
    /// Whether a last operand is the `*args` tuple.
    pub star: bool,
}

/// A constant of a high-level graph. Immutable Python values stand for
/// themselves; everything with identity is an image object.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Const {
    /// `None`
    None,
    /// `True`, `False`
    Bool(bool),
    /// A plain `int`.
    Int(i64),
    /// An instance of the `r_int` family other than plain `int` (`r_uint(5)`).
    RInt(IntKind, Wide),
    /// A `long`.
    Long(Arc<BigInt>),
    /// A `float`, as its bits.
    Float(u64),
    /// An `r_singlefloat`, as its bits.
    SingleFloat(u32),
    /// A `complex`, as the bits of its real and imaginary parts.
    Complex(u64, u64),
    /// A byte string.
    Str(Arc<[u8]>),
    /// A `unicode` string, as code points.
    Unicode(Arc<[u32]>),
    /// A tuple.
    Tuple(Arc<[Const]>),
    /// A function, class, module, builtin, instance, list, dict, ... of the image.
    Obj(ObjId),
    /// Second operand of `call_args`.
    Shape(Arc<CallShape>),
}

impl Const {
    /// A byte string constant.
    pub fn str(s: &str) -> Const {
        Const::Str(s.as_bytes().into())
    }

    /// A float constant.
    pub fn float(v: f64) -> Const {
        Const::Float(v.to_bits())
    }

    /// The text of a byte string that is valid UTF-8 (attribute names).
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Const::Str(s) => std::str::from_utf8(s).ok(),
            _ => None,
        }
    }
}

impl fmt::Display for Const {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Const::None => f.write_str("None"),
            Const::Bool(b) => f.write_str(if *b { "True" } else { "False" }),
            Const::Int(i) => write!(f, "{i}"),
            Const::RInt(k, v) => write!(f, "{v}{}{}", if k.signed { 'i' } else { 'u' }, k.bits),
            Const::Long(v) => write!(f, "{v}L"),
            Const::Float(b) => write!(f, "{:?}", f64::from_bits(*b)),
            Const::SingleFloat(b) => write!(f, "{:?}f", f32::from_bits(*b)),
            Const::Complex(re, im) => {
                let (re, im) = (f64::from_bits(*re), f64::from_bits(*im));
                write!(f, "{re:?}{im:+?}j")
            }
            Const::Str(s) => write!(f, "'{}'", s.escape_ascii()),
            Const::Unicode(s) => {
                f.write_str("u'")?;
                for c in s.iter() {
                    match char::from_u32(*c) {
                        Some(c) => write!(f, "{}", c.escape_default())?,
                        None => write!(f, "\\u{c:04x}")?,
                    }
                }
                f.write_str("'")
            }
            Const::Tuple(t) => {
                f.write_str("(")?;
                for (i, c) in t.iter().enumerate() {
                    write!(f, "{}{c}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str(if t.len() == 1 { ",)" } else { ")" })
            }
            Const::Obj(o) => write!(f, "{o:?}"),
            Const::Shape(s) => {
                write!(f, "shape({}", s.positional)?;
                for k in &s.keywords {
                    write!(f, ", {k}=")?;
                }
                f.write_str(if s.star { ", *)" } else { ")" })
            }
        }
    }
}
