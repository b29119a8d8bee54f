//! Constants in low-level form, as their low-level type calls for
//! (RPython: `Repr.convert_const`).
//!
//! The type says everything: the class of an instance, the family of a function, the
//! items of a list. So prebuilt data is converted by type alone, and a piece of it
//! can be named by image object and type ([`StaticSym::Object`]).

use std::sync::Arc;

use taipan_annotator::{Spec, Target};
use taipan_base::ErrorCode;
use taipan_graph::{Const, IntKind, ObjId};
use taipan_interp::{LLTarget, ObjData};
use taipan_lltype::{
    CLibrary, FuncKind, FuncSym, LLConst, LLType, OBJECT, OBJECT_VTABLE, STR, StaticSym, StructId,
    TypeKind, UNICODE,
};

use crate::exceptions::builtin_exception;
use crate::reprs::{class_of_instance, const_as_float, const_as_int, erased_constant, variants_of};
use crate::rtyper::void_const;
use crate::{RTyper, Typed, TyperError, containers, synth};

fn mismatch(c: &Const, ty: LLType) -> TyperError {
    match c {
        // The only container among constants that is no object.
        Const::Tuple(items) => TyperError::with_code(
            ErrorCode::NoConversion,
            format!("a tuple of {} items cannot be used as a list", items.len()),
        ),
        _ => TyperError::internal(format!("the constant {c} has no form as {ty}")),
    }
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
            Some(v) => LLConst::int(*kind, kind.wrap(v)),
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
        TypeKind::Address => match low_level_pointer(rt, c, ty)? {
            Some(p) => p,
            None if *c == Const::None => LLConst::Null(ty),
            None => return Err(mismatch(c, ty)),
        },
        TypeKind::Ptr(target) => match low_level_pointer(rt, c, ty)? {
            Some(p) => p,
            None if *c == Const::None => LLConst::Null(ty),
            None => pointer(rt, c, *target, ty)?,
        },
        _ => return Err(mismatch(c, ty)),
    })
}

/// A pointer that a program made by `lltype.malloc` and the like while it loaded; none
/// for other constants.
fn low_level_pointer(rt: &RTyper<'_>, c: &Const, ty: LLType) -> Typed<Option<LLConst>> {
    let Const::Obj(o) = c else { return Ok(None) };
    let data = rt.object(*o)?;
    let ObjData::LLPtr { to, .. } = &*data else {
        return Ok(None);
    };
    Ok(Some(match to {
        LLTarget::Null => LLConst::Null(ty),
        LLTarget::Object(o) => match &*rt.object(*o)? {
            ObjData::LLFunction {
                name,
                callable,
                external,
                ..
            } => match callable {
                Const::Obj(f) => LLConst::Func(pointed_function(rt, *f, ty)?),
                _ => LLConst::Func(c_function(rt, name, external, ty)?),
            },
            _ => LLConst::data(place_of(rt, *o, Vec::new())?, ty),
        },
        LLTarget::Part(o, i) => LLConst::data(place_of(rt, *o, vec![*i])?, ty),
        LLTarget::Int(_) => {
            return Err(TyperError::new(
                "a prebuilt pointer that is an integer in truth",
            ));
        }
    }))
}

/// A function of a C library, as `rffi.llexternal` describes it.
fn c_function(rt: &RTyper<'_>, name: &str, external: &Const, ty: LLType) -> Typed<FuncSym> {
    let bad = || TyperError::new(format!("{name}() has no function behind it"));
    let Some(ft) = ty.pointee().and_then(LLType::as_func) else {
        return Err(bad());
    };
    let Const::Tuple(parts) = external else {
        return Err(bad());
    };
    // `rffi.llexternal` says at the end whether other threads may run meanwhile.
    let (parts, blocks) = match parts.split_last() {
        Some((Const::Bool(blocks), parts)) => (parts, *blocks),
        _ => (&parts[..], false),
    };
    let library = match parts.len() {
        0 => None,
        _ => Some(Arc::new(c_library(parts).ok_or_else(bad)?)),
    };
    // Who gets a function pointer may call it. Who knows objects of the heap is the
    // runtime, and may look at all of them.
    let calls_back = |t: &LLType| t.pointee().is_some_and(|to| to.as_func().is_some());
    let calls_back = ft.args.iter().any(calls_back);
    let knows_heap = ft.args.iter().chain([&ft.result]).any(|t| t.is_gc_ptr());
    let releases_gil = blocks && rt.has_threads();
    Ok(FuncSym::new(
        FuncKind::External {
            name: name.into(),
            can_collect: calls_back || knows_heap || releases_gil || taipan_lltype::blocks(name),
            can_raise: calls_back,
            releases_gil,
            library,
        },
        ft.clone(),
    ))
}

/// Number of an `ExternalCompilationInfo`'s fields.
const FIELDS: usize = 12;

/// The tuple that `ExternalCompilationInfo.as_tuple` makes: its fields, headers, and the state of its files.
fn c_library(parts: &[Const]) -> Option<CLibrary> {
    let texts = |i: usize| -> Option<Vec<String>> {
        let Const::Tuple(items) = parts.get(i)? else {
            return None;
        };
        items
            .iter()
            .map(|c| c.as_str().map(str::to_owned))
            .collect()
    };
    Some(CLibrary {
        pre_include_bits: texts(0)?,
        includes: texts(1)?,
        include_dirs: texts(2)?,
        post_include_bits: texts(3)?,
        libraries: texts(4)?,
        library_dirs: texts(5)?,
        sources: texts(6)?,
        files: texts(7)?,
        compile_extra: texts(8)?,
        link_extra: texts(9)?,
        headers: (texts(FIELDS)?.chunks_exact(2))
            .map(|pair| (pair[0].clone(), pair[1].clone()))
            .collect(),
        state: texts(FIELDS + 1)?.concat(),
    })
}

/// The name of a part of a container; `inner` leads on from there.
fn place_of(rt: &RTyper<'_>, container: ObjId, inner: Vec<i64>) -> Typed<StaticSym> {
    let mut path = inner;
    let mut at = container;
    loop {
        let data = rt.object(at)?;
        let ObjData::LLContainer { ty, parent, .. } = &*data else {
            return Err(TyperError::internal("a pointer to no container"));
        };
        match parent {
            Some((outer, i)) => {
                path.push(i64::from(*i));
                at = *outer;
            }
            None => {
                path.reverse();
                let root = StaticSym::Object(at, *ty);
                // The first part of a GC object that is one itself is the object.
                if leading_super(*ty, &path) == path.len() {
                    return Ok(root);
                }
                return Ok(StaticSym::Within(Arc::new(root), path.into()));
            }
        }
    }
}

/// How many steps of a path lead to the inlined `super` of GC structs.
fn leading_super(ty: LLType, path: &[i64]) -> usize {
    let mut at = ty;
    let mut n = 0;
    while let (Some(0), Some(s)) = (path.get(n), at.as_struct()) {
        match s.known_body().and_then(|b| b.fields.first().map(|f| f.ty)) {
            Some(first) if first.is_gc_container() => (at, n) = (first, n + 1),
            _ => break,
        }
    }
    n
}

/// The low-level function behind a function that a pointer of type `ty` points to.
pub(crate) fn pointed_function(rt: &RTyper<'_>, func: ObjId, ty: LLType) -> Typed<FuncSym> {
    let func = rt.underlying_function(func)?;
    let roots = rt.roots()?;
    let specialised = |key: &str| rt.target_sym(Target::Spec(Spec::new(rt.db, roots, func, key)));
    let sym = specialised("")?;
    if sym.ptr_type() == ty {
        return Ok(sym);
    }
    // A function with `*args` is another one for each number of them.
    let given = ty.pointee().and_then(LLType::as_func);
    for n in 0..=given.map_or(0, |f| f.args.len()) {
        let sym = specialised(&format!("*{n}"))?;
        if sym.ptr_type() == ty {
            return Ok(sym);
        }
    }
    if let Some(ft) = given
        && is_number(ft.result)
        && is_number(sym.ty().result)
        && ft.args == sym.ty().args
    {
        return Ok(crate::synth::converted_result_sym(&sym, ft.result));
    }
    Err(TyperError::new(format!(
        "a pointer of type {ty} to {}, which is a {}",
        sym.name(),
        sym.ptr_type()
    )))
}

/// Whether values of a type are integers of some width.
fn is_number(t: LLType) -> bool {
    matches!(t.kind(), TypeKind::Int(_) | TypeKind::Bool)
}

fn pointer(rt: &RTyper<'_>, c: &Const, target: LLType, ty: LLType) -> Typed<LLConst> {
    if let Some(result) = containers::convert_const(rt, c, ty) {
        return result;
    }
    if target == *STR {
        return match c {
            Const::Str(s) => Ok(LLConst::data(StaticSym::Str(s.clone()), ty)),
            _ => Err(mismatch(c, ty)),
        };
    }
    if target == *UNICODE {
        return match c {
            Const::Unicode(s) => Ok(LLConst::data(StaticSym::Unicode(s.clone()), ty)),
            Const::Str(s) if s.is_ascii() => {
                let wide = s.iter().map(|b| u32::from(*b)).collect();
                Ok(LLConst::data(StaticSym::Unicode(wide), ty))
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
            Const::Obj(_) if let Some(container) = containers::inside_of_itself(rt, c)? => {
                Ok(container)
            }
            // Erased, or a frozen instance of which nothing is read.
            Const::Obj(o) => match erased_constant(rt, c)? {
                Some(erased) => Ok(erased),
                None => unrelated(rt, *o, ty),
            },
            _ => Err(mismatch(c, ty)),
        },
        TypeKind::Array(_) => match c {
            Const::Obj(o) => Ok(LLConst::data(StaticSym::Object(*o, target), ty)),
            _ => Err(mismatch(c, ty)),
        },
        _ => Err(mismatch(c, ty)),
    }
}

fn object(rt: &RTyper<'_>, o: ObjId, target: LLType, ty: LLType) -> Typed<LLConst> {
    let o = rt.underlying_function(o)?;
    Ok(LLConst::data(StaticSym::Object(o, target), ty))
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
    Ok(LLConst::data(StaticSym::Object(obj, exact), ty))
}

fn class(rt: &RTyper<'_>, c: &Const, ty: LLType) -> Typed<LLConst> {
    match c {
        Const::Obj(o)
            if builtin_exception(*o).is_some() || matches!(&*rt.object(*o)?, ObjData::Class(_)) =>
        {
            Ok(LLConst::data(StaticSym::Vtable(*o), ty))
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
    Ok(LLConst::data(StaticSym::Object(o, target), ty))
}

/// A Signed constant.
pub(crate) fn signed(v: i64) -> LLConst {
    LLConst::int(IntKind::SIGNED, i128::from(v))
}
