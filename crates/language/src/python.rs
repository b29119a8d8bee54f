//! The names of Python's `__builtin__`, and what they are to RPython.

use crate::{Exc, HlOp, KnownFunction, ShippedFunction};

/// A function of Python whose calls the flow space does by itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FlowFunction {
    /// `buffer(s[, offset[, size]])`, of constants
    Buffer,
    /// `coerce(x, y)`, of constants
    Coerce,
    /// `__import__(name)`, of a constant
    Import,
    /// `locals()`, which is refused
    Locals,
    /// `print(..)`, the function
    Print,
}

impl FlowFunction {
    /// All of them.
    pub const ALL: &'static [FlowFunction] = &[
        FlowFunction::Buffer,
        FlowFunction::Coerce,
        FlowFunction::Import,
        FlowFunction::Locals,
        FlowFunction::Print,
    ];

    /// Its name in `__builtin__`.
    pub const fn name(self) -> &'static str {
        match self {
            FlowFunction::Buffer => "buffer",
            FlowFunction::Coerce => "coerce",
            FlowFunction::Import => "__import__",
            FlowFunction::Locals => "locals",
            FlowFunction::Print => "print",
        }
    }

    /// The function of that name in a module.
    pub fn named(module: &str, name: &str) -> Option<FlowFunction> {
        let mut all = FlowFunction::ALL.iter().copied();
        all.find(|f| module == "__builtin__" && f.name() == name)
    }
}

/// Constants, and types that are of use in translated programs without being called.
const VALUES: &[&str] = &["False", "None", "True", "basestring", "bytes", "object"];

/// What is of use only while a program is loaded, or not at all.
const OTHERS: &[&str] = &[
    "Ellipsis",
    "NotImplemented",
    "WindowsError",
    "__debug__",
    "__doc__",
    "__name__",
    "__package__",
    "all",
    "any",
    "apply",
    "classmethod",
    "compile",
    "complex",
    "copyright",
    "credits",
    "dir",
    "eval",
    "execfile",
    "exit",
    "filter",
    "format",
    "frozenset",
    "globals",
    "help",
    "input",
    "intern",
    "license",
    "map",
    "memoryview",
    "property",
    "quit",
    "raw_input",
    "reduce",
    "reload",
    "round",
    "set",
    "sorted",
    "staticmethod",
    "sum",
    "super",
    "vars",
];

/// The functions and types of `__builtin__` that translated programs call, in no order.
fn functions() -> impl Iterator<Item = &'static str> {
    let known = KnownFunction::ALL.iter();
    let known = known.filter(|f| f.module() == "__builtin__");
    let shipped = ShippedFunction::all().iter();
    let shipped = shipped.filter_map(|f| f.name.strip_prefix("__builtin__."));
    (HlOp::PYTHON_FUNCTIONS.iter().copied())
        .chain(known.map(|f| f.name()))
        .chain(shipped)
        .chain([FlowFunction::Print.name()])
}

/// Whether translated programs call a function or type of `__builtin__`.
pub fn is_rpython_function(name: &str) -> bool {
    functions().any(|f| f == name)
}

/// The names of `__builtin__` that translated programs use, but for exception classes: sorted.
pub fn rpython_names() -> Vec<&'static str> {
    let mut names: Vec<&str> = functions().chain(VALUES.iter().copied()).collect();
    names.sort_unstable();
    names
}

/// The names that Python has without anybody defining them, be they of use in RPython or not: in no
/// order.
pub fn python_names() -> Vec<&'static str> {
    // The function `print` is among those that programs call.
    let flow = FlowFunction::ALL
        .iter()
        .filter(|f| **f != FlowFunction::Print);
    (rpython_names().into_iter())
        .chain(OTHERS.iter().copied())
        .chain(flow.map(|f| f.name()))
        .chain(Exc::of_python().map(Exc::name))
        .collect()
}

/// Whether a name is one of these.
pub fn is_python_name(name: &str) -> bool {
    python_names().contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_declared_once() {
        let mut all = python_names();
        all.sort_unstable();
        assert!(all.windows(2).all(|w| w[0] != w[1]), "{all:?}");
        assert!(OTHERS.is_sorted());
    }
}
