//! The garbage collector: generational and incremental, in the shape of RPython's
//! incminimark.
//!
//! ```text
//! nursery      bump allocation; emptied by every minor collection, survivors move
//! old space    blocks of equal cells, never moving, mark bits beside the cells;
//!              marked and swept in steps (see [`major`])
//! large        objects from malloc, one list
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
//! `PYPY_GC_NURSERY` sets the size of the nursery (`4M`, `512K`). Without it the nursery
//! starts at the size of a cache and is up to four times as large ([`nursery`]).

pub mod api;
mod boehm;
mod bump;
mod collector;
mod finalize;
pub mod header;
#[cfg(test)]
mod increments;
pub mod inspect;
mod large;
mod major;
mod minor;
mod nursery;
mod old;
#[cfg(test)]
mod others;
#[cfg(test)]
mod random_heaps;
pub mod refcount;
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
use crate::{os, stacklet, threads};
use boehm::Boehm;
use bump::Bump;
use finalize::Finalizers;
use large::LargeSpace;
use major::Phase;
use nursery::Sizes;
use old::OldSpace;
use refcount::Counted;
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
const STRESS_NURSERY: usize = 128 << 10;
/// The next major collection comes when the old generation has grown to this share
/// of what survived the last one, in percent.
const GROWTH_PERCENT: usize = 182;
/// But when it has grown to this share of what the last one came at: much of what survives in a
/// program's youth dies soon (incminimark: `growth_rate_max`).
const MOST_GROWTH_PERCENT: usize = 140;
/// Yet not before it has grown to this share of what survived.
const LEAST_GROWTH_PERCENT: usize = 125;
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
    /// Whether major collections start and go on by themselves.
    enabled: bool,
    shadows: ShadowTable,
    young_weakrefs: Stack<Obj>,
    old_weakrefs: Stack<Obj>,
    finalizers: Finalizers,
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
    enabled: true,
    shadows: ShadowTable::new(),
    young_weakrefs: Stack::new(),
    old_weakrefs: Stack::new(),
    finalizers: Finalizers::new(),
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
    // SAFETY: by contract.
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
    let stress = env_is_set(b"TAIPAN_GC_STRESS");
    // SAFETY: by contract.
    unsafe {
        match nursery_size() {
            _ if collector != Collector::Generational => setup_other(stack, collector, stress),
            Some(size) => setup_with(stack, size, size, stress),
            None if stress => setup_with(stack, STRESS_NURSERY, STRESS_NURSERY, stress),
            None => setup_with(
                stack,
                DEFAULT_NURSERY,
                DEFAULT_NURSERY * NURSERY_GROWTH,
                stress,
            ),
        }
    }
}

/// The same for a collector without a nursery, not looking at the environment.
///
/// # Safety
/// As for [`setup`].
pub(crate) unsafe fn setup_other(stack: usize, collector: Collector, stress: bool) {
    // SAFETY: by contract.
    unsafe {
        start(stack, stress);
        gc().collector = collector;
        if collector == Collector::Boehm {
            boehm::setup();
        }
    }
}

/// What every collector starts with.
unsafe fn start(stack: usize, stress: bool) {
    // SAFETY: by contract of the callers.
    unsafe {
        threads::setup();
        let gc = gc();
        gc.collector = Collector::Generational;
        gc.first_roots = ShadowStack::map(stack);
        gc.root_stack = gc.first_roots.start();
        gc.stress = stress;
        gc.phase = Phase::Waiting;
        gc.enabled = true;
        gc.survived = 0;
        gc.minor_collections = 0;
        gc.major_collections = 0;
        let s = state();
        (*s).root_stack_top = gc.root_stack as *mut usize;
        let here = 0u8;
        (*s).stack_limit = (gc.first_roots).limit((&raw const here as usize).saturating_sub(stack));
        (*s).nursery_free = 0;
        (*s).nursery_top = 0;
    }
}

/// Tells the collector where static objects are, if it wants to know: not in executables,
/// where it finds out.
///
/// # Safety
/// The heap is set up; the memory stays mapped as long as that.
pub unsafe fn add_static_data(data: core::ops::Range<usize>) {
    // SAFETY: by contract.
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
    // SAFETY: as above.
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

/// As [`setup`], not looking at the environment, with a nursery that may grow.
///
/// # Safety
/// As for [`setup`].
pub(crate) unsafe fn setup_with(
    stack: usize,
    nursery_size: usize,
    nursery_most: usize,
    stress: bool,
) {
    // SAFETY: by contract.
    unsafe {
        start(stack, stress);
        let gc = gc();
        gc.nursery_size = nursery_size;
        gc.nursery_sizes = Sizes::new(nursery_size, nursery_most);
        gc.nursery_most = nursery_most;
        gc.nursery = map(nursery_most);
        gc.nursery_end = gc.nursery + nursery_size;
        gc.old.poison = stress;
        gc.allocation_start = gc.nursery;
        gc.least_threshold = nursery_size * LEAST_THRESHOLD;
        gc.threshold = gc.least_threshold;
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
    // SAFETY: by contract.
    unsafe { gc().root_stack }
}

/// Changes to another shadow stack; the caller sets its top.
///
/// # Safety
/// The caller is the mutator, and sees to the roots of the one before.
pub(crate) unsafe fn set_root_stack(start: usize) {
    // SAFETY: by contract.
    unsafe { gc().root_stack = start }
}

/// Gives the whole heap back.
///
/// # Safety
/// Nothing uses objects any more.
pub unsafe fn teardown() {
    // SAFETY: by contract.
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
        gc.shadows.release();
        crate::exc::clear_exception();
    }
}

fn env_is_set(name: &[u8]) -> bool {
    let mut name_buffer = [0; 32];
    let mut value = [0; 8];
    let name_buffer = &mut name_buffer[..name.len()];
    name_buffer.copy_from_slice(name);
    let len = os::getenv(name_buffer, &mut value);
    len > 0 && !(len == 1 && value[0] == b'0')
}

/// What the environment asks for.
fn nursery_size() -> Option<usize> {
    let mut value = [0; 16];
    let mut name = *b"PYPY_GC_NURSERY";
    let len = os::getenv(&mut name, &mut value).clamp(0, value.len() as i64);
    let mut size = 0usize;
    for b in &value[..len as usize] {
        size = match b {
            b'0'..=b'9' => size
                .saturating_mul(10)
                .saturating_add(usize::from(b - b'0')),
            b'k' | b'K' => size.saturating_mul(1 << 10),
            b'm' | b'M' => size.saturating_mul(1 << 20),
            b'g' | b'G' => size.saturating_mul(1 << 30),
            _ => 0,
        };
    }
    match size {
        0 => None,
        n => Some(n.clamp(2 * LARGE_OBJECT, 1 << 32) & !0xfff),
    }
}

impl Gc {
    #[inline]
    fn is_young(&self, obj: Obj) -> bool {
        obj.wrapping_sub(self.nursery) < self.nursery_most
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
                    self.step(self.part_of_work(), false);
                    self.set_top(size);
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

    /// Collects if a large object of that size would let the old generation grow too
    /// far, and goes on with the collection that is under way.
    unsafe fn make_room_for_large(&mut self, size: usize) {
        // SAFETY: called by the mutator; the caller's roots are on the shadow stack.
        unsafe {
            if self.stress {
                return self.collect_for_space(0);
            }
            let waiting = self.phase == Phase::Waiting;
            if !self.enabled || waiting && self.old_bytes() + size <= self.threshold {
                return;
            }
            let budget = size.saturating_mul(MARKED_PER_OLD) as isize;
            if !waiting {
                self.step(budget, false);
            }
            if self.waits_for_rest() && self.old_bytes() + size > self.threshold {
                self.minor_collection();
                self.step(budget, true);
                self.reuse_nursery(0);
            }
            if self.phase == Phase::Waiting {
                self.threshold = self.threshold.max(self.old_bytes() + size);
            }
        }
    }

    unsafe fn collect_for_space(&mut self, size: usize) {
        // SAFETY: as for the caller.
        unsafe {
            self.minor_collection();
            self.resize_nursery();
            if self.stress {
                self.step(STRESS_STEP as isize, true);
            } else if self.enabled
                && (self.waits_for_rest() || self.parts() == 1)
                && (self.phase != Phase::Waiting || self.old_bytes() > self.threshold)
            {
                // Most comes while the program uses the nursery, not now; but what has just left it
                // can be marked, or there might be something left forever.
                let new = 2 * self.survived as isize;
                self.step(self.part_of_work().max(new), true);
            }
            self.reuse_nursery(size);
        }
    }

    /// After a minor collection: allocation starts again in the nursery.
    unsafe fn reuse_nursery(&mut self, size: usize) {
        // SAFETY: the mutator's own words.
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
        // SAFETY: the mutator's own words.
        unsafe {
            let s = state();
            (*s).nursery_top = match self.enabled && !self.waits_for_rest() {
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

    fn parts(&self) -> usize {
        (self.nursery_size / self.part()).max(1)
    }

    /// How much it has to do. After the last part comes a minor collection instead.
    fn part_of_work(&self) -> isize {
        let work = (self.survived * MARKED_PER_OLD).max(self.nursery_size * MARKED_PER_NURSERY);
        (work / (self.parts() - 1).max(1)) as isize
    }

    /// Makes the empty nursery larger or smaller.
    unsafe fn resize_nursery(&mut self) {
        let before = self.nursery_size;
        // SAFETY: what lies beyond the nursery's end is mapped, and holds nothing.
        unsafe {
            let used = (*state()).nursery_free - self.allocation_start;
            self.nursery_size = self.nursery_sizes.next(used, self.survived);
            if self.nursery_size < before {
                discard(self.nursery + self.nursery_size, before - self.nursery_size);
            }
        }
    }

    /// Sets when the next major collection comes, after one that `live` bytes survive.
    fn set_threshold(&mut self, live: usize) {
        let percent = live / 100;
        self.threshold = (percent * GROWTH_PERCENT)
            .min(self.threshold / 100 * MOST_GROWTH_PERCENT)
            .max(percent * LEAST_GROWTH_PERCENT)
            .max(self.least_threshold);
    }

    /// A full collection.
    unsafe fn collect(&mut self) {
        // SAFETY: as for the callees.
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
        // SAFETY: within the mapping.
        (0..len).map(move |i| unsafe { base.add(i) })
    }
}
