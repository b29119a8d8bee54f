//! Methods of `set` and `frozenset`.

use taipan_graph::HlOp;

use super::object::*;
use crate::space::builtin::{Args, Builtin};
use crate::space::dict::Dict;
use crate::space::heap::{Kind, Ref};
use crate::space::types::ty;
use crate::space::value::Value;
use crate::space::{Interp, R};

impl Interp<'_> {
    /// A set object with this table.
    pub(crate) fn new_set(&mut self, table: Dict, frozen: bool) -> Value {
        Value::Ref(if frozen {
            self.heap.alloc(ty::FROZENSET, Kind::FrozenSet(table))
        } else {
            self.heap.alloc(ty::SET, Kind::Set(table))
        })
    }

    /// `a | b` and so on.
    pub(crate) fn set_op(&mut self, op: HlOp, a: &Dict, b: &Dict) -> R<Dict> {
        self.copy_items(2 * (a.len() + b.len()))?;
        let mut out = Dict::default();
        let keep = |it: &mut Self, from: &Dict, other: &Dict, inside: bool, out: &mut Dict| {
            for k in from.keys() {
                let hash = it.hash(k)?;
                if it.find_key(other, k, hash)?.is_some() == inside {
                    it.table_add(out, k)?;
                }
            }
            Ok(())
        };
        match op {
            HlOp::And => keep(self, a, b, true, &mut out)?,
            HlOp::Sub => keep(self, a, b, false, &mut out)?,
            HlOp::Xor => {
                keep(self, a, b, false, &mut out)?;
                keep(self, b, a, false, &mut out)?;
            }
            _ => {
                out = a.clone();
                for k in b.keys() {
                    self.table_add(&mut out, k)?;
                }
            }
        }
        Ok(out)
    }
}

fn this(it: &mut Interp, args: Args<'_>) -> R<(Ref, bool)> {
    if let Some(Value::Ref(r)) = args.get(0) {
        match it.heap.kind(*r) {
            Kind::Set(_) => return Ok((*r, false)),
            Kind::FrozenSet(_) => return Ok((*r, true)),
            _ => {}
        }
    }
    it.type_error("descriptor requires a 'set' object")
}

fn table_of(it: &mut Interp, v: &Value) -> R<Dict> {
    if let Value::Ref(r) = v
        && let Kind::Set(d) | Kind::FrozenSet(d) = it.heap.kind(*r)
    {
        return Ok(d.clone());
    }
    let items = it.list_of(v)?;
    it.make_table(&items)
}

fn combine(it: &mut Interp, args: Args<'_>, op: HlOp) -> R<(Ref, bool, Dict)> {
    let (r, frozen) = this(it, args)?;
    let mut table = it.table(r).cloned().unwrap_or_default();
    for other in &args.pos[1..] {
        let other = table_of(it, other)?;
        table = it.set_op(op, &table, &other)?;
    }
    Ok((r, frozen, table))
}

fn combined(it: &mut Interp, args: Args<'_>, op: HlOp) -> R {
    let (_, frozen, table) = combine(it, args, op)?;
    Ok(it.new_set(table, frozen))
}

fn combine_into(it: &mut Interp, args: Args<'_>, op: HlOp) -> R {
    let (r, _, table) = combine(it, args, op)?;
    it.heap.get_mut(r).kind = Kind::Set(table);
    Ok(Value::None)
}

fn union(it: &mut Interp, args: Args<'_>) -> R {
    combined(it, args, HlOp::Or)
}

fn intersection(it: &mut Interp, args: Args<'_>) -> R {
    combined(it, args, HlOp::And)
}

fn difference(it: &mut Interp, args: Args<'_>) -> R {
    combined(it, args, HlOp::Sub)
}

fn symmetric_difference(it: &mut Interp, args: Args<'_>) -> R {
    combined(it, args, HlOp::Xor)
}

fn copy(it: &mut Interp, args: Args<'_>) -> R {
    combined(it, Args::new(&args.pos[..1]), HlOp::Or)
}

fn update(it: &mut Interp, args: Args<'_>) -> R {
    combine_into(it, args, HlOp::Or)
}

fn intersection_update(it: &mut Interp, args: Args<'_>) -> R {
    combine_into(it, args, HlOp::And)
}

fn difference_update(it: &mut Interp, args: Args<'_>) -> R {
    combine_into(it, args, HlOp::Sub)
}

fn add(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "add", 2, 2)?;
    let (r, _) = this(it, args)?;
    let hash = it.hash(&args.pos[1])?;
    if it.find_in(r, &args.pos[1], hash)?.is_none() {
        it.dict_set(r, args.pos[1].clone(), Value::None)?;
    }
    Ok(Value::None)
}

fn discard(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "discard", 2, 2)?;
    let (r, _) = this(it, args)?;
    it.dict_remove(r, &args.pos[1])?;
    Ok(Value::None)
}

fn remove(it: &mut Interp, args: Args<'_>) -> R {
    args.expect(it, "remove", 2, 2)?;
    let (r, _) = this(it, args)?;
    match it.dict_remove(r, &args.pos[1])? {
        Some(_) => Ok(Value::None),
        None => it.key_error(&args.pos[1]),
    }
}

fn pop(it: &mut Interp, args: Args<'_>) -> R {
    let (r, _) = this(it, args)?;
    let first = it.table(r).and_then(|t| t.keys().next().cloned());
    match first {
        Some(k) => {
            it.dict_remove(r, &k)?;
            Ok(k)
        }
        None => it.raise(ty::KEY_ERROR, "pop from an empty set"),
    }
}

fn clear(it: &mut Interp, args: Args<'_>) -> R {
    let (r, _) = this(it, args)?;
    it.heap.get_mut(r).kind = Kind::Set(Dict::default());
    Ok(Value::None)
}

fn relation(it: &mut Interp, args: Args<'_>, f: fn(&mut Interp, &Dict, &Dict) -> R<bool>) -> R {
    args.expect(it, "set method", 2, 2)?;
    let a = table_of(it, &args.pos[0])?;
    let b = table_of(it, &args.pos[1])?;
    Ok(Value::Bool(f(it, &a, &b)?))
}

fn issubset(it: &mut Interp, args: Args<'_>) -> R {
    relation(it, args, |it, a, b| it.is_subset(a, b))
}

fn issuperset(it: &mut Interp, args: Args<'_>) -> R {
    relation(it, args, |it, a, b| it.is_subset(b, a))
}

fn isdisjoint(it: &mut Interp, args: Args<'_>) -> R {
    relation(it, args, |it, a, b| {
        Ok(it.set_op(HlOp::And, a, b)?.len() == 0)
    })
}

fn init(it: &mut Interp, args: Args<'_>) -> R {
    this(it, args)?;
    it.builtin_init(&args.pos[0], Args::new(&args.pos[1..]))?;
    Ok(Value::None)
}

macro_rules! set_methods {
    ($name:ident, $t:literal, $($extra:expr,)*) => {
        /// Methods of the class.
        pub(crate) const $name: &[Builtin] = &[
            Builtin::method(concat!($t, ".union"), union),
            Builtin::method(concat!($t, ".intersection"), intersection),
            Builtin::method(concat!($t, ".difference"), difference),
            Builtin::method(concat!($t, ".symmetric_difference"), symmetric_difference),
            Builtin::method(concat!($t, ".copy"), copy),
            Builtin::method(concat!($t, ".issubset"), issubset),
            Builtin::method(concat!($t, ".issuperset"), issuperset),
            Builtin::method(concat!($t, ".isdisjoint"), isdisjoint),
            Builtin::method(concat!($t, ".__len__"), operator_len),
            Builtin::method(concat!($t, ".__contains__"), operator_contains),
            Builtin::method(concat!($t, ".__iter__"), operator_iter),
            Builtin::method(concat!($t, ".__eq__"), operator_eq),
            Builtin::method(concat!($t, ".__ne__"), operator_ne),
            Builtin::method(concat!($t, ".__or__"), operator_or),
            Builtin::method(concat!($t, ".__and__"), operator_and),
            Builtin::method(concat!($t, ".__sub__"), operator_sub),
            $($extra,)*
        ];
    };
}
set_methods!(
    SET,
    "set",
    Builtin::method("set.__init__", init),
    Builtin::method("set.add", add),
    Builtin::method("set.discard", discard),
    Builtin::method("set.remove", remove),
    Builtin::method("set.pop", pop),
    Builtin::method("set.clear", clear),
    Builtin::method("set.update", update),
    Builtin::method("set.intersection_update", intersection_update),
    Builtin::method("set.difference_update", difference_update),
);
set_methods!(FROZENSET, "frozenset",);
