//! Methods of `list` and `tuple`, and sorting.

use super::object::*;
use crate::space::builtin::{Args, Builtin};
use crate::space::heap::{Kind, Ref};
use crate::space::value::Value;
use crate::space::{Interp, R};

fn this(it: &mut Interp, args: Args<'_>) -> R<Ref> {
    match args.get(0) {
        Some(Value::Ref(r)) if matches!(it.heap.kind(*r), Kind::List(_)) => Ok(*r),
        _ => it.type_error("descriptor requires a 'list' object"),
    }
}

fn items<'a>(it: &'a mut Interp, r: Ref) -> &'a mut Vec<Value> {
    match &mut it.heap.get_mut(r).kind {
        Kind::List(l) => l,
        _ => unreachable!("checked by `this`"),
    }
}

fn append(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "append", 2, 2)?;
    let r = this(it, args)?;
    items(it, r).push(args.pos[1].clone());
    Ok(Value::None)
}

fn extend(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "extend", 2, 2)?;
    let r = this(it, args)?;
    let more = it.list_of(&args.pos[1])?;
    items(it, r).extend(more);
    Ok(Value::None)
}

fn insert(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "insert", 3, 3)?;
    let r = this(it, args)?;
    let i = it.index_of(&args.pos[1])?;
    let len = items(it, r).len() as i64;
    let at = if i < 0 { (i + len).max(0) } else { i.min(len) };
    it.work_items((len - at) as usize)?;
    items(it, r).insert(at as usize, args.pos[2].clone());
    Ok(Value::None)
}

fn pop(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "pop", 1, 2)?;
    let r = this(it, args)?;
    let i = match args.get(1) {
        Some(v) => it.index_of(v)?,
        None => -1,
    };
    let len = items(it, r).len() as i64;
    if len == 0 {
        return it.index_error("pop from empty list");
    }
    let at = if i < 0 { i + len } else { i };
    if !(0..len).contains(&at) {
        return it.index_error("pop index out of range");
    }
    it.work_items((len - at) as usize)?;
    Ok(items(it, r).remove(at as usize))
}

fn position(it: &mut Interp, args: Args<'_>) -> R<Option<usize>> {
    let v = args.need(it, 1, "index")?;
    let all = it.list_of(&args.pos[0])?;
    let start = args.get(2).cloned().unwrap_or(Value::None);
    let stop = args.get(3).cloned().unwrap_or(Value::None);
    let (a, b) = it.bounds(&start, &stop, all.len())?;
    for (i, x) in all.iter().enumerate().take(b).skip(a) {
        it.work(1)?;
        if it.eq_item(x, v)? {
            return Ok(Some(i));
        }
    }
    Ok(None)
}

fn remove(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "remove", 2, 2)?;
    let r = this(it, args)?;
    match position(it, args)? {
        Some(i) => {
            items(it, r).remove(i);
            Ok(Value::None)
        }
        None => it.value_error("list.remove(x): x not in list"),
    }
}

fn index(it: &mut Interp, args: Args<'_>) -> R {
    match position(it, args)? {
        Some(i) => Ok(Value::from(i)),
        None => {
            let shown = it.repr(&args.pos[1])?;
            it.value_error(format!(
                "{} is not in list",
                String::from_utf8_lossy(&shown)
            ))
        }
    }
}

fn count(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "count", 2, 2)?;
    let mut n = 0;
    for x in it.list_of(&args.pos[0])? {
        it.work(1)?;
        n += i64::from(it.eq_item(&x, &args.pos[1])?);
    }
    Ok(Value::Int(n))
}

fn reverse(it: &mut Interp, args: Args<'_>) -> R {
    let r = this(it, args)?;
    let len = items(it, r).len();
    it.work_items(len)?;
    items(it, r).reverse();
    Ok(Value::None)
}

fn sort(it: &mut Interp, args: Args<'_>) -> R {
    let r = this(it, args)?;
    let all = items(it, r).clone();
    it.copy_items(2 * all.len())?;
    let sorted = it.sorted(
        all,
        &Args {
            pos: &args.pos[1..],
            kw: args.kw,
        },
    )?;
    *items(it, r) = sorted;
    Ok(Value::None)
}

fn reversed(it: &mut Interp, args: Args<'_>) -> R {
    let r = this(it, args)?;
    let n = items(it, r).len();
    Ok(it.new_iter(crate::space::iter::Iter::Reversed(r, n)))
}

fn iadd(it: &mut Interp, args: Args<'_>) -> R {
    extend(it, args)?;
    Ok(args.pos[0].clone())
}

fn init(it: &mut Interp, args: Args<'_>) -> R {
    this(it, args)?;
    it.builtin_init(
        &args.pos[0],
        Args {
            pos: &args.pos[1..],
            kw: args.kw,
        },
    )?;
    Ok(Value::None)
}

/// Methods of `list`.
pub(crate) const LIST: &[Builtin] = &[
    Builtin::method("list.__init__", init),
    Builtin::method("list.append", append),
    Builtin::method("list.extend", extend),
    Builtin::method("list.insert", insert),
    Builtin::method("list.pop", pop),
    Builtin::method("list.remove", remove),
    Builtin::method("list.index", index),
    Builtin::method("list.count", count),
    Builtin::method("list.reverse", reverse),
    Builtin::method("list.sort", sort),
    Builtin::method("list.__reversed__", reversed),
    Builtin::method("list.__len__", operator_len),
    Builtin::method("list.__getitem__", operator_getitem),
    Builtin::method("list.__setitem__", operator_setitem),
    Builtin::method("list.__delitem__", operator_delitem),
    Builtin::method("list.__getslice__", operator_getslice),
    Builtin::method("list.__setslice__", operator_setslice),
    Builtin::method("list.__contains__", operator_contains),
    Builtin::method("list.__iter__", operator_iter),
    Builtin::method("list.__add__", operator_add),
    Builtin::method("list.__iadd__", iadd),
    Builtin::method("list.__mul__", operator_mul),
    Builtin::method("list.__eq__", operator_eq),
    Builtin::method("list.__ne__", operator_ne),
    Builtin::method("list.__lt__", operator_lt),
    Builtin::method("list.__repr__", operator_repr),
];

/// Methods of `tuple`.
pub(crate) const TUPLE: &[Builtin] = &[
    Builtin::method("tuple.index", index),
    Builtin::method("tuple.count", count),
    Builtin::method("tuple.__len__", operator_len),
    Builtin::method("tuple.__getitem__", operator_getitem),
    Builtin::method("tuple.__getslice__", operator_getslice),
    Builtin::method("tuple.__contains__", operator_contains),
    Builtin::method("tuple.__iter__", operator_iter),
    Builtin::method("tuple.__add__", operator_add),
    Builtin::method("tuple.__mul__", operator_mul),
    Builtin::method("tuple.__eq__", operator_eq),
    Builtin::method("tuple.__ne__", operator_ne),
    Builtin::method("tuple.__lt__", operator_lt),
    Builtin::method("tuple.__hash__", operator_hash),
    Builtin::method("tuple.__repr__", operator_repr),
];

impl Interp<'_> {
    /// Sorts, by the arguments of `list.sort`: cmp, key, reverse.
    pub(crate) fn sorted(&mut self, all: Vec<Value>, args: &Args<'_>) -> R<Vec<Value>> {
        let cmp = args.named(0, "cmp").filter(|v| !v.is_none()).cloned();
        let key = args.named(1, "key").filter(|v| !v.is_none()).cloned();
        let reverse = match args.named(2, "reverse") {
            Some(v) => self.truth(&v.clone())?,
            None => false,
        };
        let mut pairs = Vec::with_capacity(all.len());
        for v in all {
            let k = match &key {
                Some(f) => self.call(f, std::slice::from_ref(&v))?,
                None => v.clone(),
            };
            pairs.push((k, v));
        }
        // Equal items keep their order either way.
        if reverse {
            pairs.reverse();
        }
        let mut sorted = self.merge_sort(pairs, cmp.as_ref())?;
        if reverse {
            sorted.reverse();
        }
        Ok(sorted.into_iter().map(|(_, v)| v).collect())
    }

    fn merge_sort(
        &mut self,
        mut v: Vec<(Value, Value)>,
        cmp: Option<&Value>,
    ) -> R<Vec<(Value, Value)>> {
        if v.len() < 2 {
            return Ok(v);
        }
        let right = v.split_off(v.len() / 2);
        let mut left = self.merge_sort(v, cmp)?.into_iter().peekable();
        let mut right = self.merge_sort(right, cmp)?.into_iter().peekable();
        let mut out = Vec::with_capacity(left.len() + right.len());
        loop {
            self.work(1)?;
            let right_first = match (left.peek(), right.peek()) {
                (Some(l), Some(r)) => match cmp {
                    Some(f) => {
                        let c = self.call(f, &[r.0.clone(), l.0.clone()])?;
                        self.index_of(&c)? < 0
                    }
                    None => match r.0.plainly_less(&l.0) {
                        Some(less) => less,
                        None => {
                            let lt = self.compare(taipan_graph::HlOp::Lt, &r.0, &l.0)?;
                            self.truth(&lt)?
                        }
                    },
                },
                (None, None) => return Ok(out),
                (l, _) => l.is_none(),
            };
            out.extend(if right_first {
                right.next()
            } else {
                left.next()
            });
        }
    }
}
