//! Pages of memory from the system: what WebAssembly's memory grows by. It never shrinks, so what is
//! given back is kept for the next who asks.

use core::arch::wasm32::{memory_grow, memory_size};

use crate::{exc, sys};

/// The size of a page.
const PAGE: usize = 64 << 10;
/// Number of pages that are never taken: no address behind an object is that of null.
const MOST_PAGES: usize = (1 << 16) - 1;
/// So many pieces of memory that were given back are remembered.
const MOST_FREE: usize = 64;

/// What was given back: addresses and sizes.
static mut FREE: [(usize, usize); MOST_FREE] = [(0, 0); MOST_FREE];

/// Takes `len` bytes of zeroed memory.
pub(crate) fn map(len: usize) -> usize {
    match try_map(len) {
        Some(start) => start,
        None => exc::out_of_memory(),
    }
}

/// The same; none if there is not so much.
pub(crate) fn try_map(len: usize) -> Option<usize> {
    let pages = len.div_ceil(PAGE);
    let len = pages * PAGE;
    // SAFETY: there is one thread, and what is in the table belongs to nobody.
    unsafe {
        let free = &raw mut FREE;
        for entry in (*free).iter_mut().filter(|(_, size)| *size >= len) {
            let (start, size) = *entry;
            *entry = (start + len, size - len);
            core::ptr::write_bytes(start as *mut u8, 0, len);
            return Some(start);
        }
    }
    if pages > MOST_PAGES.saturating_sub(memory_size::<0>()) {
        return None;
    }
    match memory_grow::<0>(pages) {
        usize::MAX => None,
        before => Some(before * PAGE),
    }
}

/// Whether there are that many bytes at once. The C library, which has the large objects, keeps them
/// for that.
pub(crate) fn room(bytes: i64) -> bool {
    let Ok(len) = usize::try_from(bytes) else {
        return false;
    };
    // SAFETY: the block is given back at once.
    unsafe {
        let block = sys::malloc(len.max(1));
        sys::free(block);
        !block.is_null()
    }
}

/// Gives back what [`map`] took.
///
/// # Safety
/// Nothing uses that memory any more.
pub(crate) unsafe fn unmap(start: usize, len: usize) {
    // SAFETY: there is one thread.
    unsafe {
        let free = &raw mut FREE;
        if let Some(entry) = (*free).iter_mut().find(|(_, size)| *size == 0) {
            *entry = (start, len.next_multiple_of(PAGE));
        }
    }
}

/// There is no protection of pages.
///
/// # Safety
/// Any pages will do.
pub(crate) unsafe fn guard(_start: usize, _len: usize) {}

/// There is nobody who could use the space.
///
/// # Safety
/// Any pages will do.
pub(crate) unsafe fn discard(_start: usize, _len: usize) {}

/// There are no large pages.
pub(crate) const HUGE: usize = 1;

/// Does nothing: there are no large pages.
///
/// # Safety
/// Any memory will do.
pub(crate) unsafe fn prefer_huge(_start: usize, _len: usize) {}

/// Does nothing: there are no large pages.
///
/// # Safety
/// Any memory will do.
pub(crate) unsafe fn avoid_huge(_at: usize) {}

/// Does nothing: see the other `pages.rs`.
///
/// # Safety
/// Any memory will do.
#[inline]
pub(crate) unsafe fn forget(_start: usize, _len: usize) {}
