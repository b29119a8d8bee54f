//! What the language has: the operations, exception classes, codecs, functions and methods that RPython
//! knows by name, each declared once.
//!
//! Owns the names and what follows from a name alone: the base of an exception class, the spellings
//! of a codec, the methods of a kind of values, what an operation may raise, what stands for a
//! function. Everything that has to treat all of them matches on an enum from here without a wildcard
//! arm, so that the Rust compiler tells what a new entry lacks. Texts of programs become enum values
//! by `named()`.
//!
//! | declared here | treated by |
//! | --- | --- |
//! | [`Exc`] | import time (classes), operations (`HlOp::raises`), flow space, annotator, RTyper |
//! | [`Codec`] | import time, annotator, RTyper, sources (PEP 263) |
//! | [`HlOp`] | import time, flow space, annotator, RTyper |
//! | [`ListMethod`], [`DictMethod`], [`TextMethod`], [`BuilderMethod`] | annotator, RTyper, editor |
//! | [`Pass`] | crate `transform` |
//!
//! # What a call of a function means
//!
//! A function or class that has no flow graph, or whose Python body serves import time only, stands in
//! one of these tables, which says who gives a call of it its meaning:
//!
//! | table | a call of it is |
//! | --- | --- |
//! | `for_each_operator!`, [`HlOp::PYTHON_FUNCTIONS`] | an operation (`len`, `operator.add`) |
//! | [`FlowFunction`] | done by the flow space (`print`, `__import__`) |
//! | [`ShippedFunction`] | a call of a function of a shipped module (`os.listdir`) |
//! | [`HelperFunction`] | a call of a prelude helper, with a signature that is declared (`math.sqrt`) |
//! | [`KnownFunction`] | what annotator and RTyper have code for (`intmask`, `lltype.malloc`) |
//!
//! `taipan_interp::Builtin` is the one place where a name becomes an entry of these.
//!
//! Knows nothing of the compiler, none of whose crates it depends on.

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod codecs;
mod collectors;
mod exceptions;
mod functions;
mod helpers;
mod library;
mod machine;
mod methods;
mod operations;
mod passes;
mod python;
mod shipped;

pub use codecs::Codec;
pub use collectors::Collector;
pub use exceptions::Exc;
pub use functions::{KnownFunction, PythonFunction};
pub use helpers::{Default, HelperFunction, Kind, NEVER_INLINED};
pub use library::instead_of_module;
pub use machine::Machine;
pub use methods::{BuilderMethod, DictMethod, ListMethod, TextMethod};
pub use operations::HlOp;
pub use passes::{Pass, PassSet, PassStage, PassSwitches};
pub use python::{FlowFunction, is_python_name, is_rpython_function, python_names, rpython_names};
pub use shipped::ShippedFunction;
