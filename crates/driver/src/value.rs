//! Values that go into and come out of a called function: literals, JSON, and the
//! low-level objects between them.

use serde_json::{Value, json};
use taipan_annotator::InputType;
use taipan_graph::IntKind;
use taipan_jit::ResidualCounts;
use taipan_lltype::{
    Addr, FuncSym, HeapError, LLType, LLValue, Memory, OBJECT_VTABLE, STR, StructId, TypeKind,
    UNICODE,
};

/// A Python literal given as an argument.
#[derive(Clone, PartialEq, Debug)]
pub enum Literal {
    /// `None`
    None,
    /// `True`, `False`
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
    List(Vec<Literal>),
    /// A tuple.
    Tuple(Vec<Literal>),
}

impl Literal {
    /// The annotation of an argument with this value, as RPython's tests annotate
    /// theirs: by type alone, never by value. Answers what is wrong with it otherwise.
    pub fn argument_type(&self) -> Result<InputType, String> {
        Ok(match self {
            // RPython types a string of one character as a character.
            Literal::Str(s) if s.len() == 1 => InputType::Char,
            Literal::Unicode(s) if s.len() == 1 => InputType::UniChar,
            other => other.input_type()?,
        })
    }

    fn input_type(&self) -> Result<InputType, String> {
        Ok(match self {
            Literal::None => InputType::None,
            Literal::Bool(_) => InputType::Bool,
            Literal::Int(v) => {
                let kind = if i64::try_from(*v).is_ok() {
                    IntKind::SIGNED
                } else if u64::try_from(*v).is_ok() {
                    IntKind::UNSIGNED
                } else {
                    IntKind {
                        signed: true,
                        bits: 128,
                    }
                };
                InputType::Integer {
                    nonneg: false,
                    kind,
                }
            }
            Literal::Float(_) => InputType::Float,
            Literal::Str(_) => InputType::Str {
                can_be_none: false,
                no_nul: false,
            },
            Literal::Unicode(_) => InputType::Unicode { can_be_none: false },
            Literal::List(items) => {
                let mut item = InputType::Impossible;
                for i in items {
                    item = join(item, i.input_type()?)?;
                }
                InputType::List {
                    item: Box::new(item),
                    resized: false,
                    mutated: false,
                }
            }
            Literal::Tuple(items) => InputType::Tuple(
                items
                    .iter()
                    .map(Literal::input_type)
                    .collect::<Result<_, _>>()?,
            ),
        })
    }
}

/// The annotation of items of both types.
fn join(a: InputType, b: InputType) -> Result<InputType, String> {
    use InputType::*;
    Ok(match (a, b) {
        (Impossible, x) | (x, Impossible) => x,
        (x, y) if x == y => x,
        (Integer { kind, .. }, Bool) | (Bool, Integer { kind, .. }) => Integer {
            nonneg: false,
            kind,
        },
        (Integer { .. }, Float) | (Float, Integer { .. }) => Float,
        (None, Str { no_nul, .. }) | (Str { no_nul, .. }, None) => Str {
            can_be_none: true,
            no_nul,
        },
        (Str { .. }, Str { .. }) => Str {
            can_be_none: true,
            no_nul: false,
        },
        (None, Unicode { .. }) | (Unicode { .. }, None) | (Unicode { .. }, Unicode { .. }) => {
            Unicode { can_be_none: true }
        }
        (List { item: a, .. }, List { item: b, .. }) => List {
            item: Box::new(join(*a, *b)?),
            resized: false,
            mutated: false,
        },
        (Tuple(a), Tuple(b)) if a.len() == b.len() => Tuple(
            a.into_iter()
                .zip(b)
                .map(|(a, b)| join(a, b))
                .collect::<Result<_, _>>()?,
        ),
        _ => return Err("the items of a list argument have types that do not mix".to_owned()),
    })
}

/// Makes the low-level object of a literal for a parameter of type `ty`.
pub(crate) fn to_lowlevel(
    heap: &mut dyn Memory,
    value: &Literal,
    ty: LLType,
) -> Result<LLValue, String> {
    let fault = |e: HeapError| e.to_string();
    let mismatch = || format!("an argument of type {ty} cannot be made from this literal");
    Ok(match (value, ty.kind()) {
        (_, TypeKind::Void) => LLValue::Void,
        (Literal::None, TypeKind::Ptr(_)) => LLValue::NULL,
        (Literal::Bool(b), TypeKind::Bool) => LLValue::Bool(*b),
        (Literal::Bool(b), TypeKind::Int(k)) => LLValue::Int(*k, i128::from(*b)),
        (Literal::Int(v), TypeKind::Int(k)) => LLValue::Int(*k, k.wrap(*v)),
        (Literal::Int(v), TypeKind::Float) => LLValue::Float(*v as f64),
        (Literal::Float(v), TypeKind::Float) => LLValue::Float(*v),
        (Literal::Str(s), TypeKind::Char) if s.len() == 1 => LLValue::Char(s[0]),
        (Literal::Unicode(s), TypeKind::UniChar) if s.len() == 1 => LLValue::UniChar(s[0]),
        (Literal::Str(s), _) if ty == STR.ptr() => LLValue::Ptr(heap.alloc_str(s).map_err(fault)?),
        (Literal::Unicode(s), _) if ty == UNICODE.ptr() => {
            LLValue::Ptr(heap.alloc_unicode(s).map_err(fault)?)
        }
        (Literal::List(items), TypeKind::Ptr(to)) => {
            let n = items.len() as u64;
            if let Some(array) = to.as_array() {
                let addr = heap.malloc(*to, n, true).map_err(fault)?;
                fill(heap, items, addr, *to, array.of)?;
                LLValue::Ptr(addr)
            } else {
                let list = heap.malloc(*to, 0, true).map_err(fault)?;
                let (_, items_ty) = heap.field(list, *to, "items").map_err(fault)?;
                let array_ty = items_ty.pointee().ok_or_else(mismatch)?;
                let of = array_ty.as_array().ok_or_else(mismatch)?.of;
                let addr = heap.malloc(array_ty, n, true).map_err(fault)?;
                fill(heap, items, addr, array_ty, of)?;
                heap.set_field(list, *to, "length", LLValue::signed(n as i64))
                    .map_err(fault)?;
                heap.set_field(list, *to, "items", LLValue::Ptr(addr))
                    .map_err(fault)?;
                LLValue::Ptr(list)
            }
        }
        (Literal::Tuple(items), TypeKind::Ptr(to)) => {
            let addr = heap.malloc(*to, 0, true).map_err(fault)?;
            for (i, item) in items.iter().enumerate() {
                let name = format!("item{i}");
                let (_, item_ty) = heap.field(addr, *to, &name).map_err(fault)?;
                let v = to_lowlevel(heap, item, item_ty)?;
                heap.set_field(addr, *to, &name, v).map_err(fault)?;
            }
            LLValue::Ptr(addr)
        }
        _ => return Err(mismatch()),
    })
}

fn fill(
    heap: &mut dyn Memory,
    items: &[Literal],
    addr: Addr,
    array: LLType,
    of: LLType,
) -> Result<(), String> {
    for (i, item) in items.iter().enumerate() {
        let v = to_lowlevel(heap, item, of)?;
        heap.set_item(addr, array, i as u64, v)
            .map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// A result as JSON, guided by its low-level type.
pub(crate) fn to_json(
    heap: &mut dyn Memory,
    value: LLValue,
    ty: LLType,
) -> Result<Value, HeapError> {
    Ok(match value {
        LLValue::Void => Value::Null,
        LLValue::Bool(b) => json!(b),
        LLValue::Char(c) => json!(char::from(c).to_string()),
        LLValue::UniChar(c) => json!(text_of(&[c])),
        LLValue::Int(_, v) => integer(v),
        LLValue::Float(f) => float(f),
        LLValue::SingleFloat(f) => float(f64::from(f)),
        LLValue::Ptr(0) => Value::Null,
        LLValue::Ptr(addr) => object(heap, addr, ty)?,
    })
}

fn object(heap: &mut dyn Memory, addr: Addr, ty: LLType) -> Result<Value, HeapError> {
    let Some(to) = ty.pointee() else {
        return Ok(json!("<address>"));
    };
    if to == *STR {
        let s = heap.str_bytes(addr)?;
        return Ok(json!(s.iter().map(|b| char::from(*b)).collect::<String>()));
    }
    if to == *UNICODE {
        return Ok(json!(text_of(&heap.unicode_chars(addr)?)));
    }
    if let Some(array) = to.as_array() {
        let n = heap.array_length(addr, to)?;
        return array_json(heap, addr, to, array.of, n);
    }
    let Some(s) = to.as_struct() else {
        return Ok(json!(format!("<{to}>")));
    };
    if let StructId::Instance(_) = s.id {
        return instance(heap, addr);
    }
    if to == *taipan_lltype::OBJECT {
        return instance(heap, addr);
    }
    let body = heap.program().body(s);
    let has = |name: &str| body.fields.iter().any(|f| &*f.name == name);
    if has("length") && has("items") {
        let n = heap.get_field(addr, to, "length")?.as_i64().unwrap_or(0);
        let (_, items_ty) = heap.field(addr, to, "items")?;
        let items = heap.get_field(addr, to, "items")?.as_addr().unwrap_or(0);
        if let Some(array_ty) = items_ty.pointee()
            && let Some(array) = array_ty.as_array()
        {
            return array_json(heap, items, array_ty, array.of, n.max(0) as u64);
        }
    }
    if has("start") && has("stop") {
        return range(heap, addr, to, has("step"), &s.name);
    }
    if body
        .fields
        .iter()
        .enumerate()
        .all(|(i, f)| *f.name == *format!("item{i}"))
    {
        let mut out = Vec::new();
        for f in &body.fields {
            let v = heap.get_field(addr, to, &f.name)?;
            out.push(to_json(heap, v, f.ty)?);
        }
        return Ok(Value::Array(out));
    }
    Ok(json!(format!("<{} object>", s.name)))
}

/// A range list; a constant step stands at the end of the type's name.
fn range(
    heap: &mut dyn Memory,
    addr: Addr,
    ty: LLType,
    has_step: bool,
    name: &str,
) -> Result<Value, HeapError> {
    let start = heap.get_field(addr, ty, "start")?.as_i64().unwrap_or(0);
    let stop = heap.get_field(addr, ty, "stop")?.as_i64().unwrap_or(0);
    let step = if has_step {
        heap.get_field(addr, ty, "step")?.as_i64().unwrap_or(1)
    } else {
        name.rsplit(['_', ' '])
            .next()
            .and_then(|n| n.parse().ok())
            .unwrap_or(1)
    };
    let mut out = Vec::new();
    let mut i = start;
    while step != 0 && (if step > 0 { i < stop } else { i > stop }) {
        out.push(json!(i));
        i += step;
    }
    Ok(Value::Array(out))
}

fn array_json(
    heap: &mut dyn Memory,
    addr: Addr,
    array: LLType,
    of: LLType,
    n: u64,
) -> Result<Value, HeapError> {
    let mut out = Vec::new();
    for i in 0..n {
        let v = heap.get_item(addr, array, i)?;
        out.push(to_json(heap, v, of)?);
    }
    Ok(Value::Array(out))
}

fn instance(heap: &mut dyn Memory, addr: Addr) -> Result<Value, HeapError> {
    let vtable = heap.get_field(addr, *taipan_lltype::OBJECT, "typeptr")?;
    let name = heap.get_field(vtable.as_addr().unwrap_or(0), *OBJECT_VTABLE, "name")?;
    let name = heap.str_bytes(name.as_addr().unwrap_or(0))?;
    Ok(json!(format!(
        "<{} object>",
        String::from_utf8_lossy(&name)
    )))
}

fn integer(v: i128) -> Value {
    if let Ok(v) = i64::try_from(v) {
        json!(v)
    } else if let Ok(v) = u64::try_from(v) {
        json!(v)
    } else {
        // Beyond what serde_json's numbers hold without its arbitrary precision.
        json!(v.to_string())
    }
}

fn float(f: f64) -> Value {
    if f.is_nan() {
        json!("nan")
    } else if f.is_infinite() {
        json!(if f > 0.0 { "inf" } else { "-inf" })
    } else {
        json!(f)
    }
}

/// Code points as text; lone surrogates become the replacement character.
fn text_of(chars: &[u32]) -> String {
    chars
        .iter()
        .map(|c| char::from_u32(*c).unwrap_or('\u{fffd}'))
        .collect()
}

/// JSON of [`to_json`] as a Python literal, for people.
pub fn python_text(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(n) => n.to_string(),
        Value::String(s) => {
            let quote = if s.contains('\'') && !s.contains('"') {
                '"'
            } else {
                '\''
            };
            let mut out = String::from(quote);
            for c in s.chars() {
                match c {
                    '\\' => out.push_str("\\\\"),
                    '\n' => out.push_str("\\n"),
                    '\r' => out.push_str("\\r"),
                    '\t' => out.push_str("\\t"),
                    c if c == quote => out.extend(['\\', c]),
                    ' '..='~' => out.push(c),
                    c if (c as u32) < 256 => out.push_str(&format!("\\x{:02x}", c as u32)),
                    c if (c as u32) < 0x10000 => out.push_str(&format!("\\u{:04x}", c as u32)),
                    c => out.push_str(&format!("\\U{:08x}", c as u32)),
                }
            }
            out.push(quote);
            out
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(python_text).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(_) => value.to_string(),
    }
}

/// What residual code consists of.
pub(crate) fn counts_json(counts: &ResidualCounts) -> Value {
    json!({
        "residual": counts.operations,
        "oops": counts.oops,
        "flexswitches": counts.flexswitches,
        "blocks": counts.blocks,
    })
}

/// Calls and jumps that one interpreted call may execute, some ten seconds: a batch goes
/// on after a function that never ends.
pub(crate) const CALL_FUEL: u64 = 1_000_000_000;

/// The arguments of a call as low-level values.
pub(crate) fn lowlevel_args(
    memory: &mut dyn Memory,
    root: &FuncSym,
    args: &[Literal],
) -> Result<Vec<LLValue>, String> {
    let types = &root.ty().args;
    if types.len() != args.len() {
        return Err(format!(
            "{} takes {} arguments, not {}",
            root.name(),
            types.len(),
            args.len()
        ));
    }
    (args.iter().zip(types))
        .map(|(a, ty)| to_lowlevel(memory, a, *ty))
        .collect()
}

/// `IndexError` of `exceptions.IndexError`.
pub fn short_name(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}
