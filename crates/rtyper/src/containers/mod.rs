//! Reprs of containers: lists, dicts, strings, tuples, iterators.
//!
//! The functions here are what the rest of the crate calls: constructors of Reprs,
//! operations that make containers, binary operations, conversions, and the contents
//! of prebuilt containers.

mod builder;
mod builtin;
mod bytearray;
mod custom;
mod dict;
mod format;
mod iter;
mod list;
mod recursive;
mod show;
mod statics;
mod text;
mod tuple;

use std::sync::Arc;

use taipan_annotator::SomeValue;
use taipan_graph::{HlOp, Operand};
use taipan_lltype::{
    BOOL, FuncSym, HelperArg, LLConst, LLOperand, LLType, OBJECT, STR, StructBody, VOID, View,
    VoidConst,
};

use crate::hop::cvoid;
use crate::{Description, Hop, LLOps, RType, RTyper, Repr, ReprMethods, Typed, TyperError};

pub(crate) use builder::BuilderRepr;
pub(crate) use builder::rtype_new as new_builder;
#[cfg(test)]
pub(crate) use builtin::helper_repr;
pub(crate) use builtin::{
    call_helper, char_list, list_get_physical_size, math_pair, newlist_hint, resizelist_hint,
    rtype_zip,
};
pub(crate) use bytearray::ByteArrayRepr;
pub(crate) use bytearray::of_length as bytearray_of_length;
pub(crate) use custom::{KEY_FUNCTION, build_key_function};
pub(crate) use dict::{DictRepr, dict_repr, rtype_newdict};
pub(crate) use iter::newiter;
pub(crate) use iter::{IterRepr, iterator_repr};
pub(crate) use list::assert_inside;
pub(crate) use list::rtype_range;
pub(crate) use list::{ListRepr, list_repr, rtype_newlist};
pub(crate) use recursive::RecursiveRepr;
pub(crate) use recursive::inside_of_itself;
pub(crate) use show::{gen_instance_show, gen_tuple_show, rtype_show};
pub(crate) use statics::{convert_const, static_data};
pub(crate) use text::{CharacterRepr, TextRepr};
pub(crate) use tuple::{
    TupleRepr, gen_tuple_eq, gen_tuple_hash, newtuple, rtype_newtuple, tuple_getitem, tuple_items,
    tuple_repr,
};

/// Slice objects, which exist only on their way into `[]`; those of two bounds do not
/// even get that far.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SliceRepr;

impl ReprMethods for SliceRepr {
    fn lowleveltype(&self) -> LLType {
        *VOID
    }

    fn describe(&self) -> Description {
        Description::a("slice")
    }
}

/// The Repr of slices.
pub(crate) fn slice_repr(_: &RTyper<'_>, _: &Arc<[SomeValue; 3]>) -> Typed<Repr> {
    Ok(Repr::Slice(Arc::new(SliceRepr)))
}

/// `a:b:c` inside `[]`
pub(crate) fn rtype_newslice(_: &Hop<'_>) -> RType {
    Ok(Some(cvoid()))
}

/// Fields of a struct that a container Repr named by a forward reference.
pub(crate) fn struct_body(_: &RTyper<'_>, _: &str) -> Option<Typed<StructBody>> {
    None
}

/// Binary operations where one side is a container, a string or a character.
pub(crate) fn rtype_pair(hop: &Hop<'_>, r1: &Repr, r2: &Repr) -> Option<RType> {
    if let Repr::Slice(_) = r2 {
        return Some(Err(crate::remedies::no_pair(hop.op, r1, r2)));
    }
    match r1 {
        Repr::Int(_) | Repr::Bool => {
            text::int_text_pair(hop, r1, r2).or_else(|| list::int_list_pair(hop, r1, r2))
        }
        Repr::List(_) => list::list_pair(hop, r1, r2),
        Repr::Dict(_) => dict::dict_pair(hop, r1, r2),
        Repr::Tuple(_) => tuple::tuple_pair(hop, r1, r2),
        _ if matches!(r1, Repr::ByteArray) || matches!(r2, Repr::ByteArray) => {
            bytearray::bytearray_pair(hop, r1, r2)
        }
        _ => text::text_pair(hop, r1, r2),
    }
}

/// Conversions between containers, strings and characters.
pub(crate) fn conversion(
    llops: &LLOps<'_>,
    v: LLOperand,
    from: &Repr,
    to: &Repr,
) -> Option<Typed<LLOperand>> {
    if let Some(result) = recursive::recursive_conversion(llops, v.clone(), from, to) {
        return Some(result);
    }
    match from {
        Repr::List(_) => list::list_conversion(llops, v, from, to),
        Repr::Tuple(_) => tuple::tuple_conversion(llops, v, from, to),
        _ => text::text_conversion(llops, v, from, to),
    }
}

/// The list behind a Repr that must be one.
fn list_of(r: &Repr) -> Typed<&ListRepr> {
    match r {
        Repr::List(l) => Ok(l),
        other => Err(TyperError::new(format!(
            "a list was expected, not {}",
            other.methods().describe()
        ))),
    }
}

/// A low-level function as an argument that a helper is specialised by.
pub(crate) fn fn_operand(f: FuncSym) -> LLOperand {
    Operand::Const(LLConst::Void(VoidConst::Func(f)))
}

/// The equality of a Repr's values as a helper's argument; None where comparing them
/// as they are serves.
fn eq_operand(rt: &RTyper<'_>, r: &Repr) -> Typed<LLOperand> {
    Ok(match r.methods().get_ll_eq_function(rt)? {
        Some(f) => fn_operand(f),
        None => cvoid(),
    })
}

/// The hash of a Repr's values as a helper's argument; None where they are numbers
/// that serve as their own hash.
fn hash_operand(rt: &RTyper<'_>, r: &Repr) -> Typed<LLOperand> {
    Ok(match r {
        Repr::Int(i) if i.kind.bits <= 64 => cvoid(),
        Repr::Bool | Repr::Char | Repr::UniChar => cvoid(),
        _ => fn_operand(r.methods().get_ll_hash_function(rt)?),
    })
}

/// The function that makes the text of a Repr's values, for items of lists.
fn str_function(r: &Repr) -> Typed<FuncSym> {
    let t = r.lowleveltype();
    let with = |name: &str, rest: Vec<HelperArg>| {
        let args = std::iter::once(HelperArg::Type(t)).chain(rest).collect();
        crate::helper_sym(name, args, STR.ptr())
    };
    Ok(match r {
        Repr::Int(i) if i.kind.bits > 64 => with("ll_str.ll_lllong2dec", vec![]),
        Repr::Int(i) => {
            i.family()?;
            with("ll_str.ll_int2dec", vec![])
        }
        Repr::Bool => with("rmodel.ll_bool_str", vec![]),
        Repr::Float => with("ll_str.ll_float_str", vec![]),
        Repr::Char => with("rstr.ll_chr2str", vec![]),
        Repr::Str => with("rstr.ll_str_or_none", vec![]),
        Repr::Unicode => with("rstr.ll_unicode2str", vec![]),
        Repr::Instance(_) => {
            let root = VoidConst::Type(OBJECT.ptr());
            with("rclass.ll_sub_inst_str", vec![HelperArg::Const(root)])
        }
        Repr::List(l) => {
            let item = VoidConst::Func(str_function(&l.item)?);
            with("rlist.ll_list_str", vec![HelperArg::Const(item)])
        }
        Repr::Tuple(tuple) if !t.is_void() => {
            let items = tuple.items.iter().map(str_function);
            show::tuple_text(t, items.collect::<Typed<Vec<_>>>()?)
        }
        other => return Err(TyperError::missing("`str()`", other.methods().describe())),
    })
}

/// The answer to `==` as that to the operation at hand, `==` or `!=`.
fn maybe_negated(hop: &Hop<'_>, equal: LLOperand) -> LLOperand {
    if hop.op == HlOp::Ne {
        hop.genop(View::BoolNot { value: &equal }, *BOOL)
    } else {
        equal
    }
}
