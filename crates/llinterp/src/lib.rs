//! The LLInterpreter: executes low-level graphs of any stage, from the RTyper's to
//! those after the GC transform (RPython: `rpython/rtyper/llinterp.py`).
//!
//! Graphs are decoded once into instructions over numbered slots; memory is the
//! checked heap of `taipan_lltype`. An RPython-level exception is a value, and so is
//! everything that low-level code must not do ([`Fault`]): user input never panics.
//!
//! [`OOInterpreter`] executes object-oriented graphs on a heap of objects.
//!
//! **Architecture invariants.** No salsa and no compiler above `lltype`: functions
//! and prebuilt data come from a [`taipan_lltype::Program`]. External functions are
//! the runtime's own, so native code and the interpreter agree.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod by_name;
mod code;
mod collect;
mod decode;
mod externals;
mod growing;
mod interp;
mod oo;
#[cfg(test)]
mod tests;

pub use externals::Host;
pub use growing::{CallHook, HostCall, JIT_ENTER};
pub use interp::{Fault, LLError, LLException, LLInterpreter};
pub use oo::{GraphOf, OOError, OOInterpreter};
