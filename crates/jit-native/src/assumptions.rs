//! What residual code takes for granted: fields that seldom change.

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::cells::{Words, load, store};

/// Which fields code relies on. Their objects stay where they are, and alive.
#[derive(Default)]
pub(crate) struct Assumptions(RefCell<Fields>);

#[derive(Default)]
struct Fields {
    words: Words,
    /// The words that stand for what depends on a field, by its address.
    relied_on: FxHashMap<u64, Vec<u64>>,
    /// Those that were written although code relied on them.
    written: FxHashSet<u64>,
}

impl Assumptions {
    /// See [`taipan_jit::World::assumptions`].
    pub(crate) fn new_word(&self) -> u64 {
        self.0.borrow_mut().words.new_word(0) as u64
    }

    /// See [`taipan_jit::World::holds`].
    pub(crate) fn holds(word: u64) -> bool {
        load(word as usize) == 0
    }

    /// See [`taipan_jit::World::may_assume`].
    pub(crate) fn may_assume(&self, field: u64) -> bool {
        !self.0.borrow().written.contains(&field)
    }

    /// See [`taipan_jit::World::assume`].
    pub(crate) fn assume(&self, word: u64, field: u64) -> bool {
        let mut fields = self.0.borrow_mut();
        if fields.written.contains(&field) {
            return false;
        }
        let words = fields.relied_on.entry(field).or_default();
        if !words.contains(&word) {
            words.push(word);
        }
        true
    }

    /// The program is going to write a field: what depends on it is invalid.
    pub(crate) fn written(&self, field: u64) {
        let mut fields = self.0.borrow_mut();
        let Some(words) = fields.relied_on.remove(&field) else {
            return;
        };
        for word in words {
            store(word as usize, 1);
        }
        fields.written.insert(field);
    }
}
