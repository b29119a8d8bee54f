//! Values of the concrete space: immutable builtins stand for themselves,
//! everything else is a reference into the heap.

use std::sync::{Arc, LazyLock};

use num_bigint::BigInt;
use num_traits::ToPrimitive;

use super::heap::Ref;
use crate::Complex;

/// Frequent byte strings, allocated once.
struct Short {
    empty: Arc<[u8]>,
    /// Those of one character.
    characters: Vec<Arc<[u8]>>,
}

static SHORT: LazyLock<Short> = LazyLock::new(|| Short {
    // Not `Arc::default()`: that is a static object, whose reference count restarts in each process and misses the
    // references in restored memory.
    empty: Arc::new([]),
    characters: (0..=255).map(|c| [c].into()).collect(),
});

/// A Python value. Its tag takes a whole word, so that copies of a value move words and
/// nothing that was just written is read in other pieces: the processor would wait.
#[derive(Clone, Debug)]
#[repr(u64)]
pub(crate) enum Value {
    /// `None`
    None,
    /// `True`, `False`
    Bool(bool),
    /// An `int`.
    Int(i64),
    /// A `long`.
    Long(Arc<BigInt>),
    /// A `float`.
    Float(f64),
    /// A `complex`.
    Complex(Complex),
    /// A byte string.
    Str(Arc<[u8]>),
    /// A `unicode` string, as code points.
    Unicode(Arc<[u32]>),
    /// A tuple.
    Tuple(Tuple),
    /// A method bound to an object of the heap. It is stored in the value itself, since each method call creates one.
    Bound(Bound),
    /// Any other bound or unbound method.
    Method(Arc<Method>),
    /// An object of the heap.
    Ref(Ref),
}

/// The items of a tuple, which several values share. It knows how deep tuples are nested in it,
/// and how many values it has with those of these: tuples become constants, which share nothing
/// and are walked by recursion.
///
/// One allocation: the first value holds these two numbers, the items follow.
#[derive(Clone, Debug)]
pub(crate) struct Tuple(Arc<[Value]>);

/// Bits of the number of values in the first value of a tuple.
const NODES: u32 = 40;

impl Tuple {
    fn header(&self) -> i64 {
        match self.0.first() {
            Some(Value::Int(header)) => *header,
            _ => unreachable!("the first value of a tuple"),
        }
    }

    /// Levels of tuples.
    pub(crate) fn depth(&self) -> u32 {
        (self.header() >> NODES) as u32
    }

    /// Values in it, those of tuples in it among them.
    pub(crate) fn nodes(&self) -> u64 {
        (self.header() & ((1 << NODES) - 1)) as u64
    }

    /// Whether it is the same object as another one.
    pub(crate) fn is(&self, other: &Tuple) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The block that it shares with other values.
    pub(crate) fn shared(&self) -> &Arc<[Value]> {
        &self.0
    }

    /// The tuple that shares this block of another one.
    pub(crate) fn sharing(block: Arc<[Value]>) -> Tuple {
        Tuple(block)
    }

    /// The first value of a tuple with these items.
    fn first(items: &[Value]) -> Value {
        let mut depth = 0;
        let mut nodes = items.len() as u64;
        for v in items {
            let inner = match v {
                Value::Tuple(inner) => inner,
                Value::Method(m) => match &m.slf {
                    Some(Value::Tuple(inner)) => inner,
                    _ => continue,
                },
                _ => continue,
            };
            depth = depth.max(inner.depth());
            nodes = nodes.saturating_add(inner.nodes());
        }
        let nodes = nodes.min((1 << NODES) - 1);
        Value::Int(i64::from(depth.min(u32::MAX >> 10) + 1) << NODES | nodes as i64)
    }
}

impl std::ops::Deref for Tuple {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.0[1..]
    }
}

impl From<&[Value]> for Tuple {
    fn from(items: &[Value]) -> Tuple {
        let first = Tuple::first(items);
        Tuple(
            std::iter::once(first)
                .chain(items.iter().cloned())
                .collect(),
        )
    }
}

impl FromIterator<Value> for Tuple {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Tuple {
        let items: Vec<Value> = items.into_iter().collect();
        let first = Tuple::first(&items);
        Tuple(std::iter::once(first).chain(items).collect())
    }
}

/// A function bound to an instance or class (RPython programs see it as a PBC).
#[derive(Clone, Debug)]
pub(crate) struct Method {
    /// The function, written in Python or builtin.
    pub(crate) func: Value,
    /// What it is bound to; None for unbound methods.
    pub(crate) slf: Option<Value>,
    /// The class it was looked up on.
    pub(crate) class: Ref,
}

/// A function and the object that it is bound to, both objects of the heap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Bound {
    /// The function, written in Python or builtin.
    pub(crate) func: Ref,
    /// The object.
    pub(crate) slf: Ref,
    /// The class it was looked up on.
    pub(crate) class: Ref,
    /// Distinguishes bound methods that are equal but not identical.
    pub(crate) number: u32,
}

impl Bound {
    /// The general form of the bound method.
    pub(crate) fn method(self) -> Method {
        Method {
            func: Value::Ref(self.func),
            slf: Some(Value::Ref(self.slf)),
            class: self.class,
        }
    }
}

impl Value {
    /// The parts of a bound or unbound method.
    pub(crate) fn as_method(&self) -> Option<Method> {
        match self {
            Value::Bound(m) => Some(m.method()),
            Value::Method(m) => Some((**m).clone()),
            _ => None,
        }
    }

    /// A byte string.
    pub(crate) fn str(s: &str) -> Value {
        Value::bytes(s.as_bytes())
    }

    /// A byte string.
    pub(crate) fn bytes(s: &[u8]) -> Value {
        Value::Str(match s {
            [] => SHORT.empty.clone(),
            [c] => SHORT.characters[usize::from(*c)].clone(),
            _ => s.into(),
        })
    }

    /// `a + b` for byte strings.
    pub(crate) fn joined(a: &[u8], b: &[u8]) -> Value {
        // One allocation: an `Arc` cannot take over the buffer of a vector.
        let mut whole: Arc<[u8]> = std::iter::repeat_n(0, a.len() + b.len()).collect();
        if let Some(bytes) = Arc::get_mut(&mut whole) {
            bytes[..a.len()].copy_from_slice(a);
            bytes[a.len()..].copy_from_slice(b);
        }
        Value::Str(whole)
    }

    /// A tuple.
    pub(crate) fn tuple(items: Vec<Value>) -> Value {
        Value::Tuple(items.into_iter().collect())
    }

    /// A `long`.
    pub(crate) fn long(v: BigInt) -> Value {
        Value::Long(Arc::new(v))
    }

    /// An `int` where it fits, else a `long`.
    pub(crate) fn int_or_long(v: BigInt) -> Value {
        match v.to_i64() {
            Some(i) => Value::Int(i),
            None => Value::long(v),
        }
    }

    /// A unicode string.
    pub(crate) fn unicode(s: &str) -> Value {
        Value::Unicode(s.chars().map(u32::from).collect())
    }

    /// Whether it is `None`.
    pub(crate) fn is_none(&self) -> bool {
        matches!(self, Value::None)
    }

    /// The heap object, if it is one.
    pub(crate) fn as_ref(&self) -> Option<Ref> {
        match self {
            Value::Ref(r) => Some(*r),
            _ => None,
        }
    }

    /// The text of a byte string that is valid UTF-8.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Value::Str(s) => std::str::from_utf8(s).ok(),
            _ => None,
        }
    }

    /// `a is b`. Equal immutable numbers and strings are taken for one object where
    /// CPython may or may not do so.
    pub(crate) fn is(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::None, Value::None) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
            (Value::Complex(a), Value::Complex(b)) => a.to_const() == b.to_const(),
            (Value::Long(a), Value::Long(b)) => a == b,
            (Value::Str(a), Value::Str(b)) => Arc::ptr_eq(a, b) || (a.len() <= 1 && a == b),
            (Value::Unicode(a), Value::Unicode(b)) => Arc::ptr_eq(a, b) || (a.len() <= 1 && a == b),
            (Value::Tuple(a), Value::Tuple(b)) => a.is(b) || (a.is_empty() && b.is_empty()),
            (Value::Bound(a), Value::Bound(b)) => a == b,
            (Value::Method(a), Value::Method(b)) => Arc::ptr_eq(a, b),
            (Value::Ref(a), Value::Ref(b)) => a == b,
            _ => false,
        }
    }
}

impl From<bool> for Value {
    fn from(b: bool) -> Value {
        Value::Bool(b)
    }
}

impl From<i64> for Value {
    fn from(i: i64) -> Value {
        Value::Int(i)
    }
}

impl From<usize> for Value {
    fn from(i: usize) -> Value {
        Value::Int(i as i64)
    }
}

impl From<Ref> for Value {
    fn from(r: Ref) -> Value {
        Value::Ref(r)
    }
}
