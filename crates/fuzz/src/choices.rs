//! Decisions from bytes.

use std::ops::Range;

use arbitrary::Unstructured;
use arbitrary::unstructured::Int;

/// Takes decisions from a case. When its bytes are used up every decision is the first of its
/// kind: 0, the start of the range, the first item, no. Whoever builds something must come to an
/// end then.
pub struct Choices<'a> {
    rest: Unstructured<'a>,
    len: usize,
}

impl<'a> Choices<'a> {
    /// From the bytes of a case.
    pub fn new(case: &'a [u8]) -> Choices<'a> {
        Choices {
            rest: Unstructured::new(case),
            len: case.len(),
        }
    }

    /// A number below `n`; 0 if `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        match n {
            0 | 1 => 0,
            n => self.between(0..n),
        }
    }

    /// A number of a range that is not empty.
    pub fn between<T: Int>(&mut self, range: Range<T>) -> T {
        let last = range.end.wrapping_sub(T::ONE);
        assert!(range.start <= last, "an empty range");
        // Fails for empty ranges only.
        (self.rest.int_in_range(range.start..=last)).unwrap_or(range.start)
    }

    /// One of some items; there is at least one.
    pub fn of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// A reference to one of some items; there is at least one.
    pub fn one_of<'i, T>(&mut self, items: &'i [T]) -> &'i T {
        &items[self.below(items.len())]
    }

    /// Yes or no.
    pub fn bool(&mut self) -> bool {
        self.below(2) == 1
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.rest.arbitrary().unwrap_or(0)
    }

    /// Brings items into any order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }

    /// Up to `most` bytes as they are in the case.
    pub fn bytes(&mut self, most: usize) -> &'a [u8] {
        let n = most.min(self.rest.len());
        self.rest.bytes(n).unwrap_or_default()
    }

    /// Whether all bytes are used up.
    pub fn is_over(&self) -> bool {
        self.rest.is_empty()
    }

    /// All decisions that are left, for whoever wants them as a value of its own.
    pub fn take(&mut self) -> Choices<'a> {
        let rest = std::mem::replace(&mut self.rest, Unstructured::new(&[]));
        Choices {
            len: rest.len(),
            rest,
        }
    }

    /// How many bytes decisions were taken from.
    pub(crate) fn used(&self) -> usize {
        self.len - self.rest.len()
    }
}
