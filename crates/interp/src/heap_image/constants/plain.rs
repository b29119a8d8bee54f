//! What is known of numbers and strings without the rest of the space: for the annotator,
//! which makes no queries while it works.

use taipan_graph::{Const, HlOp, ObjId};

use super::Builtins;
use crate::space::compare::{compare_plain, holds};
use crate::space::number::{self, parse_float, parse_int};
use crate::space::types::ty;
use crate::space::value::Value;

/// A number, a string or None as a value.
fn value(c: &Const) -> Option<Value> {
    Some(match c {
        Const::None => Value::None,
        Const::Bool(b) => Value::Bool(*b),
        Const::Int(i) => Value::Int(*i),
        Const::RInt(kind, v) if kind.is_nonneg(*v) => Value::int_or_long((v.get() as u128).into()),
        Const::RInt(_, v) => Value::int_or_long(v.get().into()),
        Const::Long(l) => Value::Long(l.clone()),
        Const::Float(bits) => Value::Float(f64::from_bits(*bits)),
        Const::Str(s) => Value::Str(s.clone()),
        Const::Unicode(s) => Value::Unicode(s.clone()),
        _ => return None,
    })
}

/// Whether one of them, or a tuple, has an attribute; none for other constants.
pub fn has_attribute(c: &Const, name: &str) -> Option<bool> {
    let v = match c {
        Const::Tuple(_) => Value::tuple(Vec::new()),
        c => value(c)?,
    };
    let heap = &Builtins::get().heap;
    // Two that are entries of no class here.
    let made_up = matches!(name, "__class__" | "__doc__");
    Some(made_up || heap.lookup(heap.type_of(&v), name).is_some())
}

/// Whether a builtin class has an attribute; none for other objects.
pub fn class_has(class: ObjId, name: &str) -> Option<bool> {
    let builtins = Builtins::get();
    let r = *builtins.named.refs.get(&class)?;
    builtins.heap.class(r)?;
    let has = |class| builtins.heap.lookup(class, name).is_some();
    Some(has(r) || has(ty::TYPE))
}

/// A comparison of two of them; none where they are of kinds that do not compare.
pub fn compare(op: HlOp, a: &Const, b: &Const) -> Option<bool> {
    Some(match compare_plain(&value(a)?, &value(b)?)? {
        Some(order) => holds(op, order),
        // Not a number.
        None => op == HlOp::Ne,
    })
}

/// The truth of one of them.
pub fn truth(c: &Const) -> Option<bool> {
    value(c)?.plain_truth()
}

/// `int(c)`; none where that raises.
pub fn int_of(c: &Const) -> Option<Const> {
    let whole = match value(c)? {
        Value::Float(f) => number::truncated(f)?,
        Value::Str(s) => parse_int(std::str::from_utf8(&s).ok()?, 10, false)?,
        Value::Unicode(u) => parse_int(&number::text_of(&u), 10, false)?,
        other => number::integer(&other)?,
    };
    Some(match Value::int_or_long(whole) {
        Value::Long(l) => Const::Long(l),
        Value::Int(i) => Const::Int(i),
        _ => return None,
    })
}

/// `float(c)`; none where that raises.
pub fn float_of(c: &Const) -> Option<f64> {
    match value(c)? {
        Value::Str(s) => parse_float(std::str::from_utf8(&s).ok()?),
        Value::Unicode(u) => parse_float(&number::text_of(&u)),
        other => number::as_f64(&other),
    }
}
