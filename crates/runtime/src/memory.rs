//! Growable storage of the runtime itself, over the C library's allocator.

use core::ffi::c_void;
use core::mem::size_of;
use core::ptr;

use crate::{exc, sys};

/// Has the machine fetch what is at an address, whatever that is: it will be looked at soon. Not all machines do.
#[inline]
pub(crate) fn prefetch(at: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: nothing is read.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(ptr::without_provenance(at));
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: nothing is read.
    unsafe {
        use core::arch::asm;
        asm!("prfm pldl1keep, [{}]", in(reg) at, options(nostack, readonly, preserves_flags));
    }
    let _ = at;
}

/// A stack of plain values. It is never dropped by itself: the runtime's own state is
/// static, and [`Stack::release`] gives the memory back.
pub(crate) struct Stack<T: Copy> {
    items: *mut T,
    len: usize,
    capacity: usize,
}

impl<T: Copy> Stack<T> {
    pub(crate) const fn new() -> Self {
        Stack {
            items: ptr::null_mut(),
            len: 0,
            capacity: 0,
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        if self.len == self.capacity {
            self.grow();
        }
        // SAFETY: `grow` left room for one more item at the least.
        unsafe { self.items.add(self.len).write(item) };
        self.len += 1;
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<T> {
        self.len = self.len.checked_sub(1)?;
        // SAFETY: items below the old length were written by `push`.
        Some(unsafe { self.items.add(self.len).read() })
    }

    pub(crate) fn as_slice(&self) -> &[T] {
        if self.items.is_null() {
            return &[];
        }
        // SAFETY: `len` items were written by `push`.
        unsafe { core::slice::from_raw_parts(self.items, self.len) }
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        if self.items.is_null() {
            return &mut [];
        }
        // SAFETY: `len` items were written by `push`.
        unsafe { core::slice::from_raw_parts_mut(self.items, self.len) }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Keeps the items that `f` maps to something, in order.
    pub(crate) fn retain_map(&mut self, mut f: impl FnMut(T) -> Option<T>) {
        let mut kept = 0;
        for i in 0..self.len {
            // SAFETY: both indices are below `len`.
            unsafe {
                if let Some(item) = f(self.items.add(i).read()) {
                    self.items.add(kept).write(item);
                    kept += 1;
                }
            }
        }
        self.len = kept;
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    pub(crate) fn release(&mut self) {
        // SAFETY: `items` came from `realloc` or is null.
        unsafe { sys::free(self.items.cast()) };
        *self = Self::new();
    }

    #[cold]
    fn grow(&mut self) {
        self.capacity = (self.capacity * 2).max(64);
        // SAFETY: `items` came from `realloc` or is null.
        let p =
            unsafe { sys::realloc(self.items.cast::<c_void>(), self.capacity * size_of::<T>()) };
        if p.is_null() {
            exc::out_of_memory();
        }
        self.items = p.cast();
    }
}
