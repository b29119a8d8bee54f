//! Annotations of constants (RPython: `Bookkeeper.immutablevalue`).

use std::sync::Arc;

use taipan_annotator::{Desc, SomeKind, SomeValue};
use taipan_graph::{Const, IntKind, ObjId};
use taipan_interp::ObjData;

use crate::{RTyper, Typed};

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
            nonneg: *v >= 0,
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
        // Shapes of calls are never looked at as values.
        Const::Shape(_) => SomeKind::None,
    };
    Ok(SomeValue {
        kind,
        const_: Some(c.clone()),
    })
}

fn object_kind(rt: &RTyper<'_>, obj: ObjId) -> Typed<SomeKind> {
    let pbc = |d: Desc| SomeKind::Pbc {
        descs: Arc::from([d]),
        can_be_none: false,
    };
    Ok(match &*rt.object(obj)? {
        ObjData::Module { .. } => pbc(Desc::Frozen(obj)),
        ObjData::Class(_) => pbc(Desc::Class(obj)),
        ObjData::Function(_) => pbc(Desc::Function(obj)),
        ObjData::Instance(i) if i.frozen => pbc(Desc::Frozen(obj)),
        ObjData::Instance(i) => SomeKind::Instance {
            class: Some(i.class),
            can_be_none: false,
        },
        ObjData::List(_) => SomeKind::List {
            site: rt.site_of(obj),
            can_be_none: false,
        },
        ObjData::Dict(_) => SomeKind::Dict {
            site: rt.site_of(obj),
            can_be_none: false,
        },
        ObjData::StaticMethod(f) | ObjData::ClassMethod(f) => immutablevalue(rt, f)?.kind,
        ObjData::Method {
            im_self: None,
            im_func,
            ..
        } => immutablevalue(rt, im_func)?.kind,
        ObjData::Builtin { name, .. } => SomeKind::Builtin((**name).into()),
        ObjData::LLType(t) => SomeKind::LLType(*t),
        _ => pbc(Desc::Frozen(obj)),
    })
}
