//! Allocation, of GC objects and raw memory.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I64};
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use taipan_codegen::abi::state;
use taipan_codegen::runtime::RuntimeFunction;
use taipan_codegen::{Allocation, SymbolRef, is_tested, nursery_size, runtime};
use taipan_graph::{Operation, VarId};
use taipan_lltype::{ConstantOperand, LLConst, LLOperand, Layout, LowLevel, VarLayout};

use super::{Bad, Emitter, PTR};

/// What of the runtime makes objects where code does not do it itself.
struct SlowFunctions {
    may_be_null: bool,
    /// So many bytes in the nursery.
    bytes: RuntimeFunction,
    fixed: RuntimeFunction,
    varsize: RuntimeFunction,
}

/// For code that tests whether there was memory.
const WITH_NULL: SlowFunctions = SlowFunctions {
    may_be_null: true,
    bytes: runtime::SLOW_MALLOC,
    fixed: runtime::SLOW_MALLOC_FIXED,
    varsize: runtime::SLOW_MALLOC_VARSIZE,
};

/// For code that cannot raise MemoryError: residual code.
const NEVER_NULL: SlowFunctions = SlowFunctions {
    may_be_null: false,
    bytes: runtime::SURE_MALLOC,
    fixed: runtime::SURE_MALLOC_FIXED,
    varsize: runtime::SURE_MALLOC_VARSIZE,
};

impl Emitter<'_, '_> {
    /// `malloc` and its like, of an object with so many items.
    pub(super) fn malloc(
        &mut self,
        ty: &LLOperand,
        flavor: &LLOperand,
        length: Option<&LLOperand>,
        op: &Operation<LowLevel>,
    ) -> Result<Value, Bad> {
        let ty = ty.as_type().ok_or("of what is no constant type")?;
        let (gc, zero) = taipan_codegen::flavor(flavor, ty);
        let count = length.map(|l| self.value(l)).transpose()?;
        let l = self.layout(ty);
        if !gc {
            return self.malloc_raw(&l, count, zero);
        }
        let info = self.address_of(&SymbolRef::TypeInfo(ty));
        let how = taipan_codegen::allocation(ty, &l, length, op, zero, self.inlines())?;
        let n = count.unwrap_or(info);
        let tested = is_tested(self.graph.block(self.place.0), op);
        let slow = match tested {
            true => &WITH_NULL,
            false => &NEVER_NULL,
        };
        match (how, &l.var) {
            (Allocation::Bump { size, length_at }, _) => {
                let length = length_at.map(|at| (at, n));
                Ok(self.malloc_inline(slow, info, size, length, op.result))
            }
            (
                Allocation::Items {
                    most,
                    length_at,
                    zero,
                },
                Some(var),
            ) => Ok(self.malloc_items(slow, most, info, var, length_at, n, zero)),
            (Allocation::Fixed, _) if self.in_cold_block || !tested => {
                Ok(self.allocate_slowly(slow.fixed, &[info]))
            }
            (Allocation::Fixed, _) => self
                .call_runtime(runtime::GC_MALLOC_FIXED, &[info])
                .ok_or_else(|| "no result".to_owned()),
            (Allocation::Varsize { zero }, _) if self.in_cold_block || !tested => {
                let zero = self.int(I64, i64::from(zero));
                Ok(self.allocate_slowly(slow.varsize, &[info, n, zero]))
            }
            (Allocation::Varsize { zero } | Allocation::Items { zero, .. }, _) => {
                let zero = self.int(I8, i64::from(zero));
                self.call_runtime(runtime::GC_MALLOC_VARSIZE, &[info, n, zero])
                    .ok_or_else(|| "no result".to_owned())
            }
        }
    }

    pub(super) fn raw_malloc(&mut self, size: Value, zero: bool) -> Option<Value> {
        if zero {
            let one = self.int(I64, 1);
            return self.call_runtime(runtime::CALLOC, &[one, size]);
        }
        self.call_runtime(runtime::MALLOC, &[size])
    }

    fn malloc_raw(&mut self, l: &Layout, n: Option<Value>, zero: bool) -> Result<Value, Bad> {
        let size = match (n, &l.var) {
            (Some(n), Some(var)) => {
                let items = self.b.ins().imul_imm_s(n, var.item_size as i64);
                self.b.ins().iadd_imm_s(items, var.empty_size as i64)
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

    /// Whether allocation is worth code of its own here.
    fn inlines(&self) -> bool {
        !self.in_cold_block && self.program.collector().has_nursery()
    }

    /// An object of known size, cleared, with its length if it has one. The nursery's free pointer is
    /// bumped inline.
    fn malloc_inline(
        &mut self,
        runtime: &SlowFunctions,
        info: Value,
        size: u64,
        length: Option<(u64, Value)>,
        object: VarId,
    ) -> Value {
        let (slow, fill) = (self.cold_block(), self.b.create_block());
        let made = self.b.append_block_param(fill, PTR);
        let size_value = self.int(I64, size as i64);
        let fast = self.bump(size_value, slow);
        self.jump(fill, &[fast]);
        self.b.switch_to_block(slow);
        let size_value = self.int(I64, size as i64);
        let p = self.allocate_slowly(runtime.bytes, &[size_value]);
        let null = runtime.may_be_null.then(|| {
            let done = self.b.create_block();
            let result = self.b.append_block_param(done, PTR);
            let args = &[p.into()];
            self.b.ins().brif(p, fill, args, done, args);
            (done, result)
        });
        if null.is_none() {
            self.jump(fill, &[p]);
        }
        self.b.switch_to_block(fill);
        self.fill(made, info, size, length, object);
        let Some((done, result)) = null else {
            return made;
        };
        self.jump(done, &[made]);
        self.b.switch_to_block(done);
        result
    }

    /// An object of fixed size that ends its block: the second exit is for when the
    /// nursery is full.
    pub(super) fn malloc_nursery(&mut self, ty: &LLOperand, object: VarId) -> Result<Value, Bad> {
        let ty = ty.as_type().ok_or("of what is no constant type")?;
        let l = self.layout(ty);
        let size = nursery_size(ty, &l)?;
        let full = self.cold_block();
        self.nursery_full = Some(full);
        let size_value = self.int(I64, size as i64);
        let p = self.bump(size_value, full);
        let info = self.address_of(&SymbolRef::TypeInfo(ty));
        self.fill(p, info, size, None, object);
        Ok(p)
    }

    /// Memory for several objects. It ends its block: the second exit is taken if the nursery is full.
    pub(super) fn reserve(&mut self, bytes: &LLOperand) -> Result<Value, Bad> {
        let bytes = self.value(bytes)?;
        let full = self.cold_block();
        self.nursery_full = Some(full);
        Ok(self.bump(bytes, full))
    }

    /// The object at an offset of reserved memory, filled; `op` is its allocation.
    pub(super) fn malloc_reserved(
        &mut self,
        ty: &LLOperand,
        room: &LLOperand,
        offset: &LLOperand,
        length: Option<&LLOperand>,
        op: &Operation<LowLevel>,
    ) -> Result<Value, Bad> {
        let ty = ty.as_type().ok_or("of what is no constant type")?;
        let Some(LLConst::Int(_, offset)) = offset.as_const() else {
            return Err("not at a known place".to_owned());
        };
        let l = self.layout(ty);
        let how = taipan_codegen::allocation(ty, &l, length, op, false, true)?;
        let Allocation::Bump { size, length_at } = how else {
            return Err("of unknown size".to_owned());
        };
        let room = self.value(room)?;
        let p = match offset.get() {
            0 => room,
            offset => self.b.ins().iadd_imm_s(room, offset as i64),
        };
        let info = self.address_of(&SymbolRef::TypeInfo(ty));
        let length = match (length_at, length) {
            (Some(at), Some(n)) => Some((at, self.value(n)?)),
            _ => None,
        };
        self.fill(p, info, size, length, op.result);
        Ok(p)
    }

    /// Fills a new object, the value of `object`: its header, its length at an offset if it has items, and zeroes in
    /// words that no store initialises.
    fn fill(
        &mut self,
        p: Value,
        info: Value,
        size: u64,
        length: Option<(u64, Value)>,
        object: VarId,
    ) {
        let flags = self.heap_flags();
        self.b.ins().store(flags, info, p, 0);
        let zero = self.int(I64, 0);
        let mut initialised = self.initialised_words(object);
        initialised.extend(length.map(|(at, _)| at));
        for at in (8..size).step_by(8).filter(|at| !initialised.contains(at)) {
            self.b.ins().store(flags, zero, p, at as i32);
        }
        if let Some((at, n)) = length {
            self.b.ins().store(flags, n, p, at as i32);
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

    /// An object with items, which are cleared if `zero`; inline if it has fewer than `most`.
    #[expect(
        clippy::too_many_arguments,
        reason = "what is known of the array, one by one"
    )]
    fn malloc_items(
        &mut self,
        runtime: &SlowFunctions,
        most: u64,
        info: Value,
        var: &VarLayout,
        length_at: u64,
        n: Value,
        zero: bool,
    ) -> Value {
        let (p, done, result) = self.malloc_up_to(runtime, most, info, var, length_at, n, zero);
        if !zero {
            self.jump(done, &[p]);
            self.b.switch_to_block(done);
            return result;
        }
        // Word by word: there are few.
        let clear = self.b.create_block();
        let at = self.b.append_block_param(clear, PTR);
        let start = self.b.ins().iadd_imm_s(p, var.items as i64);
        let bytes = self.b.ins().imul_imm_s(n, var.item_size as i64);
        let end = self.b.ins().iadd(start, bytes);
        let go_on = |this: &mut Self, at| {
            let more = this.b.ins().icmp(IntCC::UnsignedLessThan, at, end);
            let args = (&[at.into()], &[p.into()]);
            this.b.ins().brif(more, clear, args.0, done, args.1);
        };
        go_on(self, start);
        self.b.switch_to_block(clear);
        let flags = self.heap_flags();
        let null = self.int(I64, 0);
        self.b.ins().store(flags, null, at, 0);
        let next = self.b.ins().iadd_imm_s(at, 8);
        go_on(self, next);
        self.b.switch_to_block(done);
        result
    }

    /// An object of up to `most` items in the nursery, or one from the runtime. Answers the
    /// former, all but its items filled in; where to go on; and what the outcome is called
    /// there.
    #[expect(clippy::too_many_arguments, reason = "as for the caller")]
    fn malloc_up_to(
        &mut self,
        runtime: &SlowFunctions,
        most: u64,
        info: Value,
        var: &VarLayout,
        length_at: u64,
        n: Value,
        zero: bool,
    ) -> (Value, Block, Value) {
        let (short, long) = (self.b.create_block(), self.cold_block());
        let done = self.b.create_block();
        let result = self.b.append_block_param(done, PTR);
        let most = self.int(I64, most as i64);
        let is_short = self.b.ins().icmp(IntCC::UnsignedLessThan, n, most);
        self.b.ins().brif(is_short, short, &[], long, &[]);
        self.b.switch_to_block(long);
        let clear = self.int(I64, i64::from(zero));
        let p = self.allocate_slowly(runtime.varsize, &[info, n, clear]);
        self.jump(done, &[p]);
        self.b.switch_to_block(short);
        let items = self.b.ins().imul_imm_s(n, var.item_size as i64);
        let end = self.b.ins().iadd_imm_s(items, var.empty_size as i64 + 7);
        let mask = self.int(I64, -8);
        let size = self.b.ins().band(end, mask);
        let p = self.bump(size, long);
        let flags = self.heap_flags();
        self.b.ins().store(flags, info, p, 0);
        let null = self.int(I64, 0);
        for at in (8..var.items).step_by(8).filter(|at| *at != length_at) {
            self.b.ins().store(flags, null, p, at as i32);
        }
        self.b.ins().store(flags, n, p, length_at as i32);
        (p, done, result)
    }
}
