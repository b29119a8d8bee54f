//! Room on the machine stack for the compiler, which starts wherever the program is.

use taipan_runtime::stacks;

/// The compiler takes less than that.
const ROOM: usize = 2 << 20;
/// What it gets if less is left.
const STACK: usize = 8 << 20;

/// Runs the compiler, on a stack of its own if the program's is almost full. Functions of
/// the program that it calls there may go as deep as they could have gone here.
pub(crate) fn with_room<T>(f: impl FnOnce() -> T) -> T {
    if stacks::left() > ROOM {
        return f();
    }
    let place = stacks::place();
    stacker::grow(STACK, || {
        let _moved = place.move_here();
        f()
    })
}
