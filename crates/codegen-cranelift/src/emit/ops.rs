//! Operations, one by one: which part of the emitter each belongs to.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F32, F64, I64, I128};
use cranelift_codegen::ir::{InstBuilder, SourceLoc, Type, Value};
use taipan_graph::{BlockId, Operation};
use taipan_lltype::{LLOp, LLOperand, LowLevel, PlainOp, TIMESTAMP_UNIT, checked_in, conversion};

use super::{Bad, Emitter, PTR};

impl Emitter<'_, '_> {
    /// All operations of a block.
    pub(super) fn operations(&mut self, id: BlockId) -> Result<(), Bad> {
        let graph = self.graph;
        for (index, op) in graph.block(id).operations.iter().enumerate() {
            self.place = (id, index);
            if self.placed {
                self.b.set_srcloc(SourceLoc::new(op.at));
            }
            let value = match op.op {
                LLOp::Num(family, num) => self.num(family, num, op).map(Some),
                LLOp::Plain(p) => self.plain(p, op),
            }
            .map_err(|e| format!("{}: {e}", op.op))?;
            match value {
                Some(v) if !graph.ty(op.result).is_void() => self.define(op.result, v),
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

    pub(super) fn arg<'o>(
        &self,
        op: &'o Operation<LowLevel>,
        i: usize,
    ) -> Result<&'o LLOperand, Bad> {
        op.args.get(i).ok_or_else(|| "too few operands".into())
    }

    /// The value of an operand that is not Void.
    pub(super) fn arg_value(&mut self, op: &Operation<LowLevel>, i: usize) -> Result<Value, Bad> {
        let a = self.arg(op, i)?;
        self.value(a)
    }

    pub(super) fn zero(&mut self, ty: Type) -> Value {
        match ty {
            F64 => self.b.ins().f64const(0.0),
            F32 => self.b.ins().f32const(0.0),
            I128 => {
                let zero = self.int(I64, 0);
                self.b.ins().iconcat(zero, zero)
            }
            _ => self.int(ty, 0),
        }
    }

    fn plain(&mut self, p: PlainOp, op: &Operation<LowLevel>) -> Result<Option<Value>, Bad> {
        use PlainOp::*;
        let value = match p {
            DirectCall | IndirectCall | JitConditionalCall | JitConditionalCallValue => {
                return self.call_op(p, op);
            }
            BoolNot => {
                let a = self.arg_value(op, 0)?;
                self.b.ins().bxor_imm_u(a, 1)
            }
            IntBetween | IntForceGeZero => self.int_special(p, op)?,
            UintMulHigh => {
                let (a, b) = (self.arg_value(op, 0)?, self.arg_value(op, 1)?);
                self.b.ins().umulhi(a, b)
            }
            IntAddOvf | IntAddNonnegOvf | IntSubOvf | IntMulOvf => self.int_ovf(p, op)?,
            conversion!() | ForceCast => self.convert(op)?,
            ConvertFloatBytesToLonglong | ConvertLonglongBytesToFloat => self.bits(op)?,
            SameAs | Likely | Unlikely | Hint | JitForceVirtual | CastPointer | CastOpaquePtr
            | CastPtrToInt | CastIntToPtr | CastPtrToAdr | CastAdrToPtr | CastAdrToInt
            | CastIntToAdr => {
                let a = self.arg(op, 0)?;
                return self.maybe(a);
            }
            PtrEq | AdrEq => self.compare(IntCC::Equal, op)?,
            PtrNe | AdrNe => self.compare(IntCC::NotEqual, op)?,
            AdrLt => self.compare(IntCC::UnsignedLessThan, op)?,
            AdrLe => self.compare(IntCC::UnsignedLessThanOrEqual, op)?,
            AdrGt => self.compare(IntCC::UnsignedGreaterThan, op)?,
            AdrGe => self.compare(IntCC::UnsignedGreaterThanOrEqual, op)?,
            PtrNonzero | PtrIszero => {
                let a = self.arg_value(op, 0)?;
                let cc = match p {
                    PtrNonzero => IntCC::NotEqual,
                    _ => IntCC::Equal,
                };
                let zero = self.int(PTR, 0);
                self.b.ins().icmp(cc, a, zero)
            }
            AdrAdd => {
                let (a, b) = (self.arg_value(op, 0)?, self.arg_value(op, 1)?);
                self.b.ins().iadd(a, b)
            }
            AdrSub | AdrDelta => {
                let (a, b) = (self.arg_value(op, 0)?, self.arg_value(op, 1)?);
                self.b.ins().isub(a, b)
            }
            Malloc | MallocVarsize | GcMallocFilled | GcMallocNursery | Free | RawMalloc | RawFree
            | RawMallocUsage => {
                return self.allocation(p, op);
            }
            Getfield | Setfield | BareSetfield | Getsubstruct | DirectFieldptr | Getarrayitem
            | Setarrayitem | BareSetarrayitem | Getarraysubstruct | Getarraysize
            | Getinteriorfield | Setinteriorfield | BareSetinteriorfield | Getinteriorarraysize
            | DirectArrayitems | DirectPtradd => {
                return self.access(p, op);
            }
            RawLoad | RawStore | GcLoadIndexed | GcStoreIndexed | RawMemclear | RawMemset
            | RawMemcopy | RawMemmove => return self.raw_memory(p, op),
            GcCollect
            | GcCollectMinor
            | GcFqRegister
            | GcFqNextDead
            | GcIdentityhash
            | GcId
            | GcCanMove
            | GcWritebarrier
            | GcWritebarrierBeforeCopy
            | GcSaveRoot
            | GcRestoreRoot
            | GcEnterRootsFrame
            | GcLeaveRootsFrame
            | GcCopyArray
            | WeakrefCreate
            | WeakrefDeref
            | ShrinkArray
            | ZeroGcPointersInside => return self.gc_op(p, op),
            StackCheck => self.stack_check(),
            JitEnter => return self.jit_enter(op),
            JitExit => return self.jit_exit(op),
            JitCount => self.jit_count(op)?,
            JitInvalidated => self.jit_invalidated(op)?,
            JitForceQuasiImmutable => return self.jit_force_quasi_immutable(op),
            ExcType
            | ExcValue
            | ExcOccurred
            | ExcSet
            | ExcClear
            | DebugStartTraceback
            | DebugRecordTraceback
            | DebugCatchException
            | DebugReraiseTraceback => {
                return self.exception_op(p, &op.args, op.at);
            }
            JitMarker
            | JitForceVirtualizable
            | JitRecordExactClass
            | JitRecordExactValue
            | JitRecordKnownResult
            | Keepalive
            // Nobody records where an exception went.
            | DebugPrintTraceback => return Ok(None),
            JitIsVirtual => self.int(cranelift_codegen::ir::types::I8, 0),
            LlGetTimestampUnit => self.int(I64, TIMESTAMP_UNIT),
            LlReadTimestamp => return Ok(self.call_runtime("rpy_read_timestamp", &[], Some(I64))),
            ThreadlocalrefGet | ThreadlocalrefStore => {
                return Err("thread-local values are not supported by this back end".into());
            }
            DebugPrint => return self.debug_print(op),
            DebugAssert => {
                let condition = self.arg_value(op, 0)?;
                if self.checked {
                    self.checked_assertion(condition, op);
                    return Ok(None);
                }
                if let (Some(_), Some(function)) = (self.addresses, checked_in(op)) {
                    self.check_in_unit(condition, function);
                    return Ok(None);
                }
                let (failed, next) = (self.cold_block(), self.b.create_block());
                self.b.ins().brif(condition, next, &[], failed, &[]);
                self.b.switch_to_block(failed);
                self.call_runtime("rpy_assert_failed", &[], None);
                self.b.ins().jump(next, &[]);
                self.b.switch_to_block(next);
                return Ok(None);
            }
            DebugFatalerror => {
                let message = self.arg_value(op, 0)?;
                return Ok(self.call_runtime("rpy_debug_fatalerror", &[message], None));
            }
            WeAreJitted | JitIsConstant | JitAssertGreen | JitTraceLength | JitSetParam => {
                return Err("not supported by this back end".into());
            }
        };
        Ok(Some(value))
    }

    fn compare(&mut self, cc: IntCC, op: &Operation<LowLevel>) -> Result<Value, Bad> {
        let (a, b) = (self.arg_value(op, 0)?, self.arg_value(op, 1)?);
        Ok(self.b.ins().icmp(cc, a, b))
    }

    /// One call of the runtime per operand, and one for the end of the line.
    fn debug_print(&mut self, op: &Operation<LowLevel>) -> Result<Option<Value>, Bad> {
        for a in &op.args {
            let ty = self.ty(a);
            let Some(v) = self.maybe(a)? else { continue };
            let (kind, word) = self.printable(ty, v);
            self.print_word(kind, word);
        }
        let zero = self.int(I64, 0);
        self.print_word(4, zero);
        Ok(None)
    }

    fn print_word(&mut self, kind: i64, word: Value) {
        let kind = self.int(cranelift_codegen::ir::types::I32, kind);
        self.call_runtime("rpy_debug_print", &[kind, word], None);
    }
}
