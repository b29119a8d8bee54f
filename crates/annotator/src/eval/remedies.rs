//! What to write instead of what RPython does not have. Each of these is applied in a test
//! (`tests/remedies.rs` of the crate taipan).

use taipan_base::ErrorCode;
use taipan_graph::HlOp;
use taipan_language::is_rpython_function;

use super::Cx;
use crate::val::{Atom, Val};

/// The error for a tuple index that is no compile-time constant.
pub const VARIABLE_TUPLE_INDEX: &str = "the index into a tuple is not a constant";

/// The suggested replacement.
pub const INSTEAD_OF_TUPLE_INDEX: &str =
    "use a list, if all items are of one kind, or choose by `if`";

/// The remedy for a builtin function that RPython does not have.
fn of_function(name: &str) -> Option<&'static str> {
    Some(match name {
        "set" | "frozenset" => "use a dict whose values are None",
        "sum" | "any" | "all" | "min" | "max" => "write a loop",
        "sorted" => "sort a copy with `TimSort(copy).sort()` of rpython.rlib.listsort",
        "map" | "filter" => "write a list comprehension",
        "super" => "call the method of the base class: `Base.method(self)`",
        "raw_input" | "input" => "read from standard input with `os.read(0, n)`",
        "object" => "write a class of your own: `class Marker(object): pass`",
        "round" => "use `round_double(x, digits)` of rpython.rlib.rfloat",
        "dict" => "start with `{}` and assign the items in a loop",
        "apply" => "call the function itself: `f(x)`",
        "reduce" => "write a loop",
        "zip" => "write a loop over `range(len(list))`",
        "complex" => "keep the real and the imaginary part in two floats",
        "buffer" | "memoryview" => "use the string itself, or a slice of it",
        "intern" => "leave it out: strings are compared by their characters",
        "format" => "use `%`, as in `\"%d\" % n`",
        "coerce" => "convert the operands by `int()` or `float()`",
        "vars" => "read each attribute by its name",
        "globals" => "read each global by its name",
        _ => return None,
    })
}

/// The remedy for a method that RPython does not have, or not with these arguments.
pub(super) fn of_method(kind: &str, name: &str) -> Option<&'static str> {
    Some(match (kind, name) {
        (_, "format") => "use `%`, as in `\"%d\" % n`",
        ("str", "split" | "rsplit") => "say which character separates the parts: `split(' ')`",
        ("unicode", "upper" | "lower") => {
            "use `toupper(ord(c))` or `tolower(ord(c))` of rpython.rlib.unicodedata.unicodedb_5_2_0"
        }
        ("str", "encode") => "a str is bytes already: leave it out",
        ("list", "sort") => "use `TimSort(list).sort()` of rpython.rlib.listsort",
        _ => return None,
    })
}

/// The attribute of functions of shipped modules that are for import time: what to write instead in translated code.
pub(super) const INSTEAD: &str = "_instead_";

/// The remedy for an attribute that a value has at import time only; `what` describes the value.
pub(super) fn of_value(what: &str) -> Option<&'static str> {
    (what == "a prebuilt SRE_Pattern").then_some(
        "patterns of `re` are for import time: use `rpython.rlib.rsre` of a checkout of PyPy, or compare characters",
    )
}

/// The remedy for a binary operation on operands of these kinds.
pub(super) fn of_operation(op: HlOp, a: &Atom, b: &Atom) -> Option<&'static str> {
    let number = |a: &Atom| matches!(a, Atom::Int(_) | Atom::Float);
    let floats = number(a) && number(b) && (matches!(a, Atom::Float) || matches!(b, Atom::Float));
    Some(match (op, a, b) {
        (HlOp::Mod, ..) if floats => "use `math.fmod(x, y)`, whose result has the sign of x",
        (HlOp::FloorDiv, ..) if floats => "use `math.floor(x / y)`",
        (HlOp::Add, Atom::Str { .. }, n) | (HlOp::Add, n, Atom::Str { .. }) if number(n) => {
            "make a string of the number with `str()`, or use `%`, as in `\"%d\" % n`"
        }
        (HlOp::Add, Atom::Str { .. }, Atom::Uni { .. })
        | (HlOp::Add, Atom::Uni { .. }, Atom::Str { .. }) => {
            "make both unicode with `.decode('utf-8')`, or both bytes with `.encode('utf-8')`"
        }
        (HlOp::Add, Atom::List(_), Atom::Tuple(_)) | (HlOp::Add, Atom::Tuple(_), Atom::List(_)) => {
            "make a list of the tuple's items: `[..]`"
        }
        _ => return None,
    })
}

impl Cx<'_> {
    /// A builtin function is called that RPython does not have, or not with so many
    /// arguments.
    pub(super) fn no_such_call(&mut self, name: &str, args: usize) -> Val {
        let remedy = of_function(name);
        let message = match args {
            _ if !is_rpython_function(name) => format!("{name}() is not RPython"),
            n => format!("{name}() with {} is not RPython", counted(n)),
        };
        self.problem_help(ErrorCode::NotCallable, message, remedy)
    }

    /// A builtin function is given an argument by a name that it does not have in RPython.
    pub(super) fn no_keyword(&mut self, function: &str, name: &str) -> Val {
        let remedy = match function {
            "dict" | "OrderedDict" => "store one item after the other: `d['a'] = 1`",
            _ => "give it by its place",
        };
        let message = format!("{function}() with the keyword argument `{name}` is not RPython");
        self.problem_help(ErrorCode::NotCallable, message, Some(remedy))
    }
}

/// `no argument`, `1 argument`, `2 arguments`
pub(super) fn counted(n: usize) -> String {
    match n {
        0 => "no argument".to_owned(),
        1 => "1 argument".to_owned(),
        n => format!("{n} arguments"),
    }
}
