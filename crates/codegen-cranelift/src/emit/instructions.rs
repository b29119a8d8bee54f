//! Cranelift's instructions, as the machine that operations are lowered to.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32, F64, I64, I128};
use cranelift_codegen::ir::{
    Block, BlockArg, InstBuilder, InstructionData, MemFlagsData, StackSlotData, StackSlotKind,
    TrapCode, Value,
};
use cranelift_codegen::isa::CallConv;
use taipan_codegen::machine::{
    Access, Bad, Binary, Cond, Instructions, Operands, Rare, Region, Ty, Unary,
};
use taipan_codegen::runtime::{Calls, RuntimeFunction};
use taipan_codegen::{RootsFrame, SymbolRef, abi};
use taipan_graph::{Operation, VarId};
use taipan_lltype::{FuncSym, FuncType, LLOperand, LowLevel, NumOp, checked_in};

use super::types::{clif, machine_type_of, signature};
use super::{Emitter, PTR};

/// Bytes that the frame of a function that calls others has at least: the return address and the caller's frame
/// pointer.
const LINKAGE: i64 = 16;

impl Instructions for Emitter<'_, '_> {
    type Bit = Value;
    type Block = Block;
    type Join = (Block, Value);

    fn type_of(&self, v: &Value) -> Ty {
        machine_type_of(self.b.func.dfg.value_type(*v))
    }

    fn known(&self, v: &Value) -> Option<i128> {
        let dfg = &self.b.func.dfg;
        match dfg.insts[dfg.value_def(*v).inst()?] {
            InstructionData::UnaryImm { imm, .. } => Some(imm.bits().into()),
            _ => None,
        }
    }

    fn zero(&mut self, ty: Ty) -> Value {
        match clif(ty) {
            F64 => self.b.ins().f64const(0.0),
            F32 => self.b.ins().f32const(0.0),
            I128 => {
                let zero = self.word_constant(I64, 0);
                self.b.ins().iconcat(zero, zero)
            }
            ty => self.word_constant(ty, 0),
        }
    }

    fn as_type(&mut self, v: &Value, _to: Ty) -> Value {
        *v
    }

    fn address_of(&mut self, symbol: &SymbolRef) -> Value {
        if let Some(address) = self.addresses.and_then(|a| a.address(symbol)) {
            return self.word_constant(PTR, address as i64);
        }
        let global = match self.globals.get(symbol) {
            Some(g) => *g,
            None => {
                let g = self.symbols.global(self.b.func, symbol);
                self.globals.insert(symbol.clone(), g);
                g
            }
        };
        self.b.ins().symbol_value(PTR, global)
    }

    fn location(&mut self, at: u32) -> Value {
        let location = self.symbols.location(at);
        self.address_of(&location)
    }

    fn binary(&mut self, op: Binary, a: &Value, b: &Value) -> Value {
        let (a, b, ins) = (*a, *b, self.b.ins());
        match op {
            Binary::Add => ins.iadd(a, b),
            Binary::Sub => ins.isub(a, b),
            Binary::Mul => ins.imul(a, b),
            Binary::UMulHigh => ins.umulhi(a, b),
            Binary::SDiv => ins.sdiv(a, b),
            Binary::SRem => ins.srem(a, b),
            Binary::UDiv => ins.udiv(a, b),
            Binary::URem => ins.urem(a, b),
            Binary::SMax => ins.smax(a, b),
            Binary::And => ins.band(a, b),
            Binary::Or => ins.bor(a, b),
            Binary::Xor => ins.bxor(a, b),
            Binary::Shl => ins.ishl(a, b),
            Binary::AShr => ins.sshr(a, b),
            Binary::LShr => ins.ushr(a, b),
            Binary::FAdd => ins.fadd(a, b),
            Binary::FSub => ins.fsub(a, b),
            Binary::FMul => ins.fmul(a, b),
            Binary::FDiv => ins.fdiv(a, b),
        }
    }

    fn unary(&mut self, op: Unary, a: &Value) -> Value {
        let ins = self.b.ins();
        match op {
            Unary::Neg => ins.ineg(*a),
            Unary::Not => ins.bnot(*a),
            Unary::FNeg => ins.fneg(*a),
            Unary::FAbs => ins.fabs(*a),
        }
    }

    fn compare(&mut self, cond: Cond, signed: bool, a: &Value, b: &Value) -> Value {
        let cc = match (cond, signed) {
            (Cond::Eq, _) => IntCC::Equal,
            (Cond::Ne, _) => IntCC::NotEqual,
            (Cond::Lt, true) => IntCC::SignedLessThan,
            (Cond::Lt, false) => IntCC::UnsignedLessThan,
            (Cond::Le, true) => IntCC::SignedLessThanOrEqual,
            (Cond::Le, false) => IntCC::UnsignedLessThanOrEqual,
            (Cond::Gt, true) => IntCC::SignedGreaterThan,
            (Cond::Gt, false) => IntCC::UnsignedGreaterThan,
            (Cond::Ge, true) => IntCC::SignedGreaterThanOrEqual,
            (Cond::Ge, false) => IntCC::UnsignedGreaterThanOrEqual,
        };
        self.b.ins().icmp(cc, *a, *b)
    }

    fn compare_floats(&mut self, cond: Cond, a: &Value, b: &Value) -> Value {
        let cc = match cond {
            Cond::Eq => FloatCC::Equal,
            Cond::Ne => FloatCC::NotEqual,
            Cond::Lt => FloatCC::LessThan,
            Cond::Le => FloatCC::LessThanOrEqual,
            Cond::Gt => FloatCC::GreaterThan,
            Cond::Ge => FloatCC::GreaterThanOrEqual,
        };
        self.b.ins().fcmp(cc, *a, *b)
    }

    fn shift(&mut self, op: Binary, a: &Value, count: &Value, known: Option<i128>) -> Value {
        self.shifted(op, *a, *count, known)
    }

    fn with_overflow(
        &mut self,
        num: NumOp,
        left: &LLOperand,
        right: &LLOperand,
        grows: bool,
    ) -> Result<Value, Bad> {
        let (result, overflow) = self.overflowing_result(num, left, right, grows)?;
        self.overflow = Some(overflow);
        Ok(result)
    }

    fn resize(&mut self, v: &Value, to: Ty, signed: bool) -> Value {
        let (v, to) = (*v, clif(to));
        let from = self.b.func.dfg.value_type(v);
        match from.bits().cmp(&to.bits()) {
            std::cmp::Ordering::Equal => v,
            // Not reduced: one multiplication makes both words of a product, unless Cranelift
            // makes two of it, each for one word.
            std::cmp::Ordering::Greater if from == I128 => {
                let (low, _) = self.b.ins().isplit(v);
                match to == I64 {
                    true => low,
                    false => self.b.ins().ireduce(to, low),
                }
            }
            std::cmp::Ordering::Greater => self.b.ins().ireduce(to, v),
            std::cmp::Ordering::Less if signed => self.b.ins().sextend(to, v),
            std::cmp::Ordering::Less => self.b.ins().uextend(to, v),
        }
    }

    fn resize_float(&mut self, v: &Value, to: Ty) -> Value {
        match (self.type_of(v), to) {
            (Ty::F32, Ty::F64) => self.b.ins().fpromote(F64, *v),
            (Ty::F64, Ty::F32) => self.b.ins().fdemote(F32, *v),
            _ => *v,
        }
    }

    fn saturated(&mut self, v: &Value) -> Value {
        self.b.ins().fcvt_to_sint_sat(I64, *v)
    }

    fn float_of(&mut self, v: &Value, to: Ty, signed: bool) -> Value {
        match signed {
            true => self.b.ins().fcvt_from_sint(clif(to), *v),
            false => self.b.ins().fcvt_from_uint(clif(to), *v),
        }
    }

    fn bitcast(&mut self, v: &Value, to: Ty) -> Value {
        self.b.ins().bitcast(clif(to), MemFlagsData::new(), *v)
    }

    fn bit(&mut self, v: &Value) -> Value {
        *v
    }

    fn boolean(&mut self, bit: Value) -> Value {
        bit
    }

    fn not(&mut self, bit: &Value) -> Value {
        self.b.ins().bxor_imm_u(*bit, 1)
    }

    fn both(&mut self, a: &Value, b: &Value) -> Value {
        self.b.ins().band(*a, *b)
    }

    fn select(&mut self, bit: &Value, yes: &Value, no: &Value) -> Value {
        self.b.ins().select(*bit, *yes, *no)
    }

    fn block(&mut self, _name: &str) -> Block {
        self.b.create_block()
    }

    fn cold_block(&mut self, _name: &str) -> Block {
        let block = self.b.create_block();
        self.b.set_cold_block(block);
        block
    }

    fn join(&mut self, _name: &str, ty: Ty) -> (Block, Value) {
        let block = self.b.create_block();
        (block, self.b.append_block_param(block, clif(ty)))
    }

    fn start(&mut self, block: &Block) {
        self.b.switch_to_block(*block);
    }

    fn start_join(&mut self, (block, value): (Block, Value)) -> Value {
        self.b.switch_to_block(block);
        value
    }

    fn jump(&mut self, to: &Block) {
        self.b.ins().jump(*to, &[]);
    }

    fn jump_to_join(&mut self, (to, _): &mut (Block, Value), v: &Value) {
        self.b.ins().jump(*to, &[BlockArg::Value(*v)]);
    }

    fn branch(&mut self, bit: &Value, yes: &Block, no: &Block, _rare: Rare) {
        self.b.ins().brif(*bit, *yes, &[], *no, &[]);
    }

    fn branch_or_join(
        &mut self,
        bit: &Value,
        yes: &Block,
        ((no, _), v): (&mut (Block, Value), &Value),
        _rare: Rare,
    ) {
        (self.b.ins()).brif(*bit, *yes, &[], *no, &[BlockArg::Value(*v)]);
    }

    fn branch_to_joins(
        &mut self,
        bit: &Value,
        ((yes, _), v): (&mut (Block, Value), &Value),
        ((no, _), w): (&mut (Block, Value), &Value),
        _rare: Rare,
    ) {
        let (v, w) = (BlockArg::Value(*v), BlockArg::Value(*w));
        self.b.ins().brif(*bit, *yes, &[v], *no, &[w]);
    }

    fn never_reached(&mut self) {
        self.b.ins().trap(TrapCode::unwrap_user(1));
    }

    fn load_at(&mut self, ty: Ty, access: &Access<'_>, base: &Value, offset: i64) -> Value {
        let flags = self.flags_of(access);
        (self.b.ins()).load(clif(ty), flags, *base, offset as i32)
    }

    fn store_at(&mut self, access: &Access<'_>, v: &Value, base: &Value, offset: i64) {
        let flags = self.flags_of(access);
        self.b.ins().store(flags, *v, *base, offset as i32);
    }

    fn advance(&mut self, base: &Value, distance: &Value) -> Value {
        self.b.ins().iadd(*base, *distance)
    }

    fn inside(&mut self, base: &Value, offset: u64) -> Value {
        match offset {
            0 => *base,
            n => self.b.ins().iadd_imm_s(*base, n as i64),
        }
    }

    fn state(&mut self) -> Value {
        self.address_of(&SymbolRef::External(abi::STATE.into()))
    }

    fn load_state(&mut self, offset: i32, ty: Ty) -> Value {
        let state = self.state();
        self.load_at(ty, &Access::STATE, &state, offset.into())
    }

    fn store_state(&mut self, offset: i32, v: &Value) {
        let state = self.state();
        self.store_at(&Access::STATE, v, &state, offset.into());
    }

    fn pending_signals(&mut self) -> Value {
        let state = self.state();
        let at = (self.b.ins()).iadd_imm_s(state, i64::from(abi::state::SIGNALS));
        // An atomic one is never taken for one before it.
        self.b.ins().atomic_load(I64, MemFlagsData::trusted(), at)
    }

    fn call_runtime(&mut self, f: RuntimeFunction, args: &[Value]) -> Option<Value> {
        self.call_with(CallConv::SystemV, f, args)
    }

    fn call_slow(&mut self, f: RuntimeFunction, args: &[Value]) {
        for (at, v) in (abi::state::SLOW_ARGUMENTS..).step_by(8).zip(args) {
            self.store_state(at, v);
        }
        debug_assert_eq!(f.calls, Calls::Slow, "{}", f.name);
        self.call_with(CallConv::PreserveAll, f, &[]);
    }

    fn call_function(&mut self, f: &FuncSym, values: &[Value]) -> Result<Option<Value>, Bad> {
        let f = self.function(f)?;
        let call = self.b.ins().call(f, values);
        Ok(self.b.inst_results(call).first().copied())
    }

    fn call_address(
        &mut self,
        address: &Value,
        ty: &FuncType,
        values: &[Value],
    ) -> Result<Option<Value>, Bad> {
        let sig = self.b.import_signature(signature(ty)?);
        let call = self.b.ins().call_indirect(sig, *address, values);
        Ok(self.b.inst_results(call).first().copied())
    }

    fn callback(&mut self, f: &FuncSym) -> Result<Value, Bad> {
        self.callback_address(f)
    }

    /// A call would cost all floating-point registers.
    fn instruction_of(&mut self, name: &str, args: &[Value]) -> Option<Value> {
        match (name, args) {
            ("sqrt", [x]) => Some(self.b.ins().sqrt(*x)),
            ("fabs", [x]) => Some(self.b.ins().fabs(*x)),
            ("floor", [x]) => Some(self.b.ins().floor(*x)),
            ("ceil", [x]) => Some(self.b.ins().ceil(*x)),
            ("trunc", [x]) => Some(self.b.ins().trunc(*x)),
            ("copysign", [x, y]) => Some(self.b.ins().fcopysign(*x, *y)),
            _ => None,
        }
    }

    fn frame(&self) -> Option<RootsFrame> {
        self.roots.map(|(_, frame)| frame)
    }

    fn enter_frame(&mut self, frame: RootsFrame) {
        let bytes = frame.machine_bytes(LINKAGE) as u32;
        if bytes > 0 {
            let data = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 3);
            self.b.create_sized_stack_slot(data);
        }
        let variable = match self.roots {
            Some((v, _)) => v,
            None => self.b.declare_var(PTR),
        };
        self.roots = Some((variable, frame));
    }

    fn set_roots_base(&mut self, base: &Value) {
        if let Some((variable, _)) = self.roots {
            self.b.def_var(variable, *base);
        }
    }

    fn roots_base(&mut self) -> Value {
        match self.roots {
            Some((variable, _)) => self.b.use_var(variable),
            None => self.null(),
        }
    }

    fn stack_pointer(&mut self) -> Value {
        self.b.ins().get_stack_pointer(PTR)
    }

    fn frame_address(&mut self) -> Value {
        self.b.ins().get_frame_pointer(PTR)
    }

    fn set_nursery_full(&mut self, block: Block) {
        self.nursery_full = Some(block);
    }

    fn initialised_words(&mut self, object: VarId) -> Vec<u64> {
        self.words_stored_to(object)
    }

    fn clear_words(
        &mut self,
        start: &Value,
        end: &Value,
        ((done, _), result): (&mut (Block, Value), &Value),
    ) {
        let clear = self.b.create_block();
        let at = self.b.append_block_param(clear, PTR);
        let continue_at = |this: &mut Self, at: Value| {
            let more = (this.b.ins()).icmp(IntCC::UnsignedLessThan, at, *end);
            let args = (&[at.into()], &[BlockArg::Value(*result)]);
            this.b.ins().brif(more, clear, args.0, *done, args.1);
        };
        continue_at(self, *start);
        self.b.switch_to_block(clear);
        let null = self.word_constant(I64, 0);
        self.store_at(&Access::HEAP, &null, &at, 0);
        let next = self.b.ins().iadd_imm_s(at, 8);
        continue_at(self, next);
    }

    /// The check of an index in a unit, whose code comes from a function that the assertion names.
    fn unit_assertion(&mut self, condition: &Value, op: &Operation<LowLevel>) -> bool {
        let (Some(_), Some(function)) = (self.addresses, checked_in(op)) else {
            return false;
        };
        let (failed, next) = (self.cold_block("failed"), self.b.create_block());
        self.branch(condition, &next, &failed, Rare::Second);
        self.b.switch_to_block(failed);
        // Units and the data that they refer to stay in place until the process ends.
        let name: &'static [u8] = Box::leak(function.into());
        let name = [name.as_ptr() as i64, name.len() as i64].map(|n| self.word_constant(I64, n));
        self.call_runtime(taipan_codegen::runtime::UNIT_CHECK_FAILED, &name);
        self.never_reached();
        self.b.switch_to_block(next);
        true
    }
}

impl Emitter<'_, '_> {
    fn flags_of(&self, access: &Access<'_>) -> MemFlagsData {
        let (flags, region) = match access.region {
            Region::Heap => (MemFlagsData::new().with_notrap(), self.regions.heap),
            Region::State => (MemFlagsData::trusted(), self.regions.state),
            Region::Roots => (MemFlagsData::trusted(), self.regions.roots),
        };
        let flags = flags.with_alias_region(Some(region));
        match access.is_constant {
            true => flags.with_readonly().with_can_move(),
            false => flags,
        }
    }
}
