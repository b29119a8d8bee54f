//! Fields and items, and new objects.

use taipan_codegen::abi::{self, state};
use taipan_codegen::runtime::{self, RuntimeFunction};
use taipan_codegen::{Allocation, Items, SymbolRef, is_tested};
use taipan_graph::{BlockId, Operation};
use taipan_lltype::{
    Accessed, ConstantOperand, LLConst, LLOperand, LLType, LowLevel, VarLayout, VoidConst, field_of,
};

use super::assembler::{
    ACC, Alu, Cond, FAR, FRAME, FloatReg, INTS, MORE, Mem, Reg, Shift, TEMP, Width,
};
use super::{Done, Place, Template, Unknown};

/// A place in an object, and the type of what is there.
struct Spot {
    base: Reg,
    offset: i32,
    ty: LLType,
}

impl Template<'_> {
    /// The place in an object where fields and items lead to. It may be computed in `ACC`, by
    /// way of `TEMP`.
    fn spot(&mut self, pointer: &LLOperand, path: &[LLOperand]) -> Done<Spot> {
        let ty = self.ty(pointer).pointee().ok_or(Unknown)?;
        let mut spot = Spot {
            base: self.get(pointer)?,
            offset: 0,
            ty,
        };
        for step in path {
            if let LLOperand::Const(LLConst::Void(VoidConst::Field(name))) = step {
                let (i, ty) = field_of(spot.ty, name, self.program).ok_or(Unknown)?;
                let at = self.layout(spot.ty).fields[i];
                self.move_by(&mut spot, at)?;
                spot.ty = ty;
                continue;
            }
            let items = self.items(spot.ty)?;
            self.move_by(&mut spot, items.start)?;
            spot.ty = items.of;
            match self.place(step)? {
                Place::Known(i) if (0..1 << 20).contains(&i) => {
                    self.move_by(&mut spot, i as u64 * items.step)?;
                }
                index => {
                    self.read(TEMP, index);
                    self.scale(TEMP, items.step)?;
                    self.a.alu(Alu::Add, TEMP, spot.base);
                    self.a.mov(ACC, TEMP);
                    spot.base = ACC;
                }
            }
        }
        Ok(spot)
    }

    fn move_by(&self, spot: &mut Spot, bytes: u64) -> Done<()> {
        let offset = u64::try_from(spot.offset).map_err(|_| Unknown)?;
        spot.offset = i32::try_from(offset + bytes).map_err(|_| Unknown)?;
        Ok(())
    }

    fn scale(&mut self, r: Reg, step: u64) -> Done<()> {
        match step {
            1 => {}
            _ if step.is_power_of_two() => {
                self.a
                    .shift_imm(Shift::Left, r, step.trailing_zeros() as u8);
            }
            _ => self
                .a
                .imul_imm(r, i32::try_from(step).map_err(|_| Unknown)?),
        }
        Ok(())
    }

    fn items(&mut self, ty: LLType) -> Done<Items> {
        Items::of_type(ty, |ty| self.layout(ty)).ok_or(Unknown)
    }

    /// A read or a write of a field or an item.
    pub(super) fn access(
        &mut self,
        access: Accessed<'_, LLOperand>,
        op: &Operation<LowLevel>,
    ) -> Done<()> {
        let spot = self.spot(access.object, access.path)?;
        if spot.ty.is_void() {
            return Ok(());
        }
        let at = Mem(spot.base, spot.offset);
        let width = self.width_of_bits(spot.ty)?;
        let Some(stored) = access.stored else {
            let r = self.fresh();
            self.a.load_as(r, at, width);
            return self.define(op.result, r);
        };
        if self.ty(stored).is_void() {
            return Ok(());
        }
        let r = match self.place(stored)? {
            Place::Known(n) => {
                self.a.mov_imm(MORE, n);
                MORE
            }
            _ => self.get(stored)?,
        };
        self.a.store_as(at, r, width);
        Ok(())
    }

    /// The length of the array in an object.
    pub(super) fn length(
        &mut self,
        pointer: &LLOperand,
        path: &[LLOperand],
        op: &Operation<LowLevel>,
    ) -> Done<()> {
        let mut spot = self.spot(pointer, path)?;
        let items = self.items(spot.ty)?;
        let r = self.fresh();
        match (items.fixed, items.length) {
            (Some(n), _) => self.a.mov_imm(r, n as i64),
            (None, Some(at)) => {
                self.move_by(&mut spot, at)?;
                self.a.load(r, Mem(spot.base, spot.offset));
            }
            _ => return Err(Unknown),
        }
        self.define(op.result, r)
    }

    /// The address of a part of an object.
    pub(super) fn part(
        &mut self,
        pointer: &LLOperand,
        step: &LLOperand,
        op: &Operation<LowLevel>,
    ) -> Done<()> {
        let spot = self.spot(pointer, std::slice::from_ref(step))?;
        if spot.ty.is_void() {
            return Err(Unknown);
        }
        let r = self.fresh();
        self.a.lea(r, Mem(spot.base, spot.offset));
        self.define(op.result, r)
    }

    /// A value at an address and a distance.
    pub(super) fn raw_load(
        &mut self,
        address: &LLOperand,
        offset: &LLOperand,
        op: &Operation<LowLevel>,
    ) -> Done<()> {
        let offset = self.small(offset)?.ok_or(Unknown)?;
        let base = self.get(address)?;
        let width = self.width_of_bits(*self.graph.ty(op.result))?;
        let r = self.fresh();
        self.a.load_as(r, Mem(base, offset), width);
        self.define(op.result, r)
    }

    /// The barrier before a store into the object, or into one item of an array.
    pub(super) fn write_barrier(
        &mut self,
        object: &LLOperand,
        index: Option<&LLOperand>,
    ) -> Done<()> {
        let object = self.get(object)?;
        let index = index.map(|i| self.get(i)).transpose()?;
        let next = self.a.label();
        self.a.test_byte(Mem(object, 0), abi::TRACK as u8);
        self.a.jump_if(Cond::Equal, next);
        self.a.mov_imm(FAR, self.state);
        self.a.store(Mem(FAR, state::SLOW_ARGUMENTS), object);
        let f = match index {
            Some(i) => {
                self.a.store(Mem(FAR, state::SLOW_ARGUMENTS + 8), i);
                runtime::SLOW_WRITEBARRIER_ARRAY
            }
            None => runtime::SLOW_WRITEBARRIER,
        };
        // It leaves all registers alone.
        self.call_symbol(SymbolRef::External(f.name.into()));
        self.a.bind(next);
        Ok(())
    }

    /// Copies items of an array to another one, or to other places of the same.
    pub(super) fn copy_items(
        &mut self,
        (source, from): (&LLOperand, &LLOperand),
        (dest, to): (&LLOperand, &LLOperand),
        length: &LLOperand,
    ) -> Done<()> {
        let ty = self.ty(source).pointee().ok_or(Unknown)?;
        let l = self.layout(ty);
        let var = l.var.as_ref().ok_or(Unknown)?;
        if ty.is_gc_container() && !var.item_gc_pointers.is_empty() {
            self.write_barrier(dest, None)?;
        }
        let start = i32::try_from(var.items).map_err(|_| Unknown)?;
        for (array, index, into) in [(source, from, INTS[1]), (dest, to, INTS[0])] {
            let (array, index) = (self.place(array)?, self.place(index)?);
            self.read(TEMP, index);
            self.scale(TEMP, var.item_size)?;
            self.read(ACC, array);
            self.a.alu(Alu::Add, TEMP, ACC);
            self.a.alu_imm(Alu::Add, TEMP, start);
            self.a.mov(into, TEMP);
            self.overwritten(into);
        }
        let length = self.place(length)?;
        self.read(INTS[2], length);
        self.scale(INTS[2], var.item_size)?;
        self.call_symbol(SymbolRef::External(runtime::MEMMOVE.name.into()));
        self.forget();
        Ok(())
    }

    /// Allocates a GC object with the given number of items: `malloc` and its variants.
    pub(super) fn malloc(
        &mut self,
        b: BlockId,
        ty: &LLOperand,
        flavor: &LLOperand,
        length: Option<&LLOperand>,
        op: &Operation<LowLevel>,
    ) -> Done<()> {
        let ty = ty.as_type().ok_or(Unknown)?;
        let (gc, zero) = taipan_codegen::flavor(flavor, ty);
        if !gc || is_tested(self.graph.block(b), op) {
            return Err(Unknown);
        }
        let l = self.layout(ty);
        let info = self.address(&SymbolRef::TypeInfo(ty))?;
        let inlines = self.program.collector().has_nursery();
        let how = taipan_codegen::allocation(ty, &l, length, op, zero, inlines);
        let count = length.map(|n| self.place(n)).transpose()?;
        let count = count.unwrap_or(Place::Known(info));
        match (how.map_err(|_| Unknown)?, &l.var) {
            (Allocation::Bump { size, length_at }, _) => {
                let size = i32::try_from(size).map_err(|_| Unknown)?;
                self.bump_fixed(size);
                self.a.mov_imm(TEMP, info);
                self.a.store(Mem(ACC, 0), TEMP);
                self.a.mov_imm(TEMP, 0);
                let length_at = length_at.map(|at| at as i32);
                for at in (8..size).step_by(8).filter(|at| Some(*at) != length_at) {
                    self.a.store(Mem(ACC, at), TEMP);
                }
                if let Some(at) = length_at {
                    self.read(TEMP, count);
                    self.a.store(Mem(ACC, at), TEMP);
                }
            }
            (
                Allocation::Items {
                    most,
                    length_at,
                    zero,
                },
                Some(var),
            ) => self.bump_items(info, var, (most, length_at, zero), count)?,
            (Allocation::Fixed, _) => {
                self.slow_call(runtime::SURE_MALLOC_FIXED, &[Place::Known(info)]);
            }
            (Allocation::Varsize { zero } | Allocation::Items { zero, .. }, _) => {
                let args = [Place::Known(info), count, Place::Known(i64::from(zero))];
                self.slow_call(runtime::SURE_MALLOC_VARSIZE, &args);
            }
        }
        let r = self.fresh();
        self.a.mov(r, ACC);
        self.define(op.result, r)
    }

    /// Allocates an object of `size` bytes from the nursery; leaves its address in `ACC`. The memory is
    /// uninitialised.
    fn bump_fixed(&mut self, size: i32) {
        let (fits, done) = (self.a.label(), self.a.label());
        self.a.mov_imm(FAR, self.state);
        self.a.load(ACC, Mem(FAR, state::NURSERY_FREE));
        self.a.lea(TEMP, Mem(ACC, size));
        self.a.alu_mem(Alu::Cmp, TEMP, Mem(FAR, state::NURSERY_TOP));
        self.a.jump_if(Cond::BelowEqual, fits);
        self.slow_call(runtime::SURE_MALLOC, &[Place::Known(i64::from(size))]);
        self.a.jump(done);
        self.a.bind(fits);
        self.a.store(Mem(FAR, state::NURSERY_FREE), TEMP);
        self.a.bind(done);
    }

    /// An object with `count` items, in `ACC`: in the nursery if there are fewer than `most`.
    fn bump_items(
        &mut self,
        info: i64,
        var: &VarLayout,
        (most, length_at, zero): (u64, u64, bool),
        count: Place,
    ) -> Done<()> {
        let small = |n: u64| i32::try_from(n).map_err(|_| Unknown);
        let (length_at, items) = (small(length_at)?, small(var.items)?);
        let empty_size = small(var.empty_size)?;
        let (long, done) = (self.a.label(), self.a.label());
        self.read(MORE, count);
        self.a.alu_imm(Alu::Cmp, MORE, small(most)?);
        self.a.jump_if(Cond::AboveEqual, long);
        self.a.mov(TEMP, MORE);
        self.scale(TEMP, var.item_size)?;
        self.a.alu_imm(Alu::Add, TEMP, empty_size + 7);
        self.a.alu_imm(Alu::And, TEMP, -8);
        self.a.mov_imm(FAR, self.state);
        self.a.load(ACC, Mem(FAR, state::NURSERY_FREE));
        self.a.alu(Alu::Add, TEMP, ACC);
        self.a.alu_mem(Alu::Cmp, TEMP, Mem(FAR, state::NURSERY_TOP));
        self.a.jump_if(Cond::Above, long);
        self.a.store(Mem(FAR, state::NURSERY_FREE), TEMP);
        // The end of the object is in `TEMP`.
        self.a.mov_imm(FAR, info);
        self.a.store(Mem(ACC, 0), FAR);
        self.a.store(Mem(ACC, length_at), MORE);
        self.a.mov_imm(FAR, 0);
        for at in (8..items).step_by(8).filter(|at| *at != length_at) {
            self.a.store(Mem(ACC, at), FAR);
        }
        if zero {
            let (again, cleared) = (self.a.label(), self.a.label());
            self.a.lea(MORE, Mem(ACC, items));
            self.a.bind(again);
            self.a.alu(Alu::Cmp, MORE, TEMP);
            self.a.jump_if(Cond::AboveEqual, cleared);
            self.a.store(Mem(MORE, 0), FAR);
            self.a.alu_imm(Alu::Add, MORE, 8);
            self.a.jump(again);
            self.a.bind(cleared);
        }
        self.a.jump(done);
        self.a.bind(long);
        let args = [Place::Known(info), count, Place::Known(i64::from(zero))];
        self.slow_call(runtime::SURE_MALLOC_VARSIZE, &args);
        self.a.bind(done);
        Ok(())
    }

    /// Calls a function for slow paths, which leaves all registers alone; its result is in
    /// `ACC`.
    fn slow_call(&mut self, f: RuntimeFunction, args: &[Place]) {
        self.a.mov_imm(FAR, self.state);
        for (i, arg) in args.iter().enumerate() {
            self.read(TEMP, *arg);
            let at = state::SLOW_ARGUMENTS + i as i32 * 8;
            self.a.store(Mem(FAR, at), TEMP);
        }
        self.call_symbol(SymbolRef::External(f.name.into()));
        self.a.mov_imm(FAR, self.state);
        self.a.load(ACC, Mem(FAR, state::SLOW_RESULT));
    }

    /// Loads from the state shared with the runtime.
    pub(super) fn load_state(&mut self, to: Reg, at: i32) {
        self.a.mov_imm(FAR, self.state);
        self.a.load(to, Mem(FAR, at));
    }

    /// The value of a float operand.
    pub(super) fn float(&mut self, o: &LLOperand, to: FloatReg) -> Done<()> {
        let from = self.place(o)?;
        if let Place::None = from {
            return Err(Unknown);
        }
        self.read_float(to, from, FAR);
        Ok(())
    }

    /// Saves a root, or reads one back.
    pub(super) fn root(&mut self, slot: &LLOperand) -> Done<Mem> {
        let (frame, home) = self.roots.ok_or(Unknown)?;
        let slot = taipan_codegen::RootsFrame::slot(Some(frame), slot).map_err(|_| Unknown)?;
        self.a.load(FAR, Mem(FRAME, home));
        Ok(Mem(FAR, taipan_codegen::RootsFrame::offset(slot) as i32))
    }

    /// How what an operation reads is extended.
    pub(super) fn result_width(&self, op: &Operation<LowLevel>) -> Done<Width> {
        self.width(*self.graph.ty(op.result))
    }
}
