//! Minor collections: what is alive in the nursery moves to the old generation.
//!
//! While a major collection marks, what the program has written to since the last minor one is
//! here, too: what black objects among it refer to is marked.

use super::header::{FLAGS, MARKED, OUTSIDE, PRISTINE, TRACK, TypeInfo};
use super::large::{CARD_ITEMS, take_cards};
use super::major::{Phase, is_marked};
use super::old::MAX_SMALL;
use super::{Gc, MARKED_PER_OLD, Obj, POISON, now};
use crate::state::state;
use crate::{pages, stacklet, threads};

/// Up to so many words are copied in place: a call of the C library costs more. (As volatile
/// writes, or the compiler makes that call of the loop.)
const COPIED_HERE: usize = 8;

impl Gc {
    /// Empties the nursery. The free pointer stays: the caller decides where to go on.
    pub(super) unsafe fn minor_collection(&mut self) {
        let start = now();
        self.survived = 0;
        // SAFETY: all roots are on the shadow stacks, in the exception state, or in
        // remembered objects; headers are intact.
        unsafe {
            for slot in self.root_stack_slots() {
                self.visit_young(slot);
            }
            stacklet::visit_fresh(|slot| self.visit_young(slot));
            threads::visit_fresh(|slot| self.visit_young(slot));
            self.visit_young((&raw mut (*state()).exc_value).cast());
            self.keep_young_with_finalizer();
            let marking = self.phase == Phase::Marking;
            while let Some(obj) = self.remembered.pop() {
                *(obj as *mut usize) |= TRACK;
                self.visit_young_pointers(obj);
                if marking && is_marked(obj) {
                    self.mark_pointers(obj);
                }
                self.drain_young();
            }
            while let Some(obj) = self.carded.pop() {
                self.visit_young_cards(obj);
                self.drain_young();
            }
            self.drain_young();
            self.finish_young_weakrefs();
            self.finish_young_light();
            self.shadows.clear();
            let used = (*state()).nursery_free - self.allocation_start;
            if self.poison_nursery {
                core::ptr::write_bytes(self.allocation_start as *mut u8, POISON, used);
            }
            pages::forget(self.allocation_start, used);
        }
        self.minor_collections += 1;
        if self.phase != Phase::Waiting {
            self.owed += self.survived * MARKED_PER_OLD;
        }
        self.nanoseconds += now() - start;
        self.peak = self.peak.max(self.old_bytes());
    }

    /// Where an object of the nursery moved to; none if it is dead.
    pub(super) unsafe fn moved_to(&self, obj: Obj) -> Option<Obj> {
        // SAFETY: by contract of the caller.
        let header = unsafe { *(obj as *const usize) };
        (header & MARKED != 0).then_some(header & !MARKED)
    }

    #[inline]
    pub(super) unsafe fn visit_young(&mut self, slot: *mut usize) {
        // SAFETY: `slot` holds null or a valid object.
        unsafe {
            let obj = *slot;
            if self.is_young(obj) {
                *slot = match self.moved_to(obj) {
                    Some(to) => to,
                    None => self.move_out(obj),
                };
            }
        }
    }

    unsafe fn visit_young_pointers(&mut self, obj: Obj) {
        // SAFETY: as for the callees.
        unsafe { TypeInfo::of(obj).for_each_pointer(obj, |slot| self.visit_young(slot)) }
    }

    unsafe fn visit_young_cards(&mut self, obj: Obj) {
        // SAFETY: the list holds objects with cards.
        unsafe {
            let info = TypeInfo::of(obj);
            let length = info.length(obj);
            let black = self.phase == Phase::Marking && is_marked(obj);
            take_cards(obj, length, |card| {
                let from = card * CARD_ITEMS;
                let to = (from + CARD_ITEMS).min(length);
                info.for_each_pointer_in_items(obj, from, to, |slot| {
                    self.visit_young(slot);
                    if black {
                        self.mark(*slot);
                    }
                });
            });
        }
    }

    unsafe fn drain_young(&mut self) {
        while let Some(obj) = self.moved.pop() {
            // SAFETY: what moved is valid.
            unsafe { self.visit_young_pointers(obj) }
        }
    }

    #[inline]
    unsafe fn move_out(&mut self, obj: Obj) -> Obj {
        // SAFETY: `obj` is in the nursery and has not moved; the new place is as large.
        unsafe {
            let header = *(obj as *const usize);
            let info = TypeInfo::of(obj);
            let size = info.size_of(obj);
            self.survived += size;
            let to = if header & PRISTINE != 0 {
                self.shadows.get(obj).unwrap_or_else(|| self.reserve(size))
            } else {
                self.reserve(size)
            };
            let outside = if size > MAX_SMALL { OUTSIDE } else { 0 };
            *(to as *mut usize) = (header & !FLAGS) | TRACK | outside;
            // A text may not be written to its end yet.
            type Word = core::mem::MaybeUninit<u64>;
            let (from, into) = (obj as *const Word, to as *mut Word);
            let words = size / 8;
            if words <= COPIED_HERE {
                for i in 1..words {
                    into.add(i).write_volatile(*from.add(i));
                }
            } else {
                core::ptr::copy_nonoverlapping(from.add(1), into.add(1), words - 1);
            }
            *(obj as *mut usize) = to | MARKED;
            if info.has_pointers() {
                self.moved.push(to);
            }
            to
        }
    }

    /// Memory in the old generation.
    pub(super) fn reserve(&mut self, size: usize) -> usize {
        if size <= MAX_SMALL {
            self.old.allocate(size)
        } else {
            self.large.allocate(size, 0)
        }
    }

    unsafe fn finish_young_weakrefs(&mut self) {
        while let Some(weakref) = self.young_weakrefs.pop() {
            // SAFETY: the list holds weak references in the nursery.
            unsafe {
                let Some(weakref) = self.moved_to(weakref) else {
                    continue;
                };
                let target = (weakref + 8) as *mut usize;
                if self.is_young(*target) {
                    *target = self.moved_to(*target).unwrap_or(0);
                }
                if *target != 0 {
                    self.old_weakrefs.push(weakref);
                }
            }
        }
    }
}
