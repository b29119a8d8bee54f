//! Prebuilt data: objects are made first and filled then, so that they may refer to one another.

use taipan_graph::Const;
use taipan_lltype::{
    LLConst, LLType, Program, STR, StaticData, StaticSym, StaticValue, StructId, StructType,
    TypeKind, UNICODE, layout,
};

use crate::function::constant;
use crate::names::{Ref, Refs, bytes_literal, identifier};
use crate::types::{attribute, code, is_bytes, is_string, item_layout, item_type, varsized, zero};

/// The Python of prebuilt data.
pub(crate) struct DataText {
    /// What makes it.
    pub(crate) made: String,
    /// Statements that fill it.
    pub(crate) filled: Vec<String>,
    /// The object that has to be made before.
    pub(crate) refs: Refs,
}

/// Whether prebuilt data is raw memory, rather than an object.
fn is_raw(ty: LLType) -> bool {
    !ty.is_gc_container() && !ty.is_vtable()
}

/// The Python of prebuilt data; `me` is how it refers to itself.
pub(crate) fn data_text(sym: &StaticSym, program: &dyn Program) -> Result<DataText, String> {
    let mut refs = Refs::default();
    let me = refs.to(Ref::Static(sym.clone()));
    if let StaticSym::Within(root, path) = sym {
        let made = within(sym, root, path, program, &mut refs)?;
        return Ok(DataText {
            made,
            filled: Vec::new(),
            refs,
        });
    }
    let data = program.static_data(sym);
    let mut out = Filler {
        program,
        refs,
        lines: Vec::new(),
    };
    let made = out.object(&me, &data)?;
    Ok(DataText {
        made,
        filled: out.lines,
        refs: out.refs,
    })
}

/// Whether prebuilt data is a weak reference.
fn is_weakref(ty: LLType) -> bool {
    let inline = |s: &StructType| matches!(s.id, StructId::Inline(_));
    ty.as_struct()
        .is_some_and(|s| &*s.name == "weakref" && inline(s))
}

struct Filler<'a> {
    program: &'a dyn Program,
    refs: Refs,
    lines: Vec<String>,
}

impl Filler<'_> {
    fn object(&mut self, me: &str, data: &StaticData) -> Result<String, String> {
        let ty = data.ty;
        if is_raw(ty) {
            return self.raw(me, data);
        }
        if is_string(ty)
            && let StaticValue::Struct(parts) = &data.value
            && let [StaticValue::Const(hash), chars] = &parts[..]
        {
            let hash = constant(hash, &mut self.refs).text;
            return self.string(ty, chars, &hash);
        }
        if is_weakref(ty)
            && let StaticValue::Struct(parts) = &data.value
            && let [StaticValue::Const(target)] = &parts[..]
        {
            let target = constant(target, &mut self.refs).text;
            self.lines.push(format!("{me}.refer({target})"));
            return Ok("WeakReference(None)".to_owned());
        }
        self.fill(me, ty, &data.value)?;
        self.made(ty, &data.value)
    }

    fn string(&mut self, ty: LLType, chars: &StaticValue, hash: &str) -> Result<String, String> {
        let chars = match chars {
            StaticValue::Bytes(b) => bytes_literal(b),
            StaticValue::Array(items) => {
                let items: Vec<String> = items
                    .iter()
                    .map(|i| self.value(i))
                    .collect::<Result<_, _>>()?;
                format!("[{}]", items.join(", "))
            }
            StaticValue::Zero if ty == *STR => "b''".to_owned(),
            StaticValue::Zero | StaticValue::Const(_) | StaticValue::Struct(_) => "[]".to_owned(),
        };
        Ok(format!(
            "{}({chars}, {hash})",
            if ty == *UNICODE {
                "unicode_string"
            } else {
                "string"
            }
        ))
    }

    /// What makes an object, without its contents.
    fn made(&mut self, ty: LLType, value: &StaticValue) -> Result<String, String> {
        let count = |v: &StaticValue| match v {
            StaticValue::Array(items) => items.len(),
            StaticValue::Bytes(b) => b.len(),
            StaticValue::Const(_) | StaticValue::Struct(_) | StaticValue::Zero => 0,
        };
        match ty.kind() {
            TypeKind::Struct(_) => {
                let class = self.refs.to(Ref::Class(ty));
                let length = match (varsized(ty, self.program), value) {
                    (Some(_), StaticValue::Struct(parts)) => {
                        parts.last().map_or(0, count).to_string()
                    }
                    (Some(_), _) => "0".to_owned(),
                    (None, _) => String::new(),
                };
                Ok(format!("{class}({length})"))
            }
            TypeKind::Array(a) => Ok(self.items(a.of, count(value))),
            _ => Err(format!("prebuilt data of type {ty}")),
        }
    }

    fn items(&mut self, of: LLType, n: usize) -> String {
        match of.kind() {
            TypeKind::Char => format!("bytearray({n})"),
            TypeKind::Struct(_) => {
                let class = self.refs.to(Ref::Class(of));
                format!("InlinedItems({class}() for _ in range({n}))")
            }
            _ => format!("[{}] * {n}", zero(of)),
        }
    }

    fn fill(&mut self, at: &str, ty: LLType, value: &StaticValue) -> Result<(), String> {
        match value {
            StaticValue::Zero => Ok(()),
            StaticValue::Const(c) => {
                if c.ty().is_void() || matches!(c, LLConst::Null(_)) {
                    return Ok(());
                }
                let value = constant(c, &mut self.refs).text;
                if value != zero(ty) {
                    self.lines.push(format!("{at} = {value}"));
                }
                Ok(())
            }
            StaticValue::Struct(parts) => {
                let s = ty
                    .as_struct()
                    .ok_or_else(|| format!("prebuilt data of type {ty}"))?;
                let body = self.program.body(s);
                for (field, part) in body.fields.iter().zip(parts) {
                    match attribute(s, &field.name, self.program) {
                        Some(attr) => self.fill(&format!("{at}.{attr}"), field.ty, part)?,
                        None => self.fill(at, field.ty, part)?,
                    }
                }
                Ok(())
            }
            StaticValue::Array(items) => {
                let of = item_type(ty).ok_or_else(|| format!("prebuilt data of type {ty}"))?;
                if items.is_empty() || of.is_void() {
                    return Ok(());
                }
                if items.iter().all(|i| matches!(i, StaticValue::Const(_))) {
                    let items: Vec<String> = items
                        .iter()
                        .map(|i| self.value(i))
                        .collect::<Result<_, _>>()?;
                    self.lines.push(format!("{at}[:] = [{}]", items.join(", ")));
                    return Ok(());
                }
                for (i, item) in items.iter().enumerate() {
                    self.fill(&format!("{at}[{i}]"), of, item)?;
                }
                Ok(())
            }
            StaticValue::Bytes(b) => {
                self.lines.push(format!("{at}[:] = {}", bytes_literal(b)));
                Ok(())
            }
        }
    }

    fn value(&mut self, value: &StaticValue) -> Result<String, String> {
        match value {
            StaticValue::Const(c) => Ok(constant(c, &mut self.refs).text),
            StaticValue::Struct(_)
            | StaticValue::Array(_)
            | StaticValue::Bytes(_)
            | StaticValue::Zero => Err("prebuilt data that is no constant".to_owned()),
        }
    }

    fn raw(&mut self, me: &str, data: &StaticData) -> Result<String, String> {
        let l = layout(data.ty, self.program);
        let length = raw_length(&data.value);
        let size = l.size_of_varsized(length).unwrap_or(l.size);
        self.poke(me, 0, data.ty, &data.value)?;
        Ok(format!("raw_malloc({}, True)", size.max(1)))
    }

    fn poke(&mut self, me: &str, at: u64, ty: LLType, value: &StaticValue) -> Result<(), String> {
        let bad = || format!("prebuilt data of type {ty}");
        match value {
            StaticValue::Zero => {}
            StaticValue::Const(c) => {
                if c.ty().is_void() {
                    return Ok(());
                }
                let code = code(ty).ok_or_else(bad)?;
                let value = constant(c, &mut self.refs).text;
                if value != zero(ty) {
                    self.lines
                        .push(format!("store({me} + {at}, '{code}', {value})"));
                }
            }
            StaticValue::Struct(parts) => {
                let s = ty.as_struct().ok_or_else(bad)?;
                let body = self.program.body(s);
                let offsets = layout(ty, self.program).fields;
                for ((field, offset), part) in body.fields.iter().zip(offsets).zip(parts) {
                    self.poke(me, at + offset, field.ty, part)?;
                }
            }
            StaticValue::Array(items) => {
                let (start, size) = item_layout(ty, self.program).ok_or_else(bad)?;
                let of = item_type(ty).ok_or_else(bad)?;
                self.poke_length(me, at, ty, items.len());
                for (i, item) in items.iter().enumerate() {
                    self.poke(me, at + start + i as u64 * size, of, item)?;
                }
            }
            StaticValue::Bytes(b) => {
                let (start, _) = item_layout(ty, self.program).ok_or_else(bad)?;
                debug_assert!(is_bytes(ty));
                self.poke_length(me, at, ty, b.len());
                let at = at + start;
                self.lines
                    .push(format!("memory_write({me} + {at}, {})", bytes_literal(b)));
            }
        }
        Ok(())
    }

    fn poke_length(&mut self, me: &str, at: u64, ty: LLType, length: usize) {
        if let Some(offset) = layout(ty, self.program).var.and_then(|v| v.length) {
            self.lines
                .push(format!("store({me} + {}, 'q', {length})", at + offset));
        }
    }
}

fn raw_length(v: &StaticValue) -> u64 {
    match v {
        StaticValue::Array(items) => items.len() as u64,
        StaticValue::Bytes(b) => b.len() as u64,
        StaticValue::Struct(values) => values.last().map_or(0, raw_length),
        StaticValue::Const(_) | StaticValue::Zero => 0,
    }
}

/// A place inside of other data.
fn within(
    sym: &StaticSym,
    root: &StaticSym,
    path: &[i64],
    program: &dyn Program,
    refs: &mut Refs,
) -> Result<String, String> {
    let mut ty = program.static_data(root).ty;
    let mut text = refs.to(Ref::Static(root.clone()));
    if is_raw(ty) {
        let (_, at) = sym.place(program).ok_or("a place that is in no data")?;
        return Ok(format!("{text} + {at}"));
    }
    for i in path {
        match ty.kind() {
            TypeKind::Struct(s) => {
                let field = usize::try_from(*i)
                    .ok()
                    .and_then(|i| program.body(s).fields.get(i).cloned());
                let field = field.ok_or("a place that is in no data")?;
                if let Some(attr) = attribute(s, &field.name, program) {
                    if code(field.ty).is_some() {
                        return Ok(format!("field_pointer({text}, '{attr}', 0)"));
                    }
                    text = format!("{text}.{attr}");
                }
                ty = field.ty;
            }
            _ => {
                let of = item_type(ty).ok_or("a place that is in no data")?;
                if let Some(code) = code(of) {
                    let (_, size) = item_layout(ty, program).ok_or("a place that is in no data")?;
                    return Ok(format!(
                        "Within({text}, {size}, '{code}', {})",
                        i * size as i64
                    ));
                }
                text = format!("{text}[{i}]");
                ty = of;
            }
        }
    }
    Ok(text)
}

/// What a piece of data is called, as far as it says so itself.
pub(crate) fn data_name(sym: &StaticSym, program: &dyn Program) -> String {
    let short = |text: &str| identifier(text).chars().take(20).collect::<String>();
    let of = |ty: &LLType| match ty.kind() {
        TypeKind::Struct(s) => identifier(&s.name),
        TypeKind::Array(_) => "items".to_owned(),
        _ => "data".to_owned(),
    };
    match sym {
        StaticSym::Vtable(_) => match program.static_data(sym).ty.kind() {
            TypeKind::Struct(s) => {
                format!("vtable_{}", identifier(s.name.trim_end_matches("_vtable")))
            }
            _ => "vtable".to_owned(),
        },
        StaticSym::ObjectVtable => "vtable_object".to_owned(),
        StaticSym::Str(s) => format!("s_{}", short(&String::from_utf8_lossy(s))),
        StaticSym::Unicode(_) => "u_text".to_owned(),
        StaticSym::Object(_, ty) => format!("o_{}", of(ty)),
        StaticSym::Part(_, part, ty) => format!("o_{}_{}", of(ty), identifier(part)),
        StaticSym::Value(Const::Str(s), _) => format!("s_{}", short(&String::from_utf8_lossy(s))),
        StaticSym::Value(_, ty) => format!("o_{}", of(ty)),
        StaticSym::Named(name, _) => format!("o_{}", short(name)),
        StaticSym::Within(root, _) => format!("{}_part", data_name(root, program)),
    }
}
