//! Classes as values and their vtables (RPython: `rclass.py`, `ClassRepr`;
//! `rpbc.py`, `ClassesPBCRepr`).
//!
//! ```text
//! object_vtable: subclassrange_min, subclassrange_max, name, hash, instantiate
//! vtable of C(B): super: vtable of B, cls_NAME..., pbc_NAME...
//! ```

use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_annotator::{Desc, SomeKind, SomeValue};
use taipan_base::ErrorCode;
use taipan_graph::{Const, HlOp, ObjId, Operand};
use taipan_lltype::{BOOL, FuncSym, LLOperand, LLType, OBJECT_VTABLE, SIGNED, STR, VOID, View};

use crate::hop::cfield;
use crate::reprs::instance::cast_pointer;
use crate::{Description, Hop, LLOps, RType, RTyper, Repr, ReprMethods, Typed, TyperError};

/// The Repr of an attribute in the vtable of the class that declares it: methods are
/// there as functions. Of the base classes' methods only the one that the class
/// inherits can be there; others may be called in other ways, or not at all.
pub(crate) fn vtable_repr(rt: &RTyper<'_>, owner: ObjId, s: &SomeValue) -> Typed<Repr> {
    match vtable_value(rt, owner, s) {
        Some(functions) => repr_of_functions(rt, &functions),
        None => rt.getrepr(s),
    }
}

/// The Repr of what [`vtable_value`] returns.
pub(crate) fn repr_of_functions(rt: &RTyper<'_>, functions: &SomeValue) -> Typed<Repr> {
    match &functions.kind {
        SomeKind::Pbc { descs, can_be_none } => super::pbc_repr(rt, descs, *can_be_none),
        _ => rt.getrepr(functions),
    }
}

/// What the vtable has of an attribute that is methods: functions. None if it is not.
pub(crate) fn vtable_value(rt: &RTyper<'_>, owner: ObjId, s: &SomeValue) -> Option<SomeValue> {
    let SomeKind::Pbc { descs, can_be_none } = &s.kind else {
        return None;
    };
    let mut origins = descs.iter().filter_map(|d| match d {
        Desc::Method { origin, .. } => Some(*origin),
        _ => None,
    });
    let first = origins.next()?;
    // The nearest base class that has it, the class itself before all.
    let distances = |(i, c)| (c, i);
    let distances: FxHashMap<ObjId, usize> = match descs.len() {
        // One that nothing overrides is the nearest.
        1 => FxHashMap::default(),
        _ => rt.bases(owner).enumerate().map(distances).collect(),
    };
    let distance = |origin: ObjId| distances.get(&origin).copied();
    let nearest = std::iter::once(first)
        .chain(origins)
        .filter_map(distance)
        .min();
    let mut functions: Vec<Desc> = (descs.iter())
        .filter_map(|d| match d {
            Desc::Method { func, origin, .. } => {
                let possible = distance(*origin).is_none_or(|d| Some(d) == nearest);
                possible.then_some(Desc::Function(*func))
            }
            other => Some(other.clone()),
        })
        .collect();
    functions.sort();
    functions.dedup();
    Some(SomeValue {
        kind: SomeKind::Pbc {
            descs: functions.into(),
            can_be_none: *can_be_none,
        },
        const_: None,
    })
}

/// Reads a field that the vtable of a class declares.
pub(crate) fn getclsfield(
    llops: &LLOps<'_>,
    vcls: LLOperand,
    owner: ObjId,
    field: &str,
    r: &Repr,
) -> LLOperand {
    let v = cast_pointer(llops, vcls, llops.rt.vtable_type(Some(owner)).ptr());
    llops.genop(
        View::Getfield {
            object: &v,
            field: &cfield(field),
        },
        r.lowleveltype(),
    )
}

/// Whether a class is a subclass of another one, both as pointers to vtables. The
/// numbers that tell stand in the vtables only.
pub(crate) fn gen_issubclass(llops: &LLOps<'_>, sub: LLOperand, cls: LLOperand) -> LLOperand {
    let get = |v: &LLOperand, name: &str| {
        llops.genop(
            View::Getfield {
                object: v,
                field: &cfield(name),
            },
            *SIGNED,
        )
    };
    let min = get(&cls, "subclassrange_min");
    let x = get(&sub, "subclassrange_min");
    let max = get(&cls, "subclassrange_max");
    llops.genop(
        View::IntBetween {
            low: &min,
            value: &x,
            high: &max,
        },
        *BOOL,
    )
}

/// The field of a vtable with one group of values of a class attribute.
pub(crate) fn group_field(group: usize, name: &str) -> String {
    match group {
        0 => format!("pbc_{name}"),
        n => format!("pbc{n}_{name}"),
    }
}

/// The group and the attribute of such a field; none if it is another one.
pub(crate) fn group_of_field(field: &str) -> Option<(usize, &str)> {
    let (group, name) = field.strip_prefix("pbc")?.split_once('_')?;
    match group {
        "" => Some((0, name)),
        n => Some((n.parse().ok()?, name)),
    }
}

/// Whether a function is among those that an annotation names.
pub(crate) fn may_be(s: &SomeValue, value: Option<&Const>) -> bool {
    match (&s.kind, value) {
        (SomeKind::Pbc { descs, .. }, Some(Const::Obj(f))) => descs.contains(&Desc::Function(*f)),
        _ => false,
    }
}

/// Any class: a pointer to the root part of its vtable.
#[derive(Debug)]
pub(crate) struct RootClassRepr;

impl ReprMethods for RootClassRepr {
    fn lowleveltype(&self) -> LLType {
        OBJECT_VTABLE.ptr()
    }

    fn describe(&self) -> Description {
        Description::a("class")
    }

    fn get_ll_eq_function(&self, _: &RTyper<'_>) -> Typed<Option<FuncSym>> {
        Ok(None)
    }

    fn get_ll_hash_function(&self, rt: &RTyper<'_>) -> Typed<FuncSym> {
        rt.helper_for("rclass.ll_cls_hash", &[self.lowleveltype()])
    }

    fn rtype_issubtype(&self, hop: &Hop<'_>) -> RType {
        issubtype(hop)
    }

    fn rtype_getattr(&self, hop: &Hop<'_>) -> RType {
        getname(hop)
    }

    fn rtype_str(&self, hop: &Hop<'_>) -> RType {
        read_name(hop)
    }

    fn rtype_bool(&self, hop: &Hop<'_>) -> RType {
        let v = hop.inputarg(&Repr::Type, 0)?;
        Ok(Some(hop.genop(View::PtrNonzero { value: &v }, *BOOL)))
    }
}

fn issubtype(hop: &Hop<'_>) -> RType {
    if let Some(c) = hop.result_const() {
        return c.map(Some);
    }
    let [sub, cls] = hop.inputargs([&Repr::Type, &Repr::Type])?;
    Ok(Some(gen_issubclass(hop.llops, sub, cls)))
}

fn getname(hop: &Hop<'_>) -> RType {
    match hop.const_name(1)? {
        "__name__" => read_name(hop),
        name => Err(TyperError::with_code(
            ErrorCode::AttributeWithoutRepr,
            format!("reading `{name}` of a class of which nothing is known is not RPython"),
        )),
    }
}

fn read_name(hop: &Hop<'_>) -> RType {
    let v = hop.inputarg(&Repr::Type, 0)?;
    Ok(Some(hop.genop(
        View::Getfield {
            object: &v,
            field: &cfield("name"),
        },
        STR.ptr(),
    )))
}

/// One of some classes, or None.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ClassesPbcRepr {
    /// The classes, sorted.
    pub classes: Vec<ObjId>,
    /// Whether it may be None.
    pub can_be_none: bool,
}

impl ClassesPbcRepr {
    fn is_constant(&self) -> bool {
        self.classes.len() == 1 && !self.can_be_none
    }

    /// The class that a class attribute is stored with, its field and annotation.
    fn attribute(&self, rt: &RTyper<'_>, name: &str) -> Typed<(ObjId, String, SomeValue)> {
        let (first, rest) = self
            .classes
            .split_first()
            .ok_or_else(|| TyperError::internal("a PBC of no classes"))?;
        let mut at = Some(*first);
        for c in rest {
            at = rt.common_base(at, Some(*c));
        }
        while let Some(c) = at {
            let attrs = rt.class_attributes(c);
            if let Some(groups) = attrs.class_attrs.get(name) {
                let value = rt.read_class_attribute(*first, name);
                let at = (groups.iter())
                    .position(|s| groups.len() == 1 || may_be(s, value.as_ref()))
                    .ok_or_else(|| TyperError::internal("a class attribute that is not read"))?;
                return Ok((c, group_field(at, name), groups[at].clone()));
            }
            if let Some(a) = attrs.attrs.get(name).filter(|a| a.readonly) {
                return Ok((c, format!("cls_{name}"), a.value.clone()));
            }
            at = rt.class_base(c);
        }
        Err(TyperError::with_code(
            ErrorCode::AttributeWithoutRepr,
            format!("these classes have no base class in common with an attribute `{name}`"),
        )
        .with_help("define it in a common base class"))
    }

    /// Reads a class attribute; answers its Repr too.
    pub(crate) fn getpbcfield(
        &self,
        llops: &LLOps<'_>,
        vcls: LLOperand,
        name: &str,
    ) -> Typed<(LLOperand, Repr)> {
        let (owner, field, s) = self.attribute(llops.rt, name)?;
        let r = vtable_repr(llops.rt, owner, &s)?;
        Ok((getclsfield(llops, vcls, owner, &field, &r), r))
    }
}

impl ReprMethods for ClassesPbcRepr {
    fn lowleveltype(&self) -> LLType {
        if self.is_constant() {
            *VOID
        } else {
            OBJECT_VTABLE.ptr()
        }
    }

    fn describe(&self) -> Description {
        Description::a("class")
    }

    fn get_ll_eq_function(&self, _: &RTyper<'_>) -> Typed<Option<FuncSym>> {
        Ok(None)
    }

    fn get_ll_hash_function(&self, rt: &RTyper<'_>) -> Typed<FuncSym> {
        rt.helper_for("rclass.ll_cls_hash", &[OBJECT_VTABLE.ptr()])
    }

    fn rtype_getattr(&self, hop: &Hop<'_>) -> RType {
        if let Some(c) = hop.result_const() {
            return c.map(Some);
        }
        let name = hop.const_name(1)?.to_owned();
        if name == "__name__" {
            return read_name(hop);
        }
        let vcls = hop.inputarg(&Repr::Type, 0)?;
        let (v, r) = self.getpbcfield(hop.llops, vcls, &name)?;
        hop.convert_result(v, &r).map(Some)
    }

    fn rtype_issubtype(&self, hop: &Hop<'_>) -> RType {
        issubtype(hop)
    }

    fn rtype_str(&self, hop: &Hop<'_>) -> RType {
        read_name(hop)
    }

    fn rtype_bool(&self, hop: &Hop<'_>) -> RType {
        if let Some(c) = hop.result_const() {
            return c.map(Some);
        }
        let v = hop.inputarg(&Repr::Type, 0)?;
        Ok(Some(hop.genop(View::PtrNonzero { value: &v }, *BOOL)))
    }

    fn rtype_simple_call(&self, hop: &Hop<'_>) -> RType {
        crate::calls::rtype_call(hop)
    }

    fn rtype_call_args(&self, hop: &Hop<'_>) -> RType {
        crate::calls::rtype_call(hop)
    }
}

/// Comparison of classes.
pub(crate) fn class_pair(hop: &Hop<'_>, r1: &Repr, r2: &Repr) -> Option<RType> {
    let class = |r: &Repr| matches!(r, Repr::Classes(_) | Repr::Type);
    if !class(r1) || !class(r2) {
        return None;
    }
    match hop.op {
        HlOp::Is => {}
        HlOp::Eq | HlOp::Ne => return Some(Err(super::pbc::not_by_value(hop, r1))),
        _ => return None,
    }
    Some((|| {
        if let Some(c) = hop.result_const() {
            return c.map(Some);
        }
        let [left, right] = &hop.inputargs([&Repr::Type, &Repr::Type])?;
        Ok(Some(hop.genop(View::PtrEq { left, right }, *BOOL)))
    })())
}

/// Between one known class, one of several, and any class.
pub(crate) fn class_conversion(
    llops: &LLOps<'_>,
    v: LLOperand,
    from: &Repr,
    to: &Repr,
) -> Option<Typed<LLOperand>> {
    let class = |r: &Repr| matches!(r, Repr::Classes(_) | Repr::Type);
    if !class(from) || !class(to) {
        return None;
    }
    Some(match (from, to.is_void()) {
        (_, true) => Ok(crate::hop::cvoid()),
        (Repr::Classes(c), false) if c.is_constant() => to
            .convert_const(llops.rt, &taipan_graph::Const::Obj(c.classes[0]))
            .map(Operand::Const),
        _ => Ok(v),
    })
}

/// The Repr of a PBC of classes.
pub(crate) fn classes_repr(descs: &[Desc], can_be_none: bool) -> Repr {
    let classes = descs
        .iter()
        .filter_map(|d| match d {
            Desc::Class(c) => Some(*c),
            _ => None,
        })
        .collect();
    Repr::Classes(Arc::new(ClassesPbcRepr {
        classes,
        can_be_none,
    }))
}
