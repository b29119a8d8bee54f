//! Everything that makes the stages one compiler: the database, loading of programs,
//! the queries that wire pure passes together, fan-out, linking, and the operations
//! behind the commands.
//!
//! **Architecture invariants.** The only crate that sees all stages. Offers plain
//! functions on a [`Session`]; prints nothing and knows no command-line syntax.

mod call;
mod db;
mod fault;
mod log;
mod timing;
mod value;

pub use call::{CallOutcome, call};
pub use db::Database;
pub use fault::{InternalError, guarded};
pub use log::{QueryEvent, QueryLog};
pub use timing::Timings;
pub use value::PyValue;
