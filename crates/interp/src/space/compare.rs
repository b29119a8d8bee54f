//! Equality, order, hashes and truth.

use std::cmp::Ordering;
use std::sync::Arc;

use num_bigint::BigInt;
use num_traits::{FromPrimitive, ToPrimitive, Zero};
use taipan_graph::HlOp;

use super::dict::{hash_bytes, mix};
use super::heap::{Kind, Ref};
use super::lowmem::Target;
use super::types::{self, ty};
use super::value::Value;
use super::{Fatal, Interp, R};
use taipan_engine::Unwind;

/// The special methods of the comparisons: own, reflected.
fn method_names(op: HlOp) -> (&'static str, &'static str) {
    match op {
        HlOp::Lt => ("__lt__", "__gt__"),
        HlOp::Le => ("__le__", "__ge__"),
        HlOp::Gt => ("__gt__", "__lt__"),
        HlOp::Ge => ("__ge__", "__le__"),
        HlOp::Ne => ("__ne__", "__ne__"),
        _ => ("__eq__", "__eq__"),
    }
}

pub(crate) fn holds(op: HlOp, o: Ordering) -> bool {
    match op {
        HlOp::Lt => o.is_lt(),
        HlOp::Le => o.is_le(),
        HlOp::Gt => o.is_gt(),
        HlOp::Ge => o.is_ge(),
        HlOp::Ne => o.is_ne(),
        _ => o.is_eq(),
    }
}

/// Equality and order of two builtin immutable values; None where they cannot be
/// told without more (or ever).
pub(crate) fn compare_plain(a: &Value, b: &Value) -> Option<Option<Ordering>> {
    use Value::*;
    let int = |v: &Value| match v {
        Bool(b) => Some(i64::from(*b)),
        Int(i) => Some(*i),
        _ => Option::None,
    };
    Some(match (a, b) {
        (Str(x), Str(y)) => Some(x.cmp(y)),
        (Unicode(x), Unicode(y)) => Some(x.cmp(y)),
        (Str(x), Unicode(y)) if x.is_ascii() => {
            Some(x.iter().map(|c| u32::from(*c)).cmp(y.iter().copied()))
        }
        (Unicode(x), Str(y)) if y.is_ascii() => {
            Some(x.iter().copied().cmp(y.iter().map(|c| u32::from(*c))))
        }
        (None, None) => Some(Ordering::Equal),
        (Float(x), Float(y)) => x.partial_cmp(y),
        (Long(x), Long(y)) => Some(x.cmp(y)),
        (Long(x), Float(y)) => return Some(long_float(x, *y)),
        (Float(x), Long(y)) => return Some(long_float(y, *x).map(Ordering::reverse)),
        (Complex(x), y) | (y, Complex(x)) => {
            return Some((*x == y.as_complex()?).then_some(Ordering::Equal));
        }
        _ => match (int(a), int(b)) {
            (Some(x), Some(y)) => Some(x.cmp(&y)),
            (Some(x), Option::None) => match b {
                Float(y) => return Some(long_float(&x.into(), *y)),
                Long(y) => Some(BigInt::from(x).cmp(y)),
                _ => return Option::None,
            },
            (Option::None, Some(y)) => match a {
                Float(x) => return Some(long_float(&y.into(), *x).map(Ordering::reverse)),
                Long(x) => Some((**x).cmp(&BigInt::from(y))),
                _ => return Option::None,
            },
            _ => return Option::None,
        },
    })
}

impl Value {
    /// The truth of what is no object of the heap.
    pub(crate) fn plain_truth(&self) -> Option<bool> {
        Some(match self {
            Value::None => false,
            Value::Bool(b) => *b,
            Value::Int(i) => *i != 0,
            Value::Long(l) => !l.is_zero(),
            Value::Float(f) => *f != 0.0,
            Value::Complex(c) => !c.is_zero(),
            Value::Str(s) => !s.is_empty(),
            Value::Unicode(s) => !s.is_empty(),
            Value::Tuple(t) => !t.is_empty(),
            Value::Bound(_) | Value::Method(_) => true,
            Value::Ref(_) => return None,
        })
    }

    /// Whether two container items are equal; none where only Python code can tell, and
    /// for tuples that are nested deep.
    pub(crate) fn plainly_equals(&self, other: &Value) -> Option<bool> {
        self.plainly_equals_to(other, 8)
    }

    /// Whether it is less than another value; none where only Python code can tell.
    pub(crate) fn plainly_less(&self, other: &Value) -> Option<bool> {
        if let (Value::Tuple(a), Value::Tuple(b)) = (self, other) {
            for (x, y) in a.iter().zip(b.iter()) {
                if !x.plainly_equals(y)? {
                    return match (x, y) {
                        (Value::Tuple(_), Value::Tuple(_)) => None,
                        _ => x.plainly_less(y),
                    };
                }
            }
            return Some(a.len() < b.len());
        }
        let complex = |v: &Value| matches!(v, Value::Complex(_));
        if complex(self) || complex(other) {
            return None;
        }
        Some(compare_plain(self, other)? == Some(Ordering::Less))
    }

    fn plainly_equals_to(&self, other: &Value, depth: u32) -> Option<bool> {
        match (self, other) {
            (Value::Int(a), Value::Int(b)) => Some(a == b),
            (Value::Str(a), Value::Str(b)) => Some(Arc::ptr_eq(a, b) || a == b),
            _ if self.is(other) => Some(true),
            (Value::Tuple(a), Value::Tuple(b)) => {
                if a.len() != b.len() {
                    return Some(false);
                }
                // Items are compared in their order: code of an early one may raise.
                let depth = depth.checked_sub(1)?;
                for i in 0..a.len() {
                    match a[i].plainly_equals_to(&b[i], depth) {
                        Some(true) => {}
                        told => return told,
                    }
                }
                Some(true)
            }
            _ => Some(compare_plain(self, other)? == Some(Ordering::Equal)),
        }
    }
}

fn long_float(x: &BigInt, y: f64) -> Option<Ordering> {
    if y.is_nan() {
        return None;
    }
    if y.is_infinite() {
        return Some(if y > 0.0 {
            Ordering::Less
        } else {
            Ordering::Greater
        });
    }
    let whole = BigInt::from_f64(y.trunc())?;
    Some(match x.cmp(&whole) {
        Ordering::Equal => 0.0f64.partial_cmp(&(y - y.trunc()))?,
        other => other,
    })
}

impl Interp<'_> {
    /// Whether two values are equal.
    pub(crate) fn eq(&mut self, a: &Value, b: &Value) -> R<bool> {
        if let Some(o) = compare_plain(a, b) {
            return Ok(o == Some(Ordering::Equal));
        }
        let v = self.compare(HlOp::Eq, a, b)?;
        self.truth(&v)
    }

    /// Equality of container items: identical ones are equal.
    pub(crate) fn eq_item(&mut self, a: &Value, b: &Value) -> R<bool> {
        Ok(a.is(b) || self.eq(a, b)?)
    }

    /// `a < b` and so on.
    pub(crate) fn compare(&mut self, op: HlOp, a: &Value, b: &Value) -> R {
        if let Some(name) = self.absent_name(a).or_else(|| self.absent_name(b)) {
            let name = name.to_owned();
            return self.not_here(&name);
        }
        let ordered = !matches!(op, HlOp::Eq | HlOp::Ne);
        let complex = matches!((a, b), (Value::Complex(_), _) | (_, Value::Complex(_)));
        if ordered && complex && a.as_complex().is_some() && b.as_complex().is_some() {
            return self.type_error("no ordering relation is defined for complex numbers");
        }
        if let Some(o) = compare_plain(a, b) {
            return Ok(Value::Bool(match o {
                Some(o) => holds(op, o),
                None => op == HlOp::Ne,
            }));
        }
        if ordered
            && let (Value::Str(_), Value::Unicode(_)) | (Value::Unicode(_), Value::Str(_)) = (a, b)
        {
            // What is not ASCII raises; as equal or not it is taken for different.
            self.code_points(a)?;
            self.code_points(b)?;
        }
        if let Some(v) = self.compare_special(op, a, b)? {
            return Ok(v);
        }
        let (ua, ub) = (self.unboxed(a), self.unboxed(b));
        if !(ua.is(a) && ub.is(b))
            && let Some(o) = compare_plain(&ua, &ub)
        {
            return Ok(Value::Bool(o.map_or(op == HlOp::Ne, |o| holds(op, o))));
        }
        self.nested(|it| it.compare_containers(op, &ua, &ub))
    }

    /// By rich comparison methods, then `__cmp__`.
    fn compare_special(&mut self, op: HlOp, a: &Value, b: &Value) -> R<Option<Value>> {
        let user = |it: &Self, v: &Value| match v {
            Value::Ref(r) => {
                let o = it.heap.get(*r);
                !it.heap.the_class(o.class).builtin
            }
            _ => false,
        };
        let (ua, ub) = (user(self, a), user(self, b));
        if !ua && !ub {
            return Ok(None);
        }
        let (own, reflected) = method_names(op);
        let (ta, tb) = (self.heap.type_of(a), self.heap.type_of(b));
        let b_first = ub && ta != tb && self.heap.is_subclass(tb, ta);
        let tries = if b_first {
            [(b, a, reflected, ub), (a, b, own, ua)]
        } else {
            [(a, b, own, ua), (b, a, reflected, ub)]
        };
        for (x, y, name, is_user) in tries {
            if is_user
                && let Some(v) = self.call_special(x, name, std::slice::from_ref(y))?
                && !v.is(&Value::Ref(types::NOT_IMPLEMENTED))
            {
                return Ok(Some(v));
            }
        }
        for (x, y, swap) in [(a, b, false), (b, a, true)] {
            if user(self, x)
                && let Some(v) = self.call_special(x, "__cmp__", std::slice::from_ref(y))?
                && !v.is(&Value::Ref(types::NOT_IMPLEMENTED))
            {
                let o = self.sign_of(&v)?;
                let o = if swap { o.reverse() } else { o };
                return Ok(Some(Value::Bool(holds(op, o))));
            }
        }
        Ok(None)
    }

    fn sign_of(&mut self, v: &Value) -> R<Ordering> {
        match compare_plain(v, &Value::Int(0)) {
            Some(Some(o)) => Ok(o),
            _ => self.type_error("an integer is required"),
        }
    }

    fn compare_containers(&mut self, op: HlOp, a: &Value, b: &Value) -> R {
        if let (Value::Tuple(x), Value::Tuple(y)) = (a, b) {
            return self.compare_sequences(op, &x.clone(), &y.clone());
        }
        if let (Some(x), Some(y)) = (a.as_method(), b.as_method()) {
            let slf = match (&x.slf, &y.slf) {
                (None, None) => true,
                (Some(p), Some(q)) => self.identical(p, q),
                _ => false,
            };
            let same = slf && x.func.is(&y.func);
            return Ok(Value::Bool(holds(
                op,
                if same {
                    Ordering::Equal
                } else {
                    Ordering::Less
                },
            )));
        }
        if let (Value::Ref(x), Value::Ref(y)) = (a, b) {
            match (self.heap.kind(*x), self.heap.kind(*y)) {
                (Kind::List(p), Kind::List(q)) => {
                    let (p, q) = (p.clone(), q.clone());
                    self.copy_items(p.len() + q.len())?;
                    return self.compare_sequences(op, &p, &q);
                }
                (Kind::Dict(_), Kind::Dict(_)) => return self.compare_dicts(op, *x, *y),
                (Kind::Set(p) | Kind::FrozenSet(p), Kind::Set(q) | Kind::FrozenSet(q)) => {
                    let (p, q) = (p.clone(), q.clone());
                    self.copy_items(p.len() + q.len())?;
                    return self.compare_sets(op, &p, &q);
                }
                (Kind::LLType(p), Kind::LLType(q)) if matches!(op, HlOp::Eq | HlOp::Ne) => {
                    return Ok(Value::Bool((p == q) == (op == HlOp::Eq)));
                }
                (Kind::LLPtr(p), Kind::LLPtr(q)) if matches!(op, HlOp::Eq | HlOp::Ne) => {
                    let same = self.pointer_identity(*p) == self.pointer_identity(*q);
                    return Ok(Value::Bool(same == (op == HlOp::Eq)));
                }
                // References whose objects are gone are themselves and no more.
                (Kind::WeakRef(p), Kind::WeakRef(q))
                    if !p.target.is_none() && !q.target.is_none() =>
                {
                    let (p, q) = (p.target.clone(), q.target.clone());
                    return self.compare(op, &p, &q);
                }
                (Kind::Code(p), Kind::Code(q)) if p == q => {
                    return Ok(Value::Bool(holds(op, Ordering::Equal)));
                }
                _ => {}
            }
        }
        if self.timeless && !matches!(op, HlOp::Eq | HlOp::Ne) && self.is_by_age(a, b) {
            return self.untold();
        }
        Ok(Value::Bool(holds(op, self.default_order(a, b))))
    }

    /// Whether nothing but their age orders two values.
    fn is_by_age(&self, a: &Value, b: &Value) -> bool {
        match (a, b) {
            (Value::Ref(x), Value::Ref(y)) => {
                x != y && self.heap.type_name(a) == self.heap.type_name(b)
            }
            _ => false,
        }
    }

    /// The end of an operation whose result only the running program can tell.
    pub(crate) fn untold<T>(&self) -> R<T> {
        Err(Unwind::Stop(Fatal::Untold))
    }

    /// Python 2 orders everything: None first, then numbers, then by the name of the
    /// type, then by age.
    fn default_order(&mut self, a: &Value, b: &Value) -> Ordering {
        if a.is(b) {
            return Ordering::Equal;
        }
        let rank = |v: &Value| match v {
            Value::None => (0, ""),
            Value::Bool(_)
            | Value::Int(_)
            | Value::Long(_)
            | Value::Float(_)
            | Value::Complex(_) => (1, ""),
            _ => (2, self.heap.type_name(v)),
        };
        rank(a).cmp(&rank(b)).then_with(|| match (a, b) {
            (Value::Ref(x), Value::Ref(y)) => self.heap.number(*x).cmp(&self.heap.number(*y)),
            _ => Ordering::Less,
        })
    }

    fn compare_sequences(&mut self, op: HlOp, a: &[Value], b: &[Value]) -> R {
        if a.len() != b.len() && matches!(op, HlOp::Eq | HlOp::Ne) {
            return Ok(Value::Bool(op == HlOp::Ne));
        }
        for (x, y) in a.iter().zip(b) {
            self.work(1)?;
            if !self.eq_item(x, y)? {
                return match op {
                    HlOp::Eq | HlOp::Ne => Ok(Value::Bool(op == HlOp::Ne)),
                    _ => self.compare(op, x, y),
                };
            }
        }
        Ok(Value::Bool(holds(op, a.len().cmp(&b.len()))))
    }

    fn compare_dicts(&mut self, op: HlOp, a: Ref, b: Ref) -> R {
        if self.timeless && !matches!(op, HlOp::Eq | HlOp::Ne) {
            return self.untold();
        }
        let (la, lb) = (self.heap.the_dict(a).len(), self.heap.the_dict(b).len());
        let mut order = la.cmp(&lb);
        if order.is_eq() {
            for (k, v) in self.dict_items(a)? {
                self.work(1)?;
                let same = match self.dict_get(b, &k)? {
                    Some(w) => self.eq_item(&v, &w)?,
                    None => false,
                };
                if !same {
                    order = Ordering::Less;
                    break;
                }
            }
        }
        Ok(Value::Bool(holds(op, order)))
    }

    fn compare_sets(&mut self, op: HlOp, a: &super::dict::Dict, b: &super::dict::Dict) -> R {
        let sub = self.is_subset(a, b)?;
        let sup = self.is_subset(b, a)?;
        Ok(Value::Bool(match op {
            HlOp::Eq => sub && sup,
            HlOp::Ne => !(sub && sup),
            HlOp::Le => sub,
            HlOp::Lt => sub && !sup,
            HlOp::Ge => sup,
            _ => sup && !sub,
        }))
    }

    /// `cmp(a, b)`
    pub(crate) fn cmp(&mut self, a: &Value, b: &Value) -> R<Ordering> {
        for (x, y, swap) in [(a, b, false), (b, a, true)] {
            if let Some(v) = self.call_special(x, "__cmp__", std::slice::from_ref(y))?
                && !v.is(&Value::Ref(types::NOT_IMPLEMENTED))
            {
                let o = self.sign_of(&v)?;
                return Ok(if swap { o.reverse() } else { o });
            }
        }
        if self.eq_item(a, b)? {
            return Ok(Ordering::Equal);
        }
        let lt = self.compare(HlOp::Lt, a, b)?;
        Ok(if self.truth(&lt)? {
            Ordering::Less
        } else {
            Ordering::Greater
        })
    }

    /// `bool(v)`
    pub(crate) fn truth(&mut self, v: &Value) -> R<bool> {
        let Value::Ref(r) = v else {
            return Ok(v.plain_truth().unwrap_or(true));
        };
        if let Some(b) = self.call_special(v, "__nonzero__", &[])? {
            return match b {
                Value::Bool(b) => Ok(b),
                Value::Int(i) => Ok(i != 0),
                _ => self.type_error("__nonzero__ should return bool or int"),
            };
        }
        if let Some(n) = self.call_special(v, "__len__", &[])? {
            return self.truth(&n);
        }
        Ok(match self.heap.kind(*r) {
            Kind::List(l) => !l.is_empty(),
            Kind::Dict(d) | Kind::Set(d) | Kind::FrozenSet(d) => d.len() > 0,
            Kind::Boxed(inner) => {
                let inner = inner.clone();
                return self.truth(&inner);
            }
            Kind::XRange(_, n, _) => *n > 0,
            Kind::LLPtr(p) => p.to != Target::Null,
            Kind::Absent(name) => {
                let name = name.to_string();
                return self.not_here(&name);
            }
            _ => true,
        })
    }

    /// Hash for tables, also what `hash()` answers.
    pub(crate) fn hash(&mut self, v: &Value) -> R<u64> {
        Ok(match v {
            Value::None => 0x3a7,
            Value::Bool(b) => u64::from(*b),
            Value::Int(i) => *i as u64,
            Value::Long(l) => hash_long(l),
            Value::Complex(c) if c.im == 0.0 => return self.hash(&Value::Float(c.re)),
            Value::Complex(c) => mix(mix(13, c.re.to_bits()), c.im.to_bits()),
            Value::Float(f) => {
                if f.fract() == 0.0
                    && let Some(l) = BigInt::from_f64(*f)
                {
                    hash_long(&l)
                } else {
                    mix(7, f.to_bits())
                }
            }
            Value::Str(s) => {
                self.work_bytes(s.len())?;
                hash_bytes(s)
            }
            Value::Unicode(s) => {
                self.work_items(s.len())?;
                if s.iter().all(|c| *c < 128) {
                    let bytes: Vec<u8> = s.iter().map(|c| *c as u8).collect();
                    hash_bytes(&bytes)
                } else {
                    s.iter().fold(11, |h, c| mix(h, u64::from(*c)))
                }
            }
            Value::Tuple(t) => {
                let mut h = mix(3, t.len() as u64);
                for x in t.iter() {
                    self.work(1)?;
                    let item = match x {
                        Value::Tuple(_) | Value::Ref(_) => self.nested(|it| it.hash(x))?,
                        x => self.hash(x)?,
                    };
                    h = mix(h, item);
                }
                h
            }
            Value::Bound(m) => mix(self.number(m.slf), self.number(m.func)),
            Value::Method(m) => {
                let mut number = |v: Option<Ref>| v.map_or(0, |r| self.number(r));
                let slf = number(m.slf.as_ref().and_then(Value::as_ref));
                mix(slf, number(m.func.as_ref()))
            }
            Value::Ref(r) => return self.hash_object(v, *r),
        })
    }

    fn hash_object(&mut self, v: &Value, r: Ref) -> R<u64> {
        let class = self.heap.get(r).class;
        if !self.heap.the_class(class).builtin {
            let hook = self.special(v, "__hash__")?;
            if let Some(f) = hook {
                if f.is_none() {
                    return self.unhashable(v);
                }
                let h = self.call(&f, &[])?;
                return match h {
                    Value::Int(i) => Ok(i as u64),
                    Value::Bool(b) => Ok(u64::from(b)),
                    Value::Long(l) => Ok(hash_long(&l)),
                    _ => self.type_error("__hash__() should return an int"),
                };
            }
            if let Some(Value::None) = self.lookup(class, "__hash__") {
                return self.unhashable(v);
            }
        }
        match self.heap.kind(r) {
            Kind::List(_) | Kind::Dict(_) | Kind::Set(_) | Kind::Slice(_) => self.unhashable(v),
            Kind::Boxed(inner) => {
                let inner = inner.clone();
                self.hash(&inner)
            }
            Kind::FrozenSet(d) => {
                let keys: Vec<Value> = d.keys().cloned().collect();
                let mut h = 0u64;
                for k in keys {
                    self.work(1)?;
                    h = h.wrapping_add(mix(5, self.hash(&k)?));
                }
                Ok(h)
            }
            Kind::LLType(t) => Ok(hash_bytes(t.to_string().as_bytes())),
            Kind::LLPtr(p) => Ok(match self.pointer_identity(*p) {
                Target::Null => 7,
                Target::Object(r) => mix(3, self.number(r)),
                Target::Part(r, i) => mix(mix(4, self.number(r)), i as u64),
                Target::Int(i) => i as u64,
            }),
            Kind::WeakRef(w) => {
                if let Some(known) = w.hash {
                    return Ok(known);
                }
                if w.target.is_none() {
                    return self.type_error("weak object has gone away");
                }
                let target = w.target.clone();
                let hash = self.hash(&target)?;
                if let Kind::WeakRef(w) = &mut self.heap.get_mut(r).kind {
                    w.hash = Some(hash);
                }
                Ok(hash)
            }
            _ => Ok(mix(1, self.number(r))),
        }
    }

    fn number(&mut self, r: Ref) -> u64 {
        u64::from(self.heap.number(r))
    }

    fn unhashable<T>(&mut self, v: &Value) -> R<T> {
        let t = self.heap.type_name(v).to_owned();
        self.type_error(format!("unhashable type: '{t}'"))
    }

    /// `id(v)`
    pub(crate) fn id(&mut self, v: &Value) -> i64 {
        match v {
            Value::Ref(r) => 0x1000 + 16 * i64::from(self.heap.number(*r)),
            Value::Str(s) => {
                self.observe();
                s.as_ptr() as i64
            }
            Value::Tuple(t) => {
                self.observe();
                t.as_ptr() as *const u8 as i64
            }
            Value::Int(i) => i.wrapping_mul(8),
            _ => match self.heap.type_of(v) {
                t if t == ty::NONE_TYPE => 8,
                t => 0x100 + i64::from(t.0),
            },
        }
    }
}

fn hash_long(l: &BigInt) -> u64 {
    match l.to_i64() {
        Some(i) => i as u64,
        None => l.iter_u64_digits().fold(13, mix),
    }
}
