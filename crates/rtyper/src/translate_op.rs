//! From the name of a high-level operation to the method that types it
//! (RPython: `translate_op_*`).

use taipan_graph::HlOp;

use crate::{Hop, RType, TyperError, containers, pairs};

/// Types one operation: unary ones by the Repr of the first argument, binary ones by
/// those of the first two.
pub(crate) fn dispatch(hop: &Hop<'_>) -> RType {
    use HlOp::*;
    let Some(first) = hop.args_r.first().cloned() else {
        return match hop.op {
            NewList => containers::rtype_newlist(hop),
            NewDict => containers::rtype_newdict(hop),
            NewTuple => containers::rtype_newtuple(hop),
            op => Err(TyperError::internal(format!("'{op}' without arguments"))),
        };
    };
    let r = first.methods();
    match hop.op {
        NewList => containers::rtype_newlist(hop),
        NewDict => containers::rtype_newdict(hop),
        NewTuple => containers::rtype_newtuple(hop),
        NewSlice => containers::rtype_newslice(hop),
        SameAs => hop.inputarg(&hop.r_result, 0).map(Some),
        Type => r.rtype_type(hop),
        IsSubtype => r.rtype_issubtype(hop),
        IsInstance => r.rtype_isinstance(hop),
        Id => r.rtype_id(hop),
        Repr => r.rtype_repr(hop),
        Str => r.rtype_str(hop),
        Unicode => r.rtype_unicode(hop),
        Len => r.rtype_len(hop),
        Hash => r.rtype_hash(hop),
        GetAttr => r.rtype_getattr(hop),
        SetAttr => r.rtype_setattr(hop),
        DelAttr => r.rtype_delattr(hop),
        GetSlice => r.rtype_getslice(hop),
        SetSlice => r.rtype_setslice(hop),
        DelSlice => r.rtype_delslice(hop),
        Pos => r.rtype_pos(hop),
        Neg => r.rtype_neg(hop),
        NegOvf => r.rtype_neg_ovf(hop),
        Abs => r.rtype_abs(hop),
        AbsOvf => r.rtype_abs_ovf(hop),
        Invert => r.rtype_invert(hop),
        Bool => r.rtype_bool(hop),
        Hex => r.rtype_hex(hop),
        Oct => r.rtype_oct(hop),
        Ord => r.rtype_ord(hop),
        Chr => r.rtype_chr(hop),
        Int => r.rtype_int(hop),
        Float => r.rtype_float(hop),
        Long => r.rtype_long(hop),
        Iter => r.rtype_iter(hop),
        Next => r.rtype_next(hop),
        Hint => r.rtype_hint(hop),
        SimpleCall => r.rtype_simple_call(hop),
        CallArgs => r.rtype_call_args(hop),
        _ => match hop.args_r.get(1).cloned() {
            Some(second) => pairs::rtype_pair(hop, &first, &second),
            None => Err(TyperError::missing(hop.op.spelt(), r.describe())),
        },
    }
}
