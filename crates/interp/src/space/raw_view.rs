//! Raw arrays seen through pointers of another type: `rffi.cast(DOUBLEP, buf)[0] = x`
//! writes the eight bytes of a float into an array of characters.
//!
//! A container keeps items as values of its own type. What is read or written as another
//! type goes through the bytes of the items that it covers.

use num_traits::ToPrimitive;
use taipan_graph::IntKind;
use taipan_lltype::{LLType, TypeKind};

use super::heap::{Kind, Ref};
use super::lowmem::{Pointer, Target};
use super::value::Value;
use super::{Interp, R};

/// An item that is no item of its container.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    /// The container.
    container: Ref,
    /// The type of the container's items.
    of: LLType,
    /// The type that the item is seen as.
    seen_as: LLType,
    /// Offset of the item in bytes.
    at: usize,
}

/// The size of a number or character in bytes; none of other types.
fn plain_size(t: LLType) -> Option<usize> {
    Some(match t.kind() {
        TypeKind::Int(k) => usize::from(k.bits) / 8,
        TypeKind::Float => 8,
        TypeKind::SingleFloat => 4,
        TypeKind::Char | TypeKind::Bool => 1,
        _ => return None,
    })
}

fn item_type(t: LLType) -> Option<LLType> {
    match t.kind() {
        TypeKind::Array(a) if a.nolength => Some(a.of),
        TypeKind::FixedArray(of, _) => Some(*of),
        _ => None,
    }
}

impl Interp<'_> {
    /// Item `i` from a pointer, if it points to items of another type than its container
    /// has.
    pub(crate) fn raw_view(&mut self, p: Pointer, i: i64) -> R<Option<View>> {
        let (r, part) = match p.to {
            Target::Object(r) => (r, 0),
            Target::Part(r, part) => (r, part),
            Target::Null | Target::Int(_) => return Ok(None),
        };
        let Some(container) = self.container(r) else {
            return Ok(None);
        };
        let (of, seen_as) = match (item_type(container.ty), p.ty.pointee().and_then(item_type)) {
            (Some(of), Some(seen_as)) if of != seen_as => (of, seen_as),
            _ => return Ok(None),
        };
        let (Some(size), Some(step)) = (plain_size(of), plain_size(seen_as)) else {
            return Ok(None);
        };
        let bytes = container.parts.len() * size;
        let at = (part * size as i64).saturating_add(i.saturating_mul(step as i64));
        match usize::try_from(at) {
            Ok(at) if at + step <= bytes => Ok(Some(View {
                container: r,
                of,
                seen_as,
                at,
            })),
            _ => self.index_error("array index out of bounds"),
        }
    }

    /// The bytes of the items that a view covers, and the index of the first of them.
    fn covered(&mut self, view: View) -> R<(usize, Vec<u8>)> {
        let size = plain_size(view.of).unwrap_or(1);
        let step = plain_size(view.seen_as).unwrap_or(1);
        let (first, last) = (view.at / size, (view.at + step - 1) / size);
        let parts = match self.container(view.container) {
            Some(c) => c.parts[first..=last].to_vec(),
            None => Vec::new(),
        };
        let mut bytes = Vec::with_capacity(parts.len() * size);
        for part in &parts {
            bytes.extend(self.write_bytes(view.of, part)?);
        }
        Ok((first, bytes))
    }

    /// Reads what is seen.
    pub(crate) fn read_view(&mut self, view: View) -> R {
        let (first, bytes) = self.covered(view)?;
        let start = view.at - first * plain_size(view.of).unwrap_or(1);
        let step = plain_size(view.seen_as).unwrap_or(1);
        let v = self.read_bytes(view.seen_as, &bytes[start..start + step])?;
        match view.seen_as.kind() {
            TypeKind::Int(_) => self.typed_number(view.seen_as, &v),
            _ => Ok(v),
        }
    }

    /// Writes what is seen.
    pub(crate) fn write_view(&mut self, view: View, v: &Value) -> R<()> {
        let new = self.write_bytes(view.seen_as, v)?;
        let (first, mut bytes) = self.covered(view)?;
        let size = plain_size(view.of).unwrap_or(1);
        let start = view.at - first * size;
        bytes[start..start + new.len()].copy_from_slice(&new);
        let mut parts = Vec::new();
        for item in bytes.chunks_exact(size) {
            parts.push(self.read_bytes(view.of, item)?);
        }
        if let Kind::LLContainer(c) = &mut self.heap.get_mut(view.container).kind {
            c.parts[first..first + parts.len()].clone_from_slice(&parts);
        }
        Ok(())
    }

    /// The bytes of a number or character, the lowest first.
    fn write_bytes(&mut self, t: LLType, v: &Value) -> R<Vec<u8>> {
        let size = plain_size(t).unwrap_or(0);
        let bytes = match (t.kind(), v) {
            (_, Value::None) => vec![0; size],
            (TypeKind::Float, _) => self.float_of(v)?.to_le_bytes().to_vec(),
            (TypeKind::SingleFloat, _) => {
                let bytes = self.getattr(v, "_bytes")?;
                self.bytes_of(&bytes)?.to_vec()
            }
            (TypeKind::Bool, _) => vec![u8::from(self.truth(v)?)],
            (TypeKind::Char, Value::Str(s)) => s.to_vec(),
            (TypeKind::Int(k), _) => {
                let wide = self.int_of(v, None)?;
                let n = self.big_int(&wide).and_then(|n| n.to_i128()).unwrap_or(0);
                k.wrap(n).to_le_bytes()[..size].to_vec()
            }
            _ => Vec::new(),
        };
        if bytes.len() != size {
            let got = self.heap.type_name(v).to_owned();
            return self.type_error(format!("a {t} is expected, not a {got}"));
        }
        Ok(bytes)
    }

    /// The value of these bytes, as a container keeps it.
    fn read_bytes(&mut self, t: LLType, bytes: &[u8]) -> R {
        let unsigned = bytes
            .iter()
            .rev()
            .fold(0u128, |n, b| n << 8 | u128::from(*b));
        Ok(match t.kind() {
            TypeKind::Float => Value::Float(f64::from_bits(unsigned as u64)),
            TypeKind::SingleFloat => {
                let single = f32::from_bits(unsigned as u32);
                return self.typed_number(t, &Value::Float(f64::from(single)));
            }
            TypeKind::Bool => Value::Bool(unsigned != 0),
            TypeKind::Char => Value::bytes(bytes),
            TypeKind::Int(IntKind {
                signed: false,
                bits: 128,
                ..
            }) => Value::int_or_long(unsigned.into()),
            TypeKind::Int(k) => Value::int_or_long(k.wrap(unsigned as i128).into()),
            _ => Value::None,
        })
    }
}
