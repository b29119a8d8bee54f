//! Words that units jump by.

use std::sync::atomic::{AtomicU64, Ordering};

/// How many words are made at once.
const CHUNK: usize = 512;

/// Words that stay where they are.
#[derive(Default)]
pub(crate) struct Words {
    chunks: Vec<Box<[AtomicU64]>>,
    used: usize,
}

impl Words {
    /// The address of a new one.
    pub(crate) fn new_word(&mut self, value: u64) -> usize {
        self.new_words([value])
    }

    /// The address of a new cell: its code, and what its values are.
    pub(crate) fn new_cell(&mut self, code: u64, values: u64) -> usize {
        self.new_words([code, values])
    }

    fn new_words<const N: usize>(&mut self, values: [u64; N]) -> usize {
        if self.used + N > self.chunks.len() * CHUNK {
            self.used = self.chunks.len() * CHUNK;
            self.chunks
                .push((0..CHUNK).map(|_| AtomicU64::new(0)).collect());
        }
        let from = self.used % CHUNK;
        let words = &self.chunks[self.used / CHUNK][from..from + N];
        self.used += N;
        for (word, value) in words.iter().zip(values) {
            word.store(value, Ordering::Release);
        }
        words.as_ptr() as usize
    }
}

/// The address of a new cell's second word, which says what its values are.
pub(crate) fn second(cell: usize) -> usize {
    cell + size_of::<AtomicU64>()
}

/// What is in a word of [`Words`] that is still there.
pub(crate) fn load(at: usize) -> u64 {
    // SAFETY: the caller has the address from `Words`, whose words do not move.
    unsafe { AtomicU64::from_ptr(at as *mut u64) }.load(Ordering::Acquire)
}

/// Changes a word of [`Words`] that is still there.
pub(crate) fn store(at: usize, value: u64) {
    // SAFETY: the caller has the address from `Words`, whose words do not move.
    unsafe { AtomicU64::from_ptr(at as *mut u64) }.store(value, Ordering::Release);
}
