//! Binary operations and conversions, by the Reprs of both sides
//! (RPython: `pairtype`).
//!
//! Each module offers a function that knows some pairs and returns none for the rest;
//! the tables here ask them in order, so that special pairs stand before general
//! ones (`None` against anything).

use taipan_base::ErrorCode;
use taipan_graph::HlOp;
use taipan_lltype::{BOOL, LLOperand, View};

use crate::remedies::no_pair;
use crate::{Hop, LLOps, RType, Repr, Typed, TyperError, containers, reprs};

/// Types a binary operation on these two Reprs, if it knows how.
pub(crate) type PairRule = fn(&Hop<'_>, &Repr, &Repr) -> Option<RType>;

/// Converts a value from the first Repr to the second, if it knows how.
pub(crate) type Conversion = fn(&LLOps<'_>, LLOperand, &Repr, &Repr) -> Option<Typed<LLOperand>>;

static PAIRS: &[PairRule] = &[
    reprs::none_pair,
    reprs::int_pair,
    reprs::float_pair,
    reprs::instance_pair,
    reprs::pbc_pair,
    reprs::ptr_pair,
    reprs::address_access,
    reprs::address_pair,
    containers::rtype_pair,
];

static CONVERSIONS: &[Conversion] = &[
    reprs::none_conversion,
    reprs::num_conversion,
    reprs::instance_conversion,
    reprs::erased_conversion,
    reprs::pbc_conversion,
    reprs::ptr_conversion,
    reprs::builtin_conversion,
    containers::conversion,
];

/// Types a binary operation.
pub(crate) fn rtype_pair(hop: &Hop<'_>, r1: &Repr, r2: &Repr) -> RType {
    for rule in PAIRS {
        if let Some(result) = rule(hop, r1, r2) {
            return result;
        }
    }
    if hop.op == HlOp::Is {
        return rtype_is(hop, r1, r2);
    }
    Err(no_pair(hop.op, r1, r2))
}

/// Converts a value between different Reprs.
pub(crate) fn convert_from_to(
    llops: &LLOps<'_>,
    v: LLOperand,
    from: &Repr,
    to: &Repr,
) -> Typed<LLOperand> {
    for rule in CONVERSIONS {
        if let Some(result) = rule(llops, v.clone(), from, to) {
            return result;
        }
    }
    Err(TyperError::with_code(
        ErrorCode::NoConversion,
        format!(
            "{} cannot be used as {}",
            from.methods().describe(),
            to.methods().describe()
        ),
    ))
}

/// `x is y` on pointers of one type.
pub(crate) fn rtype_is(hop: &Hop<'_>, r1: &Repr, r2: &Repr) -> RType {
    if let Some(c) = hop.result_const() {
        return c.map(Some);
    }
    let (r1, r2) = match (r1.is_void(), r2.is_void()) {
        (true, false) => (r2, r2),
        (false, true) => (r1, r1),
        _ => (r1, r2),
    };
    let t = r1.lowleveltype();
    if t.pointee().is_none() || t != r2.lowleveltype() {
        return Err(no_pair(HlOp::Is, r1, r2));
    }
    let [left, right] = &hop.inputargs([r1, r2])?;
    Ok(Some(hop.genop(View::PtrEq { left, right }, *BOOL)))
}
