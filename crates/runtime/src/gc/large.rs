//! Objects too large for the nursery or for cells: one `malloc` each.

use super::header::MARKED;
use crate::memory::Stack;
use crate::{exc, sys};

/// The list of large objects with their sizes.
pub(crate) struct LargeSpace {
    objects: Stack<(usize, usize)>,
    /// Their total size.
    pub(crate) bytes: usize,
}

impl LargeSpace {
    pub(crate) const fn new() -> Self {
        LargeSpace {
            objects: Stack::new(),
            bytes: 0,
        }
    }

    /// Zeroed memory for a large object, whose header the caller sets.
    pub(crate) fn allocate(&mut self, size: usize) -> usize {
        // SAFETY: any size may be asked for.
        let p = unsafe { sys::calloc(1, size) } as usize;
        if p == 0 {
            exc::out_of_memory();
        }
        self.objects.push((p, size));
        self.bytes += size;
        p
    }

    /// Frees what is not marked, and unmarks the rest.
    pub(crate) fn sweep(&mut self) {
        let mut bytes = 0;
        self.objects.retain_map(|(obj, size)| {
            // SAFETY: objects in the list are allocated and have a header.
            unsafe {
                let header = obj as *mut usize;
                if *header & MARKED == 0 {
                    sys::free(obj as *mut _);
                    return None;
                }
                *header &= !MARKED;
            }
            bytes += size;
            Some((obj, size))
        });
        self.bytes = bytes;
    }

    pub(crate) fn release(&mut self) {
        while let Some((obj, _)) = self.objects.pop() {
            // SAFETY: nothing uses the heap any more.
            unsafe { sys::free(obj as *mut _) };
        }
        self.objects.release();
        self.bytes = 0;
    }
}
