//! The one thread of a program: its variables. There are no others, and so there is no lock.

use core::sync::atomic::{AtomicI64, Ordering::Relaxed};

use crate::gc;
use crate::memory::Stack;

/// Least stack that a program may ask for.
const LEAST_STACK: i64 = 32 << 10;

/// Its variables: plain words, and objects.
struct Variables {
    words: Stack<u64>,
    objects: Stack<usize>,
}

static mut VARIABLES: Variables = Variables {
    words: Stack::new(),
    objects: Stack::new(),
};

/// What threads would get.
static STACK_SIZE: AtomicI64 = AtomicI64::new(0);

fn variables() -> *mut Variables {
    &raw mut VARIABLES
}

/// Whether there may be more threads than one.
pub(crate) fn started() -> bool {
    false
}

/// The number of this thread.
pub fn ident() -> i64 {
    1
}

/// There is nobody to give way to.
pub fn release() {}

/// There is nobody to wait for.
pub fn take() {}

/// There is nobody to give way to.
pub fn give_way() {}

/// The number of the thread that runs.
pub fn holder() -> i64 {
    ident()
}

/// What new threads would get as stack, 0 if that was never set.
pub fn stack_size() -> i64 {
    STACK_SIZE.load(Relaxed)
}

/// Sets that: 0, or -1 for a size that is not possible.
pub fn set_stack_size(size: i64) -> i64 {
    if size != 0 && size < LEAST_STACK {
        return -1;
    }
    STACK_SIZE.store(size, Relaxed);
    0
}

/// Nothing is to be done.
///
/// # Safety
/// None is needed.
pub(crate) unsafe fn setup() {}

/// Forgets the variables.
///
/// # Safety
/// Nothing uses them any more.
pub(crate) unsafe fn teardown() {
    // SAFETY: there is one thread.
    unsafe {
        (*variables()).words.release();
        (*variables()).objects.release();
    }
}

/// Calls `visit` with what is in thread-local variables.
///
/// # Safety
/// The caller is the collector.
pub(crate) unsafe fn visit_fresh(visit: impl FnMut(*mut usize)) {
    // SAFETY: the collector runs in the one thread, and holds no reference to the variables.
    unsafe { visit_all(visit) }
}

/// The same.
///
/// # Safety
/// The caller is the mutator.
pub(crate) unsafe fn visit_all(mut visit: impl FnMut(*mut usize)) {
    // SAFETY: there is one thread.
    unsafe {
        for object in (*variables()).objects.as_mut_slice() {
            visit(object);
        }
    }
}

/// Threads never switch.
///
/// # Safety
/// None is needed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_thread_switched(_callback: unsafe extern "C" fn()) {}

/// The place of a thread-local variable that holds a word, zero at first. It stays until
/// another one is asked for.
///
/// # Safety
/// The caller is the mutator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_thread_word(number: i64) -> *mut u64 {
    // SAFETY: there is one thread, and the reference to the variables ends with this function.
    unsafe { place(&mut (*variables()).words, number, 0) }
}

/// What a thread-local variable refers to.
///
/// # Safety
/// The caller is the mutator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_thread_object(number: i64) -> usize {
    // SAFETY: there is one thread, and the reference to the variables ends with this function.
    unsafe { *place(&mut (*variables()).objects, number, 0) }
}

/// Sets that.
///
/// # Safety
/// The caller is the mutator; `object` is one or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_thread_set_object(number: i64, object: usize) {
    // SAFETY: there is one thread. The word is not used after `replace`, whose finalizers may move
    // the table.
    unsafe {
        let place = place(&mut (*variables()).objects, number, 0);
        match gc::counts_references() {
            true => gc::refcount::replace(place, object),
            false => *place = object,
        }
    }
}

fn place<T: Copy>(table: &mut Stack<T>, number: i64, none: T) -> *mut T {
    let number = number as usize;
    while table.len() <= number {
        table.push(none);
    }
    &raw mut table.as_mut_slice()[number]
}

/// The errno that this thread of the program has saved, if it has a place of its own.
pub(crate) fn saved_errno() -> Option<*mut i64> {
    None
}
