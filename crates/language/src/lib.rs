//! What the language has: the exception classes, codecs and methods that RPython knows by name, each
//! declared once.
//!
//! Owns the names and what follows from a name alone: the base of an exception class, the spellings
//! of a codec, the methods of a kind of values. Everything that has to treat all of them matches on
//! an enum from here without a wildcard arm, so that the Rust compiler tells what a new entry
//! lacks. Texts of programs become enum values by `named()`.
//!
//! | declared here | treated by |
//! | --- | --- |
//! | [`Exc`] | import time (classes), operations (`HlOp::raises`), flow space, annotator, RTyper |
//! | [`Codec`] | import time, annotator, RTyper, sources (PEP 263) |
//! | [`KnownFunction`] | annotator, RTyper |
//! | [`ListMethod`], [`DictMethod`], [`TextMethod`], [`BuilderMethod`] | annotator, RTyper, editor |
//!
//! Knows nothing of the compiler, none of whose crates it depends on.

mod codecs;
mod exceptions;
mod functions;
mod methods;

pub use codecs::Codec;
pub use exceptions::Exc;
pub use functions::{KnownFunction, python_builtin_raises};
pub use methods::{BuilderMethod, DictMethod, ListMethod, TextMethod};
