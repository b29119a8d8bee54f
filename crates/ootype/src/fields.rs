//! The fields of classes and records: those of the base come first.

use std::sync::Arc;

use taipan_lltype::{LLType, OBJECT, Program, TypeKind};

use crate::OOType;

/// A field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    /// Its name.
    pub name: Arc<str>,
    /// Its `lltype` type. A container is a part: the field refers to it and never changes.
    pub ty: LLType,
}

/// Where a name of an `lltype` struct leads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// To the object itself, seen as one of its base.
    Base(LLType),
    /// To the field of that number, among those of [`fields_of`].
    Field(usize, LLType),
    /// To nothing: the field is Void.
    Nothing,
}

/// The class or record that objects of a struct type are objects of, too: that of the first field, if it is a struct.
pub fn base_of(ty: LLType, program: &dyn Program) -> Option<LLType> {
    let first = program.body(ty.as_struct()?).fields.first()?.ty;
    first.as_struct().map(|_| first)
}

/// The content of a field or an item.
pub fn storage(ty: LLType) -> OOType {
    match ty.kind() {
        TypeKind::Struct(_) | TypeKind::Array(_) | TypeKind::FixedArray(..) => {
            OOType::reference(ty)
        }
        _ => OOType::of(ty),
    }
}

/// The name of the field of every instance that holds its identity hash, or zero. No field of a program has it.
const IDENTITY: &str = "~identity";

/// All fields of a struct type, those of its base first. Void ones are left out.
pub fn fields_of(ty: LLType, program: &dyn Program) -> Vec<Member> {
    let Some(s) = ty.as_struct() else {
        return Vec::new();
    };
    let body = program.body(s);
    let base = base_of(ty, program);
    let mut all = base.map_or_else(Vec::new, |base| fields_of(base, program));
    let own = body.fields.iter().skip(usize::from(base.is_some()));
    all.extend(own.filter(|f| !f.ty.is_void()).map(|f| Member {
        name: f.name.clone(),
        ty: f.ty,
    }));
    if ty == *OBJECT {
        all.push(Member {
            name: IDENTITY.into(),
            ty: *taipan_lltype::SIGNED,
        });
    }
    all
}

/// Where a field of a struct type is; none if there is no such field.
pub fn member(ty: LLType, name: &str, program: &dyn Program) -> Option<Place> {
    let body = program.body(ty.as_struct()?);
    let base = base_of(ty, program);
    let index = body.fields.iter().position(|f| &*f.name == name)?;
    let field = &body.fields[index];
    if index == 0 && base.is_some() {
        return Some(Place::Base(field.ty));
    }
    if field.ty.is_void() {
        return Some(Place::Nothing);
    }
    let before = base.map_or(0, |base| fields_of(base, program).len());
    let skipped = usize::from(base.is_some());
    let own = body.fields[skipped..index]
        .iter()
        .filter(|f| !f.ty.is_void())
        .count();
    Some(Place::Field(before + own, field.ty))
}

/// The number and the type of a field of a struct type or of its bases. None if there is no such field, or it is Void.
pub fn inherited(ty: LLType, name: &str, program: &dyn Program) -> Option<(usize, LLType)> {
    match member(ty, name, program) {
        Some(Place::Field(i, field)) => Some((i, field)),
        Some(Place::Base(_) | Place::Nothing) => None,
        None => inherited(base_of(ty, program)?, name, program),
    }
}

/// The number of the field of instances that holds the identity hash.
pub fn identity_field(program: &dyn Program) -> usize {
    fields_of(*OBJECT, program).len() - 1
}

/// The array at the end of a struct: the number of the field and its type.
pub fn items_field(ty: LLType, program: &dyn Program) -> Option<(usize, LLType)> {
    let last = program.body(ty.as_struct()?).fields.last()?.clone();
    last.ty.as_array()?;
    Some((fields_of(ty, program).len() - 1, last.ty))
}
