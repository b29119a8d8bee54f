//! Objects too large for the nursery or for cells: one `malloc` each.
//!
//! The byte before an object says whether marking has reached it. Long arrays of pointers have
//! cards besides, bytes that say which parts were written to, so that a store does not make the
//! next minor collection visit all of a big array:
//!
//! ```text
//! ... card 2 │ card 1 │ card 0 │ listed │ marked │ header, length, items
//! ```

use super::POISON;
use crate::memory::Stack;
use crate::{exc, sys};

/// Number of items that a card stands for. One barrier counts for all of the first ones.
pub const CARD_ITEMS: usize = 128;

/// What a large object costs a sweep, as so many bytes of marking.
const SWEEP_COST: isize = 256;

/// The list of large objects.
pub(crate) struct LargeSpace {
    objects: Stack<LargeObject>,
    /// Those that marking has or has not reached, and that nobody has looked at since.
    unswept: Stack<LargeObject>,
    /// The total size of all but the dead ones.
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
    unsafe fn free(self, poison: bool) {
        // SAFETY: this is where the memory starts; the caller vouches for its end.
        unsafe {
            if poison {
                core::ptr::write_bytes(self.obj as *mut u8, POISON, self.size);
            }
            sys::free((self.obj - self.prefix) as *mut _);
        }
    }
}

impl LargeSpace {
    pub(crate) const fn new() -> Self {
        LargeSpace {
            objects: Stack::new(),
            unswept: Stack::new(),
            bytes: 0,
        }
    }

    /// Zeroed memory for a large object, whose header the caller sets, with cards for
    /// that many items.
    pub(crate) fn allocate(&mut self, size: usize, carded_items: usize) -> usize {
        let cards = match carded_items {
            0 => 0,
            n => n.div_ceil(CARD_ITEMS) + 1,
        };
        let prefix = (cards + 1).next_multiple_of(8);
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

    /// After marking, which reached that many bytes of objects here.
    pub(crate) fn start_sweeping(&mut self, live: usize) {
        debug_assert!(self.unswept.len() == 0, "the last sweep is over");
        core::mem::swap(&mut self.objects, &mut self.unswept);
        self.bytes = live;
    }

    /// Frees what is not marked, and unmarks the rest, as far as the budget goes. Whether all
    /// is done.
    pub(crate) fn sweep(&mut self, budget: &mut isize, poison: bool) -> bool {
        while *budget > 0 {
            let Some(o) = self.unswept.pop() else {
                return true;
            };
            *budget -= SWEEP_COST;
            // SAFETY: objects in the list are allocated.
            unsafe {
                let mark = mark_of(o.obj);
                if *mark == 0 {
                    o.free(poison);
                } else {
                    *mark = 0;
                    self.objects.push(o);
                }
            }
        }
        self.unswept.len() == 0
    }

    pub(crate) fn release(&mut self) {
        for list in [&mut self.objects, &mut self.unswept] {
            while let Some(o) = list.pop() {
                // SAFETY: nothing uses the heap any more.
                unsafe { o.free(false) };
            }
            list.release();
        }
        self.bytes = 0;
    }
}

#[inline]
fn mark_of(obj: usize) -> *mut u8 {
    (obj - 1) as *mut u8
}

/// Whether marking has reached a large object.
///
/// # Safety
/// `obj` is one.
#[inline]
pub(crate) unsafe fn is_marked(obj: usize) -> bool {
    // SAFETY: by contract.
    unsafe { *mark_of(obj) != 0 }
}

/// Marks a large object; whether it was not marked before.
///
/// # Safety
/// `obj` is one.
#[inline]
pub(crate) unsafe fn mark(obj: usize) -> bool {
    // SAFETY: by contract.
    unsafe { core::mem::replace(&mut *mark_of(obj), 1) == 0 }
}

/// Marks the card of an item; whether no card of the object was marked before.
///
/// # Safety
/// The object has a card for that item.
pub(crate) unsafe fn mark_card(obj: usize, index: usize) -> bool {
    // SAFETY: by contract.
    unsafe {
        *card(obj, index / CARD_ITEMS) = 1;
        core::mem::replace(&mut *listed(obj), 1) == 0
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
        *listed(obj) = 0;
        for i in 0..items.div_ceil(CARD_ITEMS) {
            if core::mem::replace(&mut *card(obj, i), 0) != 0 {
                f(i);
            }
        }
    }
}

fn listed(obj: usize) -> *mut u8 {
    (obj - 2) as *mut u8
}

fn card(obj: usize, number: usize) -> *mut u8 {
    (obj - 3 - number) as *mut u8
}
