//! Methods of exceptions.

use super::object::{operator_getitem, operator_repr, operator_str};
use crate::space::builtin::{Args, Builtin};
use crate::space::value::Value;
use crate::space::{Interp, R};

fn init(it: &mut Interp, args: Args<'_>) -> R {
    let v = args.need(it, 0, "__init__")?.clone();
    it.builtin_init(&v, Args::new(&args.pos[1..]))?;
    Ok(Value::None)
}

/// Methods of `BaseException`.
pub(crate) const BASE_EXCEPTION: &[Builtin] = &[
    Builtin::method("BaseException.__init__", init),
    Builtin::method("BaseException.__repr__", operator_repr),
    Builtin::method("BaseException.__str__", operator_str),
    Builtin::method("BaseException.__getitem__", operator_getitem),
];
