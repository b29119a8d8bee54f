//! None and the absence of any value (RPython: `rnone.py`, `VoidRepr`).

use taipan_graph::{Const, HlOp, Operand};
use taipan_lltype::{BOOL, FuncSym, LLConst, LLOperand, LLType, PlainOp, VOID};

use crate::hop::{ArgValue, cbool, cvoid};
use crate::{Description, Hop, LLOps, RType, RTyper, Repr, ReprMethods, Typed, TyperError};

/// Always None: Void.
#[derive(Debug)]
pub(crate) struct NoneRepr;

impl ReprMethods for NoneRepr {
    fn lowleveltype(&self) -> LLType {
        *VOID
    }

    fn describe(&self) -> Description {
        Description::named("None")
    }

    fn convert_const(&self, _: &RTyper<'_>, c: &Const) -> Typed<LLConst> {
        match c {
            Const::None => Ok(LLConst::void()),
            other => Err(TyperError::internal(format!("{other} is not None"))),
        }
    }

    fn get_ll_eq_function(&self, _: &RTyper<'_>) -> Typed<Option<FuncSym>> {
        Ok(None)
    }

    fn get_ll_hash_function(&self, rt: &RTyper<'_>) -> Typed<FuncSym> {
        rt.helper_for("rmodel.ll_hash_void", &[*VOID])
    }

    fn rtype_bool(&self, _: &Hop<'_>) -> RType {
        Ok(Some(cbool(false)))
    }

    fn rtype_str(&self, hop: &Hop<'_>) -> RType {
        hop.inputconst(&Repr::Str, &Const::str("None")).map(Some)
    }

    fn rtype_simple_call(&self, _: &Hop<'_>) -> RType {
        Err(TyperError::new(
            "this calls None: nothing else ever comes here",
        ))
    }

    fn rtype_call_args(&self, _: &Hop<'_>) -> RType {
        Err(TyperError::new(
            "this calls None: nothing else ever comes here",
        ))
    }
}

/// No value ever gets here: Void.
#[derive(Debug)]
pub(crate) struct VoidRepr;

impl ReprMethods for VoidRepr {
    fn lowleveltype(&self) -> LLType {
        *VOID
    }

    fn describe(&self) -> Description {
        Description::an("impossible value")
    }

    fn convert_const(&self, _: &RTyper<'_>, _: &Const) -> Typed<LLConst> {
        Ok(LLConst::void())
    }

    fn get_ll_eq_function(&self, _: &RTyper<'_>) -> Typed<Option<FuncSym>> {
        Ok(None)
    }

    fn get_ll_hash_function(&self, rt: &RTyper<'_>) -> Typed<FuncSym> {
        rt.helper_for("rmodel.ll_hash_void", &[*VOID])
    }
}

/// Whether `==` may look into values of a Repr: it does not take None then.
fn compared_by_value(r: &Repr) -> bool {
    matches!(
        r,
        Repr::Int(_)
            | Repr::Bool
            | Repr::Float
            | Repr::SingleFloat
            | Repr::Char
            | Repr::UniChar
            | Repr::Str
            | Repr::Unicode
            | Repr::ByteArray
            | Repr::List(_)
            | Repr::Dict(_)
            | Repr::Recursive(_)
            | Repr::Tuple(_)
            | Repr::Instance(_)
            | Repr::Function(_)
            | Repr::Functions(_)
            | Repr::Frozen(_)
            | Repr::Methods(_)
            | Repr::FrozenMethod(_)
            | Repr::Classes(_)
    )
}

/// `is` against None, and `==` and `!=` where these mean the same.
pub(crate) fn none_pair(hop: &Hop<'_>, r1: &Repr, r2: &Repr) -> Option<RType> {
    let (robj, pos) = match (r1, r2) {
        (_, Repr::None) => (r1, 0),
        (Repr::None, _) => (r2, 1),
        _ => return None,
    };
    let negate = match hop.op {
        HlOp::Is | HlOp::Eq => false,
        HlOp::Ne => true,
        _ => return None,
    };
    // A variable that happens to be None always is let pass.
    let literal = matches!(hop.args_v[1 - pos], ArgValue::Const(Const::None));
    if hop.op != HlOp::Is && literal && compared_by_value(robj) {
        let what = format!("{} and None", robj.methods().describe());
        let by = if negate { "is not" } else { "is" };
        let e = TyperError::missing(hop.op.spelt(), what);
        return Some(Err(e.with_help(format!("compare by `{by}`"))));
    }
    Some(rtype_is_none(hop, robj, pos, negate))
}

fn rtype_is_none(hop: &Hop<'_>, robj: &Repr, pos: usize, negate: bool) -> RType {
    if let Some(c) = hop.result_const() {
        return c.map(Some);
    }
    let t = robj.lowleveltype();
    if t.pointee().is_some() {
        let v = hop.inputarg(robj, pos)?;
        let op = if negate {
            PlainOp::PtrNonzero
        } else {
            PlainOp::PtrIszero
        };
        return Ok(Some(hop.genop(op.view(&[v]), *BOOL)));
    }
    match robj {
        Repr::None => Ok(Some(cbool(!negate))),
        Repr::Address | Repr::Frozen(_) if !robj.is_void() => {
            let v = hop.inputarg(robj, pos)?;
            let null = Operand::Const(LLConst::Null(t));
            let op = if negate {
                PlainOp::AdrNe
            } else {
                PlainOp::AdrEq
            };
            Ok(Some(hop.genop(op.view(&[v, null]), *BOOL)))
        }
        // Numbers and characters are never None.
        _ => Ok(Some(cbool(negate))),
    }
}

/// None as a null of any other Repr, and anything to None.
pub(crate) fn none_conversion(
    llops: &LLOps<'_>,
    _: LLOperand,
    from: &Repr,
    to: &Repr,
) -> Option<Typed<LLOperand>> {
    match (from, to) {
        (_, Repr::None | Repr::Impossible) => Some(Ok(cvoid())),
        (Repr::None, _) => Some(to.convert_const(llops.rt, &Const::None).map(Operand::Const)),
        _ => None,
    }
}
