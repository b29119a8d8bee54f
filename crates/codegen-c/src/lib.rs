//! The C back end: low-level graphs and prebuilt data as C for gcc and clang.
//!
//! ```text
//! LLGraph ── emit ──► CFunction ──┐
//! LLType ── types ──► definitions ┼── Unit ──► one .c file per RPython module
//! StaticData ── data ─────────────┴──────────► data.c
//! ```
//!
//! A [`CFunction`] is the text of one function, with a list of what it refers to. Lines of the source are
//! not in it: it names positions in the function's bytecode, and the file that it is put into says which
//! lines these are. So it stays the same when the function moves within its source file.
//!
//! All files include `taipan.h` ([`PRELUDE`]), which has the words that programs share with the runtime,
//! and the fast paths of allocation and of write barriers. Names are made of what things are
//! called in the source and of a hash of what they are made from ([`names`]): they are
//! the same in every build, and an edit changes none but those of what it edits.
//!
//! **Architecture invariants.** No salsa, no processes and no files: text comes out, and who asks
//! writes and compiles it. Emission of a function is a pure function of its graph and of what it asks
//! the [`taipan_lltype::Program`]. Graphs come after the exception and GC transforms. Layouts are those of
//! [`taipan_lltype::layout`]: a static assertion beside each struct compares.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod data;
mod emit;
mod members;
pub mod names;
mod places;
mod prelude;
mod program;
#[cfg(test)]
mod tests;
mod types;
mod unit;

pub use emit::{CFunction, EmitOptions, emit_callback, emit_function};
pub use prelude::prelude;
pub use program::{CProgram, CSource, CodePlaces, Extent, File, program_files};
pub use unit::{Unit, function_listing};
