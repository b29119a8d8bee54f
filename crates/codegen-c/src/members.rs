//! What structs consist of: the members of C structs, at the offsets that the layout gives them.

use taipan_lltype::{LLType, Program, TypeKind, layout};

use crate::names;
use crate::types::{Bad, Types, declared};

/// A member of a C struct.
pub(crate) struct Member {
    /// Its name.
    pub(crate) name: String,
    /// What it is.
    pub(crate) kind: Kind,
}

/// What a member of a C struct is.
pub(crate) enum Kind {
    /// The header of a GC object.
    Header,
    /// The length of an array.
    Length,
    /// The field of that number.
    Field(usize, LLType),
    /// The items of an array.
    Items(LLType),
    /// So many bytes that hold nothing.
    Padding(u64),
}

/// The members of a container, in order. Void ones have none.
pub(crate) fn members(ty: LLType, program: &dyn Program) -> Vec<Member> {
    let l = layout(ty, program);
    let mut out = Vec::new();
    let mut end = 0;
    let mut add = |kind, name: &str, at: u64, size: u64, align: u64| {
        let natural = taipan_lltype::round_up(end, align.clamp(1, 8));
        if natural < at {
            let name = format!("padding{}", out.len());
            let kind = Kind::Padding(at - end);
            out.push(Member { name, kind });
        }
        let name = names::field(name);
        out.push(Member { name, kind });
        end = end.max(at + size);
    };
    match ty.kind() {
        TypeKind::Struct(s) => {
            let body = program.body(s);
            let has_super = body.fields.first().is_some_and(|f| f.ty.is_gc_container());
            if s.gc && !has_super {
                add(Kind::Header, "", 0, 8, 8);
            }
            for (i, f) in body
                .fields
                .iter()
                .enumerate()
                .filter(|(_, f)| !f.ty.is_void())
            {
                let field = layout(f.ty, program);
                add(
                    Kind::Field(i, f.ty),
                    &f.name,
                    l.fields[i],
                    field.size,
                    field.align,
                );
            }
        }
        TypeKind::Array(a) => {
            if a.gc {
                add(Kind::Header, "", 0, 8, 8);
            }
            if let Some(var) = &l.var {
                if let Some(at) = var.length {
                    add(Kind::Length, "length", at, 8, 8);
                }
                let align = layout(a.of, program).align;
                if !a.of.is_void() {
                    add(Kind::Items(a.of), "items", var.items, 0, align);
                }
            }
        }
        _ => {}
    }
    let natural = taipan_lltype::round_up(end, l.align.clamp(1, 8));
    if natural < l.size && l.var.is_none() {
        let kind = Kind::Padding(l.size - end);
        let name = "padding".to_owned();
        out.push(Member { name, kind });
    }
    for m in &mut out {
        if matches!(m.kind, Kind::Header) {
            m.name = "header".to_owned();
        }
    }
    out
}

/// The containers inside of a container.
pub(crate) fn parts(ty: LLType, program: &dyn Program) -> Vec<LLType> {
    let is_container = |t: &LLType| {
        matches!(
            t.kind(),
            TypeKind::Struct(_) | TypeKind::Array(_) | TypeKind::FixedArray(..)
        )
    };
    let all = match ty.kind() {
        TypeKind::Struct(s) => program.body(s).fields.iter().map(|f| f.ty).collect(),
        TypeKind::Array(a) => vec![a.of],
        TypeKind::FixedArray(of, _) => vec![*of],
        _ => vec![],
    };
    let is_items = |t: &LLType| t.as_array().is_some_and(|a| a.nolength && !a.gc);
    let mut out = Vec::new();
    for t in all.into_iter().filter(is_container) {
        match is_items(&t) {
            true => out.extend(parts(t, program)),
            false => out.push(t),
        }
    }
    out
}

/// The declarations of the members of a container.
pub(crate) fn of_type(
    ty: LLType,
    program: &dyn Program,
    types: &mut Types,
) -> Result<Vec<String>, Bad> {
    let is_union = (ty.as_struct()).is_some_and(|s| program.body(s).union);
    let mut out = Vec::new();
    if is_union {
        out.push("union {".to_owned());
    }
    for m in members(ty, program) {
        out.push(match m.kind {
            Kind::Header => "RPyHeader header;".to_owned(),
            Kind::Length => "Signed length;".to_owned(),
            Kind::Items(of) => format!("{};", declared(&types.member(of)?, "items[]")),
            Kind::Padding(n) => format!("char {}[{n}];", m.name),
            Kind::Field(_, ty) => match ty.as_array() {
                Some(a) if a.nolength && !a.gc => {
                    let name = format!("{}[0]", m.name);
                    format!("{};", declared(&types.member(a.of)?, &name))
                }
                _ => format!("{};", declared(&types.member(ty)?, &m.name)),
            },
        });
    }
    if is_union {
        out.push("};".to_owned());
    }
    Ok(out)
}
