//! Text with references that get their names later.

use std::fmt::Write as _;

use taipan_lltype::{FuncSym, LLType, StaticSym};

/// What text refers to by a name that is not known yet.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Ref {
    /// A function.
    Func(FuncSym),
    /// Prebuilt data.
    Static(StaticSym),
    /// The class of a struct type.
    Class(LLType),
}

/// A line of Python.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// How deep it is indented.
    pub indent: usize,
    /// Its text, with references in it.
    pub text: String,
    /// Index of the instruction that it comes from.
    pub at: Option<u32>,
}

/// The Python function of a graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionText {
    /// Names of the parameters.
    pub parameters: Vec<String>,
    /// The body.
    pub lines: Vec<Line>,
    /// What references in the text stand for, by number.
    pub refs: Vec<Ref>,
}

const OPEN: char = '\u{1}';
const CLOSE: char = '\u{2}';

/// References of a text.
#[derive(Default)]
pub(crate) struct Refs {
    pub(crate) all: Vec<Ref>,
}

impl Refs {
    /// The text that stands for something until it has a name.
    pub(crate) fn to(&mut self, r: Ref) -> String {
        let i = match self.all.iter().position(|x| *x == r) {
            Some(i) => i,
            None => {
                self.all.push(r);
                self.all.len() - 1
            }
        };
        format!("{OPEN}{i}{CLOSE}")
    }
}

/// The text with names in place of references.
pub(crate) fn with_names(text: &str, name: impl Fn(usize) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(OPEN) {
        out.push_str(before);
        let Some((number, after)) = after.split_once(CLOSE) else {
            break;
        };
        if let Ok(i) = number.parse() {
            out.push_str(&name(i));
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

/// What of a name can be an identifier.
pub(crate) fn identifier(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '_' => out.push(c),
            '0'..='9' if !out.is_empty() => out.push(c),
            _ if out.ends_with('_') || out.is_empty() => {}
            _ => out.push('_'),
        }
    }
    // Names of classes' private parts would be mangled.
    let out = out.trim_end_matches('_');
    let out = if out.starts_with("__") {
        out.trim_start_matches('_')
    } else {
        out
    };
    if out.is_empty() {
        "x".to_owned()
    } else {
        out.to_owned()
    }
}

/// Names that mean something in Python, or in the text that is emitted.
const TAKEN: &[&str] = &[
    "False",
    "None",
    "True",
    "and",
    "as",
    "assert",
    "async",
    "await",
    "break",
    "class",
    "continue",
    "def",
    "del",
    "elif",
    "else",
    "except",
    "finally",
    "for",
    "from",
    "global",
    "if",
    "import",
    "in",
    "is",
    "lambda",
    "nonlocal",
    "not",
    "or",
    "pass",
    "raise",
    "return",
    "try",
    "while",
    "with",
    "yield",
    "len",
    "float",
    "int",
    "abs",
    "range",
    "bytearray",
    "print",
    "type",
    "super",
    "object",
    "list",
    "dict",
    "str",
    "bytes",
    "to",
    "error",
];

/// Whether a name is free for what programs bring.
pub(crate) fn is_taken(name: &str) -> bool {
    TAKEN.contains(&name)
}

/// A string of bytes as Python writes it.
pub(crate) fn bytes_literal(bytes: &[u8]) -> String {
    let mut out = String::from("b'");
    for b in bytes {
        match b {
            b'\\' => out.push_str("\\\\"),
            b'\'' => out.push_str("\\'"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            b' '..=b'~' => out.push(char::from(*b)),
            // Writing to a string does not fail.
            _ => drop(write!(out, "\\x{b:02x}")),
        }
    }
    out.push('\'');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_get_names() {
        let mut refs = Refs::default();
        let a = refs.to(Ref::Static(StaticSym::ObjectVtable));
        let b = refs.to(Ref::Static(StaticSym::Str(b"b"[..].into())));
        assert_eq!(refs.to(Ref::Static(StaticSym::ObjectVtable)), a);
        let text = with_names(&format!("{a}.x = {b}[{a}]"), |i| {
            ["one", "two"][i].to_owned()
        });
        assert_eq!(text, "one.x = two[one]");
    }

    #[test]
    fn identifiers() {
        for (name, wanted) in [
            ("main.f", "main_f"),
            ("<lambda>", "lambda"),
            ("__init__", "init"),
            ("9", "x"),
        ] {
            assert_eq!(identifier(name), wanted);
        }
        assert_eq!(bytes_literal(b"a'\n\xff"), "b'a\\'\\n\\xff'");
    }
}
