//! What every stage stands on: the database trait, files and the system under
//! them and what watches them, spans and line index, diagnostics and their rendering.
//!
//! **Architecture invariants.** Knows nothing of Python. All input and output of
//! the compiler goes through [`System`]. Queries never log: what they have to say
//! is a value in their result.

mod artifacts;
mod db;
mod diagnostic;
mod encoding;
mod environment;
mod files;
mod options;
mod overlay;
mod questions;
pub mod reads;
mod render;
mod similar;
mod span;
mod timed;
mod watch;

pub use artifacts::{ArtifactStore, Artifacts};
pub use db::*;
pub use diagnostic::*;
pub use encoding::declares_latin1;
pub use environment::{ENVIRONMENT, listed_environment, variable_path};
pub use files::*;
pub use options::{LoadOptions, StageOptions, Translation};
pub use overlay::*;
pub use questions::{
    ANSWERS, CAnswer, CQuestion, Question, Questions, ToolQuestion, Wanted, answer_of,
    asked_c_compiler, asked_table, forget_answers,
};
pub use render::*;

pub use similar::{did_you_mean, similar};
pub use span::*;
pub use taipan_codes::{ErrorCode, Level};
pub use timed::{PassCounts, QueryClock, Step, Timed, step, timed};
pub use watch::*;
