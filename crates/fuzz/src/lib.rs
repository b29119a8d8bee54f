//! Random cases for tests: where they come from, how many there are, and what is left of one
//! that fails.
//!
//! A *case* is a run of bytes. A test takes its decisions from them through [`Choices`] and builds
//! whatever it needs: a program, edits, messages. A [`Target`] makes the bytes from the name of the
//! target and the number of the case, so `cargo test` tries the same cases each time. When a case
//! fails its bytes are shortened and made smaller as long as it still fails, which makes the
//! program (or whatever was built) smaller too, whoever builds it.
//!
//! ```
//! taipan_fuzz::Target::new("sorting").cases(50).bytes(64).run(|choices| {
//!     let mut items: Vec<usize> = (0..choices.below(9)).map(|_| choices.below(5)).collect();
//!     items.sort_unstable();
//!     assert!(items.is_sorted());
//! });
//! ```
//!
//! | variable | |
//! | --- | --- |
//! | `TAIPAN_FUZZ_CASES` | so many cases of each target that runs, instead of its few |
//! | `TAIPAN_FUZZ_FIRST` | the number of the first one, instead of 0 |
//! | `TAIPAN_FUZZ_BYTES` | this one case, in hexadecimal, as a failure prints it |
//!
//! With one of them set a target says how it gets on, and keeps the number of the case that runs in
//! a file, for cases that end the process or do not end at all.
//!
//! **Architecture invariants.** Used by tests only. Knows nothing of Taipan: every crate's tests
//! can use it, under Miri as well.

mod choices;
mod run;
mod shrink;

pub use choices::Choices;
pub use run::{Target, bytes_of_case};
