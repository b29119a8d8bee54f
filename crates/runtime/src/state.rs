//! The words that emitted code reads and writes itself, in one struct behind one
//! symbol, so that a function needs its address once.

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::AtomicU64;

/// Number of entries of the traceback ring; a power of two.
pub const TRACEBACK_DEPTH: usize = 128;

/// State shared by emitted code and runtime. The offsets are part of the contract
/// with code generators: see [`offset`].
#[repr(C)]
pub struct State {
    /// Next free byte of the nursery.
    pub nursery_free: usize,
    /// End of the nursery.
    pub nursery_top: usize,
    /// First free word of the shadow stack.
    pub root_stack_top: *mut usize,
    /// Vtable of the current exception; null if there is none.
    pub exc_type: *mut c_void,
    /// Instance of the current exception; a GC root.
    pub exc_value: *mut c_void,
    /// Lowest address that the machine stack may reach.
    pub stack_limit: usize,
    /// What a function of [`crate::gc::slow`] has to say: those return nothing.
    pub slow_result: usize,
    /// What such a function is given: registers that arguments have to be in would be
    /// where emitted code keeps them all the time.
    pub slow_arguments: [usize; 3],
    /// Not zero if there may be a signal that was noted: see [`crate::signals`].
    pub signals: AtomicU64,
    /// Number of traceback entries ever recorded.
    pub traceback_count: usize,
    /// The last of them, at their number modulo [`TRACEBACK_DEPTH`].
    pub traceback: [TracebackEntry; TRACEBACK_DEPTH],
}

/// One step of an exception on its way up.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TracebackEntry {
    /// Where: a static [`Location`], or one of the marks [`RAISED`], [`CAUGHT`],
    /// [`RERAISED`].
    pub location: usize,
    /// Vtable of the exception.
    pub exc_type: usize,
}

/// Mark: an exception was raised.
pub const RAISED: usize = 0;
/// Mark: it was caught.
pub const CAUGHT: usize = 1;
/// Mark: what was caught is raised again.
pub const RERAISED: usize = 2;

/// A place in the source, as static data of the program.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Location {
    /// Name of the file, ending in a zero byte.
    pub file: *const u8,
    /// Name of the function, likewise.
    pub function: *const u8,
    /// Line, from 1; 0 if unknown.
    pub line: u64,
}

/// Offsets of the fields of [`State`].
pub mod offset {
    use super::State;
    use core::mem::offset_of;

    /// [`State::nursery_free`]
    pub const NURSERY_FREE: i32 = offset_of!(State, nursery_free) as i32;
    /// [`State::nursery_top`]
    pub const NURSERY_TOP: i32 = offset_of!(State, nursery_top) as i32;
    /// [`State::root_stack_top`]
    pub const ROOT_STACK_TOP: i32 = offset_of!(State, root_stack_top) as i32;
    /// [`State::exc_type`]
    pub const EXC_TYPE: i32 = offset_of!(State, exc_type) as i32;
    /// [`State::exc_value`]
    pub const EXC_VALUE: i32 = offset_of!(State, exc_value) as i32;
    /// [`State::stack_limit`]
    pub const STACK_LIMIT: i32 = offset_of!(State, stack_limit) as i32;
    /// [`State::traceback_count`]
    pub const TRACEBACK_COUNT: i32 = offset_of!(State, traceback_count) as i32;
    /// [`State::slow_result`]
    pub const SLOW_RESULT: i32 = offset_of!(State, slow_result) as i32;
    /// [`State::slow_arguments`]
    pub const SLOW_ARGUMENTS: i32 = offset_of!(State, slow_arguments) as i32;
    /// [`State::signals`]
    pub const SIGNALS: i32 = offset_of!(State, signals) as i32;
    /// [`State::traceback`]
    pub const TRACEBACK: i32 = offset_of!(State, traceback) as i32;
}

/// The one instance.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static mut rpy_state: State = State {
    nursery_free: 0,
    nursery_top: 0,
    root_stack_top: ptr::null_mut(),
    exc_type: ptr::null_mut(),
    exc_value: ptr::null_mut(),
    stack_limit: 0,
    traceback_count: 0,
    slow_result: 0,
    slow_arguments: [0; 3],
    signals: AtomicU64::new(0),
    traceback: [TracebackEntry {
        location: RAISED,
        exc_type: 0,
    }; TRACEBACK_DEPTH],
};

/// The one instance, for the runtime's own use.
#[inline]
pub(crate) fn state() -> *mut State {
    &raw mut rpy_state
}
