//! How large one object may become while a program is imported.
//!
//! A program that never stops growing a string or a list is told so, as it would be by
//! Python where memory ends; the compiler does not end with it.

use super::heap::Kind;
use super::types::ty;
use super::value::Value;
use super::{Interp, R};

/// Bytes that a string may have.
pub(crate) const MOST_BYTES: usize = 1 << 27;
/// Bits that a long may have.
const MOST_BITS: u64 = 1 << 25;
/// Items that a container may have.
pub(crate) const MOST_ITEMS: usize = 1 << 24;

impl Interp<'_> {
    /// Raises MemoryError if `v` is a string, a number or a container that is too large.
    pub(crate) fn check_size(&mut self, v: &Value) -> R<()> {
        let fits = match v {
            Value::Str(s) => s.len() <= MOST_BYTES,
            Value::Unicode(s) => s.len() <= MOST_BYTES / size_of::<u32>(),
            Value::Long(n) => n.bits() <= MOST_BITS,
            Value::Tuple(items) => items.len() <= MOST_ITEMS,
            Value::Ref(r) => match self.heap.kind(*r) {
                Kind::List(items) => items.len() <= MOST_ITEMS,
                Kind::Dict(table) | Kind::Set(table) => table.len() <= MOST_ITEMS,
                _ => true,
            },
            _ => true,
        };
        if fits { Ok(()) } else { self.too_large() }
    }

    /// Raises MemoryError if a container that is being made has this many items already.
    pub(crate) fn check_items(&mut self, n: usize) -> R<()> {
        if n > MOST_ITEMS {
            return self.too_large();
        }
        Ok(())
    }

    /// Raises MemoryError.
    pub(crate) fn too_large<T>(&mut self) -> R<T> {
        self.raise(ty::MEMORY_ERROR, "too large while a program is imported")
    }
}
