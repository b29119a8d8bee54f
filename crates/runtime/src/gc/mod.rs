//! The garbage collector: generational and incremental, in the shape of RPython's
//! incminimark.
//!
//! ```text
//! nursery      bump allocation; emptied by every minor collection, survivors move
//! old space    blocks of equal cells, never moving, mark bits beside the cells;
//!              marked and swept in steps (see [`major`])
//! large        objects from malloc, young ones and old ones
//! static       prebuilt data of the program, never collected
//! ```
//!
//! Every object starts with a header word: the address of its [`TypeInfo`] and
//! flags in the four low bits (see [`header`]). An old object that may point into
//! the nursery is in the remembered set and has lost [`header::TRACK`]; the write
//! barrier sees to that. Static objects become roots of major collections when they
//! are first written to.
//!
//! A step of a major collection comes with each minor one while it is under way, and in
//! between whenever the program has allocated a part of the nursery, so that none takes long.
//!
//! The collector runs in stress mode if the environment has `TAIPAN_GC_STRESS`: every
//! allocation is a minor collection and a small step of a major one, and memory that objects
//! moved from or died in is overwritten.
//! What else the environment says is in [`settings`]. Unless it says how large the nursery is, that
//! starts at the size of a cache and is up to four times as large ([`nursery`]).

pub mod api;
#[cfg_attr(target_family = "wasm", path = "../wasm/boehm.rs")]
mod boehm;
mod bump;
mod collector;
pub(crate) mod control;
pub(crate) mod dump;
mod finalize;
pub mod header;
#[cfg(test)]
mod increments;
pub mod inspect;
mod large;
mod log;
mod major;
mod minor;
mod nursery;
mod old;
#[cfg(test)]
mod others;
#[cfg(test)]
mod pyobjects;
#[cfg(test)]
mod random_heaps;
pub mod rawrefcount;
pub mod refcount;
mod settings;
mod shadow;
pub mod slow;
#[cfg(test)]
mod tests;

pub use collector::Collector;
pub use header::TypeInfo;
pub use large::CARD_ITEMS;

use crate::memory::Stack;
use crate::pages::{discard, map, unmap};
use crate::stacks::ShadowStack;
use crate::state::state;
use crate::{debug, os, pages, stacklet, stacks, sys, threads};
use boehm::Boehm;
use bump::Bump;
use control::Limit;
use finalize::Finalizers;
use header::{OUTSIDE, TRACK};
use large::LargeSpace;
use major::Phase;
use nursery::Sizes;
use old::OldSpace;
use rawrefcount::Links;
use refcount::Counted;
use settings::Settings;
use shadow::ShadowTable;

/// Sizes of memory: a sixteenth of them under Miri, where the collector does little in a long time.
pub(crate) const fn scaled(size: usize) -> usize {
    if cfg!(miri) { size / 16 } else { size }
}

/// Objects of this size and above are not allocated in the nursery.
pub const LARGE_OBJECT: usize = scaled(32 << 10);

const DEFAULT_NURSERY: usize = 4 << 20;
/// Up to how many times its first size the nursery grows: no further, since all of it may
/// survive, and copying that takes longer than anything else the collector does at once.
const NURSERY_GROWTH: usize = 4;
/// The largest that may be asked for.
const MOST_NURSERY: usize = if usize::BITS < 64 { 1 << 28 } else { 1 << 32 };
const STRESS_NURSERY: usize = 128 << 10;
/// Minor collections come when young large objects take as much as the nursery, or as this if that is more.
const LEAST_YOUNG_LARGE: usize = scaled(DEFAULT_NURSERY);
/// The next major collection comes when the old generation has grown to so many times
/// what survived the last one.
const MAJOR_COLLECT: f64 = 1.82;
/// But when it has grown to so many times what the last one came at: much of what survives in a
/// program's youth dies soon (incminimark: `growth_rate_max`).
const GROWTH: f64 = 1.40;
/// Yet not before it has grown to so many times what survived.
const LEAST_GROWTH: f64 = 1.25;
/// There is none as long as the old generation is smaller than so many nurseries of the first size.
const LEAST_THRESHOLD: usize = 8;
/// While a major collection is under way, a step comes after each of so many parts of the nursery.
const PARTS: usize = 16;
/// No part is smaller.
const LEAST_PART: usize = scaled(64 << 10);
/// A major collection marks so many times as many bytes as become old meanwhile: the old
/// generation grows by no more than one part in so many before it is over.
const MARKED_PER_OLD: usize = 8;
/// And no less, while the program goes once through the nursery, than so many times its size.
const MARKED_PER_NURSERY: usize = 2;
/// What is marked at an allocation in stress mode.
const STRESS_STEP: usize = 256;
/// Where an empty nursery starts, and ends.
const NOWHERE: usize = 8;
const POISON: u8 = 0xdd;

/// The address of an object.
pub(crate) type Obj = usize;

/// All of the collector's state. What emitted code touches is in
/// [`crate::state::State`].
pub(crate) struct Gc {
    collector: Collector,
    /// What the other collectors have.
    bump: Bump,
    boehm: Boehm,
    counted: Counted,
    nursery: usize,
    nursery_size: usize,
    nursery_sizes: Sizes,
    /// Where the nursery ends, though allocation may have to stop before that.
    nursery_end: usize,
    /// Up to where the nursery may grow; so much is mapped.
    nursery_most: usize,
    /// What the threshold for major collections is at least.
    least_threshold: usize,
    /// How many times what survives one comes before the next.
    major_collect: f64,
    /// Up to how many times what it was the threshold grows at once.
    growth: f64,
    /// How much it may be above what survives.
    most_growth: usize,
    /// How large the old generation may become, if there is a limit.
    most_heap: Option<usize>,
    limit: Limit,
    /// Whether the program has been told that it is exceeded.
    has_raised: bool,
    /// How much a step marks, for a whole nursery, if the environment says so.
    increment_step: Option<usize>,
    /// Whether memory that objects moved from is overwritten.
    poison_nursery: bool,
    /// How large the old generation has been.
    peak: usize,
    /// How large the heap was before the last sweep.
    before_sweep: log::Extent,
    /// How long collections have taken.
    nanoseconds: i64,
    /// Where allocation in the nursery went on after the last collection.
    allocation_start: usize,
    /// Where the shadow stack in use starts.
    root_stack: usize,
    /// The one that the program starts on.
    first_roots: ShadowStack,
    old: OldSpace,
    large: LargeSpace,
    /// Old objects that may point into the nursery.
    remembered: Stack<Obj>,
    /// Large objects with marked cards.
    carded: Stack<Obj>,
    /// Static objects that were written to.
    static_roots: Stack<Obj>,
    /// Old objects that code made at run time refers to.
    kept: Stack<Obj>,
    /// Objects that left the nursery and whose pointers are still to be visited.
    moved: Stack<Obj>,
    phase: Phase,
    /// Objects that marking has reached and whose pointers are still to be visited.
    gray: Stack<Obj>,
    /// The same of long arrays, and the first item that was not visited.
    slices: Stack<(Obj, usize)>,
    /// How many bytes of objects were marked in blocks, and of large ones.
    marked_small: usize,
    marked_large: usize,
    /// How many bytes are to be marked for what has become old since marking started.
    owed: usize,
    /// How often roots were looked at again in this marking.
    looks: usize,
    shadows: ShadowTable,
    young_weakrefs: Stack<Obj>,
    old_weakrefs: Stack<Obj>,
    finalizers: Finalizers,
    links: Links,
    threshold: usize,
    /// Bytes that were moved out of the nursery by the last minor collection.
    survived: usize,
    stress: bool,
    /// Completed collections, for tests and statistics.
    minor_collections: usize,
    major_collections: usize,
}

static mut GC: Gc = Gc {
    collector: Collector::Generational,
    bump: Bump::new(),
    boehm: Boehm::new(),
    counted: Counted::new(),
    nursery: 0,
    nursery_size: 0,
    nursery_sizes: Sizes::new(0, 0),
    nursery_end: 0,
    nursery_most: 0,
    least_threshold: 0,
    major_collect: MAJOR_COLLECT,
    growth: f64::INFINITY,
    most_growth: usize::MAX,
    most_heap: None,
    limit: Limit::Kept,
    has_raised: false,
    increment_step: None,
    poison_nursery: false,
    peak: 0,
    before_sweep: log::Extent::NONE,
    nanoseconds: 0,
    allocation_start: 0,
    root_stack: 0,
    first_roots: ShadowStack::NONE,
    old: OldSpace::new(),
    large: LargeSpace::new(),
    remembered: Stack::new(),
    carded: Stack::new(),
    static_roots: Stack::new(),
    kept: Stack::new(),
    moved: Stack::new(),
    phase: Phase::Waiting,
    gray: Stack::new(),
    slices: Stack::new(),
    marked_small: 0,
    marked_large: 0,
    owed: 0,
    looks: 0,
    shadows: ShadowTable::new(),
    young_weakrefs: Stack::new(),
    old_weakrefs: Stack::new(),
    finalizers: Finalizers::new(),
    links: Links::new(),
    threshold: 0,
    survived: 0,
    stress: false,
    minor_collections: 0,
    major_collections: 0,
};

/// The collector.
///
/// # Safety
/// The caller is the mutator thread and holds no other reference to it.
#[inline]
unsafe fn gc<'a>() -> &'a mut Gc {
    // SAFETY: the caller is the mutator, the only thread that uses `GC`, and holds no other
    // reference to it.
    unsafe {
        let gc = &raw mut GC;
        &mut *gc
    }
}

/// Makes an empty heap for a thread that will use so many bytes of its machine stack.
///
/// # Safety
/// The caller becomes the only mutator thread, and there is no heap.
pub(crate) unsafe fn setup(stack: usize, collector: Collector) {
    let settings = Settings::read();
    // SAFETY: the caller becomes the only mutator thread, and there is no heap whose memory would
    // be lost.
    unsafe {
        if collector != Collector::Generational {
            return setup_other(stack, collector, &settings);
        }
        let (size, most) = match settings.nursery {
            Some(size) => {
                let size = size.clamp(2 * LARGE_OBJECT, MOST_NURSERY) & !0xfff;
                (size, size)
            }
            None if settings.stress => (STRESS_NURSERY, STRESS_NURSERY),
            None => (DEFAULT_NURSERY, DEFAULT_NURSERY * NURSERY_GROWTH),
        };
        setup_with(stack, size, most, &settings);
    }
}

/// The same for a collector without a nursery, with settings that are given.
///
/// # Safety
/// As for [`setup`].
unsafe fn setup_other(stack: usize, collector: Collector, settings: &Settings) {
    // SAFETY: the caller becomes the only mutator thread, and there is no heap whose memory would
    // be lost.
    unsafe {
        start(stack, settings);
        gc().collector = collector;
        if collector == Collector::Boehm {
            boehm::setup();
            boehm::set_most_heap(gc().most_heap);
        }
    }
}

/// What every collector starts with.
unsafe fn start(stack: usize, settings: &Settings) {
    // SAFETY: `setup_with` and `setup_other` call this in the thread that becomes the mutator,
    // before there is a heap.
    unsafe {
        threads::setup();
        let gc = gc();
        gc.collector = Collector::Generational;
        gc.first_roots = ShadowStack::map(stack);
        gc.root_stack = gc.first_roots.start();
        gc.stress = settings.stress;
        gc.most_heap = settings.most_heap;
        (gc.limit, gc.has_raised) = (Limit::Kept, false);
        gc.phase = Phase::Waiting;
        gc.owed = 0;
        control::set_enabled(true);
        gc.survived = 0;
        gc.minor_collections = 0;
        gc.major_collections = 0;
        let s = state();
        (*s).root_stack_top = gc.root_stack as *mut usize;
        let here = 0u8;
        let end = (&raw const here as usize).saturating_sub(stack);
        stacks::start(gc.first_roots.extent(end));
        // Code relies on it that this is not null.
        (*s).nursery_free = NOWHERE;
        (*s).nursery_top = NOWHERE;
    }
}

/// Tells the collector where static objects are, if it wants to know: not in executables,
/// where it finds out.
///
/// # Safety
/// The heap is set up; the memory stays mapped as long as that.
pub unsafe fn add_static_data(data: core::ops::Range<usize>) {
    // SAFETY: the caller has set the heap up and keeps `data` mapped until `teardown`, which
    // removes the range from the library.
    unsafe {
        if gc().collector == Collector::Boehm {
            boehm::add_static_data(data);
        }
    }
}

/// Whether the collector looks for objects on machine stacks.
pub(crate) fn scans_stacks() -> bool {
    // SAFETY: reads a word that stays the same as long as a program runs.
    unsafe { gc().collector == Collector::Boehm }
}

/// Whether the collector counts references.
pub(crate) fn counts_references() -> bool {
    // SAFETY: reads a word that stays the same as long as a program runs.
    unsafe { gc().collector == Collector::Ref }
}

/// What of the system a program with that collector needs and does not have here.
pub fn missing_library(collector: Collector) -> Option<&'static str> {
    match collector {
        Collector::Boehm => boehm::missing(),
        Collector::Generational | Collector::Ref | Collector::None => None,
    }
}

/// How many objects there are, if references to them are counted.
pub fn counted_objects() -> usize {
    // SAFETY: reads a word.
    unsafe { gc().counted_objects() }
}

/// As [`setup`], with settings that are given, and a nursery that may grow.
///
/// # Safety
/// As for [`setup`].
unsafe fn setup_with(stack: usize, nursery_size: usize, nursery_most: usize, settings: &Settings) {
    // SAFETY: the caller becomes the only mutator thread, and there is no heap whose memory would
    // be lost. The nursery and the part with large pages lie within the new mapping of
    // `nursery_most` bytes.
    unsafe {
        let stress = settings.stress;
        start(stack, settings);
        let gc = gc();
        gc.nursery_size = nursery_size;
        gc.nursery_sizes = Sizes::new(nursery_size, nursery_most);
        gc.nursery_most = nursery_most;
        gc.log_nursery_size();
        gc.nursery = map(nursery_most);
        gc.nursery_end = gc.nursery + nursery_size;
        if nursery_size > pages::HUGE {
            // Of a large page at the start, small programs would not use much.
            pages::prefer_huge(gc.nursery + pages::HUGE, nursery_most - pages::HUGE);
        }
        gc.old.poison = stress;
        gc.allocation_start = gc.nursery;
        gc.poison_nursery = stress || settings.nursery_debug;
        gc.major_collect = settings.major_collect.unwrap_or(MAJOR_COLLECT);
        gc.growth = settings.growth.unwrap_or(GROWTH);
        gc.least_threshold = settings
            .least_heap
            .unwrap_or(nursery_size * LEAST_THRESHOLD);
        gc.most_growth = settings.most_growth.unwrap_or(usize::MAX);
        gc.increment_step = settings.increment_step;
        gc.threshold = gc.most_heap.unwrap_or(usize::MAX).min(gc.least_threshold);
        gc.peak = 0;
        gc.nanoseconds = 0;
        let s = state();
        (*s).nursery_free = gc.nursery;
        (*s).nursery_top = if stress { gc.nursery } else { gc.nursery_end };
    }
}

/// Where the shadow stack in use starts.
///
/// # Safety
/// The caller is the mutator.
pub(crate) unsafe fn root_stack() -> usize {
    // SAFETY: the caller is the mutator, which alone changes the word.
    unsafe { gc().root_stack }
}

/// Changes to another shadow stack; the caller sets its top.
///
/// # Safety
/// The caller is the mutator, and sees to the roots of the one before.
pub(crate) unsafe fn set_root_stack(start: usize) {
    // SAFETY: the caller is the mutator. `bring` of threads and `resume` of stacklets have saved
    // the bounds of the stack before.
    unsafe { gc().root_stack = start }
}

/// Gives the whole heap back.
///
/// # Safety
/// Nothing uses objects any more.
pub unsafe fn teardown() {
    // SAFETY: the program has returned, so nothing uses objects, shadow stacks or the collector's
    // lists any more.
    unsafe {
        threads::teardown();
        stacklet::teardown();
        inspect::teardown();
        boehm::teardown();
        let gc = gc();
        if gc.nursery != 0 {
            unmap(gc.nursery, gc.nursery_most);
        }
        (gc.nursery, gc.nursery_most) = (0, 0);
        gc.bump.release();
        gc.counted.release();
        gc.first_roots.unmap();
        gc.root_stack = 0;
        gc.old.release();
        gc.large.release();
        for stack in [
            &mut gc.remembered,
            &mut gc.carded,
            &mut gc.static_roots,
            &mut gc.kept,
            &mut gc.moved,
            &mut gc.gray,
            &mut gc.young_weakrefs,
            &mut gc.old_weakrefs,
        ] {
            stack.release();
        }
        gc.slices.release();
        gc.finalizers.release();
        gc.links.release();
        gc.shadows.release();
        crate::exc::clear_exception();
    }
}

/// Nanoseconds, since whenever.
fn now() -> i64 {
    os::clock_nanoseconds(i64::from(sys::CLOCK_MONOTONIC))
}

impl Gc {
    #[inline]
    fn is_in_nursery(&self, obj: Obj) -> bool {
        obj.wrapping_sub(self.nursery) < self.nursery_most
    }

    /// Whether an object was made since the last minor collection.
    ///
    /// # Safety
    /// `obj` is null or an object, and no minor collection is going on.
    unsafe fn is_young(&self, obj: Obj) -> bool {
        // SAFETY: `obj` is null or an object that has not moved. Only a header between young large
        // objects is read.
        self.is_in_nursery(obj) || unsafe { self.large.is_young(obj) }
    }

    /// A zeroed object outside the nursery that is old from the start, and in the remembered set, since it
    /// is initialised without write barriers.
    ///
    /// # Safety
    /// The caller is the mutator.
    unsafe fn make_old(&mut self, info: &'static TypeInfo, size: usize) -> Obj {
        let obj = self.large.allocate(size);
        let header = &raw const *info as usize | OUTSIDE;
        // SAFETY: the object has that size.
        unsafe {
            core::ptr::write_bytes(obj as *mut u8, 0, size);
            *(obj as *mut usize) = match info.has_pointers() {
                true => header,
                false => header | TRACK,
            };
        }
        if info.has_pointers() {
            self.remembered.push(obj);
        }
        obj
    }

    /// Makes room for `size` bytes in the nursery and takes them.
    unsafe fn allocate_in_nursery(&mut self, size: usize) -> usize {
        // SAFETY: called by the mutator; the caller's roots are on the shadow stack.
        unsafe {
            let s = state();
            if self.stress {
                self.collect_for_space(size);
            } else if (*s).nursery_top - (*s).nursery_free < size {
                if self.nursery_end - (*s).nursery_free < size {
                    self.collect_for_space(size);
                } else {
                    // The end of a part.
                    let budget = self.part_of_work();
                    self.step(budget, false);
                    if self.phase == Phase::Marking && self.waits_for_rest() {
                        // Marking can end, the sooner the less new there is to mark.
                        self.collect_for_space(size);
                    } else {
                        self.set_top(size);
                    }
                }
            }
            let at = (*s).nursery_free;
            (*s).nursery_free = at + size;
            if self.stress {
                // No inline allocation succeeds, so that every one comes here.
                (*s).nursery_top = (*s).nursery_free;
            }
            at
        }
    }

    /// Undoes the last allocation in the nursery.
    unsafe fn give_back(&mut self, at: usize) {
        // SAFETY: nobody knows of that memory yet.
        unsafe {
            let s = state();
            (*s).nursery_free = at;
            if self.stress {
                (*s).nursery_top = at;
            }
        }
    }

    /// Collects if a large object of that size would let the heap grow too far, and goes on with the
    /// collection that is under way. Young ones that die are to take no more memory than those in a nursery.
    unsafe fn make_room_for_large(&mut self, size: usize) {
        // SAFETY: called by the mutator; the caller's roots are on the shadow stack.
        unsafe {
            let young = self.large.young_bytes;
            if self.stress || young > 0 && young + size > self.nursery_size.max(LEAST_YOUNG_LARGE) {
                self.collect_for_space(0);
            }
            if self.stress {
                return;
            }
            let waiting = self.phase == Phase::Waiting;
            let heap = |gc: &Gc| gc.old_bytes() + gc.large.young_bytes + size;
            if !control::is_enabled() || waiting && heap(self) <= self.threshold {
                return;
            }
            let budget = size.saturating_mul(MARKED_PER_OLD) as isize;
            if !waiting {
                self.step(budget, false);
            }
            if self.waits_for_rest() && heap(self) > self.threshold {
                self.minor_collection();
                if self.phase != Phase::Waiting || heap(self) > self.threshold {
                    self.step(budget, true);
                }
                self.reuse_nursery(0);
            }
            if self.phase == Phase::Waiting {
                self.threshold = self.threshold.max(heap(self));
            }
        }
    }

    unsafe fn collect_for_space(&mut self, size: usize) {
        // SAFETY: called by the mutator, whose roots are on the shadow stack. A minor collection
        // has emptied the nursery before it is resized and reused.
        unsafe {
            let may_end = self.waits_for_rest();
            self.minor_collection();
            self.resize_nursery();
            if self.stress {
                self.step(STRESS_STEP as isize, true);
            } else if control::is_enabled()
                && (may_end || self.parts() == 1)
                && (self.phase != Phase::Waiting || self.old_bytes() > self.threshold)
            {
                // Most comes while the program uses the nursery, not now. What has just become
                // old is new to marking, and must not keep it from ending.
                let new = match self.phase {
                    Phase::Marking if self.survived <= 4 * self.part() => {
                        2 * self.survived as isize
                    }
                    // If it is much, it is marked first; the next time comes early.
                    Phase::Waiting | Phase::Marking | Phase::Sweeping => 0,
                };
                let budget = self.part_of_work().max(new);
                self.step(budget, true);
            }
            self.reuse_nursery(size);
        }
    }

    /// After a minor collection: allocation starts again in the nursery.
    unsafe fn reuse_nursery(&mut self, size: usize) {
        // SAFETY: the caller is the mutator, to which the words of the state belong.
        unsafe {
            let s = state();
            self.nursery_end = self.nursery + self.nursery_size;
            if self.stress {
                // Go on behind the last object, so that stale pointers keep meeting
                // poison rather than new objects.
                if self.nursery_end - (*s).nursery_free < size {
                    (*s).nursery_free = self.nursery;
                }
            } else {
                (*s).nursery_free = self.nursery;
                self.set_top(size);
            }
            self.allocation_start = (*s).nursery_free;
        }
    }

    /// Sets up to where emitted code may allocate before the next step.
    unsafe fn set_top(&mut self, size: usize) {
        // SAFETY: the caller is the mutator, to which the words of the state belong.
        unsafe {
            let s = state();
            (*s).nursery_top = match control::is_enabled() && !self.waits_for_rest() {
                true => self
                    .nursery_end
                    .min((*s).nursery_free + self.part().max(size)),
                false => self.nursery_end,
            };
        }
    }

    /// After how many bytes of young objects a step of a major collection comes.
    fn part(&self) -> usize {
        (self.nursery_size / PARTS).max(LEAST_PART)
    }

    /// Whether the last minor collection was one of a few parts, or little survived.
    fn survived_little(&self) -> bool {
        self.survived <= 4 * self.part()
    }

    fn parts(&self) -> usize {
        (self.nursery_size / self.part()).max(1)
    }

    /// How much it has to do, which counts as done then. After the last part comes a minor
    /// collection instead.
    fn part_of_work(&mut self) -> isize {
        let parts = self.parts();
        let work = (self.least_step() / (parts - 1).max(1)).max(self.owed / parts);
        self.owed = self.owed.saturating_sub(work);
        work.max(1) as isize
    }

    /// How much is marked at least while the program goes once through the nursery.
    fn least_step(&self) -> usize {
        (self.increment_step).unwrap_or(self.nursery_size * MARKED_PER_NURSERY)
    }

    /// Makes the empty nursery larger or smaller.
    unsafe fn resize_nursery(&mut self) {
        let before = self.nursery_size;
        // SAFETY: what lies beyond the nursery's end is mapped, and holds nothing.
        unsafe {
            let used = (*state()).nursery_free - self.allocation_start;
            self.nursery_size = self.nursery_sizes.next(used, self.survived);
            if self.nursery_size != before {
                self.log_nursery_size();
            }
            if self.nursery_size < before {
                discard(self.nursery + self.nursery_size, before - self.nursery_size);
            }
        }
    }

    fn log_nursery_size(&self) {
        debug::begin(b"gc-set-nursery-size", false);
        log::nursery_size(self.nursery_size);
        debug::end(b"gc-set-nursery-size", false);
    }

    /// Sets when the next major collection comes, after one that `live` bytes survive.
    fn set_threshold(&mut self, live: usize) {
        let times = |size: usize, factor: f64| (size as f64 * factor) as usize;
        self.threshold = times(live, self.major_collect)
            .min(times(self.threshold, self.growth))
            .max(times(live, LEAST_GROWTH.min(self.major_collect)))
            .min(live.saturating_add(self.most_growth))
            .max(self.least_threshold)
            .min(self.most_heap.unwrap_or(usize::MAX));
    }

    /// A full collection.
    unsafe fn collect(&mut self) {
        // SAFETY: called by the mutator, whose roots are on the shadow stack. The nursery is empty
        // after the minor collection, as the rest requires.
        unsafe {
            self.minor_collection();
            self.resize_nursery();
            self.major_collection();
            self.reuse_nursery(0);
        }
    }

    fn old_bytes(&self) -> usize {
        self.old.bytes + self.large.bytes
    }

    /// Every word of the shadow stack in use.
    fn root_stack_slots(&self) -> impl Iterator<Item = *mut usize> + use<> {
        let base = self.root_stack as *mut usize;
        // SAFETY: reads a word of this thread's; the stack is one mapping.
        let len = unsafe { (*state()).root_stack_top.offset_from(base) } as usize;
        // SAFETY: `i` is below the number of words up to the top, so the word is within the
        // mapping.
        (0..len).map(move |i| unsafe { base.add(i) })
    }
}
