//! The values with which code gets to a cell whose code is not made yet.

use taipan_codegen_cranelift::{Arrivals, Saved};
use taipan_lltype::{Access, LLType};
use taipan_runtime::state::rpy_state;

/// Whether a value is one that the compiler is told.
fn in_a_word(ty: LLType) -> Option<Access> {
    Access::of(ty).filter(|a| *a != Access::W128)
}

/// What the values of a cell are.
pub(crate) struct Values {
    types: Vec<LLType>,
    places: Arrivals,
    /// Which of them are pointers that the collector moves.
    roots: Vec<usize>,
}

impl Values {
    /// For values of these types.
    pub(crate) fn new(types: &[LLType]) -> Values {
        let roots = types.iter().enumerate().filter(|(_, t)| t.is_gc_ptr());
        Values {
            places: Arrivals::new(types),
            roots: roots.map(|(i, _)| i).collect(),
            types: types.to_vec(),
        }
    }
}

/// Values that are on their way, while the compiler works. They are roots.
pub(crate) struct Arrived<'a> {
    values: &'a Values,
    saved: *mut Saved,
    stack: *mut u64,
    roots: *mut usize,
}

impl<'a> Arrived<'a> {
    /// The values that code came with.
    ///
    /// # Safety
    /// They are of these types, in these places; the caller is the mutator.
    pub(crate) unsafe fn new(
        values: &'a Values,
        saved: *mut Saved,
        stack: *mut u64,
    ) -> Arrived<'a> {
        let arrived = Arrived {
            values,
            saved,
            stack,
            // SAFETY: the mutator's own state.
            roots: unsafe { rpy_state.root_stack_top },
        };
        for (n, i) in values.roots.iter().enumerate() {
            let word = arrived.word(*i).unwrap_or(0);
            // SAFETY: the shadow stack has room for what the machine stack has room for.
            unsafe { *arrived.roots.add(n) = word as usize };
        }
        // SAFETY: as above.
        unsafe { rpy_state.root_stack_top = arrived.roots.add(values.roots.len()) };
        arrived
    }

    fn word(&self, i: usize) -> Option<u64> {
        // SAFETY: by contract.
        unsafe {
            let at = self.values.places.at(i, self.saved, self.stack)?;
            Some(*at)
        }
    }

    /// What is known of the values, as words of their types. Pointers are as they were when
    /// objects moved last.
    pub(crate) fn words(&self) -> Vec<Option<u64>> {
        let mut words: Vec<Option<u64>> = (self.values.types.iter().enumerate())
            .map(|(i, ty)| {
                let access = in_a_word(*ty)?;
                let word = self.word(i)?.to_le_bytes();
                Some(access.decode(&word[..access.size()]))
            })
            .collect();
        for (n, i) in self.values.roots.iter().enumerate() {
            // SAFETY: it was written there.
            words[*i] = Some(unsafe { *self.roots.add(n) } as u64);
        }
        words
    }
}

impl Drop for Arrived<'_> {
    fn drop(&mut self) {
        for (n, i) in self.values.roots.iter().enumerate() {
            // SAFETY: it was read from there.
            unsafe {
                if let Some(at) = self.values.places.at(*i, self.saved, self.stack) {
                    *at = *self.roots.add(n) as u64;
                }
            }
        }
        // SAFETY: the mutator's own state; calls of the program have given their roots back.
        unsafe { rpy_state.root_stack_top = self.roots };
    }
}
