//! Weak references to instances (RPython: `rweakref.py`).

use taipan_graph::Const;
use taipan_interp::ObjData;
use taipan_lltype::{
    GCREF, LLConst, LLOperand, LLType, OBJECT, StaticData, StaticSym, StaticValue, View, WEAKREF,
};

use crate::reprs::InstanceRepr;
use crate::{Description, Hop, LLOps, RType, RTyper, Repr, ReprMethods, Typed, TyperError};

/// A weak reference: an object of the collector's.
#[derive(Debug)]
pub(crate) struct WeakRefRepr;

impl ReprMethods for WeakRefRepr {
    fn lowleveltype(&self) -> LLType {
        *GCREF
    }

    fn describe(&self) -> Description {
        Description::a("weak reference")
    }

    /// A prebuilt one refers strongly to its target, which is prebuilt, too, and lives for
    /// ever.
    fn convert_const(&self, rt: &RTyper<'_>, c: &Const) -> Typed<LLConst> {
        match c {
            Const::None => Ok(LLConst::Null(*GCREF)),
            Const::Obj(o) if matches!(&*rt.object(*o)?, ObjData::WeakRef(_)) => {
                let sym = StaticSym::Object(*o, *WEAKREF);
                Ok(LLConst::data(sym, *GCREF))
            }
            _ => Err(TyperError::internal("a weak reference that is none")),
        }
    }

    fn rtype_simple_call(&self, hop: &Hop<'_>) -> RType {
        let r = hop.args_r[0].clone();
        let v = hop.inputarg(&r, 0)?;
        hop.exception_cannot_occur()?;
        let root = Repr::Instance(InstanceRepr::root());
        if hop.r_result.is_void() {
            return Ok(Some(crate::hop::cvoid()));
        }
        let ty = crate::hop::ctype(root.lowleveltype());
        let v = hop.gendirectcall("rmodel.ll_weakref_deref", [ty, v])?;
        hop.convert_result(v, &root).map(Some)
    }
}

/// The contents of a prebuilt weak reference to that object.
pub(crate) fn prebuilt_weakref(rt: &RTyper<'_>, target: &Const) -> Typed<StaticData> {
    let target = rt.convert_const_to(target, OBJECT.ptr())?;
    Ok(StaticData {
        ty: *WEAKREF,
        value: StaticValue::Struct(vec![StaticValue::Const(target)]),
        readonly: false,
    })
}

/// `weakref.ref(x)`
pub(crate) fn rtype_weakref_create(hop: &Hop<'_>) -> RType {
    let v = hop.inputarg(&Repr::Instance(InstanceRepr::root()), 0)?;
    hop.exception_cannot_occur()?;
    Ok(Some(hop.genop(View::WeakrefCreate { object: &v }, *GCREF)))
}

/// All weak references look alike.
pub(crate) fn weakref_conversion(
    _: &LLOps<'_>,
    v: LLOperand,
    from: &Repr,
    to: &Repr,
) -> Option<Typed<LLOperand>> {
    matches!((from, to), (Repr::WeakRef(_), Repr::WeakRef(_))).then_some(Ok(v))
}
