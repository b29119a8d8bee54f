//! What programs say to the collector, and ask it: `collect_step`, `enable`, `get_stats` and the
//! like of `rpython.rlib.rgc`. Interpreted programs come here, too, and have no heap here.

use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::api::Failure;
use super::collector::Collector;
use super::{Gc, boehm, finalize, gc};
use crate::{exc, pages};

/// Bytes that the system need not be asked for first.
const LITTLE: i64 = 32 << 20;

/// Whether the limit of the heap is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Limit {
    Kept,
    /// More survived a major collection. The next allocation that can makes the program raise
    /// MemoryError.
    Exceeded,
}

/// The heap, if there is one with a nursery.
unsafe fn generational<'a>() -> Option<&'a mut Gc> {
    // SAFETY: the callers, functions that `externals` calls for the program, run in the mutator
    // thread and hold no other reference to `GC`.
    let gc = unsafe { gc() };
    (gc.nursery != 0 && gc.collector == Collector::Generational).then_some(gc)
}

/// A minor collection and a step of a major one, which is started if none is under way. Returns
/// the number of the phase before, times 256, plus the one of the phase after; -1 if collections
/// do not go in steps.
pub(crate) fn collect_step() -> i64 {
    // SAFETY: the caller is the mutator, whose roots are saved.
    unsafe {
        let Some(gc) = generational() else {
            return -1;
        };
        let before = gc.phase as i64;
        gc.minor_collection();
        gc.resize_nursery();
        let mut budget = gc.least_step().max(2 * gc.survived) as isize;
        gc.step_within_phase(&mut budget, true);
        gc.reuse_nursery(0);
        let states = before << 8 | gc.phase as i64;
        if gc.owes_call() {
            finalize::call_back();
        }
        states
    }
}

/// See [`set_enabled`].
static ENABLED: AtomicBool = AtomicBool::new(true);

/// Whether major collections start and go on by themselves.
pub(crate) fn set_enabled(enabled: bool) {
    ENABLED.store(enabled, Relaxed);
}

/// The same, asked.
pub(crate) fn is_enabled() -> bool {
    ENABLED.load(Relaxed)
}

/// A figure of those in `rgc`, by its number there; 0 if it is not known.
pub(crate) fn stat(number: i64) -> i64 {
    // SAFETY: the program calls this in the mutator thread, and the reference to `GC` ends with
    // this function.
    let gc = unsafe { gc() };
    let bytes = match (gc.collector, number) {
        (Collector::Generational, 0) => gc.old_bytes() + gc.large.young_bytes + gc.nursery_size,
        (Collector::Generational, 1 | 4) => {
            gc.old.mapped_bytes() + gc.large.bytes + gc.large.young_bytes + gc.nursery_size
        }
        (Collector::Generational, 3) => gc.peak.max(gc.old_bytes()) + gc.nursery_size,
        (Collector::Generational, 5) => gc.old.bytes,
        (Collector::Generational, 6) => gc.large.bytes + gc.large.young_bytes,
        (Collector::Generational, 9) => gc.nursery_size,
        (Collector::Generational, 10) => (gc.nanoseconds / 1_000_000) as usize,
        (Collector::Ref, 0 | 1) => gc.counted.bytes,
        (Collector::None, 0 | 1 | 3 | 4) => gc.bump.bytes,
        _ => 0,
    };
    bytes as i64
}

/// Sets the limit of the heap, in bytes; there is none if it is not above 0.
pub(crate) fn set_most_heap(bytes: i64) {
    // SAFETY: the program calls this in the mutator thread, and the reference to `GC` ends with
    // this function.
    let gc = unsafe { gc() };
    gc.most_heap = usize::try_from(bytes).ok().filter(|bytes| *bytes > 0);
    if let Some(most) = gc.most_heap {
        gc.threshold = gc.threshold.min(most);
    }
    match gc.collector {
        Collector::Boehm => boehm::set_most_heap(gc.most_heap),
        Collector::None => gc.bump.stop_allocation(),
        Collector::Generational | Collector::Ref => {}
    }
}

/// Has the next major collection come earlier: an object has so many bytes outside of the heap.
pub(crate) fn add_pressure(bytes: i64) {
    // SAFETY: the program calls this in the mutator thread, and the reference to `GC` ends with
    // this function.
    let gc = unsafe { gc() };
    let bytes = usize::try_from(bytes).unwrap_or(0);
    gc.threshold = gc.threshold.saturating_sub(bytes.saturating_add(16));
}

/// Whether an object of that size may be there at all: programs ask before they make something big,
/// and raise MemoryError. Interpreted programs have no heap here that would say so later.
pub(crate) fn room(bytes: i64) -> bool {
    // SAFETY: the program calls this in the mutator thread, and the reference to `GC` ends with
    // this function.
    let gc = unsafe { gc() };
    let most = (gc.most_heap).map_or(i64::MAX, |most| most as i64);
    bytes <= most && (gc.is_set_up() || bytes < LITTLE || pages::room(bytes))
}

impl Gc {
    /// Whether there is a heap.
    fn is_set_up(&self) -> bool {
        self.root_stack != 0
    }

    /// How many bytes objects may take together, if the collector knows exactly how many they take.
    pub(super) fn most_bytes(&self, failure: Failure) -> usize {
        match failure {
            Failure::Null => self.most_heap.unwrap_or(usize::MAX),
            Failure::Fatal => usize::MAX,
        }
    }

    /// After marking, which has found that many bytes of live objects.
    pub(super) fn check_limit(&mut self, live: usize) {
        let most = self.most_heap.unwrap_or(usize::MAX);
        if live <= most {
            self.limit = Limit::Kept;
            return;
        }
        // Code that cannot raise may allocate for a while.
        if self.limit == Limit::Exceeded && live > most.saturating_add(most / 4) {
            self.use_too_much();
        }
        self.limit = Limit::Exceeded;
    }

    /// Whether more than the limit survived the last major collection, as far as that knew: what died
    /// while it marked counted as alive.
    pub(super) fn exceeds_limit(&self) -> bool {
        self.limit == Limit::Exceeded
    }

    /// Collects everything that is dead now. Whether that is too little, which the program is told once.
    #[cold]
    pub(super) unsafe fn is_still_above_limit(&mut self) -> bool {
        // SAFETY: called by the mutator, whose roots are saved.
        unsafe { self.collect_within_limit() };
        if !self.exceeds_limit() {
            return false;
        }
        if self.has_raised {
            self.use_too_much();
        }
        self.has_raised = true;
        self.limit = Limit::Kept;
        true
    }

    /// A full collection, after which the limit is exceeded or not.
    unsafe fn collect_within_limit(&mut self) {
        // SAFETY: called by `is_still_above_limit` and `keeps_limit_with` in the mutator, whose
        // roots are on the shadow stack. The nursery is empty after the minor collection.
        unsafe {
            self.minor_collection();
            self.resize_nursery();
            self.limit = Limit::Kept;
            self.finish_major_collection();
            self.limit = Limit::Kept;
            self.major_collection();
            self.reuse_nursery(0);
        }
    }

    /// Whether there may be a large object of that size besides what there is, after a full collection
    /// if that is needed.
    pub(super) unsafe fn keeps_limit_with(&mut self, size: usize) -> bool {
        let Some(most) = self.most_heap else {
            return true;
        };
        let heap = |gc: &Gc| (gc.old_bytes() + gc.large.young_bytes).saturating_add(size);
        if heap(self) > most {
            // SAFETY: called by the mutator, whose roots are saved.
            unsafe { self.collect_within_limit() };
            // The program is told now.
            self.limit = Limit::Kept;
        }
        heap(self) <= most
    }

    fn use_too_much(&self) -> ! {
        exc::fatal(b"using too much memory, aborting")
    }
}

#[cfg(test)]
#[allow(
    clippy::undocumented_unsafe_blocks,
    reason = "each test is one heap that nothing else uses"
)]
mod tests {
    use super::super::settings::Settings;
    use super::super::tests::{BYTES, Heap, NODE, node, push, root};
    use super::super::{api::*, scaled};
    use super::*;

    const IS_OVER: i64 = 1;

    #[test]
    fn steps_lead_through_the_phases() {
        let _heap = Heap::new(64 << 10, false);
        let kept = push(0);
        for i in 0..scaled(30_000) {
            *root(kept) = node(i, *root(kept), 0);
        }
        unsafe { rpy_gc_collect() };
        let mut states = vec![collect_step()];
        while states.last().is_none_or(|s| s & 255 != 0) {
            states.push(collect_step());
        }
        assert_eq!(states.first(), Some(&IS_OVER));
        assert_eq!(states.last(), Some(&(2 << 8)));
        let marking = states.iter().filter(|s| **s == 1 << 8 | 1).count();
        assert!(marking > 2, "{states:?}");
        states.dedup();
        states.retain(|s| *s != 2 << 8 | 2);
        assert_eq!(states, [1, 1 << 8 | 1, 1 << 8 | 2, 2 << 8]);
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn major_collections_can_be_switched_off() {
        let _heap = Heap::new(64 << 10, false);
        let kept = push(0);
        let fill = || {
            for i in 0..scaled(100_000) {
                let before = if i % scaled(5000) == 0 {
                    0
                } else {
                    *root(kept)
                };
                *root(kept) = node(i, before, 0);
            }
            unsafe { gc().major_collections }
        };
        set_enabled(false);
        assert!(!is_enabled());
        assert_eq!(fill(), 0);
        assert!(stat(0) > scaled(2 << 20) as i64 && stat(3) >= stat(0));
        set_enabled(true);
        assert!(fill() > 0);
        assert!(stat(0) < scaled(1 << 20) as i64, "{}", stat(0));
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes minutes")]
    fn the_heap_has_a_limit() {
        let settings = Settings {
            most_heap: Some(scaled(1 << 20)),
            ..Settings::NONE
        };
        let _heap = Heap::with(64 << 10, 64 << 10, &settings);
        assert!(room(100) && !room(2 << 20));
        let kept = push(0);
        // Garbage does not count.
        for i in 0..scaled(200_000) {
            let before = if i % 1000 == 0 { 0 } else { *root(kept) };
            *root(kept) = node(i, before, 0);
        }
        for i in 0.. {
            let new = unsafe { rpy_gc_malloc_fixed(NODE.info()) };
            if new == 0 {
                break;
            }
            assert!(i < scaled(60_000));
            unsafe { *((new + 16) as *mut usize) = *root(kept) };
            *root(kept) = new;
        }
        assert!(unsafe { gc().has_raised && !gc().exceeds_limit() });
        // It is raised once. Who lets go of enough goes on.
        *root(kept) = 0;
        for i in 0..scaled(200_000) {
            node(i, 0, 0);
        }
        assert!(stat(0) < scaled(1 << 19) as i64);
        // A large object finds no room where it would exceed the limit, garbage or not.
        let half = scaled(600 << 10);
        for _ in 0..10 {
            assert_ne!(unsafe { rpy_gc_malloc_varsize(&BYTES, half, true) }, 0);
        }
        *root(kept) = unsafe { rpy_gc_malloc_varsize(&BYTES, half, true) };
        assert_eq!(unsafe { rpy_gc_malloc_varsize(&BYTES, half, true) }, 0);
        *root(kept) = 0;
        assert_ne!(unsafe { rpy_gc_malloc_varsize(&BYTES, half, true) }, 0);
    }
}
