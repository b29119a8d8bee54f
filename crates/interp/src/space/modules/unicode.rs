//! `_taipan_unicode`: the tables of `rpython.rlib.unicodedata`, as values that programs
//! keep.

use taipan_prelude::unicode;

use crate::space::builtin::{Args, Builtin};
use crate::space::types::ty;
use crate::space::value::Value;
use crate::space::{Interp, R};

/// Functions of `_taipan_unicode`.
pub(crate) const FUNCTIONS: &[Builtin] = &[
    Builtin::function("_taipan_unicode.column", column),
    Builtin::function("_taipan_unicode.numbers", numbers),
    Builtin::function("_taipan_unicode.text", text),
];

/// `column(name, version)`: a pair of byte strings, index and pages.
fn column(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "column", 2, 2)?;
    let name = it.name_of(&args.pos[0], "name")?;
    let version = it.name_of(&args.pos[1], "version")?;
    match unicode::column(&name, &version) {
        Some(found) => Ok(Value::tuple(vec![
            Value::bytes(&found.index),
            Value::bytes(&found.pages),
        ])),
        None => missing(it, &name),
    }
}

/// `numbers(name)`: a list of integers.
fn numbers(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "numbers", 1, 1)?;
    let name = it.name_of(&args.pos[0], "name")?;
    match unicode::numbers(&name) {
        Some(found) => Ok(it.heap.list(found.into_iter().map(Value::Int).collect())),
        None => missing(it, &name),
    }
}

/// `text(name)`: a byte string.
fn text(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "text", 1, 1)?;
    let name = it.name_of(&args.pos[0], "name")?;
    match unicode::section(&name) {
        Some(found) => Ok(Value::bytes(found)),
        None => missing(it, &name),
    }
}

fn missing(it: &mut Interp, name: &str) -> R {
    it.raise(ty::LOOKUP_ERROR, format!("no characters' table {name}"))
}
