//! Objects too large for the nursery or for cells: one `malloc` each.
//!
//! Long arrays of pointers have cards, bytes before the object that say which parts
//! were written to, so that a store does not make the next minor collection visit all
//! of a big array:
//!
//! ```text
//! ... card 2 │ card 1 │ card 0 │ listed │ header, length, items
//! ```

use super::header::MARKED;
use crate::memory::Stack;
use crate::{exc, sys};

/// Number of items that a card stands for. One barrier counts for all of the first ones.
pub const CARD_ITEMS: usize = 128;

/// The list of large objects.
pub(crate) struct LargeSpace {
    objects: Stack<LargeObject>,
    /// Their total size.
    pub(crate) bytes: usize,
}

#[derive(Clone, Copy)]
struct LargeObject {
    obj: usize,
    size: usize,
    /// Bytes before the object.
    prefix: usize,
}

impl LargeObject {
    unsafe fn free(self) {
        // SAFETY: this is where the memory starts; the caller vouches for its end.
        unsafe { sys::free((self.obj - self.prefix) as *mut _) }
    }
}

impl LargeSpace {
    pub(crate) const fn new() -> Self {
        LargeSpace {
            objects: Stack::new(),
            bytes: 0,
        }
    }

    /// Zeroed memory for a large object, whose header the caller sets, with cards for
    /// that many items.
    pub(crate) fn allocate(&mut self, size: usize, carded_items: usize) -> usize {
        let prefix = match carded_items {
            0 => 0,
            n => (n.div_ceil(CARD_ITEMS) + 1).next_multiple_of(16),
        };
        // SAFETY: any size may be asked for.
        let p = unsafe { sys::calloc(1, size + prefix) } as usize;
        if p == 0 {
            exc::out_of_memory();
        }
        let obj = p + prefix;
        self.objects.push(LargeObject { obj, size, prefix });
        self.bytes += size;
        obj
    }

    /// Frees what is not marked, and unmarks the rest.
    pub(crate) fn sweep(&mut self) {
        let mut bytes = 0;
        self.objects.retain_map(|o| {
            // SAFETY: objects in the list are allocated and have a header.
            unsafe {
                let header = o.obj as *mut usize;
                if *header & MARKED == 0 {
                    o.free();
                    return None;
                }
                *header &= !MARKED;
            }
            bytes += o.size;
            Some(o)
        });
        self.bytes = bytes;
    }

    pub(crate) fn release(&mut self) {
        while let Some(o) = self.objects.pop() {
            // SAFETY: nothing uses the heap any more.
            unsafe { o.free() };
        }
        self.objects.release();
        self.bytes = 0;
    }
}

/// Marks the card of an item; whether no card of the object was marked before.
///
/// # Safety
/// The object has a card for that item.
pub(crate) unsafe fn mark_card(obj: usize, index: usize) -> bool {
    // SAFETY: by contract.
    unsafe {
        *card(obj, index / CARD_ITEMS) = 1;
        core::mem::replace(&mut *((obj - 1) as *mut u8), 1) == 0
    }
}

/// Takes the marks off an object of that many items and calls `f` with the numbers of
/// the cards that were marked.
///
/// # Safety
/// The object has cards for so many items.
pub(crate) unsafe fn take_cards(obj: usize, items: usize, mut f: impl FnMut(usize)) {
    // SAFETY: by contract.
    unsafe {
        *((obj - 1) as *mut u8) = 0;
        for i in 0..items.div_ceil(CARD_ITEMS) {
            if core::mem::replace(&mut *card(obj, i), 0) != 0 {
                f(i);
            }
        }
    }
}

fn card(obj: usize, number: usize) -> *mut u8 {
    (obj - 2 - number) as *mut u8
}
