//! Hints to a just-in-time compiler (RPython: `ExtEnterLeaveMarker` and the other
//! entries of `rlib/jit.py`).
//!
//! They become operations, which its generator reads. Code for an interpreter alone
//! loses them when it is simplified.

use taipan_graph::{Const, ObjId, Operand};
use taipan_interp::ObjData;
use taipan_lltype::{BOOL, LLConst, LLOperand, NumFamily, NumOp, PlainOp, SIGNED, View, VoidConst};

use crate::hop::{ArgValue, cfield, cvoid};
use crate::reprs::FrozenMethodRepr;
use crate::{Hop, RType, Repr, Typed, TyperError};

/// The first arguments, as they are.
pub(super) fn arguments(hop: &Hop<'_>, n: usize) -> Typed<Vec<LLOperand>> {
    let given = 0..n.min(hop.nb_args());
    given
        .map(|i| hop.inputarg(&hop.args_r[i].clone(), i))
        .collect()
}

pub(super) fn nothing(hop: &Hop<'_>) -> RType {
    hop.exception_cannot_occur()?;
    Ok(Some(cvoid()))
}

/// An operation that returns what the annotator says.
pub(super) fn value(hop: &Hop<'_>, op: PlainOp, n: usize) -> RType {
    let args = arguments(hop, n)?;
    hop.exception_cannot_occur()?;
    let ty = match op {
        PlainOp::JitTraceLength => *SIGNED,
        _ => *BOOL,
    };
    Ok(Some(hop.genop(super::lowlevel::operation(op, &args)?, ty)))
}

pub(super) fn effect(hop: &Hop<'_>, op: PlainOp, n: usize) -> RType {
    let args = arguments(hop, n)?;
    hop.exception_cannot_occur()?;
    hop.genop_void(super::lowlevel::operation(op, &args)?);
    Ok(Some(cvoid()))
}

/// The keywords of a call that are True, in alphabetical order.
pub(super) fn true_keywords<'h>(hop: &'h Hop<'_>) -> Vec<&'h str> {
    let first = hop.nb_args() - hop.keywords.len();
    let mut names: Vec<&str> = (hop.keywords.iter().enumerate())
        .filter(|(i, _)| hop.const_arg(first + i) == Some(&Const::Bool(true)))
        .map(|(_, name)| &**name)
        .collect();
    names.sort_unstable();
    names
}

/// `hint(v, .promote)`: the value with what is said of it.
pub(super) fn hint(hop: &Hop<'_>, names: &[&str]) -> RType {
    let v = match super::rlib::first_argument(hop)? {
        Some(v) if !names.is_empty() => v,
        other => return Ok(other),
    };
    let ty = hop.llops.ty(&v);
    let names: Vec<_> = names.iter().map(|n| cfield(n)).collect();
    let hint = View::Hint {
        value: &v,
        names: &names,
    };
    Ok(Some(hop.genop(hint, ty)))
}

/// Whether a list is so short that loops over it are to be unrolled: `size == 0`, or
/// constant and at most the cutoff.
pub(super) fn loop_unrolling_heuristic(hop: &Hop<'_>) -> RType {
    let size = hop.inputarg(&Repr::signed(), 1)?;
    let cutoff = match hop.nb_args() {
        0..=2 => crate::hop::csigned(2),
        _ => hop.inputarg(&Repr::signed(), 2)?,
    };
    hop.exception_cannot_occur()?;
    let family = NumFamily::Int;
    let empty = View::Binary {
        family,
        op: NumOp::Eq,
        left: &size,
        right: &crate::hop::csigned(0),
    };
    let empty = hop.genop(empty, *BOOL);
    let short = View::JitIsConstant {
        value: &size,
        most: Some(&cutoff),
    };
    let short = hop.genop(short, *BOOL);
    let [left, right] =
        &[empty, short].map(|value| hop.genop(View::CastBoolToInt { value: &value }, *SIGNED));
    let either = View::Binary {
        family,
        op: NumOp::Or,
        left,
        right,
    };
    let either = hop.genop(either, *SIGNED);
    let truth = View::Unary {
        family,
        op: NumOp::IsTrue,
        value: &either,
    };
    Ok(Some(hop.genop(truth, *BOOL)))
}

/// `jit_record_exact_class(v, vtable)`.
pub(super) fn record_exact_class(hop: &Hop<'_>) -> RType {
    let Some(Repr::Instance(_)) = hop.args_r.first() else {
        return nothing(hop);
    };
    let v = hop.inputarg(&hop.args_r[0].clone(), 0)?;
    let class = hop.inputarg(&Repr::Type, 1)?;
    hop.exception_cannot_occur()?;
    hop.genop_void(View::JitRecordExactClass {
        object: &v,
        class: &class,
    });
    Ok(Some(cvoid()))
}

/// `jit_record_exact_value(v, known)`, which returns what is known.
pub(super) fn record_exact_value(hop: &Hop<'_>) -> RType {
    let r = hop.r_result.clone();
    let v = hop.inputarg(&r, 0)?;
    let known = hop.inputarg(&r, 1)?;
    hop.exception_cannot_occur()?;
    if !r.lowleveltype().is_void() {
        hop.genop_void(View::JitRecordExactValue {
            value: &v,
            known: &known,
        });
    }
    Ok(Some(known))
}

/// `jit_set_param(driver or nothing, .name, value)`; without a value, back to the
/// default.
pub(super) fn set_param(hop: &Hop<'_>, has_value: bool) -> RType {
    let driver = match hop.const_arg(0) {
        Some(c @ Const::Obj(_)) => VoidConst::Hl(c.clone()),
        _ => VoidConst::None,
    };
    let name = hop.const_name(1)?.to_owned();
    let mut value = None;
    // Which optimisations there are is named by a string.
    if has_value && name != "enable_opts" {
        value = Some(hop.inputarg(&Repr::signed(), 2)?);
    }
    hop.exception_cannot_occur()?;
    hop.genop_void(View::JitSetParam {
        driver: &Operand::Const(LLConst::Void(driver)),
        name: &cfield(&name),
        value: value.as_ref(),
    });
    Ok(Some(cvoid()))
}

/// Types a call of `jit_merge_point` or `can_enter_jit`:
///
/// ```text
/// jit_marker(.jit_merge_point, driver, (number of greens, reds are automatic), greens, reds)
/// ```
///
/// None if the call is another one.
pub(crate) fn rtype_marker(method: &FrozenMethodRepr, hop: &Hop<'_>) -> Option<RType> {
    let (kind, driver) = match (marker_kind(method, hop), driver_of(method)) {
        (Ok(Some(kind)), Some(driver)) => (kind, driver),
        (Err(e), _) => return Some(Err(e)),
        _ => return None,
    };
    Some(marker(&kind, driver, hop))
}

pub(super) fn marker_kind(method: &FrozenMethodRepr, hop: &Hop<'_>) -> Typed<Option<Box<str>>> {
    let object = hop.rt.object(method.func)?;
    let ObjData::Function(f) = &*object else {
        return Ok(None);
    };
    let ours = taipan_annotator::is_jit_marker(f);
    Ok(ours.then(|| f.name.clone()))
}

pub(super) fn driver_of(method: &FrozenMethodRepr) -> Option<ObjId> {
    match &method.im_self {
        Repr::Frozen(r) => match &**r {
            crate::reprs::FrozenPbcRepr::Single(driver) => Some(*driver),
            _ => None,
        },
        _ => None,
    }
}

pub(super) fn marker(kind: &str, driver: ObjId, hop: &Hop<'_>) -> RType {
    let keywords = match hop.const_arg(1) {
        Some(Const::Shape(shape)) => shape.keywords.clone(),
        _ => Vec::new(),
    };
    let first = hop.nb_args() - keywords.len();
    let value = |name: &str| -> Typed<Option<LLOperand>> {
        if let Some(i) = keywords.iter().position(|k| &**k == name) {
            // The variable itself, even if it is always the same: it may be used later.
            if let ArgValue::Low(v) = &hop.args_v[first + i] {
                return Ok(Some(v.clone()));
            }
            let r = hop.args_r[first + i].clone();
            return hop.inputarg(&r, first + i).map(Some);
        }
        // A field of one of the others: `frame.code`.
        let Some((object, field)) = name.split_once('.') else {
            return Ok(None);
        };
        let Some(i) = keywords.iter().position(|k| &**k == object) else {
            return Ok(None);
        };
        let Repr::Instance(r) = hop.args_r[first + i].clone() else {
            return Ok(None);
        };
        let v = hop.inputarg(&Repr::Instance(r), first + i)?;
        Ok(Some(r.getfield(hop.llops, v, field)?.0))
    };
    let greens = names(hop, driver, "greens")?;
    let reds = names(hop, driver, "reds")?;
    let mut values = Vec::new();
    let mut count = 0;
    for (i, name) in greens.iter().chain(&reds).enumerate() {
        if let Some(v) = value(name)? {
            values.push(v);
            count += usize::from(i < greens.len());
        }
    }
    let automatic = matches!(
        crate::reprs::frozen_attribute(hop.rt, driver, "autoreds")?,
        Some(Const::Bool(true))
    );
    hop.exception_cannot_occur()?;
    let shape = Const::Tuple([Const::Int(count as i64), Const::Bool(automatic)].into());
    hop.genop_void(View::JitMarker {
        kind: &cfield(kind),
        driver: &Operand::Const(LLConst::Void(VoidConst::Hl(Const::Obj(driver)))),
        shape: &Operand::Const(LLConst::Void(VoidConst::Hl(shape))),
        values: &values,
    });
    Ok(Some(cvoid()))
}

/// The names in an attribute of a driver.
pub(super) fn names(hop: &Hop<'_>, driver: ObjId, attribute: &str) -> Typed<Vec<Box<str>>> {
    let items = match crate::reprs::frozen_attribute(hop.rt, driver, attribute)? {
        Some(Const::Tuple(items)) => items.to_vec(),
        Some(Const::Obj(list)) => match &*hop.rt.object(list)? {
            ObjData::List(items) => items.clone(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    };
    let names = items.iter().map(|c| c.as_str().map(Into::into));
    (names.collect::<Option<Vec<_>>>())
        .ok_or_else(|| TyperError::internal("a driver's variables without names"))
}
