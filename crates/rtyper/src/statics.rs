//! Contents of prebuilt data (RPython: `initialize_prebuilt_data`, `setup_vtable`).

use std::sync::Arc;

use taipan_annotator::{Family, FamilyAttr};
use taipan_graph::{Const, ObjId};
use taipan_interp::ObjData;
use taipan_lltype::{
    CHAR, Field, LLConst, LLType, OBJECT, OBJECT_VTABLE, STR, StaticData, StaticSym, StaticValue,
    StructBody, StructId, StructType, TypeKind, UNICODE,
};

use crate::convert::signed;
use crate::reprs::{frozen_attribute, group_field, group_of_field, may_be, variants_of};
use crate::{RTyper, Typed, TyperError, containers, synth};

/// Contents of a piece of prebuilt data.
pub(crate) fn static_data(rt: &RTyper<'_>, sym: &StaticSym) -> Typed<StaticData> {
    match sym {
        StaticSym::ObjectVtable => vtable(rt, None),
        StaticSym::Vtable(c) => vtable(rt, Some(*c)),
        StaticSym::Str(s) => Ok(StaticData {
            ty: *STR,
            value: StaticValue::Struct(vec![
                StaticValue::Const(signed(0)),
                StaticValue::Bytes(s.clone()),
            ]),
            readonly: false,
        }),
        StaticSym::Unicode(s) => Ok(StaticData {
            ty: *UNICODE,
            value: StaticValue::Struct(vec![
                StaticValue::Const(signed(0)),
                StaticValue::Array(
                    s.iter()
                        .map(|c| StaticValue::Const(LLConst::UniChar(*c)))
                        .collect(),
                ),
            ]),
            readonly: false,
        }),
        StaticSym::Part(class, part, ty) if &**part == PREBUILT_INSTANCE => {
            instance(rt, *class, None, *ty)
        }
        StaticSym::Object(obj, ty) => object(rt, sym, *obj, *ty),
        StaticSym::Part(obj, ..) => {
            let data = rt.object(*obj)?;
            container(rt, sym, Some((*obj, &*data)))
        }
        StaticSym::Value(..) => container(rt, sym, None),
        StaticSym::Within(root, _) => static_data(rt, root),
        StaticSym::Named(name, _) => Err(TyperError::internal(format!(
            "prebuilt data named '{name}' that nobody defines here"
        ))),
    }
}

fn container(
    rt: &RTyper<'_>,
    sym: &StaticSym,
    obj: Option<(ObjId, &ObjData)>,
) -> Typed<StaticData> {
    containers::static_data(rt, sym, obj).unwrap_or_else(|| {
        Err(TyperError::internal(format!(
            "prebuilt data of an unknown kind: {sym:?}"
        )))
    })
}

fn object(rt: &RTyper<'_>, sym: &StaticSym, obj: ObjId, ty: LLType) -> Typed<StaticData> {
    let data = rt.object(obj)?;
    if let ObjData::WeakRef(target) = &*data {
        return crate::reprs::prebuilt_weakref(rt, target);
    }
    if let ObjData::LLContainer { ty, .. } = &*data {
        return Ok(StaticData {
            ty: *ty,
            value: low_level_container(rt, &data)?,
            readonly: false,
        });
    }
    if let TypeKind::Struct(s) = ty.kind() {
        match &s.id {
            StructId::Instance(_) => {
                let ObjData::Instance(i) = &*data else {
                    return Err(TyperError::internal("an instance that is none"));
                };
                return instance(rt, i.class, Some(obj), ty);
            }
            StructId::Forward(_) => {
                if let Some(body) = frozen(rt, obj, s, ty)? {
                    return Ok(body);
                }
            }
            StructId::Inline(body) if &*s.name == "specfunc" => {
                return specfunc(rt, obj, body, ty);
            }
            StructId::Inline(_) if ty == placeholder_type() => {
                return Ok(StaticData {
                    ty,
                    value: StaticValue::Struct(vec![StaticValue::Const(signed(identity(obj)))]),
                    readonly: true,
                });
            }
            _ => {}
        }
    }
    container(rt, sym, Some((obj, &*data)))
}

/// Whether a part of a container has the value that it starts with.
fn is_default(c: &Const) -> bool {
    match c {
        Const::None | Const::Bool(false) | Const::Int(0) => true,
        Const::Float(bits) => *bits == 0,
        Const::Str(s) => **s == [0],
        Const::Unicode(s) => **s == [0],
        _ => false,
    }
}

/// What `lltype.malloc` and assignments made of a container while the program loaded.
fn low_level_container(rt: &RTyper<'_>, data: &ObjData) -> Typed<StaticValue> {
    let ObjData::LLContainer { ty, parts, .. } = data else {
        return Err(TyperError::internal("a part of no container"));
    };
    let of = |i: usize| match ty.kind() {
        TypeKind::Array(a) => Some(a.of),
        TypeKind::FixedArray(of, _) => Some(*of),
        TypeKind::Struct(s) => Some(s.known_body()?.fields.get(i)?.ty),
        _ => None,
    };
    if of(0) == Some(*CHAR) && ty.as_struct().is_none() {
        let byte = |c: &Const| match c {
            Const::Str(s) => s.first().copied(),
            _ => None,
        };
        let bytes: Option<Arc<[u8]>> = parts.iter().map(byte).collect();
        if let Some(bytes) = bytes {
            return Ok(StaticValue::Bytes(bytes));
        }
    }
    let union = ty
        .as_struct()
        .and_then(|s| s.known_body())
        .is_some_and(|b| b.union);
    let mut values = Vec::with_capacity(parts.len());
    for (i, part) in parts.iter().enumerate() {
        let of = of(i).ok_or_else(|| TyperError::internal("a part without type"))?;
        values.push(match part {
            // The fields of a union lie in one place.
            part if union && is_default(part) => StaticValue::Zero,
            Const::None => default_value(of),
            Const::Obj(o) => match &*rt.object(*o)? {
                inlined @ ObjData::LLContainer { .. } => low_level_container(rt, inlined)?,
                _ => StaticValue::Const(rt.convert_const_to(part, of)?),
            },
            _ => StaticValue::Const(rt.convert_const_to(part, of)?),
        });
    }
    Ok(match ty.kind() {
        TypeKind::Struct(_) => StaticValue::Struct(values),
        TypeKind::Opaque { .. } => StaticValue::Zero,
        _ => StaticValue::Array(values),
    })
}

/// The field of what stands for a frozen instance that tells which one it is.
pub(crate) const IDENTITY: &str = "identity";

/// [`IDENTITY`] as a field.
pub(crate) fn identity_field() -> Field {
    Field {
        name: IDENTITY.into(),
        ty: *taipan_lltype::SIGNED,
    }
}

/// What [`IDENTITY`] of an object is: different numbers for different objects.
pub(crate) fn identity(obj: ObjId) -> i64 {
    obj.0 as i64
}

/// What the field `hash` of a class's vtable is.
pub(crate) fn class_hash(class: ObjId) -> i64 {
    (class.0 >> 1) as i64
}

/// What stands for a frozen instance of which nothing is read: its address and its identity
/// count.
pub(crate) fn placeholder_type() -> LLType {
    LLType::raw_struct(
        "pbc_placeholder",
        StructBody {
            fields: vec![identity_field()],
            adtmeths: None,
            immutable: vec![],
            ..StructBody::default()
        },
    )
}

const PREBUILT_INSTANCE: &str = "prebuilt instance";

/// The prebuilt instance of an exception class that all raises of it share.
pub(crate) fn standard_instance_sym(rt: &RTyper<'_>, class: ObjId) -> StaticSym {
    StaticSym::Part(
        class,
        PREBUILT_INSTANCE.into(),
        rt.instance_type(Some(class)),
    )
}

/// Likewise, cast to the root type.
pub(crate) fn standard_instance(rt: &RTyper<'_>, class: ObjId) -> LLConst {
    LLConst::data(standard_instance_sym(rt, class), OBJECT.ptr())
}

/// Likewise, with its exact type.
pub(crate) fn standard_instance_of(class: ObjId, ptr: LLType) -> LLConst {
    let exact = ptr.pointee().unwrap_or(*OBJECT);
    LLConst::data(StaticSym::Part(class, PREBUILT_INSTANCE.into(), exact), ptr)
}

/// The value that a field has where nothing sets it.
pub(crate) fn default_value(ty: LLType) -> StaticValue {
    let c = match ty.kind() {
        TypeKind::Bool => LLConst::Bool(false),
        TypeKind::Char => LLConst::Char(0),
        TypeKind::UniChar => LLConst::UniChar(0),
        TypeKind::Int(k) => LLConst::int(*k, 0),
        TypeKind::Float => LLConst::Float(0),
        TypeKind::SingleFloat => LLConst::SingleFloat(0),
        TypeKind::Ptr(_) | TypeKind::Address => LLConst::Null(ty),
        TypeKind::Void => LLConst::void(),
        _ => return StaticValue::Zero,
    };
    StaticValue::Const(c)
}

/// An instance of a class: attributes from the image object, else from the class,
/// else zero.
fn instance(rt: &RTyper<'_>, class: ObjId, obj: Option<ObjId>, ty: LLType) -> Typed<StaticData> {
    let data = match obj {
        Some(o) => Some(rt.object(o)?),
        None => None,
    };
    let attrs = match data.as_deref() {
        Some(ObjData::Instance(i)) => Some(i),
        _ => None,
    };
    let lookup = |name: &str| -> Option<Const> {
        attrs
            .and_then(|i| i.get(name).cloned())
            .or_else(|| rt.read_class_attribute(class, name))
    };
    let value = instance_level(rt, Some(class), class, &lookup)?;
    Ok(StaticData {
        ty,
        value,
        readonly: false,
    })
}

/// The part of an instance that one class of its hierarchy declares, and above.
fn instance_level(
    rt: &RTyper<'_>,
    level: Option<ObjId>,
    class: ObjId,
    lookup: &dyn Fn(&str) -> Option<Const>,
) -> Typed<StaticValue> {
    let Some(level) = level else {
        let vtable = LLConst::data(StaticSym::Vtable(class), OBJECT_VTABLE.ptr());
        return Ok(StaticValue::Struct(vec![StaticValue::Const(vtable)]));
    };
    let body = rt.body_of(&StructId::Instance(level))?;
    let mut values = vec![instance_level(rt, rt.class_base(level), class, lookup)?];
    for f in body.fields.iter().skip(1) {
        values.push(field_value(rt, f, "inst_", lookup)?);
    }
    Ok(StaticValue::Struct(values))
}

fn field_value(
    rt: &RTyper<'_>,
    f: &Field,
    prefix: &str,
    lookup: &dyn Fn(&str) -> Option<Const>,
) -> Typed<StaticValue> {
    let name = f.name.strip_prefix(prefix).unwrap_or(&f.name);
    if f.ty.is_void() {
        return Ok(StaticValue::Const(LLConst::void()));
    }
    match lookup(name) {
        Some(c) => Ok(StaticValue::Const(rt.convert_const_to(&c, f.ty)?)),
        None => Ok(default_value(f.ty)),
    }
}

/// The vtables of a class and its bases, one inside the other, from the class upwards: most
/// declare nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct VtableLevels {
    /// So many that declare nothing.
    empty: usize,
    /// The class above these that declares something, and what is above that. None where there
    /// is no class.
    above: Option<(ObjId, Option<Arc<VtableLevels>>)>,
}

pub(crate) fn vtable_levels(rt: &RTyper<'_>, class: ObjId) -> Typed<VtableLevels> {
    let base = match rt.class_base(class) {
        Some(base) => Some(rt.vtable_levels(base)?),
        None => None,
    };
    let body = rt.body_of(&StructId::Vtable(class))?;
    Ok(match base {
        _ if body.fields.len() > 1 => VtableLevels {
            empty: 0,
            above: Some((class, base)),
        },
        Some(base) => VtableLevels {
            empty: base.empty + 1,
            above: base.above.clone(),
        },
        None => VtableLevels {
            empty: 1,
            above: None,
        },
    })
}

fn vtable(rt: &RTyper<'_>, class: Option<ObjId>) -> Typed<StaticData> {
    let mut value = vtable_root(rt, class)?;
    if let Some(class) = class {
        let mut levels = vec![rt.vtable_levels(class)?];
        while let Some((_, Some(above))) = &levels[levels.len() - 1].above {
            levels.push(above.clone());
        }
        for part in levels.iter().rev() {
            if let Some((level, _)) = part.above {
                value = vtable_level(rt, value, level, class)?;
            }
            for _ in 0..part.empty {
                value = StaticValue::Struct(vec![value]);
            }
        }
    }
    Ok(StaticData {
        ty: rt.vtable_type(class),
        value,
        readonly: true,
    })
}

/// The part of a vtable that one class of the hierarchy declares, around that of its base.
fn vtable_level(
    rt: &RTyper<'_>,
    base: StaticValue,
    level: ObjId,
    class: ObjId,
) -> Typed<StaticValue> {
    let body = rt.body_of(&StructId::Vtable(level))?;
    let mut values = vec![base];
    // The attributes are looked at only where there are several groups of one.
    let groups = |name: &str| {
        let second = group_field(1, name);
        let several = body.fields.iter().any(|f| *f.name == *second);
        several.then(|| rt.class_attributes(level).class_attrs.get(name).cloned())
    };
    for f in body.fields.iter().skip(1) {
        let Some((group, name)) = group_of_field(&f.name) else {
            values.push(field_value(rt, f, "cls_", &|name| {
                rt.read_class_attribute(class, name)
            })?);
            continue;
        };
        // A class has something in the fields of its own groups only.
        let value = rt.read_class_attribute(class, name);
        let here = match groups(name).flatten() {
            Some(groups) => may_be(&groups[group], value.as_ref()),
            None => true,
        };
        values.push(field_value(rt, f, "pbc_", &|_| {
            value.clone().filter(|_| here)
        })?);
    }
    Ok(StaticValue::Struct(values))
}

fn vtable_root(rt: &RTyper<'_>, class: Option<ObjId>) -> Typed<StaticValue> {
    let (min, max) = match class {
        Some(c) => rt.class_range(c)?,
        None => (0, i64::MAX),
    };
    let full = match class {
        Some(c) => rt.class_name(c),
        None => "object".into(),
    };
    let name = full.rsplit('.').next().unwrap_or(&full);
    let instantiate_type = LLType::func(vec![], *taipan_lltype::GCREF).ptr();
    let instantiate = match class {
        Some(c) if rt.needs_instantiate(c)? => LLConst::Func(synth::instantiate_sym(c)),
        _ => LLConst::Null(instantiate_type),
    };
    let hash = class.map_or(0, class_hash);
    Ok(StaticValue::Struct(vec![
        StaticValue::Const(signed(min)),
        StaticValue::Const(signed(max)),
        StaticValue::Const(LLConst::data(
            StaticSym::Str(name.as_bytes().into()),
            STR.ptr(),
        )),
        StaticValue::Const(signed(hash)),
        StaticValue::Const(instantiate),
    ]))
}

/// A frozen instance with the attributes that are read of its family.
fn frozen(rt: &RTyper<'_>, obj: ObjId, s: &StructType, ty: LLType) -> Typed<Option<StaticData>> {
    let StructId::Forward(name) = &s.id else {
        return Ok(None);
    };
    let Some(family) = crate::reprs::family_of_struct(name) else {
        return Ok(None);
    };
    let family = taipan_annotator::attr_family(rt.db, Family::new(rt.db, rt.roots()?, family));
    let body = rt.body_of(&s.id)?;
    let mut values = Vec::new();
    for f in &body.fields {
        if &*f.name == IDENTITY {
            values.push(StaticValue::Const(signed(identity(obj))));
            continue;
        }
        let name = f.name.strip_prefix("pbc_").unwrap_or(&f.name);
        let read = |a: &FamilyAttr| a.readers.binary_search(&obj).is_ok();
        let attr = match family.attrs.get(name) {
            Some(a) if read(a) => frozen_attribute(rt, obj, name)?,
            _ => None,
        };
        values.push(field_value(rt, f, "pbc_", &|_| attr.clone())?);
    }
    Ok(Some(StaticData {
        ty,
        value: StaticValue::Struct(values),
        readonly: true,
    }))
}

/// A function as a struct of its variants.
fn specfunc(rt: &RTyper<'_>, func: ObjId, body: &Arc<StructBody>, ty: LLType) -> Typed<StaticData> {
    let mut values = Vec::new();
    for ((_, sym), f) in variants_of(rt, func)?.into_iter().zip(&body.fields) {
        values.push(StaticValue::Const(match sym {
            Some(sym) => LLConst::Func(sym),
            None => LLConst::Null(f.ty),
        }));
    }
    Ok(StaticData {
        ty,
        value: StaticValue::Struct(values),
        readonly: true,
    })
}
