//! What to write instead of operations that have no low-level form. Each of these is applied
//! in a test (`tests/remedies.rs` of the crate taipan).

use taipan_graph::HlOp;

use crate::{Repr, TyperError};

/// There is no such binary operation on these values.
pub(crate) fn no_pair(op: HlOp, r1: &Repr, r2: &Repr) -> TyperError {
    let (what1, what2) = (r1.methods().describe(), r2.methods().describe());
    let op = op.not_inplace();
    let e = match op {
        HlOp::Contains => TyperError::not_rpython(format_args!("`in` of {what2} in {what1}")),
        _ if what1 == what2 => TyperError::missing(op.spelt(), what1.two()),
        _ => TyperError::missing(op.spelt(), format_args!("{what1} and {what2}")),
    };
    match of_pair(op, r1, r2) {
        Some(help) => e.with_help(help),
        None => e,
    }
}

fn of_pair(op: HlOp, r1: &Repr, r2: &Repr) -> Option<&'static str> {
    use HlOp as Op;
    let number = |r: &Repr| matches!(r, Repr::Int(_) | Repr::Bool | Repr::Float);
    let text = |r: &Repr| matches!(r, Repr::Str | Repr::Char | Repr::Unicode | Repr::UniChar);
    let character = |r: &Repr| matches!(r, Repr::Char | Repr::UniChar);
    let items = |r: &Repr| matches!(r, Repr::List(_) | Repr::Dict(_) | Repr::Tuple(_));
    let instance = |r: &Repr| matches!(r, Repr::Instance(_));
    Some(match op {
        Op::Cmp if number(r1) && number(r2) => "compare by `<`, `==` and `>`",
        Op::Lt | Op::Le | Op::Gt | Op::Ge | Op::Cmp if instance(r1) && instance(r2) => {
            "compare an attribute of both, or call a method that compares them"
        }
        Op::Lt | Op::Le | Op::Gt | Op::Ge | Op::Cmp | Op::Eq | Op::Ne
            if number(r1) && character(r2) || character(r1) && number(r2) =>
        {
            "the number of a character is `ord(c)`; a string makes a number by `int(s)`, a number a string by `str(n)`"
        }
        Op::Lt | Op::Le | Op::Gt | Op::Ge | Op::Cmp | Op::Eq | Op::Ne
            if number(r1) && items(r2) || items(r1) && number(r2) =>
        {
            "compare its length: `len(x)`"
        }
        Op::Lt | Op::Le | Op::Gt | Op::Ge | Op::Cmp | Op::Eq | Op::Ne
            if number(r1) && text(r2) || text(r1) && number(r2) =>
        {
            "compare two numbers, or two strings: `int(s)` or `str(n)`"
        }
        Op::Lt | Op::Le | Op::Gt | Op::Ge | Op::Cmp | Op::Eq | Op::Ne
            if matches!(r1, Repr::List(_) | Repr::Dict(_))
                && matches!(r2, Repr::List(_) | Repr::Dict(_)) =>
        {
            "compare the items in a loop"
        }
        Op::Eq | Op::Ne if instance(r1) != instance(r2) => {
            "instances equal themselves only: compare an attribute"
        }
        Op::Is if number(r1) || number(r2) || text(r1) && text(r2) => {
            "`is` asks for the same object: compare the values by `==`"
        }
        Op::Is => "values of these kinds are never the same object",
        Op::GetItem if matches!(r2, Repr::Slice(_)) => {
            "write a loop over `range(start, stop, step)`"
        }
        _ => return None,
    })
}
