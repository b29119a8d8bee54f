//! Words as states hold them. States are copied often, and kept where code may join them, so
//! a word takes 12 bytes there, not 16 on a boundary of 16.

use std::sync::{Mutex, PoisonError};

use crate::state::Word;

/// A word in little room. Equal ones are equal in all their parts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Held {
    low: u32,
    high: u32,
    sort: Sort,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Sort {
    /// A number that fits into 64 bits without a sign.
    Plain,
    /// A negative one that fits into 64 bits.
    Negative,
    /// By its place in [`WIDE`].
    Wide,
}

/// Words that need more than 64 bits, each once: of integers of 128 bits only. They stay, as
/// what is compiled does.
static WIDE: Mutex<Vec<Word>> = Mutex::new(Vec::new());

impl From<Word> for Held {
    fn from(w: Word) -> Held {
        let (sort, bits) = match (u64::try_from(w), i64::try_from(w)) {
            (Ok(n), _) => (Sort::Plain, n),
            (_, Ok(n)) => (Sort::Negative, n as u64),
            _ => {
                let mut wide = WIDE.lock().unwrap_or_else(PoisonError::into_inner);
                let at = wide.iter().position(|x| *x == w).unwrap_or_else(|| {
                    wide.push(w);
                    wide.len() - 1
                });
                (Sort::Wide, at as u64)
            }
        };
        Held {
            low: bits as u32,
            high: (bits >> 32) as u32,
            sort,
        }
    }
}

impl Held {
    /// The word.
    pub(crate) fn word(self) -> Word {
        let bits = u64::from(self.low) | u64::from(self.high) << 32;
        match self.sort {
            Sort::Plain => Word::from(bits),
            Sort::Negative => Word::from(bits as i64),
            Sort::Wide => {
                let wide = WIDE.lock().unwrap_or_else(PoisonError::into_inner);
                wide.get(bits as usize).copied().unwrap_or_default()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Held;
    use crate::state::{GenVar, RedBox, Val, Values, Word};

    #[test]
    fn words_come_back() {
        let one = 1 as Word;
        let bounds = [0, 1, 31, 32, 62, 63, 64, 65, 100, 126].map(|n| one << n);
        let words = bounds.iter().flat_map(|w| [*w, *w - 1, -*w, -*w - 1, !*w]);
        let words: Vec<Word> = words.chain([Word::MIN, Word::MAX]).collect();
        for w in &words {
            assert_eq!(Held::from(*w).word(), *w);
            for other in &words {
                assert_eq!(Held::from(*w) == Held::from(*other), w == other);
            }
        }
    }

    /// States are most of what a compiler keeps.
    #[test]
    fn states_are_small() {
        assert_eq!(size_of::<Option<GenVar>>(), 12);
        assert_eq!(size_of::<RedBox>(), 64);
        let mut values = Values::default();
        values.set(3, Val::Green(-7));
        assert_eq!(values.get(3), Val::Green(-7));
        assert_eq!(values.get(2), Val::Unset);
    }
}
