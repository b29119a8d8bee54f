//! RPython sources that ship inside the binary: the `rpython` package that programs
//! import, and `taipan_prelude`, the `ll_*` helpers that implement lists, dicts,
//! strings and the like at the low level.
//!
//! Owns the sources and the table of them. Knows nothing of the compiler: it is
//! data.

mod table;

pub use table::SHIPPED;
