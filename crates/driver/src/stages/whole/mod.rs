//! What is kept of a whole program outside salsa's tables, at two stages:
//!
//! ```text
//! typed      as the RTyper makes it: what cannot be typed, markers of drivers, late writes
//! optimized  what code is made of: what calling each function may do
//! ```
//!
//! Both are a [`graph`] of functions and data that is brought up to date after edits. The queries
//! over it depend on `solve` and `image` as a whole, and ask for everything else aside.

mod attributes;
pub(crate) mod graph;
mod optimized;
mod typed;

pub(crate) use optimized::{
    Surroundings, changed_effects, effects_of_program, optimized_functions,
};
pub(crate) use typed::{
    difference_warnings, low_level_facts, marked_functions, rewritten_fields, typing_diagnostics,
};
