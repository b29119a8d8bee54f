//! Roots, write barriers, and what else the collector does for programs.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I64};
use cranelift_codegen::ir::{Block, InstBuilder, StackSlotData, StackSlotKind, Value};
use taipan_codegen::abi::{self, state};
use taipan_codegen::{RootsFrame, runtime};
use taipan_lltype::{LLOperand, VarLayout};

use super::{Bad, Emitter, PTR};

/// Bytes that the frame of a function that calls others has at least: where to return to,
/// and the caller's frame pointer.
const LINKAGE: i64 = 16;

impl Emitter<'_, '_> {
    /// `gc_save_root(slot, root)`
    pub(super) fn save_root(
        &mut self,
        slot: &LLOperand,
        root: &LLOperand,
    ) -> Result<Option<Value>, Bad> {
        let offset = self.root_offset(slot)?;
        let base = self.roots_base()?;
        let v = self.value(root)?;
        let flags = self.root_flags();
        self.b.ins().store(flags, v, base, offset);
        Ok(None)
    }

    /// `gc_restore_root(slot)`
    pub(super) fn restore_root(&mut self, slot: &LLOperand) -> Result<Value, Bad> {
        let offset = self.root_offset(slot)?;
        let base = self.roots_base()?;
        let flags = self.root_flags();
        Ok(self.b.ins().load(PTR, flags, base, offset))
    }

    /// `gc_leave_roots_frame`
    pub(super) fn leave_roots(&mut self) -> Result<Option<Value>, Bad> {
        let base = self.roots_base()?;
        self.store_state(state::ROOT_STACK_TOP, base);
        Ok(None)
    }

    /// `shrink_array(array, length)`
    pub(super) fn shrink_array(
        &mut self,
        array: &LLOperand,
        length: &LLOperand,
    ) -> Result<Value, Bad> {
        let ty = self.pointee(array)?;
        let (array, length) = (self.value(array)?, self.value(length)?);
        let l = self.layout(ty);
        if let Some(VarLayout {
            length: Some(at), ..
        }) = l.var
        {
            let flags = self.heap_flags();
            self.b.ins().store(flags, length, array, at as i32);
        }
        Ok(self.int(I8, 1))
    }

    /// The barrier before a store into the object, or into one item of an array.
    pub(super) fn write_barrier(&mut self, obj: Value, index: Option<Value>) {
        let flags = self.heap_flags();
        let header = self.b.ins().load(I8, flags, obj, 0);
        let track = self.int(I8, abi::TRACK);
        let tracked = self.b.ins().band(header, track);
        let (slow, next) = (self.cold_block(), self.b.create_block());
        self.b.ins().brif(tracked, slow, &[], next, &[]);
        self.b.switch_to_block(slow);
        match index {
            Some(i) => self.call_slow(runtime::SLOW_WRITEBARRIER_ARRAY, &[obj, i]),
            None => self.call_slow(runtime::SLOW_WRITEBARRIER, &[obj]),
        }
        self.b.ins().jump(next, &[]);
        self.b.switch_to_block(next);
    }

    /// Counts a new reference to an object.
    pub(super) fn incref(&mut self, obj: Value) {
        let (flags, next) = (self.heap_flags(), self.b.create_block());
        let count = self.count_of(obj, next);
        let more = self.b.ins().iadd_imm_s(count, 1);
        self.b.ins().store(flags, more, obj, abi::COUNT);
        self.b.ins().jump(next, &[]);
        self.b.switch_to_block(next);
    }

    /// Counts a reference that is gone. The runtime deals with the last one.
    pub(super) fn decref(&mut self, obj: Value) {
        let (flags, next) = (self.heap_flags(), self.b.create_block());
        let count = self.count_of(obj, next);
        let (less, last) = (self.b.create_block(), self.cold_block());
        let one = self.int(I64, 1);
        let others = (self.b.ins()).icmp(IntCC::SignedGreaterThan, count, one);
        self.b.ins().brif(others, less, &[], last, &[]);
        self.b.switch_to_block(last);
        self.call_slow(runtime::SLOW_DECREF, &[obj]);
        self.b.ins().jump(next, &[]);
        self.b.switch_to_block(less);
        let fewer = self.b.ins().iadd_imm_s(count, -1);
        self.b.ins().store(flags, fewer, obj, abi::COUNT);
        self.b.ins().jump(next, &[]);
        self.b.switch_to_block(next);
    }

    /// How many references there are to an object; null and objects that are not counted lead to
    /// another block.
    fn count_of(&mut self, obj: Value, other: Block) -> Value {
        let (there, counted) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(obj, there, &[], other, &[]);
        self.b.switch_to_block(there);
        let flags = self.heap_flags();
        let header = self.b.ins().load(I8, flags, obj, 0);
        let outside = self.b.ins().band_imm_u(header, abi::OUTSIDE);
        self.b.ins().brif(outside, other, &[], counted, &[]);
        self.b.switch_to_block(counted);
        self.b.ins().load(I64, flags, obj, abi::COUNT)
    }

    /// The identity hash of an object. That of a small old one, which most keys of dicts
    /// are, is made of its address (`rpy_gc_identityhash` of the runtime).
    pub(super) fn identity_hash(&mut self, obj: Value) -> Value {
        let (there, old, other, done) = (
            self.b.create_block(),
            self.b.create_block(),
            self.cold_block(),
            self.b.create_block(),
        );
        let hash = self.b.append_block_param(done, I64);
        self.b.ins().brif(obj, there, &[], other, &[]);
        self.b.switch_to_block(there);
        let flags = self.heap_flags();
        let header = self.b.ins().load(I8, flags, obj, 0);
        let mask = abi::TRACK | abi::MARKED_OR_OUTSIDE;
        let kind = self.b.ins().band_imm_u(header, mask);
        let small = (self.b.ins()).icmp_imm_u(IntCC::Equal, kind, abi::TRACK);
        self.b.ins().brif(small, old, &[], other, &[]);
        self.b.switch_to_block(old);
        let low = self.b.ins().ushr_imm_u(obj, 4);
        let mixed = self.b.ins().bxor(obj, low);
        self.jump(done, &[mixed]);
        self.b.switch_to_block(other);
        let answer = self.call_runtime(runtime::GC_IDENTITYHASH, &[obj]);
        let answer = answer.unwrap_or(obj);
        self.jump(done, &[answer]);
        self.b.switch_to_block(done);
        hash
    }

    /// `gc_copy_array(source, dest, source_start, dest_start, length)`
    pub(super) fn copy_array(&mut self, operands: [&LLOperand; 5]) -> Result<Option<Value>, Bad> {
        let [array, ..] = operands;
        let ty = self.pointee(array)?;
        let l = self.layout(ty);
        let var = (l.var.as_ref()).ok_or_else(|| format!("{ty} has no items"))?;
        let mut values = Vec::with_capacity(operands.len());
        for o in operands {
            values.push(self.value(o)?);
        }
        let [source, dest, from, to, n] = values[..] else {
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
        self.call_runtime(runtime::MEMMOVE, &[to, from, bytes]);
        Ok(None)
    }

    /// Takes slots of the shadow stack. The transform fills all of them before the
    /// collector looks.
    pub(super) fn enter_roots(&mut self, slots: &LLOperand) -> Result<Option<Value>, Bad> {
        let frame = RootsFrame::with(slots)?;
        self.take_machine_stack(frame);
        let base = self.load_state(state::ROOT_STACK_TOP);
        let variable = match self.roots {
            Some((v, _)) => v,
            None => self.b.declare_var(PTR),
        };
        self.b.def_var(variable, base);
        self.roots = Some((variable, frame));
        let top = self.b.ins().iadd_imm_s(base, frame.size());
        self.store_state(state::ROOT_STACK_TOP, top);
        Ok(None)
    }

    /// See [`RootsFrame::machine_bytes`].
    fn take_machine_stack(&mut self, frame: RootsFrame) {
        let bytes = frame.machine_bytes(LINKAGE) as u32;
        if bytes > 0 {
            let data = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 3);
            self.b.create_sized_stack_slot(data);
        }
    }

    fn roots_base(&mut self) -> Result<Value, Bad> {
        let (variable, _) = self.roots.ok_or("no roots frame was entered")?;
        Ok(self.b.use_var(variable))
    }

    fn root_offset(&self, slot: &LLOperand) -> Result<i32, Bad> {
        let slot = RootsFrame::slot(self.roots.map(|(_, frame)| frame), slot)?;
        Ok(RootsFrame::offset(slot) as i32)
    }

    /// Whether the machine stack is used up.
    pub(super) fn stack_check(&mut self) -> Value {
        let limit = self.load_state(state::STACK_LIMIT);
        let sp = self.b.ins().get_stack_pointer(PTR);
        self.b.ins().icmp(IntCC::UnsignedLessThan, sp, limit)
    }
}
