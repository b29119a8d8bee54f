//! Objects too large for the nursery or for cells: one `malloc` each.
//!
//! The byte before an object says whether it is young, and if not, whether marking has reached
//! it. Objects that the program makes are young until the next minor collection, which frees those
//! that it does not reach; the write barrier leaves them alone, as it does objects in the nursery.
//! Survivors of the nursery, and what the runtime makes for itself, are old from the start.
//!
//! Long arrays of pointers have cards besides, bytes that say which parts were written to, so that
//! a store does not make the next minor collection visit all of a big array:
//!
//! ```text
//! ... card 2 │ card 1 │ card 0 │ listed │ state │ header, length, items
//! ```

use super::header::{MARKED, OUTSIDE};
use super::{POISON, inspect};
use crate::memory::Stack;
use crate::{exc, sys};

/// Number of items that a card stands for. One barrier counts for all of the first ones.
pub const CARD_ITEMS: usize = 128;

/// What a large object costs a sweep, as so many bytes of marking.
pub(super) const SWEEP_COST: isize = 256;

/// State of an object: old, and not reached by marking.
const WHITE: u8 = 0;
/// State of an object: old, and reached by marking.
const REACHED: u8 = 1;
/// State of an object: made since the last minor collection, and not reached by the one that is going on.
const YOUNG: u8 = 2;

/// The lists of large objects.
pub(crate) struct LargeSpace {
    /// Those that were young when the minor collection started, or have been made since the last one.
    young: Stack<LargeObject>,
    /// No young object is below, nor so far above.
    lowest: usize,
    span: usize,
    /// The total size of the young ones.
    pub(crate) young_bytes: usize,
    objects: Stack<LargeObject>,
    /// Those that marking has or has not reached, and that nobody has looked at since.
    unswept: Stack<LargeObject>,
    /// The total size of all but the young and the dead ones.
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
        // SAFETY: `take` allocated the memory from `prefix` bytes before the object to its end, and
        // the callers have removed the object from its list.
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
            young: Stack::new(),
            lowest: 0,
            span: 0,
            young_bytes: 0,
            objects: Stack::new(),
            unswept: Stack::new(),
            bytes: 0,
        }
    }

    /// Memory for an old object, which the caller fills.
    pub(crate) fn allocate(&mut self, size: usize) -> usize {
        let Some(o) = take(size, 0, false) else {
            exc::out_of_memory()
        };
        self.objects.push(o);
        self.bytes += size;
        o.obj
    }

    /// Memory for a young object with cards for that many items, zeroed if `zero`; none if the system
    /// has none.
    pub(crate) fn allocate_young(
        &mut self,
        size: usize,
        carded_items: usize,
        zero: bool,
    ) -> Option<usize> {
        let o = take(size, carded_items, zero)?;
        // SAFETY: `take` made a byte before the object for its state.
        unsafe { *state_of(o.obj) = YOUNG };
        let end = match self.young.len() {
            0 => {
                self.lowest = o.obj;
                o.obj + 1
            }
            _ => (self.lowest + self.span).max(o.obj + 1),
        };
        self.lowest = self.lowest.min(o.obj);
        self.span = end - self.lowest;
        self.young.push(o);
        self.young_bytes += size;
        Some(o.obj)
    }

    /// Whether an object that is not in the nursery is a young one that the minor collection going on, if
    /// any, has not reached.
    ///
    /// # Safety
    /// `obj` is null or an object.
    #[inline]
    pub(crate) unsafe fn is_young(&self, obj: usize) -> bool {
        // SAFETY: an address between young large objects is read only if it is that of an object,
        // which has a header. A large object has a state before it.
        self.may_be_young(obj)
            && unsafe {
                *(obj as *const usize) & (OUTSIDE | MARKED) == OUTSIDE && *state_of(obj) == YOUNG
            }
    }

    /// Whether an address is where young objects are. Nothing is read of it.
    #[inline]
    pub(crate) fn may_be_young(&self, obj: usize) -> bool {
        obj.wrapping_sub(self.lowest) < self.span
    }

    /// Makes a young object an old one.
    ///
    /// # Safety
    /// `obj` is a young one.
    pub(crate) unsafe fn keep(&mut self, obj: usize) {
        // SAFETY: `obj` is a young large object, so the byte before it is its state.
        unsafe { *state_of(obj) = WHITE };
    }

    /// At the end of a minor collection: frees the young objects that it has not reached. No object is young
    /// afterwards.
    pub(crate) fn sweep_young(&mut self, poison: bool) {
        while let Some(o) = self.young.pop() {
            // SAFETY: objects in the list are allocated, and nothing refers to this one.
            unsafe {
                if *state_of(o.obj) == YOUNG {
                    inspect::forget(o.obj);
                    o.free(poison);
                } else {
                    self.objects.push(o);
                    self.bytes += o.size;
                }
            }
        }
        (self.lowest, self.span, self.young_bytes) = (0, 0, 0);
    }

    /// After marking, which reached that many bytes of objects here.
    pub(crate) fn start_sweeping(&mut self, live: usize) {
        debug_assert!(self.unswept.len() == 0, "the last sweep is over");
        core::mem::swap(&mut self.objects, &mut self.unswept);
        self.bytes = live;
    }

    /// Frees what is not marked, and unmarks the rest, as far as the budget goes. Returns how many were
    /// freed, and whether all is done.
    pub(crate) fn sweep(&mut self, budget: &mut isize, poison: bool) -> (usize, bool) {
        let mut freed = 0;
        while *budget > 0 {
            let Some(o) = self.unswept.pop() else {
                return (freed, true);
            };
            *budget -= SWEEP_COST;
            // SAFETY: objects in the list are allocated.
            unsafe {
                let state = state_of(o.obj);
                if *state == WHITE {
                    o.free(poison);
                    freed += 1;
                } else {
                    *state = WHITE;
                    self.objects.push(o);
                }
            }
        }
        (freed, self.unswept.len() == 0)
    }

    pub(crate) fn release(&mut self) {
        for list in [&mut self.young, &mut self.objects, &mut self.unswept] {
            while let Some(o) = list.pop() {
                // SAFETY: nothing uses the heap any more.
                unsafe { o.free(false) };
            }
            list.release();
        }
        *self = LargeSpace::new();
    }
}

/// Memory for an object with cards for that many items, whose header the caller sets.
fn take(size: usize, carded_items: usize, zero: bool) -> Option<LargeObject> {
    let cards = match carded_items {
        0 => 0,
        n => n.div_ceil(CARD_ITEMS) + 1,
    };
    let prefix = (cards + 1).next_multiple_of(8);
    let whole = size.checked_add(prefix)?;
    // SAFETY: any size may be asked for, and what is cleared is within it.
    unsafe {
        let memory = match zero {
            true => sys::calloc(1, whole),
            false => sys::malloc(whole),
        };
        if memory.is_null() {
            return None;
        }
        if !zero {
            core::ptr::write_bytes(memory.cast::<u8>(), 0, prefix);
        }
        Some(LargeObject {
            obj: memory as usize + prefix,
            size,
            prefix,
        })
    }
}

#[inline]
fn state_of(obj: usize) -> *mut u8 {
    (obj - 1) as *mut u8
}

/// Whether marking has reached a large object.
///
/// # Safety
/// `obj` is one.
#[inline]
pub(crate) unsafe fn is_marked(obj: usize) -> bool {
    // SAFETY: `obj` is a large object, so the byte before it is its state.
    unsafe { *state_of(obj) == REACHED }
}

/// Marks a large object, unless it is a young one; whether it was not marked before.
///
/// # Safety
/// `obj` is one.
#[inline]
pub(crate) unsafe fn mark(obj: usize) -> bool {
    // SAFETY: `obj` is a large object, so the byte before it is its state.
    unsafe {
        let state = state_of(obj);
        let new = *state == WHITE;
        if new {
            *state = REACHED;
        }
        new
    }
}

/// Marks the card of an item; whether no card of the object was marked before.
///
/// # Safety
/// The object has a card for that item.
pub(crate) unsafe fn mark_card(obj: usize, index: usize) -> bool {
    // SAFETY: `take` made a byte for each card of the object and one for `listed`, all before its
    // state.
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
    // SAFETY: `take` made a byte for each card of `items` items and one for `listed`, all before
    // the state of the object.
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
