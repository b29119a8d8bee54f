//! Fields, items, and raw memory.

use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, Value};
use taipan_graph::Operation;
use taipan_lltype::{
    LLConst, LLOperand, LLType, LowLevel, PlainOp, TypeKind, VoidConst, field_of, round_up,
};

use super::types::clif_type;
use super::{Bad, Emitter, PTR};

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

    /// Reads and writes of fields and items, and addresses of parts of objects.
    pub(super) fn access(
        &mut self,
        p: PlainOp,
        op: &Operation<LowLevel>,
    ) -> Result<Option<Value>, Bad> {
        use PlainOp::*;
        let container = self.arg(op, 0)?;
        let mut place = Place {
            address: self.value(container)?,
            offset: 0,
            ty: self.pointee(container)?,
        };
        let stored = match p {
            Setfield | BareSetfield | Setarrayitem | BareSetarrayitem | Setinteriorfield
            | BareSetinteriorfield => op.args.last(),
            _ => None,
        };
        match p {
            DirectArrayitems => {
                place.offset = self.items(place.ty)?.start;
                return Ok(Some(self.address_at(&place)));
            }
            DirectPtradd => {
                let step = self.items(place.ty)?.step;
                let index = self.arg_value(op, 1)?;
                let distance = self.scaled(index, step);
                return Ok(Some(self.b.ins().iadd(place.address, distance)));
            }
            _ => {}
        }
        if self.checked {
            let pointer = self.ty(container);
            self.check_raw(pointer, place.address);
        }
        let steps = &op.args[1..op.args.len() - usize::from(stored.is_some())];
        for step in steps {
            self.step(&mut place, step)?;
        }
        if matches!(p, Getarraysize | Getinteriorarraysize) {
            return self.array_size(&place).map(Some);
        }
        if let Some(v) = stored {
            if let Some(v) = self.maybe(v)? {
                let flags = self.heap_flags();
                self.b
                    .ins()
                    .store(flags, v, place.address, place.offset as i32);
            }
            return Ok(None);
        }
        if place.ty.is_void() {
            return Ok(None);
        }
        let is_load = matches!(p, Getfield | Getarrayitem | Getinteriorfield);
        match clif_type(place.ty) {
            Some(ty) if is_load => {
                let mut flags = self.heap_flags();
                // Vtables are written by nobody, and their fields are read often.
                if self.is_vtable(self.pointee(container)?) {
                    flags = flags.with_readonly().with_can_move();
                }
                let at = place.offset as i32;
                Ok(Some(self.b.ins().load(ty, flags, place.address, at)))
            }
            _ => Ok(Some(self.address_at(&place))),
        }
    }

    /// The address of the field or item that the operands after the pointer lead to.
    pub(super) fn field_address(&mut self, op: &Operation<LowLevel>) -> Result<Value, Bad> {
        let container = self.arg(op, 0)?;
        let mut place = Place {
            address: self.value(container)?,
            offset: 0,
            ty: self.pointee(container)?,
        };
        for step in &op.args[1..] {
            self.step(&mut place, step)?;
        }
        Ok(self.address_at(&place))
    }

    pub(super) fn is_vtable(&self, ty: LLType) -> bool {
        use taipan_lltype::{OBJECT_VTABLE, StructId};
        ty == *OBJECT_VTABLE
            || (ty.as_struct()).is_some_and(|s| matches!(s.id, StructId::Vtable(_)))
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

    /// `raw_*`, `gc_load_indexed`, `gc_store_indexed`.
    pub(super) fn raw_memory(
        &mut self,
        p: PlainOp,
        op: &Operation<LowLevel>,
    ) -> Result<Option<Value>, Bad> {
        use PlainOp::*;
        let a = self.arg_value(op, 0)?;
        let b = self.arg_value(op, 1)?;
        let flags = self.heap_flags();
        match p {
            RawLoad | GcLoadIndexed => {
                let at = match p {
                    RawLoad => self.b.ins().iadd(a, b),
                    _ => self.indexed(op, a, b, 2)?,
                };
                let ty = *self.graph.ty(op.result);
                let ty = clif_type(ty).ok_or_else(|| format!("a load of {ty}"))?;
                Ok(Some(self.b.ins().load(ty, flags, at, 0)))
            }
            RawStore | GcStoreIndexed => {
                let v = self.arg_value(op, 2)?;
                let at = match p {
                    RawStore => self.b.ins().iadd(a, b),
                    _ => self.indexed(op, a, b, 3)?,
                };
                self.b.ins().store(flags, v, at, 0);
                Ok(None)
            }
            RawMemclear => {
                let zero = self.int(cranelift_codegen::ir::types::I32, 0);
                self.call_runtime("memset", &[a, zero, b], Some(PTR));
                Ok(None)
            }
            RawMemset => {
                let size = self.arg_value(op, 2)?;
                let byte_type = self.b.func.dfg.value_type(b);
                let i32_type = cranelift_codegen::ir::types::I32;
                let byte = match byte_type.bits().cmp(&32) {
                    std::cmp::Ordering::Less => self.b.ins().uextend(i32_type, b),
                    std::cmp::Ordering::Equal => b,
                    std::cmp::Ordering::Greater => self.b.ins().ireduce(i32_type, b),
                };
                self.call_runtime("memset", &[a, byte, size], Some(PTR));
                Ok(None)
            }
            _ => {
                // From the first address to the second.
                let size = self.arg_value(op, 2)?;
                let name = if p == RawMemcopy { "memcpy" } else { "memmove" };
                self.call_runtime(name, &[b, a, size], Some(PTR));
                Ok(None)
            }
        }
    }

    /// `base + index * scale + offset`, the last two from operand `from` on.
    fn indexed(
        &mut self,
        op: &Operation<LowLevel>,
        base: Value,
        index: Value,
        from: usize,
    ) -> Result<Value, Bad> {
        let (scale, offset) = (self.arg_value(op, from)?, self.arg_value(op, from + 1)?);
        let distance = self.b.ins().imul(index, scale);
        let at = self.b.ins().iadd(base, distance);
        Ok(self.b.ins().iadd(at, offset))
    }
}
