//! How residual code calls portals: by words that lead to compiled code as soon as there is some.

use rustc_hash::FxHashMap;
use taipan_jit::Word;

use crate::cells::{Words, store};

/// A driver, and the words of its greens.
pub(crate) type PortalKey = (usize, Vec<Word>);

/// For each portal that is called for known greens a word with the function that enters its
/// compiled code; 0 until there is one.
#[derive(Default)]
pub(crate) struct Entries(FxHashMap<PortalKey, usize>);

impl Entries {
    /// The word for greens.
    pub(crate) fn word(&mut self, key: PortalKey, words: &mut Words) -> usize {
        *self.0.entry(key).or_insert_with(|| words.new_word(0))
    }

    /// There is compiled code for greens.
    pub(crate) fn set(&mut self, key: PortalKey, entry: usize, words: &mut Words) {
        store(self.word(key, words), entry as u64);
    }
}
