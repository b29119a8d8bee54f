//! Values between the heap of objects and a low-level heap: arguments and results of a whole evaluation, and the strings of
//! functions of the runtime.

use taipan_lltype::{Addr, HeapError, LLType, LLValue, Memory, OBJECT, STR, TypeKind};
use taipan_ootype::{Place, items_field, member};

use super::heap::{Objects, is_part, items_of};

impl Objects<'_> {
    /// The word of a value of the low-level heap. Objects are copied.
    pub(super) fn taken(&mut self, v: LLValue, ty: LLType) -> Result<i128, HeapError> {
        self.imported_word(v.word(), ty)
    }

    /// The value of a word in the low-level heap. Objects are copied.
    pub(super) fn given(&mut self, word: i128, ty: LLType) -> Result<LLValue, HeapError> {
        let word = self.exported_word(word, ty)?;
        Ok(LLValue::from_word(word, ty))
    }

    fn imported_word(&mut self, word: i128, ty: LLType) -> Result<i128, HeapError> {
        match ty.pointee() {
            Some(to) if word != 0 && !matches!(to.kind(), TypeKind::Func(_)) => {
                let addr = word as Addr;
                let array = match to.as_struct() {
                    Some(_) => self.low_items(addr, to)?,
                    None => Some((addr, to)),
                };
                let length = match array {
                    Some((at, array)) => self.low.array_length(at, array)?,
                    None => 0,
                };
                let object = self.new_object(to, i128::from(length));
                self.import(addr, to, object)?;
                Ok(object)
            }
            _ => Ok(word),
        }
    }

    /// The array at the end of a low-level object.
    fn low_items(&mut self, addr: Addr, ty: LLType) -> Result<Option<(Addr, LLType)>, HeapError> {
        if items_field(ty, self.program).is_none() {
            return Ok(None);
        }
        let body = ty.as_struct().map(|s| self.program.body(s));
        let last = body.as_ref().and_then(|b| b.fields.last());
        last.map(|f| self.low.field(addr, ty, &f.name)).transpose()
    }

    /// Copies the contents of a low-level container.
    fn import(&mut self, addr: Addr, ty: LLType, object: i128) -> Result<(), HeapError> {
        if let Some(of) = items_of(ty) {
            for i in 0..self.length(object)? {
                let (at, _) = self.low.item(addr, ty, i as u64)?;
                if is_part(of) {
                    let part = self.item(object, i)?;
                    self.import(at, of, part)?;
                } else if !of.is_void() {
                    let word = self.low.load_word(at, of)?;
                    let word = self.imported_word(word, of)?;
                    self.set_item(object, i, word)?;
                }
            }
            return Ok(());
        }
        let bad = HeapError::Type("an argument of no type");
        let body = self.program.body(ty.as_struct().ok_or(bad)?);
        for f in &body.fields {
            let place = member(ty, &f.name, self.program);
            let (at, of) = self.low.field(addr, ty, &f.name)?;
            match place {
                Some(Place::Base(base)) => self.import(at, base, object)?,
                Some(Place::Field(i, _)) if is_part(of) => {
                    let part = self.field(object, i)?;
                    self.import(at, of, part)?;
                }
                Some(Place::Field(i, _)) => {
                    let word = self.low.load_word(at, of)?;
                    let word = self.imported_word(word, of)?;
                    self.set_field(object, i, word)?;
                }
                Some(Place::Nothing) | None => {}
            }
        }
        Ok(())
    }

    /// The word of a value in the low-level heap. Objects are copied.
    pub(super) fn exported_word(&mut self, word: i128, ty: LLType) -> Result<i128, HeapError> {
        match ty.pointee() {
            Some(to) if !matches!(to.kind(), TypeKind::Func(_)) => {
                Ok(i128::from(self.exported(word, to)?))
            }
            _ => Ok(word),
        }
    }

    /// A copy of an object in the low-level heap. That of an instance has its class alone.
    pub(super) fn exported(&mut self, word: i128, ty: LLType) -> Result<Addr, HeapError> {
        if word == 0 {
            return Ok(0);
        }
        let array = match items_field(ty, self.program) {
            Some((i, _)) => Some(self.field(word, i)?),
            None => items_of(ty).map(|_| word),
        };
        let length = match array {
            Some(array) => self.length(array)?,
            None => 0,
        };
        let addr = self.low.malloc(ty, length as u64, true)?;
        self.export(word, ty, addr)?;
        Ok(addr)
    }

    fn export(&mut self, object: i128, ty: LLType, addr: Addr) -> Result<(), HeapError> {
        if let Some(of) = items_of(ty) {
            for i in 0..self.length(object)? {
                let (at, _) = self.low.item(addr, ty, i as u64)?;
                let word = self.item(object, i)?;
                self.export_part(word, of, at)?;
            }
            return Ok(());
        }
        let bad = HeapError::Type("a result of no type");
        let body = self.program.body(ty.as_struct().ok_or(bad)?);
        for f in &body.fields {
            let place = member(ty, &f.name, self.program);
            let (at, of) = self.low.field(addr, ty, &f.name)?;
            match place {
                Some(Place::Base(base)) => {
                    self.export(object, base, at)?;
                    if base == *OBJECT {
                        return Ok(());
                    }
                }
                Some(Place::Field(i, _)) => {
                    let word = self.field(object, i)?;
                    self.export_part(word, of, at)?;
                }
                Some(Place::Nothing) | None => {}
            }
        }
        Ok(())
    }

    fn export_part(&mut self, word: i128, of: LLType, at: Addr) -> Result<(), HeapError> {
        if is_part(of) {
            self.export(word, of, at)
        } else if of.is_void() {
            Ok(())
        } else {
            let word = self.exported_word(word, of)?;
            self.low.store_word(at, of, word)
        }
    }

    /// Takes the characters of a low-level string into an object that has room for them.
    pub(super) fn take_characters(&mut self, string: i128, addr: Addr) -> Result<(), HeapError> {
        let Some((chars, _)) = items_field(*STR, self.program) else {
            return Ok(());
        };
        if string != 0 {
            let array = self.field(string, chars)?;
            *self.bytes(array)? = self.low.str_bytes(addr)?;
        }
        Ok(())
    }
}
