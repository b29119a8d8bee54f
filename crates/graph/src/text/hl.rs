//! The text of the high-level dialect.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use num_bigint::BigInt;

use super::{Cursor, ParseError, TextDialect};
use crate::{CallShape, Const, HighLevel, HlOp, IntKind, ObjId};

/// Names of image objects, for `#name` in texts.
#[derive(Clone, Debug, Default)]
pub struct HlNames {
    by_id: BTreeMap<ObjId, String>,
    by_name: BTreeMap<String, ObjId>,
}

impl HlNames {
    /// Gives an object a name. Of two objects of one name the first keeps it.
    pub fn insert(&mut self, id: ObjId, name: &str) {
        if !self.by_name.contains_key(name) {
            self.by_name.insert(name.to_owned(), id);
            self.by_id.insert(id, name.to_owned());
        }
    }

    /// The name of an object.
    pub fn name(&self, id: ObjId) -> Option<&str> {
        self.by_id.get(&id).map(String::as_str)
    }
}

impl TextDialect for HighLevel {
    type Names = HlNames;

    fn parse_op(name: &str) -> Option<HlOp> {
        HlOp::from_name(name)
    }

    fn fmt_const(c: &Const, names: &HlNames, f: &mut Formatter<'_>) -> fmt::Result {
        fmt_const(c, names, f)
    }

    fn parse_const(cursor: &mut Cursor<'_>, names: &HlNames) -> Result<Const, ParseError> {
        parse_const(cursor, names)
    }

    fn fmt_ty(_: &(), _: &HlNames, _: &mut Formatter<'_>) -> fmt::Result {
        Ok(())
    }

    fn parse_ty(_: &mut Cursor<'_>, _: &HlNames) -> Result<(), ParseError> {
        Ok(())
    }
}

/// Writes a constant, image objects by name where they have one.
pub fn fmt_const(c: &Const, names: &HlNames, f: &mut Formatter<'_>) -> fmt::Result {
    match c {
        Const::Obj(o) => match names.name(*o) {
            Some(name) => write!(f, "#{name}"),
            None => c.fmt(f),
        },
        Const::Tuple(items) => {
            f.write_str("(")?;
            for (i, item) in items.iter().enumerate() {
                f.write_str(if i > 0 { ", " } else { "" })?;
                fmt_const(item, names, f)?;
            }
            f.write_str(if items.len() == 1 { ",)" } else { ")" })
        }
        c => c.fmt(f),
    }
}

/// Parses what [`fmt_const`] writes.
pub fn parse_const(cursor: &mut Cursor<'_>, names: &HlNames) -> Result<Const, ParseError> {
    if cursor.eat("#") {
        return parse_object(cursor, names);
    }
    if cursor.eat("(") {
        let items = cursor.list(")", |c| parse_const(c, names))?;
        return Ok(Const::Tuple(items.into()));
    }
    if cursor.peek("'") {
        return match cursor.quoted()?.into_iter().map(u8::try_from).collect() {
            Ok(bytes) => Ok(Const::Str(Vec::into(bytes))),
            Err(_) => cursor.error("a byte string holds bytes"),
        };
    }
    if cursor.eat("u'") {
        // The quote is `quoted`'s to read.
        cursor.back(1);
        return Ok(Const::Unicode(cursor.quoted()?.into()));
    }
    for (word, c) in [
        ("None", Const::None),
        ("True", Const::Bool(true)),
        ("False", Const::Bool(false)),
    ] {
        if cursor.eat_word(word) {
            return Ok(c);
        }
    }
    if cursor.eat_word("shape") {
        return parse_shape(cursor);
    }
    parse_number(cursor)
}

fn parse_object(cursor: &mut Cursor<'_>, names: &HlNames) -> Result<Const, ParseError> {
    let name = cursor.take_while(|c| c.is_alphanumeric() || "_.<>:[]@~/+-".contains(c));
    // A colon after a name ends a case, it is not part of the name.
    let trimmed = name.trim_end_matches(':');
    cursor.back(name.len() - trimmed.len());
    if let Some(id) = names.by_name.get(trimmed) {
        return Ok(Const::Obj(*id));
    }
    match u64::from_str_radix(trimmed, 16) {
        Ok(id) if trimmed.len() == 16 => Ok(Const::Obj(ObjId(id))),
        _ => cursor.error(format!("no object is called `{trimmed}`")),
    }
}

fn parse_shape(cursor: &mut Cursor<'_>) -> Result<Const, ParseError> {
    cursor.expect("(")?;
    let mut shape = CallShape {
        positional: cursor.int()?,
        keywords: Vec::new(),
        star: false,
    };
    while cursor.eat(",") {
        if cursor.eat("*") {
            shape.star = true;
        } else {
            shape.keywords.push(cursor.word()?.into());
            cursor.expect("=")?;
        }
    }
    cursor.expect(")")?;
    Ok(Const::Shape(Arc::new(shape)))
}

/// A number: `5`, `5u32`, `5i8`, `5L`, `1.5`, `1e10`, `inf`, `NaN`, `1.5f`, `0.0+1.5j`.
fn parse_number(cursor: &mut Cursor<'_>) -> Result<Const, ParseError> {
    let text = cursor.peek_while(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    let parsed = number(text);
    match parsed {
        Some(c) => {
            cursor.eat(text);
            Ok(c)
        }
        None => cursor.error(format!("expected a constant, found `{text}`")),
    }
}

fn number(text: &str) -> Option<Const> {
    if let Ok(i) = text.parse() {
        return Some(Const::Int(i));
    }
    if let Some(parts) = text.strip_suffix('j') {
        return complex(parts);
    }
    if let Some(digits) = text.strip_suffix('L') {
        return Some(Const::Long(Arc::new(digits.parse::<BigInt>().ok()?)));
    }
    if let Some((value, kind)) = int_with_kind(text) {
        return Some(Const::RInt(kind, value.into()));
    }
    if let Some(single) = text.strip_suffix('f').filter(|t| *t != "in") {
        return Some(Const::SingleFloat(single.parse::<f32>().ok()?.to_bits()));
    }
    Some(Const::float(text.parse().ok()?))
}

/// Real and imaginary part, the sign of which parts them.
fn complex(parts: &str) -> Option<Const> {
    let at = parts
        .char_indices()
        .skip(1)
        .find(|(i, c)| "+-".contains(*c) && !parts[..*i].ends_with('e'))?
        .0;
    let bits = |part: &str| Some(part.parse::<f64>().ok()?.to_bits());
    Some(Const::Complex(bits(&parts[..at])?, bits(&parts[at..])?))
}

/// An integer followed by its kind, as in `5u32`.
pub fn int_with_kind(text: &str) -> Option<(i128, IntKind)> {
    let at = text.find(['i', 'u'])?;
    let kind = IntKind {
        signed: text.as_bytes()[at] == b'i',
        bits: text[at + 1..].parse().ok()?,
    };
    Some((text[..at].parse().ok()?, kind))
}
