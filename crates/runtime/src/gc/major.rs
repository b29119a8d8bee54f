//! Major collections, which find what is dead in the old generation. They go in steps, between
//! which the program runs on:
//!
//! ```text
//! Waiting    for the old generation to grow
//! Marking    objects are white (not reached), gray (reached, in `gray`) or black (reached, and
//!            so is what they referred to)
//! Sweeping   what is white is freed
//! ```
//!
//! While marking goes on the program may store a white object into a black one. The write
//! barrier has put the black one into the remembered set, so the next minor collection marks what
//! it refers to now (`minor.rs`). Roots have no barrier: when no object is gray they are looked at
//! again, and marking is over when that brings up nothing new, or little is left. Both, and the start, come right
//! after a minor collection: then no young object refers to an old one. What leaves the nursery
//! meanwhile is white.
//!
//! The end of marking is one step, however many weak references and objects with finalizers
//! there are.

use super::header::{MARKED, OUTSIDE, TypeInfo};
use super::shadow::ShadowTable;
use super::{Gc, MARKED_PER_OLD, Obj, inspect, large, log, now, old};
use crate::state::state;
use crate::{debug, stacklet, threads};

/// Arrays are marked in pieces of so many items.
const SLICE: usize = 2048;

/// When roots were looked at so many times, what they bring up is marked at once. It cannot be
/// much, and a program that makes new objects all the time would bring up some for ever.
const MOST_LOOKS: usize = 2;

/// What the collector of the old generation does. The numbers are those of `rgc`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    Waiting = 0,
    Marking = 1,
    Sweeping = 2,
}

impl Gc {
    /// Goes on with the collection that is under way, or starts one, until the budget, bytes
    /// of marking, is used up or the collection is over. Only `at_rest`, which is right after a
    /// minor collection, marking begins and ends.
    pub(super) unsafe fn step(&mut self, mut budget: isize, at_rest: bool) {
        if budget <= 0 || !at_rest && self.waits_for_rest() {
            return;
        }
        let start = self.start_step();
        while budget > 0 && (at_rest || !self.waits_for_rest()) {
            // SAFETY: the mutator's roots are saved, and `at_rest` is set only right after a minor
            // collection, when the nursery is empty.
            unsafe { self.work(&mut budget, at_rest) };
            if self.phase == Phase::Waiting {
                break;
            }
        }
        self.stop_step(start);
    }

    /// The same for no more than what is left of the phase.
    pub(super) unsafe fn step_within_phase(&mut self, budget: &mut isize, at_rest: bool) {
        let start = self.start_step();
        // SAFETY: the mutator's roots are saved, and `at_rest` is set only right after a minor
        // collection, when the nursery is empty.
        unsafe { self.work(budget, at_rest) };
        self.stop_step(start);
    }

    /// Opens a section of the log. Returns the time.
    fn start_step(&self) -> i64 {
        debug::begin(b"gc-collect-step", false);
        log::step_starts(self.phase);
        now()
    }

    fn stop_step(&mut self, start: i64) {
        let taken = now() - start;
        self.nanoseconds += taken;
        log::step_stops(self.phase, taken);
        debug::end(b"gc-collect-step", false);
    }

    /// Does something of the phase, as far as the budget goes.
    unsafe fn work(&mut self, budget: &mut isize, at_rest: bool) {
        // SAFETY: the mutator's roots are saved, and marking ends only `at_rest`, when no young
        // object refers to an old one. Sweeping frees objects that it did not reach.
        unsafe {
            match self.phase {
                Phase::Waiting => self.start_marking(),
                Phase::Marking => {
                    log::marks(self.gray.len(), self.slices.len());
                    self.mark_some(budget);
                    if at_rest && !self.is_gray() {
                        stacklet::forget_visits();
                        self.mark_roots();
                        self.looks += 1;
                        if self.looks > MOST_LOOKS && self.survived_little() {
                            self.drain_marked();
                        }
                        if !self.is_gray() {
                            self.finish_marking();
                        }
                    }
                }
                Phase::Sweeping => {
                    let stress = self.stress;
                    if self.sweep_blocks(budget) && self.sweep_large(budget, stress) {
                        (self.phase, self.owed) = (Phase::Waiting, 0);
                        self.major_collections += 1;
                        debug::begin(b"gc-collect-done", false);
                        log::collection_done(self.before_sweep, self.extent(), self.threshold);
                        debug::end(b"gc-collect-done", false);
                    }
                }
            }
        }
    }

    fn sweep_blocks(&mut self, budget: &mut isize) -> bool {
        let most = *budget / old::SWEEP_COST;
        let done = self.old.sweep(budget);
        log::sweeps_blocks(most as usize, done);
        done
    }

    fn sweep_large(&mut self, budget: &mut isize, poison: bool) -> bool {
        let most = *budget / large::SWEEP_COST;
        let (freed, done) = self.large.sweep(budget, poison);
        log::sweeps_large(freed, most as usize);
        done
    }

    fn extent(&self) -> log::Extent {
        log::Extent {
            arenas: self.old.arenas(),
            bytes: self.old.bytes,
            large_bytes: self.large.bytes,
        }
    }

    /// Finishes the collection that is under way, if any.
    pub(super) unsafe fn finish_major_collection(&mut self) {
        if self.phase != Phase::Waiting {
            // SAFETY: the caller has just made a minor collection, so the nursery is empty.
            unsafe { self.step(isize::MAX, true) };
        }
    }

    /// A whole collection. The nursery is empty.
    pub(super) unsafe fn major_collection(&mut self) {
        // SAFETY: the caller has just made a minor collection, so the nursery is empty.
        unsafe {
            self.finish_major_collection();
            self.step(isize::MAX, true);
        }
    }

    unsafe fn start_marking(&mut self) {
        self.phase = Phase::Marking;
        (self.marked_small, self.marked_large) = (0, 0);
        (self.owed, self.looks) = (0, 0);
        // SAFETY: static objects are valid.
        unsafe {
            // Those that the program writes to for the first time from now on are remembered.
            for obj in self.static_roots.as_slice() {
                self.gray.push(*obj);
            }
            self.mark_roots();
        }
    }

    /// Marks what is a root but for static objects.
    unsafe fn mark_roots(&mut self) {
        // SAFETY: all other roots are on the shadow stacks, in the exception state, among the
        // objects that are kept, or wait for finalizers.
        unsafe {
            for slot in self.root_stack_slots() {
                self.mark(*slot);
            }
            threads::visit_all(|slot| self.mark(*slot));
            stacklet::visit_handles(|handle| self.mark(handle));
            self.mark((*state()).exc_value as usize);
            for i in 0..self.kept.len() {
                self.mark(self.kept.as_slice()[i]);
            }
            self.mark_waiting();
            self.mark_links();
            stacklet::visit_alive(|handle| is_marked(handle), |slot| self.mark(*slot));
        }
    }

    /// Deals with what marking did not reach, and makes it free.
    unsafe fn finish_marking(&mut self) {
        // SAFETY: everything alive is marked, and nothing is freed yet.
        unsafe {
            self.finish_old_with_finalizer();
            self.finish_old_light();
            self.finish_old_links();
            stacklet::sweep(|handle| is_marked(handle));
            inspect::forget_dead();
        }
        let live = self.marked_small + self.marked_large;
        self.set_threshold(live);
        self.check_limit(live);
        // So much the old generation grows before the next collection is over.
        let keep = (self.threshold + self.threshold / MARKED_PER_OLD).saturating_sub(live);
        self.before_sweep = self.extent();
        self.large.start_sweeping(self.marked_large);
        self.old.start_sweeping(self.marked_small, keep);
        self.phase = Phase::Sweeping;
    }

    /// Marks an object, unless it is a young one: those are looked at when they become old.
    #[inline]
    pub(super) unsafe fn mark(&mut self, obj: Obj) {
        if obj == 0 || self.is_in_nursery(obj) {
            return;
        }
        // SAFETY: `obj` is a valid object outside the nursery.
        unsafe {
            let header = *(obj as *const usize);
            let new = match header & (OUTSIDE | MARKED) {
                0 => old::mark(obj),
                OUTSIDE => large::mark(obj),
                _ => false,
            };
            if new {
                self.gray.push(obj);
            }
        }
    }

    #[inline]
    pub(super) unsafe fn mark_pointers(&mut self, obj: Obj) {
        // SAFETY: the callers, minor collections that mark, pass a live object whose pointers have
        // been updated.
        unsafe { TypeInfo::of(obj).for_each_pointer(obj, |slot| self.mark(*slot)) }
    }

    fn is_gray(&self) -> bool {
        self.gray.len() + self.slices.len() > 0
    }

    /// Whether [`Gc::step`] can do nothing before the next minor collection.
    pub(super) fn waits_for_rest(&self) -> bool {
        match self.phase {
            Phase::Waiting => true,
            Phase::Marking => !self.is_gray(),
            Phase::Sweeping => false,
        }
    }

    /// Marks what gray objects refer to, as far as the budget goes.
    unsafe fn mark_some(&mut self, budget: &mut isize) {
        while *budget > 0 {
            // SAFETY: gray objects are live objects of the old generation or static, so they have
            // headers.
            unsafe {
                let Some(obj) = self.gray.pop() else {
                    match self.slices.pop() {
                        Some((array, from)) => *budget -= self.mark_slice(array, from),
                        None => return,
                    }
                    continue;
                };
                let info = TypeInfo::of(obj);
                let size = info.size_of(obj);
                match *(obj as *const usize) & (OUTSIDE | MARKED) {
                    0 => self.marked_small += size,
                    OUTSIDE => self.marked_large += size,
                    _ => {}
                }
                if info.item_pointers != 0 && info.length(obj) > SLICE {
                    info.for_each_pointer_in_fixed_part(obj, |slot| self.mark(*slot));
                    self.slices.push((obj, 0));
                } else {
                    info.for_each_pointer(obj, |slot| self.mark(*slot));
                    *budget -= if info.has_pointers() {
                        size as isize
                    } else {
                        LEAF
                    };
                }
            }
        }
    }

    /// Marks what some items of an array refer to. Returns their size.
    unsafe fn mark_slice(&mut self, array: Obj, from: usize) -> isize {
        // SAFETY: the array is valid, though it may have become shorter.
        unsafe {
            let info = TypeInfo::of(array);
            let length = info.length(array);
            let to = (from + SLICE).min(length);
            if to < length {
                self.slices.push((array, to));
            }
            info.for_each_pointer_in_items(array, from.min(to), to, |slot| self.mark(*slot));
            (SLICE * info.item_size as usize) as isize
        }
    }

    /// Marks everything that marked objects refer to.
    pub(super) unsafe fn drain_marked(&mut self) {
        while self.is_gray() {
            // SAFETY: the roots of suspended stacklets are valid.
            unsafe {
                self.mark_some(&mut { isize::MAX });
                stacklet::visit_alive(|handle| is_marked(handle), |slot| self.mark(*slot));
            }
        }
    }

    /// Clears the weak references to what is dead, though a finalizer may still get to
    /// see it. Those in `revived` live on as well as what is marked.
    pub(super) unsafe fn finish_old_weakrefs(&mut self, revived: &ShadowTable) {
        self.old_weakrefs.retain_map(|weakref| {
            // SAFETY: the list holds weak references of the old generation.
            unsafe {
                let target = (weakref + 8) as *mut usize;
                if !is_marked(weakref) && revived.get(weakref).is_none() {
                    return None;
                }
                if !is_marked(*target) {
                    *target = 0;
                    return None;
                }
                Some(weakref)
            }
        });
    }
}

/// What it costs to mark an object without pointers, however large it is, as so many bytes of others.
const LEAF: isize = 32;

/// Whether an old or static object was reached.
pub(super) unsafe fn is_marked(obj: Obj) -> bool {
    // SAFETY: `obj` is an object outside the nursery whose memory is intact. Static objects have
    // `MARKED`, so the rest is cells and large objects.
    unsafe {
        match *(obj as *const usize) & (OUTSIDE | MARKED) {
            0 => old::is_marked(obj),
            OUTSIDE => large::is_marked(obj),
            _ => true,
        }
    }
}
