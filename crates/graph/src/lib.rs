//! The flow-graph model: `FunctionGraph`, `Block`, `Link`, `Variable`, `Constant`.
//!
//! Owns the shape of control-flow graphs at every stage, the table of high-level
//! (flow-space) operations, the verifier, and the text and dot forms. A graph is
//! generic over a [`Dialect`], which says what operations, constants and variable
//! types mean: [`HighLevel`] here, `LowLevel` in the `lltype` crate.
//!
//! **Architecture invariants.** This crate knows no salsa, no files and no source
//! positions. Graphs are immutable values for everyone but the pass that builds
//! them: they compare by content, and a finished graph is *compact* (see
//! [`Graph::compact`]) so that equal programs give equal graphs.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod cfg;
mod dot;
mod hl;
mod model;
mod rewrite;
mod simplify;
#[cfg(test)]
mod simplify_tests;
pub mod text;
mod verify;
mod wide;

pub use cfg::*;
pub use dot::*;
pub use hl::*;
pub use model::*;
pub use rewrite::*;
pub use simplify::*;
pub use taipan_language::HlOp;
pub use verify::*;
pub use wide::*;
