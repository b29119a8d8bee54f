//! Low-level types, low-level operations and constants, layouts, and the runnable
//! heap (RPython: `rpython/rtyper/lltypesystem`).
//!
//! Owns [`LLType`] and its kin, the [`LowLevel`] dialect of graphs, the names of
//! functions ([`FuncSym`]) and of prebuilt data ([`StaticSym`]) that low-level
//! graphs refer to, and the [`Program`] trait by which back ends resolve them.
//!
//! **Architecture invariants.** No salsa: a type or constant is a plain value that
//! compares by content. Recursion among types is broken by handles
//! ([`StructId`]), as lltype's `ForwardReference` does; whoever needs a body asks
//! a [`Program`].

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod adtmeths;
mod cold;
mod consts;
mod eval;
mod externals;
mod foreign;
mod forward;
mod heap;
mod layout;
mod memory;
mod narrow;
mod operands;
mod ops;
mod program;
mod serial;
mod table;
#[cfg(test)]
mod tests;
pub mod text;
mod types;
mod value;
mod view;

pub use adtmeths::*;
pub use cold::*;
pub use consts::*;
pub use eval::*;
pub use externals::*;
pub use foreign::*;
pub use forward::*;
pub use heap::*;
pub use layout::*;
pub use memory::*;
pub use narrow::unlike_c;
pub use operands::{Count, Kind, Param, Signature, check_operation, check_operations, check_types};
pub use ops::*;
pub use program::*;
pub use serial::{NameBytes, SharedNames, from_bytes, to_bytes};
pub use table::*;
pub use types::*;
pub use value::*;
pub use view::{Accessed, Allocated, Called, ConstantOperand, NamedOperands, View};
