//! What programs say to the collector, and ask it: `collect_step`, `enable`, `get_stats` and the
//! like of `rpython.rlib.rgc`. Interpreted programs come here, too, and have no heap here.

use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::collector::Collector;
use super::{Gc, Phase, finalize, gc};
use crate::{exc, pages};

/// Bytes that the system need not be asked for first.
const LITTLE: i64 = 32 << 20;

/// Whether the limit of the heap is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Limit {
    Kept,
    /// It was not. The next one who asks for memory raises MemoryError.
    Exceeded,
    /// Somebody has raised it.
    Raised,
}

/// The heap, if there is one with a nursery.
unsafe fn generational<'a>() -> Option<&'a mut Gc> {
    // SAFETY: by contract of the callers.
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
        if gc.finalizers.pending() {
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
    // SAFETY: the caller is the mutator.
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
    // SAFETY: the caller is the mutator.
    let gc = unsafe { gc() };
    gc.most_heap = usize::try_from(bytes).ok().filter(|bytes| *bytes > 0);
    if let Some(most) = gc.most_heap {
        gc.threshold = gc.threshold.min(most);
    }
}

/// Has the next major collection come earlier: an object has so many bytes outside of the heap.
pub(crate) fn add_pressure(bytes: i64) {
    // SAFETY: the caller is the mutator.
    let gc = unsafe { gc() };
    let bytes = usize::try_from(bytes).unwrap_or(0);
    gc.threshold = gc.threshold.saturating_sub(bytes.saturating_add(16));
}

/// Whether an object of that size can be made: programs ask before they make something big, and
/// raise MemoryError.
pub(crate) fn room(bytes: i64) -> bool {
    // SAFETY: the caller is the mutator.
    let gc = unsafe { gc() };
    if gc.limit == Limit::Exceeded {
        gc.limit = Limit::Raised;
        // What was marked already may be dead now.
        gc.since_raise = gc.phase == Phase::Waiting;
        return false;
    }
    let most = (gc.most_heap).map_or(i64::MAX, |most| most as i64);
    bytes <= most && (bytes < LITTLE || pages::room(bytes))
}

impl Gc {
    /// After marking, which has found that many bytes of live objects.
    pub(super) fn check_limit(&mut self, live: usize) {
        let Some(most) = self.most_heap.filter(|most| live > *most) else {
            return;
        };
        match self.limit {
            Limit::Kept => self.limit = Limit::Exceeded,
            // It may take a while before somebody asks.
            Limit::Exceeded if live <= most + most / 4 => {}
            Limit::Raised if !self.since_raise => {}
            Limit::Exceeded | Limit::Raised => exc::fatal(b"using too much memory, aborting"),
        }
    }
}

#[cfg(test)]
#[allow(
    clippy::undocumented_unsafe_blocks,
    reason = "each test is one heap that nothing else uses"
)]
mod tests {
    use super::super::settings::Settings;
    use super::super::tests::{Heap, node, push, root};
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
        assert!(room(100));
        for i in 0..scaled(36_000) {
            *root(kept) = node(i, *root(kept), 0);
        }
        unsafe { rpy_gc_collect() };
        assert!(!room(100));
        assert_eq!(unsafe { gc().limit }, Limit::Raised);
        // It is raised once. Who lets go of enough goes on.
        assert!(room(100));
        *root(kept) = 0;
        unsafe { rpy_gc_collect() };
        assert!(stat(0) < scaled(1 << 19) as i64 && room(100));
    }
}
