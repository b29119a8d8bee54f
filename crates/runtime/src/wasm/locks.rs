//! The locks of programs where there is one thread: nobody else will ever give one back.

use crate::sys;

fn word(lock: i64) -> *mut bool {
    lock as usize as *mut bool
}

/// A new lock; 0 if there is no memory.
pub fn new_lock() -> i64 {
    // SAFETY: any size may be asked for.
    unsafe { sys::calloc(1, 1) as i64 }
}

/// Ends a lock.
pub fn free_lock(lock: i64) {
    // SAFETY: it came from `new_lock`, and nobody uses it any more.
    unsafe { sys::free(word(lock).cast()) }
}

/// Takes a lock unless somebody has it.
pub fn try_lock(lock: i64) -> bool {
    // SAFETY: it came from `new_lock`.
    unsafe { !core::mem::replace(&mut *word(lock), true) }
}

/// Gives a lock back: 0, or -1 if nobody has it.
pub fn unlock(lock: i64) -> i64 {
    // SAFETY: it came from `new_lock`.
    match unsafe { core::mem::replace(&mut *word(lock), false) } {
        true => 0,
        false => -1,
    }
}

/// Waits that many microseconds at the most for a lock, for ever if negative: 1 if it was taken, 0 if
/// not; 3 if there is nobody who could give it back.
pub fn wait_for_lock(lock: i64, microseconds: i64, _interruptible: bool) -> i64 {
    if try_lock(lock) {
        return 1;
    }
    if microseconds < 0 {
        return 3;
    }
    crate::os::sleep(microseconds as f64 * 1e-6);
    0
}
