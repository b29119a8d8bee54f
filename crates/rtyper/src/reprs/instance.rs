//! Instances (RPython: `rclass.py`, `InstanceRepr`).
//!
//! ```text
//! object: typeptr        C(B): super: B, inst_NAME...
//! ```

use std::sync::Arc;

use taipan_annotator::{SomeKind, SomeValue};
use taipan_base::ErrorCode;
use taipan_graph::{Const, HlOp, ObjId, Operand};
use taipan_interp::ObjData;
use taipan_lltype::{
    BOOL, FuncSym, LLConst, LLOperand, LLType, NumFamily, NumOp, OBJECT, OBJECT_VTABLE, PlainOp,
    SIGNED, StaticSym, View,
};

use crate::containers::fn_operand;
use crate::hop::{cbool, cfield, cflavor_gc, ctype};
use crate::queries::{ClassAttr, DefaultField};
use crate::{Description, Hop, LLOps, RType, RTyper, Repr, ReprMethods, Typed, TyperError};

/// Instances of a class and its subclasses, or None. Knows the class by its id only.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct InstanceRepr {
    /// The class; none for `object`.
    pub class: Option<ObjId>,
    /// The low-level type: a pointer.
    pub ty: LLType,
}

impl InstanceRepr {
    /// Instances of that class.
    pub fn new(rt: &RTyper<'_>, class: Option<ObjId>) -> Self {
        InstanceRepr {
            class,
            ty: rt.instance_type(class).ptr(),
        }
    }

    /// Any instance.
    pub fn root() -> Self {
        InstanceRepr {
            class: None,
            ty: OBJECT.ptr(),
        }
    }

    /// Whether an instance is one of a class.
    fn gen_isinstance(&self, hop: &Hop<'_>, v: LLOperand, cls: LLOperand) -> Typed<LLOperand> {
        let exact = match &cls {
            Operand::Const(LLConst::Static(s, _)) => {
                matches!(&**s, StaticSym::Vtable(c) if hop.rt.is_leaf(*c))
            }
            _ => false,
        };
        if can_be_none(&hop.args_s[0]) {
            let helper = if exact {
                "rclass.ll_isinstance_exact"
            } else {
                "rclass.ll_isinstance"
            };
            return hop.gendirectcall(helper, [v, cls]);
        }
        let own = self.gettype(hop.llops, v);
        Ok(if exact {
            hop.genop(
                View::PtrEq {
                    left: &own,
                    right: &cls,
                },
                *BOOL,
            )
        } else {
            super::class::gen_issubclass(hop.llops, own, cls)
        })
    }

    fn attr(&self, rt: &RTyper<'_>, name: &str) -> Typed<ClassAttr> {
        let found = match self.class {
            Some(c) => rt.class_attr(c, name),
            None => None,
        };
        found.ok_or_else(|| {
            TyperError::with_code(
                ErrorCode::AttributeWithoutRepr,
                format!("{} has no attribute `{name}`", self.name(rt)),
            )
        })
    }

    fn name(&self, rt: &RTyper<'_>) -> String {
        match self.class {
            Some(c) => format!("class {}", rt.class_name(c)),
            None => "object".into(),
        }
    }

    /// The Repr of an attribute that lives in instances.
    pub fn getfieldrepr(&self, rt: &RTyper<'_>, name: &str) -> Typed<Repr> {
        rt.getrepr(&self.attr(rt, name)?.value)
    }

    /// Reads an attribute that lives in instances; answers its Repr too.
    pub fn getfield(
        &self,
        llops: &LLOps<'_>,
        v: LLOperand,
        name: &str,
    ) -> Typed<(LLOperand, Repr)> {
        let attr = self.attr(llops.rt, name)?;
        self.getfield_of(llops, v, name, &attr)
    }

    fn getfield_of(
        &self,
        llops: &LLOps<'_>,
        v: LLOperand,
        name: &str,
        attr: &ClassAttr,
    ) -> Typed<(LLOperand, Repr)> {
        let r = llops.rt.getrepr(&attr.value)?;
        let v = cast_pointer(llops, v, llops.rt.instance_type(Some(attr.owner)).ptr());
        let field = cfield(&format!("inst_{name}"));
        let v = llops.genop(
            View::Getfield {
                object: &v,
                field: &field,
            },
            r.lowleveltype(),
        );
        Ok((v, r))
    }

    /// Writes an attribute that lives in instances; the value is in the form of its
    /// Repr.
    pub fn setfield(
        &self,
        llops: &LLOps<'_>,
        v: LLOperand,
        name: &str,
        value: LLOperand,
    ) -> Typed<()> {
        let attr = self.attr(llops.rt, name)?;
        let v = cast_pointer(llops, v, llops.rt.instance_type(Some(attr.owner)).ptr());
        let field = cfield(&format!("inst_{name}"));
        llops.genop_void(View::Setfield {
            object: &v,
            field: &field,
            value: &value,
        });
        Ok(())
    }

    /// Reads the pointer to the vtable.
    pub fn gettype(&self, llops: &LLOps<'_>, v: LLOperand) -> LLOperand {
        let v = cast_pointer(llops, v, OBJECT.ptr());
        llops.genop(
            View::Getfield {
                object: &v,
                field: &cfield("typeptr"),
            },
            OBJECT_VTABLE.ptr(),
        )
    }

    /// A new instance with the defaults that its class gives, without `__init__`.
    pub fn new_instance(&self, llops: &LLOps<'_>) -> Typed<LLOperand> {
        let rt = llops.rt;
        let class = self.class.ok_or_else(|| {
            TyperError::new("an instance of `object` itself is not RPython")
                .with_help("write a class of your own: `class Marker(object): pass`")
        })?;
        crate::immutable::check(rt, class)?;
        // Its address is in the type information; here it is for those who look for all
        // functions of a program.
        let destructor = rt.destructor(class)?.map(fn_operand);
        let malloc = View::Malloc {
            ty: &ctype(rt.instance_type(self.class)),
            flavor: &cflavor_gc(),
            destructor: destructor.as_ref(),
        };
        let v = llops.genop(malloc, self.ty);
        let vtable = LLConst::data(StaticSym::Vtable(class), OBJECT_VTABLE.ptr());
        let root = cast_pointer(llops, v.clone(), OBJECT.ptr());
        llops.genop_void(View::Setfield {
            object: &root,
            field: &cfield("typeptr"),
            value: &Operand::Const(vtable),
        });
        for (name, owner, s) in rt.default_fields(class).iter() {
            let r = rt.getrepr(s)?;
            if r.is_void() {
                continue;
            }
            let Some(default) = rt.read_class_attribute(class, name) else {
                continue;
            };
            let value = r.convert_const(rt, &default)?;
            // malloc leaves null pointers to GC objects.
            if matches!(value, LLConst::Null(t) if t.is_gc_ptr()) {
                continue;
            }
            let at = cast_pointer(llops, v.clone(), rt.instance_type(Some(*owner)).ptr());
            let field = cfield(&format!("inst_{name}"));
            llops.genop_void(View::Setfield {
                object: &at,
                field: &field,
                value: &Operand::Const(value),
            });
        }
        Ok(v)
    }
}

/// The attributes of instances that a class attribute may be the default of: of a base class's
/// attributes those that may have one there, or have one in this class.
pub(crate) fn default_fields(rt: &RTyper<'_>, class: ObjId) -> Arc<[DefaultField]> {
    let base = rt.class_base(class);
    let mut fields = base.map_or_else(Vec::new, |b| rt.default_fields(b).to_vec());
    let names = rt.names_above(class);
    let attrs = rt.class_attributes(class);
    for (name, a) in attrs.attrs.iter().filter(|(_, a)| !a.readonly) {
        if names.may_have(name) {
            fields.push((name.clone(), class, a.value.clone()));
        }
    }
    if let Some(base) = base
        && let Ok(object) = rt.object(class)
        && let ObjData::Class(data) = &*object
    {
        for (name, _) in data.dict.iter().chain(&data.mixed_in) {
            if let Some(a) = rt.class_attr(base, name).filter(|a| !a.readonly) {
                fields.push(((&**name).into(), a.owner, a.value));
            }
        }
    }
    fields.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
    fields.dedup_by(|a, b| (&a.0, a.1) == (&b.0, b.1));
    fields.into()
}

/// Casts between layouts of related classes; nothing to do where the type is right.
pub(crate) fn cast_pointer(llops: &LLOps<'_>, v: LLOperand, ty: LLType) -> LLOperand {
    if llops.ty(&v) == ty {
        return v;
    }
    match v {
        Operand::Const(LLConst::Static(s, _)) => Operand::Const(LLConst::Static(s, ty)),
        Operand::Const(LLConst::Null(_)) => Operand::Const(LLConst::Null(ty)),
        v => llops.genop(View::CastPointer { value: &v }, ty),
    }
}

fn can_be_none(s: &SomeValue) -> bool {
    !matches!(
        s.kind,
        SomeKind::Instance {
            can_be_none: false,
            ..
        } | SomeKind::Exception(_)
    )
}

impl ReprMethods for InstanceRepr {
    fn lowleveltype(&self) -> LLType {
        self.ty
    }

    fn describe(&self) -> Description {
        let instance = Description::an("instance");
        match self.ty.pointee().and_then(LLType::as_struct) {
            Some(s) => instance.with(format_args!("of {}", s.name)),
            None => instance,
        }
    }

    fn get_ll_eq_function(&self, _: &RTyper<'_>) -> Typed<Option<FuncSym>> {
        Ok(None)
    }

    fn get_ll_hash_function(&self, rt: &RTyper<'_>) -> Typed<FuncSym> {
        rt.helper_for("rclass.ll_inst_hash", &[self.ty])
    }

    fn has_fasthash(&self) -> bool {
        true
    }

    fn rtype_type(&self, hop: &Hop<'_>) -> RType {
        if let Some(c) = hop.result_const() {
            return c.map(Some);
        }
        let v = hop.inputarg(&Repr::Instance(InstanceRepr::root()), 0)?;
        if can_be_none(&hop.args_s[0]) {
            let vtable = ctype(*OBJECT_VTABLE);
            return hop
                .gendirectcall("rclass.ll_inst_type", [vtable, v])
                .map(Some);
        }
        Ok(Some(self.gettype(hop.llops, v)))
    }

    fn rtype_getattr(&self, hop: &Hop<'_>) -> RType {
        if let Some(c) = hop.result_const() {
            return c.map(Some);
        }
        let name = hop.const_name(1)?.to_owned();
        let v = hop.inputarg(&Repr::Instance(*self), 0)?;
        if name == "__class__" {
            return Ok(Some(self.gettype(hop.llops, v)));
        }
        let attr = self.attr(hop.rt, &name)?;
        if !attr.readonly {
            let (v, r) = self.getfield_of(hop.llops, v, &name, &attr)?;
            return hop.convert_result(v, &r).map(Some);
        }
        if let Repr::Methods(m) = &hop.r_result {
            // A bound method is its self.
            let to = Repr::Instance(m.im_self);
            return hop
                .llops
                .convertvar(v, &Repr::Instance(*self), &to)
                .map(Some);
        }
        let vcls = self.gettype(hop.llops, v);
        let r = super::class::vtable_repr(hop.rt, attr.owner, &attr.value)?;
        let v = super::class::getclsfield(hop.llops, vcls, attr.owner, &format!("cls_{name}"), &r);
        hop.convert_result(v, &r).map(Some)
    }

    fn rtype_setattr(&self, hop: &Hop<'_>) -> RType {
        let name = hop.const_name(1)?.to_owned();
        let r_value = self.getfieldrepr(hop.rt, &name)?;
        let v = hop.inputarg(&Repr::Instance(*self), 0)?;
        let value = hop.inputarg(&r_value, 2)?;
        self.setfield(hop.llops, v, &name, value)?;
        Ok(None)
    }

    fn rtype_bool(&self, hop: &Hop<'_>) -> RType {
        if let Some(c) = hop.result_const() {
            return c.map(Some);
        }
        let v = hop.inputarg(&Repr::Instance(*self), 0)?;
        Ok(Some(hop.genop(View::PtrNonzero { value: &v }, *BOOL)))
    }

    fn rtype_isinstance(&self, hop: &Hop<'_>) -> RType {
        hop.exception_cannot_occur()?;
        if let Some(c) = hop.result_const() {
            return c.map(Some);
        }
        let v = hop.inputarg(&Repr::Instance(InstanceRepr::root()), 0)?;
        let Some(Const::Tuple(classes)) = hop.const_arg(1) else {
            let cls = hop.inputarg(&Repr::Type, 1)?;
            return self.gen_isinstance(hop, v, cls).map(Some);
        };
        let mut any: Option<LLOperand> = None;
        for class in classes.iter().filter(|c| is_class_of_instances(hop.rt, c)) {
            let cls = hop.inputconst(&Repr::Type, class)?;
            let is = self.gen_isinstance(hop, v.clone(), cls)?;
            any = Some(match any {
                Some(others) => or(hop.llops, others, is),
                None => is,
            });
        }
        Ok(Some(any.unwrap_or_else(|| cbool(false))))
    }

    fn rtype_str(&self, hop: &Hop<'_>) -> RType {
        crate::equality::check_str(hop.rt, self.class)?;
        let v = hop.inputarg(&Repr::Instance(InstanceRepr::root()), 0)?;
        hop.gendirectcall("rclass.ll_inst_str", [v]).map(Some)
    }

    fn rtype_repr(&self, hop: &Hop<'_>) -> RType {
        self.rtype_str(hop)
    }

    fn rtype_id(&self, hop: &Hop<'_>) -> RType {
        let v = hop.inputarg(&Repr::Instance(*self), 0)?;
        Ok(Some(hop.genop(View::GcId { object: &v }, *SIGNED)))
    }

    fn rtype_simple_call(&self, hop: &Hop<'_>) -> RType {
        crate::calls::rtype_call(hop)
    }

    fn rtype_call_args(&self, hop: &Hop<'_>) -> RType {
        crate::calls::rtype_call(hop)
    }
}

/// Whether a constant is a class that instances of the program may be of, and not a type such as
/// `int`.
fn is_class_of_instances(rt: &RTyper<'_>, c: &Const) -> bool {
    let Const::Obj(o) = c else { return false };
    let data = rt.object(*o);
    let Ok(ObjData::Class(class)) = data.as_deref() else {
        return false;
    };
    !class.builtin || &*class.module == "exceptions"
}

fn or(llops: &LLOps<'_>, a: LLOperand, b: LLOperand) -> LLOperand {
    let (family, op) = (NumFamily::Int, NumOp::Or);
    let [left, right] =
        &[a, b].map(|value| llops.genop(View::CastBoolToInt { value: &value }, *SIGNED));
    let any = View::Binary {
        family,
        op,
        left,
        right,
    };
    let (op, value) = (NumOp::IsTrue, &llops.genop(any, *SIGNED));
    llops.genop(View::Unary { family, op, value }, *BOOL)
}

/// Identity of instances.
pub(crate) fn instance_pair(hop: &Hop<'_>, r1: &Repr, r2: &Repr) -> Option<RType> {
    let (Repr::Instance(a), Repr::Instance(b)) = (r1, r2) else {
        return None;
    };
    let op = match hop.op {
        HlOp::Is | HlOp::Eq => PlainOp::PtrEq,
        HlOp::Ne => PlainOp::PtrNe,
        _ => return None,
    };
    Some(identity(hop, a, b, op))
}

fn identity(hop: &Hop<'_>, a: &InstanceRepr, b: &InstanceRepr, op: PlainOp) -> RType {
    if let Some(c) = hop.result_const() {
        return c.map(Some);
    }
    let common = hop.rt.common_base(a.class, b.class);
    let r = Repr::Instance(InstanceRepr::new(hop.rt, common));
    let args = hop.inputargs([&r, &r])?;
    Ok(Some(hop.genop(op.view(&args), *BOOL)))
}

/// Casts between classes one of which derives from the other, up or down.
pub(crate) fn instance_conversion(
    llops: &LLOps<'_>,
    v: LLOperand,
    from: &Repr,
    to: &Repr,
) -> Option<Typed<LLOperand>> {
    let (Repr::Instance(a), Repr::Instance(b)) = (from, to) else {
        return None;
    };
    let base = llops.rt.common_base(a.class, b.class);
    (base == a.class || base == b.class).then(|| Ok(cast_pointer(llops, v, b.ty)))
}

/// Whether a constant is an instance, and of which class.
pub(crate) fn class_of_instance(rt: &RTyper<'_>, c: &Const) -> Typed<Option<(ObjId, ObjId)>> {
    let Const::Obj(o) = c else { return Ok(None) };
    Ok(match &*rt.object(*o)? {
        taipan_interp::ObjData::Instance(i) => Some((*o, i.class)),
        taipan_interp::ObjData::Method {
            im_self: Some(s), ..
        } => class_of_instance(rt, s)?,
        _ => None,
    })
}
