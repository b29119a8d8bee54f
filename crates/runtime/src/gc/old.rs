//! The old generation for small objects: 64 KB blocks of equal cells with mark bits
//! at their start. A cell whose bit is clear is free; allocation walks over runs of
//! free cells ("bitmap bump"), so nothing is swept.

use core::mem::size_of;

use super::scaled;
use crate::memory::Stack;
use crate::pages::{discard, forget, map, unmap};

/// Objects above this size are large ones.
pub(crate) const MAX_SMALL: usize = 512;

const BLOCK: usize = scaled(64 << 10);
const CHUNK: usize = scaled(4 << 20);
const BITMAP_WORDS: usize = BLOCK / 8 / 64;
const CLASSES: usize = MAX_SMALL / 8 + 1;

#[repr(C, align(16))]
struct Block {
    bitmap: [u64; BITMAP_WORDS],
}

const FIRST_CELL: usize = size_of::<Block>();

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
}

/// All blocks.
pub(crate) struct OldSpace {
    classes: [Class; CLASSES],
    free_blocks: Stack<usize>,
    chunks: Stack<usize>,
    /// Bytes handed out since the last collection plus what survived it.
    pub(crate) bytes: usize,
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
                }
            }; CLASSES],
            free_blocks: Stack::new(),
            chunks: Stack::new(),
            bytes: 0,
        }
    }

    pub(crate) fn release(&mut self) {
        while let Some(chunk) = self.chunks.pop() {
            // SAFETY: nothing uses the heap any more.
            unsafe { unmap(chunk, CHUNK + BLOCK) };
        }
        for c in &mut self.classes {
            c.to_fill.release();
            c.all.release();
        }
        self.free_blocks.release();
        self.chunks.release();
        *self = Self::new();
    }

    /// A cell for `size` bytes, a multiple of 8 up to [`MAX_SMALL`]. Its contents are
    /// undefined.
    #[inline]
    pub(crate) fn allocate(&mut self, size: usize) -> usize {
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
                while at + size <= end && is_marked(at) {
                    at += size;
                }
                if at + size <= end {
                    let run = at;
                    while at + size <= end && !is_marked(at) {
                        at += size;
                    }
                    c.free = run + size;
                    c.limit = at;
                    self.bytes += at - run;
                    return run;
                }
            }
            let block = match c.to_fill.pop() {
                Some(b) => b,
                None => {
                    let b = self.new_block();
                    self.classes[size / 8].all.push(b);
                    b
                }
            };
            let c = &mut self.classes[size / 8];
            c.block = block;
            c.free = block + FIRST_CELL;
            c.limit = block + FIRST_CELL;
        }
    }

    fn new_block(&mut self) -> usize {
        if let Some(b) = self.free_blocks.pop() {
            clear_marks(b);
            return b;
        }
        let chunk = map(CHUNK + BLOCK);
        self.chunks.push(chunk);
        let first = (chunk + BLOCK - 1) & !(BLOCK - 1);
        for i in (1..CHUNK / BLOCK).rev() {
            self.free_blocks.push(first + i * BLOCK);
        }
        first
    }

    /// Before marking: forgets all marks and free runs.
    pub(crate) fn start_marking(&mut self) {
        for c in &mut self.classes {
            c.all.as_slice().iter().for_each(|b| clear_marks(*b));
            c.to_fill.clear();
            (c.free, c.limit, c.block) = (0, 0, 0);
        }
    }

    /// After marking, when `live` bytes were marked: empty blocks become free ones,
    /// and their memory is given back beyond `keep` bytes.
    pub(crate) fn finish_marking(&mut self, live: usize, keep: usize) {
        self.bytes = live;
        if cfg!(miri) {
            self.forget_dead();
        }
        let free_blocks = &mut self.free_blocks;
        for c in &mut self.classes {
            let to_fill = &mut c.to_fill;
            c.all.retain_map(|b| {
                let empty = bitmap(b).iter().all(|w| *w == 0);
                if empty {
                    free_blocks.push(b);
                    None
                } else {
                    to_fill.push(b);
                    Some(b)
                }
            });
        }
        for b in free_blocks.as_slice().iter().skip(keep / BLOCK) {
            // SAFETY: the block is mapped and holds nothing.
            unsafe { discard(*b, BLOCK) };
        }
    }

    /// Has Miri take note of what died.
    fn forget_dead(&self) {
        for (words, c) in self.classes.iter().enumerate().skip(1) {
            let size = words * 8;
            for block in c.all.as_slice() {
                let mut cell = block + FIRST_CELL;
                while cell + size <= block + BLOCK {
                    if !is_marked(cell) {
                        // SAFETY: the cell is free.
                        unsafe { forget(cell, size) };
                    }
                    cell += size;
                }
            }
        }
    }
}

fn bitmap<'a>(block: usize) -> &'a mut [u64; BITMAP_WORDS] {
    // SAFETY: blocks are mapped, aligned, and start with their bitmap.
    unsafe { &mut (*(block as *mut Block)).bitmap }
}

fn clear_marks(block: usize) {
    *bitmap(block) = [0; BITMAP_WORDS];
}

#[inline]
fn word_and_bit<'a>(cell: usize) -> (&'a mut u64, u64) {
    let index = (cell & (BLOCK - 1)) / 8;
    (
        &mut bitmap(cell & !(BLOCK - 1))[index / 64],
        1 << (index % 64),
    )
}

/// Whether a cell of this space is marked.
#[inline]
pub(crate) fn is_marked(cell: usize) -> bool {
    let (word, bit) = word_and_bit(cell);
    *word & bit != 0
}

/// Marks a cell of this space; whether it was not marked before.
#[inline]
pub(crate) fn mark(cell: usize) -> bool {
    let (word, bit) = word_and_bit(cell);
    let new = *word & bit == 0;
    *word |= bit;
    new
}
