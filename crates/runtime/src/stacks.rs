//! The two stacks of what runs: machine stack and shadow stack.
//!
//! Functions that recurse compare the stack pointer with
//! [`crate::state::State::stack_limit`] and raise StackOverflow below it. The limit lies
//! [`DEFAULT_LENGTH`] bytes below the place where the program entered the machine stack, or
//! as far as the program has asked for (`rstack._stack_set_length_fraction`), but never
//! beyond the end of the stack. A change holds for all threads and stacklets: each has an
//! [`Extent`], and its limit is computed when it gets to run.
//!
//! The shadow stack needs no check of its own, because the machine stack always ends first: a
//! function of the program with a frame of n roots takes at least n words of the machine stack
//! (`enter_roots` of the code generator), what the runtime itself pushes is a word per
//! call, which takes as much, and a shadow stack is as large as the part of the machine
//! stack that comes with it.

use crate::pages::{guard, map, unmap};
use crate::state::state;

/// Default limit of the machine stack in bytes: the original's `MAX_STACK_SIZE`.
const DEFAULT_LENGTH: usize = 768 << 10;

/// Never used of the machine stack by what checks: room for what does not, such as the
/// runtime itself.
pub(crate) const STACK_RESERVE: usize = 128 << 10;
/// Bytes next to stacks whose touching is a segmentation fault, not corruption.
pub(crate) const GUARD: usize = 64 << 10;

/// The part of a machine stack that belongs to the program. Stacks grow downwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Address at which the program entered the stack.
    base: usize,
    /// Lowest address that a checked function may use.
    lowest: usize,
}

/// The limit of stacks, and the active stack.
struct Depth {
    /// Limit in bytes below the base.
    length: usize,
    /// Critical code is running: only the end of the stack limits it.
    critical: bool,
    current: Extent,
}

static mut DEPTH: Depth = Depth {
    length: DEFAULT_LENGTH,
    critical: false,
    current: Extent::NONE,
};

impl Extent {
    /// Extent of a thread that has not run yet.
    pub(crate) const NONE: Extent = Extent { base: 0, lowest: 0 };

    /// The program enters the stack at `base`; the stack ends at `end`.
    pub(crate) fn new(base: usize, end: usize) -> Extent {
        let lowest = end.saturating_add(STACK_RESERVE).min(base);
        Extent { base, lowest }
    }

    /// The extent where everything lies `distance` bytes lower.
    fn lowered(self, distance: usize) -> Extent {
        Extent {
            base: self.base.wrapping_sub(distance),
            lowest: self.lowest.wrapping_sub(distance),
        }
    }
}

impl Depth {
    fn limit(&self) -> usize {
        match self.critical {
            true => self.current.lowest,
            false => (self.current.base.saturating_sub(self.length)).max(self.current.lowest),
        }
    }
}

fn depth() -> &'static mut Depth {
    let depth = &raw mut DEPTH;
    // SAFETY: only the mutator calls this, and no caller keeps the reference.
    unsafe { &mut *depth }
}

fn apply() {
    // SAFETY: the caller is the mutator, to which the words of the state belong.
    unsafe { (*state()).stack_limit = depth().limit() }
}

/// Resets the limit for a new heap whose thread has entered its stack.
pub(crate) fn start(extent: Extent) {
    depth().length = DEFAULT_LENGTH;
    depth().critical = false;
    set_current(extent);
}

/// The active stack.
pub(crate) fn current() -> Extent {
    depth().current
}

/// Switches to another stack, or to another part of the active one.
pub(crate) fn set_current(extent: Extent) {
    depth().current = extent;
    apply();
}

/// Sets the base of the active stack to the caller's frame.
pub(crate) fn enter() {
    let extent = Extent {
        base: here(),
        ..current()
    };
    set_current(extent);
}

/// `rstack._stack_set_length_fraction(fraction)`
pub(crate) fn set_length_fraction(fraction: f64) {
    depth().length = (DEFAULT_LENGTH as f64 * fraction) as usize;
    apply();
}

/// `rstack._stack_criticalcode_start()` and `_stop()`
pub(crate) fn set_critical(critical: bool) {
    depth().critical = critical;
    apply();
}

/// Whether the stack is deeper than it may be.
pub(crate) fn is_too_big() -> bool {
    here() < depth().limit()
}

/// Whether less than a sixteenth of the stack is left.
pub(crate) fn is_almost_full() -> bool {
    let (limit, base) = (depth().limit(), current().base);
    here() < limit + base.saturating_sub(limit) / 16
}

/// Number of bytes before the end of the machine stack, regardless of the limit.
pub fn left() -> usize {
    here().saturating_sub(current().lowest)
}

/// A position on the active machine stack.
#[derive(Clone, Copy)]
pub struct Place {
    extent: Extent,
    at: usize,
}

/// The position of the caller.
pub fn place() -> Place {
    Place {
        extent: current(),
        at: here(),
    }
}

impl Place {
    /// Continues the program on another stack, at the caller's frame, with the room that was left at this position: the
    /// shadow stack did not grow. Lasts as long as the result lives.
    pub fn move_here(self) -> Moved {
        set_current(self.extent.lowered(self.at.wrapping_sub(here())));
        Moved(self.extent)
    }
}

/// Guard: the program runs on another stack than its own.
pub struct Moved(Extent);

impl Drop for Moved {
    fn drop(&mut self) {
        set_current(self.0);
    }
}

/// An address in the frame of the caller, or close to it.
#[inline(never)]
fn here() -> usize {
    let mark = 0u8;
    core::hint::black_box(&raw const mark) as usize
}

/// Memory for roots.
pub(crate) struct ShadowStack {
    start: usize,
    size: usize,
}

impl ShadowStack {
    /// None yet.
    pub(crate) const NONE: ShadowStack = ShadowStack { start: 0, size: 0 };

    /// For `machine` bytes of the machine stack. It takes no space until touched.
    pub(crate) fn map(machine: usize) -> ShadowStack {
        let size = machine.next_multiple_of(GUARD);
        let start = map(size + GUARD);
        // SAFETY: the new mapping has `GUARD` bytes behind `size`.
        unsafe { guard(start + size, GUARD) };
        ShadowStack { start, size }
    }

    /// Gives the memory back, if there is some.
    ///
    /// # Safety
    /// Nobody uses it any more.
    pub(crate) unsafe fn unmap(&mut self) {
        if self.start != 0 {
            // SAFETY: no thread uses the stack any more, and this value owns its mapping.
            unsafe { unmap(self.start, self.size + GUARD) };
        }
        *self = Self::NONE;
    }

    /// Its lowest address, where it starts.
    pub(crate) fn start(&self) -> usize {
        self.start
    }

    /// Extent of the machine stack of a thread whose shadow stack is empty here, limited by the size of the shadow
    /// stack and by `end`, the end of the machine stack.
    pub(crate) fn extent(&self, end: usize) -> Extent {
        let here = here();
        Extent::new(here, here.saturating_sub(self.size).max(end))
    }
}
