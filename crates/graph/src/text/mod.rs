//! The text form of graphs: what tests read and `taipan emit` prints.
//!
//! ```text
//! graph f
//! block0(x_0, n_1):
//!     v2 = getitem(x_0, n_1) @4
//!     canraise
//!         ok: block1(v2)
//!         #exceptions.IndexError(etype_3, evalue_4): except(etype_3, evalue_4)
//! block1(v5):
//!     v6 = bool(v5) @6
//!     switch v6
//!         False: return(0)
//!         True: return(v5)
//! return(v7)
//! except(etype_8, evalue_9)
//! ```
//!
//! A variable is written `v3`, or `name_3` where it has a name; in a typed dialect
//! its type follows where it is defined (`v3: Signed`). `@4` is the instruction
//! that an operation came from, left out where it is the first. Other exits are `goto block1(v2)` and, for a block
//! without any, `stop`. A semicolon starts a comment. Declarations that a dialect
//! needs (struct types, functions) stand before `graph`.

mod cursor;
mod hl;
mod parse;
mod print;
#[cfg(test)]
mod tests;

pub use cursor::{Cursor, ParseError};
pub use hl::{HlNames, fmt_const, int_with_kind, parse_const};
pub use parse::{parse_graph, parse_graphs};
pub use print::{GraphText, Piece, TextLine, print_graph};

use std::fmt;

use crate::{Dialect, Graph};

/// How a dialect's operations, constants and types are written.
pub trait TextDialect: Dialect {
    /// What names in the text stand for. The default knows no names: things are
    /// then written by their ids.
    type Names: Default;

    /// Declares what the graph mentions by name and returns these declarations,
    /// each on a line of its own.
    fn declare(_graph: &Graph<Self>, _names: &mut Self::Names) -> String {
        String::new()
    }

    /// Parses one declaration, if there is one at the cursor.
    fn parse_declaration(
        _cursor: &mut Cursor<'_>,
        _names: &mut Self::Names,
    ) -> Result<bool, ParseError> {
        Ok(false)
    }

    /// The operation of that name.
    fn parse_op(name: &str) -> Option<Self::Op>;

    /// Writes a constant.
    fn fmt_const(c: &Self::Const, names: &Self::Names, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// Parses what [`TextDialect::fmt_const`] writes.
    fn parse_const(cursor: &mut Cursor<'_>, names: &Self::Names)
    -> Result<Self::Const, ParseError>;

    /// Writes the type of a variable with what separates it from the name, or
    /// nothing.
    fn fmt_ty(t: &Self::Ty, names: &Self::Names, f: &mut fmt::Formatter<'_>) -> fmt::Result;

    /// Parses what [`TextDialect::fmt_ty`] writes.
    fn parse_ty(cursor: &mut Cursor<'_>, names: &Self::Names) -> Result<Self::Ty, ParseError>;
}
