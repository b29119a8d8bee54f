//! Objects by the names of their fields, whatever memory they are in: for those who
//! build arguments and look at results.

use std::sync::Arc;

use crate::{
    Access, Addr, HeapError, LLType, LLValue, Layout, Program, SIGNED, STR, TypeKind, UNICODE,
    field_of, round_up, word_of_u64,
};

/// Offset of the length in a `STR`; the characters follow.
const STR_LENGTH: u64 = 16;

/// Memory with low-level objects: the runnable heap, or that of this process.
pub trait Memory {
    /// The program that the types belong to.
    fn program(&self) -> &dyn Program;

    /// Layout of a type.
    fn layout(&mut self, ty: LLType) -> Arc<Layout>;

    /// A new object; with `zero`, or of a GC type with pointers, it is cleared.
    fn malloc(&mut self, ty: LLType, length: u64, zero: bool) -> Result<Addr, HeapError>;

    /// Memory to be read.
    fn bytes(&mut self, addr: Addr, size: usize) -> Result<&[u8], HeapError>;

    /// Memory to be written.
    fn bytes_mut(&mut self, addr: Addr, size: usize) -> Result<&mut [u8], HeapError>;

    /// Loads the word of a value of any size.
    fn load_word(&mut self, addr: Addr, ty: LLType) -> Result<i128, HeapError> {
        let access = Access::of(ty).ok_or(HeapError::Type("load of a container"))?;
        let b = self.bytes(addr, access.size())?;
        if access == Access::W128 {
            let mut w = [0; 16];
            w.copy_from_slice(b);
            return Ok(i128::from_le_bytes(w));
        }
        Ok(word_of_u64(access.decode(b), ty))
    }

    /// Stores the word of a value of any size.
    fn store_word(&mut self, addr: Addr, ty: LLType, w: i128) -> Result<(), HeapError> {
        let size = Access::of(ty)
            .ok_or(HeapError::Type("store of a container"))?
            .size();
        self.bytes_mut(addr, size)?
            .copy_from_slice(&w.to_le_bytes()[..size]);
        Ok(())
    }

    /// Item type, offset of item 0, distance between items and offset of the length
    /// word of an array type.
    fn items_of(&mut self, ty: LLType) -> Option<(LLType, u64, u64, Option<u64>)> {
        if let TypeKind::FixedArray(of, _) = ty.kind() {
            let item = self.layout(*of);
            return Some((*of, 0, round_up(item.size, item.align), None));
        }
        let of = ty.as_array()?.of;
        let l = self.layout(ty);
        let var = l.var.as_ref()?;
        Some((of, var.items, var.item_size, var.length))
    }

    /// Address and type of a field.
    fn field(&mut self, addr: Addr, ty: LLType, name: &str) -> Result<(Addr, LLType), HeapError> {
        let (i, field) =
            field_of(ty, name, self.program()).ok_or(HeapError::Type("no such field"))?;
        Ok((addr + self.layout(ty).fields[i], field))
    }

    /// Value of a field.
    fn get_field(&mut self, addr: Addr, ty: LLType, name: &str) -> Result<LLValue, HeapError> {
        let (at, field) = self.field(addr, ty, name)?;
        Ok(LLValue::from_word(self.load_word(at, field)?, field))
    }

    /// Sets a field.
    fn set_field(
        &mut self,
        addr: Addr,
        ty: LLType,
        name: &str,
        v: LLValue,
    ) -> Result<(), HeapError> {
        let (at, field) = self.field(addr, ty, name)?;
        self.store_word(at, field, v.word())
    }

    /// Length of an array.
    fn array_length(&mut self, addr: Addr, ty: LLType) -> Result<u64, HeapError> {
        match self.items_of(ty) {
            Some((.., Some(at))) => load_length(self, addr + at),
            _ => Err(HeapError::Type("length of what has none")),
        }
    }

    /// Address and type of an item.
    fn item(&mut self, addr: Addr, ty: LLType, index: u64) -> Result<(Addr, LLType), HeapError> {
        let (of, start, step, length) = self
            .items_of(ty)
            .ok_or(HeapError::Type("item of what is no array"))?;
        if let Some(at) = length
            && index >= load_length(self, addr + at)?
        {
            return Err(HeapError::OutOfBounds(ty));
        }
        Ok((
            addr.wrapping_add(start)
                .wrapping_add(index.wrapping_mul(step)),
            of,
        ))
    }

    /// Value of an item.
    fn get_item(&mut self, addr: Addr, ty: LLType, index: u64) -> Result<LLValue, HeapError> {
        let (at, of) = self.item(addr, ty, index)?;
        Ok(LLValue::from_word(self.load_word(at, of)?, of))
    }

    /// Sets an item.
    fn set_item(
        &mut self,
        addr: Addr,
        ty: LLType,
        index: u64,
        v: LLValue,
    ) -> Result<(), HeapError> {
        let (at, of) = self.item(addr, ty, index)?;
        self.store_word(at, of, v.word())
    }

    /// A new `STR`.
    fn alloc_str(&mut self, s: &[u8]) -> Result<Addr, HeapError> {
        let a = self.malloc(*STR, s.len() as u64, true)?;
        self.bytes_mut(a + 24, s.len())?.copy_from_slice(s);
        Ok(a)
    }

    /// A new `UNICODE`.
    fn alloc_unicode(&mut self, s: &[u32]) -> Result<Addr, HeapError> {
        let a = self.malloc(*UNICODE, s.len() as u64, true)?;
        let (chars, ty) = self.field(a, *UNICODE, "chars")?;
        for (i, c) in s.iter().enumerate() {
            self.set_item(chars, ty, i as u64, LLValue::UniChar(*c))?;
        }
        Ok(a)
    }

    /// Address and number of the characters of a `STR`.
    fn str_chars(&mut self, addr: Addr) -> Result<(Addr, usize), HeapError> {
        let n = load_length(self, addr + STR_LENGTH)?;
        Ok((addr + STR_LENGTH + 8, n as usize))
    }

    /// Characters of a `STR`.
    fn str_bytes(&mut self, addr: Addr) -> Result<Vec<u8>, HeapError> {
        let (at, n) = self.str_chars(addr)?;
        Ok(self.bytes(at, n)?.to_vec())
    }

    /// Code points of a `UNICODE`.
    fn unicode_chars(&mut self, addr: Addr) -> Result<Vec<u32>, HeapError> {
        let (chars, ty) = self.field(addr, *UNICODE, "chars")?;
        let n = self.array_length(chars, ty)?;
        (0..n)
            .map(|i| Ok(self.get_item(chars, ty, i)?.word() as u32))
            .collect()
    }
}

fn load_length(memory: &mut (impl Memory + ?Sized), at: Addr) -> Result<u64, HeapError> {
    Ok(memory.load_word(at, *SIGNED)? as u64)
}
