//! Functions about containers, and those that prelude helpers stand for.

use std::sync::Arc;

use taipan_graph::Const;
use taipan_language::{Default, HelperFunction, Kind};
use taipan_lltype::{SIGNED, VOID};

use super::list::{ListKind, ListRepr};
use crate::hop::{csigned, ctype};
use crate::{Hop, RType, Repr, Typed, TyperError};

/// What a helper takes and returns for a kind of values.
pub(crate) fn helper_repr(kind: Kind) -> Repr {
    match kind {
        Kind::None => Repr::None,
        Kind::Bool => Repr::Bool,
        Kind::Int | Kind::Nonneg => Repr::signed(),
        Kind::Uint => Repr::unsigned(),
        Kind::Float => Repr::Float,
        Kind::Char => Repr::Char,
        Kind::Str | Kind::Str0 | Kind::StrOrNone | Kind::Str0OrNone => Repr::Str,
    }
}

/// A call of a prelude helper that stands for a function.
pub(crate) fn call_helper(hop: &Hop<'_>, f: &HelperFunction) -> RType {
    let mut args = Vec::with_capacity(f.args.len());
    for (i, kind) in f.args.iter().enumerate() {
        let r = helper_repr(*kind);
        if i < hop.nb_args() {
            args.push(hop.inputarg(&r, i)?);
            continue;
        }
        // The defaults are those of the last parameters.
        let default = (f.defaults.len() + i)
            .checked_sub(f.args.len())
            .and_then(|k| f.defaults.get(k))
            .ok_or_else(|| TyperError::new(format!("too few arguments for {}", f.name)))?;
        let c = match default {
            Default::None => Const::None,
            Default::Int(n) => Const::Int(*n),
        };
        args.push(hop.inputconst(&r, &c)?);
    }
    if hop.nb_args() > f.args.len() {
        return Err(TyperError::new(format!(
            "too many arguments for {}",
            f.name
        )));
    }
    hop.raises_implicitly(f.raises)?;
    let r = helper_repr(f.result);
    let v = hop.llops.gendirectcall_to(f.helper, args, r.lowleveltype());
    hop.convert_result(v, &r).map(Some)
}

/// A function of `math` that answers two numbers.
pub(crate) fn math_pair(hop: &Hop<'_>, first: &str, second: &str) -> RType {
    let x = hop.inputarg(&Repr::Float, 0)?;
    hop.exception_cannot_occur()?;
    let reprs = super::tuple_items(&hop.r_result)?;
    let mut items = Vec::new();
    for (name, r) in [first, second].into_iter().zip(&reprs) {
        let helper = format!("rmath.ll_math_{name}");
        let t = r.lowleveltype();
        items.push(hop.llops.gendirectcall_to(&helper, [x.clone()], t));
    }
    super::newtuple(hop.llops, &hop.r_result, items).map(Some)
}

fn resizable<'r>(hop: &'r Hop<'_>, r: &'r Repr) -> Typed<&'r ListRepr> {
    let list = super::list_of(r)?;
    match list.kind {
        ListKind::Resizable => Ok(list),
        _ => Err(TyperError::missing(
            "a hint about the length",
            hop.r_result.methods().describe(),
        )),
    }
}

/// `zip(l1, l2)`
pub(crate) fn rtype_zip(hop: &Hop<'_>) -> RType {
    let result = super::list_of(&hop.r_result)?;
    let reprs = super::tuple_items(&result.item)?;
    let pair = result.item_type().pointee();
    let (Some(pair), [a, b]) = (pair, &reprs[..]) else {
        return Err(TyperError::internal("zip() gives pairs"));
    };
    let lists = [a, b].map(|r| Repr::List(Arc::new(super::list::fixed(r.clone()))));
    let operand = |i: usize| match &hop.args_r[i] {
        Repr::List(l) if l.item == reprs[i] && !matches!(l.kind, ListKind::Range(_)) => {
            hop.inputarg(&hop.args_r[i], i)
        }
        _ => hop.inputarg(&lists[i], i),
    };
    let args = [ctype(result.ty), ctype(pair), operand(0)?, operand(1)?];
    hop.exception_cannot_occur()?;
    let t = result.ty.ptr();
    Ok(Some(hop.llops.gendirectcall_to("rlist.ll_zip", args, t)))
}

pub(crate) fn newlist_hint(hop: &Hop<'_>) -> RType {
    let size = match hop.nb_args() {
        0 => csigned(0),
        _ => hop.inputarg(&Repr::signed(), 0)?,
    };
    hop.exception_cannot_occur()?;
    let list = super::list_of(&hop.r_result)?;
    if list.kind != ListKind::Resizable {
        return Ok(Some(list.newlist(hop.llops, vec![])));
    }
    let t = list.ty;
    Ok(Some(hop.llops.gendirectcall_to(
        "rlist.ll_newlist_hint",
        [ctype(t), size],
        t.ptr(),
    )))
}

pub(crate) fn resizelist_hint(hop: &Hop<'_>) -> RType {
    let r = hop.args_r[0].clone();
    resizable(hop, &r)?;
    let args = hop.inputargs([&r, &Repr::signed()])?;
    hop.exception_cannot_occur()?;
    Ok(Some(hop.llops.gendirectcall_to(
        "rlist.ll_set_maxlength",
        args,
        *VOID,
    )))
}

/// A resizable list of characters as itself, or as a pointer to what it is.
pub(crate) fn char_list(hop: &Hop<'_>) -> RType {
    let r = hop.args_r[0].clone();
    resizable(hop, &r)?;
    let list = super::list_of(&r)?;
    if list.item != Repr::Char {
        return Err(TyperError::new(format!(
            "a list of characters is required, not one of {}",
            list.item.methods().describe()
        )));
    }
    hop.exception_cannot_occur()?;
    hop.inputarg(&r, 0).map(Some)
}

/// For how many items a list has room.
pub(crate) fn list_get_physical_size(hop: &Hop<'_>) -> RType {
    let r = hop.args_r[0].clone();
    if super::list_of(&r)?.kind != ListKind::Resizable {
        return r.methods().rtype_len(hop);
    }
    let v = hop.inputarg(&r, 0)?;
    hop.exception_cannot_occur()?;
    let helper = "rlist.ll_get_maxlength";
    Ok(Some(hop.llops.gendirectcall_to(helper, [v], *SIGNED)))
}

/// Hints on the lists of comprehensions: how long they may become, and that they are
/// complete.
pub(super) fn list_hint(list: &ListRepr, hop: &Hop<'_>) -> RType {
    hop.exception_cannot_occur()?;
    let v = hop.inputarg(&hop.args_r[0].clone(), 0)?;
    let result = super::list_of(&hop.r_result)?;
    let v = match (list.kind, result.kind) {
        (ListKind::Resizable, ListKind::Fixed) => {
            let args = [ctype(result.ty), v];
            hop.llops
                .gendirectcall_to("rlist.ll_list2fixed", args, result.ty.ptr())
        }
        // Nothing is ever appended: no iteration is reached.
        (ListKind::Fixed, ListKind::Resizable) => {
            let args = [ctype(result.ty), v];
            hop.llops
                .gendirectcall_to("rlist.ll_copy", args, result.ty.ptr())
        }
        _ => v,
    };
    Ok(Some(v))
}
