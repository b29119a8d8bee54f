//! Constructs of Python that RPython does not have.

use std::fmt;

use taipan_base::{ErrorCode, Help};

use crate::FlowError;

/// A construct that RPython does not have, or not with these operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Construct<'a> {
    /// An operand that exists only while the flow graph is built.
    Operand,
    /// The truth of such a value.
    Truth,
    /// A loop over such a value.
    Iterator,
    /// `a ** b`
    Power,
    /// `a **= b`
    InplacePower,
    /// `{a, b}`
    Set,
    /// `del x.a`
    DeletedAttribute,
    /// `f(**x)`
    UnpackedDict,
    /// `print(*x)`
    PrintUnpacked,
    /// `print(x, file=f)`
    PrintKeyword(&'a str),
    /// A keyword argument of a builtin function that has none.
    BuiltinKeyword,
    /// A nested function with default values of each call.
    NestedDefaults,
    /// A class inside a function.
    InnerClass,
    /// `from m import *` inside a function.
    InnerStar,
    /// `print >> f, x`
    PrintTo,
    /// `exec text`
    Exec,
    /// `x = yield y`
    SentValue,
    /// `__import__(name)`
    VariableImport,
}

impl fmt::Display for Construct<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Construct::Operand => "a value of this kind",
            Construct::Truth => "this truth test",
            Construct::Iterator => "this iterator",
            Construct::Power => "a ** b",
            Construct::InplacePower => "a **= b",
            Construct::Set => "a set",
            Construct::DeletedAttribute => "deleting attributes",
            Construct::UnpackedDict => "unpacking a dict into arguments",
            Construct::PrintUnpacked => "print() with *args",
            Construct::PrintKeyword(name) => return write!(f, "print() with {name}="),
            Construct::BuiltinKeyword => "keyword arguments for this builtin function",
            Construct::NestedDefaults => "a nested function whose default values are not constant",
            Construct::InnerClass => "a class inside a function",
            Construct::InnerStar => "import * inside a function",
            Construct::PrintTo => "print >> file",
            Construct::Exec => "exec",
            Construct::SentValue => "the value of a yield expression",
            Construct::VariableImport => "an import of a name that is not constant",
        })
    }
}

impl Construct<'_> {
    /// The replacement. Each of these is applied in a test (`tests/remedies.rs` of the crate
    /// taipan).
    fn remedy(self) -> Option<&'static str> {
        Some(match self {
            Construct::Set => "use a dict whose values are None",
            Construct::Power | Construct::InplacePower => {
                "multiply, or use `math.pow()`, which works on floats"
            }
            Construct::PrintTo => {
                "write to the file with its method `write()`, or with `os.write()`"
            }
            Construct::UnpackedDict => "write the arguments out",
            Construct::Exec => {
                "a translated program has no Python in it: parse the text, and do what it says"
            }
            Construct::DeletedAttribute => "assign None instead",
            Construct::SentValue => {
                "write `yield x` as a statement, and pass values to the generator by an attribute of an instance that both sides have"
            }
            Construct::InnerStar => "import the names that are used",
            Construct::InnerClass => "define the class at the top level of the module",
            Construct::NestedDefaults => "pass the values as arguments",
            Construct::Operand
            | Construct::Truth
            | Construct::Iterator
            | Construct::PrintUnpacked
            | Construct::PrintKeyword(_)
            | Construct::BuiltinKeyword
            | Construct::VariableImport => return None,
        })
    }

    /// The error for a use of the construct.
    pub(crate) fn error(self) -> FlowError {
        let mut e = FlowError::new(ErrorCode::NotRPython, format!("{self} is not RPython"));
        e.help = self.remedy().map(Help::from);
        e
    }
}
