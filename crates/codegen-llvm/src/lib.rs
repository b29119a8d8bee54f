//! The LLVM back end: low-level graphs to LLVM's typed text, which `clang`, or `opt` and
//! `llc`, make object files of.
//!
//! ```text
//! LLGraph ──► FunctionText ─┐
//! DataObject ───────────────┼──► module (.ll) ──► object file ─┐
//! Glue ─────────────────────┘                     runtime.o ───┴──► executable
//! ```
//!
//! Pointers are written as `ptr`, as LLVM has it from version 15 on.
//!
//! **Architecture invariants.** Emission of a function is a pure function of its graph and
//! of what it asks the [`taipan_lltype::Program`]; it happens on any thread. A module's text
//! is a pure function of what is in it: what it refers to elsewhere it declares itself.
//! Graphs come after the exception and GC transforms. No salsa and no processes.

mod data;
mod debug;
mod emit;
mod glue;
mod module;
mod names;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod types;

pub use data::rooted;
pub use emit::function_text;
pub use glue::references as glue_references;
pub use module::{Module, Source};
pub use names::symbol_name;
pub use table::PlacesRow;
pub use text::{FunctionText, TextVariable};
