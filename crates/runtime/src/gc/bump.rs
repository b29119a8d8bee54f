//! Allocation without a collector: memory is taken from the system in chunks and never given
//! back before the program ends.

use crate::memory::Stack;
use crate::pages::{map, unmap};
use crate::state::state;

use super::scaled;

/// What is taken from the system at once. Pages take space when they are first touched.
const CHUNK: usize = scaled(64 << 20);
/// Objects of this size and above get memory of their own.
const BIG: usize = CHUNK / 16;

/// All that was taken from the system. The chunk in use is the nursery of
/// [`crate::state::State`], so emitted code allocates there by itself.
pub(super) struct Bump {
    chunks: Stack<(usize, usize)>,
    /// Where the chunk in use ends.
    end: usize,
    /// The size of all.
    pub(super) bytes: usize,
}

impl Bump {
    pub(super) const fn new() -> Bump {
        Bump {
            chunks: Stack::new(),
            end: 0,
            bytes: 0,
        }
    }

    fn take(&mut self, size: usize) -> usize {
        let size = size.next_multiple_of(1 << 12);
        let at = map(size);
        self.chunks.push((at, size));
        self.bytes += size;
        at
    }

    /// Zeroed memory for an object. If `stress`, emitted code comes here for the next one,
    /// too.
    ///
    /// # Safety
    /// The caller is the mutator.
    pub(super) unsafe fn allocate(&mut self, size: usize, stress: bool) -> usize {
        if size >= BIG {
            return self.take(size);
        }
        // SAFETY: the mutator's own words.
        unsafe {
            let s = state();
            if self.end.saturating_sub((*s).nursery_free) < size {
                (*s).nursery_free = self.take(CHUNK);
                self.end = (*s).nursery_free + CHUNK;
            }
            let at = (*s).nursery_free;
            (*s).nursery_free = at + size;
            (*s).nursery_top = if stress { at + size } else { self.end };
            at
        }
    }

    pub(super) fn release(&mut self) {
        while let Some((at, size)) = self.chunks.pop() {
            // SAFETY: nothing uses the heap any more.
            unsafe { unmap(at, size) };
        }
        self.chunks.release();
        *self = Bump::new();
    }
}
