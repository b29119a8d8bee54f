//! Signals where the system has none: a program can note one itself.

use core::sync::atomic::Ordering::Relaxed;

use crate::state::state;

/// A bit for each signal that was noted and not asked for.
static mut NOTED: u128 = 0;

/// The number of a signal that was noted, which is forgotten with this, or -1.
pub fn poll() -> i64 {
    // SAFETY: there is one thread.
    unsafe {
        if NOTED == 0 {
            return -1;
        }
        let number = NOTED.trailing_zeros();
        NOTED &= !(1 << number);
        (*state()).signals.store(u64::from(NOTED != 0), Relaxed);
        i64::from(number)
    }
}

/// Notes a signal as if it had arrived.
pub fn push(number: i64) {
    if (0..65).contains(&number) {
        // SAFETY: there is one thread.
        unsafe {
            NOTED |= 1 << number;
            (*state()).signals.store(1, Relaxed);
        }
    }
}
