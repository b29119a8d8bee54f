//! Functions that are specialised: residual code computes what the function does.

#[path = "../support/arguments.rs"]
mod arguments;
#[path = "../support/residual.rs"]
mod residual;

mod memory;
mod random;
mod residual_code;
