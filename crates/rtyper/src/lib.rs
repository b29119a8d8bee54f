//! The RTyper: from annotated graphs to low-level ones, one function at a time.
//!
//! Owns Reprs (the low-level form of each annotation), the typing of operations
//! ([`Hop`], [`LLOps`]), the layouts of instances and vtables, the contents of
//! prebuilt data, and the queries [`rtyped_graph`], [`static_data`], [`struct_body`].
//!
//! **Architecture invariants.** A function is typed from its own annotation, the
//! signatures of its callees and the classes, lists and dicts that it uses, each read
//! through a query that compares; never from another function's body. Reprs hold
//! class ids, never class layouts. No number that depends on the rest of the program
//! stands in a graph: those are in vtables.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]
#![allow(missing_docs, reason = "salsa generates undocumented accessors")]

mod annotate;
mod attribute_uses;
mod calls;
mod containers;
mod convert;
mod description;
mod differences;
mod entries;
mod equality;
mod error;
mod exceptions;
mod guarded;
mod helper_cache;
mod hop;
mod immutable;
mod layout;
mod llops;
mod pairs;
mod program;
mod queries;
mod remedies;
mod repr;
mod reprs;
mod rtyper;
mod specialize;
mod statics;
mod synth;
mod translate_op;

pub use attribute_uses::{
    AttributeOf, AttributeUses, Declaration, attribute_uses, declaration, prebuilt_attribute_uses,
};
pub(crate) use description::Description;
pub use differences::{Difference, differences};
pub(crate) use error::RType;
pub use error::{Typed, TyperError};
pub(crate) use hop::*;
pub(crate) use llops::*;
pub use program::RtypedProgram;
pub use queries::*;
pub use repr::Repr;
pub(crate) use repr::*;
pub use rtyper::*;
pub use specialize::instruction_span;
pub use synth::entry_sym;

#[cfg(test)]
mod helper_tests;
#[cfg(test)]
mod source_tests;
#[cfg(test)]
mod tests;
