//! Fields, items, and raw memory.
//!
//! Each access to an object of the collector names its part: a field of a type, or items of a type. Programs may read
//! raw memory as any type, so that its accesses name no part.

use std::slice::from_ref;

use taipan_graph::Operation;
use taipan_lltype::{LLConst, LLOperand, LLType, LowLevel, VoidConst, field_of};

use super::super::{Access, Bad, Binary, Instructions, Memory, Objects, Part, Ty, machine_type};
use super::{checks, displaced, with_constant};
use crate::Items;
use crate::runtime::{self, RuntimeFunction};

/// A place in memory: address and constant offset, and the type of its contents.
struct Place<'a, V> {
    address: V,
    offset: u64,
    ty: LLType,
    /// Whether it is in an object of the collector.
    gc: bool,
    part: Part<'a>,
}

impl<V> Place<'_, V> {
    /// An access of a value of that type.
    fn access(&self, ty: Ty) -> Access<'_> {
        match self.gc {
            true => Access {
                part: self.part,
                align: ty.align(),
                ..Access::HEAP
            },
            false => Access::RAW,
        }
    }
}

impl<M: Instructions> Memory for M {
    fn load(
        &mut self,
        object: &LLOperand,
        path: &[LLOperand],
        _op: &Operation<LowLevel>,
    ) -> Result<Option<Self::Value>, Bad> {
        let place = place_of(self, object, path)?;
        if place.ty.is_void() {
            return Ok(None);
        }
        let Some(ty) = machine_type(place.ty) else {
            // An object inside of another one.
            return Ok(Some(address_at(self, &place)));
        };
        let access = Access {
            // Vtables are never written, and their fields are read often.
            is_constant: self.pointee(object)?.is_vtable(),
            ..place.access(ty)
        };
        Ok(Some(self.load_at(
            ty,
            &access,
            &place.address,
            place.offset as i64,
        )))
    }

    fn store(
        &mut self,
        object: &LLOperand,
        path: &[LLOperand],
        value: &LLOperand,
        _op: &Operation<LowLevel>,
    ) -> Result<(), Bad> {
        let place = place_of(self, object, path)?;
        if let Some(v) = self.maybe(value)? {
            let ty = machine_type(place.ty).ok_or_else(|| format!("a store of a {}", place.ty))?;
            let v = self.as_type(&v, ty);
            let at = place.offset as i64;
            self.store_at(&place.access(ty), &v, &place.address, at);
        }
        Ok(())
    }

    fn length(
        &mut self,
        object: &LLOperand,
        path: &[LLOperand],
        _op: &Operation<LowLevel>,
    ) -> Result<Self::Value, Bad> {
        let mut place = place_of(self, object, path)?;
        let items = items(self, place.ty)?;
        match (items.fixed, items.length) {
            (Some(n), _) => Ok(self.int(Ty::I64, n.into())),
            (None, Some(at)) => {
                place.part = Part::Length;
                let at = (place.offset + at) as i64;
                Ok(self.load_at(Ty::I64, &place.access(Ty::I64), &place.address, at))
            }
            _ => Err(format!("the length of a {}", place.ty)),
        }
    }

    fn set_length(&mut self, array: &Self::Value, at: u64, length: &Self::Value) {
        self.store_at(&Access::HEAP, length, array, at as i64);
    }

    fn part_address(
        &mut self,
        object: &LLOperand,
        step: &LLOperand,
        _op: &Operation<LowLevel>,
    ) -> Result<Option<Self::Value>, Bad> {
        let place = place_of(self, object, from_ref(step))?;
        match place.ty.is_void() {
            true => Ok(None),
            false => Ok(Some(address_at(self, &place))),
        }
    }

    fn items_address(&mut self, array: &LLOperand, _to: LLType) -> Result<Self::Value, Bad> {
        let mut place = object(self, array)?;
        place.offset = items(self, place.ty)?.start;
        Ok(address_at(self, &place))
    }

    fn item_address(
        &mut self,
        array: &LLOperand,
        count: &LLOperand,
        _to: LLType,
    ) -> Result<Self::Value, Bad> {
        let place = object(self, array)?;
        let step = items(self, place.ty)?.step;
        let index = self.word(count)?;
        let distance = scaled(self, &index, step);
        Ok(self.advance(&place.address, &distance))
    }

    fn raw_address(&mut self, address: &Self::Value, offset: &Self::Value) -> Self::Value {
        self.advance(address, offset)
    }

    fn indexed_address(
        &mut self,
        object: &Self::Value,
        index: &Self::Value,
        scale: &Self::Value,
        offset: &Self::Value,
    ) -> Self::Value {
        let distance = self.binary(Binary::Mul, index, scale);
        let at = self.advance(object, &distance);
        self.advance(&at, offset)
    }

    fn load_raw(&mut self, at: &Self::Value, ty: LLType) -> Result<Self::Value, Bad> {
        let ty = machine_type(ty).ok_or_else(|| format!("a load of {ty}"))?;
        Ok(self.load_at(ty, &Access::RAW, at, 0))
    }

    fn store_raw(&mut self, at: &Self::Value, value: &Self::Value, _ty: LLType) -> Result<(), Bad> {
        self.store_at(&Access::RAW, value, at, 0);
        Ok(())
    }

    fn fill(&mut self, address: &Self::Value, byte: Option<&Self::Value>, size: &Self::Value) {
        let byte = match byte {
            Some(byte) => self.resize(byte, Ty::I32, false),
            None => self.int(Ty::I32, 0),
        };
        self.call_runtime(runtime::MEMSET, &[address.clone(), byte, size.clone()]);
    }

    fn copy(
        &mut self,
        f: RuntimeFunction,
        source: &Self::Value,
        dest: &Self::Value,
        size: &Self::Value,
    ) {
        self.call_runtime(f, &[dest.clone(), source.clone(), size.clone()]);
    }

    fn copy_items(&mut self, ty: LLType, operands: [&LLOperand; 5]) -> Result<(), Bad> {
        let l = self.layout(ty);
        let var = (l.var.as_ref()).ok_or_else(|| format!("{ty} has no items"))?;
        let [source, dest, from, to, n] = operands;
        let (source, dest) = (self.pointer(source)?, self.pointer(dest)?);
        let (from, to, n) = (self.word(from)?, self.word(to)?, self.word(n)?);
        if ty.is_gc_container() && !var.item_gc_pointers.is_empty() {
            self.write_barrier(&dest, None);
        }
        let size = var.item_size as i64;
        let mut item = |array: &M::Value, index: &M::Value| {
            let distance = with_constant(self, Binary::Mul, index, size);
            let at = self.advance(array, &distance);
            displaced(self, &at, var.items as i64)
        };
        let (from, to) = (item(&source, &from), item(&dest, &to));
        let bytes = with_constant(self, Binary::Mul, &n, size);
        self.call_runtime(runtime::MEMMOVE, &[to, from, bytes]);
        Ok(())
    }
}

/// The object that a pointer is to.
fn object<'a, M: Instructions>(m: &mut M, pointer: &LLOperand) -> Result<Place<'a, M::Value>, Bad> {
    let ty = m.pointee(pointer)?;
    Ok(Place {
        address: m.pointer(pointer)?,
        offset: 0,
        ty,
        gc: ty.is_gc_container(),
        part: Part::Any,
    })
}

/// The place in an object where fields and items lead to.
fn place_of<'a, M: Instructions>(
    m: &mut M,
    pointer: &LLOperand,
    path: &'a [LLOperand],
) -> Result<Place<'a, M::Value>, Bad> {
    let mut place = object(m, pointer)?;
    if m.is_checked() {
        checks::check_raw(m, pointer, &place.address);
    }
    for o in path {
        step(m, &mut place, o)?;
    }
    Ok(place)
}

/// The address of a field.
pub(super) fn field_address<M: Instructions>(
    m: &mut M,
    pointer: &LLOperand,
    field: &LLOperand,
) -> Result<M::Value, Bad> {
    let mut place = object(m, pointer)?;
    step(m, &mut place, field)?;
    Ok(address_at(m, &place))
}

fn address_at<M: Instructions>(m: &mut M, place: &Place<'_, M::Value>) -> M::Value {
    m.inside(&place.address, place.offset)
}

/// Continues into a field or an item.
fn step<'a, M: Instructions>(
    m: &mut M,
    place: &mut Place<'a, M::Value>,
    o: &'a LLOperand,
) -> Result<(), Bad> {
    if let LLOperand::Const(LLConst::Void(VoidConst::Field(name))) = o {
        let (i, ty) = field_of(place.ty, name, m.program())
            .ok_or_else(|| format!("{} has no field {name}", place.ty))?;
        place.offset += m.layout(place.ty).fields[i];
        place.part = Part::Field(place.ty, name);
        place.ty = ty;
        return Ok(());
    }
    let items = items(m, place.ty)?;
    place.offset += items.start;
    place.ty = items.of;
    place.part = machine_type(items.of).map_or(Part::Any, Part::Items);
    match o {
        LLOperand::Const(LLConst::Int(_, i)) if (0..1 << 20).contains(&i.get()) => {
            place.offset += i.get() as u64 * items.step;
        }
        _ => {
            let index = m.word(o)?;
            let distance = scaled(m, &index, items.step);
            place.address = m.advance(&place.address, &distance);
        }
    }
    // Offsets are immediates of instructions.
    if place.offset > i32::MAX as u64 / 2 {
        place.address = address_at(m, place);
        place.offset = 0;
    }
    Ok(())
}

fn scaled<M: Instructions>(m: &mut M, index: &M::Value, step: u64) -> M::Value {
    match step {
        1 => index.clone(),
        _ if step.is_power_of_two() => {
            with_constant(m, Binary::Shl, index, step.trailing_zeros().into())
        }
        _ => with_constant(m, Binary::Mul, index, step as i64),
    }
}

fn items<M: Instructions>(m: &mut M, ty: LLType) -> Result<Items, Bad> {
    Items::of_type(ty, |ty| m.layout(ty)).ok_or_else(|| format!("an item of a {ty}"))
}
