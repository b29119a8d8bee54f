//! Notes of accesses to the heap, for records of import time ([`super::units`]).
//!
//! ```text
//! epoch 4   | epoch 5      | epoch 6        an epoch ends where a unit begins or ends
//! reads a   | reads b      | reads a        notes: epoch 4 reads a, epoch 5 reads b, epoch 6 reads a
//! b = [1]   | b = [1, 2]   |                       epoch 5 changes b, which held [1]
//! ```
//!
//! An object that was made in the same epoch has no notes.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use super::heap::{Object, Ref};
use super::meter::shallow;

/// Maximum size of old contents, in bytes, and maximum number of reads.
const MOST_BYTES: u64 = 1 << 30;
const MOST_READS: usize = 64 << 20;

/// Notes of what happens in a heap.
#[derive(Debug)]
pub(crate) enum Journal {
    /// Objects that are read, and old contents of those that are changed.
    Record(Epochs),
    /// Objects that are changed.
    Changes(Changes),
}

impl Journal {
    /// Notes that an object is read.
    pub(crate) fn read(&self, r: Ref) {
        match self {
            Journal::Record(epochs) => epochs.read(r),
            Journal::Changes(_) => {}
        }
    }

    /// Notes that an object is about to be changed.
    pub(crate) fn write(&mut self, r: Ref, object: &Object) {
        match self {
            Journal::Record(epochs) => epochs.write(r, object),
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

/// Reads and changes by epoch.
#[derive(Debug, Default)]
pub(crate) struct Epochs {
    /// The last epoch that read each object.
    read_in: Vec<AtomicU32>,
    /// The last epoch that changed each object.
    changed_in: Vec<u32>,
    reads: Mutex<Vec<Ref>>,
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

    fn read(&self, r: Ref) {
        let Some(last) = self.read_in.get(r.0 as usize) else {
            return;
        };
        if last.load(Ordering::Relaxed) != self.now() {
            last.store(self.now(), Ordering::Relaxed);
            let mut reads = self.reads.lock().unwrap_or_else(PoisonError::into_inner);
            if reads.len() <= MOST_READS {
                reads.push(r);
            }
        }
    }

    fn write(&mut self, r: Ref, object: &Object) {
        self.read(r);
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
    pub(crate) fn finish(self) -> (Vec<Ref>, Vec<(Ref, Object)>, Vec<Mark>) {
        let reads = self.reads.into_inner();
        let reads = reads.unwrap_or_else(PoisonError::into_inner);
        (reads, self.notes, self.marks)
    }
}

/// Objects that were changed since the changes were last taken.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// By object: the number of the taking before which it was last changed.
    changed_in: Vec<u32>,
    takings: u32,
    changed: Vec<Ref>,
}

impl Changes {
    fn write(&mut self, r: Ref) {
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
