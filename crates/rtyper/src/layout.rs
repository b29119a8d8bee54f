//! Fields of instances, vtables and frozen instances (RPython: `_setup_repr` of
//! `InstanceRepr`, `ClassRepr`, `MultipleFrozenPBCRepr`).

use taipan_annotator::Family;
use taipan_graph::ObjId;
use taipan_lltype::{Field, LLType, StructBody, StructId, TypeKind};

use crate::immutable::declared_immutable;
use crate::reprs::{family_of_struct, group_field, vtable_repr};
use crate::statics::identity_field;
use crate::{RTyper, Typed, TyperError, containers};

/// Fields of a struct whose body stands elsewhere.
pub(crate) fn struct_body(rt: &RTyper<'_>, id: &StructId) -> Typed<StructBody> {
    match id {
        StructId::Inline(b) => Ok((**b).clone()),
        StructId::Instance(class) => instance_body(rt, *class),
        StructId::Vtable(class) => vtable_body(rt, *class),
        StructId::Forward(name) => {
            if let Some(family) = family_of_struct(name) {
                return frozen_body(rt, family);
            }
            containers::struct_body(rt, name).unwrap_or_else(|| {
                Err(TyperError::internal(format!(
                    "a struct named '{name}' that nobody defines"
                )))
            })
        }
    }
}

/// Larger fields first, so that little room is lost; by name among equals.
fn sort_fields(fields: &mut [Field]) {
    fields.sort_by(|a, b| {
        size(b.ty)
            .cmp(&size(a.ty))
            .then_with(|| a.name.cmp(&b.name))
    });
}

fn size(t: LLType) -> u32 {
    match t.kind() {
        TypeKind::Void => 0,
        TypeKind::Bool | TypeKind::Char => 1,
        TypeKind::UniChar | TypeKind::SingleFloat => 4,
        TypeKind::Int(k) => u32::from(k.bits) / 8,
        _ => 8,
    }
}

fn with_super(base: LLType, mut fields: Vec<Field>) -> Vec<Field> {
    sort_fields(&mut fields);
    fields.insert(
        0,
        Field {
            name: "super".into(),
            ty: base,
        },
    );
    fields
}

fn instance_body(rt: &RTyper<'_>, class: ObjId) -> Typed<StructBody> {
    let attrs = rt.class_attributes(class);
    let mut fields = Vec::new();
    for (name, a) in attrs.attrs.iter().filter(|(_, a)| !a.readonly) {
        fields.push(Field {
            name: format!("inst_{name}").into(),
            ty: rt.getrepr(&a.value)?.lowleveltype(),
        });
    }
    let fields = with_super(rt.instance_type(rt.class_base(class)), fields);
    let names: Vec<_> = fields.iter().skip(1).map(|f| f.name.clone()).collect();
    Ok(StructBody {
        fields,
        ..declared_immutable(rt, class, &names)?
    })
}

fn vtable_body(rt: &RTyper<'_>, class: ObjId) -> Typed<StructBody> {
    let attrs = rt.class_attributes(class);
    let mut fields = Vec::new();
    for (name, a) in attrs.attrs.iter().filter(|(_, a)| a.readonly) {
        fields.push(Field {
            name: format!("cls_{name}").into(),
            ty: vtable_repr(rt, class, &a.value)?.lowleveltype(),
        });
    }
    for (name, groups) in &attrs.class_attrs {
        for (i, s) in groups.iter().enumerate() {
            fields.push(Field {
                name: group_field(i, name).into(),
                ty: vtable_repr(rt, class, s)?.lowleveltype(),
            });
        }
    }
    let fields = with_super(rt.vtable_type(rt.class_base(class)), fields);
    let immutable = fields.iter().skip(1).map(|f| f.name.clone()).collect();
    Ok(StructBody {
        fields,
        immutable,
        ..StructBody::default()
    })
}

fn frozen_body(rt: &RTyper<'_>, family: ObjId) -> Typed<StructBody> {
    let key = Family::new(rt.db, rt.roots()?, family);
    let family = taipan_annotator::attr_family(rt.db, key);
    let mut fields = Vec::new();
    for (name, attr) in &family.attrs {
        fields.push(Field {
            name: format!("pbc_{name}").into(),
            ty: rt.getrepr(&attr.value)?.lowleveltype(),
        });
    }
    fields.push(identity_field());
    sort_fields(&mut fields);
    let immutable = fields.iter().map(|f| f.name.clone()).collect();
    Ok(StructBody {
        fields,
        immutable,
        ..StructBody::default()
    })
}
