//! Minor collections: what is alive in the nursery moves to the old generation. Young large objects become
//! old where they are.
//!
//! While a major collection marks, what the program has written to since the last minor one is
//! here, too: what black objects among it refer to is marked.

use super::header::{FLAGS, MARKED, OUTSIDE, PRISTINE, TRACK, TypeInfo};
use super::large::{CARD_ITEMS, take_cards};
use super::major::{Phase, is_marked};
use super::old::MAX_SMALL;
use super::{Gc, MARKED_PER_OLD, Obj, POISON, log, now};
use crate::state::state;
use crate::{debug, pages, stacklet, threads};

/// Up to so many words are copied in place: a call of the C library costs more. (As volatile
/// writes, or the compiler makes that call of the loop.)
const COPIED_HERE: usize = 8;

impl Gc {
    /// Empties the nursery. The free pointer stays: the caller decides where to go on.
    pub(super) unsafe fn minor_collection(&mut self) {
        let start = now();
        debug::begin(b"gc-minor", false);
        self.survived = 0;
        // SAFETY: all roots are on the shadow stacks, in the exception state, or in
        // remembered objects; headers are intact.
        unsafe {
            debug::begin(b"gc-minor-walkroots", false);
            for slot in self.root_stack_slots() {
                self.visit_young(slot);
            }
            stacklet::visit_fresh(|slot| self.visit_young(slot));
            threads::visit_fresh(|slot| self.visit_young(slot));
            self.visit_young((&raw mut (*state()).exc_value).cast());
            debug::end(b"gc-minor-walkroots", false);
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
            self.keep_young_links();
            self.drain_young();
            self.finish_young_weakrefs();
            self.finish_young_light();
            self.finish_young_links();
            let poison = self.stress;
            self.large.sweep_young(poison);
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
        self.peak = self.peak.max(self.old_bytes());
        let taken = now() - start;
        self.nanoseconds += taken;
        log::minor_collection(self.old_bytes(), self.survived, taken);
        debug::end(b"gc-minor", false);
    }

    /// At the end of a minor collection: where an object is that was young or old before; none if it is dead.
    pub(super) unsafe fn survivor(&self, obj: Obj) -> Option<Obj> {
        // SAFETY: `sweep_young` has not run yet, so the header of `obj` is intact, with the new
        // address if it has moved.
        unsafe {
            match self.is_in_nursery(obj) {
                true => self.moved_to(obj),
                false => (!self.large.is_young(obj)).then_some(obj),
            }
        }
    }

    /// Where an object of the nursery moved to; none if that has not happened.
    unsafe fn moved_to(&self, obj: Obj) -> Option<Obj> {
        // SAFETY: `obj` is in the nursery, whose memory keeps its headers until the end of the
        // collection.
        let header = unsafe { *(obj as *const usize) };
        (header & MARKED != 0).then_some(header & !MARKED)
    }

    #[inline]
    pub(super) unsafe fn visit_young(&mut self, slot: *mut usize) {
        // SAFETY: `slot` holds null or a valid object.
        unsafe {
            let obj = *slot;
            if self.is_in_nursery(obj) {
                *slot = match self.moved_to(obj) {
                    Some(to) => to,
                    None => self.move_out(obj),
                };
            } else if self.large.is_young(obj) {
                self.keep_large(obj);
            }
        }
    }

    /// Makes a young large object an old one.
    #[cold]
    unsafe fn keep_large(&mut self, obj: Obj) {
        // SAFETY: `obj` is a live young large object: `visit_young` has read its state.
        unsafe {
            self.large.keep(obj);
            *(obj as *mut usize) |= TRACK;
            if TypeInfo::of(obj).has_pointers() {
                self.moved.push(obj);
            }
        }
    }

    unsafe fn visit_young_pointers(&mut self, obj: Obj) {
        // SAFETY: the callers pass an object of the remembered set, or one that has just become
        // old, whose pointers are null or objects.
        unsafe { TypeInfo::of(obj).for_each_pointer(obj, |slot| self.visit_young(slot)) }
    }

    unsafe fn visit_young_cards(&mut self, obj: Obj) {
        // SAFETY: the list holds objects with cards.
        unsafe {
            let info = TypeInfo::of(obj);
            let length = info.length(obj);
            let black = self.phase == Phase::Marking && is_marked(obj);
            let mut fetched = None;
            take_cards(obj, length, |card| {
                let from = card * CARD_ITEMS;
                let to = (from + CARD_ITEMS).min(length);
                // The memory of one card comes while the one before is looked at.
                info.fetch_items(obj, from, to);
                if let Some((from, to)) = fetched.replace((from, to)) {
                    self.visit_young_items(obj, from, to, black);
                }
            });
            if let Some((from, to)) = fetched {
                self.visit_young_items(obj, from, to, black);
            }
        }
    }

    #[inline]
    unsafe fn visit_young_items(&mut self, obj: Obj, from: usize, to: usize, black: bool) {
        // SAFETY: `visit_young_cards` passes a live array that has the items before `to`.
        unsafe {
            let info = TypeInfo::of(obj);
            // Mostly none is young: that is known by comparing alone.
            if let Some(items) = info.items_as_pointers(obj, from, to)
                && !black
                && !self.may_be_young(items)
            {
                return;
            }
            info.for_each_pointer_in_items(obj, from, to, |slot| {
                self.visit_young(slot);
                if black {
                    self.mark(*slot);
                }
            });
        }
    }

    /// Whether one of these objects may be young. Nothing is read of them.
    #[inline]
    fn may_be_young(&self, objects: &[Obj]) -> bool {
        let mut all = objects.iter();
        all.any(|obj| self.is_in_nursery(*obj) || self.large.may_be_young(*obj))
    }

    unsafe fn drain_young(&mut self) {
        while let Some(obj) = self.moved.pop() {
            // SAFETY: objects in `moved` are in their final places, with headers.
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
            self.large.allocate(size)
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
                *target = self.survivor(*target).unwrap_or(0);
                if *target != 0 {
                    self.old_weakrefs.push(weakref);
                }
            }
        }
    }
}
