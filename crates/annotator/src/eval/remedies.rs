//! What to write instead of what RPython does not have. Each of these is applied in a test
//! (`tests/remedies.rs` of the crate taipan).

use taipan_base::ErrorCode;
use taipan_graph::{HlOp, ObjId};
use taipan_interp::ObjData;
use taipan_language::{instead_of_module, is_rpython_function};

use super::Cx;
use super::describe::GENERATOR;
use crate::Desc;
use crate::facts::{Facts, Known};
use crate::val::{Atom, Val};

/// The error for a tuple index that is no compile-time constant.
pub const VARIABLE_TUPLE_INDEX: &str = "the index into a tuple is not a constant";

/// The suggested replacement.
pub const INSTEAD_OF_TUPLE_INDEX: &str =
    "use a list, if all items are of one kind, or choose by `if`";

/// The remedy for sorting by a key or a comparison.
pub(super) const ORDER: &str = "write a function that says which of two items comes first, `By = make_timsort_class(lt=less)` of \
     rpython.rlib.listsort at the top level of the module, and sort a copy with `By(copy).sort()`";

/// The remedy for a builtin function that RPython does not have.
fn of_function(name: &str) -> Option<&'static str> {
    Some(match name {
        "set" | "frozenset" => "use a dict whose values are None",
        "max" => "write a loop, or compare two at a time: `max(max(a, b), c)`",
        "min" => "write a loop, or compare two at a time: `min(min(a, b), c)`",
        "sum" | "any" | "all" => "write a loop",
        "next" => "catch StopIteration: `try: x = items.next()`",
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
        "globals" | "locals" => "read each variable by its name",
        "dir" => "the attributes of a class are known while compiling: read each by its name",
        "eval" | "compile" | "execfile" => {
            "a translated program has no Python in it: parse the text, and compute its value"
        }
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
        ("list", "copy") => "take a slice of all items: `items[:]`",
        ("list", "clear") => "delete all items: `del items[:]`",
        ("str" | "unicode", "ljust") => "append blanks: `s + ' ' * (width - len(s))`",
        ("str" | "unicode", "rjust" | "center") => {
            "put blanks in front: `' ' * (width - len(s)) + s`"
        }
        ("str" | "unicode", "zfill") => "put zeroes in front: `'0' * (width - len(s)) + s`",
        ("str" | "unicode", "partition") => {
            "look for the separator: `i = s.find(sep)`, and take `s[:i]` and `s[i + len(sep):]` where `i >= 0`"
        }
        ("str" | "unicode", "rpartition") => {
            "look for the separator: `i = s.rfind(sep)`, and take `s[:i]` and `s[i + len(sep):]` where `i >= 0`"
        }
        ("str" | "unicode", "title" | "capitalize" | "swapcase") => {
            "change parts of it: `s[:1].upper() + s[1:].lower()`"
        }
        ("str" | "unicode", "translate" | "expandtabs") => "write a loop over the characters",
        ("tuple", "append" | "extend" | "insert" | "pop" | "remove" | "sort") => {
            "a tuple does not change: use a list"
        }
        ("tuple", "index" | "count") => "use a list, if all items are of one kind",
        ("dict", "fromkeys") => "start with `{}` and assign the items in a loop",
        ("dict", "viewkeys") => "use `iterkeys()`, or `keys()` for a list",
        ("dict", "viewvalues") => "use `itervalues()`, or `values()` for a list",
        ("dict", "viewitems") => "use `iteritems()`, or `items()` for a list",
        _ => return None,
    })
}

/// The attribute of functions of shipped modules that are for import time: what to write instead in translated code.
pub(super) const INSTEAD: &str = "_instead_";

/// The remedy for an attribute that a value of a type has at import time only.
fn of_type(name: &str) -> Option<&'static str> {
    Some(match name {
        "SRE_Pattern" => {
            "patterns of `re` are for import time: use `rpython.rlib.rsre` of a checkout of PyPy, or compare characters"
        }
        "file" => {
            "files that are open while the program loads are not there when it runs: use `os.read(0, n)` and \
             `os.write(1, s)`, or `create_stdio()` of rpython.rlib.rfile, whose files have `readline()`"
        }
        _ => return None,
    })
}

/// The remedy for a function of a builtin module that only import time has.
pub(super) fn of_import_time(name: &str) -> &'static str {
    match name {
        "sys.exit" => "return the exit code from the entry point",
        "sys.exc_info" => "name the exception: `except E as e:`",
        "_struct.pack" | "_struct.unpack" | "_struct.calcsize" => {
            "use `runpack(format, s)` of rpython.rlib.rstruct.runpack to unpack, and `chr()` of each byte to pack"
        }
        _ if name.starts_with("time.") => {
            "compute with `time.time()`, the number of seconds since 1970"
        }
        _ => instead_of_module(name).unwrap_or(
            "it is there while the program loads only; look for a replacement in rpython.rlib",
        ),
    }
}

/// The remedy for a name of an attribute that is not known while compiling.
pub(super) const CONSTANT_ATTRIBUTE: &str =
    "compare the name, and use each attribute by its own: `if name == 'a': return x.a`";

/// The remedy for an assignment to an attribute of a class, module or other constant.
pub(super) const CONSTANT_OBJECT: &str =
    "classes and modules are constants: keep what changes in an attribute of a global object";

/// The remedy for an attribute that a builtin exception does not have in RPython.
pub(crate) fn of_exception(name: &str) -> Option<&'static str> {
    matches!(name, "message" | "args")
        .then_some("keep it in an attribute of an exception class of your own")
}

/// The remedy for a special attribute that instances have in Python only.
pub(super) fn of_instance(name: &str) -> Option<&'static str> {
    match name {
        "__dict__" => Some("read each attribute by its name"),
        _ => of_exception(name),
    }
}

/// The remedy for an attribute that Python 3 calls otherwise, or that Python finds by a method which RPython does not
/// call.
pub(crate) fn of_class(facts: &Facts, class: ObjId, name: &str) -> Known<Option<&'static str>> {
    let has = |method: &str| Ok(facts.lookup(class, method)?.is_some());
    Ok(match name {
        "next" if has("__next__")? => {
            Some("name the method `next`: `__next__` is its name in Python 3")
        }
        "__iter__" if has("__getitem__")? => Some(
            "loop over `range(len(x))`, or write a method `__iter__` whose result has a method `next`",
        ),
        _ if has("__getattr__")? => Some(
            "RPython calls no `__getattr__`: define the attribute, or write a method that takes the name",
        ),
        _ => None,
    })
}

/// The remedy for a class that derives from a builtin type.
pub(super) fn of_builtin_base(builtin: &str) -> String {
    format!("derive from `object`, and keep the `{builtin}` in an attribute")
}

/// The remedy for an attribute that no file has; `class` is the qualified name of the value's class.
pub(crate) fn of_file(class: &str, name: &str) -> Option<&'static str> {
    (class == "rpython.rlib.rfile.RFile" && matches!(name, "__iter__" | "readlines" | "next"))
        .then_some("read it line by line: `line = f.readline()`, until that is empty")
}

/// The remedy for a method that no generator has; `class` is the qualified name of the value's class.
pub(crate) fn of_generator(class: &str, name: &str) -> Option<&'static str> {
    let remedy = match name {
        "send" | "throw" | "close" => {
            "a generator only yields values: write a class with a method that takes the value, and keep the state in its attributes"
        }
        "__getitem__" | "__len__" => "make a list of the values: `[x for x in items]`",
        _ => return None,
    };
    (class == GENERATOR).then_some(remedy)
}

/// The remedy for assigning or deleting items of a value.
pub(super) fn of_items(value: &Atom) -> Option<&'static str> {
    match value {
        Atom::Str { .. } | Atom::Uni { .. } => Some(
            "a string does not change: make another one of its parts, or use a list of characters",
        ),
        Atom::Tuple(_) => Some("a tuple does not change: use a list, or make another tuple"),
        Atom::Instance(_) => Some(OPERATORS),
        _ => None,
    }
}

/// The remedy for a loop over a value that has no items.
pub(super) fn of_iteration(facts: &Facts, value: &Atom) -> Option<&'static str> {
    match value {
        Atom::Int(_) => Some("count with `range(n)`"),
        _ => of_prebuilt(facts, value),
    }
}

/// The remedy for a use of an object that is there at import time only.
pub(super) fn of_prebuilt(facts: &Facts, value: &Atom) -> Option<&'static str> {
    let Atom::Pbc(descs) = value else { return None };
    let [Desc::Frozen(object)] = &descs[..] else {
        return None;
    };
    match facts.object(*object).ok().flatten().as_deref() {
        Some(ObjData::Other(name)) => of_type(name),
        _ => None,
    }
}

/// The remedy for opening a file with an encoding.
pub(super) const BYTES_IN_FILES: &str =
    "leave it out: files hold bytes, and `.decode('utf-8')` makes unicode of what is read";

/// Whether `open()` has an argument of this name in Python 3, for files of text.
pub(super) fn is_text_option(name: &str) -> bool {
    matches!(name, "encoding" | "errors" | "newline")
}

/// The remedy for calls of values that are no functions.
pub(super) fn of_call(value: &Atom) -> Option<&'static str> {
    match value {
        Atom::Instance(_) => {
            Some("RPython calls no `__call__`: call a method of the class by its name")
        }
        _ => None,
    }
}

/// The remedy for an operation with one operand.
pub(super) fn of_unary(op: HlOp, value: &Atom) -> Option<&'static str> {
    match (op, value) {
        (HlOp::Ord, Atom::Str { .. } | Atom::Uni { .. }) => {
            Some("take one of its characters: `ord(s[0])`")
        }
        (_, Atom::Instance(_)) => Some(OPERATORS),
        _ => None,
    }
}

/// The remedy for strings of bytes that meet strings of characters.
pub(crate) const BOTH_TEXTS: &str =
    "make both unicode with `.decode('utf-8')`, or both bytes with `.encode('utf-8')`";

/// The remedy for comparing an instance with a class.
pub(super) const ASK_FOR_CLASS: &str = "ask for the class by `isinstance(x, C)`; the first argument of `__exit__` is the exception itself";

/// The remedy for operators on instances.
const OPERATORS: &str =
    "RPython calls no special methods for operators: call a method of the class by its name";

/// The remedy for a binary operation on operands of these kinds.
pub(super) fn of_operation(op: HlOp, a: &Atom, b: &Atom) -> Option<&'static str> {
    let number = |a: &Atom| matches!(a, Atom::Int(_) | Atom::Float);
    let text = |a: &Atom| matches!(a, Atom::Str { .. } | Atom::Uni { .. });
    let sequence = |a: &Atom| text(a) || matches!(a, Atom::List(_) | Atom::Tuple(_));
    let instance = |a: &Atom| matches!(a, Atom::Instance(_));
    let function = |a: &Atom| match a {
        Atom::Pbc(descs) => !descs
            .iter()
            .any(|d| matches!(d, Desc::Class(_) | Desc::Frozen(_))),
        Atom::BuiltinMethod { .. } | Atom::Builtin(_) => true,
        _ => false,
    };
    let floats = number(a) && number(b) && (matches!(a, Atom::Float) || matches!(b, Atom::Float));
    Some(match (op, a, b) {
        (HlOp::Mod, ..) if floats => "use `math.fmod(x, y)`, whose result has the sign of x",
        (HlOp::FloorDiv, ..) if floats => "use `math.floor(x / y)`",
        _ if function(a) || function(b) => "call the function or method: `f()`",
        _ if instance(a) || instance(b) => OPERATORS,
        (HlOp::Add, Atom::Str { char_: true, .. }, Atom::Int(_)) => {
            "make a string of the number with `str()`, or use `%`, as in `\"%d\" % n`; the number of a character is `ord(c)`"
        }
        (HlOp::Mul, x, Atom::Float)
        | (HlOp::Mul, Atom::Float, x)
        | (HlOp::GetItem, x, Atom::Float)
            if sequence(x) =>
        {
            "make an integer of the float with `int()`"
        }
        (HlOp::Sub, Atom::List(_), Atom::List(_)) => "write a loop: `[x for x in a if x not in b]`",
        (HlOp::Add, Atom::Str { .. }, n) | (HlOp::Add, n, Atom::Str { .. }) if number(n) => {
            "make a string of the number with `str()`, or use `%`, as in `\"%d\" % n`"
        }
        (HlOp::Add, Atom::Str { .. }, Atom::Uni { .. })
        | (HlOp::Add, Atom::Uni { .. }, Atom::Str { .. }) => BOTH_TEXTS,
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
            "max" | "min" => "write a loop that keeps the best item so far",
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
