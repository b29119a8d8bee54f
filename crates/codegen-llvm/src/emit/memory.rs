//! Fields, items, and raw memory.
//!
//! Each access says what it is to (see `text.rs`): of GC objects which field, or items of
//! which kind; of raw memory, which programs look at as they please, only that it is no
//! state of the runtime.

use taipan_codegen::runtime::{self, RuntimeFunction};
use taipan_lltype::{LLConst, LLOperand, LLType, TypeKind, View, VoidConst, field_of, round_up};

use super::{Emitter, HEAP, Value};
use crate::text::Metadata;
use crate::types::{Bad, Ty, llvm_type};

/// Where the items of an array are.
struct Items {
    of: LLType,
    start: u64,
    step: u64,
    /// Offset of the length word.
    length: Option<u64>,
    /// The length, where it is a part of the type.
    fixed: Option<u64>,
}

/// A place in memory: address and constant offset, and the type of what is there.
struct Place {
    address: Value,
    offset: u64,
    ty: LLType,
    /// Whether it is in a GC object.
    gc: bool,
    /// The field, or the kind of items.
    part: Option<String>,
}

impl Place {
    /// What a load or store of it is to.
    fn path(&self) -> Vec<&str> {
        match &self.part {
            Some(part) if self.gc => vec![HEAP, part],
            _ => vec![HEAP],
        }
    }
}

impl Emitter<'_> {
    pub(super) fn pointee(&self, o: &LLOperand) -> Result<LLType, Bad> {
        let ty = self.ty(o);
        ty.pointee()
            .ok_or_else(|| format!("a {ty} where a pointer is needed"))
    }

    /// The object that a pointer is to.
    fn object(&mut self, pointer: &LLOperand) -> Result<Place, Bad> {
        let ty = self.pointee(pointer)?;
        Ok(Place {
            address: self.pointer(pointer)?,
            offset: 0,
            ty,
            gc: ty.is_gc_container(),
            part: None,
        })
    }

    /// The place in an object where fields and items lead to.
    fn place_of(&mut self, pointer: &LLOperand, path: &[LLOperand]) -> Result<Place, Bad> {
        let mut place = self.object(pointer)?;
        if self.checked {
            let pointer = self.ty(pointer);
            self.check_raw(pointer, &place.address.clone());
        }
        for step in path {
            self.step(&mut place, step)?;
        }
        Ok(place)
    }

    /// `getfield` and its like.
    pub(super) fn load(&mut self, view: &View<'_, LLOperand>) -> Result<Option<Value>, Bad> {
        let access = view.access().ok_or("no load")?;
        let place = self.place_of(access.object, access.path)?;
        if place.ty.is_void() {
            return Ok(None);
        }
        let Some(ty) = llvm_type(place.ty) else {
            // An object inside of another one.
            return Ok(Some(self.address_at(&place)));
        };
        let address = self.address_at(&place);
        let tag = self.tag(&place.path());
        // Vtables are written by nobody, and their fields are read often.
        let invariant = match self.pointee(access.object)?.is_vtable() {
            true => {
                let nothing = self.metadata(Metadata::Empty);
                format!(", !invariant.load {nothing}")
            }
            false => String::new(),
        };
        let align = if place.gc { ty.align() } else { 1 };
        let address = &address.text;
        let text = format!("load {ty}, ptr {address}, align {align}{tag}{invariant}");
        Ok(Some(self.ins(ty, &text)))
    }

    /// `setfield` and its like.
    pub(super) fn store(&mut self, view: &View<'_, LLOperand>) -> Result<Option<Value>, Bad> {
        let access = view.access().ok_or("no store")?;
        let place = self.place_of(access.object, access.path)?;
        if let Some(v) = self.maybe(access.stored.ok_or("no value")?)? {
            let ty = llvm_type(place.ty).ok_or_else(|| format!("a store of a {}", place.ty))?;
            let v = self.as_type(&v, ty);
            let address = self.address_at(&place);
            let tag = self.tag(&place.path());
            let align = if place.gc { ty.align() } else { 1 };
            self.run(&format!(
                "store {}, ptr {}, align {align}{tag}",
                v.typed(),
                address.text
            ));
        }
        Ok(None)
    }

    /// The length of the array in an object.
    pub(super) fn length(&mut self, pointer: &LLOperand, path: &[LLOperand]) -> Result<Value, Bad> {
        let place = self.place_of(pointer, path)?;
        let items = self.items(place.ty)?;
        match (items.fixed, items.length) {
            (Some(n), _) => Ok(self.int(Ty::I64, i128::from(n))),
            (None, Some(at)) => {
                let address = self.offset(&place.address, place.offset + at);
                let (tag, range, align) = match place.gc {
                    true => {
                        let range = self.metadata(Metadata::Length);
                        let tag = self.tag(&[HEAP, "length"]);
                        (tag, format!(", !range {range}"), 8)
                    }
                    false => (self.tag(&[HEAP]), String::new(), 1),
                };
                let address = &address.text;
                let text = format!("load i64, ptr {address}, align {align}{tag}{range}");
                Ok(self.ins(Ty::I64, &text))
            }
            _ => Err(format!("the length of a {}", place.ty)),
        }
    }

    /// `getsubstruct` and its like.
    pub(super) fn part_address(
        &mut self,
        pointer: &LLOperand,
        step: &LLOperand,
    ) -> Result<Option<Value>, Bad> {
        let place = self.place_of(pointer, std::slice::from_ref(step))?;
        match place.ty.is_void() {
            true => Ok(None),
            false => Ok(Some(self.address_at(&place))),
        }
    }

    /// `direct_arrayitems`
    pub(super) fn items_address(&mut self, array: &LLOperand) -> Result<Value, Bad> {
        let mut place = self.object(array)?;
        place.offset = self.items(place.ty)?.start;
        Ok(self.address_at(&place))
    }

    /// `direct_ptradd`
    pub(super) fn item_address(
        &mut self,
        items: &LLOperand,
        count: &LLOperand,
    ) -> Result<Value, Bad> {
        let place = self.object(items)?;
        let step = self.items(place.ty)?.step;
        let index = self.word(count)?;
        let distance = self.scaled(&index, step);
        Ok(self.advance(&place.address, &distance))
    }

    /// The address of a field.
    pub(super) fn field_address(
        &mut self,
        object: &LLOperand,
        field: &LLOperand,
    ) -> Result<Value, Bad> {
        let mut place = self.object(object)?;
        self.step(&mut place, field)?;
        Ok(self.address_at(&place))
    }

    fn address_at(&mut self, place: &Place) -> Value {
        self.offset(&place.address, place.offset)
    }

    /// Goes on into a field or an item.
    fn step(&mut self, place: &mut Place, step: &LLOperand) -> Result<(), Bad> {
        if let LLOperand::Const(LLConst::Void(VoidConst::Field(name))) = step {
            let (i, ty) = field_of(place.ty, name, self.program)
                .ok_or_else(|| format!("{} has no field {name}", place.ty))?;
            place.offset += self.layout(place.ty).fields[i];
            place.part = Some(format!("{}.{name}", place.ty));
            place.ty = ty;
            return Ok(());
        }
        let items = self.items(place.ty)?;
        place.offset += items.start;
        place.ty = items.of;
        place.part = llvm_type(items.of).map(|ty| format!("items of {ty}"));
        match step {
            LLOperand::Const(LLConst::Int(_, i)) if (0..1 << 20).contains(&i.get()) => {
                place.offset += i.get() as u64 * items.step;
            }
            _ => {
                let index = self.word(step)?;
                let distance = self.scaled(&index, items.step);
                let base = place.address.text.clone();
                let text = format!("getelementptr i8, ptr {base}, {}", distance.typed());
                place.address = self.ins(Ty::Ptr, &text);
            }
        }
        Ok(())
    }

    pub(super) fn scaled(&mut self, index: &Value, step: u64) -> Value {
        match step {
            1 => index.clone(),
            _ if step.is_power_of_two() => {
                let bits = step.trailing_zeros();
                self.ins(Ty::I64, &format!("shl {}, {bits}", index.typed()))
            }
            _ => self.ins(Ty::I64, &format!("mul {}, {step}", index.typed())),
        }
    }

    fn items(&mut self, ty: LLType) -> Result<Items, Bad> {
        let l = self.layout(ty);
        match (ty.kind(), &l.var) {
            (TypeKind::FixedArray(of, n), _) => {
                let item = self.layout(*of);
                Ok(Items {
                    of: *of,
                    start: 0,
                    step: round_up(item.size, item.align),
                    length: None,
                    fixed: Some(*n),
                })
            }
            (TypeKind::Array(a), Some(var)) => Ok(Items {
                of: a.of,
                start: var.items,
                step: var.item_size,
                length: var.length,
                fixed: None,
            }),
            _ => Err(format!("an item of a {ty}")),
        }
    }

    /// A value at an address.
    pub(super) fn load_raw(&mut self, at: &Value, ty: LLType) -> Result<Value, Bad> {
        let ty = llvm_type(ty).ok_or_else(|| format!("a load of {ty}"))?;
        let tag = self.tag(&[HEAP]);
        Ok(self.ins(ty, &format!("load {ty}, ptr {}, align 1{tag}", at.text)))
    }

    pub(super) fn store_raw(&mut self, at: &Value, v: &Value) {
        let tag = self.tag(&[HEAP]);
        self.run(&format!(
            "store {}, ptr {}, align 1{tag}",
            v.typed(),
            at.text
        ));
    }

    /// `raw_memclear` and `raw_memset`
    pub(super) fn fill_raw(
        &mut self,
        address: &LLOperand,
        byte: Option<&LLOperand>,
        size: &LLOperand,
    ) -> Result<Option<Value>, Bad> {
        let (address, size) = (self.pointer(address)?, self.word(size)?);
        let byte = match byte {
            Some(byte) => {
                let byte = self.value(byte)?;
                self.int_to_int(&byte, Ty::I32, false)
            }
            None => self.int(Ty::I32, 0),
        };
        self.call_runtime(runtime::MEMSET, &[address, byte, size]);
        Ok(None)
    }

    /// `raw_memcopy` and `raw_memmove`, by a function of C.
    pub(super) fn copy_raw(
        &mut self,
        f: RuntimeFunction,
        source: &LLOperand,
        dest: &LLOperand,
        size: &LLOperand,
    ) -> Result<Option<Value>, Bad> {
        let (source, dest) = (self.pointer(source)?, self.pointer(dest)?);
        let size = self.word(size)?;
        self.call_runtime(f, &[dest, source, size]);
        Ok(None)
    }

    /// `base + index * scale + offset`
    pub(super) fn indexed(
        &mut self,
        base: &LLOperand,
        index: &LLOperand,
        scale: &LLOperand,
        offset: &LLOperand,
    ) -> Result<Value, Bad> {
        let (base, index) = (self.pointer(base)?, self.word(index)?);
        let (scale, offset) = (self.word(scale)?, self.word(offset)?);
        let distance = self.ins(Ty::I64, &format!("mul {}, {}", index.typed(), scale.text));
        let at = self.advance(&base, &distance);
        Ok(self.advance(&at, &offset))
    }
}
