//! Green values that code may pass with for a while without a look into the table of what is known of them.
//!
//! A program passes a place where compiled code could be entered in each round of each loop. What is to be done there
//! is known ahead mostly: nothing, as long as the count is below the threshold. So a few words per driver, found by the
//! greens' hash alone, say how often that is so. Two greens that meet there take turns.

use std::cell::RefCell;

use crate::greens::hash;

/// How many greens have a place at one time.
const PLACES: usize = 512;

/// Greens of more words than this have none.
const MOST_WORDS: usize = 4;

#[derive(Clone, Copy, Default)]
struct Place {
    words: [u64; MOST_WORDS],
    /// How often code may pass yet.
    left: u64,
    /// How often it could at first.
    given: u64,
}

/// The places of one driver.
pub(crate) struct FreePasses(RefCell<Vec<Place>>);

impl FreePasses {
    /// For greens of so many words.
    pub(crate) fn new(width: usize) -> FreePasses {
        let places = if width <= MOST_WORDS { PLACES } else { 0 };
        FreePasses(RefCell::new(vec![Place::default(); places]))
    }

    /// Whether code passes with these greens, and nothing has to be done.
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

    /// Lets code pass with these greens so many times.
    pub(crate) fn give(&self, greens: &[u64], times: u64) {
        if let Some(place) = self.0.borrow_mut().get_mut(hash(greens) % PLACES) {
            place.words[..greens.len()].copy_from_slice(greens);
            (place.left, place.given) = (times, times);
        }
    }

    /// Frees the place where these greens belong. `noted` gets the greens that have it, in words, and how often code
    /// passed with them, if it did.
    pub(crate) fn free(&self, greens: &[u64], noted: impl FnOnce(&[u64], u64)) {
        if let Some(place) = self.0.borrow_mut().get_mut(hash(greens) % PLACES) {
            place.free(greens.len(), noted);
        }
    }

    /// The same for all places, of greens of so many words.
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
