//! Signals, noted when they arrive and asked for by the program when it likes.

use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering::SeqCst};

use crate::state::state;
use crate::sys;

/// Numbers of signals are below this.
const COUNT: i64 = 65;

/// A bit for each signal that has arrived and not been asked for.
static ARRIVED: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

/// Where a byte is written for each signal as well, or -1.
static WAKEUP_FD: AtomicI32 = AtomicI32::new(-1);

/// Whether that byte is zero, and not the number of the signal.
static WAKEUP_IS_ZERO: AtomicBool = AtomicBool::new(false);

/// Why writing there failed last, or 0.
static WAKEUP_ERRNO: AtomicI32 = AtomicI32::new(0);

/// What the C library wants to know of a handler.
#[repr(C)]
struct Action {
    handler: usize,
    mask: [u64; 16],
    flags: c_int,
    restorer: usize,
}

unsafe extern "C" {
    fn sigaction(number: c_int, action: *const Action, old: *mut Action) -> c_int;
}

/// Whether [`poll`] may have something to say; emitted code looks before it calls that.
fn pending() -> &'static AtomicU64 {
    // SAFETY: the field is an atomic one, and the state is never moved.
    unsafe { &(*state()).signals }
}

/// Notes that a signal has arrived.
fn arrived(number: usize) {
    ARRIVED[number / 64].fetch_or(1 << (number % 64), SeqCst);
    pending().store(1, SeqCst);
}

extern "C" fn note(number: c_int) {
    arrived(number as usize);
    let fd = WAKEUP_FD.load(SeqCst);
    if fd >= 0 {
        let byte = match WAKEUP_IS_ZERO.load(SeqCst) {
            true => [0],
            false => [number as u8],
        };
        // SAFETY: errno is this thread's own, one byte is read; write() may be called
        // by handlers.
        unsafe {
            let errno = *sys::__errno_location();
            while sys::write(fd, byte.as_ptr(), 1) < 0 {
                let failure = *sys::__errno_location();
                if failure != sys::EINTR {
                    WAKEUP_ERRNO.store(failure, SeqCst);
                    break;
                }
            }
            *sys::__errno_location() = errno;
        }
    }
}

/// What a signal does from now on: 0 what the system does by default, 1 nothing, 2 it
/// is noted. 0 or -errno.
pub fn set(number: i64, what: i64) -> i64 {
    if !(1..COUNT).contains(&number) {
        return -22;
    }
    let handler = match what {
        0 | 1 => what as usize,
        _ => note as extern "C" fn(c_int) as usize,
    };
    let action = Action {
        handler,
        mask: [0; 16],
        flags: 0,
        restorer: 0,
    };
    // SAFETY: the action is laid out as the C library has it.
    unsafe {
        if sigaction(number as c_int, &action, core::ptr::null_mut()) < 0 {
            return -sys::errno();
        }
    }
    0
}

/// The number of a signal that has arrived, which is forgotten with this, or -1.
pub fn poll() -> i64 {
    if pending().swap(0, SeqCst) == 0 {
        return -1;
    }
    for (i, word) in ARRIVED.iter().enumerate() {
        let bits = word.load(SeqCst);
        if bits != 0 {
            let bit = bits.trailing_zeros();
            word.fetch_and(!(1 << bit), SeqCst);
            // There may be more.
            pending().store(1, SeqCst);
            return i as i64 * 64 + i64::from(bit);
        }
    }
    -1
}

/// Notes a signal as if it had arrived.
pub fn push(number: i64) {
    if (0..COUNT).contains(&number) {
        arrived(number as usize);
    }
}

/// Where a byte is written for each signal from now on, or -1; where it was before. The byte is
/// the number of the signal or zero.
pub fn wakeup_fd(fd: i64, is_zero: bool) -> i64 {
    WAKEUP_IS_ZERO.store(is_zero, SeqCst);
    i64::from(WAKEUP_FD.swap(fd as i32, SeqCst))
}

/// Why writing there failed last, which is forgotten with this; 0 if it did not.
pub fn wakeup_errno() -> i64 {
    i64::from(WAKEUP_ERRNO.swap(0, SeqCst))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noted_once() {
        // SIGWINCH, which nobody else in this process cares for.
        let number = 28;
        assert_eq!(set(number, 2), 0);
        push(number);
        note(number as c_int);
        assert_eq!(poll(), number);
        assert_eq!(poll(), -1);
        assert_eq!(set(number, 0), 0);
        assert_eq!(set(99, 2), -22);
    }
}
