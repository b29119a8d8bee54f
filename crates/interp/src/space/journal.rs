//! Notes of accesses to the heap, for records of import time ([`super::units`]).
//!
//! ```text
//! epoch 4   | epoch 5      | epoch 6        an epoch ends where a unit begins or ends
//! reads a   | reads b      | reads a        notes: epoch 4 reads a, epoch 5 reads b, epoch 6 reads a
//! b = [1]   | b = [1, 2]   |                       epoch 5 changes b, which held [1]
//! ```
//!
//! An object that was made in the same epoch has no notes. A read is of an object, or of a [`Part`] of it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use super::dict::Name;
use super::heap::{Object, Ref};
use super::meter::shallow;

/// Maximum size of old contents, in bytes, and maximum number of reads.
const MOST_BYTES: u64 = 1 << 30;
const MOST_READS: usize = 64 << 20;

/// A part of an object that is read or changed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Part(u32);

impl Part {
    /// The whole content, without the number and the subclasses.
    pub(crate) const WHOLE: Part = Part(0);
    /// The number of its identity.
    pub(crate) const NUMBER: Part = Part(1);
    /// The subclasses of a class.
    pub(crate) const SUBCLASSES: Part = Part(2);

    /// The class and the kind of the object. They differ only between objects that differ as a whole.
    pub(crate) const KIND: Part = Part(3);

    /// The items of a table whose keys have this hash, or their absence.
    pub(crate) fn items(hash: u64) -> Part {
        Part(((hash >> 32) as u32 ^ hash as u32).max(4))
    }

    /// The item of a namespace, or its absence.
    pub(crate) fn name(name: Name<'_>) -> Part {
        Part::items(name.hash())
    }
}

/// Notes of the accesses to a heap.
#[derive(Debug)]
pub(crate) enum Journal {
    /// Objects that are read, and old contents of those that are changed.
    Record(Epochs),
    /// Objects that are changed.
    Changes(Changes),
}

impl Journal {
    /// Notes that an object is read.
    pub(crate) fn read(&self, r: Ref, part: Part) {
        match self {
            Journal::Record(epochs) => epochs.read(r, part),
            Journal::Changes(_) => {}
        }
    }

    /// Notes that an object is about to be changed. `part` is the part that the change depends on, if any.
    pub(crate) fn write(&mut self, r: Ref, part: Option<Part>, object: &Object) {
        match self {
            Journal::Record(epochs) => epochs.write(r, part, object),
            Journal::Changes(changes) => changes.write(r),
        }
    }
}

/// The beginning of an epoch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    /// Number of reads that were noted before.
    pub(crate) reads: usize,
    /// Number of old contents that were noted before.
    pub(crate) notes: usize,
    /// Number of inputs that were noted before.
    pub(crate) inputs: usize,
    /// Number of objects.
    pub(crate) objects: usize,
}

/// A read of an object, or of a part of it.
pub(crate) type Read = (Ref, Part);

/// The reads, in order.
#[derive(Debug, Default)]
struct Reads {
    all: Vec<Read>,
    /// A cache of reads of parts, each with its epoch: a read may replace another one.
    recent: Vec<(Ref, Part, u32)>,
}

/// Number of entries of the cache of reads, a power of two.
const RECENT: usize = 1 << 16;

impl Reads {
    /// Whether the cache lacks the read of a part in an epoch. The read is added.
    fn is_new(&mut self, r: Ref, part: Part, epoch: u32) -> bool {
        if self.recent.is_empty() {
            self.recent.resize(RECENT, (Ref(0), Part::WHOLE, 0));
        }
        let at = (r.0 ^ part.0.rotate_left(7)).wrapping_mul(0x9e37_79b9) >> 16;
        let read = (r, part, epoch);
        std::mem::replace(&mut self.recent[at as usize % RECENT], read) != read
    }
}

/// Reads and changes by epoch.
#[derive(Debug, Default)]
pub(crate) struct Epochs {
    /// The last epoch that read each object.
    read_in: Vec<AtomicU32>,
    /// The last epoch that changed each object.
    changed_in: Vec<u32>,
    reads: Mutex<Reads>,
    notes: Vec<(Ref, Object)>,
    /// Size of the contents in `notes`.
    bytes: u64,
    marks: Vec<Mark>,
}

impl Epochs {
    /// The number of the epoch, from 1.
    pub(crate) fn now(&self) -> u32 {
        self.marks.len() as u32
    }

    /// Begins an epoch.
    pub(crate) fn advance(&mut self, objects: usize, inputs: usize) {
        let reads = self
            .reads
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
            .all
            .len();
        self.marks.push(Mark {
            reads,
            notes: self.notes.len(),
            inputs,
            objects,
        });
        self.read_in.resize_with(objects, AtomicU32::default);
        self.changed_in.resize(objects, 0);
    }

    /// Whether there are more notes than records may have.
    pub(crate) fn is_full(&self) -> bool {
        let reads = self.marks.last().map_or(0, |m| m.reads);
        self.bytes > MOST_BYTES || reads > MOST_READS
    }

    fn read(&self, r: Ref, part: Part) {
        let Some(last) = self.read_in.get(r.0 as usize) else {
            return;
        };
        let now = self.now();
        // The whole does not include the number and the subclasses.
        let is_included = part != Part::NUMBER && part != Part::SUBCLASSES;
        if is_included && last.load(Ordering::Relaxed) == now {
            return;
        }
        let mut reads = self.reads.lock().unwrap_or_else(PoisonError::into_inner);
        if part == Part::WHOLE {
            last.store(now, Ordering::Relaxed);
        } else if !reads.is_new(r, part, now) {
            return;
        }
        if reads.all.len() <= MOST_READS {
            reads.all.push((r, part));
        }
    }

    fn write(&mut self, r: Ref, part: Option<Part>, object: &Object) {
        if let Some(part) = part {
            self.read(r, part);
        }
        let now = self.now();
        if let Some(last) = self.changed_in.get_mut(r.0 as usize)
            && *last != now
            && self.bytes <= MOST_BYTES
        {
            *last = now;
            self.bytes += size_of::<Object>() as u64 + shallow(&object.kind);
            self.notes.push((r, object.clone()));
        }
    }

    /// The reads, the old contents, and the beginnings of the epochs.
    pub(crate) fn finish(self) -> (Vec<Read>, Vec<(Ref, Object)>, Vec<Mark>) {
        let reads = self.reads.into_inner();
        let reads = reads.unwrap_or_else(PoisonError::into_inner);
        (reads.all, self.notes, self.marks)
    }
}

/// Objects that were changed since the changes were last taken.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// By object: the number of the call of [`Changes::take`] that returns its last change.
    changed_in: Vec<u32>,
    takings: u32,
    changed: Vec<Ref>,
}

impl Changes {
    /// Notes that an object is made or changed.
    pub(crate) fn write(&mut self, r: Ref) {
        let now = self.takings + 1;
        let at = r.0 as usize;
        if at >= self.changed_in.len() {
            self.changed_in.resize(at + at / 4 + 1, 0);
        }
        if self.changed_in[at] != now {
            self.changed_in[at] = now;
            self.changed.push(r);
        }
    }

    /// Takes the changed objects.
    pub(crate) fn take(&mut self) -> Vec<Ref> {
        self.takings += 1;
        std::mem::take(&mut self.changed)
    }
}
