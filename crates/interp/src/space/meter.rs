//! How much import time may take: steps, memory, and time between two looks at cancellation.
//!
//! ```text
//! work(n)     every instruction, every item of an iterator, and per so many bytes of bulk work:
//!             counts steps, looks at cancellation, has memory measured
//! reserve(n)  before a large allocation
//! gather(v)   a builtin function keeps a value in a buffer of its own
//! measure()   the memory that is in use
//! ```
//!
//! Memory is counted by sizes of values, not by what the process has, so that the same program
//! ends at the same instruction everywhere. Allocations add to [`Heap::fresh`]. Only where that
//! exceeds the remaining room are the values that are still in use measured: objects of the
//! heap, which are never freed, strings and tuples that they refer to, large values that only
//! frames hold, and the buffers of builtin functions.

use std::sync::{Arc, Weak};

use num_bigint::BigInt;
use rustc_hash::{FxHashMap, FxHashSet};
use taipan_code::CodeId;
use taipan_engine::{Frame, Unwind};

use super::heap::{Heap, Kind, Object};
use super::iter::Iter;
use super::value::{Method, Tuple, Value};
use super::{Fatal, Interp, R};

/// Steps between two looks at cancellation.
const LOOK: u64 = 2048;
/// Bytes that are copied or compared in about the time of a step.
const BYTES_PER_STEP: u64 = 4096;
/// Items that are copied in about the time of a step.
const ITEMS_PER_STEP: u64 = 256;
/// Products of two digits of 64 bits that are computed in about the time of a step.
const PRODUCTS_PER_STEP: u64 = 256;
/// Products of digits that one operation on long integers may take: a tenth of a second.
const MOST_PRODUCTS: u64 = 1 << 28;
/// Size of values that are followed while only frames hold them.
const LARGE: u64 = 4096;
/// Bytes of large values after which those that are gone are looked for.
const SWEEP: u64 = 64 << 20;
/// Size of an entry of a table, with its share of the index.
pub(crate) const ENTRY: u64 = 64;
/// About what the code of a body takes, and what it takes for each byte of its text.
const BODY: u64 = 4096;
const CODE_PER_BYTE: u64 = 16;
/// Counts of references before the contents of a shared block.
const COUNTS: u64 = 16;
/// Objects have numbers of 32 bits.
const MOST_OBJECTS: usize = u32::MAX as usize;

/// The state of the count.
pub(crate) struct Meter {
    limit: Option<u64>,
    /// Bytes that may be allocated before memory is measured.
    room: u64,
    /// Bytes in use when memory was last measured.
    held: u64,
    /// Bytes that the buffers of running builtin functions hold.
    gathered: u64,
    /// Bytes that are never freed besides those of the heap: bodies of `exec`.
    kept: u64,
    /// The bodies among these.
    compiled: FxHashSet<CodeId>,
    /// Large values, by address.
    large: FxHashMap<usize, Large>,
    /// Bytes of large values that were added since the last sweep.
    unswept: u64,
    /// Bytes of large values after the last sweep.
    swept: u64,
    /// The number of remaining steps at which cancellation is checked next.
    look_at: u64,
    /// Import time has ended at its limit of memory.
    exhausted: bool,
}

/// A large value, which it does not keep.
enum Large {
    Str(Weak<[u8]>),
    Unicode(Weak<[u32]>),
    Tuple(Weak<[Value]>),
    Long(Weak<BigInt>),
}

impl Large {
    /// The value, if it is large.
    fn of(v: &Value) -> Option<(usize, Large)> {
        if own_size(v) < LARGE {
            return None;
        }
        Some(match v {
            Value::Str(s) => (address(s), Large::Str(Arc::downgrade(s))),
            Value::Unicode(s) => (address(s), Large::Unicode(Arc::downgrade(s))),
            Value::Tuple(t) => (
                address(t.shared()),
                Large::Tuple(Arc::downgrade(t.shared())),
            ),
            Value::Long(n) => (address(n), Large::Long(Arc::downgrade(n))),
            _ => return None,
        })
    }

    fn value(&self) -> Option<Value> {
        Some(match self {
            Large::Str(s) => Value::Str(s.upgrade()?),
            Large::Unicode(s) => Value::Unicode(s.upgrade()?),
            Large::Tuple(t) => Value::Tuple(Tuple::sharing(t.upgrade()?)),
            Large::Long(n) => Value::Long(n.upgrade()?),
        })
    }
}

impl Meter {
    /// A count of at most `limit` bytes.
    pub(crate) fn new(limit: Option<u64>) -> Meter {
        Meter {
            limit,
            room: limit.unwrap_or(u64::MAX),
            held: 0,
            gathered: 0,
            kept: 0,
            compiled: FxHashSet::default(),
            large: FxHashMap::default(),
            unswept: 0,
            swept: 0,
            look_at: u64::MAX,
            exhausted: false,
        }
    }

    /// Bytes that the buffers of running builtin functions hold.
    pub(crate) fn gathered(&self) -> u64 {
        self.gathered
    }

    /// Goes back to a number of such bytes.
    pub(crate) fn set_gathered(&mut self, bytes: u64) {
        self.gathered = bytes;
    }

    /// Whether import time has ended at its limit of memory.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.exhausted
    }

    /// Checks cancellation at the next step, after the number of remaining steps was set.
    pub(crate) fn steps_are_set(&mut self) {
        self.look_at = u64::MAX;
    }

    /// Follows a value if it is large. Returns whether it is new.
    fn follow(&mut self, v: &Value) -> bool {
        let Some((at, large)) = Large::of(v) else {
            return true;
        };
        // Visited values stay alive, so their addresses are not reused.
        if self.large.insert(at, large).is_some() {
            return false;
        }
        self.unswept += own_size(v);
        if self.unswept > SWEEP.max(self.swept) {
            self.sweep();
        }
        true
    }

    /// Forgets large values that are gone.
    fn sweep(&mut self) {
        self.unswept = 0;
        self.swept = 0;
        let swept = &mut self.swept;
        self.large.retain(|_, large| match large.value() {
            Some(v) => {
                *swept += own_size(&v);
                true
            }
            None => false,
        });
    }
}

impl Interp<'_> {
    /// Counts steps. Ends import time at its limits, and where its result is not needed
    /// any more.
    #[inline]
    pub(crate) fn work(&mut self, steps: u64) -> R<()> {
        let Some(left) = self.steps.checked_sub(steps) else {
            self.steps = 0;
            return Err(Unwind::Stop(Fatal::StepLimit));
        };
        self.steps = left;
        if left <= self.meter.look_at || self.heap.fresh > self.meter.room {
            return self.look();
        }
        Ok(())
    }

    /// Whether memory has to be measured.
    #[inline(always)]
    pub(crate) fn memory_is_due(&self) -> bool {
        self.heap.fresh > self.meter.room
    }

    #[cold]
    fn look(&mut self) -> R<()> {
        if self.steps <= self.meter.look_at {
            self.meter.look_at = self.steps.saturating_sub(LOOK);
            self.db.unwind_if_revision_cancelled();
            if self.heap.made() >= MOST_OBJECTS {
                return self.exhausted();
            }
        }
        if self.heap.fresh > self.meter.room {
            self.measure()?;
        }
        Ok(())
    }

    fn exhausted<T>(&mut self) -> R<T> {
        self.meter.exhausted = true;
        Err(Unwind::Stop(Fatal::MemoryLimit))
    }

    /// Counts the steps of bulk work on a number of bytes.
    pub(crate) fn work_bytes(&mut self, bytes: usize) -> R<()> {
        match bytes as u64 / BYTES_PER_STEP {
            0 => Ok(()),
            steps => self.work(steps),
        }
    }

    /// Counts the steps of bulk work on a number of items; it runs no code of the program.
    pub(crate) fn work_items(&mut self, items: usize) -> R<()> {
        match items as u64 / ITEMS_PER_STEP {
            0 => Ok(()),
            steps => self.work(steps),
        }
    }

    /// Counts the steps of an operation on long integers that multiplies so many pairs of
    /// digits. It cannot be interrupted, so it is not begun if it takes too long.
    pub(crate) fn work_long(&mut self, products: u64) -> R<()> {
        if products > MOST_PRODUCTS {
            return Err(Unwind::Stop(Fatal::LongOperation));
        }
        match products / PRODUCTS_PER_STEP {
            0 => Ok(()),
            steps => self.work(steps),
        }
    }

    /// Counts a value that an operation or a builtin function has made.
    pub(crate) fn made(&mut self, v: &Value) -> R<()> {
        let size = own_size(v);
        if size == 0 {
            return Ok(());
        }
        if self.meter.limit.is_none() || size < LARGE || self.meter.follow(v) {
            self.heap.fresh += size;
        }
        self.work_bytes(size as usize)
    }

    /// Ends import time if so many bytes more exceed its memory. For large allocations that are
    /// about to be made: they count when they are there.
    pub(crate) fn reserve(&mut self, bytes: u64) -> R<()> {
        let Some(limit) = self.meter.limit else {
            return Ok(());
        };
        if self.heap.fresh.saturating_add(bytes) <= self.meter.room {
            return Ok(());
        }
        self.measure()?;
        if self.meter.held.saturating_add(bytes) > limit {
            return self.exhausted();
        }
        Ok(())
    }

    /// Counts a value that a builtin function keeps in a buffer of its own, until it ends.
    pub(crate) fn gather(&mut self, v: &Value) -> R<()> {
        self.gather_bytes(size_of::<Value>() as u64 + own_size(v))
    }

    /// Counts what a builtin function keeps in a buffer of its own, until it ends.
    pub(crate) fn gather_bytes(&mut self, bytes: u64) -> R<()> {
        self.meter.gathered += bytes;
        self.heap.fresh += bytes;
        if self.heap.fresh > self.meter.room {
            return self.measure();
        }
        Ok(())
    }

    /// Counts the code of a text, which is kept for good.
    pub(crate) fn keep_code(&mut self, code: CodeId, text: &str) {
        if self.meter.compiled.insert(code) {
            let bytes = BODY + CODE_PER_BYTE * text.len() as u64;
            self.meter.kept += bytes;
            self.heap.fresh += bytes;
        }
    }

    /// Runs something whose buffers are gone afterwards.
    #[inline]
    pub(crate) fn with_buffers<T>(&mut self, run: impl FnOnce(&mut Self) -> R<T>) -> R<T> {
        let gathered = self.meter.gathered;
        let result = run(self);
        self.meter.gathered = gathered;
        result
    }

    /// Measures the memory that is in use.
    fn measure(&mut self) -> R<()> {
        let Some(limit) = self.meter.limit else {
            self.meter.room = u64::MAX;
            return Ok(());
        };
        // Sizes of objects of replayed units are unknown.
        self.drop_record();
        let mut found = Measure::default();
        self.heap.each_own(|o| found.object(o));
        self.meter.sweep();
        for v in self.meter.large.values().filter_map(Large::value) {
            found.values.push(v);
        }
        found.finish();
        let printed = 2 * (self.printed.capacity() + self.out.capacity());
        let written = self.written.size();
        self.meter.held =
            found.bytes + self.meter.gathered + self.meter.kept + (printed + written) as u64;
        self.heap.fresh = 0;
        if self.meter.held > limit {
            return self.exhausted();
        }
        // Near the limit as well, some work is done between two measurements.
        self.meter.room = (limit - self.meter.held).max(limit / 16);
        Ok(())
    }
}

/// A measurement.
#[derive(Default)]
struct Measure {
    bytes: u64,
    /// Shared blocks that were counted, by address.
    seen: FxHashSet<usize>,
    /// Values that are still to be counted.
    values: Vec<Value>,
}

impl Measure {
    fn object(&mut self, o: &Object) {
        self.bytes += size_of::<Object>() as u64 + shallow(&o.kind);
        self.contents(&o.kind);
        self.finish();
    }

    fn finish(&mut self) {
        while let Some(v) = self.values.pop() {
            self.value(&v);
        }
    }

    fn all<'v>(&mut self, values: impl IntoIterator<Item = &'v Value>) {
        for v in values {
            // Nested tuples wait: they may be nested deep.
            if matches!(v, Value::Tuple(_) | Value::Method(_)) {
                self.values.push(v.clone());
            } else {
                self.value(v);
            }
        }
    }

    fn value(&mut self, v: &Value) {
        let at = match v {
            Value::Str(s) => address(s),
            Value::Unicode(s) => address(s),
            Value::Tuple(t) => address(t.shared()),
            Value::Long(n) => address(n),
            Value::Method(m) => address(m),
            _ => return,
        };
        if !self.seen.insert(at) {
            return;
        }
        self.bytes += own_size(v);
        match v {
            Value::Tuple(t) => self.all(t.iter()),
            Value::Method(m) => {
                self.all([&m.func]);
                self.all(&m.slf);
            }
            _ => {}
        }
    }

    /// The values in an object.
    fn contents(&mut self, kind: &Kind) {
        if let Kind::File(f) = kind
            && self.seen.insert(address(&f.data))
        {
            self.bytes += f.data.len() as u64;
        }
        kind.each_value(&mut |v| self.all([v]));
    }
}

/// The address of a shared block.
fn address<T: ?Sized>(block: &Arc<T>) -> usize {
    Arc::as_ptr(block).cast::<u8>() as usize
}

/// Size of a value without its slot and the values in it.
pub(crate) fn own_size(v: &Value) -> u64 {
    match v {
        Value::Str(s) => COUNTS + s.len() as u64,
        Value::Unicode(s) => COUNTS + size_of_val(&**s) as u64,
        Value::Tuple(t) => COUNTS + (size_of::<Value>() + size_of_val(&**t)) as u64,
        Value::Long(n) => COUNTS + size_of::<BigInt>() as u64 + n.bits() / 8,
        Value::Method(_) => COUNTS + size_of::<Method>() as u64,
        Value::None
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Complex(_)
        | Value::Bound(_)
        | Value::Ref(_) => 0,
    }
}

fn values(capacity: usize) -> u64 {
    (capacity * size_of::<Value>()) as u64
}

/// Size of an object without its slot in the heap and the strings and tuples in it.
pub(crate) fn shallow(kind: &Kind) -> u64 {
    match kind {
        Kind::List(items) => values(items.capacity()),
        Kind::Dict(d) | Kind::Set(d) | Kind::FrozenSet(d) => d.size(),
        Kind::Class(c) => {
            (size_of_val(&**c) + size_of_val(&c.mro[..]) + size_of_val(&c.subclasses[..])) as u64
        }
        Kind::Function(f) => {
            size_of_val(&**f) as u64 + values(f.defaults.len()) + values(f.closure.len())
        }
        Kind::Iter(state) => {
            let own = size_of_val(&**state) as u64;
            match &**state {
                Iter::Values(items) => own + values(items.len()),
                _ => own,
            }
        }
        Kind::Generator(g) => {
            let frame = g.frame.as_ref();
            let slots = frame.map_or(0, |f| f.locals.capacity() + f.stack.capacity());
            (size_of_val(&**g) + size_of::<Frame<Value>>()) as u64 + values(slots)
        }
        Kind::Exception(e) => (size_of_val(&**e) + size_of_val(&e.traceback[..])) as u64,
        Kind::LLContainer(c) => size_of_val(&**c) as u64 + values(c.parts.capacity()),
        Kind::Match(m) => m.size(),
        Kind::Module(name) | Kind::Opaque(name) | Kind::Absent(name) | Kind::Member(name) => {
            name.len() as u64
        }
        Kind::Regex(_) => super::modules::re::SIZE,
        Kind::File(f) => size_of_val(&**f) as u64,
        Kind::WeakRef(w) => size_of_val(&**w) as u64,
        Kind::LLFunction(f) => size_of_val(&**f) as u64,
        Kind::Property(parts) => size_of_val(&**parts) as u64,
        Kind::Slice(parts) => size_of_val(&**parts) as u64,
        Kind::Plain
        | Kind::Boxed(_)
        | Kind::Builtin(_)
        | Kind::Cell(_)
        | Kind::StaticMethod(_)
        | Kind::ClassMethod(_)
        | Kind::Super(..)
        | Kind::XRange(..)
        | Kind::Code(_)
        | Kind::Closed
        | Kind::Singleton(_)
        | Kind::LLType(_)
        | Kind::LLPtr(_) => 0,
    }
}

impl Heap {
    /// Every object that is this heap's own: made here, or changed here.
    fn each_own(&self, mut f: impl FnMut(&Object)) {
        let (made, changed) = self.own_objects();
        changed.for_each(&mut f);
        made.iter().for_each(f);
    }
}
