//! Passes over low-level graphs: optimisations, stack checks, the exception and the
//! GC transform (RPython: `translator/backendopt`, `exceptiontransform.py`,
//! `memory/gctransform`).
//!
//! Every function of a program goes through the same steps, each a pure function
//! of its graph and of what [`Summaries`] says of its callees:
//!
//! 1. [`simplify_graph`]: what needs no callee. Its result is what callers inline.
//! 2. [`summary`] of that: size, callees, whether it raises or allocates by itself.
//! 3. [`optimize`]: inlines callees (their simplified graphs, and what those call, so
//!    that no function waits for another one's result) and optimises the outcome.
//! 4. [`summary`] again, of the optimised graphs, and [`effects`] over those of the
//!    whole program: who can raise, who can collect, where stack checks go.
//! 5. [`exception_transform`], then [`gc_transform`], which read the effects.
//!
//! **Architecture invariants.** No salsa, no state, no order of functions: a pass
//! sees one graph. What it reads of other functions it reads through [`Summaries`],
//! so the driver can make a query of every step. Graphs are in SSI form and compact
//! between passes; inside a pass they may be in SSA form.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod around;
mod asserts;
mod barriers;
mod calls;
mod check;
mod cse;
mod dead_stores;
mod devirtualize;
mod dispatch;
mod division;
mod exceptions;
mod finalizer;
mod fold;
mod frame;
mod gc;
mod groups;
mod inline;
mod interval;
mod loops;
mod malloc;
mod memory;
mod memory_errors;
mod nursery;
mod optimize;
mod passes;
mod peel;
mod quick;
mod ranges;
mod refcount;
mod rematerialize;
mod reraised;
mod set;
mod sink;
mod ssa;
mod summary;
mod switch;
#[cfg(test)]
mod tests;
mod variables;
mod zeroing;

pub use around::{CallAccess, CallFacts, Part};
pub use barriers::SHARED_CARD;
pub use dispatch::thread_dispatch;
pub use exceptions::exception_transform;
pub use finalizer::is_light_finalizer;
pub use gc::{gc_transform, gc_transform_residual};
pub use optimize::{
    inline_helpers, optimize, optimize_followed, optimize_hinted, optimize_residual, simplify_graph,
};
pub use passes::{PassObserver, Passes};
pub use quick::gc_transform_quickly;
pub use summary::{Effects, Inlining, Summaries, Summary, effects, summary};
