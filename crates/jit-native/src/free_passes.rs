//! A direct-mapped cache in front of the table of greens.
//!
//! The interpreter visits a merge point in each round of each loop, and most visits only increment a counter below the
//! threshold. The cache grants a number of such visits, *free passes*, to some greens; they are counted here and added
//! to the table when the passes are used up. Greens with the same slot evict each other.

use std::cell::Cell;

/// Number of slots per driver. Programs with a merge point at each instruction have thousands of greens. The kernel
/// gives memory only to slots in use.
const PLACES: usize = 16_384;

/// Maximum number of words of greens; longer ones are not cached.
const MOST_WORDS: usize = 4;

struct Place {
    words: [Cell<u64>; MOST_WORDS],
    /// Remaining passes.
    left: Cell<u64>,
    /// Passes granted.
    given: Cell<u64>,
}

/// The cache of one driver.
pub(crate) struct FreePasses {
    places: Box<[Place; PLACES]>,
    /// Number of words of the greens.
    width: usize,
}

impl FreePasses {
    /// An empty cache for greens of `width` words.
    pub(crate) fn new(width: usize) -> FreePasses {
        // SAFETY: a place whose words are all zero is an empty one.
        let places = unsafe { Box::new_zeroed().assume_init() };
        FreePasses { places, width }
    }

    fn place(&self, greens: &[u64]) -> &Place {
        &self.places[slot(greens)]
    }

    /// Uses up a pass. False if these greens have none left: the table has to be consulted.
    #[inline]
    pub(crate) fn pass(&self, greens: &[u64]) -> bool {
        let place = self.place(greens);
        let left = place.left.get();
        if left == 0 || !place.is_of(greens) {
            return false;
        }
        place.left.set(left - 1);
        true
    }

    /// Grants `times` passes to these greens and evicts the greens in their slot.
    pub(crate) fn give(&self, greens: &[u64], times: u64) {
        if greens.len() > MOST_WORDS {
            return;
        }
        let place = self.place(greens);
        for (word, green) in place.words.iter().zip(greens) {
            word.set(*green);
        }
        place.left.set(times);
        place.given.set(times);
    }

    /// Clears the slot of these greens. `noted` receives the greens that occupied it and the number of their used
    /// passes, if that is not zero.
    pub(crate) fn free(&self, greens: &[u64], noted: impl FnOnce(&[u64], u64)) {
        self.place(greens).free(self.width, noted);
    }

    /// Clears all slots.
    pub(crate) fn free_all(&self, mut noted: impl FnMut(&[u64], u64)) {
        for place in self.places.iter() {
            place.free(self.width, &mut noted);
        }
    }
}

/// Upper bound of the greens that count as positions in code.
const POSITIONS: u64 = 1 << 20;

/// The slot of greens. Neighbouring positions of the same code have neighbouring slots, so they do not evict each
/// other.
fn slot(greens: &[u64]) -> usize {
    let (mut code, mut position) = (0_u64, 0_u64);
    for green in greens {
        match *green < POSITIONS {
            true => position += *green,
            false => code = (code ^ *green).wrapping_mul(0x9e37_79b9_7f4a_7c15),
        }
    }
    (code >> 32).wrapping_add(position) as usize % PLACES
}

impl Place {
    /// Whether the slot holds these greens. Only the first [`MOST_WORDS`] words are compared.
    fn is_of(&self, greens: &[u64]) -> bool {
        (self.words.iter().zip(greens)).all(|(word, green)| word.get() == *green)
    }

    fn free(&self, width: usize, noted: impl FnOnce(&[u64], u64)) {
        let passed = self.given.take() - self.left.take();
        if passed > 0 {
            let words: [u64; MOST_WORDS] = std::array::from_fn(|i| self.words[i].get());
            noted(&words[..width], passed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FreePasses, PLACES};

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
        for i in 0..200_000_u64 {
            let greens = [i % (PLACES as u64 + 1_700)];
            if passes.pass(&greens) {
                passed += 1;
            } else {
                passes.free(&greens, |_, n| counted += n);
                passes.give(&greens, 2);
            }
        }
        passes.free_all(|_, n| counted += n);
        assert_eq!(counted, passed);
    }

    #[test]
    fn positions_of_the_same_code_do_not_evict_each_other() {
        let passes = FreePasses::new(2);
        let code = 0x7f00_1234_5678;
        let positions = || (0..PLACES as u64).map(|n| [n, code]);
        positions().for_each(|greens| passes.give(&greens, 1));
        assert!(positions().all(|greens| passes.pass(&greens)));
    }

    #[test]
    fn many_words_have_no_place() {
        let passes = FreePasses::new(5);
        passes.give(&[0; 5], 3);
        assert!(!passes.pass(&[0; 5]));
    }
}
