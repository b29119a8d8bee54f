//! Room on the machine stack for the compiler, which starts wherever the program is.

use taipan_runtime::state::rpy_state;

/// The compiler takes less than that.
const ROOM: usize = 2 << 20;
/// What it gets if the program has left less.
const STACK: usize = 8 << 20;

/// The limit of the program's stack, put back afterwards.
struct Limit(usize);

impl Drop for Limit {
    fn drop(&mut self) {
        // SAFETY: the mutator's own state.
        unsafe { rpy_state.stack_limit = self.0 };
    }
}

/// Runs the compiler, on a stack of its own if the program's is almost full. Functions of
/// the program that it calls there have as much room as was left: the shadow stack has not
/// become longer.
pub(crate) fn with_room<T>(f: impl FnOnce() -> T) -> T {
    // SAFETY: the mutator's own state.
    let limit = unsafe { rpy_state.stack_limit };
    let left = here().saturating_sub(limit);
    if left > ROOM {
        return f();
    }
    stacker::grow(STACK, || {
        let _limit = Limit(limit);
        // SAFETY: as above.
        unsafe { rpy_state.stack_limit = here() - left };
        f()
    })
}

/// An address in the frame of the caller, or close to it.
#[inline(never)]
fn here() -> usize {
    let mark = 0u8;
    std::hint::black_box(&raw const mark) as usize
}
