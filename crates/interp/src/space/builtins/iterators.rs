//! Methods of iterators and generators.

use crate::space::builtin::{Args, Builtin};
use crate::space::heap::{Kind, Ref};
use crate::space::types::ty;
use crate::space::value::Value;
use crate::space::{Interp, R};
use taipan_engine::Unwind;

fn next(it: &mut Interp, args: Args<'_>) -> R {
    let v = args.need(it, 0, "next")?;
    match it.next_item(v)? {
        Some(v) => Ok(v),
        None => it.raise_args(ty::STOP_ITERATION, vec![]),
    }
}

fn iter(it: &mut Interp, args: Args<'_>) -> R {
    Ok(args.need(it, 0, "__iter__")?.clone())
}

fn generator(it: &mut Interp, args: Args<'_>) -> R<Ref> {
    match args.get(0) {
        Some(Value::Ref(r)) if matches!(it.heap.kind(*r), Kind::Generator(_)) => Ok(*r),
        _ => it.type_error("descriptor requires a 'generator' object"),
    }
}

fn answer(it: &mut Interp, got: Option<Value>) -> R {
    match got {
        Some(v) => Ok(v),
        None => it.raise_args(ty::STOP_ITERATION, vec![]),
    }
}

fn send(it: &mut Interp, args: Args<'_>) -> R {
    let r = generator(it, args)?;
    let v = args.need(it, 1, "send")?.clone();
    let got = it.resume(r, v)?;
    answer(it, got)
}

fn throw(it: &mut Interp, args: Args<'_>) -> R {
    let r = generator(it, args)?;
    let (t, v) = it.raise_operands(&args.pos[1..])?;
    if args.pos.get(3).is_some_and(|tb| !tb.is_none()) {
        it.note_returning(&v);
    }
    let got = it.throw(r, t, v)?;
    answer(it, got)
}

fn close(it: &mut Interp, args: Args<'_>) -> R {
    let r = generator(it, args)?;
    let v = it.exception(ty::GENERATOR_EXIT, vec![]);
    match it.throw(r, Value::Ref(ty::GENERATOR_EXIT), v) {
        Ok(None) => Ok(Value::None),
        Ok(Some(_)) => it.raise(ty::RUNTIME_ERROR, "generator ignored GeneratorExit"),
        Err(Unwind::Raise(raised))
            if [ty::GENERATOR_EXIT, ty::STOP_ITERATION]
                .iter()
                .any(|end| it.matches(&raised.0, &Value::Ref(*end))) =>
        {
            Ok(Value::None)
        }
        Err(e) => Err(e),
    }
}

/// Methods of builtin iterators.
pub(crate) const ITERATOR: &[Builtin] = &[
    Builtin::method("iterator.next", next),
    Builtin::method("iterator.__iter__", iter),
];

/// Methods of generators.
pub(crate) const GENERATOR: &[Builtin] = &[
    Builtin::method("generator.next", next),
    Builtin::method("generator.__iter__", iter),
    Builtin::method("generator.send", send),
    Builtin::method("generator.throw", throw),
    Builtin::method("generator.close", close),
];
