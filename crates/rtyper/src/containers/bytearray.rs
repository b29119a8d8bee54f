//! Bytearrays (RPython: `rbytearray.py`). They look like byte strings, so that the
//! helpers of strings serve; but each is an object of its own that may change.

use std::sync::Arc;

use taipan_graph::{Const, HlOp};
use taipan_language::Exc;
use taipan_lltype::{BOOL, LLConst, LLOperand, LLType, SIGNED, STR, StaticSym, StaticValue, View};

use super::text;
use crate::hop::SliceKind;
use crate::{Description, Hop, LLOps, RType, RTyper, Repr, ReprMethods, Typed, TyperError};

/// `bytearray`
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ByteArrayRepr;

impl ReprMethods for ByteArrayRepr {
    fn lowleveltype(&self) -> LLType {
        STR.ptr()
    }

    fn describe(&self) -> Description {
        Description::a("bytearray")
    }

    fn convert_const(&self, _: &RTyper<'_>, c: &Const) -> Typed<LLConst> {
        match c {
            Const::None => Ok(LLConst::Null(self.lowleveltype())),
            Const::Obj(o) => {
                let sym = StaticSym::Object(*o, *STR);
                Ok(LLConst::data(sym, self.lowleveltype()))
            }
            other => Err(TyperError::internal(format!("{other} is no bytearray"))),
        }
    }

    fn rtype_len(&self, hop: &Hop<'_>) -> RType {
        let v = hop.inputarg(&Repr::ByteArray, 0)?;
        Ok(Some(text::length(hop.llops, v)))
    }

    fn rtype_bool(&self, hop: &Hop<'_>) -> RType {
        let v = hop.inputarg(&Repr::ByteArray, 0)?;
        let v = hop
            .llops
            .gendirectcall_to("rstr.ll_str_is_true", [v], *BOOL);
        Ok(Some(v))
    }

    fn rtype_str(&self, hop: &Hop<'_>) -> RType {
        let v = hop.inputarg(&Repr::ByteArray, 0)?;
        hop.exception_cannot_occur()?;
        Ok(Some(copy(hop.llops, v)))
    }

    fn rtype_bytearray(&self, hop: &Hop<'_>) -> RType {
        self.rtype_str(hop)
    }

    fn rtype_getslice(&self, hop: &Hop<'_>) -> RType {
        let v = hop.inputarg(&Repr::ByteArray, 0)?;
        let (kind, bounds) = hop.decompose_slice_args()?;
        let helper = match kind {
            SliceKind::MinusOne => "rbytearray.ll_slice_minusone",
            SliceKind::StartOnly => "rbytearray.ll_slice_startonly",
            SliceKind::StartStop => "rbytearray.ll_slice",
        };
        let args = std::iter::once(v).chain(bounds);
        Ok(Some(hop.llops.gendirectcall_to(
            helper,
            args,
            self.lowleveltype(),
        )))
    }
}

/// What a prebuilt bytearray holds, as the string that it is.
pub(super) fn prebuilt(bytes: &[Const]) -> Typed<StaticValue> {
    let byte = |c: &Const| match c {
        Const::Int(i) => u8::try_from(*i).ok(),
        _ => None,
    };
    let bytes: Option<Arc<[u8]>> = bytes.iter().map(byte).collect();
    let bytes = bytes.ok_or_else(|| TyperError::internal("a bytearray of other things"))?;
    Ok(StaticValue::Struct(vec![
        StaticValue::Const(LLConst::signed(0)),
        StaticValue::Bytes(bytes),
    ]))
}

/// A string or a bytearray with the same bytes that nobody else has.
fn copy(llops: &LLOps<'_>, v: LLOperand) -> LLOperand {
    llops.gendirectcall_to("rbytearray.ll_copy", [v], STR.ptr())
}

/// `bytearray(s)` of a byte string.
pub(super) fn of_string(hop: &Hop<'_>) -> RType {
    let v = hop.inputarg(&Repr::Str, 0)?;
    hop.exception_cannot_occur()?;
    Ok(Some(copy(hop.llops, v)))
}

/// `bytearray(n)`, and `bytearray()`.
pub(crate) fn of_length(hop: &Hop<'_>) -> RType {
    let n = match hop.nb_args() {
        0 => crate::hop::csigned(0),
        _ => hop.inputarg(&Repr::signed(), 0)?,
    };
    hop.exception_is_here()?;
    let v = hop
        .llops
        .gendirectcall_to("rbytearray.ll_zeros", [n], STR.ptr());
    Ok(Some(v))
}

/// Binary operations of which one side at least is a bytearray.
pub(super) fn bytearray_pair(hop: &Hop<'_>, r1: &Repr, r2: &Repr) -> Option<RType> {
    match (hop.op.not_inplace(), r1, r2) {
        (HlOp::Add, _, Repr::ByteArray | Repr::Str | Repr::Char) => Some(concat(hop, r1, r2)),
        (HlOp::GetItem, Repr::ByteArray, Repr::Int(_) | Repr::Bool) => Some(getitem(hop)),
        (HlOp::SetItem, Repr::ByteArray, Repr::Int(_) | Repr::Bool) => Some(setitem(hop)),
        (
            HlOp::Eq | HlOp::Ne | HlOp::Lt | HlOp::Le | HlOp::Gt | HlOp::Ge,
            Repr::ByteArray,
            Repr::ByteArray,
        ) => Some(compare(hop)),
        _ => None,
    }
}

fn concat(hop: &Hop<'_>, r1: &Repr, r2: &Repr) -> RType {
    let bytes = |r: &Repr| match r {
        Repr::Char => Repr::Str,
        other => other.clone(),
    };
    let args = hop.inputargs([&bytes(r1), &bytes(r2)])?;
    hop.exception_cannot_occur()?;
    // The concatenation may be one of its operands if the other one is empty.
    let v = hop
        .llops
        .gendirectcall_to("rstr.ll_strconcat", args, STR.ptr());
    Ok(Some(copy(hop.llops, v)))
}

fn getitem(hop: &Hop<'_>) -> RType {
    let checked = hop.has_implicit_exception(Exc::IndexError)?;
    let args = hop.inputargs([&Repr::ByteArray, &Repr::signed()])?;
    let helper = if checked {
        hop.exception_is_here()?;
        "rstr.ll_stritem_checked"
    } else {
        hop.exception_cannot_occur()?;
        "rstr.ll_stritem"
    };
    let v = hop
        .llops
        .gendirectcall_to(helper, args, *taipan_lltype::CHAR);
    Ok(Some(hop.genop(View::CastCharToInt { value: &v }, *SIGNED)))
}

fn setitem(hop: &Hop<'_>) -> RType {
    let checked = hop.has_implicit_exception(Exc::IndexError)?;
    let args = hop.inputargs([&Repr::ByteArray, &Repr::signed(), &Repr::signed()])?;
    let helper = if checked {
        hop.exception_is_here()?;
        "rbytearray.ll_setitem_checked"
    } else {
        hop.exception_cannot_occur()?;
        "rbytearray.ll_setitem"
    };
    hop.llops
        .gendirectcall_to(helper, args, *taipan_lltype::VOID);
    Ok(None)
}

fn compare(hop: &Hop<'_>) -> RType {
    let op =
        crate::reprs::comparison(hop.op).ok_or_else(|| TyperError::internal("not a comparison"))?;
    let args = hop.inputargs([&Repr::ByteArray, &Repr::ByteArray])?;
    let helper = format!("rstr.ll_str{}", op.name());
    Ok(Some(hop.llops.gendirectcall_to(&helper, args, *BOOL)))
}
