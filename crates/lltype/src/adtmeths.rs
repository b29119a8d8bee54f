//! What a program gives a low-level type besides its fields (RPython: `adtmeths`):
//! methods of the pointers to it, constants, other types.
//!
//! The type names an object of the image, a dict from names to values. Two types of
//! equal fields with different tables are different types.

use taipan_graph::ObjId;

use crate::{LLType, TypeKind};

/// The table of a container type, if it has one.
pub fn adtmeths(t: LLType) -> Option<ObjId> {
    match t.kind() {
        TypeKind::Struct(s) => s.known_body()?.adtmeths,
        TypeKind::Array(a) => a.adtmeths,
        _ => None,
    }
}

/// The tables of a type and of all types that it mentions.
pub fn mentioned_adtmeths(t: LLType) -> Vec<ObjId> {
    let (mut seen, mut open, mut found) = (Vec::new(), vec![t], Vec::new());
    while let Some(t) = open.pop() {
        if seen.contains(&t) {
            continue;
        }
        seen.push(t);
        found.extend(adtmeths(t));
        match t.kind() {
            TypeKind::Ptr(of) | TypeKind::FixedArray(of, _) => open.push(*of),
            TypeKind::Array(a) => open.push(a.of),
            TypeKind::Func(f) => {
                open.extend(&f.args);
                open.push(f.result);
            }
            TypeKind::Struct(s) => {
                if let Some(body) = s.known_body() {
                    open.extend(body.fields.iter().map(|f| f.ty));
                }
            }
            _ => {}
        }
    }
    found
}
