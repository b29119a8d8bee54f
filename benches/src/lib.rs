//! Synthetic RPython programs of any size, and edits of them.
//!
//! A [`Project`] is made from a seed and a number of functions, and is the same text on
//! every machine. It has the shape of large RPython programs: packages of modules that
//! import each other, a class hierarchy below one root that all packages extend, methods
//! overridden across modules, attributes, lists, dicts, tuples, strings, exceptions,
//! specialised functions, tables of functions, classes and instances that are built at
//! import time, and calls in both directions between modules, so that nearly all
//! functions are in one component of mutual recursion. It is valid, terminates (every
//! call takes from a supply of fuel), prints a checksum, and its entry point reaches every
//! function.
//!
//! [`Project::edit`] changes it as a user would, and says which files changed. Apart from
//! [`EditKind::Flaw`], which makes a known error, edits keep the program valid.
//!
//! **Architecture invariants.** Knows nothing of the compiler: text in files is all that
//! goes out. What a program is made of ([`model`]) is apart from how it is spelled
//! (`render`, `body`): edits change the model, and the text of the modules concerned is
//! rendered anew.

mod body;
mod edit;
mod generate;
mod model;
mod render;

pub use edit::{Edit, EditKind, Flaw};
pub use model::Project;
