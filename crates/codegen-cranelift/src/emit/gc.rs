//! Allocation and the rest of what concerns the collector.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I64};
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use taipan_codegen::SymbolRef;
use taipan_codegen::abi::{self, LARGE_OBJECT, state};
use taipan_graph::{Operation, VarId};
use taipan_lltype::{
    LLConst, LLOperand, LLType, Layout, LowLevel, PlainOp, VarLayout, VoidConst, round_up,
};

use super::{Bad, Emitter, PTR};

/// Objects of up to this size are cleared by single stores.
const MAX_INLINE_CLEAR: u64 = 128;

impl Emitter<'_, '_> {
    pub(super) fn allocation(
        &mut self,
        p: PlainOp,
        op: &Operation<LowLevel>,
    ) -> Result<Option<Value>, Bad> {
        match p {
            PlainOp::RawMalloc => {
                let size = self.arg_value(op, 0)?;
                let zero = match op.args.get(1) {
                    Some(LLOperand::Const(LLConst::Bool(zero))) => *zero,
                    Some(LLOperand::Const(LLConst::Int(_, zero))) => *zero != 0,
                    _ => false,
                };
                Ok(self.raw_malloc(size, zero))
            }
            PlainOp::RawFree | PlainOp::Free => {
                let address = self.arg_value(op, 0)?;
                self.call_runtime("free", &[address], None);
                Ok(None)
            }
            PlainOp::RawMallocUsage => Ok(Some(self.arg_value(op, 0)?)),
            _ => {
                let LLOperand::Const(LLConst::Void(VoidConst::Type(ty))) = self.arg(op, 0)? else {
                    return Err("of what is no constant type".into());
                };
                let (gc, zero) = match op.args.get(1) {
                    Some(LLOperand::Const(LLConst::Void(VoidConst::Flavor { gc, zero }))) => {
                        (*gc, *zero)
                    }
                    _ => (ty.is_gc_container(), false),
                };
                let length = match p {
                    PlainOp::MallocVarsize => Some(self.arg_value(op, 2)?),
                    _ => None,
                };
                let l = self.layout(*ty);
                if p == PlainOp::GcMallocNursery {
                    return self.malloc_nursery(*ty, &l, op.result).map(Some);
                }
                match (gc, length) {
                    (true, None) => Ok(Some(self.malloc_fixed(*ty, &l, op.result))),
                    (true, Some(n)) => self.malloc_varsize(*ty, &l, n, zero).map(Some),
                    (false, n) => self.malloc_raw(&l, n, zero).map(Some),
                }
            }
        }
    }

    fn raw_malloc(&mut self, size: Value, zero: bool) -> Option<Value> {
        if zero {
            let one = self.int(I64, 1);
            return self.call_runtime("calloc", &[one, size], Some(PTR));
        }
        self.call_runtime("malloc", &[size], Some(PTR))
    }

    fn malloc_raw(&mut self, l: &Layout, n: Option<Value>, zero: bool) -> Result<Value, Bad> {
        let size = match (n, &l.var) {
            (Some(n), Some(var)) => {
                let items = self.b.ins().imul_imm_s(n, var.item_size as i64);
                self.b.ins().iadd_imm_s(items, var.items as i64)
            }
            _ => self.int(I64, l.size.max(1) as i64),
        };
        let p = self.raw_malloc(size, zero).ok_or("no result")?;
        if let (
            Some(n),
            Some(VarLayout {
                length: Some(at), ..
            }),
        ) = (n, &l.var)
        {
            let flags = self.heap_flags();
            self.b.ins().store(flags, n, p, *at as i32);
        }
        Ok(p)
    }

    /// An object of fixed size, cleared. The nursery's free pointer is bumped inline.
    fn malloc_fixed(&mut self, ty: LLType, l: &Layout, object: VarId) -> Value {
        let info = self.address_of(&SymbolRef::TypeInfo(ty));
        let size = round_up(l.size, 8);
        let inline = size <= MAX_INLINE_CLEAR && self.program.destructor(ty).is_none();
        if self.in_cold_block || !inline {
            let p = self.call_runtime("rpy_gc_malloc_fixed", &[info], Some(PTR));
            return p.unwrap_or(info);
        }
        let (slow, done) = (self.cold_block(), self.b.create_block());
        let p = self.b.append_block_param(done, PTR);
        let size_value = self.int(I64, size as i64);
        let fast = self.bump(size_value, slow);
        self.jump(done, &[fast]);
        self.b.switch_to_block(slow);
        let size_value = self.int(I64, size as i64);
        let slow = self.call_runtime("rpy_gc_malloc_slow", &[size_value], Some(PTR));
        self.jump(done, slow.as_slice());
        self.b.switch_to_block(done);
        self.clear(p, info, size, object);
        p
    }

    /// An object of fixed size that ends its block: the second exit is for when the
    /// nursery is full.
    fn malloc_nursery(&mut self, ty: LLType, l: &Layout, object: VarId) -> Result<Value, Bad> {
        let size = round_up(l.size, 8);
        if size > MAX_INLINE_CLEAR {
            return Err(format!("{ty} is too big"));
        }
        let full = self.cold_block();
        self.nursery_full = Some(full);
        let size_value = self.int(I64, size as i64);
        let p = self.bump(size_value, full);
        let info = self.address_of(&SymbolRef::TypeInfo(ty));
        self.clear(p, info, size, object);
        Ok(p)
    }

    /// Fills a new object, the value of `object`: its header, and zeroes where nothing
    /// is stored right away.
    fn clear(&mut self, p: Value, info: Value, size: u64, object: VarId) {
        let flags = self.heap_flags();
        self.b.ins().store(flags, info, p, 0);
        let zero = self.int(I64, 0);
        let initialised = self.initialised_words(object);
        for at in (8..size).step_by(8).filter(|at| !initialised.contains(at)) {
            self.b.ins().store(flags, zero, p, at as i32);
        }
    }

    /// Takes `size` bytes of the nursery, or jumps to `slow` if they are not there.
    fn bump(&mut self, size: Value, slow: Block) -> Value {
        let fast = self.b.create_block();
        let free = self.load_state(state::NURSERY_FREE);
        let end = self.b.ins().iadd(free, size);
        let top = self.load_state(state::NURSERY_TOP);
        let fits = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, top);
        self.b.ins().brif(fits, fast, &[], slow, &[]);
        self.b.switch_to_block(fast);
        self.store_state(state::NURSERY_FREE, end);
        free
    }

    /// A variable-sized object. Short ones without pointers are allocated inline.
    fn malloc_varsize(
        &mut self,
        ty: LLType,
        l: &Layout,
        n: Value,
        zero: bool,
    ) -> Result<Value, Bad> {
        let var = (l.var.as_ref()).ok_or_else(|| format!("{ty} has no items"))?;
        let info = self.address_of(&SymbolRef::TypeInfo(ty));
        let zero_value = self.int(I8, i64::from(zero));
        let runtime = |e: &mut Self| {
            e.call_runtime("rpy_gc_malloc_varsize", &[info, n, zero_value], Some(PTR))
                .ok_or_else(|| "no result".to_owned())
        };
        let simple = l.gc_pointers.is_empty() && var.item_gc_pointers.is_empty() && !zero;
        let Some(length_at) = var.length.filter(|_| simple && var.item_size > 0) else {
            return runtime(self);
        };
        let (short, long, done) = (
            self.b.create_block(),
            self.cold_block(),
            self.b.create_block(),
        );
        let result = self.b.append_block_param(done, PTR);
        let most = (LARGE_OBJECT / 2 - var.items.min(LARGE_OBJECT / 4)) / var.item_size;
        let most = self.int(I64, most as i64);
        let is_short = self.b.ins().icmp(IntCC::UnsignedLessThan, n, most);
        self.b.ins().brif(is_short, short, &[], long, &[]);
        self.b.switch_to_block(short);
        let items = self.b.ins().imul_imm_s(n, var.item_size as i64);
        let end = self.b.ins().iadd_imm_s(items, var.items as i64 + 7);
        let mask = self.int(I64, -8);
        let size = self.b.ins().band(end, mask);
        let fixed = round_up(l.size, 8);
        let size = match fixed > round_up(var.items, 8) {
            true => {
                let fixed = self.int(I64, fixed as i64);
                self.b.ins().umax(size, fixed)
            }
            false => size,
        };
        let p = self.bump(size, long);
        let flags = self.heap_flags();
        self.b.ins().store(flags, info, p, 0);
        let zero = self.int(I64, 0);
        for at in (8..fixed.min(var.items)).step_by(8) {
            if at != length_at {
                self.b.ins().store(flags, zero, p, at as i32);
            }
        }
        self.b.ins().store(flags, n, p, length_at as i32);
        self.jump(done, &[p]);
        self.b.switch_to_block(long);
        let p = runtime(self)?;
        self.jump(done, &[p]);
        self.b.switch_to_block(done);
        Ok(result)
    }

    pub(super) fn gc_op(
        &mut self,
        p: PlainOp,
        op: &Operation<LowLevel>,
    ) -> Result<Option<Value>, Bad> {
        use PlainOp::*;
        match p {
            GcEnterRootsFrame => self.enter_roots(op)?,
            GcLeaveRootsFrame => {
                let (base, _) = self.roots_base()?;
                self.store_state(state::ROOT_STACK_TOP, base);
            }
            GcSaveRoot => {
                let offset = self.root_offset(op)?;
                let (base, _) = self.roots_base()?;
                let v = self.arg_value(op, 1)?;
                let flags = self.root_flags();
                self.b.ins().store(flags, v, base, offset);
            }
            GcRestoreRoot => {
                let offset = self.root_offset(op)?;
                let (base, _) = self.roots_base()?;
                let flags = self.root_flags();
                return Ok(Some(self.b.ins().load(PTR, flags, base, offset)));
            }
            GcWritebarrier => {
                let obj = self.arg_value(op, 0)?;
                let index = match op.args.get(1) {
                    Some(i) => Some(self.value(i)?),
                    None => None,
                };
                self.write_barrier(obj, index);
            }
            GcWritebarrierBeforeCopy => {
                let dest = self.arg_value(op, 1)?;
                self.write_barrier(dest, None);
                return Ok(Some(self.int(I8, 1)));
            }
            GcCopyArray => self.copy_array(op)?,
            GcCollect => {
                self.call_runtime("rpy_gc_collect", &[], None);
            }
            GcIdentityhash | GcId => {
                let obj = self.arg_value(op, 0)?;
                let name = match p {
                    GcId => "rpy_gc_id",
                    _ => "rpy_gc_identityhash",
                };
                return Ok(self.call_runtime(name, &[obj], Some(I64)));
            }
            GcCanMove => {
                let obj = self.arg_value(op, 0)?;
                return Ok(self.call_runtime("rpy_gc_can_move", &[obj], Some(I8)));
            }
            WeakrefCreate => {
                let obj = self.arg_value(op, 0)?;
                return Ok(self.call_runtime("rpy_gc_weakref_create", &[obj], Some(PTR)));
            }
            WeakrefDeref => {
                // The weak reference is the last operand; a type may come before it.
                let weakref = self.value(op.args.last().ok_or("too few operands")?)?;
                let flags = self.heap_flags();
                return Ok(Some(self.b.ins().load(PTR, flags, weakref, 8)));
            }
            ShrinkArray => {
                let (array, length) = (self.arg_value(op, 0)?, self.arg_value(op, 1)?);
                let l = self.pointee(self.arg(op, 0)?)?;
                let l = self.layout(l);
                if let Some(VarLayout {
                    length: Some(at), ..
                }) = l.var
                {
                    let flags = self.heap_flags();
                    self.b.ins().store(flags, length, array, at as i32);
                }
                return Ok(Some(self.int(I8, 1)));
            }
            // Allocation clears all pointers.
            _ => {}
        }
        Ok(None)
    }

    /// The barrier before a store into the object, or into one item of an array.
    fn write_barrier(&mut self, obj: Value, index: Option<Value>) {
        let flags = self.heap_flags();
        let header = self.b.ins().load(I8, flags, obj, 0);
        let track = self.int(I8, abi::TRACK);
        let tracked = self.b.ins().band(header, track);
        let (slow, next) = (self.cold_block(), self.b.create_block());
        self.b.ins().brif(tracked, slow, &[], next, &[]);
        self.b.switch_to_block(slow);
        match index {
            Some(i) => self.call_runtime("rpy_gc_writebarrier_array", &[obj, i], None),
            None => self.call_runtime("rpy_gc_writebarrier", &[obj], None),
        };
        self.b.ins().jump(next, &[]);
        self.b.switch_to_block(next);
    }

    /// `gc_copy_array(source, dest, source_start, dest_start, length)`
    fn copy_array(&mut self, op: &Operation<LowLevel>) -> Result<(), Bad> {
        let ty = self.pointee(self.arg(op, 0)?)?;
        let l = self.layout(ty);
        let var = (l.var.as_ref()).ok_or_else(|| format!("{ty} has no items"))?;
        let mut values = [None; 5];
        for (i, v) in values.iter_mut().enumerate() {
            *v = Some(self.arg_value(op, i)?);
        }
        let [Some(source), Some(dest), Some(from), Some(to), Some(n)] = values else {
            return Err("needs five operands".into());
        };
        if ty.is_gc_container() && !var.item_gc_pointers.is_empty() {
            self.write_barrier(dest, None);
        }
        let (size, start) = (var.item_size as i64, var.items as i64);
        let mut item = |array, index| {
            let distance = self.b.ins().imul_imm_s(index, size);
            let at = self.b.ins().iadd(array, distance);
            self.b.ins().iadd_imm_s(at, start)
        };
        let (from, to) = (item(source, from), item(dest, to));
        let bytes = self.b.ins().imul_imm_s(n, size);
        self.call_runtime("memmove", &[to, from, bytes], Some(PTR));
        Ok(())
    }

    fn constant_operand(&self, op: &Operation<LowLevel>) -> Result<i64, Bad> {
        match self.arg(op, 0)? {
            LLOperand::Const(LLConst::Int(_, n)) => Ok(*n as i64),
            _ => Err("needs a constant".into()),
        }
    }

    /// Takes slots of the shadow stack. The transform fills all of them before the
    /// collector looks.
    fn enter_roots(&mut self, op: &Operation<LowLevel>) -> Result<(), Bad> {
        let slots = self.constant_operand(op)?;
        let base = self.load_state(state::ROOT_STACK_TOP);
        let variable = match self.roots {
            Some((v, _)) => v,
            None => self.b.declare_var(PTR),
        };
        self.b.def_var(variable, base);
        self.roots = Some((variable, slots));
        let top = self.b.ins().iadd_imm_s(base, slots * 8);
        self.store_state(state::ROOT_STACK_TOP, top);
        Ok(())
    }

    fn roots_base(&mut self) -> Result<(Value, i64), Bad> {
        let (variable, slots) = self.roots.ok_or("no roots frame was entered")?;
        Ok((self.b.use_var(variable), slots))
    }

    fn root_offset(&self, op: &Operation<LowLevel>) -> Result<i32, Bad> {
        let slot = self.constant_operand(op)?;
        match self.roots {
            Some((_, slots)) if (0..slots).contains(&slot) => Ok(slot as i32 * 8),
            _ => Err(format!("slot {slot} is outside the roots frame")),
        }
    }

    /// Whether the machine stack is used up.
    pub(super) fn stack_check(&mut self) -> Value {
        let limit = self.load_state(state::STACK_LIMIT);
        let sp = self.b.ins().get_stack_pointer(PTR);
        self.b.ins().icmp(IntCC::UnsignedLessThan, sp, limit)
    }
}
