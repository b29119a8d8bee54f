//! Threads that the program did not start: those of a process that has loaded it as a module
//! (see [`crate::extension`]).

use core::ptr;
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::Relaxed;

use super::{Thread, bring, discard, enlist, lock, make_thread, own, put_away, start, started};
use crate::pthread::{self, Condition, Mutex};
use crate::stacks::Extent;

/// How a thread that is not the program's gets in: see [`crate::extension`].
pub(crate) enum Entered {
    /// It has the lock, if there is one.
    Now,
    /// It had the lock already.
    Before,
    /// Another thread has the lock.
    Busy,
}

/// Whether the thread that calls is the one whose words are there, and nothing else is to be
/// done for it to get in.
///
/// # Safety
/// Where there is no lock, the caller is the only one that runs.
#[inline]
pub(crate) unsafe fn is_in() -> bool {
    // SAFETY: where there is no lock, Python's lock makes the caller the only thread that reads and
    // changes `last`.
    !started() && unsafe { (*lock()).last.cast() == pthread::own() && !(*lock()).last.is_null() }
}

/// Says that the first thread of the program has its words there, and starts the lock if it is
/// needed.
///
/// # Safety
/// Called once, by that thread, before any other one gets in.
pub(crate) unsafe fn begin(with_lock: bool) {
    // SAFETY: `rpy_extension_start` calls this in the first thread, before another one can get in.
    unsafe {
        (*lock()).last = own();
        if with_lock {
            start();
        }
    }
}

/// Lets a thread in that others may have started: it gets what a thread has, and the lock unless
/// another one has it. `adopted` is told of a thread that is new here.
///
/// # Safety
/// Where there is no lock, the caller is the only one that runs.
pub(crate) unsafe fn let_in(
    stack: impl FnOnce() -> (usize, Extent),
    adopted: impl FnOnce(*mut Thread),
) -> Entered {
    // SAFETY: what belongs to the thread is its own; the rest happens with the lock, or alone.
    unsafe {
        let l = lock();
        let mut me: *mut Thread = pthread::own().cast();
        if me.is_null() {
            let (size, extent) = stack();
            me = make_thread(size);
            (*me).ident = pthread::current();
            (*me).stack = extent;
            pthread::set_own(me.cast());
            adopted(me);
        }
        if started() {
            (*l).mutex.lock();
            let holder = (*l).holder;
            if holder.is_null() {
                (*l).holder = me;
                (*l).turn += 1;
                (*l).taken.signal_all();
            }
            (*l).mutex.unlock();
            if holder == me {
                return Entered::Before;
            }
            if !holder.is_null() {
                return Entered::Busy;
            }
        }
        if !(*me).listed {
            enlist(me);
        }
        let last = core::mem::replace(&mut (*l).last, me);
        if last != me {
            if !last.is_null() {
                put_away(last);
            }
            bring(me);
            forget_gone();
        }
        Entered::Now
    }
}

/// Waits until nobody has the lock. The caller does not have it, and does not get it.
pub(crate) fn wait_until_free() {
    // SAFETY: what is read is protected by the mutex.
    unsafe {
        let l = lock();
        (*l).waiting.fetch_add(1, Relaxed);
        (*l).mutex.lock();
        while !(*l).holder.is_null() {
            (*l).free.wait(&(*l).mutex);
        }
        (*l).waiting.fetch_sub(1, Relaxed);
        // The wakeup was meant for a thread that takes the lock, and a thread that gives way expects that.
        (*l).free.signal();
        (*l).taken.signal_all();
        (*l).mutex.unlock();
    }
}

/// Notes that a thread that was let in has ended. It may be another thread's turn.
///
/// # Safety
/// The thread is one of the list, and does nothing here any more.
pub(crate) unsafe fn note_gone(t: *mut Thread) {
    // SAFETY: `t` is in the list, and is freed only after this word is set; it is atomic.
    unsafe { (*t).gone.store(true, Relaxed) }
}

/// Releases the threads that have ended.
unsafe fn forget_gone() {
    // SAFETY: the caller has the lock, or is alone. Such a thread had no roots. Finalizers of its objects may change the
    // list, so the search restarts; no other thread finds it a second time.
    unsafe {
        let mut t = (*lock()).all;
        while !t.is_null() {
            t = if (*t).gone.swap(false, Relaxed) {
                discard(t);
                (*lock()).all
            } else {
                (*t).next
            };
        }
    }
}

/// In the child of a fork that the program has not asked for: whether what another thread did
/// there was interrupted.
///
/// # Safety
/// Nobody else is in this process.
pub(crate) unsafe fn after_foreign_fork() -> bool {
    // SAFETY: this is the only thread of the new process. Mutex and conditions are made again,
    // since other threads may have held them.
    unsafe {
        let l = lock();
        let me: *mut Thread = pthread::own().cast();
        let interrupted = !(*l).holder.is_null() && (*l).holder != me;
        (*l).mutex = Mutex::new();
        (*l).free = Condition::new();
        (*l).taken = Condition::new();
        (*l).waiting = AtomicUsize::new(0);
        if interrupted {
            return true;
        }
        if (*l).last != me {
            (*l).last = ptr::null_mut();
        }
        let mut t = (*l).all;
        while !t.is_null() {
            let next = (*t).next;
            if t != me {
                discard(t);
            }
            t = next;
        }
        false
    }
}
