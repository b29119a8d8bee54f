//! The fields of structs that may be virtual, flattened.

use taipan_lltype::{LLType, Program, TypeKind};

use crate::state::FieldKey;

/// All fields of a struct with a value at run time, those of its base first; each with
/// its type.
pub(crate) fn fields_of(program: &dyn Program, ty: LLType) -> Vec<(FieldKey, LLType)> {
    let mut out = Vec::new();
    let Some(s) = ty.as_struct() else {
        return out;
    };
    for (i, f) in program.body(s).fields.iter().enumerate() {
        match f.ty.kind() {
            TypeKind::Struct(_) if i == 0 => out.extend(fields_of(program, f.ty)),
            TypeKind::Void => {}
            _ => out.push(((ty, i), f.ty)),
        }
    }
    out
}

/// A field of a struct or of one of its bases, by name.
pub(crate) fn find_field(program: &dyn Program, ty: LLType, name: &str) -> Option<FieldKey> {
    let body = program.body(ty.as_struct()?);
    match body.fields.iter().position(|f| &*f.name == name) {
        Some(i) => Some((ty, i)),
        None => find_field(program, body.fields.first()?.ty, name),
    }
}

/// The name of a field.
pub(crate) fn field_name_of(program: &dyn Program, key: FieldKey) -> Option<std::sync::Arc<str>> {
    let body = program.body(key.0.as_struct()?);
    body.fields.get(key.1).map(|f| f.name.clone())
}
