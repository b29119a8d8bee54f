//! Room on the machine stack for the compiler, which starts wherever the program is.

use taipan_runtime::stacks;

/// Upper bound of the compiler's stack use, in bytes.
const ROOM: usize = 2 << 20;
/// Size of the separate stack segment, in bytes.
const STACK: usize = 8 << 20;

/// Runs the compiler, on a separate stack segment if the program's stack is almost full. Functions of the program
/// called from there have the same remaining depth.
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
