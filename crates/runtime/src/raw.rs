//! Raw memory of checked builds: what is freed is not used again for a while, and says so in
//! its first word, which code looks at before it uses raw memory.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, Ordering::Acquire, Ordering::Release};

use crate::crash::rpy_check_failed;
use crate::state::Location;
use crate::sys;

/// The first word of memory that was freed. No program has it there by accident.
pub const FREED: u64 = 0xdead_f3ee_d1ad_0bad;
/// What else is in memory that was freed.
const FILL: c_int = 0xdd;
/// So many blocks are kept, and so many bytes.
const MOST_BLOCKS: usize = 4096;
const MOST_BYTES: usize = 32 << 20;

/// Blocks that were freed, as a ring.
struct Quarantine {
    blocks: [usize; MOST_BLOCKS],
    first: usize,
    count: usize,
    bytes: usize,
}

static mut QUARANTINE: Quarantine = Quarantine {
    blocks: [0; MOST_BLOCKS],
    first: 0,
    count: 0,
    bytes: 0,
};
/// Whether a thread is at work on it.
static BUSY: AtomicBool = AtomicBool::new(false);

unsafe extern "C" {
    fn malloc_usable_size(block: *mut c_void) -> usize;
}

impl Quarantine {
    /// Gives the oldest block back.
    unsafe fn give_back(&mut self) {
        let block = self.blocks[self.first] as *mut c_void;
        self.first = (self.first + 1) % MOST_BLOCKS;
        self.count -= 1;
        // SAFETY: it came from the C library and was kept since it was freed.
        unsafe {
            self.bytes -= malloc_usable_size(block);
            block.cast::<u64>().write(0);
            sys::free(block);
        }
    }

    unsafe fn keep(&mut self, block: usize, size: usize) {
        // SAFETY: `rpy_checked_free` calls this while `BUSY` keeps other threads out. The blocks in
        // the ring came from the C library and are kept since they were freed.
        unsafe {
            while self.count == MOST_BLOCKS || self.count > 0 && self.bytes + size > MOST_BYTES {
                self.give_back();
            }
        }
        self.blocks[(self.first + self.count) % MOST_BLOCKS] = block;
        self.count += 1;
        self.bytes += size;
    }
}

/// `free` of checked builds.
///
/// # Safety
/// The block is null or came from the C library; the function that frees it has this frame.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_checked_free(block: usize, location: &'static Location, frame: usize) {
    let start = block as *mut u64;
    // SAFETY: the block is null or came from `malloc`, which gives no less than a word; `keep` is
    // called by one thread at a time.
    unsafe {
        if start.is_null() {
            return;
        }
        if *start == FREED {
            rpy_check_failed(3, location, frame);
        }
        let size = malloc_usable_size(start.cast());
        sys::memset(start.cast(), FILL, size);
        start.write(FREED);
        // Threads take turns; one that has the lock of threads never waits here for another
        // that has not.
        while BUSY.swap(true, Acquire) {
            core::hint::spin_loop();
        }
        let quarantine = &raw mut QUARANTINE;
        (*quarantine).keep(block, size);
        BUSY.store(false, Release);
    }
}
