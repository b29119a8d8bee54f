//! What native back ends share: emitted code as a value, names of symbols, prebuilt
//! data and type information as bytes, and the placement of all of it in one image.
//!
//! ```text
//! LLGraph ── back end ──► CompiledFunction ─┐
//! StaticData ──► DataObject ────────────────┼──► Image ──► memory of this process
//! LLType ──► DataObject (type information) ─┘        └───► object file
//! ```
//!
//! The meaning of each low-level operation is in [`machine`].
//!
//! **Architecture invariants.** No salsa and no code of one machine: a [`CompiledFunction`] is
//! position independent, compares by content and names what it refers to by
//! [`SymbolRef`], so it can be cached per function. Which functions and data an
//! image needs follows from the relocations alone, in an order that depends on
//! content only.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

pub mod abi;
mod allocation;
mod artifact;
mod data;
mod debug;
mod dispatch;
mod file_names;
mod image;
mod items;
mod layouts;
mod libraries;
mod linker;
mod listing;
pub mod machine;
mod mangle;
mod object_file;
mod reach;
mod roots;
pub mod runtime;
mod table;
#[cfg(test)]
mod tests;
mod typeinfo;

pub use allocation::{Allocation, allocation, flavor, is_tested, nursery_size};
pub use artifact::*;
pub use data::static_object;
pub use debug::*;
pub use dispatch::DispatchTable;
pub use file_names::{file_stems, hash_digits, identifier};
pub use image::*;
pub use items::Items;
pub use layouts::Layouts;
pub use libraries::c_libraries;
pub use linker::{Linker, Piece, Positions, PositionsOf, file_of_unplaced, is_source_file};
pub use listing::{ListedFunction, ListedStruct, Lister, Listing};
pub use mangle::{mangle_function, mangle_static, mangle_type};
pub use object_file::{empty_object, gdb_object, gdb_script};
pub use reach::{Reference, graph_references, static_references};
pub use roots::RootsFrame;
pub use table::{EntryShape, program_table};
pub use typeinfo::type_info_object;
