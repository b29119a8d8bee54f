//! Contents of prebuilt tuples, lists, ranges and dicts.
//!
//! A list is two pieces of data: the list itself and the part `items`; so is a dict,
//! with the part `entries`. A dict comes without index and hashes, which may depend on
//! addresses: the first look-up makes them.

use taipan_graph::{Const, ObjId};
use taipan_interp::ObjData;
use taipan_lltype::{
    LLConst, LLType, StaticData, StaticSym, StaticValue, StructBody, StructId, TypeKind,
};

use crate::convert::signed;
use crate::{RTyper, Typed, TyperError};

/// A constant container in the low-level form of this container type.
pub(super) fn prebuilt(rt: &RTyper<'_>, c: &Const, ty: LLType) -> Typed<LLConst> {
    rt.convert_const_to(c, ty.ptr())
}

/// A constant tuple in the low-level form of type `ty` (a pointer).
pub(crate) fn convert_const(_: &RTyper<'_>, c: &Const, ty: LLType) -> Option<Typed<LLConst>> {
    let Const::Tuple(items) = c else { return None };
    let target = ty.pointee()?;
    (fields(target)?.fields.len() == items.len())
        .then(|| Ok(LLConst::data(StaticSym::Value(c.clone(), target), ty)))
}

fn fields(ty: LLType) -> Option<&'static StructBody> {
    match &ty.as_struct()?.id {
        StructId::Inline(body) => Some(body),
        _ => None,
    }
}

/// Contents of a prebuilt list, dict, bytearray or string builder, or of one of its parts, of a
/// prebuilt tuple, or of the array of empty lists.
pub(crate) fn static_data(
    rt: &RTyper<'_>,
    sym: &StaticSym,
    obj: Option<(ObjId, &ObjData)>,
) -> Option<Typed<StaticData>> {
    let (ty, readonly) = match sym {
        StaticSym::Value(_, ty) => (*ty, ty.as_array().is_none()),
        StaticSym::Object(_, ty) | StaticSym::Part(_, _, ty) => (*ty, false),
        _ => return None,
    };
    let value = match (sym, obj) {
        (StaticSym::Value(Const::Tuple(items), _), _) => match ty.kind() {
            TypeKind::Array(_) => array(rt, items, ty),
            _ => tuple(rt, items, ty),
        },
        (StaticSym::Part(_, part, _), Some((_, data))) => match &**part {
            "items" => list_items(data).map(|items| array(rt, items, ty))?,
            "entries" => dict_items(rt, data).and_then(|items| entries(rt, &items, ty)),
            _ => return None,
        },
        (StaticSym::Object(..), Some((o, data))) => match ty.kind() {
            TypeKind::Array(_) => array(rt, list_items(data)?, ty),
            TypeKind::Struct(s) => match &*s.name {
                "list" => list(list_items(data)?, o, ty),
                "range" => range(list_items(data)?, ty),
                "dicttable" => dict_items(rt, data).and_then(|items| dict(rt, data, &items, o, ty)),
                "rpy_string" => super::bytearray::prebuilt(list_items(data)?),
                "stringbuilder" => super::builder::prebuilt(rt, data, ty),
                _ => return None,
            },
            _ => return None,
        },
        _ => return None,
    };
    Some(value.map(|value| StaticData {
        ty,
        value,
        readonly,
    }))
}

fn list_items(data: &ObjData) -> Option<&[Const]> {
    match data {
        ObjData::List(items) => Some(items),
        ObjData::Instance(i) => match i.payload.as_deref() {
            Some(ObjData::List(items)) => Some(items),
            _ => None,
        },
        _ => None,
    }
}

/// Keys and values of a dict or an `r_dict`.
fn dict_items(rt: &RTyper<'_>, data: &ObjData) -> Typed<Vec<(Const, Const)>> {
    match data {
        ObjData::Dict(items) => Ok(items.clone()),
        ObjData::Instance(i) => {
            if let Some(payload) = i.payload.as_deref() {
                return dict_items(rt, payload);
            }
            let Some(Const::Obj(inner)) = i.get("_dict") else {
                return Err(TyperError::internal("a dict of an unknown kind"));
            };
            let mut items = dict_items(rt, &*rt.object(*inner)?)?;
            for (key, _) in &mut items {
                if let Const::Obj(k) = key
                    && let ObjData::Instance(k) = &*rt.object(*k)?
                    && let Some(own) = k.get("key")
                {
                    *key = own.clone();
                }
            }
            Ok(items)
        }
        _ => Err(TyperError::internal("a dict that is none")),
    }
}

fn value(rt: &RTyper<'_>, c: &Const, ty: LLType) -> Typed<StaticValue> {
    rt.convert_const_to(c, ty).map(StaticValue::Const)
}

fn tuple(rt: &RTyper<'_>, items: &[Const], ty: LLType) -> Typed<StaticValue> {
    let body = fields(ty).ok_or_else(|| TyperError::internal("a tuple without fields"))?;
    let values: Typed<Vec<StaticValue>> = items
        .iter()
        .zip(&body.fields)
        .map(|(c, f)| value(rt, c, f.ty))
        .collect();
    Ok(StaticValue::Struct(values?))
}

fn item_type(array: LLType) -> Typed<LLType> {
    array
        .as_array()
        .map(|a| a.of)
        .ok_or_else(|| TyperError::internal("items of something else than an array"))
}

fn array(rt: &RTyper<'_>, items: &[Const], ty: LLType) -> Typed<StaticValue> {
    let of = item_type(ty)?;
    let values: Typed<Vec<StaticValue>> = items.iter().map(|c| value(rt, c, of)).collect();
    Ok(StaticValue::Array(values?))
}

/// Type of a field that points to a part.
fn part_type(ty: LLType, field: &str) -> Typed<LLType> {
    fields(ty)
        .and_then(|b| b.fields.iter().find(|f| &*f.name == field))
        .and_then(|f| f.ty.pointee())
        .ok_or_else(|| TyperError::internal(format!("a container without {field}")))
}

fn number(n: usize) -> StaticValue {
    StaticValue::Const(signed(n as i64))
}

fn part(o: ObjId, ty: LLType, field: &str) -> Typed<StaticValue> {
    let t = part_type(ty, field)?;
    Ok(StaticValue::Const(LLConst::data(
        StaticSym::Part(o, field.into(), t),
        t.ptr(),
    )))
}

fn list(items: &[Const], o: ObjId, ty: LLType) -> Typed<StaticValue> {
    Ok(StaticValue::Struct(vec![
        number(items.len()),
        part(o, ty, "items")?,
    ]))
}

/// The bounds of a range, from the numbers that it holds.
fn range(items: &[Const], ty: LLType) -> Typed<StaticValue> {
    let int = |i: usize| match items.get(i) {
        Some(Const::Int(n)) => *n,
        _ => 0,
    };
    let step = match items.len() {
        0 | 1 => 1,
        _ => int(1).wrapping_sub(int(0)),
    };
    let stop = int(0).wrapping_add(step.wrapping_mul(items.len() as i64));
    let mut values = vec![int(0), stop];
    if fields(ty).is_some_and(|b| b.fields.len() == 3) {
        values.push(step);
    }
    Ok(StaticValue::Struct(
        values
            .into_iter()
            .map(|n| StaticValue::Const(signed(n)))
            .collect(),
    ))
}

fn dict(
    rt: &RTyper<'_>,
    data: &ObjData,
    items: &[(Const, Const)],
    o: ObjId,
    ty: LLType,
) -> Typed<StaticValue> {
    let null = LLConst::Null(part_type(ty, "indexes")?.ptr());
    let entries = if items.is_empty() {
        StaticValue::Const(LLConst::Null(part_type(ty, "entries")?.ptr()))
    } else {
        part(o, ty, "entries")?
    };
    let mut values = vec![
        number(items.len()),
        number(items.len()),
        number(0),
        StaticValue::Const(null),
        entries,
    ];
    let further = fields(ty).map_or(&[][..], |b| &b.fields[values.len()..]);
    for field in further {
        let value = receiver(rt, data, &field.name, field.ty)?;
        values.push(StaticValue::Const(value));
    }
    Ok(StaticValue::Struct(values))
}

/// What a function of a prebuilt `r_dict` is bound to, or itself.
fn receiver(rt: &RTyper<'_>, data: &ObjData, field: &str, ty: LLType) -> Typed<LLConst> {
    let attribute = match field {
        "eq_self" => "key_eq",
        _ => "key_hash",
    };
    if let ObjData::Instance(i) = data
        && let Some(function) = i.get(attribute)
        && let Const::Obj(o) = function
    {
        return match &*rt.object(*o)? {
            ObjData::Method {
                im_self: Some(receiver),
                ..
            } => rt.convert_const_to(receiver, ty),
            _ => rt.convert_const_to(function, ty),
        };
    }
    Err(TyperError::internal("an r_dict without its functions"))
}

fn entries(rt: &RTyper<'_>, items: &[(Const, Const)], ty: LLType) -> Typed<StaticValue> {
    let body =
        fields(item_type(ty)?).ok_or_else(|| TyperError::internal("entries without fields"))?;
    let [key, val, _] = &body.fields[..] else {
        return Err(TyperError::internal("entries of another shape"));
    };
    let mut out = Vec::with_capacity(items.len());
    for (k, v) in items {
        out.push(StaticValue::Struct(vec![
            value(rt, k, key.ty)?,
            value(rt, v, val.ty)?,
            number(0),
        ]));
    }
    Ok(StaticValue::Array(out))
}
