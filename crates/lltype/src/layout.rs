//! Memory layouts: sizes, offsets, alignment and pointer maps.
//!
//! The rules, for a 64-bit little-endian machine:
//!
//! ```text
//! Struct       field0 field1 ...            each at its natural alignment
//! GcStruct     header field0 field1 ...     header: one word
//!              super  field1 ...            no header of its own if the first field
//!                                           is an inlined GcStruct: super has one
//! Array        length items...              length: one word, absent with `nolength`
//! GcArray      header length items...
//! varsized     field0 ... length items...   the last field is an inlined Array
//! ```
//!
//! An array with the hint `extra_item_after_alloc` has memory for one more item than its length says.
//!
//! A pointer to an inlined `super` is the pointer to the whole, so `cast_pointer`
//! between instance types never moves the address. Void fields have no size.

use taipan_graph::IntKind;

use crate::{LLType, Program, TypeKind};

/// Size of the header word at offset 0 of every GC object: pointer to its type
/// information, with flags in the low bits.
pub const GC_HEADER_SIZE: u64 = 8;

/// How values of a type lie in memory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Layout {
    /// Size in bytes, without the items of a variable-sized container; a multiple
    /// of `align` for fixed-size types.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// Structs: offset of each field from the start of the object.
    pub fields: Vec<u64>,
    /// Offsets of GC pointers in the fixed-size part.
    pub gc_pointers: Vec<u64>,
    /// The items of a variable-sized container.
    pub var: Option<VarLayout>,
}

/// The variable-sized part of a layout.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VarLayout {
    /// Offset of the length word, if there is one.
    pub length: Option<u64>,
    /// Offset of item 0.
    pub items: u64,
    /// Distance between items.
    pub item_size: u64,
    /// Size of an object without items: what lies before item 0, and the item that is not counted
    /// (`extra_item_after_alloc`). An object with `n` items takes `n * item_size` more. All computations of sizes
    /// start from here; code rounds the sum up to a multiple of eight for the collector's objects.
    pub empty_size: u64,
    /// Offsets of GC pointers inside an item.
    pub item_gc_pointers: Vec<u64>,
}

impl VarLayout {
    /// Size of an object with that many items, not rounded, or `None` if it overflows.
    pub fn size_with(&self, length: u64) -> Option<u64> {
        (self.item_size.checked_mul(length)?).checked_add(self.empty_size)
    }
}

impl Layout {
    fn scalar(size: u64, gc_pointer: bool) -> Layout {
        Layout {
            size,
            align: size.max(1),
            gc_pointers: if gc_pointer { vec![0] } else { Vec::new() },
            ..Layout::default()
        }
    }

    /// Size of an object with that many items, or `None` if it is not addressable.
    pub fn size_of_varsized(&self, length: u64) -> Option<u64> {
        match &self.var {
            None => Some(self.size),
            Some(var) => {
                let size = round_up(var.size_with(length)?, self.align);
                Some(size.max(self.size)).filter(|s| *s < 1 << 48)
            }
        }
    }

    /// Whether an object of this layout holds GC pointers anywhere.
    pub fn has_gc_pointers(&self) -> bool {
        !self.gc_pointers.is_empty()
            || (self.var.as_ref()).is_some_and(|v| !v.item_gc_pointers.is_empty())
    }
}

/// Layout of a type: of values for primitives and pointers, of objects for containers.
/// Function and opaque types have no size of their own (a GC opaque: its header).
pub fn layout(ty: LLType, program: &(impl Program + ?Sized)) -> Layout {
    match ty.kind() {
        TypeKind::Void => Layout::scalar(0, false),
        TypeKind::Bool | TypeKind::Char => Layout::scalar(1, false),
        TypeKind::UniChar | TypeKind::SingleFloat => Layout::scalar(4, false),
        TypeKind::Int(IntKind { bits, .. }) => Layout::scalar(u64::from(*bits) / 8, false),
        TypeKind::Float | TypeKind::Address => Layout::scalar(8, false),
        TypeKind::Ptr(to) => Layout::scalar(8, to.is_gc_container()),
        TypeKind::Struct(s) => {
            let body = program.body(s);
            let has_super = body.fields.first().is_some_and(|f| f.ty.is_gc_container());
            let mut l = Layout {
                size: if s.gc && !has_super {
                    GC_HEADER_SIZE
                } else {
                    0
                },
                align: if s.gc { 8 } else { 1 },
                ..Layout::default()
            };
            for f in &body.fields {
                let field = layout(f.ty, program);
                let at = match body.union {
                    true => 0,
                    false => round_up(l.size, field.align),
                };
                l.align = l.align.max(field.align);
                l.fields.push(at);
                l.gc_pointers
                    .extend(field.gc_pointers.iter().map(|o| at + o));
                l.var = field.var.map(|v| VarLayout {
                    length: v.length.map(|o| at + o),
                    items: at + v.items,
                    empty_size: at + v.empty_size,
                    ..v
                });
                l.size = l.size.max(at + field.size);
            }
            l.size = round_up(l.size, l.align);
            l
        }
        TypeKind::Array(a) => {
            let item = layout(a.of, program);
            let header = if a.gc { GC_HEADER_SIZE } else { 0 };
            let length = (!a.nolength).then_some(header);
            let align = if a.nolength && !a.gc {
                item.align
            } else {
                item.align.max(8)
            };
            let items = round_up(header + if a.nolength { 0 } else { 8 }, item.align);
            let item_size = round_up(item.size, item.align);
            Layout {
                size: round_up(items, align),
                align,
                fields: Vec::new(),
                gc_pointers: Vec::new(),
                var: Some(VarLayout {
                    length,
                    items,
                    item_size,
                    empty_size: items + if a.extra_item { item_size } else { 0 },
                    item_gc_pointers: item.gc_pointers,
                }),
            }
        }
        TypeKind::FixedArray(of, n) => {
            let item = layout(*of, program);
            let step = round_up(item.size, item.align);
            let pointers = (0..*n).flat_map(|i| item.gc_pointers.iter().map(move |o| i * step + o));
            Layout {
                size: step * n,
                align: item.align,
                gc_pointers: pointers.collect(),
                ..Layout::default()
            }
        }
        TypeKind::Opaque { gc, .. } => Layout {
            size: if *gc { GC_HEADER_SIZE } else { 0 },
            align: 8,
            ..Layout::default()
        },
        TypeKind::Func(_) => Layout {
            align: 1,
            ..Layout::default()
        },
    }
}

/// The field of that name: its index and type.
pub fn field_of(
    ty: LLType,
    name: &str,
    program: &(impl Program + ?Sized),
) -> Option<(usize, LLType)> {
    let body = program.body(ty.as_struct()?);
    let i = body.fields.iter().position(|f| &*f.name == name)?;
    Some((i, body.fields[i].ty))
}

/// Offset of a field, or of `itemN` of a fixed-size array, from the start of the object.
pub fn offset_of(ty: LLType, name: &str, program: &(impl Program + ?Sized)) -> Option<u64> {
    if let TypeKind::FixedArray(_, n) = ty.kind() {
        let i: u64 = name.strip_prefix("item")?.parse().ok()?;
        return (i < *n)
            .then(|| item_offset(ty, i as i64, program))?
            .map(|o| o as u64);
    }
    let (i, _) = field_of(ty, name, program)?;
    Some(layout(ty, program).fields[i])
}

/// Offset of an item from the start of an array; of item 0 of the array at the end of
/// a variable-sized struct.
pub fn item_offset(ty: LLType, n: i64, program: &(impl Program + ?Sized)) -> Option<i64> {
    if let TypeKind::FixedArray(of, _) = ty.kind() {
        let item = layout(*of, program);
        return Some(n * round_up(item.size, item.align) as i64);
    }
    let var = layout(ty, program).var?;
    Some(var.items as i64 + n * var.item_size as i64)
}

/// `n` rounded up to a multiple of `align`, a power of two.
pub fn round_up(n: u64, align: u64) -> u64 {
    (n + align - 1) & !(align - 1)
}
