//! Programs that are a part of another program: modules of Python.
//!
//! There the heap lives as long as the process, and calls come from threads that others have
//! started. Python's own lock keeps them apart, so there is no other one, and what is done for a
//! call is to see that the words in [`crate::state::State`] are those of the thread that calls:
//! each has a shadow stack, and a limit of its machine stack.
//!
//! Once functions run without Python's lock, or the program starts threads, the lock in
//! [`crate::threads`] is what counts. Nobody may wait for it with Python's lock: who gets
//! [`BUSY`] gives Python's lock up, waits, takes Python's lock and tries again. And nobody has
//! it while waiting for Python's lock.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::stacks::Extent;
use crate::start::{self, ProgramTable, STACK_MAX};
use crate::state::{Location, TRACEBACK_DEPTH, state};
use crate::threads::{self, Entered, Thread};
use crate::{crash, exc, gc, pthread, stacks};

/// The thread is in.
pub const IN: i64 = 0;
/// It was in before.
pub const WAS_IN: i64 = 1;
/// Another thread is in: not this one.
pub const BUSY: i64 = 2;
/// This process is the fork of one in which another thread was in: nobody ever gets in.
pub const BROKEN: i64 = 3;

static IS_BROKEN: AtomicBool = AtomicBool::new(false);

/// Makes the heap and calls the entry point: its exit code. The thread is in, then.
///
/// # Safety
/// Called once. The table describes the program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_extension_start(table: &ProgramTable, with_lock: bool) -> c_int {
    exc::set_standalone();
    crash::set_places(table.places.0);
    let (size, extent) = usable_stack();
    // SAFETY: the module's initialisation calls this once, in the thread that becomes the mutator,
    // with the table of the program that is linked to it.
    unsafe {
        start::setup(size, table.collector());
        stacks::set_current(extent);
        threads::begin(with_lock);
        pthread::at_fork(forked);
        start::call_entry(table, 0, |_| &[])
    }
}

/// Required size of the shadow stack for the calling thread, and the extent of its machine stack.
fn usable_stack() -> (usize, Extent) {
    let (low, high) = pthread::stack_bounds();
    let low = low.max(high.saturating_sub(STACK_MAX as usize));
    (high - low, Extent::new(high, low))
}

/// Before a call of a function of the program.
///
/// # Safety
/// The calling thread has Python's lock, and the program has started.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_extension_enter() -> i64 {
    // SAFETY: the module's functions call this with Python's lock, after `rpy_extension_start`. The
    // words of the state are those of this thread once it is in.
    unsafe {
        let entered = come_in();
        if entered <= WAS_IN {
            // What is in it by the end is the way of this call's exception.
            (*state()).traceback_count = 0;
            // Python may have called from anywhere on its stack.
            if (*state()).root_stack_top as usize == gc::root_stack() {
                stacks::enter();
            }
        }
        entered
    }
}

/// Before such a call goes on, which the thread has left in the middle.
///
/// # Safety
/// As for [`rpy_extension_enter`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_extension_return() -> i64 {
    // SAFETY: the module's functions call this with Python's lock, after `rpy_extension_start`.
    unsafe { come_in() }
}

#[inline]
unsafe fn come_in() -> i64 {
    // SAFETY: the callers have Python's lock, so where the program has no lock no other thread runs
    // here.
    unsafe {
        match threads::is_in() && !IS_BROKEN.load(Relaxed) {
            true => IN,
            false => enter_slowly(),
        }
    }
}

#[cold]
unsafe fn enter_slowly() -> i64 {
    if IS_BROKEN.load(Relaxed) {
        return BROKEN;
    }
    // SAFETY: the callers have Python's lock, so where the program has no lock no other thread runs
    // here.
    match unsafe { threads::let_in(usable_stack, |t| pthread::at_end(ended, t.cast())) } {
        Entered::Now => IN,
        Entered::Before => WAS_IN,
        Entered::Busy => BUSY,
    }
}

unsafe extern "C" fn ended(thread: *mut c_void) {
    // SAFETY: it was given the thread that ends.
    unsafe { threads::note_gone(thread.cast::<Thread>()) }
}

unsafe extern "C" fn forked() {
    // SAFETY: only the thread that forked is here.
    if unsafe { threads::after_foreign_fork() } {
        IS_BROKEN.store(true, Relaxed);
    }
}

/// After it, if the thread was not in before.
///
/// # Safety
/// The thread is in.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_extension_leave() {
    threads::release();
}

/// Ends the process if a function of the program has raised an exception, which C code cannot catch.
///
/// # Safety
/// The thread is in.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_extension_uncaught() {
    // SAFETY: the thread is in, so the words of the state are its own. The program stays loaded.
    unsafe {
        if !(*state()).exc_type.is_null() {
            exc::report_uncaught();
            exc::abort_standalone();
        }
    }
}

/// Waits until nobody is in. Not to be called with Python's lock.
#[unsafe(no_mangle)]
pub extern "C" fn rpy_extension_wait() {
    threads::wait_until_free();
}

/// The way of the exception that was caught last, outermost function first: so many places.
///
/// # Safety
/// There is room for `most` places.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_extension_traceback(out: *mut *const Location, most: i64) -> i64 {
    let mut n = 0;
    // SAFETY: the thread is in, so the words of the state are its own. `out` has room for `most`
    // places, and no more are written.
    unsafe {
        let s = state();
        let count = (*s).traceback_count;
        if count == 0 {
            return 0;
        }
        let last = (*s).traceback[(count - 1) % TRACEBACK_DEPTH];
        exc::each_traceback_location(last.exc_type, &mut |at| {
            if n < most {
                *out.add(n as usize) = at;
                n += 1;
            }
        });
    }
    n
}

/// Names and addresses of the functions here, for a linker in the same process.
pub(crate) fn symbols(out: &mut dyn FnMut(&'static str, *const u8)) {
    out("rpy_extension_start", rpy_extension_start as *const u8);
}
