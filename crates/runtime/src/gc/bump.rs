//! Allocation without a collector: memory is taken from the system in chunks and never given
//! back before the program ends.

use crate::memory::Stack;
use crate::pages::{try_map, unmap};
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

    fn take(&mut self, size: usize) -> Option<usize> {
        let size = size.checked_next_multiple_of(1 << 12)?;
        let at = try_map(size)?;
        self.chunks.push((at, size));
        self.bytes += size;
        Some(at)
    }

    /// Zeroed memory for an object, none if all objects would take more than `most` bytes or the
    /// system has no more. If `stress`, emitted code comes here for the next one, too.
    ///
    /// # Safety
    /// The caller is the mutator.
    pub(super) unsafe fn allocate(
        &mut self,
        size: usize,
        stress: bool,
        most: usize,
    ) -> Option<usize> {
        // SAFETY: the caller is the mutator, to which the words of the state belong.
        unsafe {
            let s = state();
            let left = self.end.saturating_sub((*s).nursery_free);
            let may_take = most.saturating_sub(self.bytes - left);
            if size > may_take {
                return None;
            }
            if size >= BIG {
                let at = self.take(size)?;
                // The chunk in use may not be used to its end any more.
                let top = (*s).nursery_free.saturating_add(may_take - size);
                (*s).nursery_top = (*s).nursery_top.min(top);
                return Some(at);
            }
            if left < size {
                (*s).nursery_free = self.take(CHUNK)?;
                self.end = (*s).nursery_free + CHUNK;
            }
            let at = (*s).nursery_free;
            (*s).nursery_free = at + size;
            (*s).nursery_top = match stress {
                true => at + size,
                false => self.end.min(at.saturating_add(may_take)),
            };
            Some(at)
        }
    }

    /// Has emitted code come here for the next object.
    pub(super) fn stop_allocation(&self) {
        // SAFETY: `Collector::None` has one caller, the mutator, to which the words of the state
        // belong.
        unsafe { (*state()).nursery_top = (*state()).nursery_free };
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
