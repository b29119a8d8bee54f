//! The stages after rtyping as queries, and the program as each stage shows it.
//!
//! The passes themselves are pure functions of crate `transform`; what they ask about
//! other functions they get from queries here, so that an edit re-runs only the
//! functions whose own graph, or whose callees' summaries, have changed.
//!
//! ```text
//! rtyped ─► entered ─► simplified ─► optimized ─► exceptions ─► gc ─► machine_code ─► linked
//!    └────► jit_graph ─► timeshifted
//! ```

pub(crate) mod c;
pub(crate) mod collectors;
pub(crate) mod debug;
pub(crate) mod drivers;
mod effects;
mod graphs;
pub(crate) mod hints;
mod jit;
pub(crate) mod late_writes;
pub(crate) mod linked;
pub(crate) mod llvm;
pub(crate) mod lowlevel_errors;
pub(crate) mod native;
pub(crate) mod pass_counts;
mod program;
pub(crate) mod python;
pub(crate) mod reach;
pub(crate) mod stage_cache;
pub(crate) mod wasmgc;
pub(crate) mod ways;
pub(crate) mod whole;

pub(crate) use effects::{AllEffects, as_called, function_effects, jit_effects};
pub(crate) use graphs::{
    exceptions, gc, gc_once, light_finalizer, optimized_graph, optimized_key, optimized_mentions,
    optimized_summary, search_of, simplified, simplified_key, simplified_mentions,
    simplified_summary,
};
pub(crate) use jit::{
    entered_exceptions, graph_to_follow_once, jit_graph, jit_graph_once, jit_optimized,
};
pub use program::{GraphStage, JitPasses, StageProgram, root_syms};
pub(crate) use program::{QuerySummaries, root_sym, rtyped};
