//! Residual code as machine code, in the process of the program that is running.
//!
//! ```text
//! program ──jit_enter──► entry ──cell──► unit ──cell──► unit
//!                                          │ where compilation has stopped
//!                                          ▼
//!                       the compiler: specialiser, new unit, stored in the cell
//! ```
//!
//! A residual function grows while it runs. What is compiled at a time is a *unit*, a
//! region of it; units jump to each other by way of *cells*, words that may be changed.
//!
//! **Architecture invariants.** No salsa. The program is a loaded image, and what is known
//! of it comes from tables or traits. Everything here happens while the caller holds the
//! lock of the program's threads.

mod account;
mod arrived;
mod assumptions;
mod background;
mod cells;
mod code;
mod costs;
mod engine;
mod entries;
mod free_passes;
mod functions;
mod greens;
mod inside;
mod listing;
mod log;
mod loops;
mod program;
mod room;
mod roots;
mod sources;
mod stub;
mod tables;
mod unit;
mod world;

pub use background::MakeTables;
pub use engine::{Counts, NativeJit, Options};
pub use program::CallEffects;
pub use roots::roots;
pub use sources::Sources;
pub use stub::enter_stub;
pub use tables::{Facts, JitTables, Parts, Tabled};
