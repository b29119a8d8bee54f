//! Erased values (RPython: `rerased.py`, `ErasedRepr`).
//!
//! For the annotator they are small objects with one attribute; their classes say so
//! (`_is_erased_`). Here there is no such object: an erased value is the pointer that is
//! in it, of no particular type. Only what is no pointer is really put into an object.
//!
//! ```text
//! erase: v1 = cast_opaque_ptr(v0)     ; to GCREF
//! unerase: v2 = cast_opaque_ptr(v1)   ; to the type of what this pair erases
//! ```

use taipan_graph::{Const, ObjId, Operand};
use taipan_interp::ObjData;
use taipan_lltype::{BOOL, FuncSym, GCREF, LLConst, LLOperand, LLType, SIGNED, View};

use crate::hop::cbool;
use crate::reprs::InstanceRepr;
use crate::{Description, Hop, LLOps, RType, RTyper, Repr, ReprMethods, Typed, TyperError};

/// The attribute of the small objects.
const CONTENT: &str = "content";

/// Erased values of a pair, or of several.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ErasedRepr {
    class: ObjId,
}

impl ErasedRepr {
    /// For a class of erased values; none for other classes.
    pub(crate) fn of_class(rt: &RTyper<'_>, class: ObjId) -> Option<ErasedRepr> {
        (rt.read_class_attribute(class, "_is_erased_")).map(|_| ErasedRepr { class })
    }

    /// How what is erased looks.
    fn content(&self, rt: &RTyper<'_>) -> Typed<Repr> {
        let attr = rt.class_attr(self.class, CONTENT);
        let attr = attr.ok_or_else(|| TyperError::new("an erased value of unknown kind"))?;
        rt.getrepr(&attr.value)
    }

    fn boxed(&self, rt: &RTyper<'_>) -> InstanceRepr {
        InstanceRepr::new(rt, Some(self.class))
    }

    fn erase(&self, llops: &LLOps<'_>, v: LLOperand, content: &Repr) -> Typed<LLOperand> {
        let ty = content.lowleveltype();
        if ty.is_void() {
            return Ok(Operand::Const(LLConst::Null(*GCREF)));
        }
        if ty.is_gc_ptr() {
            return Ok(cast(llops, v, *GCREF));
        }
        let boxed = self.boxed(llops.rt);
        let object = boxed.new_instance(llops)?;
        boxed.setfield(llops, object.clone(), CONTENT, v)?;
        Ok(cast(llops, object, *GCREF))
    }

    fn unerase(&self, llops: &LLOps<'_>, v: LLOperand, content: &Repr) -> Typed<LLOperand> {
        let ty = content.lowleveltype();
        if ty.is_void() {
            return Ok(crate::hop::cvoid());
        }
        if ty.is_gc_ptr() {
            return Ok(cast(llops, v, ty));
        }
        let boxed = self.boxed(llops.rt);
        let object = cast(llops, v, boxed.ty);
        Ok(boxed.getfield(llops, object, CONTENT)?.0)
    }
}

fn cast(llops: &LLOps<'_>, v: LLOperand, ty: LLType) -> LLOperand {
    if llops.ty(&v) == ty {
        return v;
    }
    match v {
        Operand::Const(LLConst::Null(_)) => Operand::Const(LLConst::Null(ty)),
        v => llops.genop(View::CastOpaquePtr { value: &v }, ty),
    }
}

impl ReprMethods for ErasedRepr {
    fn lowleveltype(&self) -> LLType {
        *GCREF
    }

    fn describe(&self) -> Description {
        Description::an("erased value")
    }

    fn get_ll_eq_function(&self, _: &RTyper<'_>) -> Typed<Option<FuncSym>> {
        Ok(None)
    }

    fn rtype_getattr(&self, hop: &Hop<'_>) -> RType {
        if let Some(c) = hop.result_const() {
            return c.map(Some);
        }
        let content = self.content(hop.rt)?;
        let v = hop.inputarg(&Repr::Erased(*self), 0)?;
        let v = self.unerase(hop.llops, v, &content)?;
        hop.convert_result(v, &content).map(Some)
    }

    /// Nothing tells the values of two pairs apart.
    fn rtype_isinstance(&self, hop: &Hop<'_>) -> RType {
        hop.exception_cannot_occur()?;
        match hop.result_const() {
            Some(c) => c.map(Some),
            None => Ok(Some(cbool(true))),
        }
    }

    fn rtype_bool(&self, hop: &Hop<'_>) -> RType {
        if let Some(c) = hop.result_const() {
            return c.map(Some);
        }
        let v = hop.inputarg(&Repr::Erased(*self), 0)?;
        Ok(Some(hop.genop(View::PtrNonzero { value: &v }, *BOOL)))
    }

    fn rtype_id(&self, hop: &Hop<'_>) -> RType {
        let v = hop.inputarg(&Repr::Erased(*self), 0)?;
        Ok(Some(hop.genop(View::GcId { object: &v }, *SIGNED)))
    }
}

/// What the constructor of a class of erased values does.
pub(crate) fn rtype_erase(hop: &Hop<'_>, r: ErasedRepr) -> Typed<LLOperand> {
    let content = r.content(hop.rt)?;
    let v = hop.inputarg(&content, 1)?;
    hop.exception_cannot_occur()?;
    r.erase(hop.llops, v, &content)
}

/// An erased value that is there before the program runs; none for other constants.
pub(crate) fn erased_constant(rt: &RTyper<'_>, c: &Const) -> Typed<Option<LLConst>> {
    let Const::Obj(o) = c else { return Ok(None) };
    let data = rt.object(*o)?;
    let ObjData::Instance(i) = &*data else {
        return Ok(None);
    };
    let Some(r) = ErasedRepr::of_class(rt, i.class) else {
        return Ok(None);
    };
    let content = r.content(rt)?;
    let ty = content.lowleveltype();
    let value = match i.get(CONTENT) {
        Some(value) if ty.is_gc_ptr() => content.convert_const(rt, value)?,
        _ if ty.is_void() => LLConst::Null(*GCREF),
        _ => rt.convert_const_to(c, r.boxed(rt).ty)?,
    };
    Ok(Some(match value {
        LLConst::Static(s, _) => LLConst::Static(s, *GCREF),
        _ => LLConst::Null(*GCREF),
    }))
}

/// Erased values of all pairs look alike.
pub(crate) fn erased_conversion(
    _: &LLOps<'_>,
    v: LLOperand,
    from: &Repr,
    to: &Repr,
) -> Option<Typed<LLOperand>> {
    matches!((from, to), (Repr::Erased(_), Repr::Erased(_))).then_some(Ok(v))
}
