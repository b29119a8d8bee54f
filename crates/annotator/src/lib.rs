//! Whole-program annotation.

mod model;

pub use model::*;
