//! Which compiled code is being run, for as long as nothing can be compiled any more.
//!
//! Code that gets to a place where nothing is compiled goes on to the next merge point, and
//! calls the interpreter there. That comes by where code can be entered, and enters the same
//! code again, which calls the interpreter again: each time around, the machine stack grows.
//! So code is entered from inside itself a few times only.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

/// How often the same code is entered from inside itself, and how much code from inside
/// other code.
const MOST_SAME: usize = 8;
const MOST: usize = 256;

/// Code that was entered and may not have returned, by thread.
#[derive(Default)]
pub(crate) struct Inside(RefCell<FxHashMap<i64, Vec<Entered>>>);

struct Entered {
    code: usize,
    /// Where the machine stack was.
    stack: usize,
}

impl Inside {
    /// Whether code may be entered, by who is at that place of the machine stack of a thread.
    /// What was entered there or further down has returned.
    pub(crate) fn enters(&self, thread: i64, stack: usize, code: usize) -> bool {
        let mut threads = self.0.borrow_mut();
        let inside = threads.entry(thread).or_default();
        while inside.pop_if(|e| e.stack <= stack).is_some() {}
        let same = inside.iter().filter(|e| e.code == code).count();
        let enters = same < MOST_SAME && inside.len() < MOST;
        if enters {
            inside.push(Entered { code, stack });
        }
        enters
    }
}

#[cfg(test)]
mod tests {
    use super::{Inside, MOST, MOST_SAME};

    #[test]
    fn code_is_entered_from_inside_itself_a_few_times() {
        let inside = Inside::default();
        let entered = (0..100).filter(|i| inside.enters(1, 10_000 - i, 7));
        assert_eq!(entered.count(), MOST_SAME);
        // Other code may still be entered from there, and this on another stack.
        assert!(inside.enters(1, 9_000, 8));
        assert!(inside.enters(2, 9_000, 7));
    }

    #[test]
    fn what_has_returned_is_entered_again() {
        let inside = Inside::default();
        assert!((0..100).all(|_| inside.enters(1, 10_000, 7)));
        assert!(inside.enters(1, 9_000, 7));
        assert!(inside.enters(1, 10_000, 7));
    }

    #[test]
    fn not_too_much_code_is_inside_other_code() {
        let inside = Inside::default();
        let entered = (0..2 * MOST).filter(|i| inside.enters(1, 10_000 - i, *i));
        assert_eq!(entered.count(), MOST);
    }
}
