//! Executables of programs that compile loops while they run: the file, and how it is started.
//!
//! Such an executable is that of crate `jit-runtime`, which consists of the specialiser and the code
//! generator, with the program behind it:
//!
//! ```text
//! runtime │ code │ data │ library │ tables │ header │ trailer
//!          ▲ multiple of a page
//! ```
//!
//! At start the trailer and the header are read and checked, and code and data are mapped. Tables
//! are read and checked in parts, each when the compiler needs it first. Code and data are not
//! checked, as those of other executables are not.
//!
//! **Architecture invariants.** No salsa and nothing of the front end: all of this crate is a part of
//! such executables, but for [`executable`].

mod container;
mod embedded;
mod keyed;
mod parts;
mod start;
mod write;

pub use embedded::Runtime;
pub use start::{Choices, run_own, with_compiler};
pub use write::{Attached, executable};

/// The exit code of an executable that is damaged, or cannot be mapped.
pub const UNUSABLE: i32 = 2;
