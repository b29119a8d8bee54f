//! The high-level dialect: what the flow space records
//! (RPython: `rpython/flowspace/operation.py`).

use std::fmt;
use std::sync::Arc;

use num_bigint::BigInt;
use serde::{Deserialize, Serialize};
use taipan_language::Exc;

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

macro_rules! hl_ops {
    ($($variant:ident = $name:literal, [$($raises:ident),*], $pure:literal;)*) => {
        /// High-level operations, named as in RPython.
        #[derive(
            Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize,
        )]
        pub enum HlOp { $(#[doc = concat!("`", $name, "`")] $variant,)* }

        impl HlOp {
            /// All of them, in table order.
            pub const ALL: &'static [HlOp] = &[$(HlOp::$variant,)*];

            /// RPython's name of the operation.
            pub fn name(self) -> &'static str {
                match self { $(HlOp::$variant => $name,)* }
            }

            /// The operation of that name.
            pub fn from_name(name: &str) -> Option<HlOp> {
                match name { $($name => Some(HlOp::$variant),)* _ => None }
            }

            /// Exceptions that the operation may raise implicitly for some types of operands,
            /// in the order of the links of the flow graph (RPython: `canraise`). What a call
            /// may raise follows from what is called.
            pub fn raises(self) -> &'static [Exc] {
                match self { $(HlOp::$variant => &[$(Exc::$raises),*],)* }
            }

            /// Whether it has no side effect, so that it may be folded on constants
            /// and dropped when its result is unused.
            pub fn is_pure(self) -> bool {
                match self { $(HlOp::$variant => $pure,)* }
            }
        }
    };
}

hl_ops! {
    Is = "is_", [], true;
    Type = "type", [], true;
    IsSubtype = "issubtype", [], true;
    IsInstance = "isinstance", [], true;
    Id = "id", [], true;
    Repr = "repr", [], true;
    Str = "str", [], true;
    Unicode = "unicode", [], true;
    Len = "len", [], true;
    Hash = "hash", [], true;
    GetAttr = "getattr", [], true;
    SetAttr = "setattr", [], false;
    DelAttr = "delattr", [], false;
    GetItem = "getitem", [IndexError, KeyError, Exception], true;
    SetItem = "setitem", [IndexError, KeyError, Exception], false;
    DelItem = "delitem", [IndexError, KeyError, Exception], false;
    GetSlice = "getslice", [], true;
    SetSlice = "setslice", [], false;
    DelSlice = "delslice", [], false;
    Pos = "pos", [], true;
    Neg = "neg", [], true;
    Bool = "bool", [], true;
    Abs = "abs", [], true;
    Hex = "hex", [], true;
    Oct = "oct", [], true;
    Ord = "ord", [], true;
    Chr = "chr", [], true;
    Int = "int", [], true;
    Float = "float", [], true;
    Long = "long", [], true;
    Invert = "invert", [], true;
    Add = "add", [], true;
    Sub = "sub", [], true;
    Mul = "mul", [], true;
    TrueDiv = "truediv", [ZeroDivisionError, OverflowError], true;
    FloorDiv = "floordiv", [ZeroDivisionError], true;
    Div = "div", [ZeroDivisionError], true;
    Mod = "mod", [ZeroDivisionError], true;
    DivMod = "divmod", [ZeroDivisionError, OverflowError], true;
    Pow = "pow", [ZeroDivisionError, ValueError, OverflowError], true;
    LShift = "lshift", [ValueError], true;
    RShift = "rshift", [ValueError], true;
    And = "and_", [], true;
    Or = "or_", [], true;
    Xor = "xor", [], true;
    InplaceAdd = "inplace_add", [OverflowError], false;
    InplaceSub = "inplace_sub", [OverflowError], false;
    InplaceMul = "inplace_mul", [OverflowError], false;
    InplaceTrueDiv = "inplace_truediv", [ZeroDivisionError, OverflowError], false;
    InplaceFloorDiv = "inplace_floordiv", [ZeroDivisionError, OverflowError], false;
    InplaceDiv = "inplace_div", [ZeroDivisionError, OverflowError], false;
    InplaceMod = "inplace_mod", [ZeroDivisionError, OverflowError], false;
    InplacePow = "inplace_pow", [ZeroDivisionError, ValueError, OverflowError], false;
    InplaceLShift = "inplace_lshift", [ValueError, OverflowError], false;
    InplaceRShift = "inplace_rshift", [ValueError], false;
    InplaceAnd = "inplace_and", [], false;
    InplaceOr = "inplace_or", [], false;
    InplaceXor = "inplace_xor", [], false;
    Lt = "lt", [], true;
    Le = "le", [], true;
    Eq = "eq", [], true;
    Ne = "ne", [], true;
    Gt = "gt", [], true;
    Ge = "ge", [], true;
    Cmp = "cmp", [], true;
    Contains = "contains", [Exception], true;
    NegOvf = "neg_ovf", [OverflowError], true;
    AbsOvf = "abs_ovf", [OverflowError], true;
    AddOvf = "add_ovf", [OverflowError], true;
    SubOvf = "sub_ovf", [OverflowError], true;
    MulOvf = "mul_ovf", [OverflowError], true;
    FloorDivOvf = "floordiv_ovf", [ZeroDivisionError, OverflowError], true;
    DivOvf = "div_ovf", [ZeroDivisionError, OverflowError], true;
    ModOvf = "mod_ovf", [ZeroDivisionError, OverflowError], true;
    LShiftOvf = "lshift_ovf", [ValueError, OverflowError], true;
    NewList = "newlist", [], false;
    NewDict = "newdict", [], false;
    NewTuple = "newtuple", [], true;
    NewSlice = "newslice", [], true;
    Iter = "iter", [], false;
    Next = "next", [StopIteration, RuntimeError], false;
    SimpleCall = "simple_call", [Exception], false;
    CallArgs = "call_args", [Exception], false;
    Hint = "hint", [], false;
    SameAs = "same_as", [], true;
    Yield = "yield_", [], false;
}

impl HlOp {
    /// The plain operation behind an augmented assignment's one.
    pub fn not_inplace(self) -> HlOp {
        use HlOp::*;
        match self {
            InplaceAdd => Add,
            InplaceSub => Sub,
            InplaceMul => Mul,
            InplaceTrueDiv => TrueDiv,
            InplaceFloorDiv => FloorDiv,
            InplaceDiv => Div,
            InplaceMod => Mod,
            InplacePow => Pow,
            InplaceLShift => LShift,
            InplaceRShift => RShift,
            InplaceAnd => And,
            InplaceOr => Or,
            InplaceXor => Xor,
            other => other,
        }
    }

    /// The operation on these operands, as it is written in a program: `1 + x`.
    pub fn applied(self, operands: &[String]) -> String {
        match (self, operands) {
            (HlOp::GetItem, [x, y]) => format!("{x}[{y}]"),
            (HlOp::GetSlice, [x, y, z]) => format!("{x}[{y}:{z}]"),
            (HlOp::Pow, [x, y, z]) => format!("pow({x}, {y}, {z})"),
            (HlOp::Contains, [x, y]) => format!("{y} in {x}"),
            (op, all) => match (op.symbol(), all) {
                (Some(symbol), [x, y]) => format!("{x} {symbol} {y}"),
                (Some(symbol), [x]) => format!("{symbol}{x}"),
                _ => format!("{}({})", op.name(), all.join(", ")),
            },
        }
    }

    /// The operation as it is written in a program, for messages: `` `+` ``, `` `len()` ``.
    pub fn spelt(self) -> String {
        use HlOp::*;
        let text = match self.not_inplace() {
            TrueDiv => "true division",
            GetItem => "indexing",
            SetItem => "assigning to an item",
            DelItem => "deleting an item",
            GetSlice => "slicing",
            SetSlice => "assigning to a slice",
            DelSlice => "deleting a slice",
            GetAttr => "reading an attribute",
            SetAttr => "assigning to an attribute",
            DelAttr => "deleting an attribute",
            Iter | Next => "iteration",
            SimpleCall | CallArgs => "calling",
            IsSubtype => "`issubclass()`",
            AbsOvf => "`abs()`",
            other => match other.symbol() {
                Some(symbol) => return format!("`{symbol}`"),
                None => return format!("`{}()`", other.name()),
            },
        };
        text.to_owned()
    }

    /// The operator, if it is one.
    fn symbol(self) -> Option<&'static str> {
        use HlOp::*;
        Some(match self.not_inplace() {
            Is => "is",
            Add | AddOvf => "+",
            Sub | SubOvf => "-",
            Mul | MulOvf => "*",
            Div | DivOvf => "/",
            FloorDiv | FloorDivOvf => "//",
            TrueDiv => "/",
            Mod | ModOvf => "%",
            Pow => "**",
            LShift | LShiftOvf => "<<",
            RShift => ">>",
            And => "&",
            Or => "|",
            Xor => "^",
            Neg | NegOvf => "-",
            Pos => "+",
            Invert => "~",
            Lt => "<",
            Le => "<=",
            Gt => ">",
            Ge => ">=",
            Eq => "==",
            Ne => "!=",
            Contains => "in",
            _ => return None,
        })
    }
}

impl fmt::Display for HlOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
