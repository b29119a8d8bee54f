//! Where blocks lie.

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use mimalloc::MiMalloc;

use crate::GENERATION_VARIABLE;

/// Below it the allocator itself looks for memory, above it the kernel does.
const FIRST: usize = 0x2000_0000_0000;
/// Addresses from one generation to the next.
const STRIDE: usize = 1 << 36;
/// How much of them can be used. The rest catches what runs beyond.
pub(crate) const ROOM: usize = STRIDE / 2;
/// What the allocator manages as one; it can do no more than some 16 GiB.
const PIECE: usize = 8 << 30;
/// More are not kept apart: what was freed in earlier ones would be most of the file.
pub(crate) const GENERATIONS: usize = 8;
/// What is written or left out as a whole; what the allocator divides memory into.
pub(crate) const BLOCK: usize = 64 << 10;

unsafe extern "C" {
    /// Gives memory to mimalloc (`mimalloc.h`): where it begins, its length, whether it is there
    /// already, whether it cannot be given back, whether it is empty, the NUMA node, whether only
    /// heaps that ask for it get it, and where to put its name.
    fn mi_manage_os_memory_ex(
        start: *mut libc::c_void,
        size: usize,
        is_committed: bool,
        is_pinned: bool,
        is_zero: bool,
        numa_node: libc::c_int,
        exclusive: bool,
        arena: *mut *mut libc::c_void,
    ) -> bool;
}

/// Where this process allocates; 0 if nothing is reserved.
static OWN: AtomicUsize = AtomicUsize::new(0);
/// How many bytes from [`FIRST`] on are mapped from a file.
static MAPPED: AtomicUsize = AtomicUsize::new(0);
/// Some block lies outside.
static OUTSIDE: AtomicBool = AtomicBool::new(false);

/// The allocator: mimalloc, which takes its memory from the generation that is this process's.
pub struct Heap;

/// Where a generation begins.
pub(crate) fn base(generation: usize) -> usize {
    FIRST + generation * STRIDE
}

/// The generation that this process allocates in; none if nothing could be reserved.
pub fn own_generation() -> Option<usize> {
    let own = OWN.load(Relaxed);
    (own != 0).then(|| (own - FIRST) / STRIDE)
}

/// Whether every block of this process lies where it could be saved.
pub fn is_reserved() -> bool {
    own_generation().is_some() && !OUTSIDE.load(Relaxed)
}

/// The generation after the ones up to `last`, if there may be one.
pub fn next_generation(last: usize) -> Option<usize> {
    (last + 1 < GENERATIONS).then_some(last + 1)
}

/// From now on the generations before this process's are mapped.
pub(crate) fn note_mapped(generations: usize) {
    MAPPED.store(generations * STRIDE, Relaxed);
}

/// Reserves the addresses of this process's generation. It must run before the first block is
/// allocated: an executable names it in its `.init_array`. Where the system does not give
/// the addresses (a limit of address space, an emulator), memory comes from anywhere and
/// cannot be saved.
pub extern "C" fn reserve() {
    let mut name = [0; GENERATION_VARIABLE.len() + 1];
    name[..GENERATION_VARIABLE.len()].copy_from_slice(GENERATION_VARIABLE.as_bytes());
    // SAFETY: the name ends in a zero, and there is no other thread yet.
    let value = unsafe { libc::getenv(name.as_ptr().cast()) };
    let generation = match value.is_null() {
        true => 0,
        // SAFETY: the value of a variable is a string with an end.
        false => match unsafe { std::ffi::CStr::from_ptr(value) }.to_bytes() {
            [digit @ b'0'..=b'9', b':', ..] => usize::from(digit - b'0'),
            _ => 0,
        },
    };
    if generation >= GENERATIONS {
        return;
    }
    let start = base(generation);
    if !reserve_generation(generation) {
        return;
    }
    for piece in (start..start + ROOM).step_by(PIECE) {
        let mut arena = std::ptr::null_mut();
        // SAFETY: the memory is there, empty, and for the allocator alone.
        let managed = unsafe {
            mi_manage_os_memory_ex(
                piece as *mut _,
                PIECE,
                true,
                false,
                true,
                -1,
                false,
                &raw mut arena,
            )
        };
        if managed {
            OWN.store(start, Relaxed);
        }
    }
}

/// Takes the addresses of a generation, which is empty then.
pub(crate) fn reserve_generation(generation: usize) -> bool {
    let flags =
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    let both = libc::PROT_READ | libc::PROT_WRITE;
    let start = base(generation);
    // SAFETY: a new mapping that replaces none.
    let at = unsafe { libc::mmap(start as *mut _, ROOM, both, flags, -1, 0) };
    if at as usize != start && at != libc::MAP_FAILED {
        // A kernel that does not know the flag chose another place.
        // SAFETY: the mapping just made, which nobody knows.
        unsafe { libc::munmap(at, ROOM) };
    }
    at as usize == start
}

/// Gives the addresses of a generation back, whatever is there.
///
/// # Safety
/// Nobody refers to anything in it.
pub(crate) unsafe fn release_generation(generation: usize) {
    // SAFETY: as the caller promises; the range is that of `reserve_generation`.
    unsafe { libc::munmap(base(generation) as *mut _, ROOM) };
}

/// Notes a block that cannot be saved.
#[cold]
fn outside(block: *mut u8) {
    if !block.is_null() {
        OUTSIDE.store(true, Relaxed);
    }
}

#[inline]
fn noted(block: *mut u8) -> *mut u8 {
    if (block as usize).wrapping_sub(OWN.load(Relaxed)) >= ROOM {
        outside(block);
    }
    block
}

#[inline]
fn is_mapped(block: *mut u8) -> bool {
    (block as usize).wrapping_sub(FIRST) < MAPPED.load(Relaxed)
}

// SAFETY: mimalloc's promises hold for its own blocks. Blocks of mapped generations are never
// given to it: they are never freed, and one that grows moves to a block of this process.
unsafe impl GlobalAlloc for Heap {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        noted(unsafe { MiMalloc.alloc(layout) })
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        noted(unsafe { MiMalloc.alloc_zeroed(layout) })
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if !is_mapped(block) {
            // SAFETY: as the caller promises; the block is mimalloc's.
            unsafe { MiMalloc.dealloc(block, layout) }
        }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !is_mapped(block) {
            // SAFETY: as the caller promises; the block is mimalloc's.
            return noted(unsafe { MiMalloc.realloc(block, layout, size) });
        }
        // SAFETY: the caller promises a size that goes with the alignment.
        let new = unsafe { self.alloc(Layout::from_size_align_unchecked(size, layout.align())) };
        if !new.is_null() {
            // SAFETY: both blocks are at least that long, and one of them is new.
            unsafe { std::ptr::copy_nonoverlapping(block, new, layout.size().min(size)) };
        }
        new
    }
}
