//! The items of arrays in memory.

use std::rc::Rc;

use taipan_lltype::{LLType, Layout, TypeKind, round_up};

/// The items of an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Items {
    /// Their type.
    pub of: LLType,
    /// The offset of the first one.
    pub start: u64,
    /// The distance between two.
    pub step: u64,
    /// The offset of the length word.
    pub length: Option<u64>,
    /// The length, where it is a part of the type.
    pub fixed: Option<u64>,
}

impl Items {
    /// Those of a type, by the layouts of types. There are none of a type that is no array.
    pub fn of_type(ty: LLType, mut layout: impl FnMut(LLType) -> Rc<Layout>) -> Option<Items> {
        if let TypeKind::FixedArray(of, n) = ty.kind() {
            let item = layout(*of);
            return Some(Items {
                of: *of,
                start: 0,
                step: round_up(item.size, item.align),
                length: None,
                fixed: Some(*n),
            });
        }
        let of = ty.as_array()?.of;
        let l = layout(ty);
        let var = l.var.as_ref()?;
        Some(Items {
            of,
            start: var.items,
            step: var.item_size,
            length: var.length,
            fixed: None,
        })
    }
}
