//! From AST to bytecode: `Code`, `CodeId` and module shapes.
//!
//! Owns the instruction set that the one interpreter engine runs, in the concrete
//! object space (import time) and in the flow space (graph building), and the
//! compiler from AST to it.
//!
//! **Architecture invariants.** A [`Code`] holds no source position: those are in
//! [`CodeSpans`], a query of its own, so that an edit above a function leaves its
//! `Code` equal. Nested functions and classes are referred to by [`CodeId`], never
//! contained, so that an edit in one leaves its parent equal.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod bytecode;
mod compile;
mod disasm;
mod pieces;
mod queries;
mod recover;
pub mod scope;
mod verify;

pub use bytecode::*;
pub use compile::testing::{TESTING_GLOBAL, field as explanation};
pub use disasm::{disassemble, disassemble_with};
pub use queries::*;
pub use recover::texts_that_matter;
pub use verify::verify;

#[cfg(test)]
mod tests;
