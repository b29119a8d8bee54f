//! Operations, one by one: which part of the emitter each belongs to.

use taipan_codegen::abi::{check, mark};
use taipan_codegen::runtime::{CType, END_OF_LINE, printed_kind, runtime_call};
use taipan_graph::{BlockId, Operation};
use taipan_lltype::{
    LLConst, LLOperand, LLType, LowLevel, TIMESTAMP_UNIT, TypeKind, View, is_index_check,
};

use super::Emitter;
use crate::types::Bad;

impl Emitter<'_> {
    /// All operations of a block.
    pub(super) fn operations(&mut self, id: BlockId) -> Result<(), Bad> {
        let graph = self.graph;
        for op in &graph.block(id).operations {
            self.mark(op.at);
            let value = match View::of(op.op, &op.args) {
                Some(view) => self.operation(view, op),
                None => Err("another number of operands is needed".into()),
            }
            .map_err(|e| format!("{}: {e}", op.op))?;
            let ty = *graph.ty(op.result);
            match value {
                Value::Is(text) if !ty.is_void() => {
                    let name = self.declare(op.result)?;
                    self.statement(format!("{name} = {text};"));
                }
                // A call of a function that returns something.
                Value::Is(text) | Value::Done(Some(text)) if ty.is_void() => {
                    self.statement(format!("{text};"));
                }
                Value::Declared => {}
                Value::Done(None) if ty.is_void() => {}
                _ => return Err(format!("{} has no value of type {ty}", op.op)),
            }
        }
        Ok(())
    }

    #[expect(
        clippy::too_many_lines,
        reason = "a table: an arm per operation, with few lines each"
    )]
    fn operation(
        &mut self,
        view: View<'_, LLOperand>,
        op: &Operation<LowLevel>,
    ) -> Result<Value, Bad> {
        let to = *self.graph.ty(op.result);
        Ok(Value::Is(match view {
            View::Unary { family, op, value } => self.num(family, op, value, None)?,
            View::Binary {
                family,
                op,
                left,
                right,
            } => self.num(family, op, left, Some(right))?,
            View::DirectCall { callee, args } | View::IndirectCall { callee, args, .. } => {
                return self.call(callee, args, to);
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
            } => self.conditional_call_value(value, callee, args, to)?,
            View::BoolNot { value } => format!("!{}", self.value(value)?),
            View::IntBetween { low, value, high } => {
                let (low, value) = (self.value(low)?, self.value(value)?);
                format!("{low} <= {value} && {value} < {}", self.value(high)?)
            }
            View::IntForceGeZero { value } => {
                let a = self.value(value)?;
                format!("{a} < 0 ? 0 : {a}")
            }
            View::UintMulHigh { left, right } => {
                let (a, b) = (self.value(left)?, self.value(right)?);
                format!("rpy_uint_mul_high({a}, {b})")
            }
            View::IntAddOvf { left, right } | View::IntAddNonnegOvf { left, right } => {
                return self.overflowing("add", left, right, op);
            }
            View::IntSubOvf { left, right } => return self.overflowing("sub", left, right, op),
            View::IntMulOvf { left, right } => return self.overflowing("mul", left, right, op),
            taipan_lltype::conversion!(value) | View::ForceCast { value } => {
                self.convert(value, to)?
            }
            View::ConvertFloatBytesToLonglong { value } => {
                format!("rpy_float_bits({})", self.value(value)?)
            }
            View::ConvertLonglongBytesToFloat { value } => {
                format!("rpy_bits_float({})", self.value(value)?)
            }
            View::Likely { value } => format!("RPY_LIKELY({})", self.value(value)?),
            View::Unlikely { value } => format!("RPY_UNLIKELY({})", self.value(value)?),
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
            | View::CastIntToAdr { value } => match self.maybe(value)? {
                Some(v) if !to.is_void() => self.cast(&v, self.ty(value), to)?,
                _ => return Ok(Value::Done(None)),
            },
            View::PtrEq { left, right } | View::AdrEq { left, right } => {
                self.compare_addresses("==", left, right)?
            }
            View::PtrNe { left, right } | View::AdrNe { left, right } => {
                self.compare_addresses("!=", left, right)?
            }
            View::AdrLt { left, right } => self.compare_addresses("<", left, right)?,
            View::AdrLe { left, right } => self.compare_addresses("<=", left, right)?,
            View::AdrGt { left, right } => self.compare_addresses(">", left, right)?,
            View::AdrGe { left, right } => self.compare_addresses(">=", left, right)?,
            View::PtrNonzero { value } => format!("{} != NULL", self.value(value)?),
            View::PtrIszero { value } => format!("{} == NULL", self.value(value)?),
            View::AdrAdd { address, offset } => {
                let (a, b) = (self.value(address)?, self.value(offset)?);
                format!("(Address)((Word){a} + (Word){b})")
            }
            View::AdrSub { address, offset } => {
                let (a, b) = (self.value(address)?, self.value(offset)?);
                format!("(Address)((Word){a} - (Word){b})")
            }
            View::AdrDelta { left, right } => {
                let (a, b) = (self.value(left)?, self.value(right)?);
                format!("(Signed)((Word){a} - (Word){b})")
            }
            View::Malloc { ty, flavor, .. } => self.malloc(ty, flavor, op)?,
            View::MallocVarsize { ty, flavor, length }
            | View::GcMallocFilled { ty, flavor, length } => {
                return self.malloc_items(ty, flavor, length, op);
            }
            View::GcMallocNursery { ty, .. } => return self.malloc_nursery(ty, op),
            View::RawMalloc { size, zero } => {
                let size = self.value(size)?;
                let zero = match zero {
                    Some(LLOperand::Const(LLConst::Bool(zero))) => *zero,
                    Some(LLOperand::Const(LLConst::Int(_, zero))) => zero.get() != 0,
                    _ => false,
                };
                raw_malloc(&size, zero)
            }
            View::RawMallocUsage { size } => self.value(size)?,
            View::Free {
                object: address, ..
            }
            | View::RawFree { address } => {
                let address = self.value(address)?;
                let text = match self.options.checked {
                    true => {
                        let location = self.location(op.at);
                        format!(
                            "rpy_checked_free({address}, {location}, __builtin_frame_address(0))"
                        )
                    }
                    false => format!("free({address})"),
                };
                return Ok(Value::Done(Some(text)));
            }
            View::Getfield { .. } | View::Getarrayitem { .. } | View::Getinteriorfield { .. } => {
                return self.load(&view, op);
            }
            View::Setfield { .. }
            | View::BareSetfield { .. }
            | View::Setarrayitem { .. }
            | View::BareSetarrayitem { .. }
            | View::Setinteriorfield { .. }
            | View::BareSetinteriorfield { .. } => return self.store(&view, op),
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
            } => return self.part_address(object, step, to, op),
            View::Getarraysize { array } => self.length(array, &[], op)?,
            View::Getinteriorarraysize { object, path } => self.length(object, path, op)?,
            View::DirectArrayitems { array } => self.items_address(array, to)?,
            View::DirectPtradd { items, count } => self.item_address(items, count, to)?,
            View::RawLoad { address, offset } => {
                let (a, b) = (self.value(address)?, self.value(offset)?);
                self.raw(&format!("(Address){a} + {b}"), to)?
            }
            View::GcLoadIndexed {
                object,
                index,
                scale,
                offset,
            } => {
                let at = self.indexed(object, index, scale, offset)?;
                self.raw(&at, to)?
            }
            View::RawStore {
                address,
                offset,
                value,
            } => {
                let (a, b) = (self.value(address)?, self.value(offset)?);
                return self.store_raw(&format!("(Address){a} + {b}"), value);
            }
            View::GcStoreIndexed {
                object,
                index,
                value,
                scale,
                offset,
            } => {
                let at = self.indexed(object, index, scale, offset)?;
                return self.store_raw(&at, value);
            }
            View::RawMemclear { address, size } => {
                let (address, size) = (self.value(address)?, self.value(size)?);
                return done(format!("__builtin_memset({address}, 0, {size})"));
            }
            View::RawMemset {
                address,
                byte,
                size,
            } => {
                let (address, byte) = (self.value(address)?, self.value(byte)?);
                let size = self.value(size)?;
                return done(format!("__builtin_memset({address}, (int){byte}, {size})"));
            }
            View::RawMemcopy { source, dest, size } => {
                return self.copy_raw("__builtin_memcpy", source, dest, size);
            }
            View::RawMemmove { source, dest, size } => {
                return self.copy_raw("__builtin_memmove", source, dest, size);
            }
            taipan_codegen::runtime_operation!() => return self.runtime_operation(&view),
            View::GcIdentityhash { object } => {
                format!("rpy_identityhash({})", self.value(object)?)
            }
            View::GcWritebarrier { object, index } => {
                let object = self.value(object)?;
                return done(match index {
                    Some(i) => format!("rpy_writebarrier_array({object}, {})", self.value(i)?),
                    None => format!("rpy_writebarrier({object})"),
                });
            }
            View::GcWritebarrierBeforeCopy { dest, .. } => {
                let dest = self.value(dest)?;
                self.statement(format!("rpy_writebarrier({dest});"));
                "1".to_owned()
            }
            View::GcSaveRoot { slot, root } => {
                let slot = self.root_slot(slot)?;
                let root = self.value(root)?;
                return done(format!("{slot} = {root}"));
            }
            View::GcRestoreRoot { slot } => self.root_slot(slot)?,
            View::GcEnterRootsFrame { slots } => return self.enter_roots(slots),
            View::GcLeaveRootsFrame { .. } => {
                return done("rpy_state.root_stack_top = roots".to_owned());
            }
            View::GcCopyArray {
                source,
                dest,
                source_start,
                dest_start,
                length,
            } => return self.copy_array([source, dest, source_start, dest_start, length]),
            View::WeakrefDeref { weakref } => {
                let at = format!("(Address){} + 8", self.value(weakref)?);
                self.raw(&at, to)?
            }
            View::ShrinkArray { array, length } => self.shrink_array(array, length)?,
            // Allocation clears all pointers.
            View::ZeroGcPointersInside { .. } => return Ok(Value::Done(None)),
            View::StackCheck {} => "rpy_stack_check()".to_owned(),
            View::JitEnter { driver, greens } => self.jit_enter(driver, greens)?,
            View::JitForceQuasiImmutable { object, field } => {
                let place = self.place(object, std::slice::from_ref(field))?;
                return done(format!("rpy_jit_field_written((void *)&{})", place.text()));
            }
            View::ExcOccurred {} => "rpy_state.exc_type != NULL".to_owned(),
            View::ExcType {} => "rpy_state.exc_type".to_owned(),
            View::ExcValue {} => "rpy_state.exc_value".to_owned(),
            View::ExcSet { class, value } => {
                let (class, value) = (self.value(class)?, self.value(value)?);
                return done(format!("rpy_exc_set({class}, {value})"));
            }
            View::ExcClear {} => return done("rpy_exc_set(NULL, NULL)".to_owned()),
            View::DebugStartTraceback { class } => {
                let class = self.value(class)?;
                self.traceback_mark(mark::RAISED, &class);
                // The function that raises is the innermost line.
                let location = self.location(op.at);
                return done(format!("rpy_traceback({location}, {class})"));
            }
            View::DebugRecordTraceback {} => {
                let location = self.location(op.at);
                return done(format!("rpy_traceback({location}, rpy_state.exc_type)"));
            }
            View::DebugCatchException { class } => {
                let class = self.value(class)?;
                self.traceback_mark(mark::CAUGHT, &class);
                return Ok(Value::Done(None));
            }
            View::DebugReraiseTraceback { class } => {
                let class = match class {
                    Some(class) => self.value(class)?,
                    None => "rpy_state.exc_type".to_owned(),
                };
                self.traceback_mark(mark::RERAISED, &class);
                return Ok(Value::Done(None));
            }
            taipan_lltype::note!() => return Ok(Value::Done(None)),
            View::JitIsVirtual { .. } => "0".to_owned(),
            View::LlGetTimestampUnit {} => TIMESTAMP_UNIT.to_string(),
            View::ThreadlocalrefGet { .. } | View::ThreadlocalrefStore { .. } => {
                return Err("thread-local values are not supported by this back end".into());
            }
            View::DebugPrint { values } => return self.debug_print(values),
            View::DebugAssert { condition, .. } => {
                let condition = self.value(condition)?;
                return done(match (self.options.checked, is_index_check(op)) {
                    (true, is_index) => {
                        let what = if is_index {
                            check::INDEX
                        } else {
                            check::ASSERTION
                        };
                        let location = self.location(op.at);
                        format!("RPY_CHECK({condition}, {what}, {location})")
                    }
                    (false, _) => format!("if (RPY_UNLIKELY(!{condition})) rpy_assert_failed()"),
                });
            }
            View::JitExit { .. }
            | View::JitCount { .. }
            | View::JitInvalidated { .. }
            | View::GcReserve { .. }
            | View::GcReserveSlowly { .. }
            | View::GcMallocReserved { .. } => {
                return Err("only code that is made while a program runs has it".into());
            }
            View::WeAreJitted {}
            | View::JitIsConstant { .. }
            | View::JitAssertGreen { .. }
            | View::JitTraceLength {}
            | View::JitSetParam { .. } => return Err("not supported by this back end".into()),
        }))
    }

    /// Pointers of different types, or addresses.
    fn compare_addresses(
        &mut self,
        operator: &str,
        left: &LLOperand,
        right: &LLOperand,
    ) -> Result<String, Bad> {
        let (a, b) = (self.value(left)?, self.value(right)?);
        Ok(format!("(Word){a} {operator} (Word){b}"))
    }

    fn traceback_mark(&mut self, mark: i64, class: &str) {
        self.statement(format!("rpy_traceback((void *){mark}, {class});"));
    }

    /// An operation that is a call of the runtime.
    fn runtime_operation(&mut self, view: &View<'_, LLOperand>) -> Result<Value, Bad> {
        let (f, operands) = runtime_call(view).ok_or("no call")?;
        let values = operands.into_iter().map(|o| self.value(o));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        let call = format!("{}({})", f.name, values.join(", "));
        Ok(match f.result {
            CType::Void => Value::Done(Some(call)),
            _ => Value::Is(call),
        })
    }

    /// One call of the runtime per operand, and one for the end of the line.
    fn debug_print(&mut self, values: &[LLOperand]) -> Result<Value, Bad> {
        for a in values {
            let ty = self.ty(a);
            let Some(v) = self.maybe(a)? else { continue };
            let (kind, word) = (printed_kind(ty), printable(ty, &v));
            self.statement(format!("rpy_debug_print({kind}, {word});"));
        }
        done(format!("rpy_debug_print({END_OF_LINE}, 0)"))
    }
}

/// What `rpy_debug_print` takes for a value.
fn printable(ty: LLType, v: &str) -> String {
    match ty.kind() {
        TypeKind::Float | TypeKind::SingleFloat => format!("rpy_float_bits({v})"),
        TypeKind::Ptr(_) | TypeKind::Address => format!("(Signed)(Word){v}"),
        _ => format!("(Signed){v}"),
    }
}

/// What an operation comes to.
pub(super) enum Value {
    /// This expression.
    Is(String),
    /// A statement, without its semicolon, if there is still one.
    Done(Option<String>),
    /// Its variable is declared and has its value.
    Declared,
}

pub(super) fn done(text: String) -> Result<Value, Bad> {
    Ok(Value::Done(Some(text)))
}

pub(super) fn raw_malloc(size: &str, zero: bool) -> String {
    match zero {
        true => format!("calloc(1, {size})"),
        false => format!("malloc({size})"),
    }
}
