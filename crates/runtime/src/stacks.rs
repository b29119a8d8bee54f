//! The two stacks of what runs: machine stack and shadow stack.
//!
//! Functions that recurse compare the stack pointer with
//! [`crate::state::State::stack_limit`] and raise RuntimeError below it. Nobody looks
//! how full the shadow stack is, because the machine stack always ends first: a function
//! of the program with a frame of n roots takes at least n words of the machine stack
//! (`enter_roots` of the code generator), what the runtime itself pushes is a word per
//! call, which takes as much, and a shadow stack is as large as the part of the machine
//! stack that comes with it.

use crate::pages::{guard, map, unmap};

/// Never used of the machine stack by what checks: room for what does not, such as the
/// runtime itself.
pub(crate) const STACK_RESERVE: usize = 128 << 10;
/// Bytes next to stacks whose touching is a segmentation fault, not corruption.
pub(crate) const GUARD: usize = 64 << 10;

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
        // SAFETY: the end of the mapping.
        unsafe { guard(start + size, GUARD) };
        ShadowStack { start, size }
    }

    /// Gives the memory back, if there is some.
    ///
    /// # Safety
    /// Nobody uses it any more.
    pub(crate) unsafe fn unmap(&mut self) {
        if self.start != 0 {
            // SAFETY: by contract.
            unsafe { unmap(self.start, self.size + GUARD) };
        }
        *self = Self::NONE;
    }

    /// Its lowest address, where it starts.
    pub(crate) fn start(&self) -> usize {
        self.start
    }

    /// How far the machine stack may be used by a thread whose shadow stack is empty here:
    /// not beyond what this is for, and not to where it ends, at `lowest`.
    pub(crate) fn limit(&self, lowest: usize) -> usize {
        let mark = 0u8;
        let here = &raw const mark as usize;
        let end = here.saturating_sub(self.size).max(lowest);
        end.saturating_add(STACK_RESERVE).min(here)
    }
}
