//! The hash table behind dicts, sets and namespaces: keeps insertion order.
//!
//! Comparing keys may run Python code, so the table never compares by itself what
//! it cannot decide: see [`Dict::candidates`].

use std::cell::Cell;
use std::sync::Arc;

use super::value::Value;

thread_local! {
    static CLASS_VERSION: Cell<u64> = const { Cell::new(1) };
}

/// A number that changes when a name is added to the namespace of a class, removed from one or moved in one,
/// and when the bases of a class change. It is per thread: an interpreter stays on its thread.
#[inline]
pub(crate) fn class_version() -> u64 {
    CLASS_VERSION.get()
}

/// Invalidates all cached lookups along the bases of classes.
pub(crate) fn classes_changed() {
    CLASS_VERSION.set(CLASS_VERSION.get() + 1);
}

/// A table from values to values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dict {
    /// In insertion order; `key` is None where the entry was deleted.
    entries: Vec<Entry>,
    /// Open addressing into `entries`, a power of two in length; empty while there
    /// are few entries.
    index: Box<[u32]>,
    live: u32,
    /// The dict is the namespace of a class: see [`class_version`].
    of_class: bool,
    /// A bit per hash (see [`filter_bit`]) of the keys that there are or have been: most
    /// names that are looked up along a class's bases are in few of them.
    filter: u64,
}

/// A name to look up in several tables.
#[derive(Clone, Copy)]
pub(crate) struct Name<'a> {
    text: &'a [u8],
    hash: u64,
    /// The text is the only one of its kind: see [`Name::place`].
    interned: bool,
}

impl<'a> Name<'a> {
    /// A name with its hash.
    #[inline]
    pub(crate) fn new(text: &'a str) -> Self {
        Name {
            text: text.as_bytes(),
            hash: hash_bytes(text.as_bytes()),
            interned: false,
        }
    }

    /// The address of the text, if no other interned name of the same interpreter has an equal text.
    #[inline]
    pub(crate) fn place(self) -> Option<usize> {
        self.interned.then_some(self.text.as_ptr() as usize)
    }

    /// Its bytes.
    #[inline]
    pub(crate) fn text(self) -> &'a [u8] {
        self.text
    }

    /// Its hash.
    #[inline]
    pub(crate) fn hash(self) -> u64 {
        self.hash
    }
}

/// A name in a code object: an interned key with its hash. An interpreter has one for each text.
#[derive(Clone, Debug)]
pub(crate) struct KnownName {
    text: Arc<[u8]>,
    hash: u64,
}

impl KnownName {
    /// The name with this text.
    pub(crate) fn new(text: Arc<[u8]>) -> Self {
        KnownName {
            hash: hash_bytes(&text),
            text,
        }
    }

    /// The name as a key for lookups.
    #[inline]
    pub(crate) fn name(&self) -> Name<'_> {
        Name {
            text: &self.text,
            hash: self.hash,
            interned: true,
        }
    }
}

/// One entry.
#[derive(Clone, Debug)]
struct Entry {
    hash: u64,
    key: Option<Value>,
    value: Value,
}

const EMPTY: u32 = u32::MAX;
/// Tables up to this size are searched from end to end.
const SMALL: usize = 8;

impl Dict {
    /// Number of items.
    pub(crate) fn len(&self) -> usize {
        self.live as usize
    }

    /// Marks the dict as the namespace of a class.
    pub(crate) fn belong_to_class(&mut self) {
        self.of_class = true;
        classes_changed();
    }

    /// Notes that a name is added, removed or moved.
    #[inline]
    fn shape_changes(&self) {
        if self.of_class {
            classes_changed();
        }
    }

    /// Bytes that it takes, without what its keys and values take.
    pub(crate) fn size(&self) -> u64 {
        (self.entries.capacity() * size_of::<Entry>() + self.index.len() * size_of::<u32>()) as u64
    }

    /// Whether entries and gaps between them are in the same places, and hashes are equal.
    pub(crate) fn is_laid_out_like(&self, other: &Dict) -> bool {
        let place = |e: &Entry| (e.hash, e.key.is_some());
        self.of_class == other.of_class
            && self.index.len() == other.index.len()
            && self.entries.len() == other.entries.len()
            && self
                .entries
                .iter()
                .map(place)
                .eq(other.entries.iter().map(place))
    }

    /// Items in insertion order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Value, &Value)> {
        self.entries
            .iter()
            .filter_map(|e| Some((e.key.as_ref()?, &e.value)))
    }

    /// Items in insertion order, with the hashes of their keys.
    pub(crate) fn hashed(&self) -> impl Iterator<Item = (u64, &Value, &Value)> {
        self.entries
            .iter()
            .filter_map(|e| Some((e.hash, e.key.as_ref()?, &e.value)))
    }

    /// Whether the dict is the namespace of a class.
    pub(crate) fn is_of_class(&self) -> bool {
        self.of_class
    }

    /// Keys in insertion order.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &Value> {
        self.iter().map(|(k, _)| k)
    }

    /// Values in insertion order.
    pub(crate) fn values(&self) -> impl Iterator<Item = &Value> {
        self.iter().map(|(_, v)| v)
    }

    /// Position after the first live entry at or after `at`, with that entry: for
    /// iterators that live across changes.
    pub(crate) fn next_from(&self, mut at: usize) -> Option<(usize, &Value, &Value)> {
        while let Some(e) = self.entries.get(at) {
            at += 1;
            if let Some(k) = &e.key {
                return Some((at, k, &e.value));
            }
        }
        None
    }

    /// Slot of the first entry with that hash for which `eq` holds.
    #[inline]
    pub(crate) fn find(&self, hash: u64, mut eq: impl FnMut(&Value) -> bool) -> Option<usize> {
        if self.index.is_empty() {
            return self
                .entries
                .iter()
                .position(|e| e.hash == hash && e.key.as_ref().is_some_and(&mut eq));
        }
        let mask = self.index.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = self.index[at];
            if slot == EMPTY {
                return None;
            }
            let e = &self.entries[slot as usize];
            if e.hash == hash && e.key.as_ref().is_some_and(&mut eq) {
                return Some(slot as usize);
            }
            at = (at + 1) & mask;
        }
    }

    /// Slots and keys of the entries with that hash.
    pub(crate) fn candidates(&self, hash: u64) -> Vec<(usize, Value)> {
        let mut found = Vec::new();
        self.find(hash, |k| {
            found.push(k.clone());
            false
        });
        let keys = found;
        keys.into_iter()
            .filter_map(|k| Some((self.find(hash, |x| x.is(&k))?, k)))
            .collect()
    }

    /// The value in a slot.
    pub(crate) fn at(&self, slot: usize) -> &Value {
        &self.entries[slot].value
    }

    /// The value in a slot, to be replaced.
    pub(crate) fn at_mut(&mut self, slot: usize) -> &mut Value {
        &mut self.entries[slot].value
    }

    /// Replaces the value in a slot.
    pub(crate) fn set_at(&mut self, slot: usize, value: Value) {
        self.entries[slot].value = value;
    }

    /// Adds an item whose key is not there yet.
    pub(crate) fn push(&mut self, hash: u64, key: Value, value: Value) {
        self.shape_changes();
        if self.entries.len() >= SMALL && self.entries.len() * 2 >= self.index.len() {
            self.rebuild();
        }
        let slot = self.entries.len() as u32;
        self.filter |= filter_bit(hash);
        self.entries.push(Entry {
            hash,
            key: Some(key),
            value,
        });
        self.live += 1;
        if !self.index.is_empty() {
            self.link(hash, slot);
        }
    }

    /// Takes an item out.
    pub(crate) fn remove_at(&mut self, slot: usize) -> (Value, Value) {
        self.shape_changes();
        let e = &mut self.entries[slot];
        let key = e.key.take().expect("slot of a live entry");
        let value = std::mem::replace(&mut e.value, Value::None);
        self.live -= 1;
        if self.live == 0 {
            self.clear();
        } else if slot + 1 == self.entries.len() && self.index.is_empty() {
            self.entries.pop();
        }
        (key, value)
    }

    /// Takes the last item out.
    pub(crate) fn pop_last(&mut self) -> Option<(Value, Value)> {
        let slot = self.entries.iter().rposition(|e| e.key.is_some())?;
        Some(self.remove_at(slot))
    }

    /// Takes all items out.
    pub(crate) fn clear(&mut self) {
        self.shape_changes();
        self.entries.clear();
        self.index = Box::default();
        self.live = 0;
        self.filter = 0;
    }

    /// The value of a byte string key.
    pub(crate) fn get_str(&self, key: &str) -> Option<&Value> {
        self.get_name(Name::new(key))
    }

    /// The value of a byte string key.
    #[inline]
    pub(crate) fn get_name(&self, key: Name<'_>) -> Option<&Value> {
        let slot = self.find_name(key)?;
        Some(&self.entries[slot].value)
    }

    /// The value of a name that is likely to be in the same slot as the last one that was looked up.
    #[inline(always)]
    pub(crate) fn get_hinted(&self, key: Name<'_>, hint: &Cell<u32>) -> Option<&Value> {
        Some(&self.entries[self.hinted_slot(key, hint)?].value)
    }

    /// The slot of a name that is likely to be in the same slot as the last one that was looked up.
    #[inline(always)]
    pub(crate) fn hinted_slot(&self, key: Name<'_>, hint: &Cell<u32>) -> Option<usize> {
        let last = hint.get() as usize;
        if let Some(e) = self.entries.get(last)
            && let Some(Value::Str(s)) = &e.key
            && std::ptr::eq(s.as_ptr(), key.text.as_ptr())
        {
            return Some(last);
        }
        let slot = self.find_name(key)?;
        hint.set(slot as u32);
        Some(slot)
    }

    /// Sets the value of a byte string key.
    pub(crate) fn set_str(&mut self, key: &str, value: Value) {
        match self.find_str(key) {
            Some(slot) => self.set_at(slot, value),
            None => self.push(hash_bytes(key.as_bytes()), Value::str(key), value),
        }
    }

    /// Sets the value of a name.
    pub(crate) fn set_known(&mut self, key: &KnownName, value: Value) {
        match self.find_name(key.name()) {
            Some(slot) => self.set_at(slot, value),
            None => self.push(key.hash, Value::Str(key.text.clone()), value),
        }
    }

    /// Takes out the item of a byte string key.
    pub(crate) fn remove_str(&mut self, key: &str) -> Option<Value> {
        let slot = self.find_str(key)?;
        Some(self.remove_at(slot).1)
    }

    fn find_str(&self, key: &str) -> Option<usize> {
        self.find_name(Name::new(key))
    }

    /// Slot of a byte string key.
    #[inline]
    pub(crate) fn find_name(&self, Name { text, hash, .. }: Name<'_>) -> Option<usize> {
        if self.filter & filter_bit(hash) == 0 {
            return None;
        }
        self.find(hash, |k| match k {
            Value::Str(s) => {
                s.len() == text.len() && (std::ptr::eq(s.as_ptr(), text.as_ptr()) || **s == *text)
            }
            // `u'a'` is the same key as `'a'`.
            Value::Unicode(s) => s.iter().copied().eq(text.iter().map(|b| u32::from(*b))),
            _ => false,
        })
    }

    fn link(&mut self, hash: u64, slot: u32) {
        let mask = self.index.len() - 1;
        let mut at = hash as usize & mask;
        while self.index[at] != EMPTY {
            at = (at + 1) & mask;
        }
        self.index[at] = slot;
    }

    /// Drops deleted entries and makes the index anew, four slots per entry.
    fn rebuild(&mut self) {
        self.entries.retain(|e| e.key.is_some());
        let size = ((self.entries.len() + 1) * 4).next_power_of_two();
        self.index = vec![EMPTY; size].into_boxed_slice();
        for slot in 0..self.entries.len() {
            self.link(self.entries[slot].hash, slot as u32);
        }
    }
}

/// Hash of a byte string. Also what `hash()` answers, so it is fixed for good.
pub(crate) fn hash_bytes(s: &[u8]) -> u64 {
    let mut h: u64 = s.len() as u64;
    let mut chunks = s.chunks_exact(8);
    for c in &mut chunks {
        h = mix(h, u64::from_le_bytes(c.try_into().expect("eight bytes")));
    }
    let mut last = 0u64;
    for b in chunks.remainder() {
        last = last << 8 | u64::from(*b);
    }
    h = mix(h, last);
    h ^ (h >> 32)
}

/// The bit of a hash in [`Dict::filter`].
fn filter_bit(hash: u64) -> u64 {
    1 << (hash >> 58)
}

/// One round of hashing.
pub(crate) fn mix(h: u64, v: u64) -> u64 {
    (h.rotate_left(5) ^ v).wrapping_mul(0x517c_c1b7_2722_0a95)
}
