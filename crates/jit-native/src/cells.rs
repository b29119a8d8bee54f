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
        if self.used == self.chunks.len() * CHUNK {
            self.chunks
                .push((0..CHUNK).map(|_| AtomicU64::new(0)).collect());
        }
        let word = &self.chunks[self.used / CHUNK][self.used % CHUNK];
        self.used += 1;
        word.store(value, Ordering::Release);
        std::ptr::from_ref(word) as usize
    }
}

/// What is in a word of [`Words`] that is still there.
pub(crate) fn load(at: usize) -> u64 {
    // SAFETY: as for `store`.
    unsafe { AtomicU64::from_ptr(at as *mut u64) }.load(Ordering::Acquire)
}

/// Changes a word of [`Words`] that is still there.
pub(crate) fn store(at: usize, value: u64) {
    // SAFETY: the caller has the address from `Words`, whose words do not move.
    unsafe { AtomicU64::from_ptr(at as *mut u64) }.store(value, Ordering::Release);
}
