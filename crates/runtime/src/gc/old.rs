//! The old generation for small objects: 64 KB blocks of equal cells, each with two bits at the
//! start of the block. One says whether the last marking reached the cell: where it is clear the
//! cell is free, and allocation walks over runs of free cells ("bitmap bump"). The other one is
//! for the marking that is going on or comes next. When marking is over the two change roles, so
//! that nothing is swept but the bits themselves: block by block, and before a block is used.

use core::mem::size_of;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::{POISON, scaled};
use crate::memory::Stack;
use crate::pages::{self, discard, forget, map, unmap};

/// Objects above this size are large ones.
pub(crate) const MAX_SMALL: usize = 512;

const BLOCK: usize = scaled(64 << 10);
const CHUNK: usize = scaled(4 << 20);
/// Chunks start at a multiple of this.
const ALIGNMENT: usize = if pages::HUGE > BLOCK {
    pages::HUGE
} else {
    BLOCK
};
/// These chunks have large pages, if there are any: of one in a small heap much might never be used, and
/// to get many takes long at once where the system has to look for them.
const HUGE_CHUNKS: core::ops::Range<usize> = 2..16;
/// No cell is smaller. There is a bit for each place of this size.
const LEAST: usize = 16;
const BITMAP_WORDS: usize = BLOCK / LEAST / 64;
const CLASSES: usize = MAX_SMALL / 8 + 1;

/// What it costs to sweep a block, as so many bytes of marking.
pub(super) const SWEEP_COST: isize = 4 << 10;
/// What it costs to give a block's memory back.
const DISCARD_COST: isize = 32 << 10;

/// A block of whose cells no more than one in so many is free is not searched for it.
const FULL: usize = 32;
/// Who needs a block sweeps up to so many in vain, which may all be full, and takes a new one.
const MOST_SWEPT: usize = 16;

type Bitmap = [u64; BITMAP_WORDS];

#[repr(C, align(16))]
struct Block {
    bitmaps: [Bitmap; 2],
}

const FIRST_CELL: usize = size_of::<Block>();

const BITMAP_BYTES: usize = size_of::<Bitmap>();

/// Which of the bitmaps marking uses: the address of its first word within a block.
static MARKS: AtomicUsize = AtomicUsize::new(0);

/// Blocks whose cells have one size.
struct Class {
    /// The free run in use: its next cell and its end.
    free: usize,
    limit: usize,
    /// The block in use; 0 if there is none.
    block: usize,
    /// Blocks that may have free cells and are not in use yet.
    to_fill: Stack<usize>,
    all: Stack<usize>,
    /// Blocks that nobody has looked at since marking.
    unswept: Stack<usize>,
}

/// All blocks.
pub(crate) struct OldSpace {
    classes: [Class; CLASSES],
    free_blocks: Stack<usize>,
    /// Free blocks that take no memory.
    untouched: Stack<usize>,
    chunks: Stack<usize>,
    /// Bytes handed out since the last marking plus what it reached.
    pub(crate) bytes: usize,
    /// Up to which class blocks are swept.
    swept: usize,
    /// How many free blocks keep their memory while blocks are swept.
    keep: usize,
    /// Whether free cells are overwritten.
    pub(crate) poison: bool,
}

impl OldSpace {
    pub(crate) const fn new() -> Self {
        OldSpace {
            classes: [const {
                Class {
                    free: 0,
                    limit: 0,
                    block: 0,
                    to_fill: Stack::new(),
                    all: Stack::new(),
                    unswept: Stack::new(),
                }
            }; CLASSES],
            free_blocks: Stack::new(),
            untouched: Stack::new(),
            chunks: Stack::new(),
            bytes: 0,
            swept: CLASSES,
            keep: 0,
            poison: false,
        }
    }

    /// How many arenas there are: pieces of memory that were taken from the system.
    pub(crate) fn arenas(&self) -> usize {
        self.chunks.len()
    }

    /// What was ever taken from the system.
    pub(crate) fn mapped_bytes(&self) -> usize {
        self.chunks.len() * CHUNK
    }

    pub(crate) fn release(&mut self) {
        while let Some(chunk) = self.chunks.pop() {
            // SAFETY: nothing uses the heap any more.
            unsafe { unmap(chunk, CHUNK + ALIGNMENT) };
        }
        for c in &mut self.classes {
            c.to_fill.release();
            c.all.release();
            c.unswept.release();
        }
        self.free_blocks.release();
        self.untouched.release();
        self.chunks.release();
        *self = Self::new();
    }

    /// A cell for `size` bytes, a multiple of 8 up to [`MAX_SMALL`]. Its contents are
    /// undefined.
    #[inline]
    pub(crate) fn allocate(&mut self, size: usize) -> usize {
        let size = size.max(LEAST);
        let c = &mut self.classes[size / 8];
        let at = c.free;
        if at + size <= c.limit {
            c.free = at + size;
            return at;
        }
        self.allocate_slow(size)
    }

    #[cold]
    #[inline(never)]
    fn allocate_slow(&mut self, size: usize) -> usize {
        loop {
            let c = &mut self.classes[size / 8];
            if c.block != 0 {
                let end = c.block + BLOCK;
                let mut at = c.limit;
                while at + size <= end && !is_free(at) {
                    at += size;
                }
                if at + size <= end {
                    let run = at;
                    while at + size <= end && is_free(at) {
                        at += size;
                    }
                    c.free = run + size;
                    c.limit = at;
                    self.bytes += at - run;
                    return run;
                }
            }
            let block = self.next_block(size / 8);
            let c = &mut self.classes[size / 8];
            c.block = block;
            c.free = block + FIRST_CELL;
            c.limit = block + FIRST_CELL;
        }
    }

    /// A block for a class that may have free cells.
    fn next_block(&mut self, class: usize) -> usize {
        for _ in 0..MOST_SWEPT {
            if self.classes[class].to_fill.len() > 0 {
                break;
            }
            let Some(block) = self.classes[class].unswept.pop() else {
                break;
            };
            self.sweep_block(class, block, false);
        }
        let c = &mut self.classes[class];
        if let Some(block) = c.to_fill.pop() {
            return block;
        }
        let block = self.new_block();
        self.classes[class].all.push(block);
        block
    }

    fn new_block(&mut self) -> usize {
        let free = self.free_blocks.pop();
        if let Some(b) = free.or_else(|| self.untouched.pop()) {
            *bitmap(b, 0) = [0; BITMAP_WORDS];
            *bitmap(b, BITMAP_BYTES) = [0; BITMAP_WORDS];
            return b;
        }
        let chunk = map(CHUNK + ALIGNMENT);
        let first = (chunk + ALIGNMENT - 1) & !(ALIGNMENT - 1);
        if HUGE_CHUNKS.contains(&self.chunks.len()) {
            // SAFETY: the chunk is mapped.
            unsafe { pages::prefer_huge(first, CHUNK) };
        }
        self.chunks.push(chunk);
        for i in (1..CHUNK / BLOCK).rev() {
            self.untouched.push(first + i * BLOCK);
        }
        first
    }

    /// After marking, when `live` bytes were marked: what is not marked is free from now on.
    /// Free blocks are to keep that many bytes of memory.
    pub(crate) fn start_sweeping(&mut self, live: usize, keep: usize) {
        debug_assert!(self.swept == CLASSES, "the last sweep is over");
        self.bytes = live;
        self.keep = keep / BLOCK;
        self.swept = 0;
        MARKS.store(MARKS.load(Relaxed) ^ BITMAP_BYTES, Relaxed);
        for c in &mut self.classes {
            debug_assert!(c.unswept.len() == 0, "the last sweep is over");
            core::mem::swap(&mut c.all, &mut c.unswept);
            c.to_fill.clear();
            (c.free, c.limit, c.block) = (0, 0, 0);
        }
    }

    /// Sweeps blocks as far as the budget goes. Whether all is done.
    pub(crate) fn sweep(&mut self, budget: &mut isize) -> bool {
        while self.swept < CLASSES {
            while let Some(block) = self.classes[self.swept].unswept.pop() {
                *budget -= SWEEP_COST;
                if self.sweep_block(self.swept, block, true) {
                    *budget -= DISCARD_COST;
                }
                if *budget <= 0 {
                    return false;
                }
            }
            self.swept += 1;
        }
        true
    }

    /// Makes a block ready for use and for the next marking; one without live cells becomes a
    /// free one, if `may_free`. Whether its memory was given back.
    fn sweep_block(&mut self, class: usize, block: usize, may_free: bool) -> bool {
        let marks = MARKS.load(Relaxed);
        if cfg!(miri) || self.poison {
            self.forget_dead(class, block);
        }
        if may_free && bitmap(block, marks ^ BITMAP_BYTES).iter().all(|w| *w == 0) {
            if self.free_blocks.len() < self.keep {
                self.free_blocks.push(block);
                return false;
            }
            // SAFETY: the block is mapped and holds nothing.
            unsafe {
                discard(block, BLOCK);
                pages::avoid_huge(block);
            }
            self.untouched.push(block);
            return true;
        }
        *bitmap(block, marks) = [0; BITMAP_WORDS];
        let live = bitmap(block, marks ^ BITMAP_BYTES).iter();
        let live: usize = live.map(|w| w.count_ones() as usize).sum();
        let cells = (BLOCK - FIRST_CELL) / (class * 8);
        let c = &mut self.classes[class];
        c.all.push(block);
        if cells - live > cells / FULL {
            c.to_fill.push(block);
        }
        false
    }

    /// Overwrites what died, and has Miri take note of it.
    fn forget_dead(&self, class: usize, block: usize) {
        let size = class * 8;
        let mut cell = block + FIRST_CELL;
        while cell + size <= block + BLOCK {
            if is_free(cell) {
                // SAFETY: the cell is free.
                unsafe {
                    if self.poison {
                        core::ptr::write_bytes(cell as *mut u8, POISON, size);
                    }
                    forget(cell, size);
                }
            }
            cell += size;
        }
    }
}

/// The bitmap that starts at such an offset in a block.
fn bitmap<'a>(block: usize, offset: usize) -> &'a mut Bitmap {
    // SAFETY: blocks are mapped, aligned, and start with their bitmaps.
    unsafe { &mut *((block + offset) as *mut Bitmap) }
}

#[inline]
fn word_and_bit<'a>(cell: usize, offset: usize) -> (&'a mut u64, u64) {
    let index = (cell & (BLOCK - 1)) / LEAST;
    (
        &mut bitmap(cell & !(BLOCK - 1), offset)[index / 64],
        1 << (index % 64),
    )
}

/// Whether the last marking that is over did not reach a cell.
#[inline]
fn is_free(cell: usize) -> bool {
    let (word, bit) = word_and_bit(cell, MARKS.load(Relaxed) ^ BITMAP_BYTES);
    *word & bit == 0
}

/// Whether a cell of this space is marked.
#[inline]
pub(crate) fn is_marked(cell: usize) -> bool {
    let (word, bit) = word_and_bit(cell, MARKS.load(Relaxed));
    *word & bit != 0
}

/// Marks a cell of this space; whether it was not marked before.
#[inline]
pub(crate) fn mark(cell: usize) -> bool {
    let (word, bit) = word_and_bit(cell, MARKS.load(Relaxed));
    let new = *word & bit == 0;
    *word |= bit;
    new
}
