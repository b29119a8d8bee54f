//! The values with which code gets to a cell whose code is not made yet.

use std::slice;

use taipan_codegen_cranelift::{passed_values, words_of_values};
use taipan_lltype::{Access, LLType};
use taipan_runtime::state::rpy_state;

/// Whether a value is one that the compiler is told.
fn in_a_word(ty: LLType) -> Option<Access> {
    Access::of(ty).filter(|a| *a != Access::W128)
}

/// What the values of a cell are.
pub(crate) struct Values {
    types: Vec<LLType>,
    /// The word that each is passed in, none for Void.
    words: Vec<Option<usize>>,
    /// Number of words.
    count: usize,
    /// The words with pointers that the collector moves.
    roots: Vec<usize>,
}

impl Values {
    /// For values of these types.
    pub(crate) fn new(types: &[LLType]) -> Values {
        // No code passes more values than there are words.
        let (words, count) = words_of_values(types.iter().copied()).unwrap_or_default();
        let roots = types.iter().zip(&words).filter(|(t, _)| t.is_gc_ptr());
        Values {
            roots: roots.filter_map(|(_, word)| *word).collect(),
            types: types.to_vec(),
            words,
            count,
        }
    }
}

/// Values that are on their way, while the compiler works. They are roots. Other code may be compiled and run in the meantime, so
/// they are kept outside of the words that they are passed in.
pub(crate) struct Arrived<'a> {
    values: &'a Values,
    words: Vec<u64>,
    roots: *mut usize,
}

impl<'a> Arrived<'a> {
    /// The values that code came with.
    ///
    /// # Safety
    /// They are of these types; the caller is the mutator.
    pub(crate) unsafe fn new(values: &'a Values) -> Arrived<'a> {
        // SAFETY: the words are there for ever, and the code that stored values there has jumped to the caller.
        let passed = unsafe { slice::from_raw_parts(passed_values(), values.count) };
        let arrived = Arrived {
            values,
            words: passed.to_vec(),
            // SAFETY: the mutator's own state.
            roots: unsafe { rpy_state.root_stack_top },
        };
        for (n, word) in values.roots.iter().enumerate() {
            // SAFETY: the shadow stack has room for what the machine stack has room for.
            unsafe { *arrived.roots.add(n) = arrived.words[*word] as usize };
        }
        // SAFETY: the mutator's own state; the words below the new top have just been written.
        unsafe { rpy_state.root_stack_top = arrived.roots.add(values.roots.len()) };
        arrived
    }

    /// What is known of the values, as words of their types. Pointers are as they were when
    /// objects moved last.
    pub(crate) fn words(&self) -> Vec<Option<u64>> {
        let words = self.now();
        let values = self.values.types.iter().zip(&self.values.words);
        let word = |(ty, word): (&LLType, &Option<usize>)| {
            let access = in_a_word(*ty)?;
            let bytes = words[(*word)?].to_le_bytes();
            Some(access.decode(&bytes[..access.size()]))
        };
        values.map(word).collect()
    }

    /// The words, with pointers to where objects are now.
    fn now(&self) -> Vec<u64> {
        let mut words = self.words.clone();
        for (n, word) in self.values.roots.iter().enumerate() {
            // SAFETY: `new` wrote a root to this word of the shadow stack, which is below the top
            // as long as the value lives.
            words[*word] = unsafe { *self.roots.add(n) } as u64;
        }
        words
    }
}

impl Drop for Arrived<'_> {
    fn drop(&mut self) {
        for (n, word) in self.now().into_iter().enumerate() {
            // SAFETY: there are as many words; the next unit reads them first.
            unsafe { *passed_values().add(n) = word };
        }
        // SAFETY: the mutator's own state; calls of the program have given their roots back.
        unsafe { rpy_state.root_stack_top = self.roots };
    }
}
