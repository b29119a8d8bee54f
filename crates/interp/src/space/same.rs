//! Comparison of values and objects of a run of import time with those of a record.
//!
//! ```text
//! record   o.x = 'ab' (at 5)   p.x = 'ab' (at 5)   q.x = 'ab' (at 6)
//! run      o.x = 'ab' (at 8)   p.x = 'ab' (at 8)   q.x = 'ab' (at 8)      5 is 8; so `q` differs
//! ```
//!
//! Objects of the heap are equal if they have the same number. Strings, tuples and bound methods have none, but code
//! can tell equal ones apart with `is`: those of the run are mapped to those of the record, one to one ([`Identities`]).

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::dict::Dict;
use super::heap::{Class, Exception, Kind, Object};
use super::journal::Part;
use super::value::{Method, Value};

/// Maximum nesting of tuples that are compared.
const MOST_DEPTH: u32 = 100;

/// The identity, as `is` compares it, of a value that is not an object of the heap: the address of its block, or the number
/// of a bound method. None for values that are identical if they are equal.
pub(crate) fn identity(v: &Value) -> Option<u64> {
    let address = match v {
        Value::Str(s) if s.len() > 1 => Arc::as_ptr(s).cast::<u8>(),
        Value::Unicode(s) if s.len() > 1 => Arc::as_ptr(s).cast::<u8>(),
        Value::Tuple(t) if !t.is_empty() => t.as_ptr().cast::<u8>(),
        Value::Method(m) => Arc::as_ptr(m).cast::<u8>(),
        Value::Bound(m) => return Some(1 << 63 | u64::from(m.number)),
        _ => return None,
    };
    Some(address as u64)
}

/// Calls a function with a value and those in its tuples and methods.
pub(crate) fn each_part(v: &Value, f: &mut impl FnMut(&Value)) {
    f(v);
    match v {
        Value::Tuple(t) if t.depth() < MOST_DEPTH => t.iter().for_each(|v| each_part(v, f)),
        Value::Method(m) => {
            each_part(&m.func, f);
            if let Some(slf) = &m.slf {
                each_part(slf, f);
            }
        }
        _ => {}
    }
}

/// The difference between an object of the run and that of the record.
#[derive(Debug, Default)]
pub(crate) struct Difference {
    /// Whether they differ as a whole.
    pub(crate) all: bool,
    /// The parts in which they differ.
    pub(crate) parts: FxHashSet<Part>,
}

impl Difference {
    /// Whether a read of a part finds a difference.
    pub(crate) fn is_in(&self, part: Part) -> bool {
        self.all || self.parts.contains(&part)
    }
}

/// The identities of values of the run and the record.
#[derive(Default, Debug)]
pub(crate) struct Identities {
    /// Identities of the record that values of the run have.
    shared: FxHashSet<u64>,
    to_record: FxHashMap<u64, u64>,
    to_run: FxHashMap<u64, u64>,
    /// The values of the run that are mapped, in the order in which they were added.
    mapped: Vec<(Value, u64)>,
}

impl Identities {
    /// Notes that the run has a value of the record.
    pub(crate) fn share(&mut self, identity: u64) {
        self.shared.insert(identity);
    }

    /// Notes that the run has a value of the record, with those in it.
    pub(crate) fn share_parts(&mut self, v: &Value) {
        each_part(v, &mut |v| {
            if let Some(identity) = identity(v)
                && !self.to_run.contains_key(&identity)
            {
                self.shared.insert(identity);
            }
        });
    }

    /// `a is b`
    pub(crate) fn identical(&self, a: &Value, b: &Value) -> bool {
        let canonical = |v| identity(v).map(|i| *self.to_record.get(&i).unwrap_or(&i));
        match (canonical(a), canonical(b)) {
            (Some(x), Some(y)) => x == y,
            _ => a.is(b),
        }
    }

    /// Whether two values with equal contents have the same identity.
    fn map(&mut self, a: &Value, b: &Value) -> bool {
        let (Some(x), Some(y)) = (identity(a), identity(b)) else {
            return true;
        };
        if x == y {
            return true;
        }
        if let Some(known) = self.to_record.get(&x) {
            return *known == y;
        }
        if self.shared.contains(&x) || self.shared.contains(&y) || self.to_run.contains_key(&y) {
            return false;
        }
        self.to_record.insert(x, y);
        self.to_run.insert(y, x);
        self.mapped.push((a.clone(), y));
        true
    }

    /// Runs a comparison. The identities that it has mapped are kept only if it returns true.
    pub(crate) fn compare(&mut self, same: impl FnOnce(&mut Self) -> bool) -> bool {
        let before = self.mapped.len();
        let is_same = same(self);
        if !is_same {
            for (v, recorded) in self.mapped.drain(before..) {
                self.to_run.remove(&recorded);
                if let Some(identity) = identity(&v) {
                    self.to_record.remove(&identity);
                }
            }
        }
        is_same
    }

    /// Whether two values are the same.
    pub(crate) fn same_value(&mut self, a: &Value, b: &Value) -> bool {
        match (a, b) {
            (Value::Str(x), Value::Str(y)) => Arc::ptr_eq(x, y) || x == y && self.map(a, b),
            (Value::Unicode(x), Value::Unicode(y)) => Arc::ptr_eq(x, y) || x == y && self.map(a, b),
            (Value::Tuple(x), Value::Tuple(y)) => {
                x.is(y) || x.depth() < MOST_DEPTH && self.same_values(x, y) && self.map(a, b)
            }
            (Value::Bound(x), Value::Bound(y)) => {
                (x.func, x.slf, x.class) == (y.func, y.slf, y.class) && self.map(a, b)
            }
            (Value::Method(x), Value::Method(y)) => {
                Arc::ptr_eq(x, y) || self.same_method(x, y) && self.map(a, b)
            }
            _ => a.is(b),
        }
    }

    fn same_method(&mut self, a: &Method, b: &Method) -> bool {
        a.class == b.class
            && self.same_value(&a.func, &b.func)
            && self.same_slot(a.slf.as_ref(), b.slf.as_ref())
    }

    /// Whether two sequences of values are the same.
    pub(crate) fn same_values(&mut self, a: &[Value], b: &[Value]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.same_value(a, b))
    }

    /// The same for values that may be missing.
    pub(crate) fn same_slots(&mut self, a: &[Option<Value>], b: &[Option<Value>]) -> bool {
        let mut pairs = a.iter().zip(b);
        a.len() == b.len() && pairs.all(|(a, b)| self.same_slot(a.as_ref(), b.as_ref()))
    }

    /// The same for a value that may be missing.
    pub(crate) fn same_slot(&mut self, a: Option<&Value>, b: Option<&Value>) -> bool {
        match (a, b) {
            (Some(a), Some(b)) => self.same_value(a, b),
            (a, b) => a.is_none() && b.is_none(),
        }
    }

    fn same_table(&mut self, a: &Dict, b: &Dict) -> bool {
        let mut pairs = a.iter().zip(b.iter());
        a.is_laid_out_like(b)
            && pairs.all(|((ka, va), (kb, vb))| self.same_value(ka, kb) && self.same_value(va, vb))
    }

    /// Adds the parts in which table `a` of the run and table `b` of the record differ.
    fn different_items(&mut self, a: &Dict, b: &Dict, parts: &mut FxHashSet<Part>) {
        // At least the order differs.
        parts.insert(Part::WHOLE);
        for (hash, k, v) in a.hashed() {
            let slot = b.find(hash, |other| self.compare(|i| i.same_value(k, other)));
            if !slot.is_some_and(|slot| self.compare(|i| i.same_value(v, b.at(slot)))) {
                parts.insert(Part::items(hash));
            }
        }
        for (hash, k, _) in b.hashed() {
            let slot = a.find(hash, |other| self.compare(|i| i.same_value(other, k)));
            if slot.is_none() {
                parts.insert(Part::items(hash));
            }
        }
    }

    /// The difference between object `a` of the run and object `b` of the record; none if they are the same.
    pub(crate) fn difference(&mut self, a: &Object, b: &Object) -> Option<Difference> {
        let mut found = Difference::default();
        if a.number() != b.number() {
            found.parts.insert(Part::NUMBER);
        }
        if a.class != b.class || a.attrs != b.attrs {
            found.all = true;
            return Some(found);
        }
        match (&a.kind, &b.kind) {
            (Kind::Dict(x), Kind::Dict(y))
            | (Kind::Set(x), Kind::Set(y))
            | (Kind::FrozenSet(x), Kind::FrozenSet(y)) => {
                if !self.compare(|i| i.same_table(x, y)) {
                    self.different_items(x, y, &mut found.parts);
                    found.all = x.is_of_class() != y.is_of_class();
                }
            }
            (Kind::Class(x), Kind::Class(y)) => {
                found.all = !same_class(x, y);
                if x.subclasses != y.subclasses {
                    found.parts.insert(Part::SUBCLASSES);
                }
            }
            (x, y) => found.all = !self.compare(|i| i.same_kind(x, y)),
        }
        (found.all || !found.parts.is_empty()).then_some(found)
    }

    fn same_exception(&mut self, a: &Exception, b: &Exception) -> bool {
        self.same_value(&a.args, &b.args)
            && a.traceback == b.traceback
            && (a.caught.by == 0) == (b.caught.by == 0)
            && a.caught.returns == b.caught.returns
            && a.lacks.is_none()
            && b.lacks.is_none()
    }

    /// Whether the contents of two objects are the same. False for those that cannot be compared.
    fn same_kind(&mut self, a: &Kind, b: &Kind) -> bool {
        match (a, b) {
            (Kind::Plain, Kind::Plain) | (Kind::Closed, Kind::Closed) => true,
            (Kind::Boxed(a), Kind::Boxed(b))
            | (Kind::StaticMethod(a), Kind::StaticMethod(b))
            | (Kind::ClassMethod(a), Kind::ClassMethod(b)) => self.same_value(a, b),
            (Kind::List(a), Kind::List(b)) => self.same_values(a, b),
            (Kind::Function(a), Kind::Function(b)) => {
                a.code == b.code
                    && a.name == b.name
                    && a.globals == b.globals
                    && self.same_values(&a.defaults, &b.defaults)
                    && self.same_values(&a.closure, &b.closure)
                    && a.class == b.class
            }
            (Kind::Builtin(a), Kind::Builtin(b)) => std::ptr::eq(*a, *b),
            (Kind::Module(a), Kind::Module(b))
            | (Kind::Opaque(a), Kind::Opaque(b))
            | (Kind::Absent(a), Kind::Absent(b))
            | (Kind::Member(a), Kind::Member(b)) => a == b,
            (Kind::Cell(a), Kind::Cell(b)) => self.same_slot(a.as_ref(), b.as_ref()),
            (Kind::Property(a), Kind::Property(b)) => self.same_values(&a[..], &b[..]),
            (Kind::Slice(a), Kind::Slice(b)) => self.same_values(&a[..], &b[..]),
            (Kind::Super(a, x, c), Kind::Super(b, y, d)) => {
                a == b && c == d && self.same_slot(x.as_ref(), y.as_ref())
            }
            (Kind::XRange(a, b, c), Kind::XRange(x, y, z)) => (a, b, c) == (x, y, z),
            (Kind::Exception(a), Kind::Exception(b)) => self.same_exception(a, b),
            (Kind::Code(a), Kind::Code(b)) => a == b,
            (Kind::Singleton(a), Kind::Singleton(b)) => a == b,
            (Kind::WeakRef(a), Kind::WeakRef(b)) => {
                self.same_value(&a.target, &b.target)
                    && self.same_value(&a.callback, &b.callback)
                    && a.hash == b.hash
                    && a.is_finalizer == b.is_finalizer
            }
            (Kind::LLType(a), Kind::LLType(b)) => a == b,
            (Kind::LLContainer(a), Kind::LLContainer(b)) => {
                a.ty == b.ty && self.same_values(&a.parts, &b.parts) && a.parent == b.parent
            }
            (Kind::LLPtr(a), Kind::LLPtr(b)) => a.ty == b.ty && a.to == b.to,
            (Kind::LLFunction(a), Kind::LLFunction(b)) => {
                a.name == b.name
                    && a.ty == b.ty
                    && self.same_value(&a.callable, &b.callable)
                    && self.same_value(&a.external, &b.external)
            }
            // Iterators, generators, files, and results of `re`.
            _ => false,
        }
    }
}

/// Whether two classes are the same, but for their subclasses.
fn same_class(a: &Class, b: &Class) -> bool {
    a.name == b.name
        && a.bases == b.bases
        && a.mro == b.mro
        && (a.old_style, a.builtin, a.getattribute, a.slots_only)
            == (b.old_style, b.builtin, b.getattribute, b.slots_only)
        && a.layout == b.layout
        && a.body == b.body
}
