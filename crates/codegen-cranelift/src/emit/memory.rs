//! Fields, items, and raw memory.

use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use taipan_codegen::runtime::{self, RuntimeFunction};
use taipan_lltype::{LLConst, LLOperand, LLType, TypeKind, View, VoidConst, field_of, round_up};

use super::types::clif_type;
use super::{Bad, Emitter};

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
}

impl Emitter<'_, '_> {
    pub(super) fn pointee(&self, o: &LLOperand) -> Result<LLType, Bad> {
        let ty = self.ty(o);
        ty.pointee()
            .ok_or_else(|| format!("a {ty} where a pointer is needed"))
    }

    /// The object that a pointer is to.
    fn object(&mut self, pointer: &LLOperand) -> Result<Place, Bad> {
        Ok(Place {
            address: self.value(pointer)?,
            offset: 0,
            ty: self.pointee(pointer)?,
        })
    }

    /// The place in an object where fields and items lead to.
    fn place(&mut self, pointer: &LLOperand, path: &[LLOperand]) -> Result<Place, Bad> {
        let mut place = self.object(pointer)?;
        if self.checked {
            let pointer = self.ty(pointer);
            self.check_raw(pointer, place.address);
        }
        for step in path {
            self.step(&mut place, step)?;
        }
        Ok(place)
    }

    /// `getfield` and its like.
    pub(super) fn load(&mut self, view: &View<'_, LLOperand>) -> Result<Option<Value>, Bad> {
        let access = view.access().ok_or("no load")?;
        let place = self.place(access.object, access.path)?;
        if place.ty.is_void() {
            return Ok(None);
        }
        match clif_type(place.ty) {
            Some(ty) => {
                let mut flags = self.heap_flags();
                // Vtables are written by nobody, and their fields are read often.
                if self.pointee(access.object)?.is_vtable() {
                    flags = flags.with_readonly().with_can_move();
                }
                let at = place.offset as i32;
                Ok(Some(self.b.ins().load(ty, flags, place.address, at)))
            }
            // An object inside of another one.
            None => Ok(Some(self.address_at(&place))),
        }
    }

    /// `setfield` and its like.
    pub(super) fn store(&mut self, view: &View<'_, LLOperand>) -> Result<Option<Value>, Bad> {
        let access = view.access().ok_or("no store")?;
        let place = self.place(access.object, access.path)?;
        if let Some(v) = self.maybe(access.stored.ok_or("no value")?)? {
            let flags = self.heap_flags();
            let at = place.offset as i32;
            self.b.ins().store(flags, v, place.address, at);
        }
        Ok(None)
    }

    /// The length of the array in an object.
    pub(super) fn length(&mut self, pointer: &LLOperand, path: &[LLOperand]) -> Result<Value, Bad> {
        let place = self.place(pointer, path)?;
        self.array_size(&place)
    }

    /// `getsubstruct` and its like.
    pub(super) fn part_address(
        &mut self,
        pointer: &LLOperand,
        step: &LLOperand,
    ) -> Result<Option<Value>, Bad> {
        let place = self.place(pointer, std::slice::from_ref(step))?;
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
        let index = self.value(count)?;
        let distance = self.scaled(index, step);
        Ok(self.b.ins().iadd(place.address, distance))
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
        match place.offset {
            0 => place.address,
            n => self.b.ins().iadd_imm_s(place.address, n as i64),
        }
    }

    /// Goes on into a field or an item.
    fn step(&mut self, place: &mut Place, step: &LLOperand) -> Result<(), Bad> {
        if let LLOperand::Const(LLConst::Void(VoidConst::Field(name))) = step {
            let (i, ty) = field_of(place.ty, name, self.program)
                .ok_or_else(|| format!("{} has no field {name}", place.ty))?;
            place.offset += self.layout(place.ty).fields[i];
            place.ty = ty;
            return Ok(());
        }
        let items = self.items(place.ty)?;
        place.offset += items.start;
        place.ty = items.of;
        match step {
            LLOperand::Const(LLConst::Int(_, i)) if (0..1 << 20).contains(&i.get()) => {
                place.offset += i.get() as u64 * items.step;
            }
            _ => {
                let index = self.value(step)?;
                let distance = self.scaled(index, items.step);
                place.address = self.b.ins().iadd(place.address, distance);
            }
        }
        // Offsets are immediates of instructions.
        if place.offset > i32::MAX as u64 / 2 {
            place.address = self.address_at(place);
            place.offset = 0;
        }
        Ok(())
    }

    fn scaled(&mut self, index: Value, step: u64) -> Value {
        match step {
            1 => index,
            _ if step.is_power_of_two() => self
                .b
                .ins()
                .ishl_imm_u(index, i64::from(step.trailing_zeros())),
            _ => self.b.ins().imul_imm_s(index, step as i64),
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

    fn array_size(&mut self, place: &Place) -> Result<Value, Bad> {
        let items = self.items(place.ty)?;
        match (items.fixed, items.length) {
            (Some(n), _) => Ok(self.int(I64, n as i64)),
            (None, Some(at)) => {
                let flags = self.heap_flags();
                let at = (place.offset + at) as i32;
                Ok(self.b.ins().load(I64, flags, place.address, at))
            }
            _ => Err(format!("the length of a {}", place.ty)),
        }
    }

    /// A value at an address.
    pub(super) fn load_raw(&mut self, at: Value, ty: LLType) -> Result<Value, Bad> {
        let ty = clif_type(ty).ok_or_else(|| format!("a load of {ty}"))?;
        let flags = self.heap_flags();
        Ok(self.b.ins().load(ty, flags, at, 0))
    }

    pub(super) fn store_raw(&mut self, at: Value, v: Value) -> Option<Value> {
        let flags = self.heap_flags();
        self.b.ins().store(flags, v, at, 0);
        None
    }

    /// `raw_memclear`
    pub(super) fn clear_raw(
        &mut self,
        address: &LLOperand,
        size: &LLOperand,
    ) -> Result<Option<Value>, Bad> {
        let (address, size) = (self.value(address)?, self.value(size)?);
        let zero = self.int(I32, 0);
        self.call_runtime(runtime::MEMSET, &[address, zero, size]);
        Ok(None)
    }

    /// `raw_memset`
    pub(super) fn fill_raw(
        &mut self,
        address: &LLOperand,
        byte: &LLOperand,
        size: &LLOperand,
    ) -> Result<Option<Value>, Bad> {
        let (address, byte) = (self.value(address)?, self.value(byte)?);
        let size = self.value(size)?;
        let byte = match self.b.func.dfg.value_type(byte).bits().cmp(&32) {
            std::cmp::Ordering::Less => self.b.ins().uextend(I32, byte),
            std::cmp::Ordering::Equal => byte,
            std::cmp::Ordering::Greater => self.b.ins().ireduce(I32, byte),
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
        let (source, dest) = (self.value(source)?, self.value(dest)?);
        let size = self.value(size)?;
        self.call_runtime(f, &[dest, source, size]);
        Ok(None)
    }

    /// `base + index * scale + offset`
    pub(super) fn indexed(
        &mut self,
        base: Value,
        index: Value,
        scale: &LLOperand,
        offset: &LLOperand,
    ) -> Result<Value, Bad> {
        let (scale, offset) = (self.value(scale)?, self.value(offset)?);
        let distance = self.b.ins().imul(index, scale);
        let at = self.b.ins().iadd(base, distance);
        Ok(self.b.ins().iadd(at, offset))
    }
}
