//! The high-level operations (RPython: `rpython/flowspace/operation.py`), and the functions of Python
//! that are one of them.

use std::fmt;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::Exc;

macro_rules! operands {
    (any) => {
        0..=usize::MAX
    };
    (($least:literal $most:literal)) => {
        $least..=$most
    };
    ($number:literal) => {
        $number..=$number
    };
}

macro_rules! hl_ops {
    ($($variant:ident = $name:literal, $operands:tt, [$($raises:ident),*], $pure:literal;)*) => {
        /// High-level operations, named as in RPython: what the flow space records.
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

            /// How many operands it has.
            pub fn operands(self) -> RangeInclusive<usize> {
                match self { $(HlOp::$variant => operands!($operands),)* }
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
    Is = "is_", 2, [], true;
    Type = "type", 1, [], true;
    IsSubtype = "issubtype", 2, [], true;
    IsInstance = "isinstance", 2, [], true;
    Id = "id", 1, [], true;
    Repr = "repr", 1, [], true;
    Str = "str", 1, [], true;
    Unicode = "unicode", 1, [], true;
    Len = "len", 1, [], true;
    Hash = "hash", 1, [], true;
    GetAttr = "getattr", 2, [], true;
    SetAttr = "setattr", 3, [], false;
    DelAttr = "delattr", 2, [], false;
    GetItem = "getitem", 2, [IndexError, KeyError, Exception], true;
    SetItem = "setitem", 3, [IndexError, KeyError, Exception], false;
    DelItem = "delitem", 2, [IndexError, KeyError, Exception], false;
    GetSlice = "getslice", 3, [], true;
    SetSlice = "setslice", 4, [], false;
    DelSlice = "delslice", 3, [], false;
    Pos = "pos", 1, [], true;
    Neg = "neg", 1, [], true;
    Bool = "bool", 1, [], true;
    Abs = "abs", 1, [], true;
    Hex = "hex", 1, [], true;
    Oct = "oct", 1, [], true;
    Ord = "ord", 1, [], true;
    Chr = "chr", 1, [], true;
    Int = "int", 1, [], true;
    Float = "float", 1, [], true;
    Long = "long", 1, [], true;
    Invert = "invert", 1, [], true;
    Add = "add", 2, [], true;
    Sub = "sub", 2, [], true;
    Mul = "mul", 2, [], true;
    TrueDiv = "truediv", 2, [ZeroDivisionError, OverflowError], true;
    FloorDiv = "floordiv", 2, [ZeroDivisionError], true;
    Div = "div", 2, [ZeroDivisionError], true;
    Mod = "mod", 2, [ZeroDivisionError], true;
    DivMod = "divmod", 2, [ZeroDivisionError, OverflowError], true;
    Pow = "pow", (2 3), [ZeroDivisionError, ValueError, OverflowError], true;
    LShift = "lshift", 2, [ValueError], true;
    RShift = "rshift", 2, [ValueError], true;
    And = "and_", 2, [], true;
    Or = "or_", 2, [], true;
    Xor = "xor", 2, [], true;
    InplaceAdd = "inplace_add", 2, [OverflowError], false;
    InplaceSub = "inplace_sub", 2, [OverflowError], false;
    InplaceMul = "inplace_mul", 2, [OverflowError], false;
    InplaceTrueDiv = "inplace_truediv", 2, [ZeroDivisionError, OverflowError], false;
    InplaceFloorDiv = "inplace_floordiv", 2, [ZeroDivisionError, OverflowError], false;
    InplaceDiv = "inplace_div", 2, [ZeroDivisionError, OverflowError], false;
    InplaceMod = "inplace_mod", 2, [ZeroDivisionError, OverflowError], false;
    InplacePow = "inplace_pow", 2, [ZeroDivisionError, ValueError, OverflowError], false;
    InplaceLShift = "inplace_lshift", 2, [ValueError, OverflowError], false;
    InplaceRShift = "inplace_rshift", 2, [ValueError], false;
    InplaceAnd = "inplace_and", 2, [], false;
    InplaceOr = "inplace_or", 2, [], false;
    InplaceXor = "inplace_xor", 2, [], false;
    Lt = "lt", 2, [], true;
    Le = "le", 2, [], true;
    Eq = "eq", 2, [], true;
    Ne = "ne", 2, [], true;
    Gt = "gt", 2, [], true;
    Ge = "ge", 2, [], true;
    Cmp = "cmp", 2, [], true;
    Contains = "contains", 2, [Exception], true;
    NegOvf = "neg_ovf", 1, [OverflowError], true;
    AbsOvf = "abs_ovf", 1, [OverflowError], true;
    AddOvf = "add_ovf", 2, [OverflowError], true;
    SubOvf = "sub_ovf", 2, [OverflowError], true;
    MulOvf = "mul_ovf", 2, [OverflowError], true;
    FloorDivOvf = "floordiv_ovf", 2, [ZeroDivisionError, OverflowError], true;
    DivOvf = "div_ovf", 2, [ZeroDivisionError, OverflowError], true;
    ModOvf = "mod_ovf", 2, [ZeroDivisionError, OverflowError], true;
    LShiftOvf = "lshift_ovf", 2, [ValueError, OverflowError], true;
    NewList = "newlist", any, [], false;
    NewDict = "newdict", any, [], false;
    NewTuple = "newtuple", any, [], true;
    NewSlice = "newslice", 3, [], true;
    Iter = "iter", 1, [], false;
    Next = "next", 1, [StopIteration, RuntimeError], false;
    SimpleCall = "simple_call", any, [Exception], false;
    CallArgs = "call_args", any, [Exception], false;
    Hint = "hint", 1, [], false;
    SameAs = "same_as", 1, [], true;
    Yield = "yield_", 1, [], false;
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

    /// Whether it makes an object for some types of operands, so that it may raise MemoryError
    /// beside [`HlOp::raises`].
    pub fn may_allocate(self) -> bool {
        use HlOp::*;
        let allocating = [
            Repr, Str, Unicode, Hex, Oct, Int, Float, Long, GetItem, SetItem, DelItem, GetSlice,
            SetSlice, DelSlice, Add, Mul, Mod, DivMod, NewList, NewDict, NewTuple, Iter, Next,
            SimpleCall, CallArgs,
        ];
        allocating.contains(&self.not_inplace())
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

/// Calls a macro with the table of functions of `operator` that are an operation: name and
/// operation.
#[macro_export]
macro_rules! for_each_operator {
    ($callback:ident) => {
        $callback! {
            abs = Abs;
            add = Add;
            and_ = And;
            contains = Contains;
            delitem = DelItem;
            delslice = DelSlice;
            div = Div;
            eq = Eq;
            floordiv = FloorDiv;
            ge = Ge;
            getitem = GetItem;
            getslice = GetSlice;
            gt = Gt;
            iadd = InplaceAdd;
            iand = InplaceAnd;
            idiv = InplaceDiv;
            ifloordiv = InplaceFloorDiv;
            ilshift = InplaceLShift;
            imod = InplaceMod;
            imul = InplaceMul;
            inv = Invert;
            invert = Invert;
            ior = InplaceOr;
            ipow = InplacePow;
            irshift = InplaceRShift;
            is_ = Is;
            isub = InplaceSub;
            itruediv = InplaceTrueDiv;
            ixor = InplaceXor;
            le = Le;
            lshift = LShift;
            lt = Lt;
            mod = Mod;
            mul = Mul;
            ne = Ne;
            neg = Neg;
            or_ = Or;
            pos = Pos;
            pow = Pow;
            rshift = RShift;
            setitem = SetItem;
            setslice = SetSlice;
            sub = Sub;
            truediv = TrueDiv;
            truth = Bool;
            xor = Xor;
        }
    };
}

macro_rules! operators {
    ($($name:ident = $op:ident;)*) => {
        /// The operation that a function of `operator` is.
        fn operator(name: &str) -> Option<HlOp> {
            match name { $(stringify!($name) => Some(HlOp::$op),)* _ => None }
        }
    };
}
for_each_operator!(operators);

macro_rules! python_functions {
    ($($name:literal = $op:ident;)*) => {
        /// The operation that a function or type of `__builtin__` is.
        fn python_function(name: &str) -> Option<HlOp> {
            match name { $($name => Some(HlOp::$op),)* _ => None }
        }

        impl HlOp {
            /// The functions and types of `__builtin__` that are operations.
            pub const PYTHON_FUNCTIONS: &'static [&'static str] = &[$($name,)*];
        }
    };
}

python_functions! {
    "abs" = Abs;
    "bool" = Bool;
    "cmp" = Cmp;
    "delattr" = DelAttr;
    "divmod" = DivMod;
    "getattr" = GetAttr;
    "hash" = Hash;
    "hex" = Hex;
    "id" = Id;
    "isinstance" = IsInstance;
    "issubclass" = IsSubtype;
    "iter" = Iter;
    "len" = Len;
    "next" = Next;
    "oct" = Oct;
    "ord" = Ord;
    "pow" = Pow;
    "repr" = Repr;
    "setattr" = SetAttr;
    "str" = Str;
    "type" = Type;
}

impl HlOp {
    /// The operation that a function or type of Python is, where it is called with as many arguments
    /// as the operation has operands (RPython: `func2op`).
    pub fn of_function(module: &str, name: &str) -> Option<HlOp> {
        match module {
            "__builtin__" => python_function(name),
            "operator" => operator(name),
            _ => None,
        }
    }
}
