//! Fast paths for frequent operations on builtin values. [`Interp::operation`] has all operations and gives the
//! same results.

use std::sync::Arc;

use taipan_graph::HlOp;

use super::Interp;
use super::container::find_simple;
use super::dict::Dict;
use super::heap::Kind;
use super::journal::Part;
use super::types::ty;
use super::value::Value;
use super::words;

/// Maximum length of strings whose comparison costs less than a step and is not counted.
pub(crate) const SHORT: usize = 4096;

impl Interp<'_> {
    /// The result of an operation, if it has a fast path.
    #[inline]
    pub(crate) fn quick(&mut self, op: HlOp, a: &Value, b: &Value) -> Option<Value> {
        match (a, b) {
            (Value::Int(x), Value::Int(y)) => integers(op, *x, *y),
            (Value::Float(x), Value::Float(y)) => floats(op, *x, *y),
            _ if op == HlOp::Is => Some(Value::Bool(self.identical(a, b))),
            (_, Value::Int(i)) if op == HlOp::GetItem => self.item_at(a, *i),
            (Value::Str(x), Value::Str(y)) => {
                let eq = match op {
                    HlOp::Add | HlOp::InplaceAdd => {
                        return Some(Value::joined(x, y));
                    }
                    HlOp::Eq => true,
                    HlOp::Ne => false,
                    _ => return None,
                };
                (x.len().min(y.len()) < SHORT).then(|| Value::Bool((x == y) == eq))
            }
            (Value::Ref(r), Value::Str(_)) if op == HlOp::GetItem => {
                let o = self.heap.get_part(*r, || part_of(b));
                let Kind::Dict(table) = &o.kind else {
                    return None;
                };
                if o.class != ty::DICT {
                    return None;
                }
                Some(table.at(known_slot(table, b)??).clone())
            }
            (Value::Ref(r), Value::Str(_) | Value::Int(_)) if op == HlOp::Contains => {
                let o = self.heap.get_part(*r, || part_of(b));
                match &o.kind {
                    Kind::Dict(table) | Kind::Set(table)
                        if o.class == ty::DICT || o.class == ty::SET =>
                    {
                        Some(Value::Bool(known_slot(table, b)?.is_some()))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Whether a dict or set has a key whose comparison runs no code of the program.
    pub(crate) fn quick_contains(&self, container: &Value, key: &Value) -> Option<bool> {
        let Value::Ref(r) = container else {
            return None;
        };
        let o = self.heap.get_part(*r, || part_of(key));
        let table = match &o.kind {
            Kind::Dict(table) if o.class == ty::DICT => table,
            Kind::Set(table) if o.class == ty::SET => table,
            Kind::FrozenSet(table) if o.class == ty::FROZENSET => table,
            _ => return None,
        };
        Some(known_slot(table, key)?.is_some())
    }

    /// The result of an operation that needs no code of the program, if it is a number, a short string, a truth value,
    /// or an item of a container that is none.
    pub(crate) fn computed(&mut self, op: HlOp, a: &Value, b: &Value) -> Option<Value> {
        match op {
            HlOp::GetItem => match a {
                Value::Ref(r) => {
                    let o = match &self.heap.peek(*r).kind {
                        Kind::Dict(_) => self.heap.get_part(*r, || part_of(b)),
                        _ => self.heap.get(*r),
                    };
                    let item = match &o.kind {
                        Kind::List(items) if o.class == ty::LIST => match b {
                            Value::Int(i) => item_of(items, *i)?,
                            _ => return None,
                        },
                        Kind::Dict(table) if o.class == ty::DICT => {
                            table.at(known_slot(table, b)??)
                        }
                        _ => return None,
                    };
                    // Large values are counted by the reader.
                    words::is_bare(item).then(|| words::copy(item))
                }
                Value::Str(s) => match b {
                    Value::Int(i) => {
                        let v = Value::bytes(&[s[index_of(s.len(), *i)?]]);
                        self.heap.fresh += super::meter::own_size(&v);
                        Some(v)
                    }
                    _ => None,
                },
                Value::Tuple(items) => match b {
                    Value::Int(i) => {
                        let item = item_of(items, *i)?;
                        words::is_bare(item).then(|| words::copy(item))
                    }
                    _ => None,
                },
                _ => None,
            },
            HlOp::Is => Some(Value::Bool(self.identical(a, b))),
            HlOp::Eq | HlOp::Ne => {
                let equal = match (a, b) {
                    (Value::Str(x), Value::Str(y)) if x.len().min(y.len()) < SHORT => {
                        Arc::ptr_eq(x, y) || x == y
                    }
                    (Value::Tuple(_), Value::Tuple(_)) => a.plainly_equals(b)?,
                    _ => return None,
                };
                Some(Value::Bool(equal == (op == HlOp::Eq)))
            }
            HlOp::Contains => Some(Value::Bool(self.quick_contains(a, b)?)),
            HlOp::Add | HlOp::InplaceAdd => match (a, b) {
                (Value::Str(x), Value::Str(y)) if x.len() + y.len() < SHORT => {
                    // Short strings are counted as they are made: see [`Interp::made`].
                    self.heap.fresh += super::meter::own_size(a) + y.len() as u64;
                    Some(Value::joined(x, y))
                }
                (Value::Float(x), Value::Float(y)) => Some(Value::Float(x + y)),
                _ => None,
            },
            _ => match (a, b) {
                (Value::Float(x), Value::Float(y)) => floats(op, *x, *y),
                _ => None,
            },
        }
    }

    /// `a[key] = v` for a list, or for a dict that has the key. False if neither applies; nothing is changed then.
    pub(crate) fn quick_setitem(&mut self, a: &Value, key: &Value, v: &Value) -> bool {
        let Value::Ref(r) = a else {
            return false;
        };
        // An unchanged object must not count as changed.
        let o = self.heap.get(*r);
        let at = match (&o.kind, key) {
            (Kind::List(items), Value::Int(i)) if o.class == ty::LIST => {
                let at = if *i < 0 { i + items.len() as i64 } else { *i };
                usize::try_from(at).ok().filter(|at| *at < items.len())
            }
            (Kind::Dict(table), key) if o.class == ty::DICT => known_slot(table, key).flatten(),
            _ => None,
        };
        let Some(at) = at else {
            return false;
        };
        match &mut self.heap.get_mut(*r).kind {
            Kind::List(items) => words::put_copy(&mut items[at], v),
            Kind::Dict(table) => table.set_at(at, v.clone()),
            _ => unreachable!("it was one of these"),
        }
        true
    }

    /// `a[i]`
    fn item_at(&mut self, a: &Value, i: i64) -> Option<Value> {
        let of = |items: &[Value]| item_of(items, i).cloned();
        match a {
            Value::Tuple(items) => of(items),
            Value::Str(s) => Some(Value::bytes(&[s[index_of(s.len(), i)?]])),
            Value::Ref(r) => {
                let o = self.heap.get(*r);
                match &o.kind {
                    Kind::List(items) if o.class == ty::LIST => of(items),
                    Kind::Dict(table) if o.class == ty::DICT => {
                        Some(table.at(known_slot(table, &Value::Int(i))??).clone())
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// The item at an index, which counts from the end if it is negative.
fn item_of(items: &[Value], i: i64) -> Option<&Value> {
    items.get(index_of(items.len(), i)?)
}

/// The position of an index in a sequence of this length.
#[inline(always)]
fn index_of(len: usize, i: i64) -> Option<usize> {
    let at = if i < 0 { i + len as i64 } else { i };
    usize::try_from(at).ok().filter(|at| *at < len)
}

/// The slot of a key whose comparison runs no code of the program. None for other keys.
fn known_slot(table: &Dict, key: &Value) -> Option<Option<usize>> {
    find_simple(table, key, known_hash(key)?)
}

fn known_hash(key: &Value) -> Option<u64> {
    match key {
        Value::Str(s) if s.len() < SHORT => Some(super::dict::hash_bytes(s)),
        Value::Int(i) => Some(*i as u64),
        _ => None,
    }
}

/// The part of a table that [`known_slot`] uses.
fn part_of(key: &Value) -> Part {
    Part::items(known_hash(key).unwrap_or(0))
}

/// Replaces the first operand by the result of an operation on two integers or two floats, if the operation cannot
/// fail.
#[inline(always)]
pub(crate) fn in_place(op: HlOp, a: &mut Value, b: &Value) -> bool {
    match (&mut *a, b) {
        (Value::Int(x), Value::Int(y)) => {
            let (p, q) = (*x, *y);
            let result = match op {
                HlOp::Add | HlOp::InplaceAdd => p.checked_add(q),
                HlOp::Sub | HlOp::InplaceSub => p.checked_sub(q),
                HlOp::And | HlOp::InplaceAnd => Some(p & q),
                HlOp::Lt => return set(a, p < q),
                HlOp::Le => return set(a, p <= q),
                HlOp::Gt => return set(a, p > q),
                HlOp::Ge => return set(a, p >= q),
                HlOp::Eq => return set(a, p == q),
                HlOp::Ne => return set(a, p != q),
                _ => other_integers(op, p, q),
            };
            match result {
                Some(v) => *x = v,
                None => return false,
            }
            true
        }
        (Value::Float(x), Value::Float(y)) => {
            match op {
                HlOp::Add | HlOp::InplaceAdd => *x += y,
                HlOp::Sub | HlOp::InplaceSub => *x -= y,
                HlOp::Mul | HlOp::InplaceMul => *x *= y,
                _ => return false,
            }
            true
        }
        _ => false,
    }
}

#[inline(always)]
fn set(a: &mut Value, b: bool) -> bool {
    std::mem::forget(std::mem::replace(a, Value::Bool(b)));
    true
}

/// The result of a less frequent operation, if it is an `int`.
#[inline(never)]
fn other_integers(op: HlOp, x: i64, y: i64) -> Option<i64> {
    Some(match op {
        HlOp::Mul | HlOp::InplaceMul => x.checked_mul(y)?,
        HlOp::Or | HlOp::InplaceOr => x | y,
        HlOp::Xor | HlOp::InplaceXor => x ^ y,
        // For positive divisors Euclidean division rounds down, as Python does.
        HlOp::Div | HlOp::FloorDiv | HlOp::InplaceDiv | HlOp::InplaceFloorDiv if y > 0 => {
            x.div_euclid(y)
        }
        HlOp::Mod | HlOp::InplaceMod if y > 0 => x.rem_euclid(y),
        HlOp::LShift | HlOp::InplaceLShift if (0..64).contains(&y) && (x << y) >> y == x => x << y,
        HlOp::RShift | HlOp::InplaceRShift if (0..64).contains(&y) => x >> y,
        _ => return None,
    })
}

/// The result of an operation on two integers, if it cannot fail.
#[inline]
fn integers(op: HlOp, x: i64, y: i64) -> Option<Value> {
    match integer(op, x, y) {
        Some(n) => Some(Value::Int(n)),
        None => test(op, x, y).map(Value::Bool),
    }
}

/// The result of an operation on two integers, if it is an `int`.
#[inline(always)]
pub(crate) fn integer(op: HlOp, x: i64, y: i64) -> Option<i64> {
    match op {
        HlOp::Add | HlOp::InplaceAdd => x.checked_add(y),
        HlOp::Sub | HlOp::InplaceSub => x.checked_sub(y),
        HlOp::And | HlOp::InplaceAnd => Some(x & y),
        _ => other_integers(op, x, y),
    }
}

/// The result of a comparison of two integers.
#[inline(always)]
pub(crate) fn test(op: HlOp, x: i64, y: i64) -> Option<bool> {
    Some(match op {
        HlOp::Lt => x < y,
        HlOp::Le => x <= y,
        HlOp::Gt => x > y,
        HlOp::Ge => x >= y,
        HlOp::Eq | HlOp::Is => x == y,
        HlOp::Ne => x != y,
        _ => return None,
    })
}

fn floats(op: HlOp, x: f64, y: f64) -> Option<Value> {
    Some(match op {
        HlOp::Lt => Value::Bool(x < y),
        HlOp::Le => Value::Bool(x <= y),
        HlOp::Gt => Value::Bool(x > y),
        HlOp::Ge => Value::Bool(x >= y),
        HlOp::Add | HlOp::InplaceAdd => Value::Float(x + y),
        HlOp::Sub | HlOp::InplaceSub => Value::Float(x - y),
        HlOp::Mul | HlOp::InplaceMul => Value::Float(x * y),
        _ => return None,
    })
}
