//! How programs are entered, and how values come in and out of a function that is called.

use taipan_lltype::{FuncSym, LLType, OBJECT, Program, STR, StructId, TypeKind, UNICODE};

use crate::names::{Ref, Refs, bytes_literal};
use crate::types::{attribute, is_bytes, item_type};

/// What is done when the file is run.
#[derive(Clone, Debug)]
pub enum Entry {
    /// Nothing: it is only looked at.
    Nothing,
    /// A program is entered, with the arguments of the command line.
    Program(FuncSym),
    /// A function is called, and the result is printed as JSON.
    Call(FuncSym, Vec<Argument>),
}

/// An argument that a function is called with.
#[derive(Clone, PartialEq, Debug)]
pub enum Argument {
    /// `None`
    None,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// A float.
    Float(f64),
    /// A byte string.
    Str(Vec<u8>),
    /// A unicode string, as code points.
    Unicode(Vec<u32>),
    /// A list.
    List(Vec<Argument>),
    /// A tuple.
    Tuple(Vec<Argument>),
}

/// Types nest no deeper than this in results: a type that has itself as a part ends somewhere.
const DEEPEST: usize = 20;

/// The expression that makes an argument of a type.
pub(crate) fn argument(
    a: &Argument,
    ty: LLType,
    program: &dyn Program,
    refs: &mut Refs,
) -> Result<String, String> {
    let mismatch = || format!("an argument of type {ty} cannot be made from this literal");
    let texts = |items: &[Argument], of: LLType, refs: &mut Refs| {
        let texts = items.iter().map(|i| argument(i, of, program, refs));
        texts.collect::<Result<Vec<_>, _>>().map(|t| t.join(", "))
    };
    let bytes = |array: LLType| if is_bytes(array) { "bytearray" } else { "list" };
    Ok(match (a, ty.kind()) {
        (_, TypeKind::Void) | (Argument::None, TypeKind::Ptr(_)) => "None".to_owned(),
        (Argument::Bool(b), TypeKind::Bool) => if *b { "True" } else { "False" }.to_owned(),
        (Argument::Bool(b), TypeKind::Int(_)) => i32::from(*b).to_string(),
        (Argument::Int(v), TypeKind::Int(k)) => k.wrap(*v).to_string(),
        (Argument::Int(v), TypeKind::Float) => float(*v as f64),
        (Argument::Float(v), TypeKind::Float) => float(*v),
        (Argument::Str(s), TypeKind::Char) if s.len() == 1 => s[0].to_string(),
        (Argument::Unicode(s), TypeKind::UniChar) if s.len() == 1 => s[0].to_string(),
        (Argument::Str(s), _) if ty == STR.ptr() => format!("string({})", bytes_literal(s)),
        (Argument::Unicode(s), _) if ty == UNICODE.ptr() => format!("unicode_string({s:?})"),
        (Argument::List(items), TypeKind::Ptr(to)) => {
            if let Some(of) = item_type(*to) {
                return Ok(format!("{}([{}])", bytes(*to), texts(items, of, refs)?));
            }
            let s = to.as_struct().ok_or_else(mismatch)?;
            let body = program.body(s);
            let array = (body.fields.iter().find(|f| &*f.name == "items"))
                .and_then(|f| f.ty.pointee())
                .ok_or_else(mismatch)?;
            let of = item_type(array).ok_or_else(mismatch)?;
            let class = refs.to(Ref::Class(*to));
            let name = |n: &str| attribute(s, n, program).unwrap_or_default();
            format!(
                "made({class}, {}={}, {}={}([{}]))",
                name("length"),
                items.len(),
                name("items"),
                bytes(array),
                texts(items, of, refs)?
            )
        }
        (Argument::Tuple(items), TypeKind::Ptr(to)) => {
            let s = to.as_struct().ok_or_else(mismatch)?;
            let class = refs.to(Ref::Class(*to));
            let mut out = format!("made({class}");
            for (item, field) in items.iter().zip(&program.body(s).fields) {
                let Some(name) = attribute(s, &field.name, program).filter(|_| !field.ty.is_void())
                else {
                    continue;
                };
                out.push_str(&format!(
                    ", {name}={}",
                    argument(item, field.ty, program, refs)?
                ));
            }
            format!("{out})")
        }
        _ => return Err(mismatch()),
    })
}

fn float(f: f64) -> String {
    format!("float_of_bits({:#x})", f.to_bits())
}

/// How the support library shows values of a type: a tuple whose first item says what it is.
pub(crate) fn shown(ty: LLType, program: &dyn Program, depth: usize) -> String {
    let to = match ty.kind() {
        TypeKind::Void => return "('none',)".to_owned(),
        TypeKind::Bool | TypeKind::Int(_) => return "('number',)".to_owned(),
        TypeKind::Float | TypeKind::SingleFloat => return "('float',)".to_owned(),
        TypeKind::Char => return "('char',)".to_owned(),
        TypeKind::UniChar => return "('unichar',)".to_owned(),
        TypeKind::Ptr(to) if depth < DEEPEST => *to,
        _ => return "('text', '<address>')".to_owned(),
    };
    let named = |text: &str| format!("('text', '{}')", text.replace(['\\', '\''], "?"));
    if to == *STR {
        return "('str',)".to_owned();
    }
    if to == *UNICODE {
        return "('unicode',)".to_owned();
    }
    if let Some(a) = to.as_array() {
        return format!("('items', {})", shown(a.of, program, depth + 1));
    }
    let Some(s) = to.as_struct() else {
        return named(&format!("<{to}>"));
    };
    if matches!(s.id, StructId::Instance(_)) || to == *OBJECT {
        let name = |s: &taipan_lltype::StructType, n| attribute(s, n, program).unwrap_or_default();
        let root = OBJECT
            .as_struct()
            .map_or_else(String::new, |s| name(s, "typeptr"));
        let vtable = taipan_lltype::OBJECT_VTABLE.as_struct();
        let class = vtable.map_or_else(String::new, |s| name(s, "name"));
        return format!("('instance', '{root}', '{class}')");
    }
    let body = program.body(s);
    let has = |n: &str| body.fields.iter().any(|f| &*f.name == n);
    let name = |n: &str| attribute(s, n, program).unwrap_or_default();
    if has("length") && has("items") {
        let items = body.fields.iter().find(|f| &*f.name == "items");
        if let Some(of) = items.and_then(|f| f.ty.pointee()).and_then(item_type) {
            let (length, items) = (name("length"), name("items"));
            return format!(
                "('list', '{length}', '{items}', {})",
                shown(of, program, depth + 1)
            );
        }
    }
    if has("start") && has("stop") {
        let step = match has("step") {
            true => format!("'{}'", name("step")),
            false => {
                let last = s.name.rsplit(['_', ' ']).next();
                last.and_then(|n| n.parse::<i64>().ok())
                    .unwrap_or(1)
                    .to_string()
            }
        };
        return format!("('range', '{}', '{}', {step})", name("start"), name("stop"));
    }
    let mut items = body.fields.iter().enumerate();
    if items.all(|(i, f)| *f.name == *format!("item{i}")) {
        let mut parts = String::new();
        for f in &body.fields {
            parts.push_str(&format!(
                "('{}', {}), ",
                name(&f.name),
                shown(f.ty, program, depth + 1)
            ));
        }
        return format!("('tuple', ({parts}))");
    }
    named(&format!("<{} object>", s.name))
}
