//! Pages of memory from the system.
//!
//! All that the runtime wants of the system's memory is here, so that Miri, which knows no
//! protection of pages and cannot give them back one by one, can run everything else (`just miri`).
//! For Miri, memory that is given back holds nothing at all any more: it says so when something
//! reads what is left of a dead object.

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr;

use crate::{exc, sys};

/// Maps `len` bytes of zeroed memory, which take no space until touched.
pub(crate) fn map(len: usize) -> usize {
    match try_map(len) {
        Some(start) => start,
        None => exc::out_of_memory(),
    }
}

/// The same; none if the system does not have so much.
pub(crate) fn try_map(len: usize) -> Option<usize> {
    let flags = if cfg!(miri) {
        sys::MAP_ANON_PRIVATE
    } else {
        sys::MAP_ANON_PRIVATE_NORESERVE
    };
    map_as(len, flags)
}

/// Whether the system would give that many bytes at once. Collectors end the process where
/// it does not; programs ask before they make something big, and raise MemoryError.
pub(crate) fn room(bytes: i64) -> bool {
    // The C library gives nothing beyond half of the addresses.
    const MOST: usize = isize::MAX as usize - (64 << 10);
    let Some(len) = usize::try_from(bytes).ok().filter(|len| *len < MOST) else {
        return false;
    };
    let len = len.max(1);
    match map_as(len, sys::MAP_ANON_PRIVATE) {
        Some(start) => {
            // SAFETY: the mapping was made just before, and no other code has its address.
            unsafe { unmap(start, len) };
            true
        }
        None => false,
    }
}

fn map_as(len: usize, flags: c_int) -> Option<usize> {
    // SAFETY: a fresh anonymous mapping touches nothing that exists.
    let p = unsafe { sys::mmap(ptr::null_mut(), len, sys::PROT_READ_WRITE, flags, -1, 0) };
    (p as isize != -1).then_some(p as usize)
}

/// Gives back what [`map`] mapped.
///
/// # Safety
/// Nothing uses that memory any more.
pub(crate) unsafe fn unmap(start: usize, len: usize) {
    // SAFETY: the caller owns the mapping and does not use it any more.
    unsafe { sys::munmap(start as *mut c_void, len) };
}

/// Makes every use of these pages a segmentation fault. It is no error if that cannot be done.
///
/// # Safety
/// They are mapped, and nothing uses them.
pub(crate) unsafe fn guard(start: usize, len: usize) {
    if cfg!(miri) {
        // SAFETY: the caller owns the pages and does not use their contents.
        return unsafe { forget(start, len) };
    }
    // SAFETY: the caller owns the pages and does not use them.
    unsafe { sys::mprotect(start as *mut c_void, len, sys::PROT_NONE) };
}

/// Gives the system the space that these pages take. What they hold is undefined afterwards.
///
/// # Safety
/// They are mapped, and nothing uses what they hold.
pub(crate) unsafe fn discard(start: usize, len: usize) {
    if cfg!(miri) {
        // SAFETY: the caller owns the pages and does not use their contents.
        return unsafe { forget(start, len) };
    }
    // SAFETY: the caller owns the pages and does not use their contents.
    unsafe { sys::madvise(start as *mut c_void, len, sys::MADV_DONTNEED) };
}

/// The size of large pages; 1 if memory has none.
pub(crate) const HUGE: usize = if cfg!(miri) { 1 } else { 2 << 20 };

/// Has the system give this memory large pages if it can: those are quicker to get, and to use.
///
/// # Safety
/// It is mapped.
pub(crate) unsafe fn prefer_huge(start: usize, len: usize) {
    if !cfg!(miri) {
        // SAFETY: the pages are mapped, and advice does not change their contents. A failure is
        // no error.
        unsafe { sys::madvise(start as *mut c_void, len, sys::MADV_HUGEPAGE) };
    }
}

/// Has the system make no large page of what is around an address: some of it was given back.
///
/// # Safety
/// The large page, whether or not it is one, is mapped.
pub(crate) unsafe fn avoid_huge(at: usize) {
    if !cfg!(miri) {
        let start = at & !(HUGE - 1);
        // SAFETY: the large page around the address is mapped, and advice changes nothing of what
        // it holds. A failure is no error.
        unsafe { sys::madvise(start as *mut c_void, HUGE, sys::MADV_NOHUGEPAGE) };
    }
}

/// Tells Miri that this memory holds nothing any more. Does nothing otherwise.
///
/// # Safety
/// Nothing uses what it holds.
#[inline]
pub(crate) unsafe fn forget(start: usize, len: usize) {
    /// So many bytes at once, which is much quicker.
    const PIECE: usize = 4096;
    if cfg!(miri) {
        let (mut at, end) = (start, start + len);
        // SAFETY: the caller owns these `len` bytes and does not use their contents.
        unsafe {
            while end - at >= PIECE {
                (at as *mut MaybeUninit<[u8; PIECE]>).write(MaybeUninit::uninit());
                at += PIECE;
            }
            while at < end {
                (at as *mut MaybeUninit<u8>).write(MaybeUninit::uninit());
                at += 1;
            }
        }
    }
}
