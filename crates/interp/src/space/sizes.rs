//! How large one object may become while a program is imported.
//!
//! A program that never stops growing a string or a list is told so, as it would be by
//! Python where memory ends; the compiler does not end with it.

use super::heap::{Kind, Ref};
use super::types::ty;
use super::value::Value;
use super::{Interp, R};

/// Bytes that a string may have.
pub(crate) const MOST_BYTES: usize = 1 << 27;
/// Bytes that a program may print.
pub(crate) const MOST_PRINTED: usize = 1 << 26;
/// Bits that a long may have.
const MOST_BITS: u64 = 1 << 25;
/// Items that a container may have.
pub(crate) const MOST_ITEMS: usize = 1 << 24;

/// Levels of tuples in a tuple.
const MOST_LEVELS: u32 = 1000;

impl Interp<'_> {
    /// Counts what an operation or a builtin function returns. Raises MemoryError if it is a
    /// string, a number or a container that is too large.
    pub(crate) fn check_size(&mut self, v: &Value) -> R<()> {
        let fits = match v {
            Value::Str(s) => s.len() <= MOST_BYTES,
            Value::Unicode(s) => s.len() <= MOST_BYTES / size_of::<u32>(),
            Value::Long(n) => n.bits() <= MOST_BITS,
            Value::Tuple(items) => {
                items.nodes() <= MOST_ITEMS as u64 && items.depth() <= MOST_LEVELS
            }
            Value::Ref(r) => return self.check_container(*r),
            _ => return Ok(()),
        };
        if fits { self.made(v) } else { self.too_large() }
    }

    /// The same for an item of a container, which is a number or an object in most cases.
    #[inline(always)]
    pub(crate) fn check_item(&mut self, v: &Value) -> R<()> {
        match v {
            Value::Int(_) | Value::None | Value::Bool(_) | Value::Float(_) => Ok(()),
            v => self.check_size(v),
        }
    }

    /// Raises MemoryError if a container is too large.
    pub(crate) fn check_container(&mut self, r: Ref) -> R<()> {
        let items = match &self.heap.peek(r).kind {
            Kind::List(items) => items.len(),
            Kind::Dict(table) | Kind::Set(table) => table.len(),
            _ => return Ok(()),
        };
        self.check_items(items)
    }

    /// Raises MemoryError if a container that is being made has this many items already.
    pub(crate) fn check_items(&mut self, n: usize) -> R<()> {
        if n > MOST_ITEMS {
            return self.too_large();
        }
        Ok(())
    }

    /// Counts the work on a string that is being made, which has this many characters so far.
    /// Raises MemoryError if these are too many.
    pub(crate) fn check_text(&mut self, n: usize) -> R<()> {
        if n > MOST_BYTES {
            return self.too_large();
        }
        self.work(1)
    }

    /// Raises MemoryError.
    pub(crate) fn too_large<T>(&mut self) -> R<T> {
        self.raise(ty::MEMORY_ERROR, "too large while a program is imported")
    }
}
