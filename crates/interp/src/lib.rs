//! The concrete object space and the import-time image.
//!
//! Owns the concrete space (a Python 2.7 interpreter for import-time code, on the engine of
//! [`taipan_engine`]) and the image of live objects that import time leaves, with its projections.
//!
//! ```text
//! files ─► space: runs modules ─► heap ─► image ─► queries ─► flow, annotator, ...
//!                ▲                                    │
//!                └──────────── memo calls ◄───────────┘
//! ```
//!
//! **Architecture invariants.** The image holds [`taipan_code::CodeId`]s, never code: running
//! import time reads the bodies that run and no others. Nothing here writes to
//! disk, opens a connection or starts a process; the one thing a program may ask of the
//! outside is the C compiler's opinion, through [`taipan_base::System`].

#![cfg_attr(not(test), deny(clippy::disallowed_methods))]
#![allow(missing_docs, reason = "salsa generates undocumented accessors")]

mod builtin;
mod complex;
mod extension;
mod heap_image;
mod library;
mod space;
mod testing;

pub use builtin::Builtin;
pub use complex::Complex;
pub use extension::{
    Extension, ExtensionConstant, ExtensionException, ExtensionFunction, ExtensionType,
    KNOWN_EXCEPTIONS, extension_diagnostics, function_name, offered_extension,
};
pub use heap_image::constants;
pub use heap_image::data::*;
pub use heap_image::image_changes::{ImageChanges, image_changes};
pub use heap_image::import_time::Image;
pub use heap_image::memo_changes::{memo_changes, noted_memo_calls};
pub use heap_image::names::Names;
pub use heap_image::queries::*;
pub use heap_image::records::replayed_steps;
pub use library::{Library, LibraryFunction, library_diagnostics, offered_library};
pub use space::lowmem::number_class;
pub use space::modules::lltype::is_of_kind;
pub use space::modules::standard::is_standard as is_standard_module;

/// How Python spells values.
pub mod spelling {
    pub use crate::space::repr::{float_repr, float_str, quote_bytes, quote_unicode};
}

pub use heap_image::synthetic::{define_synthetic, type_object, type_objects_table};
pub use testing::{
    EndedFrame, Observed, RaisedInTest, TestEnd, TestItem, TestRun, TestSession, Tests,
    has_test_session, run_test,
};

use taipan_base::Program;
use taipan_graph::ObjId;

/// A function object of a program's image: the key of all per-function queries.
#[salsa::interned(unsafe(no_lifetime), revisions = usize::MAX, debug)]
pub struct Function {
    /// The program.
    #[returns(copy)]
    pub program: Program,
    /// The function object.
    #[returns(copy)]
    pub obj: ObjId,
}
