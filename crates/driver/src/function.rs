//! The key of queries about low-level functions.

#![allow(missing_docs, reason = "salsa generates undocumented accessors")]

use taipan_annotator::Roots;
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
