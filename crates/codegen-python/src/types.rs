//! How values of low-level types are represented.
//!
//! | type | in Python |
//! | --- | --- |
//! | Bool | `True`, `False` |
//! | Char, UniChar, integers | `int`, always within the range of the type |
//! | Float, SingleFloat | `float` |
//! | pointer to a GcStruct, a vtable, a struct inside of one | an object of a class with `__slots__`; null is `None` |
//! | pointer to a GcArray, an array inside of a GcStruct | a `list`, of Char a `bytearray`; null is `None` |
//! | pointer to a function | a function; null is `None` |
//! | other raw pointers, Address | the address in this process as `int`, 0 for null; or an object as above, or a place in one (`Within`) |
//!
//! A struct that starts with another one is a subclass, so that casts do nothing. Raw memory is that of the
//! process, which C code can use; a pointer to an object is stored there as its number in a table.

use std::sync::Arc;

use taipan_graph::IntKind;
use taipan_lltype::{
    LLType, Layout, Program, STR, StructBody, StructType, TypeKind, UNICODE, layout, round_up,
};

use crate::names::{identifier, is_taken};

/// What a pointer is in Python.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pointer {
    /// An object, or `None`.
    Object,
    /// An object of an unknown class, an odd number, or `None`.
    Opaque,
    /// A function, or `None`.
    Function,
    /// An address, or an object.
    Raw,
}

/// What values of a pointer type, or Address, are; none for other types.
pub(crate) fn pointer(ty: LLType) -> Option<Pointer> {
    let to = match ty.kind() {
        TypeKind::Address => return Some(Pointer::Raw),
        TypeKind::Ptr(to) => *to,
        _ => return None,
    };
    Some(match to.kind() {
        TypeKind::Struct(s) if s.gc || to.is_vtable() => Pointer::Object,
        TypeKind::Array(a) if a.gc => Pointer::Object,
        TypeKind::Opaque { gc: true, .. } => Pointer::Opaque,
        TypeKind::Func(_) => Pointer::Function,
        _ => Pointer::Raw,
    })
}

/// Whether a type is a container of its own, inside of another one.
pub(crate) fn is_container(ty: LLType) -> bool {
    matches!(
        ty.kind(),
        TypeKind::Struct(_) | TypeKind::Array(_) | TypeKind::FixedArray(..)
    )
}

/// The items of an array type.
pub(crate) fn item_type(ty: LLType) -> Option<LLType> {
    match ty.kind() {
        TypeKind::Array(a) => Some(a.of),
        TypeKind::FixedArray(of, _) => Some(*of),
        _ => None,
    }
}

/// Whether an array is a `bytearray`.
pub(crate) fn is_bytes(ty: LLType) -> bool {
    item_type(ty).is_some_and(|of| *of.kind() == TypeKind::Char)
}

/// By which letter the support library knows how a value lies in memory.
pub(crate) fn code(ty: LLType) -> Option<&'static str> {
    Some(match ty.kind() {
        TypeKind::Bool => "?",
        TypeKind::Char => "B",
        TypeKind::UniChar => "I",
        TypeKind::Float => "d",
        TypeKind::SingleFloat => "f",
        TypeKind::Int(IntKind { signed, bits }) => match (bits, signed) {
            (8, true) => "b",
            (8, false) => "B",
            (16, true) => "h",
            (16, false) => "H",
            (32, true) => "i",
            (32, false) => "I",
            (64, true) => "q",
            (64, false) => "Q",
            (_, true) => "w",
            (_, false) => "W",
        },
        TypeKind::Address | TypeKind::Ptr(_) => match pointer(ty)? {
            Pointer::Raw => "P",
            Pointer::Object | Pointer::Opaque | Pointer::Function => "O",
        },
        TypeKind::Void
        | TypeKind::Struct(_)
        | TypeKind::Array(_)
        | TypeKind::FixedArray(..)
        | TypeKind::Func(_)
        | TypeKind::Opaque { .. } => return None,
    })
}

/// The value that cleared memory holds, of a type that is no container.
pub(crate) fn zero(ty: LLType) -> &'static str {
    match (ty.kind(), pointer(ty)) {
        (_, Some(Pointer::Raw)) => "0",
        (_, Some(_)) => "None",
        (TypeKind::Bool, None) => "False",
        (TypeKind::Float | TypeKind::SingleFloat, None) => "0.0",
        (TypeKind::Void, None) => "None",
        (_, None) => "0",
    }
}

/// The class that a struct type's Python class inherits from: that of its first field.
pub(crate) fn super_type(s: &StructType, program: &dyn Program) -> Option<LLType> {
    let first = program.body(s).fields.first()?.ty;
    first.as_struct().map(|_| first)
}

/// The attribute of a field; none for the first one, if it is a struct itself.
pub(crate) fn attribute(s: &StructType, name: &str, program: &dyn Program) -> Option<String> {
    let body = program.body(s);
    let first = body.fields.first()?;
    if &*first.name == name && first.ty.as_struct().is_some() {
        return None;
    }
    let mut out = identifier(name);
    if is_taken(&out) || out.starts_with('_') {
        out = format!("f_{out}");
    }
    let index = body.fields.iter().position(|f| &*f.name == name)?;
    let same = |b: &Arc<StructBody>, n: usize| {
        b.fields[..n]
            .iter()
            .filter(|f| identifier(&f.name) == identifier(name))
            .count()
    };
    let mut before = same(&body, index);
    let mut above = super_type(s, program);
    while let Some(ty) = above {
        let Some(s) = ty.as_struct() else { break };
        let body = program.body(s);
        before += same(&body, body.fields.len());
        above = super_type(s, program);
    }
    if before > 0 {
        out = format!("{out}_{before}");
    }
    Some(out)
}

/// The array at the end of a variable-sized struct: the attribute and its type.
pub(crate) fn varsized(ty: LLType, program: &dyn Program) -> Option<(String, LLType)> {
    let s = ty.as_struct()?;
    let body = program.body(s);
    let last = body.fields.last()?;
    last.ty.as_array()?;
    Some((attribute(s, &last.name, program)?, last.ty))
}

/// Whether the support library has the class of a type.
pub(crate) fn is_string(ty: LLType) -> bool {
    ty == *STR || ty == *UNICODE
}

/// Where items are in memory: of item 0, and from one to the next.
pub(crate) fn item_layout(ty: LLType, program: &dyn Program) -> Option<(u64, u64)> {
    if let TypeKind::FixedArray(of, _) = ty.kind() {
        let l = layout(*of, program);
        return Some((0, round_up(l.size, l.align)));
    }
    let Layout { var, .. } = layout(ty, program);
    var.map(|v| (v.items, v.item_size))
}
