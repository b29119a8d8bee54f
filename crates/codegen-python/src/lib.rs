//! Python 3 from low-level graphs, for CPython 3.9 and later: to read, to debug, and as one more engine
//! that programs are compared on.
//!
//! [`function_text`] makes the Python function of one graph. It knows nothing of other functions: what it
//! refers to stays a [`Ref`] until [`Module`] puts the program together and gives everything its name.
//! Positions in the source stay numbers of instructions until then, so that the text of a function does
//! not change when lines above it do.
//!
//! How values of low-level types are represented is said in `types.rs`. The support library in `support/`
//! stands at the head of what is emitted.
//!
//! **Architecture invariants.** No salsa. What graphs mean is what the LLInterpreter makes of them.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod convert;
mod expr;
mod function;
mod memory;
mod module;
mod names;
mod operations;
mod shape;
mod statics;
mod structure;
#[cfg(test)]
mod tests;
mod types;
mod values;

pub use function::{Unsupported, function_text};
pub use module::{Comments, Module, support_library};
pub use names::{FunctionText, Line, Ref};
pub use values::{Argument, Entry};
