//! Builtin functions and the methods of builtin classes, one module per subject.

mod chars;
pub(crate) mod dict;
pub(crate) mod exception;
pub(crate) mod file;
pub(crate) mod frames;
pub(crate) mod functions;
pub(crate) mod iterators;
pub(crate) mod list;
pub(crate) mod number;
pub(crate) mod object;
mod search;
pub(crate) mod set;
pub(crate) mod str;
