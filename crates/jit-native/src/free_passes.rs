//! A direct-mapped cache in front of the table of greens.
//!
//! The interpreter visits a merge point in each round of each loop, and most visits only increment a counter below the
//! threshold. The cache grants a number of such visits, *free passes*, to some greens; they are counted here and added
//! to the table when the passes are used up. Greens with the same slot evict each other.

use std::cell::RefCell;

use crate::greens::hash;

/// Number of slots per driver.
const PLACES: usize = 512;

/// Maximum number of words of greens; longer ones are not cached.
const MOST_WORDS: usize = 4;

#[derive(Clone, Copy, Default)]
struct Place {
    words: [u64; MOST_WORDS],
    /// Remaining passes.
    left: u64,
    /// Passes granted.
    given: u64,
}

/// The cache of one driver.
pub(crate) struct FreePasses(RefCell<Vec<Place>>);

impl FreePasses {
    /// An empty cache for greens of `width` words.
    pub(crate) fn new(width: usize) -> FreePasses {
        let places = if width <= MOST_WORDS { PLACES } else { 0 };
        FreePasses(RefCell::new(vec![Place::default(); places]))
    }

    /// Uses up a pass. False if these greens have none left: the table has to be consulted.
    pub(crate) fn pass(&self, greens: &[u64]) -> bool {
        let mut places = self.0.borrow_mut();
        match places.get_mut(hash(greens) % PLACES) {
            Some(place) if place.left > 0 && place.words[..greens.len()] == *greens => {
                place.left -= 1;
                true
            }
            _ => false,
        }
    }

    /// Grants `times` passes to these greens and evicts the greens in their slot.
    pub(crate) fn give(&self, greens: &[u64], times: u64) {
        if let Some(place) = self.0.borrow_mut().get_mut(hash(greens) % PLACES) {
            place.words[..greens.len()].copy_from_slice(greens);
            (place.left, place.given) = (times, times);
        }
    }

    /// Clears the slot of these greens. `noted` receives the greens that occupied it and the number of their used
    /// passes, if that is not zero.
    pub(crate) fn free(&self, greens: &[u64], noted: impl FnOnce(&[u64], u64)) {
        if let Some(place) = self.0.borrow_mut().get_mut(hash(greens) % PLACES) {
            place.free(greens.len(), noted);
        }
    }

    /// Clears all slots; `width` is the number of words of the greens.
    pub(crate) fn free_all(&self, width: usize, mut noted: impl FnMut(&[u64], u64)) {
        for place in self.0.borrow_mut().iter_mut() {
            place.free(width, &mut noted);
        }
    }
}

impl Place {
    fn free(&mut self, width: usize, noted: impl FnOnce(&[u64], u64)) {
        let passed = self.given - self.left;
        (self.left, self.given) = (0, 0);
        if passed > 0 {
            noted(&self.words[..width], passed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FreePasses;

    #[test]
    fn code_passes_as_often_as_it_may() {
        let passes = FreePasses::new(2);
        assert!(!passes.pass(&[1, 2]));
        passes.give(&[1, 2], 3);
        assert!(!passes.pass(&[1, 3]));
        assert!((0..3).all(|_| passes.pass(&[1, 2])));
        assert!(!passes.pass(&[1, 2]));
        let mut noted = Vec::new();
        passes.free(&[1, 2], |greens, n| noted.push((greens.to_vec(), n)));
        passes.free(&[1, 2], |greens, n| noted.push((greens.to_vec(), n)));
        assert_eq!(noted, [(vec![1, 2], 3)]);
    }

    #[test]
    fn no_pass_is_lost() {
        let passes = FreePasses::new(1);
        let (mut counted, mut passed) = (0, 0);
        for i in 0..10_000_u64 {
            let greens = [i % 1_700];
            if passes.pass(&greens) {
                passed += 1;
            } else {
                passes.free(&greens, |_, n| counted += n);
                passes.give(&greens, 2);
            }
        }
        passes.free_all(1, |_, n| counted += n);
        assert_eq!(counted, passed);
    }

    #[test]
    fn many_words_have_no_place() {
        let passes = FreePasses::new(5);
        passes.give(&[0; 5], 3);
        assert!(!passes.pass(&[0; 5]));
    }
}
