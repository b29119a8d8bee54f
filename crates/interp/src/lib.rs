//! The interpreter engine, the concrete object space and the import-time image.

#![allow(missing_docs, reason = "salsa generates undocumented accessors")]

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
