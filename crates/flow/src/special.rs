//! Builtin functions that the flow space has its own idea of
//! (RPython: `SPECIAL_CASES`, `func2op`).

use taipan_graph::HlOp;
use taipan_language::Exc;

/// What a call of a builtin function becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    /// An operation, where it is called with this many arguments.
    Op(HlOp, usize),
    /// `pow(x, y[, z])`
    Pow,
    /// An operation on constants alone: the builtin function of that name.
    Constant(&'static str),
    /// `bin(x)`
    Bin,
    /// `True`
    WeAreTranslated,
    /// `print(..)`, the function
    Print,
    /// Of a constant: that constant as an `r_uint`.
    RUint,
    /// `buffer(s[, offset[, size]])`
    Buffer,
    /// `__import__(name)`
    Import,
    /// A function of a shipped module: the module and its name.
    Replaced(&'static str, &'static str),
    /// Not RPython, for this reason.
    Forbidden(&'static str),
}

/// The shipped module of functions that stand for builtin ones.
pub(crate) const BUILTINS: &str = "rpython.flowspace.builtins";

/// By qualified name.
pub(crate) fn special(name: &str) -> Option<Special> {
    use Special::*;
    if let Some(r) = taipan_prelude::redirect(name) {
        return Some(Replaced(r.module, r.function));
    }
    Some(match name {
        "rpython.rlib.objectmodel.we_are_translated" => WeAreTranslated,
        "rpython.rlib.rarithmetic.r_uint" => RUint,
        "__builtin__.print" => Print,
        "__builtin__.pow" | "operator.pow" => Pow,
        "__builtin__.buffer" => Buffer,
        "__builtin__.__import__" => Import,
        "__builtin__.locals" => Forbidden("a function that calls locals() is not RPython"),
        "__builtin__.bin" => Bin,
        "__builtin__.coerce" => Constant("coerce"),
        "operator.truth" => Op(HlOp::Bool, 1),
        "operator.inv" => Op(HlOp::Invert, 1),
        _ => {
            let (module, function) = name.split_once('.')?;
            let builtin = match function {
                "issubclass" => HlOp::IsSubtype,
                "id" | "type" | "isinstance" | "repr" | "str" | "len" | "hash" | "getattr"
                | "setattr" | "delattr" | "bool" | "abs" | "hex" | "oct" | "ord" | "divmod"
                | "cmp" | "iter" | "next" => HlOp::from_name(function)?,
                _ if module == "operator" => operator(function)?,
                _ => return None,
            };
            match module {
                "__builtin__" | "operator" => Op(builtin, arity(builtin)),
                _ => return None,
            }
        }
    })
}

fn operator(name: &str) -> Option<HlOp> {
    let op = HlOp::from_name(name.trim_start_matches("__").trim_end_matches("__"))?;
    use HlOp::*;
    matches!(
        op,
        Is | Pos
            | Neg
            | Invert
            | Add
            | Sub
            | Mul
            | TrueDiv
            | FloorDiv
            | Div
            | Mod
            | LShift
            | RShift
            | And
            | Or
            | Xor
            | Lt
            | Le
            | Eq
            | Ne
            | Gt
            | Ge
            | Contains
            | GetItem
            | SetItem
            | DelItem
    )
    .then_some(op)
}

fn arity(op: HlOp) -> usize {
    use HlOp::*;
    match op {
        Id | Type | Repr | Str | Len | Hash | Bool | Abs | Hex | Oct | Ord | Iter | Next | Pos
        | Neg | Invert => 1,
        SetAttr | SetItem => 3,
        _ => 2,
    }
}

/// Exceptions that a call of a builtin function or class may raise implicitly: those of
/// `__builtin__` and `exceptions` are known not to raise anything else. None where it is not known.
pub(crate) fn builtin_canraise(name: &str) -> Option<&'static [Exc]> {
    let (module, function) = name.split_once('.')?;
    match module {
        "__builtin__" => Some(taipan_language::python_builtin_raises(function)),
        "exceptions" => Some(&[]),
        _ => None,
    }
}
