//! Sets of small numbers.

use smallvec::{SmallVec, smallvec};

/// A set of numbers below a bound. Sets that are put together have the same bound.
#[derive(Clone, PartialEq, Eq, Default)]
pub(crate) struct Set(SmallVec<[u64; 2]>);

impl Set {
    /// The empty set.
    pub(crate) fn new(bound: usize) -> Set {
        Set(smallvec![0; bound.div_ceil(64)])
    }

    /// All numbers below the bound.
    pub(crate) fn full(bound: usize) -> Set {
        let mut set = Set(smallvec![!0; bound.div_ceil(64)]);
        if let Some(last) = set.0.last_mut().filter(|_| !bound.is_multiple_of(64)) {
            *last = (1 << (bound % 64)) - 1;
        }
        set
    }

    pub(crate) fn contains(&self, n: u32) -> bool {
        self.0[n as usize / 64] & (1 << (n % 64)) != 0
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        let words = self.0.iter().enumerate();
        words.flat_map(|(i, w)| {
            let mut left = *w;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros();
                left &= left.checked_sub(1)?;
                Some(i as u32 * 64 + bit)
            })
        })
    }

    /// Answers whether it was not there before.
    pub(crate) fn insert(&mut self, n: u32) -> bool {
        let (word, bit) = (&mut self.0[n as usize / 64], 1 << (n % 64));
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    pub(crate) fn remove(&mut self, n: u32) {
        self.0[n as usize / 64] &= !(1 << (n % 64));
    }

    pub(crate) fn union(&mut self, other: &Set) {
        self.combine(other, |a, b| a | b);
    }

    pub(crate) fn intersect(&mut self, other: &Set) {
        self.combine(other, |a, b| a & b);
    }

    pub(crate) fn subtract(&mut self, other: &Set) {
        self.combine(other, |a, b| a & !b);
    }

    fn combine(&mut self, other: &Set, with: impl Fn(u64, u64) -> u64) {
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            *a = with(*a, *b);
        }
    }
}
