//! Whole-program annotation.
//!
//! Owns the lattice of annotations (RPython: `SomeObject` and its kin), the
//! incremental solver, and the projections of its outcome that the RTyper reads:
//! [`annotation`], [`class_def`], [`class_attributes`], [`list_def`], [`dict_def`],
//! [`call_family`], [`attr_family`], [`specs_of`], [`annotation_diagnostics`], and
//! [`annotate_helper`] for the prelude.
//!
//! **Architecture invariants.** The outcome is a pure function of the program and its
//! roots: the least fixpoint, whatever the history of edits. No salsa call is made
//! while solver state is being changed. Raw site ids, stamps and slot numbers never
//! leave this crate.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod bounds;
mod diagnostics;
mod eval;
mod facts;
mod helper;
mod hierarchy;
mod keys;
mod model;
mod names;
mod origins;
mod project;
mod queries;
mod result;
mod retract;
mod solution;
mod solver;
mod special;
mod store;
#[cfg(test)]
mod tests;
mod text;
mod val;
mod warm;
mod words;

pub use eval::{
    INSTEAD_OF_TUPLE_INDEX, JIT_HOOKS, VARIABLE_TUPLE_INDEX, accessed_type, arity_problem,
    is_jit_marker, prebuilt_site,
};
pub use keys::*;
pub use model::*;
pub use queries::*;
pub use result::*;
pub use text::{annotation_text, int_kind_name, parse_inputs};
pub use warm::runs_table;
pub use words::short_text;
