//! Keys of queries about low-level functions and classes.

#![allow(missing_docs, reason = "salsa generates undocumented accessors")]

use taipan_annotator::Roots;
use taipan_graph::ObjId;
use taipan_lltype::FuncSym;

/// A low-level function of a program: the key of the queries here.
#[salsa::interned(unsafe(no_lifetime), revisions = usize::MAX, debug)]
pub struct LLFunction {
    /// The program.
    #[returns(copy)]
    pub roots: Roots,
    /// The function.
    #[returns(ref)]
    pub sym: FuncSym,
}

/// A class of a program.
#[salsa::interned(unsafe(no_lifetime), revisions = usize::MAX, debug)]
pub(crate) struct ClassKey {
    /// The program.
    #[returns(copy)]
    pub(crate) roots: Roots,
    /// The class.
    #[returns(copy)]
    pub(crate) class: ObjId,
}
