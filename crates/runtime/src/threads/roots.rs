//! The roots of threads that the collector visits: objects in thread-local variables, machine stacks and registers.

use super::{each, lock, own};
use crate::pthread;
use crate::stacklet::Own;

/// Where the stack of the thread that runs ends.
///
/// # Safety
/// The caller has the lock.
pub(crate) unsafe fn stack_end() -> usize {
    // SAFETY: the caller has the lock, and `own` is alive while its thread runs.
    unsafe {
        let me = own();
        if (*me).stack_end == 0 {
            (*me).stack_end = pthread::stack_end();
        }
        (*me).stack_end
    }
}

/// Calls `range` with the stacks of the threads that wait, and `word` with what else they
/// have, as far as the collector does not see it.
///
/// # Safety
/// The caller is the collector.
pub(crate) unsafe fn each_waiting_stack(range: impl Fn(usize, usize), word: impl Fn(*const usize)) {
    // SAFETY: their stacks are mapped, and they wait for the lock or for what needs none.
    unsafe {
        let running = (*lock()).last;
        each(|t| {
            for object in (*t).objects.as_slice() {
                word(object);
            }
            if t == running || running.is_null() {
                return;
            }
            (*t).slots().for_each(|slot| word(slot));
            word((&raw const (*t).exc_value).cast());
            let [registers @ .., top] = &(*t).registers;
            let top = *top;
            if top != 0 {
                registers.iter().for_each(|r| word(r));
                let end = (*t).stacklets.stack_end().unwrap_or((*t).stack_end);
                range(top, end);
            }
        });
    }
}

/// Calls `visit` with each root of the threads that ran since the last call and do not
/// run now, with their exceptions, and with what is in thread-local variables.
///
/// # Safety
/// The caller is the collector.
pub(crate) unsafe fn visit_fresh(mut visit: impl FnMut(*mut usize)) {
    // SAFETY: the collector has the lock, so no other thread changes the list or its roots; the
    // words are GC pointers.
    unsafe {
        let running = (*lock()).last;
        each(|t| {
            if t != running && core::mem::take(&mut (*t).fresh) {
                (*t).slots().for_each(&mut visit);
                visit((&raw mut (*t).exc_value).cast());
            }
            for object in (*t).objects.as_mut_slice() {
                visit(object);
            }
        });
    }
}

/// The same of all threads.
///
/// # Safety
/// The caller is the mutator.
pub(crate) unsafe fn visit_all(mut visit: impl FnMut(*mut usize)) {
    // SAFETY: the collector has the lock, so no other thread changes the list or its roots; the
    // words are GC pointers.
    unsafe {
        let running = (*lock()).last;
        each(|t| {
            if t != running {
                (*t).slots().for_each(&mut visit);
                visit((&raw mut (*t).exc_value).cast());
            }
            for object in (*t).objects.as_mut_slice() {
                visit(object);
            }
        });
    }
}

/// Calls `visit` with the stacklets of each thread that does not run.
///
/// # Safety
/// As for [`visit_fresh`].
pub(crate) unsafe fn each_stacklets(mut visit: impl FnMut(Own)) {
    // SAFETY: the collector has the lock, so no other thread changes the list.
    unsafe {
        let running = (*lock()).last;
        each(|t| {
            if t != running {
                visit((*t).stacklets);
            }
        });
    }
}
