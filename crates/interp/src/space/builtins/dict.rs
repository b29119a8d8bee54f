//! Methods of `dict`.

use super::object::*;
use crate::space::builtin::{Args, Builtin};
use crate::space::heap::{Kind, Ref};
use crate::space::iter::{Iter, View};
use crate::space::types::ty;
use crate::space::value::Value;
use crate::space::{Interp, R};

fn this(it: &mut Interp, args: Args<'_>) -> R<Ref> {
    match args.get(0) {
        Some(Value::Ref(r)) if matches!(it.heap.shape(*r), Kind::Dict(_)) => Ok(*r),
        _ => it.type_error("descriptor requires a 'dict' object"),
    }
}

fn get(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "get", 2, 3)?;
    let r = this(it, args)?;
    Ok(match it.dict_get(r, &args.pos[1])? {
        Some(v) => v,
        None => args.get(2).cloned().unwrap_or(Value::None),
    })
}

fn setdefault(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "setdefault", 2, 3)?;
    let r = this(it, args)?;
    if let Some(v) = it.dict_get(r, &args.pos[1])? {
        return Ok(v);
    }
    let v = args.get(2).cloned().unwrap_or(Value::None);
    it.dict_set(r, args.pos[1].clone(), v.clone())?;
    Ok(v)
}

fn pop(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "pop", 2, 3)?;
    let r = this(it, args)?;
    match it.dict_remove(r, &args.pos[1])? {
        Some((_, v)) => Ok(v),
        None => match args.get(2) {
            Some(v) => Ok(v.clone()),
            None => it.key_error(&args.pos[1]),
        },
    }
}

fn popitem(it: &mut Interp, args: Args<'_>) -> R {
    let r = this(it, args)?;
    match it.heap.the_dict_mut(r).pop_last() {
        Some((k, v)) => Ok(Value::tuple(vec![k, v])),
        None => it.raise(ty::KEY_ERROR, "popitem(): dictionary is empty"),
    }
}

fn has_key(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "has_key", 2, 2)?;
    let r = this(it, args)?;
    Ok(Value::Bool(it.dict_get(r, &args.pos[1])?.is_some()))
}

fn keys(it: &mut Interp, args: Args<'_>) -> R {
    let r = this(it, args)?;
    it.copy_items(it.heap.the_dict(r).len())?;
    let items = it.heap.the_dict(r).keys().cloned().collect();
    Ok(it.heap.list(items))
}

fn values(it: &mut Interp, args: Args<'_>) -> R {
    let r = this(it, args)?;
    it.copy_items(it.heap.the_dict(r).len())?;
    let items = it.heap.the_dict(r).values().cloned().collect();
    Ok(it.heap.list(items))
}

fn items(it: &mut Interp, args: Args<'_>) -> R {
    let r = this(it, args)?;
    let items = it
        .dict_items(r)?
        .into_iter()
        .map(|(k, v)| Value::tuple(vec![k, v]))
        .collect();
    Ok(it.heap.list(items))
}

fn view(it: &mut Interp, args: Args<'_>, view: View) -> R {
    let r = this(it, args)?;
    let n = it.heap.the_dict(r).len();
    Ok(it.new_iter(Iter::Table(r, 0, view, n)))
}

fn iterkeys(it: &mut Interp, args: Args<'_>) -> R {
    view(it, args, View::Keys)
}

fn itervalues(it: &mut Interp, args: Args<'_>) -> R {
    view(it, args, View::Values)
}

fn iteritems(it: &mut Interp, args: Args<'_>) -> R {
    view(it, args, View::Items)
}

fn update(it: &mut Interp, args: Args<'_>) -> R {
    let r = this(it, args)?;
    it.dict_update(
        r,
        Args {
            pos: &args.pos[1..],
            kw: args.kw,
        },
    )?;
    Ok(Value::None)
}

fn clear(it: &mut Interp, args: Args<'_>) -> R {
    let r = this(it, args)?;
    it.heap.the_dict_mut(r).clear();
    Ok(Value::None)
}

fn copy(it: &mut Interp, args: Args<'_>) -> R {
    let r = this(it, args)?;
    let d = it.heap.the_dict(r).clone();
    it.copy_items(2 * d.len())?;
    Ok(Value::Ref(it.heap.dict(d)))
}

fn fromkeys(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "fromkeys", 2, 3)?;
    let v = args.get(2).cloned().unwrap_or(Value::None);
    let d = it.call(&args.pos[0], &[])?;
    for k in it.list_of(&args.pos[1])? {
        it.setitem(&d, &k, v.clone())?;
    }
    Ok(d)
}

fn init(it: &mut Interp, args: Args<'_>) -> R {
    update(it, args)
}

/// Methods of `dict`.
pub(crate) const DICT: &[Builtin] = &[
    Builtin::method("dict.__init__", init),
    Builtin::method("dict.get", get),
    Builtin::method("dict.setdefault", setdefault),
    Builtin::method("dict.pop", pop),
    Builtin::method("dict.popitem", popitem),
    Builtin::method("dict.has_key", has_key),
    Builtin::method("dict.keys", keys),
    Builtin::method("dict.values", values),
    Builtin::method("dict.items", items),
    Builtin::method("dict.iterkeys", iterkeys),
    Builtin::method("dict.itervalues", itervalues),
    Builtin::method("dict.iteritems", iteritems),
    Builtin::method("dict.viewkeys", keys),
    Builtin::method("dict.viewvalues", values),
    Builtin::method("dict.viewitems", items),
    Builtin::method("dict.update", update),
    Builtin::method("dict.clear", clear),
    Builtin::method("dict.copy", copy),
    Builtin::class_method("dict.fromkeys", fromkeys),
    Builtin::method("dict.__len__", operator_len),
    Builtin::method("dict.__getitem__", operator_getitem),
    Builtin::method("dict.__setitem__", operator_setitem),
    Builtin::method("dict.__delitem__", operator_delitem),
    Builtin::method("dict.__contains__", operator_contains),
    Builtin::method("dict.__iter__", operator_iter),
    Builtin::method("dict.__eq__", operator_eq),
    Builtin::method("dict.__ne__", operator_ne),
    Builtin::method("dict.__repr__", operator_repr),
];
