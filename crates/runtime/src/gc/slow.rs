//! The collector's functions for slow paths: they leave every register as it was, so that
//! emitted code that hardly ever calls them can keep its values where they are
//! (Cranelift's `preserve_all`). They take and return nothing: their arguments are in
//! [`crate::state::State::slow_arguments`], a new object is in
//! [`crate::state::State::slow_result`]. What they do is in [`super::api`].

use core::arch::naked_asm;

use super::TypeInfo;
use super::api::{rpy_gc_malloc_fixed, rpy_gc_malloc_varsize, writebarrier, writebarrier_array};
use super::collector::allocate_slowly;
use crate::state::state;

/// Defines functions that save all registers, call one with C's conventions and restore
/// them. Of vector registers 128 bits are saved: emitted code uses no more.
macro_rules! preserving {
    ($($(#[$doc:meta])* $name:ident => $target:path;)*) => {
        $(
            $(#[$doc])*
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name() {
                naked_asm!(
                    "push rbp",
                    "mov rbp, rsp",
                    "push rax",
                    "push rcx",
                    "push rdx",
                    "push rsi",
                    "push rdi",
                    "push r8",
                    "push r9",
                    "push r10",
                    "push r11",
                    "sub rsp, 264",
                    "movups [rsp], xmm0",
                    "movups [rsp + 16], xmm1",
                    "movups [rsp + 32], xmm2",
                    "movups [rsp + 48], xmm3",
                    "movups [rsp + 64], xmm4",
                    "movups [rsp + 80], xmm5",
                    "movups [rsp + 96], xmm6",
                    "movups [rsp + 112], xmm7",
                    "movups [rsp + 128], xmm8",
                    "movups [rsp + 144], xmm9",
                    "movups [rsp + 160], xmm10",
                    "movups [rsp + 176], xmm11",
                    "movups [rsp + 192], xmm12",
                    "movups [rsp + 208], xmm13",
                    "movups [rsp + 224], xmm14",
                    "movups [rsp + 240], xmm15",
                    "call {target}",
                    "movups xmm0, [rsp]",
                    "movups xmm1, [rsp + 16]",
                    "movups xmm2, [rsp + 32]",
                    "movups xmm3, [rsp + 48]",
                    "movups xmm4, [rsp + 64]",
                    "movups xmm5, [rsp + 80]",
                    "movups xmm6, [rsp + 96]",
                    "movups xmm7, [rsp + 112]",
                    "movups xmm8, [rsp + 128]",
                    "movups xmm9, [rsp + 144]",
                    "movups xmm10, [rsp + 160]",
                    "movups xmm11, [rsp + 176]",
                    "movups xmm12, [rsp + 192]",
                    "movups xmm13, [rsp + 208]",
                    "movups xmm14, [rsp + 224]",
                    "movups xmm15, [rsp + 240]",
                    "add rsp, 264",
                    "pop r11",
                    "pop r10",
                    "pop r9",
                    "pop r8",
                    "pop rdi",
                    "pop rsi",
                    "pop rdx",
                    "pop rcx",
                    "pop rax",
                    "pop rbp",
                    "ret",
                    target = sym $target,
                )
            }
        )*

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
    /// is full. The caller fills all of it, the header too.
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
}

/// What the function was given.
unsafe fn arguments() -> [usize; 3] {
    // SAFETY: the mutator's own words.
    unsafe { (*state()).slow_arguments }
}

unsafe extern "C" fn barrier() {
    // SAFETY: by contract.
    unsafe {
        let [obj, ..] = arguments();
        writebarrier(obj);
    }
}

unsafe extern "C" fn barrier_array() {
    // SAFETY: by contract.
    unsafe {
        let [obj, index, _] = arguments();
        writebarrier_array(obj, index);
    }
}

unsafe extern "C" fn malloc() {
    // SAFETY: by contract.
    unsafe {
        let [size, ..] = arguments();
        (*state()).slow_result = allocate_slowly(size, true);
    }
}

unsafe extern "C" fn malloc_fixed() {
    // SAFETY: by contract: the argument is the address of type information.
    unsafe {
        let [info, ..] = arguments();
        (*state()).slow_result = rpy_gc_malloc_fixed(&*(info as *const TypeInfo));
    }
}

unsafe extern "C" fn malloc_varsize() {
    // SAFETY: by contract: the first argument is the address of type information.
    unsafe {
        let [info, length, zero] = arguments();
        let info = &*(info as *const TypeInfo);
        (*state()).slow_result = rpy_gc_malloc_varsize(info, length, zero != 0);
    }
}
