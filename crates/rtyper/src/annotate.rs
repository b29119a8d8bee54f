//! Annotations of constants (RPython: `Bookkeeper.immutablevalue`).

use std::sync::Arc;

use taipan_annotator::{Desc, SomeKind, SomeValue, prebuilt_site};
use taipan_graph::{Const, IntKind, ObjId};
use taipan_interp::{Builtin, InstanceData, ObjData};

use crate::{RTyper, Typed, TyperError};

/// The annotation of a constant operand.
pub(crate) fn immutablevalue(rt: &RTyper<'_>, c: &Const) -> Typed<SomeValue> {
    let kind = match c {
        Const::None => SomeKind::None,
        Const::Bool(_) => SomeKind::Bool,
        Const::Int(i) => SomeKind::Integer {
            nonneg: *i >= 0,
            kind: IntKind::SIGNED,
        },
        Const::RInt(kind, v) => SomeKind::Integer {
            nonneg: kind.is_nonneg(*v),
            kind: *kind,
        },
        Const::Long(n) => SomeKind::Integer {
            nonneg: n.sign() != num_bigint::Sign::Minus,
            kind: IntKind::SIGNED,
        },
        Const::Float(_) => SomeKind::Float,
        Const::SingleFloat(_) => SomeKind::SingleFloat,
        Const::Str(s) if s.len() == 1 => SomeKind::Char { no_nul: s[0] != 0 },
        Const::Str(s) => SomeKind::Str {
            can_be_none: false,
            no_nul: !s.contains(&0),
        },
        Const::Unicode(s) if s.len() == 1 => SomeKind::UniChar,
        Const::Unicode(_) => SomeKind::Unicode { can_be_none: false },
        Const::Tuple(items) => {
            let items: Typed<Arc<[SomeValue]>> =
                items.iter().map(|c| immutablevalue(rt, c)).collect();
            SomeKind::Tuple(items?)
        }
        Const::Obj(o) => object_kind(rt, *o)?,
        // Shapes of calls are never looked at as values, nor do complex numbers get here.
        Const::Complex(..) | Const::Shape(_) => SomeKind::None,
    };
    Ok(SomeValue {
        kind,
        const_: Some(c.clone()),
    })
}

fn object_kind(rt: &RTyper<'_>, obj: ObjId) -> Typed<SomeKind> {
    let pbc = |d: Desc| SomeKind::Pbc {
        descs: d.into(),
        can_be_none: false,
    };
    let data = rt.object(obj)?;
    if let Some(f) = Builtin::of(&data) {
        return Ok(SomeKind::Builtin(f));
    }
    Ok(match &*data {
        ObjData::Class(_) => pbc(Desc::Class(obj)),
        ObjData::Function(_) => pbc(Desc::Function(obj)),
        ObjData::Instance(i) => return instance_kind(rt, obj, i),
        ObjData::List(_) => list(obj),
        ObjData::Dict(_) => dict(obj),
        ObjData::StaticMethod(f) | ObjData::ClassMethod(f) => immutablevalue(rt, f)?.kind,
        ObjData::Method {
            im_self: None,
            im_func,
            ..
        } => immutablevalue(rt, im_func)?.kind,
        ObjData::Method {
            im_self: Some(s),
            im_func: Const::Obj(func),
            im_class,
        } => bound_method(rt, s, *func, *im_class)?,
        ObjData::Builtin {
            name,
            im_self: Some(s),
        } => SomeKind::BuiltinMethod {
            name: name.rsplit('.').next().unwrap_or(name).into(),
            of: Arc::new(immutablevalue(rt, s)?),
        },
        ObjData::WeakRef(target) => SomeKind::WeakRef {
            class: match target {
                Const::Obj(o) => match &*rt.object(*o)? {
                    ObjData::Instance(i) => Some(i.class),
                    _ => None,
                },
                _ => None,
            },
        },
        ObjData::LLType(t) => SomeKind::LLType(*t),
        ObjData::LLPtr { ty, .. } => match ty.pointee() {
            Some(_) => SomeKind::Ptr(*ty),
            None => SomeKind::Address,
        },
        _ => pbc(Desc::Frozen(obj)),
    })
}

fn list(obj: ObjId) -> SomeKind {
    SomeKind::List {
        site: prebuilt_site(obj),
        can_be_none: false,
    }
}

fn dict(obj: ObjId) -> SomeKind {
    SomeKind::Dict {
        site: prebuilt_site(obj),
        can_be_none: false,
    }
}

fn instance_kind(rt: &RTyper<'_>, obj: ObjId, i: &InstanceData) -> Typed<SomeKind> {
    if let Some(v) = &i.value {
        return Ok(immutablevalue(rt, v)?.kind);
    }
    if i.frozen {
        return Ok(SomeKind::Pbc {
            descs: Desc::Frozen(obj).into(),
            can_be_none: false,
        });
    }
    if let ObjData::Class(c) = &*rt.object(i.class)? {
        let builder = |unicode| SomeKind::Builder {
            unicode,
            can_be_none: false,
        };
        match (&*c.module, &*c.name) {
            ("rpython.rlib.objectmodel", "r_dict" | "r_ordereddict") => return Ok(dict(obj)),
            ("rpython.rlib.rstring", "StringBuilder") => return Ok(builder(false)),
            ("rpython.rlib.rstring", "UnicodeBuilder") => return Ok(builder(true)),
            ("__builtin__", "bytearray") => {
                return Ok(SomeKind::ByteArray { can_be_none: false });
            }
            _ => {}
        }
    }
    Ok(match i.payload.as_deref() {
        Some(ObjData::List(_)) => list(obj),
        Some(ObjData::Dict(_)) => dict(obj),
        _ => SomeKind::Instance {
            class: Some(i.class),
            can_be_none: false,
        },
    })
}

fn bound_method(rt: &RTyper<'_>, im_self: &Const, func: ObjId, class: ObjId) -> Typed<SomeKind> {
    let Const::Obj(obj) = im_self else {
        return Err(TyperError::new("this bound method is no RPython value"));
    };
    let desc = match &*rt.object(*obj)? {
        ObjData::Instance(i) if i.frozen => Desc::FrozenMethod { func, frozen: *obj },
        _ => method_desc(rt, func, class)?,
    };
    Ok(SomeKind::Pbc {
        descs: desc.into(),
        can_be_none: false,
    })
}

fn method_desc(rt: &RTyper<'_>, func: ObjId, class: ObjId) -> Typed<Desc> {
    if let Some(name) = method_name(rt, func, class)? {
        // Of a function of a mixin the class has a copy.
        let mut at = Some(class);
        while let Some(origin) = at {
            let object = rt.object(origin)?;
            if let ObjData::Class(c) = &*object
                && let Some(Const::Obj(func)) = c.get(&name).or_else(|| c.mixed_in(&name))
            {
                return Ok(Desc::Method {
                    func: *func,
                    origin,
                    self_class: Some(class),
                    name: (&*name).into(),
                });
            }
            at = rt.class_base(origin);
        }
    }
    Err(TyperError::new(
        "this bound method is not an attribute of its class",
    ))
}

/// The name that a function has in a class or above, to Python.
fn method_name(rt: &RTyper<'_>, func: ObjId, class: ObjId) -> Typed<Option<Box<str>>> {
    let object = rt.object(class)?;
    let ObjData::Class(data) = &*object else {
        return Ok(None);
    };
    for part in &data.mro {
        if let ObjData::Class(c) = &*rt.object(*part)?
            && let Some((name, _)) = c.dict.iter().find(|(_, v)| *v == Const::Obj(func))
        {
            return Ok(Some(name.clone()));
        }
    }
    Ok(None)
}
