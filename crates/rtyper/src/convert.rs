//! Constants in low-level form, as their low-level type calls for
//! (RPython: `Repr.convert_const`).
//!
//! The type says everything: the class of an instance, the family of a function, the
//! items of a list. So prebuilt data is converted by type alone, and a piece of it
//! can be named by image object and type ([`StaticSym::Object`]).

use taipan_graph::{Const, IntKind, ObjId};
use taipan_interp::ObjData;
use taipan_lltype::{
    LLConst, LLType, OBJECT, OBJECT_VTABLE, STR, StaticSym, StructId, TypeKind, UNICODE,
};

use crate::exceptions::builtin_exception;
use crate::reprs::{class_of_instance, const_as_float, const_as_int, variants_of};
use crate::rtyper::void_const;
use crate::{RTyper, Typed, TyperError, containers, synth};

fn mismatch(c: &Const, ty: LLType) -> TyperError {
    TyperError::internal(format!("the constant {c} has no form as {ty}"))
}

/// A constant as a value of a low-level type.
pub(crate) fn convert_const(rt: &RTyper<'_>, c: &Const, ty: LLType) -> Typed<LLConst> {
    Ok(match ty.kind() {
        TypeKind::Void => void_const(c),
        TypeKind::Bool => match c {
            Const::Bool(b) => LLConst::Bool(*b),
            _ => return Err(mismatch(c, ty)),
        },
        TypeKind::Char => match c {
            Const::Str(s) if s.len() == 1 => LLConst::Char(s[0]),
            _ => return Err(mismatch(c, ty)),
        },
        TypeKind::UniChar => match c {
            Const::Unicode(s) if s.len() == 1 => LLConst::UniChar(s[0]),
            Const::Str(s) if s.len() == 1 && s[0] < 128 => LLConst::UniChar(u32::from(s[0])),
            _ => return Err(mismatch(c, ty)),
        },
        TypeKind::Int(kind) => match const_as_int(c) {
            Some(v) => LLConst::Int(*kind, kind.wrap(v)),
            None => return Err(mismatch(c, ty)),
        },
        TypeKind::Float => match const_as_float(c) {
            Some(f) => LLConst::Float(f.to_bits()),
            None => return Err(mismatch(c, ty)),
        },
        TypeKind::SingleFloat => match c {
            Const::SingleFloat(bits) => LLConst::SingleFloat(*bits),
            _ => return Err(mismatch(c, ty)),
        },
        TypeKind::Address => match c {
            Const::None => LLConst::Null(ty),
            _ => return Err(mismatch(c, ty)),
        },
        TypeKind::Ptr(target) => match c {
            Const::None => LLConst::Null(ty),
            _ => pointer(rt, c, *target, ty)?,
        },
        _ => return Err(mismatch(c, ty)),
    })
}

fn pointer(rt: &RTyper<'_>, c: &Const, target: LLType, ty: LLType) -> Typed<LLConst> {
    if let Some(result) = containers::convert_const(rt, c, ty) {
        return result;
    }
    if target == *STR {
        return match c {
            Const::Str(s) => Ok(LLConst::Static(StaticSym::Str(s.clone()), ty)),
            _ => Err(mismatch(c, ty)),
        };
    }
    if target == *UNICODE {
        return match c {
            Const::Unicode(s) => Ok(LLConst::Static(StaticSym::Unicode(s.clone()), ty)),
            Const::Str(s) if s.is_ascii() => {
                let wide = s.iter().map(|b| u32::from(*b)).collect();
                Ok(LLConst::Static(StaticSym::Unicode(wide), ty))
            }
            _ => Err(mismatch(c, ty)),
        };
    }
    if target == *OBJECT {
        return instance(rt, c, None, ty);
    }
    if target == *OBJECT_VTABLE {
        return class(rt, c, ty);
    }
    match target.kind() {
        TypeKind::Func(_) => function(rt, c, ty),
        TypeKind::Struct(s) => match &s.id {
            StructId::Instance(cls) => instance(rt, c, Some(*cls), ty),
            StructId::Vtable(_) => class(rt, c, ty),
            _ => match c {
                Const::Obj(o) => object(rt, *o, target, ty),
                _ => Err(mismatch(c, ty)),
            },
        },
        TypeKind::Opaque { .. } => match c {
            // A frozen instance of which nothing is read.
            Const::Obj(o) => unrelated(rt, *o, ty),
            _ => Err(mismatch(c, ty)),
        },
        TypeKind::Array(_) => match c {
            Const::Obj(o) => Ok(LLConst::Static(StaticSym::Object(*o, target), ty)),
            _ => Err(mismatch(c, ty)),
        },
        _ => Err(mismatch(c, ty)),
    }
}

fn object(rt: &RTyper<'_>, o: ObjId, target: LLType, ty: LLType) -> Typed<LLConst> {
    let o = rt.underlying_function(o)?;
    Ok(LLConst::Static(StaticSym::Object(o, target), ty))
}

fn instance(rt: &RTyper<'_>, c: &Const, class: Option<ObjId>, ty: LLType) -> Typed<LLConst> {
    let Some((obj, own)) = class_of_instance(rt, c)? else {
        return Err(mismatch(c, ty));
    };
    if class.is_some_and(|cls| !rt.is_subclass(own, cls)) {
        return Err(TyperError::new(format!(
            "an instance of {} where one of {} is expected",
            rt.class_name(own),
            ty
        )));
    }
    let exact = rt.instance_type(Some(own));
    Ok(LLConst::Static(StaticSym::Object(obj, exact), ty))
}

fn class(rt: &RTyper<'_>, c: &Const, ty: LLType) -> Typed<LLConst> {
    match c {
        Const::Obj(o)
            if builtin_exception(*o).is_some() || matches!(&*rt.object(*o)?, ObjData::Class(_)) =>
        {
            Ok(LLConst::Static(StaticSym::Vtable(*o), ty))
        }
        _ => Err(mismatch(c, ty)),
    }
}

fn function(rt: &RTyper<'_>, c: &Const, ty: LLType) -> Typed<LLConst> {
    let Const::Obj(o) = c else {
        return Err(mismatch(c, ty));
    };
    let func = rt.underlying_function(*o)?;
    for (row, sym) in variants_of(rt, func)? {
        if row == ty
            && let Some(sym) = sym
        {
            return Ok(LLConst::Func(sym));
        }
    }
    // Never called in this way: anything but null, which would be None.
    Ok(LLConst::Func(synth::never_called_sym(func, ty)?))
}

fn unrelated(rt: &RTyper<'_>, o: ObjId, ty: LLType) -> Typed<LLConst> {
    let o = rt.underlying_function(o)?;
    let target = match crate::reprs::attr_family(rt, o)? {
        Some(family) => crate::reprs::frozen_struct(family),
        None => crate::statics::placeholder_type(),
    };
    Ok(LLConst::Static(StaticSym::Object(o, target), ty))
}

/// A Signed constant.
pub(crate) fn signed(v: i64) -> LLConst {
    LLConst::Int(IntKind::SIGNED, i128::from(v))
}
