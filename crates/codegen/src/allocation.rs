//! Which memory objects are given, and how much of that code does by itself.
//!
//! ```text
//! Bump      the nursery's free pointer is moved; the runtime is called where the nursery is full
//! Items     the same of an object with few items; the runtime makes one with many
//! Fixed     the runtime makes it
//! Varsize   the runtime makes it, with items
//! ```

use taipan_graph::{Block, Operation};
use taipan_lltype::{
    LLConst, LLOperand, LLType, Layout, LowLevel, NamedOperands, PlainOp, STR, UNICODE, View,
    VoidConst, has_destructor, round_up,
};

use crate::abi::LARGE_OBJECT;

/// Objects of up to so many bytes, and arrays of so many bytes of items, are allocated by code itself. They
/// are cleared by single stores.
const INLINE: u64 = 128;

/// How an object of the collector's is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Allocation {
    /// So many bytes of the nursery, cleared. The length of one with items is stored there.
    Bump {
        /// Number of bytes.
        size: u64,
        /// Where the length is.
        length_at: Option<u64>,
    },
    /// With items: in the nursery if there are fewer than so many.
    Items {
        /// The number.
        most: u64,
        /// Where the length is.
        length_at: u64,
        /// Whether items are cleared.
        zero: bool,
    },
    /// By the runtime, cleared.
    Fixed,
    /// By the runtime, with items.
    Varsize {
        /// Whether items are cleared.
        zero: bool,
    },
}

/// Whether memory is the collector's, and whether it is cleared.
pub fn flavor(flavor: &LLOperand, ty: LLType) -> (bool, bool) {
    match flavor {
        LLOperand::Const(LLConst::Void(VoidConst::Flavor { gc, zero })) => (*gc, *zero),
        _ => (ty.is_gc_container(), false),
    }
}

/// How an allocation is done; one with items has a length. `inlines` says whether code of its own pays there.
///
/// Items are cleared if they contain GC pointers or `zero` says so; the others are filled by who makes
/// them.
pub fn allocation(
    ty: LLType,
    l: &Layout,
    length: Option<&LLOperand>,
    op: &Operation<LowLevel>,
    zero: bool,
    inlines: bool,
) -> Result<Allocation, String> {
    let Some(length) = length else {
        let size = round_up(l.size, 8);
        let inline = size <= INLINE && !has_destructor(op) && inlines;
        return Ok(match inline {
            true => Allocation::Bump {
                size,
                length_at: None,
            },
            false => Allocation::Fixed,
        });
    };
    let var = (l.var.as_ref()).ok_or_else(|| format!("{ty} has no items"))?;
    if let (LLOperand::Const(LLConst::Int(_, n)), Some(length_at)) = (length, var.length)
        && let Some(size) = (u64::try_from(n.get()).ok()).and_then(|n| l.size_of_varsized(n))
        && round_up(size, 8) <= INLINE
        && inlines
    {
        return Ok(Allocation::Bump {
            size: round_up(size, 8),
            length_at: Some(length_at),
        });
    }
    let is_string = ty == *STR || ty == *UNICODE;
    let filled = op.op == PlainOp::GcMallocFilled.into();
    let zero = zero || !is_string && !var.item_gc_pointers.is_empty() && !filled;
    let bytes = match is_string {
        // Whoever makes a string fills it. To clear a long one takes a call anyway.
        true if zero => 0,
        true => LARGE_OBJECT / 2,
        false => INLINE,
    };
    Ok(match var.length {
        Some(length_at) if (1..=bytes).contains(&var.item_size) && inlines => Allocation::Items {
            most: bytes / var.item_size,
            length_at,
            zero,
        },
        _ => Allocation::Varsize { zero },
    })
}

/// Whether the program tests whether an allocation in that block has failed. If not, it must not.
pub fn is_tested(block: &Block<LowLevel>, op: &Operation<LowLevel>) -> bool {
    (block.operations.iter()).any(
        |test| matches!(test.view(), View::PtrIszero { value } if value.as_var() == Some(op.result)),
    )
}

/// The size of an object that ends its block where the nursery is full (`gc_malloc_nursery`).
pub fn nursery_size(ty: LLType, l: &Layout) -> Result<u64, String> {
    match round_up(l.size, 8) {
        size if size <= INLINE => Ok(size),
        _ => Err(format!("{ty} is too big")),
    }
}
