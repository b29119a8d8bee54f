//! The table of operations.

use taipan_graph::{BlockId, Operation};
use taipan_lltype::{
    ConstantOperand, LLConst, LLGraph, LLOperand, LLType, LowLevel, NumOp, TIMESTAMP_UNIT, View,
};

use super::{Bad, Cond, Machine, Ty};
use crate::RootsFrame;
use crate::abi::mark;
use crate::runtime::{self, END_OF_LINE, printed_kind, runtime_call};

/// Emits all operations of a block of the machine's graph. Returns a description of the first operation that the
/// machine has no code for.
pub fn lower_operations<M: Machine>(m: &mut M, graph: &LLGraph, block: BlockId) -> Result<(), Bad> {
    for (index, op) in graph.block(block).operations.iter().enumerate() {
        m.begin(block, index, op);
        let value = match View::of(op.op, &op.args) {
            Some(view) => lower(m, view, op),
            None => Err("another number of operands is needed".into()),
        }
        .map_err(|e| format!("{}: {e}", op.op))?;
        let ty = *graph.ty(op.result);
        match value {
            Some(v) if ty.is_void() => m.discard(v),
            Some(v) => m.define(op.result, v)?,
            None if ty.is_void() => {}
            None => return Err(format!("{} has no value of type {ty}", op.op)),
        }
    }
    Ok(())
}

#[expect(
    clippy::too_many_lines,
    reason = "a table: an arm per operation, with few lines each"
)]
fn lower<M: Machine>(
    m: &mut M,
    view: View<'_, LLOperand>,
    op: &Operation<LowLevel>,
) -> Result<Option<M::Value>, Bad> {
    let to = *m.graph().ty(op.result);
    let value = match view {
        View::Unary {
            family,
            op: num,
            value,
        } => m.num(family, num, value, None, to)?,
        View::Binary {
            family,
            op: num,
            left,
            right,
        } => m.num(family, num, left, Some(right), to)?,
        View::DirectCall { callee, args } | View::IndirectCall { callee, args, .. } => {
            return m.call(callee, args, to);
        }
        View::JitConditionalCall {
            condition,
            callee,
            args,
        } => {
            m.conditional_call(condition, callee, args)?;
            return Ok(None);
        }
        View::JitConditionalCallValue {
            value,
            callee,
            args,
        } => m.conditional_call_value(value, callee, args, to)?,
        View::BoolNot { value } => {
            let a = m.value(value)?;
            m.bool_not(&a)
        }
        View::IntBetween { low, value, high } => m.int_between(low, value, high)?,
        View::IntForceGeZero { value } => {
            let a = m.word(value)?;
            m.at_least_zero(&a)
        }
        View::UintMulHigh { left, right } => {
            let (a, b) = (m.word(left)?, m.word(right)?);
            m.uint_mul_high(&a, &b)
        }
        View::IntAddOvf { left, right } => {
            m.overflowing(NumOp::Add, left, right, false, op.result)?
        }
        View::IntAddNonnegOvf { left, right } => {
            m.overflowing(NumOp::Add, left, right, true, op.result)?
        }
        View::IntSubOvf { left, right } => {
            m.overflowing(NumOp::Sub, left, right, false, op.result)?
        }
        View::IntMulOvf { left, right } => {
            m.overflowing(NumOp::Mul, left, right, false, op.result)?
        }
        taipan_lltype::conversion!(value) | View::ForceCast { value } => m.convert(value, to)?,
        View::ConvertFloatBytesToLonglong { value }
        | View::ConvertLonglongBytesToFloat { value } => m.with_bits(value, to)?,
        View::Likely { value } => m.expected(value, true)?,
        View::Unlikely { value } => m.expected(value, false)?,
        View::SameAs { value }
        | View::Hint { value, .. }
        | View::JitForceVirtual { value }
        | View::CastPointer { value }
        | View::CastOpaquePtr { value }
        | View::CastPtrToInt { value }
        | View::CastIntToPtr { value }
        | View::CastPtrToAdr { value }
        | View::CastAdrToPtr { value }
        | View::CastAdrToInt { value }
        | View::CastIntToAdr { value } => return m.cast(value, to),
        View::PtrEq { left, right } | View::AdrEq { left, right } => {
            m.compare_addresses(Cond::Eq, left, right)?
        }
        View::PtrNe { left, right } | View::AdrNe { left, right } => {
            m.compare_addresses(Cond::Ne, left, right)?
        }
        View::AdrLt { left, right } => m.compare_addresses(Cond::Lt, left, right)?,
        View::AdrLe { left, right } => m.compare_addresses(Cond::Le, left, right)?,
        View::AdrGt { left, right } => m.compare_addresses(Cond::Gt, left, right)?,
        View::AdrGe { left, right } => m.compare_addresses(Cond::Ge, left, right)?,
        View::PtrNonzero { value } => m.compare_to_null(Cond::Ne, value)?,
        View::PtrIszero { value } => m.compare_to_null(Cond::Eq, value)?,
        View::AdrAdd { address, offset } => {
            let (a, b) = (m.pointer(address)?, m.word(offset)?);
            m.add_to_address(&a, &b)
        }
        View::AdrSub {
            address: left,
            offset: right,
        }
        | View::AdrDelta { left, right } => {
            let (a, b) = (m.word(left)?, m.word(right)?);
            m.subtract_from_address(&a, &b, to)?
        }
        View::Malloc { ty, flavor, .. } => m.malloc(type_of(ty)?, flavor, None, op)?,
        View::MallocVarsize { ty, flavor, length }
        | View::GcMallocFilled { ty, flavor, length } => {
            m.malloc(type_of(ty)?, flavor, Some(length), op)?
        }
        View::GcMallocNursery { ty, .. } => m.malloc_nursery(type_of(ty)?, op.result)?,
        View::RawMalloc { size, zero } => {
            let size = m.word(size)?;
            m.raw_malloc(&size, zero.is_some_and(is_true))?
        }
        View::RawMallocUsage { size } => m.value(size)?,
        View::Free {
            object: address, ..
        }
        | View::RawFree { address } => {
            let address = m.pointer(address)?;
            m.free(&address, op);
            return Ok(None);
        }
        View::Getfield { .. } | View::Getarrayitem { .. } | View::Getinteriorfield { .. } => {
            let access = view.access().ok_or("no load")?;
            return m.load(access.object, access.path, op);
        }
        View::Setfield { .. }
        | View::BareSetfield { .. }
        | View::Setarrayitem { .. }
        | View::BareSetarrayitem { .. }
        | View::Setinteriorfield { .. }
        | View::BareSetinteriorfield { .. } => {
            let access = view.access().ok_or("no store")?;
            let value = access.stored.ok_or("no value")?;
            m.store(access.object, access.path, value, op)?;
            return Ok(None);
        }
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
        } => return m.part_address(object, step, op),
        View::Getarraysize { array } => m.length(array, &[], op)?,
        View::Getinteriorarraysize { object, path } => m.length(object, path, op)?,
        View::DirectArrayitems { array } => m.items_address(array, to)?,
        View::DirectPtradd { items, count } => m.item_address(items, count, to)?,
        View::RawLoad { address, offset } => {
            let (a, b) = (m.pointer(address)?, m.word(offset)?);
            let at = m.raw_address(&a, &b);
            m.load_raw(&at, to)?
        }
        View::GcLoadIndexed {
            object,
            index,
            scale,
            offset,
        } => {
            let (object, index) = (m.pointer(object)?, m.word(index)?);
            let (scale, offset) = (m.word(scale)?, m.word(offset)?);
            let at = m.indexed_address(&object, &index, &scale, &offset);
            m.load_raw(&at, to)?
        }
        View::RawStore {
            address,
            offset,
            value,
        } => {
            let ty = m.ty(value);
            let (a, b) = (m.pointer(address)?, m.word(offset)?);
            let value = m.value(value)?;
            let at = m.raw_address(&a, &b);
            m.store_raw(&at, &value, ty)?;
            return Ok(None);
        }
        View::GcStoreIndexed {
            object,
            index,
            value,
            scale,
            offset,
        } => {
            let ty = m.ty(value);
            let (object, index) = (m.pointer(object)?, m.word(index)?);
            let value = m.value(value)?;
            let (scale, offset) = (m.word(scale)?, m.word(offset)?);
            let at = m.indexed_address(&object, &index, &scale, &offset);
            m.store_raw(&at, &value, ty)?;
            return Ok(None);
        }
        View::RawMemclear { address, size } => {
            let (address, size) = (m.pointer(address)?, m.word(size)?);
            m.fill(&address, None, &size);
            return Ok(None);
        }
        View::RawMemset {
            address,
            byte,
            size,
        } => {
            let (address, byte) = (m.pointer(address)?, m.value(byte)?);
            let size = m.word(size)?;
            m.fill(&address, Some(&byte), &size);
            return Ok(None);
        }
        View::RawMemcopy { source, dest, size } | View::RawMemmove { source, dest, size } => {
            let f = match view {
                View::RawMemcopy { .. } => runtime::MEMCPY,
                _ => runtime::MEMMOVE,
            };
            let (source, dest) = (m.pointer(source)?, m.pointer(dest)?);
            let size = m.word(size)?;
            m.copy(f, &source, &dest, &size);
            return Ok(None);
        }
        runtime::runtime_operation!() => {
            let (f, operands) = runtime_call(&view).ok_or("no call")?;
            let values = operands.into_iter().map(|o| m.value(o));
            let values = values.collect::<Result<Vec<_>, _>>()?;
            return Ok(m.runtime_operation(f, values));
        }
        View::GcIdentityhash { object } => {
            let object = m.pointer(object)?;
            m.identity_hash(&object)
        }
        View::GcWritebarrier { object, index } => {
            let object = m.pointer(object)?;
            let index = index.map(|i| m.word(i)).transpose()?;
            m.write_barrier(&object, index.as_ref());
            return Ok(None);
        }
        View::GcWritebarrierBeforeCopy { dest, .. } => {
            let dest = m.pointer(dest)?;
            m.write_barrier(&dest, None);
            m.int(Ty::I8, 1)
        }
        View::GcSaveRoot { slot, root } => {
            let slot = RootsFrame::slot(m.roots(), slot)?;
            m.save_root(slot, root)?;
            return Ok(None);
        }
        View::GcRestoreRoot { slot } => {
            let slot = RootsFrame::slot(m.roots(), slot)?;
            m.restore_root(slot)?
        }
        View::GcEnterRootsFrame { slots } => {
            m.enter_roots(RootsFrame::with(slots)?);
            return Ok(None);
        }
        View::GcLeaveRootsFrame { .. } => {
            m.leave_roots()?;
            return Ok(None);
        }
        View::GcCopyArray {
            source,
            dest,
            source_start,
            dest_start,
            length,
        } => {
            let ty = m.pointee(source)?;
            let operands = [source, dest, source_start, dest_start, length];
            m.copy_items(ty, operands)?;
            return Ok(None);
        }
        View::WeakrefDeref { weakref } => {
            let weakref = m.pointer(weakref)?;
            m.weakref_target(&weakref, to)?
        }
        View::ShrinkArray { array, length } => {
            let ty = m.pointee(array)?;
            let (array, length) = (m.pointer(array)?, m.word(length)?);
            if let Some(at) = m.layout(ty).var.as_ref().and_then(|v| v.length) {
                m.set_length(&array, at, &length);
            }
            m.int(Ty::I8, 1)
        }
        // Allocation clears all pointers.
        View::ZeroGcPointersInside { .. } | taipan_lltype::note!() => return Ok(None),
        View::StackCheck {} => m.stack_check(),
        View::JitForceQuasiImmutable { object, field } => {
            m.field_written(object, field)?;
            return Ok(None);
        }
        View::ExcOccurred {} => m.exc_occurred(),
        View::ExcType {} => m.exc_type(),
        View::ExcValue {} => m.exc_value(),
        View::ExcSet { class, value } => {
            let (class, value) = (m.value(class)?, m.value(value)?);
            m.set_exception(&class, &value);
            return Ok(None);
        }
        View::ExcClear {} => {
            let null = m.null();
            m.set_exception(&null, &null);
            return Ok(None);
        }
        View::DebugStartTraceback { class } => {
            let class = m.value(class)?;
            m.traceback_mark(mark::RAISED, &class);
            // The function that raises is the innermost line.
            m.traceback_location(op.at, &class);
            return Ok(None);
        }
        View::DebugRecordTraceback {} => {
            let class = m.exc_type();
            m.traceback_location(op.at, &class);
            return Ok(None);
        }
        View::DebugCatchException { class } => {
            let class = m.value(class)?;
            m.traceback_mark(mark::CAUGHT, &class);
            return Ok(None);
        }
        View::DebugReraiseTraceback { class } => {
            let class = match class {
                Some(class) => m.value(class)?,
                None => m.exc_type(),
            };
            m.traceback_mark(mark::RERAISED, &class);
            return Ok(None);
        }
        View::JitIsVirtual { .. } => m.int(Ty::I8, 0),
        View::LlGetTimestampUnit {} => m.int(Ty::I64, TIMESTAMP_UNIT.into()),
        View::DebugPrint { values } => {
            debug_print(m, values)?;
            return Ok(None);
        }
        View::DebugAssert { condition, .. } => {
            let condition = m.value(condition)?;
            m.assertion(&condition, op)?;
            return Ok(None);
        }
        View::JitEnter { driver, greens } => m.jit_enter(driver, greens)?,
        View::JitExit { .. }
        | View::JitCount { .. }
        | View::JitInvalidated { .. }
        | View::GcReserve { .. }
        | View::GcReserveSlowly { .. }
        | View::GcMallocReserved { .. } => return m.unit_operation(view, op),
        View::ThreadlocalrefGet { .. } | View::ThreadlocalrefStore { .. } => {
            return Err("thread-local values are not supported by this back end".into());
        }
        View::WeAreJitted {}
        | View::JitIsConstant { .. }
        | View::JitAssertGreen { .. }
        | View::JitTraceLength {}
        | View::JitSetParam { .. } => return Err("not supported by this back end".into()),
    };
    Ok(Some(value))
}

fn type_of(ty: &LLOperand) -> Result<LLType, Bad> {
    ty.as_type()
        .ok_or_else(|| "of what is no constant type".into())
}

/// Whether an operand is a constant that is not zero.
fn is_true(o: &LLOperand) -> bool {
    match o {
        LLOperand::Const(LLConst::Bool(b)) => *b,
        LLOperand::Const(LLConst::Int(_, n)) => n.get() != 0,
        _ => false,
    }
}

/// One call of the runtime per operand, and one for the end of the line.
fn debug_print<M: Machine>(m: &mut M, values: &[LLOperand]) -> Result<(), Bad> {
    for a in values {
        let ty = m.ty(a);
        let Some(v) = m.maybe(a)? else { continue };
        let word = m.printable(ty, &v)?;
        m.print_word(printed_kind(ty), &word);
    }
    let zero = m.int(Ty::I64, 0);
    m.print_word(END_OF_LINE, &zero);
    Ok(())
}
