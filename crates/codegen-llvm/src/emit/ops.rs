//! Operations, one by one: which part of the emitter each belongs to.

use taipan_codegen::abi::{mark, state};
use taipan_codegen::runtime::{self, END_OF_LINE, printed_kind, runtime_call};
use taipan_graph::{BlockId, Operation};
use taipan_lltype::{LLConst, LLOperand, LowLevel, TIMESTAMP_UNIT, View};

use super::{Emitter, HEAP, Value};
use crate::text::Metadata;
use crate::types::{Bad, Ty};

impl Emitter<'_> {
    /// All operations of a block.
    pub(super) fn operations(&mut self, id: BlockId) -> Result<(), Bad> {
        let graph = self.graph;
        for op in &graph.block(id).operations {
            self.at = op.at;
            let value = match View::of(op.op, &op.args) {
                Some(view) => self.operation(view, op),
                None => Err("another number of operands is needed".into()),
            }
            .map_err(|e| format!("{}: {e}", op.op))?;
            match value {
                Some(v) if !graph.ty(op.result).is_void() => {
                    self.define(op.result, &v);
                    self.describe(op.result);
                }
                _ => self.define_void(op)?,
            }
        }
        Ok(())
    }

    /// An operation without a value must have a Void result.
    fn define_void(&mut self, op: &Operation<LowLevel>) -> Result<(), Bad> {
        let ty = *self.graph.ty(op.result);
        if ty.is_void() {
            return Ok(());
        }
        Err(format!("{} has no value of type {ty}", op.op))
    }

    #[expect(
        clippy::too_many_lines,
        reason = "a table: an arm per operation, with few lines each"
    )]
    fn operation(
        &mut self,
        view: View<'_, LLOperand>,
        op: &Operation<LowLevel>,
    ) -> Result<Option<Value>, Bad> {
        let to = *self.graph.ty(op.result);
        let value = match view {
            View::Unary { family, op, value } => self.num(family, op, value, None, to)?,
            View::Binary {
                family,
                op,
                left,
                right,
            } => self.num(family, op, left, Some(right), to)?,
            View::DirectCall { callee, args } | View::IndirectCall { callee, args, .. } => {
                return self.call(callee, args);
            }
            View::JitConditionalCall {
                condition,
                callee,
                args,
            } => return self.conditional_call(condition, callee, args),
            View::JitConditionalCallValue {
                value,
                callee,
                args,
            } => self.conditional_call_value(value, callee, args)?,
            View::BoolNot { value } => {
                let a = self.value(value)?;
                let bit = self.bit(&a);
                let other = self.part(&format!("xor i1 {bit}, true"));
                self.boolean(other)
            }
            View::IntBetween { low, value, high } => self.int_between(low, value, high)?,
            View::IntForceGeZero { value } => {
                let a = self.word(value)?;
                let zero = self.int(Ty::I64, 0);
                let text = self.intrinsic("llvm.smax.i64", &[&a, &zero], "i64");
                Value::new(text, Ty::I64)
            }
            View::UintMulHigh { left, right } => {
                let (a, b) = (self.word(left)?, self.word(right)?);
                self.multiply_high(&a, &b)
            }
            View::IntAddOvf { left, right } | View::IntAddNonnegOvf { left, right } => {
                self.with_overflow("sadd", left, right)?
            }
            View::IntSubOvf { left, right } => self.with_overflow("ssub", left, right)?,
            View::IntMulOvf { left, right } => self.with_overflow("smul", left, right)?,
            taipan_lltype::conversion!(value) | View::ForceCast { value } => {
                self.convert(value, to)?
            }
            View::ConvertFloatBytesToLonglong { value }
            | View::ConvertLonglongBytesToFloat { value } => self.with_bits(value, to)?,
            View::SameAs { value }
            | View::Likely { value }
            | View::Unlikely { value }
            | View::Hint { value, .. }
            | View::JitForceVirtual { value }
            | View::CastPointer { value }
            | View::CastOpaquePtr { value }
            | View::CastPtrToInt { value }
            | View::CastIntToPtr { value }
            | View::CastPtrToAdr { value }
            | View::CastAdrToPtr { value }
            | View::CastAdrToInt { value }
            | View::CastIntToAdr { value } => return self.maybe(value),
            View::PtrEq { left, right } | View::AdrEq { left, right } => {
                self.compare("eq", left, right)?
            }
            View::PtrNe { left, right } | View::AdrNe { left, right } => {
                self.compare("ne", left, right)?
            }
            View::AdrLt { left, right } => self.compare("ult", left, right)?,
            View::AdrLe { left, right } => self.compare("ule", left, right)?,
            View::AdrGt { left, right } => self.compare("ugt", left, right)?,
            View::AdrGe { left, right } => self.compare("uge", left, right)?,
            View::PtrNonzero { value } => self.compare_to_null("ne", value)?,
            View::PtrIszero { value } => self.compare_to_null("eq", value)?,
            View::AdrAdd { address, offset } => {
                let (a, b) = (self.pointer(address)?, self.word(offset)?);
                self.advance(&a, &b)
            }
            View::AdrSub {
                address: left,
                offset: right,
            }
            | View::AdrDelta { left, right } => {
                let (a, b) = (self.word(left)?, self.word(right)?);
                self.ins(Ty::I64, &format!("sub {}, {}", a.typed(), b.text))
            }
            View::Malloc { ty, flavor, .. } => {
                return self.malloc(ty, flavor, None, op).map(Some);
            }
            View::MallocVarsize { ty, flavor, length }
            | View::GcMallocFilled { ty, flavor, length } => {
                return self.malloc(ty, flavor, Some(length), op).map(Some);
            }
            View::GcMallocNursery { ty, .. } => self.malloc_nursery(ty)?,
            View::RawMalloc { size, zero } => {
                let size = self.word(size)?;
                let zero = match zero {
                    Some(LLOperand::Const(LLConst::Bool(zero))) => *zero,
                    Some(LLOperand::Const(LLConst::Int(_, zero))) => zero.get() != 0,
                    _ => false,
                };
                return Ok(self.raw_malloc(size, zero));
            }
            View::RawMallocUsage { size } => self.value(size)?,
            View::Free {
                object: address, ..
            }
            | View::RawFree { address } => {
                let address = self.pointer(address)?;
                match self.checked {
                    true => self.checked_free(address),
                    false => {
                        self.call_runtime(runtime::FREE, &[address]);
                    }
                }
                return Ok(None);
            }
            View::Getfield { .. } | View::Getarrayitem { .. } | View::Getinteriorfield { .. } => {
                return self.load(&view);
            }
            View::Setfield { .. }
            | View::BareSetfield { .. }
            | View::Setarrayitem { .. }
            | View::BareSetarrayitem { .. }
            | View::Setinteriorfield { .. }
            | View::BareSetinteriorfield { .. } => return self.store(&view),
            View::Getsubstruct {
                object,
                field: step,
            }
            | View::DirectFieldptr {
                object,
                field: step,
            }
            | View::Getarraysubstruct {
                array: object,
                index: step,
            } => return self.part_address(object, step),
            View::Getarraysize { array } => self.length(array, &[])?,
            View::Getinteriorarraysize { object, path } => self.length(object, path)?,
            View::DirectArrayitems { array } => self.items_address(array)?,
            View::DirectPtradd { items, count } => self.item_address(items, count)?,
            View::RawLoad { address, offset } => {
                let (a, b) = (self.pointer(address)?, self.word(offset)?);
                let at = self.advance(&a, &b);
                self.load_raw(&at, to)?
            }
            View::GcLoadIndexed {
                object,
                index,
                scale,
                offset,
            } => {
                let at = self.indexed(object, index, scale, offset)?;
                self.load_raw(&at, to)?
            }
            View::RawStore {
                address,
                offset,
                value,
            } => {
                let (a, b) = (self.pointer(address)?, self.word(offset)?);
                let v = self.value(value)?;
                let at = self.advance(&a, &b);
                self.store_raw(&at, &v);
                return Ok(None);
            }
            View::GcStoreIndexed {
                object,
                index,
                value,
                scale,
                offset,
            } => {
                let v = self.value(value)?;
                let at = self.indexed(object, index, scale, offset)?;
                self.store_raw(&at, &v);
                return Ok(None);
            }
            View::RawMemclear { address, size } => return self.fill_raw(address, None, size),
            View::RawMemset {
                address,
                byte,
                size,
            } => return self.fill_raw(address, Some(byte), size),
            View::RawMemcopy { source, dest, size } => {
                return self.copy_raw(runtime::MEMCPY, source, dest, size);
            }
            View::RawMemmove { source, dest, size } => {
                return self.copy_raw(runtime::MEMMOVE, source, dest, size);
            }
            taipan_codegen::runtime_operation!() => return self.runtime_operation(&view),
            View::GcIdentityhash { object } => {
                let object = self.pointer(object)?;
                self.identity_hash(&object)
            }
            View::GcWritebarrier { object, index } => {
                let object = self.pointer(object)?;
                let index = index.map(|i| self.word(i)).transpose()?;
                self.write_barrier(&object, index);
                return Ok(None);
            }
            View::GcWritebarrierBeforeCopy { dest, .. } => {
                let dest = self.pointer(dest)?;
                self.write_barrier(&dest, None);
                self.int(Ty::I8, 1)
            }
            View::GcSaveRoot { slot, root } => return self.save_root(slot, root),
            View::GcRestoreRoot { slot } => self.restore_root(slot)?,
            View::GcEnterRootsFrame { slots } => return self.enter_roots(slots),
            View::GcLeaveRootsFrame { .. } => return self.leave_roots(),
            View::GcCopyArray {
                source,
                dest,
                source_start,
                dest_start,
                length,
            } => return self.copy_array([source, dest, source_start, dest_start, length]),
            View::WeakrefDeref { weakref } => {
                let weakref = self.pointer(weakref)?;
                let at = self.offset(&weakref, 8);
                let tag = self.tag(&[HEAP]);
                self.ins(Ty::Ptr, &format!("load ptr, ptr {}, align 8{tag}", at.text))
            }
            View::ShrinkArray { array, length } => self.shrink_array(array, length)?,
            // Allocation clears all pointers.
            View::ZeroGcPointersInside { .. } => return Ok(None),
            View::StackCheck {} => self.stack_check(),
            View::JitForceQuasiImmutable { object, field } => {
                return self.jit_force_quasi_immutable(object, field);
            }
            View::ExcOccurred {} => self.exc_occurred(),
            View::ExcType {} => self.load_state(state::EXC_TYPE, Ty::Ptr),
            View::ExcValue {} => self.load_state(state::EXC_VALUE, Ty::Ptr),
            View::ExcSet { class, value } => {
                let (class, value) = (self.value(class)?, self.value(value)?);
                self.set_exception(&class, &value);
                return Ok(None);
            }
            View::ExcClear {} => {
                let null = Value::new("null", Ty::Ptr);
                self.set_exception(&null, &null);
                return Ok(None);
            }
            View::DebugStartTraceback { class } => {
                let class = self.value(class)?;
                self.traceback_mark(mark::RAISED, &class);
                // The function that raises is the innermost line.
                self.traceback_location(op.at, &class);
                return Ok(None);
            }
            View::DebugRecordTraceback {} => {
                let class = self.load_state(state::EXC_TYPE, Ty::Ptr);
                self.traceback_location(op.at, &class);
                return Ok(None);
            }
            View::DebugCatchException { class } => {
                let class = self.value(class)?;
                self.traceback_mark(mark::CAUGHT, &class);
                return Ok(None);
            }
            View::DebugReraiseTraceback { class } => {
                let class = match class {
                    Some(class) => self.value(class)?,
                    None => self.load_state(state::EXC_TYPE, Ty::Ptr),
                };
                self.traceback_mark(mark::RERAISED, &class);
                return Ok(None);
            }
            taipan_lltype::note!() => return Ok(None),
            View::JitIsVirtual { .. } => self.int(Ty::I8, 0),
            View::LlGetTimestampUnit {} => self.int(Ty::I64, i128::from(TIMESTAMP_UNIT)),
            View::ThreadlocalrefGet { .. } | View::ThreadlocalrefStore { .. } => {
                return Err("thread-local values are not supported by this back end".into());
            }
            View::DebugPrint { values } => return self.debug_print(values),
            View::DebugAssert { condition, .. } => return self.debug_assert(condition, op),
            View::JitEnter { .. }
            | View::JitExit { .. }
            | View::JitCount { .. }
            | View::JitInvalidated { .. }
            | View::GcReserve { .. }
            | View::GcReserveSlowly { .. }
            | View::GcMallocReserved { .. } => {
                return Err("the LLVM back end has no just-in-time compiler".into());
            }
            View::WeAreJitted {}
            | View::JitIsConstant { .. }
            | View::JitAssertGreen { .. }
            | View::JitTraceLength {}
            | View::JitSetParam { .. } => return Err("not supported by this back end".into()),
        };
        Ok(Some(value))
    }

    /// An operation that is a call of the runtime.
    fn runtime_operation(&mut self, view: &View<'_, LLOperand>) -> Result<Option<Value>, Bad> {
        let (f, operands) = runtime_call(view).ok_or("no call")?;
        let values = operands.into_iter().map(|o| self.value(o));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        Ok(self.call_runtime(f, &values))
    }

    fn compare(&mut self, cc: &str, left: &LLOperand, right: &LLOperand) -> Result<Value, Bad> {
        let (a, b) = (self.pointer(left)?, self.pointer(right)?);
        Ok(self.compared(cc, &a, &b))
    }

    fn compare_to_null(&mut self, cc: &str, pointer: &LLOperand) -> Result<Value, Bad> {
        let a = self.pointer(pointer)?;
        let null = Value::new("null", Ty::Ptr);
        Ok(self.compared(cc, &a, &null))
    }

    fn debug_assert(
        &mut self,
        condition: &LLOperand,
        op: &Operation<LowLevel>,
    ) -> Result<Option<Value>, Bad> {
        let condition = self.value(condition)?;
        if self.checked {
            self.checked_assertion(&condition, op);
            return Ok(None);
        }
        let bit = self.bit(&condition);
        let (failed, next) = (self.new_label("failed"), self.new_label("next"));
        self.branch_if(&bit, &next, &failed, Some(Metadata::SecondIsRare));
        self.start(&failed);
        self.call_runtime(runtime::ASSERT_FAILED, &[]);
        self.go(&next);
        self.start(&next);
        Ok(None)
    }

    /// One call of the runtime per operand, and one for the end of the line.
    fn debug_print(&mut self, values: &[LLOperand]) -> Result<Option<Value>, Bad> {
        for a in values {
            let ty = self.ty(a);
            let Some(v) = self.maybe(a)? else { continue };
            let word = self.printable(ty, &v)?;
            self.print_word(printed_kind(ty), word);
        }
        let zero = self.int(Ty::I64, 0);
        self.print_word(END_OF_LINE, zero);
        Ok(None)
    }

    fn print_word(&mut self, kind: i32, word: Value) {
        let kind = self.int(Ty::I32, kind.into());
        self.call_runtime(runtime::DEBUG_PRINT, &[kind, word]);
    }
}
