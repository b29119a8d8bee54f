//! Code that is made while a program runs, in units that jump to each other.
//!
//! A unit is entered with the address of the *cell* that it was entered by. The values that
//! it needs are in memory: see [`crate::passed`]. A cell is a word with the address of a unit,
//! which may become another one. Units use Cranelift's `tail` convention, in which a jump gives
//! the frame back: however many units follow each other, the machine stack does not grow.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F32, F64, I32, I64};
use cranelift_codegen::ir::{
    self, AbiParam, AliasRegion, InstBuilder, MemFlagsData, Signature, StackSlotData,
    StackSlotKind, UserFuncName, Value,
};
use cranelift_codegen::isa::{CallConv, TargetIsa};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use taipan_codegen::machine::{
    Bad, Instructions, Operands, Units, allocate_slowly, bump, fill, machine_type,
};
use taipan_codegen::{Allocation, SymbolRef, runtime};
use taipan_graph::Operation;
use taipan_lltype::{ConstantOperand, FuncType, LLConst, LLOperand, LLType, LowLevel, View};

use super::symbols::Symbols;
use super::types::{clif_type, signature};
use super::{Emitter, PTR, Regions};
use crate::isa::Peculiarities;
use crate::passed::{passed_values, words_of_values};

/// The signature of units with that result. The argument is the cell.
pub(crate) fn unit_signature(result: LLType) -> Signature {
    let mut sig = Signature::new(CallConv::Tail);
    sig.params.push(AbiParam::new(PTR));
    let result = clif_type(result).into_iter();
    sig.returns = result.map(AbiParam::new).collect();
    sig
}

/// Flags of accesses to passed values. Nothing else is in their region within a unit.
fn passed_flags(region: AliasRegion) -> MemFlagsData {
    MemFlagsData::trusted().with_alias_region(Some(region))
}

/// Stores values, which are of these types, where the unit that is entered next finds them.
fn pass(
    b: &mut FunctionBuilder<'_>,
    region: AliasRegion,
    values: &[(LLType, Value)],
) -> Result<(), Bad> {
    let offsets = offsets(values.iter().map(|v| v.0))?;
    if values.is_empty() {
        return Ok(());
    }
    let area = b.ins().iconst(PTR, passed_values() as i64);
    for (offset, (_, v)) in offsets.into_iter().zip(values) {
        if let Some(offset) = offset {
            b.ins().store(passed_flags(region), *v, area, offset);
        }
    }
    Ok(())
}

/// The distance of each passed value from the first one, in bytes; none for Void.
fn offsets(types: impl Iterator<Item = LLType>) -> Result<Vec<Option<i32>>, Bad> {
    let (words, _) = words_of_values(types).ok_or("a unit has too many values")?;
    let bytes = |word| i32::try_from(word * 8).ok();
    Ok(words.into_iter().map(|w| w.and_then(bytes)).collect())
}

impl Units for Emitter<'_, '_> {
    fn jit_enter(&mut self, driver: &LLOperand, greens: &[LLOperand]) -> Result<Value, Bad> {
        let driver = self.value(driver)?;
        let mut words = Vec::with_capacity(greens.len());
        for a in greens {
            if let Some(v) = self.maybe(a)? {
                words.push(self.word_of(v)?);
            }
        }
        let data = StackSlotData::new(StackSlotKind::ExplicitSlot, words.len() as u32 * 8, 3);
        let slot = self.b.create_sized_stack_slot(data);
        for (i, word) in words.into_iter().enumerate() {
            self.b.ins().stack_store(PTR, word, slot, i as i32 * 8);
        }
        let greens = self.b.ins().stack_addr(PTR, slot, 0);
        let code = self.call_runtime(runtime::JIT_ENTER, &[driver, greens]);
        code.ok_or_else(|| "no result".into())
    }

    fn unit_operation(
        &mut self,
        view: View<'_, LLOperand>,
        op: &Operation<LowLevel>,
    ) -> Result<Option<Value>, Bad> {
        Ok(Some(match view {
            View::JitExit { cell, values } => {
                return self.jit_exit(cell, values, *self.graph.ty(op.result));
            }
            View::JitCount { counter } => self.jit_count(counter)?,
            View::JitInvalidated { word } => self.jit_invalidated(word)?,
            View::GcReserve { bytes } => self.reserve(bytes)?,
            View::GcReserveSlowly { bytes } => {
                let bytes = self.value(bytes)?;
                allocate_slowly(self, runtime::SURE_MALLOC, &[bytes])
            }
            View::GcMallocReserved {
                ty,
                room,
                offset,
                length,
                ..
            } => self.malloc_reserved(ty, room, offset, length, op)?,
            _ => return Err("no operation of units".into()),
        }))
    }
}

impl Emitter<'_, '_> {
    /// The bits of a value, in a machine word.
    fn word_of(&mut self, v: Value) -> Result<Value, Bad> {
        let ty = self.b.func.dfg.value_type(v);
        Ok(match ty {
            I64 => v,
            F64 => self.b.ins().bitcast(I64, MemFlagsData::new(), v),
            F32 => {
                let bits = self.b.ins().bitcast(I32, MemFlagsData::new(), v);
                self.b.ins().uextend(I64, bits)
            }
            _ if ty.bits() < 64 => self.b.ins().uextend(I64, v),
            _ => return Err("a green value of more than a machine word".into()),
        })
    }

    /// `jit_exit(cell, values...)`
    fn jit_exit(
        &mut self,
        cell: &LLOperand,
        passed: &[LLOperand],
        result: LLType,
    ) -> Result<Option<Value>, Bad> {
        let cell = self.value(cell)?;
        let mut values = Vec::with_capacity(passed.len());
        for a in passed {
            let value = self.maybe(a)?;
            values.extend(value.map(|v| (self.ty(a), v)));
        }
        pass(&mut self.b, self.regions.state, &values)?;
        let sig = self.b.import_signature(unit_signature(result));
        let flags = MemFlagsData::new().with_notrap().with_aligned();
        let code = self.b.ins().load(PTR, flags, cell, 0);
        self.b.ins().return_call_indirect(sig, code, &[cell]);
        // What the graph has after it is never reached.
        let rest = self.cold_block("rest");
        self.b.switch_to_block(rest);
        Ok(machine_type(result).map(|ty| self.zero(ty)))
    }

    /// The values that the unit is entered with: the cell, which is the argument, and those that were passed.
    pub(super) fn unit_values(&mut self, cell: Value) -> Result<Vec<Value>, Bad> {
        let types = self.graph.args().iter().skip(1).map(|v| *self.graph.ty(*v));
        let types: Vec<LLType> = types.collect();
        let area = self.b.ins().iconst(PTR, passed_values() as i64);
        let mut values = vec![cell];
        for (offset, ty) in offsets(types.iter().copied())?.into_iter().zip(types) {
            if let (Some(offset), Some(ty)) = (offset, clif_type(ty)) {
                let flags = passed_flags(self.regions.state);
                values.push(self.b.ins().load(ty, flags, area, offset));
            }
        }
        Ok(values)
    }

    /// `jit_invalidated(word)`
    fn jit_invalidated(&mut self, word: &LLOperand) -> Result<Value, Bad> {
        let word = self.value(word)?;
        let flags = MemFlagsData::trusted().with_alias_region(Some(self.regions.state));
        let word = self.b.ins().load(I64, flags, word, 0);
        let zero = self.word_constant(I64, 0);
        Ok(self.b.ins().icmp(IntCC::NotEqual, word, zero))
    }

    /// `jit_count(counter)`
    fn jit_count(&mut self, counter: &LLOperand) -> Result<Value, Bad> {
        let counter = self.value(counter)?;
        let flags = MemFlagsData::trusted().with_alias_region(Some(self.regions.state));
        let before = self.b.ins().load(I64, flags, counter, 0);
        let after = self.b.ins().iadd_imm_s(before, -1);
        self.b.ins().store(flags, after, counter, 0);
        let zero = self.word_constant(I64, 0);
        Ok(self.b.ins().icmp(IntCC::SignedLessThan, after, zero))
    }

    /// Memory for several objects. It ends its block: the second exit is taken if the nursery is full.
    fn reserve(&mut self, bytes: &LLOperand) -> Result<Value, Bad> {
        let bytes = self.value(bytes)?;
        let full = self.cold_block("full");
        self.nursery_full = Some(full);
        Ok(bump(self, &bytes, &full))
    }

    /// The object at an offset of reserved memory, filled; `op` is its allocation.
    fn malloc_reserved(
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
        let p = self.inside(&room, offset.get() as u64);
        let info = self.address_of(&SymbolRef::TypeInfo(ty));
        let length = match (length_at, length) {
            (Some(at), Some(n)) => Some((at, self.value(n)?)),
            _ => None,
        };
        fill(self, &p, &info, size, length, op.result);
        Ok(p)
    }
}

/// Fills in `func` with a function of that type which enters the unit of a cell.
pub(crate) fn emit_entry(
    func: &mut ir::Function,
    builder_context: &mut FunctionBuilderContext,
    isa: &dyn TargetIsa,
    ty: &FuncType,
    cell: usize,
) -> Result<Symbols, Bad> {
    func.name = UserFuncName::default();
    func.signature = signature(ty)?;
    let region = Regions::new(func).state;
    let mut b = FunctionBuilder::new(func, builder_context);
    let block = b.create_block();
    b.append_block_params_for_function_params(block);
    b.switch_to_block(block);
    let types = ty.args.iter().filter(|t| !t.is_void());
    let values = types.copied().zip(b.block_params(block).to_vec());
    let values: Vec<(LLType, Value)> = values.collect();
    pass(&mut b, region, &values)?;
    let cell = b.ins().iconst(PTR, cell as i64);
    let unit = b.import_signature(unit_signature(ty.result));
    let flags = MemFlagsData::new().with_notrap().with_aligned();
    let code = b.ins().load(PTR, flags, cell, 0);
    let call = b.ins().call_indirect(unit, code, &[cell]);
    let result = b.inst_results(call).to_vec();
    b.ins().return_(&result);
    b.seal_all_blocks();
    b.finalize(isa.frontend_config());
    Ok(Symbols::new(Peculiarities::of(isa)))
}
