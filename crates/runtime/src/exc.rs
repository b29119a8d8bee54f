//! Exceptions that leave the program, and other ends.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::state::{CAUGHT, Location, RAISED, RERAISED, TRACEBACK_DEPTH, TracebackEntry, state};
use crate::string::RpyString;
use crate::{os, sys};

/// Exit code of a program in another process that ends by an uncaught exception or a fatal
/// error: one that the compiler runs itself. An executable aborts.
pub const FATAL_EXIT: i32 = 1;

/// Whether this process is an executable of the program's own.
static STANDALONE: AtomicBool = AtomicBool::new(false);

/// From now on fatal errors end the process by SIGABRT, as those of C programs do.
pub fn set_standalone() {
    STANDALONE.store(true, Relaxed);
}

/// Aborts if this is an executable of the program's own. WebAssembly has no signals, and a trap is told
/// by the host as if the program were at fault: such a program exits with [`FATAL_EXIT`].
pub fn abort_standalone() {
    if cfg!(target_family = "wasm") {
        return;
    }
    if STANDALONE.load(Relaxed) {
        // SAFETY: ends the process.
        unsafe { sys::abort() }
    }
}

/// The exit code of a process that wants to end with that one: hosts of WebAssembly do not take the low
/// bits, as others do.
pub fn exit_code(code: i64) -> c_int {
    match cfg!(target_family = "wasm") {
        true => code as c_int & 0xff,
        false => code as c_int,
    }
}

/// The start of every vtable.
#[repr(C)]
pub struct ObjectVtable {
    /// Number of the class in preorder.
    pub subclassrange_min: i64,
    /// Number after its last subclass.
    pub subclassrange_max: i64,
    /// Name of the class.
    pub name: *mut RpyString,
}

/// Writes `Fatal RPython error: message` and ends the process.
pub fn fatal(message: &[u8]) -> ! {
    print_fatal(message);
    abort_standalone();
    // SAFETY: ends the process.
    unsafe { sys::_exit(FATAL_EXIT) }
}

/// Writes `Fatal RPython error:`, what is missing and what for, and ends the process.
pub(crate) fn fatal_missing(what: &[u8], why: &[u8]) -> ! {
    os::write_all(2, b"Fatal RPython error: no ");
    os::write_all(2, what);
    os::write_all(2, why);
    os::write_all(2, b"\n");
    // SAFETY: ends the process.
    unsafe { sys::_exit(FATAL_EXIT) }
}

/// Ends the process for want of memory.
#[cold]
pub fn out_of_memory() -> ! {
    fatal(b"out of memory")
}

/// Class name of the current exception; none if there is no exception.
///
/// # Safety
/// The program's static data is still mapped.
pub unsafe fn current_exception_name<'a>() -> Option<&'a [u8]> {
    // SAFETY: the exception type is null or a vtable.
    unsafe {
        let vtable = (*state()).exc_type.cast::<ObjectVtable>();
        if vtable.is_null() {
            return None;
        }
        Some(RpyString::bytes((*vtable).name))
    }
}

/// Forgets the current exception.
pub fn clear_exception() {
    // SAFETY: plain stores; one mutator thread.
    unsafe {
        (*state()).exc_type = core::ptr::null_mut::<c_void>();
        (*state()).exc_value = core::ptr::null_mut::<c_void>();
    }
}

/// Forgets the ways that exceptions went so far: the places are in a program that is about
/// to go, or gone.
pub fn clear_tracebacks() {
    // SAFETY: a plain store; one mutator thread.
    unsafe { (*state()).traceback_count = 0 }
}

/// Reports the current exception on stderr as one that nobody caught.
///
/// # Safety
/// There is one, and the program's static data is still mapped.
pub unsafe fn report_uncaught() {
    // SAFETY: the callers have an exception, whose class and traceback are static data of a program
    // that is still loaded.
    unsafe {
        print_traceback((*state()).exc_type as usize);
        if let Some(name) = current_exception_name() {
            print_fatal(name);
        }
    }
}

/// Reports the current exception, if there is one, on stderr after this text, and forgets
/// it.
///
/// # Safety
/// The program's static data is still mapped.
pub(crate) unsafe fn report_ignored(text: &[u8]) {
    // SAFETY: the program is still loaded, so the name of the class, which is static, is mapped.
    if let Some(name) = unsafe { current_exception_name() } {
        os::write_all(2, text);
        os::write_all(2, name);
        os::write_all(2, b"\n");
        clear_exception();
    }
}

fn print_fatal(message: &[u8]) {
    os::write_all(2, b"Fatal RPython error: ");
    os::write_all(2, message);
    os::write_all(2, b"\n");
}

/// The file of helpers and of generated code, which have no line (`file_of_unplaced` of codegen).
const COMPILERS_FILE: &[u8] = b"<taipan>";

/// As in Python, the operation that raised is a line of the program, without the helpers below it. A function
/// that returns the result of a call has left no place: then the helper is all that is known.
unsafe fn print_traceback(exc_type: usize) {
    let mut started = false;
    // SAFETY: `report_uncaught` calls this while the program is loaded: files and functions of
    // locations are static texts with a zero byte at the end.
    let whole = unsafe {
        each_traceback_location(exc_type, &mut |at| {
            if started && os::c_bytes(at.file.cast()) == COMPILERS_FILE {
                return;
            }
            if !core::mem::replace(&mut started, true) {
                os::write_all(2, b"RPython traceback:\n");
            }
            print_location(at, true);
        })
    };
    if started && !whole {
        os::write_all(2, b"  ...\n");
    }
}

/// Calls `f` with the recorded way of the current exception, outermost function first.
///
/// # Safety
/// The program's static data is still mapped.
pub unsafe fn traceback_locations(f: &mut dyn FnMut(&Location)) {
    // SAFETY: the program is still loaded, so recorded locations are mapped.
    unsafe {
        let exc_type = (*state()).exc_type as usize;
        if exc_type != 0 {
            each_traceback_location(exc_type, f);
        }
    }
}

/// Calls `f` with the recorded way of an exception, outermost function first; answers
/// whether that is all of it. Entries between a mark "raised again" and the "caught"
/// before it belong to what happened meanwhile.
pub(crate) unsafe fn each_traceback_location(
    exc_type: usize,
    f: &mut dyn FnMut(&Location),
) -> bool {
    // SAFETY: entries hold marks or static locations.
    unsafe {
        let s = state();
        let count = (*s).traceback_count;
        let mut skipping = false;
        for back in 1..=count.min(TRACEBACK_DEPTH) {
            let entry = (*s).traceback[(count - back) % TRACEBACK_DEPTH];
            if skipping {
                skipping = entry.location != CAUGHT || entry.exc_type != exc_type;
                continue;
            }
            match entry.location {
                RAISED => return true,
                CAUGHT => continue,
                RERAISED => skipping = true,
                at => f(&*(at as *const Location)),
            }
        }
    }
    false
}

/// Writes a line of a traceback. Functions that are not certain to be running are marked.
pub(crate) fn print_location(at: &Location, certain: bool) {
    // SAFETY: the texts are static and end in a zero byte.
    unsafe {
        os::write_all(2, b"  File \"");
        os::write_all(2, os::c_bytes(at.file.cast()));
        os::write_all(2, b"\"");
        if at.line != 0 {
            os::write_all(2, b", line ");
            os::write_all(2, decimal(at.line as i64, &mut [0; 32]));
        }
        os::write_all(2, b", in ");
        os::write_all(2, os::c_bytes(at.function.cast()));
        if !certain {
            os::write_all(2, b" (may have returned)");
        }
        os::write_all(2, b"\n");
    }
}

/// Raises MemoryError, whose class and instance the program has. A traceback starts.
///
/// # Safety
/// There is no current exception.
#[unsafe(no_mangle)]
#[cold]
pub unsafe extern "C" fn rpy_raise_memory_error(class: *mut c_void, value: *mut c_void) {
    // SAFETY: plain stores of the mutator's own words.
    unsafe {
        let s = state();
        ((*s).exc_type, (*s).exc_value) = (class, value);
        let count = (*s).traceback_count;
        (*s).traceback_count = count.wrapping_add(1);
        (*s).traceback[count % TRACEBACK_DEPTH] = TracebackEntry {
            location: RAISED,
            exc_type: class as usize,
        };
    }
}

/// `debug_fatalerror`
///
/// # Safety
/// `message` is a live string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_debug_fatalerror(message: *mut RpyString) {
    // SAFETY: the operation `debug_fatalerror` passes a live string, and nothing runs after this.
    fatal(unsafe { RpyString::bytes(message) })
}

/// `debug_assert`, when the condition is false.
#[unsafe(no_mangle)]
pub extern "C" fn rpy_assert_failed() {
    fatal(b"AssertionError in debug_assert")
}

/// The digits of a number.
pub(crate) fn decimal(n: i64, out: &mut [u8; 32]) -> &[u8] {
    let mut i = out.len();
    let mut rest = n.unsigned_abs();
    loop {
        i -= 1;
        out[i] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if n < 0 {
        i -= 1;
        out[i] = b'-';
    }
    &out[i..]
}
