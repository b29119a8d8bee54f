//! How residual code calls portals: by words that lead to compiled code as soon as there is some.

use rustc_hash::FxHashMap;
use taipan_jit::Word;

use crate::cells::{Words, load, store};

/// Key of a compiled portal.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct PortalKey {
    pub(crate) driver: usize,
    pub(crate) greens: Vec<Word>,
    /// Number of its virtual arguments. None if the reds are passed unchanged, as the interpreter passes them.
    pub(crate) arguments: Option<usize>,
}

impl PortalKey {
    /// Key of the variant that the interpreter can enter.
    pub(crate) fn plain(driver: usize, greens: &[Word]) -> PortalKey {
        PortalKey {
            driver,
            greens: greens.to_vec(),
            arguments: None,
        }
    }
}

/// For each portal that is called for known greens a word with the function that enters its
/// compiled code; 0 until there is one.
#[derive(Default)]
pub(crate) struct Entries(FxHashMap<PortalKey, usize>);

impl Entries {
    /// The word for greens.
    pub(crate) fn word(&mut self, key: PortalKey, words: &mut Words) -> usize {
        *self.0.entry(key).or_insert_with(|| words.new_word(0))
    }

    /// Whether compiled code exists for a key.
    pub(crate) fn is_set(&self, key: &PortalKey) -> bool {
        self.0.get(key).is_some_and(|word| load(*word) != 0)
    }

    /// There is compiled code for greens.
    pub(crate) fn set(&mut self, key: PortalKey, entry: usize, words: &mut Words) {
        store(self.word(key, words), entry as u64);
    }
}
