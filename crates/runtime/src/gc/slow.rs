//! The collector's functions for slow paths: they leave every register as it was, so that
//! emitted code that hardly ever calls them can keep its values where they are
//! (Cranelift's `preserve_all`). They take and return nothing: their arguments are in
//! [`crate::state::State::slow_arguments`], a new object is in
//! [`crate::state::State::slow_result`]. What they do is in [`super::api`]. WebAssembly has no registers, and
//! for 32-bit x86 there are C compilers alone: there they are functions like others.

use super::TypeInfo;
use super::api::{
    Failure, malloc_fixed_surely, malloc_varsize_surely, rpy_gc_malloc_fixed,
    rpy_gc_malloc_varsize, writebarrier, writebarrier_array,
};
use super::collector::allocate_slowly;
use super::refcount::rpy_gc_decref;
#[cfg(all(unix, not(target_arch = "x86")))]
use crate::platform::preserving_call;
use crate::state::state;

/// Defines functions that leave all registers alone.
macro_rules! preserving {
    ($($(#[$doc:meta])* $name:ident => $target:path;)*) => {
        $(
            $(#[$doc])*
            #[cfg(all(unix, not(target_arch = "x86")))]
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name() {
                preserving_call!($target)
            }

            $(#[$doc])*
            #[cfg(not(all(unix, not(target_arch = "x86"))))]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name() {
                // SAFETY: `$name` is called like `$target`, with arguments in the state.
                unsafe { $target() }
            }
        )*

        #[cfg(unix)]
        pub(super) fn symbols(out: &mut dyn FnMut(&'static str, *const u8)) {
            $(out(stringify!($name), $name as *const u8);)*
        }
    };
}

preserving! {
    /// [`super::api::writebarrier`]
    ///
    /// # Safety
    /// As for that; the arguments are in place.
    rpy_slow_writebarrier => barrier;
    /// [`super::api::writebarrier_array`]
    ///
    /// # Safety
    /// As for that; the arguments are in place.
    rpy_slow_writebarrier_array => barrier_array;
    /// Memory for an object of fixed size below [`super::LARGE_OBJECT`], when the nursery
    /// is full, or null. The caller fills all of it, the header too.
    ///
    /// # Safety
    /// The caller's roots are saved, and the argument, a size in bytes, is in place.
    rpy_slow_malloc => malloc;
    /// [`rpy_gc_malloc_fixed`]
    ///
    /// # Safety
    /// As for that; the argument is in place.
    rpy_slow_malloc_fixed => malloc_fixed;
    /// [`rpy_gc_malloc_varsize`]
    ///
    /// # Safety
    /// As for that; the arguments are in place.
    rpy_slow_malloc_varsize => malloc_varsize;
    /// [`rpy_slow_malloc`], never null: for code that cannot raise MemoryError.
    ///
    /// # Safety
    /// As for that.
    rpy_sure_malloc => malloc_surely;
    /// [`rpy_slow_malloc_fixed`], never null.
    ///
    /// # Safety
    /// As for that.
    rpy_sure_malloc_fixed => sure_malloc_fixed;
    /// [`rpy_slow_malloc_varsize`], never null.
    ///
    /// # Safety
    /// As for that.
    rpy_sure_malloc_varsize => sure_malloc_varsize;
    /// [`rpy_gc_decref`] of an object whose last reference it may be.
    ///
    /// # Safety
    /// As for that; the argument is in place.
    rpy_slow_decref => decref;
}

/// What the function was given.
unsafe fn arguments() -> [usize; 3] {
    // SAFETY: the caller is the mutator, to which the words of the state belong.
    unsafe { (*state()).slow_arguments }
}

unsafe extern "C" fn barrier() {
    // SAFETY: compiled code has left the address of a live object as first argument.
    unsafe {
        let [obj, ..] = arguments();
        writebarrier(obj);
    }
}

unsafe extern "C" fn barrier_array() {
    // SAFETY: compiled code has left the address of a live array, and an index within it.
    unsafe {
        let [obj, index, _] = arguments();
        writebarrier_array(obj, index);
    }
}

unsafe extern "C" fn decref() {
    // SAFETY: compiled code has left the address of a live object, whose reference it gives up.
    unsafe {
        let [obj, ..] = arguments();
        rpy_gc_decref(obj);
    }
}

unsafe extern "C" fn malloc() {
    // SAFETY: compiled code has left a size, saved its roots, and fills the object before it
    // allocates again.
    unsafe {
        let [size, ..] = arguments();
        (*state()).slow_result = allocate_slowly(size, true, Failure::Null);
    }
}

unsafe extern "C" fn malloc_surely() {
    // SAFETY: compiled code has left a size, saved its roots, and fills the object before it
    // allocates again.
    unsafe {
        let [size, ..] = arguments();
        (*state()).slow_result = allocate_slowly(size, true, Failure::Fatal);
    }
}

unsafe extern "C" fn malloc_fixed() {
    // SAFETY: compiled code has saved its roots and left the address of static type information.
    unsafe {
        let [info, ..] = arguments();
        (*state()).slow_result = rpy_gc_malloc_fixed(&*(info as *const TypeInfo));
    }
}

unsafe extern "C" fn sure_malloc_fixed() {
    // SAFETY: compiled code has saved its roots and left the address of static type information.
    unsafe {
        let [info, ..] = arguments();
        (*state()).slow_result = malloc_fixed_surely(&*(info as *const TypeInfo));
    }
}

unsafe extern "C" fn sure_malloc_varsize() {
    // SAFETY: compiled code has saved its roots and left the address of static type information as
    // first argument.
    unsafe {
        let [info, length, zero] = arguments();
        let info = &*(info as *const TypeInfo);
        (*state()).slow_result = malloc_varsize_surely(info, length, zero != 0);
    }
}

unsafe extern "C" fn malloc_varsize() {
    // SAFETY: compiled code has saved its roots and left the address of static type information as
    // first argument.
    unsafe {
        let [info, length, zero] = arguments();
        let info = &*(info as *const TypeInfo);
        (*state()).slow_result = rpy_gc_malloc_varsize(info, length, zero != 0);
    }
}
