//! Samples of a program for a profile: the RPython functions that are running, at each signal of a timer.
//!
//! The variable TAIPAN_PROFILE names a file. Each sample is a line of it: functions, the outermost one first,
//! separated by `;`, and `1`. That is the folded form of flame graphs, whose tools add equal lines up.

use core::cell::UnsafeCell;
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use super::{FLAGS, MOST_CALLS, Table, Way, set};
use crate::debug::CREATE;
use crate::platform::registers;
use crate::{os, sys};

/// The variable.
const VARIABLE: &core::ffi::CStr = c"TAIPAN_PROFILE";

const SIGPROF: c_int = 27;
const ITIMER_PROF: c_int = 2;
/// SA_RESTART: the program's calls do not see the signal.
const RESTART: c_int = 0x1000_0000;
/// Microseconds of CPU time between samples. Kernels that count it more coarsely signal less often.
const INTERVAL: isize = 1000;
/// Longest line in bytes; inner functions of longer ones are left out.
const LONGEST: usize = 16 << 10;

/// Seconds and microseconds.
#[repr(C)]
struct Times {
    interval: [isize; 2],
    value: [isize; 2],
}

unsafe extern "C" {
    fn setitimer(which: c_int, new: *const Times, old: *mut Times) -> c_int;
}

/// The file, or -1.
static FILE: AtomicI32 = AtomicI32::new(-1);
/// Whether a handler is running.
static BUSY: AtomicBool = AtomicBool::new(false);

/// Memory of the handler that is running.
struct Workplace(UnsafeCell<(Option<Table>, [u8; LONGEST])>);

// SAFETY: `begin` fills it before the first signal; then only the handler that has set `BUSY` uses it.
unsafe impl Sync for Workplace {}

static WORKPLACE: Workplace = Workplace(UnsafeCell::new((None, [0; LONGEST])));

/// Begins to take samples if the variable is there, for the program whose places are known. Processes that the program
/// starts do not have the variable.
///
/// # Safety
/// The process has one thread, and the program stays loaded until it ends.
pub(crate) unsafe fn begin() {
    // SAFETY: the name ends in a zero byte; one thread uses the environment and the workplace.
    unsafe {
        let path = sys::getenv(VARIABLE.as_ptr());
        if path.is_null() {
            return;
        }
        let file = sys::open(path, CREATE, 0o666);
        sys::unsetenv(VARIABLE.as_ptr());
        if file < 0 {
            os::write_all(2, b"the file that TAIPAN_PROFILE names cannot be written\n");
            return;
        }
        (*WORKPLACE.0.get()).0 = Table::current();
        FILE.store(file, Ordering::SeqCst);
        set(SIGPROF, sample as *const () as usize, FLAGS | RESTART);
        let each = Times {
            interval: [0, INTERVAL],
            value: [0, INTERVAL],
        };
        setitimer(ITIMER_PROF, &raw const each, core::ptr::null_mut());
    }
}

extern "C" fn sample(_: c_int, _: *const c_void, context: *const c_void) {
    // The handler is running in another thread: this sample is lost.
    if BUSY.swap(true, Ordering::Acquire) {
        return;
    }
    // SAFETY: errno is this thread's own. `BUSY` was not set, so nothing else uses the workplace. The kernel gave the
    // context, and the program is loaded.
    unsafe {
        let errno = *sys::__errno_location();
        let (table, line) = &mut *WORKPLACE.0.get();
        if let Some(table) = table {
            let mut way = Way::default();
            way.running(table, registers(context));
            let length = way.fold(table, line);
            if length > 0 {
                os::write_all(FILE.load(Ordering::SeqCst), &line[..length]);
            }
        }
        *sys::__errno_location() = errno;
    }
    BUSY.store(false, Ordering::Release);
}

impl Way {
    /// Writes the calls as a line. Returns its length; 0 if there are none.
    fn fold(&self, table: &Table, line: &mut [u8; LONGEST]) -> usize {
        const END: &[u8] = b" 1\n";
        let mut length = 0;
        let mut push = |part: &[u8]| {
            let fits = length + part.len() + END.len() < LONGEST;
            if fits {
                line[length..length + part.len()].copy_from_slice(part);
                length += part.len();
            }
            fits
        };
        if self.count > MOST_CALLS {
            push(b"...;");
        }
        let mut functions = 0;
        for call in self.calls[..self.count.min(MOST_CALLS)].iter().rev() {
            let Some(location) = table.find_row(call.pc) else {
                continue;
            };
            // SAFETY: texts of places end in a zero byte.
            let name = unsafe { os::c_bytes(location.function.cast()) };
            if (functions > 0 && !push(b";")) || !push(name) {
                break;
            }
            functions += 1;
        }
        if functions == 0 {
            return 0;
        }
        line[length..length + END.len()].copy_from_slice(END);
        length + END.len()
    }
}
