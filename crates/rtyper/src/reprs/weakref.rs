//! Weak references to instances (RPython: `rweakref.py`).

use taipan_lltype::{GCREF, LLOperand, LLType, PlainOp};

use crate::reprs::InstanceRepr;
use crate::{Hop, LLOps, RType, Repr, ReprMethods, Typed};

/// A weak reference: an object of the collector's.
#[derive(Debug)]
pub struct WeakRefRepr;

impl ReprMethods for WeakRefRepr {
    fn lowleveltype(&self) -> LLType {
        *GCREF
    }

    fn describe(&self) -> String {
        "a weak reference".into()
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

/// `weakref.ref(x)`
pub(crate) fn rtype_weakref_create(hop: &Hop<'_>) -> RType {
    let v = hop.inputarg(&Repr::Instance(InstanceRepr::root()), 0)?;
    hop.exception_cannot_occur()?;
    Ok(Some(hop.genop(PlainOp::WeakrefCreate, [v], *GCREF)))
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
