//! Making a failing case smaller.

use std::time::{Duration, Instant};

/// Neither more attempts than this are made
const ATTEMPTS: usize = 4000;
/// nor for longer.
const TIME: Duration = Duration::from_secs(60);

/// Something smaller for which `fails` still holds, as it does for `case`: bytes are left out, made
/// zero, or made smaller.
pub(crate) fn shrink(case: &[u8], fails: impl FnMut(&[u8]) -> bool) -> Vec<u8> {
    let mut search = Search {
        best: case.to_vec(),
        fails,
        attempts: 0,
        end: Instant::now() + TIME,
    };
    loop {
        let before = search.best.clone();
        search.shorten();
        search.pieces(|bytes, from, to| {
            bytes.drain(from..to);
        });
        search.pieces(|bytes, from, to| bytes[from..to].fill(0));
        search.lower();
        if search.best == before || search.is_over() {
            return search.best;
        }
    }
}

struct Search<F> {
    best: Vec<u8>,
    fails: F,
    attempts: usize,
    end: Instant,
}

impl<F: FnMut(&[u8]) -> bool> Search<F> {
    fn is_over(&self) -> bool {
        self.attempts >= ATTEMPTS || Instant::now() > self.end
    }

    /// Keeps a candidate if it fails and is smaller.
    fn attempt(&mut self, candidate: Vec<u8>) -> bool {
        let size = |bytes: &[u8]| {
            (
                bytes.len(),
                bytes.iter().map(|b| u64::from(*b)).sum::<u64>(),
            )
        };
        if size(&candidate) >= size(&self.best) || self.is_over() {
            return false;
        }
        self.attempts += 1;
        let fails = (self.fails)(&candidate);
        if fails {
            self.best = candidate;
        }
        fails
    }

    /// Cuts off the end: what is missing counts as zero.
    fn shorten(&mut self) {
        let mut keep = 0;
        while keep < self.best.len() {
            if self.attempt(self.best[..keep].to_vec()) {
                return;
            }
            keep += (self.best.len() - keep).div_ceil(2);
        }
    }

    /// Changes pieces, large ones first.
    fn pieces(&mut self, change: impl Fn(&mut Vec<u8>, usize, usize)) {
        let mut size = self.best.len().div_ceil(2);
        while size > 0 && !self.is_over() {
            let mut at = 0;
            while at < self.best.len() {
                let end = (at + size).min(self.best.len());
                let mut candidate = self.best.clone();
                change(&mut candidate, at, end);
                // What comes next stands here now if bytes were left out.
                if !self.attempt(candidate) || self.best.len() > at && self.best[at] == 0 {
                    at += size;
                }
            }
            size /= 2;
        }
    }

    /// Makes single bytes smaller.
    fn lower(&mut self) {
        for at in 0..self.best.len() {
            let (mut low, mut high) = (0, self.best.get(at).copied().unwrap_or(0));
            // The smallest value that fails, if all above it do.
            while low < high && !self.is_over() {
                let middle = low + (high - low) / 2;
                let mut candidate = self.best.clone();
                candidate[at] = middle;
                if self.attempt(candidate) {
                    high = middle;
                } else {
                    low = middle + 1;
                }
            }
        }
    }
}
