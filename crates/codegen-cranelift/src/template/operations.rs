//! Operations, one by one.

use taipan_codegen::abi::{self, state};
use taipan_codegen::{RootsFrame, SymbolRef};
use taipan_graph::{BlockId, Operation};
use taipan_lltype::{
    FuncSym, FuncType, LLConst, LLOp, LLOperand, LowLevel, NumFamily, NumOp, PlainOp, TypeKind,
    View, VoidConst, releases_gil,
};

use super::assembler::{
    ACC, Alu, Cond, FAR, FRAME, FloatCond, FloatOp, FloatReg, INTS, MORE, Mem, RESULT, Reg, STACK,
    Shift, TEMP,
};
use super::{Done, FLOATS, Place, Template, Unknown};

/// Whether an operation ends its block with the machine's flag for overflow.
pub(super) fn overflows(op: &Operation<LowLevel>) -> bool {
    matches!(
        op.op,
        LLOp::Plain(
            PlainOp::IntAddOvf | PlainOp::IntAddNonnegOvf | PlainOp::IntSubOvf | PlainOp::IntMulOvf
        )
    )
}

/// The function that tells the number of a signal.
const SIGNAL_POLL: &str = "rpy_signal_poll";

/// Functions that the other emitter has instructions for.
const INSTRUCTIONS: [&str; 8] = [
    "sqrt",
    "fabs",
    "floor",
    "ceil",
    "trunc",
    "copysign",
    abi::INCREF,
    abi::DECREF,
];

impl Template<'_> {
    /// The code of an operation. Whether nothing in the block comes after it.
    #[expect(
        clippy::too_many_lines,
        reason = "a table: an arm per operation, with few lines each"
    )]
    pub(super) fn operation(&mut self, b: BlockId, op: &Operation<LowLevel>) -> Done<bool> {
        let view = View::of(op.op, &op.args).ok_or(Unknown)?;
        match view {
            View::Unary {
                family,
                op: num,
                value,
            } => self.num(family, num, value, None, op)?,
            View::Binary {
                family,
                op: num,
                left,
                right,
            } => self.num(family, num, left, Some(right), op)?,
            View::IntAddOvf { left, right } | View::IntAddNonnegOvf { left, right } => {
                self.overflowing(Alu::Add, left, right, op)?;
            }
            View::IntSubOvf { left, right } => self.overflowing(Alu::Sub, left, right, op)?,
            View::IntMulOvf { left, right } => {
                let (x, y) = (self.get(left)?, self.get(right)?);
                let r = self.fresh();
                self.a.mov(r, x);
                self.a.mul_overflowing(r, y);
                self.define(op.result, r)?;
            }
            View::IntBetween { low, value, high } => {
                let (x, y, z) = (self.get(low)?, self.get(value)?, self.get(high)?);
                self.a.alu(Alu::Cmp, x, y);
                self.a.set(Cond::LessEqual, ACC);
                self.a.alu(Alu::Cmp, y, z);
                self.a.set(Cond::Less, TEMP);
                self.a.alu(Alu::And, ACC, TEMP);
                self.result(op, ACC)?;
            }
            View::IntForceGeZero { value } => {
                let x = self.get(value)?;
                let r = self.fresh();
                self.a.mov_imm(TEMP, 0);
                self.a.mov(r, x);
                self.a.test(r);
                self.a.cmov(Cond::Less, r, TEMP);
                self.define(op.result, r)?;
            }
            View::UintMulHigh { left, right } => {
                let (x, y) = (self.get(left)?, self.get(right)?);
                self.a.mov(ACC, x);
                self.a.mul_high(y);
                self.result(op, MORE)?;
            }
            View::BoolNot { value } => {
                let x = self.get(value)?;
                let r = self.fresh();
                self.a.mov(r, x);
                self.a.alu_imm(Alu::Xor, r, 1);
                self.define(op.result, r)?;
            }
            taipan_lltype::conversion!(value) | View::ForceCast { value } => {
                self.convert(value, op)?;
            }
            View::ConvertFloatBytesToLonglong { value }
            | View::ConvertLonglongBytesToFloat { value } => {
                // Floats lie in memory as their bits.
                let from = self.place(value)?;
                self.same(from, op)?;
            }
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
            | View::CastIntToAdr { value } => {
                let from = self.place(value)?;
                self.same(from, op)?;
            }
            View::PtrEq { left, right } | View::AdrEq { left, right } => {
                self.compare(Cond::Equal, left, right, op)?;
            }
            View::PtrNe { left, right } | View::AdrNe { left, right } => {
                self.compare(Cond::NotEqual, left, right, op)?;
            }
            View::PtrNonzero { value } => self.truth(Cond::NotEqual, value, op)?,
            View::PtrIszero { value } => self.truth(Cond::Equal, value, op)?,
            View::Malloc { ty, flavor, .. } => self.malloc(b, ty, flavor, None, op)?,
            View::MallocVarsize { ty, flavor, length }
            | View::GcMallocFilled { ty, flavor, length } => {
                self.malloc(b, ty, flavor, Some(length), op)?;
            }
            View::Getfield { .. }
            | View::Getarrayitem { .. }
            | View::Getinteriorfield { .. }
            | View::Setfield { .. }
            | View::BareSetfield { .. }
            | View::Setarrayitem { .. }
            | View::BareSetarrayitem { .. }
            | View::Setinteriorfield { .. }
            | View::BareSetinteriorfield { .. } => {
                let access = view.access().ok_or(Unknown)?;
                self.access(access, op)?;
            }
            View::Getsubstruct {
                object,
                field: step,
            }
            | View::Getarraysubstruct {
                array: object,
                index: step,
            } => {
                self.part(object, step, op)?;
            }
            View::Getarraysize { array } => self.length(array, &[], op)?,
            View::Getinteriorarraysize { object, path } => self.length(object, path, op)?,
            View::RawLoad { address, offset } => self.raw_load(address, offset, op)?,
            View::GcWritebarrier { object, index } => self.write_barrier(object, index)?,
            View::GcSaveRoot { slot, root } => {
                let r = self.get(root)?;
                let at = self.root(slot)?;
                self.a.store(at, r);
            }
            View::GcRestoreRoot { slot } => {
                let at = self.root(slot)?;
                let r = self.fresh();
                self.a.load(r, at);
                self.define(op.result, r)?;
            }
            View::GcEnterRootsFrame { slots } => {
                let frame = RootsFrame::with(slots).map_err(|_| Unknown)?;
                let home = match self.roots {
                    Some((_, home)) => home,
                    None => self.new_home(),
                };
                self.roots = Some((frame, home));
                let size = i32::try_from(frame.size()).map_err(|_| Unknown)?;
                self.load_state(ACC, state::ROOT_STACK_TOP);
                self.a.store(Mem(FRAME, home), ACC);
                self.a.alu_imm(Alu::Add, ACC, size);
                self.a.store(Mem(FAR, state::ROOT_STACK_TOP), ACC);
            }
            View::GcLeaveRootsFrame { .. } => {
                let home = self.roots_home()?;
                self.a.load(ACC, Mem(FRAME, home));
                self.a.mov_imm(FAR, self.state);
                self.a.store(Mem(FAR, state::ROOT_STACK_TOP), ACC);
            }
            View::GcCopyArray {
                source,
                dest,
                source_start,
                dest_start,
                length,
            } => self.copy_items((source, source_start), (dest, dest_start), length)?,
            // Allocation clears all pointers.
            View::ZeroGcPointersInside { .. } | taipan_lltype::note!() => {}
            View::StackCheck {} => {
                self.a.mov_imm(FAR, self.state);
                self.a
                    .alu_mem(Alu::Cmp, STACK, Mem(FAR, state::STACK_LIMIT));
                self.a.set(Cond::Below, ACC);
                self.result(op, ACC)?;
            }
            View::JitExit { cell, values } => {
                self.exit(cell, values)?;
                return Ok(true);
            }
            View::JitCount { counter } => {
                let r = self.get(counter)?;
                self.a.count_down(r);
                self.a.set(Cond::Sign, ACC);
                self.result(op, ACC)?;
            }
            View::JitInvalidated { word } => {
                let r = self.get(word)?;
                self.a.cmp_mem_imm8(Mem(r, 0), 0);
                self.a.set(Cond::NotEqual, ACC);
                self.result(op, ACC)?;
            }
            View::ExcOccurred {} => {
                self.a.mov_imm(FAR, self.state);
                self.a.cmp_mem_imm8(Mem(FAR, state::EXC_TYPE), 0);
                self.a.set(Cond::NotEqual, ACC);
                self.result(op, ACC)?;
            }
            View::ExcType {} => {
                self.load_state(ACC, state::EXC_TYPE);
                self.result(op, ACC)?;
            }
            View::ExcValue {} => {
                self.load_state(ACC, state::EXC_VALUE);
                self.result(op, ACC)?;
            }
            View::ExcSet { class, value } => {
                let (class, value) = (self.place(class)?, self.place(value)?);
                self.set_exception(class, value);
            }
            View::ExcClear {} => self.set_exception(Place::Known(0), Place::Known(0)),
            View::DirectCall { callee, args } | View::IndirectCall { callee, args, .. } => {
                self.call(callee, args, op)?;
            }
            _ => return Err(Unknown),
        }
        Ok(false)
    }

    fn set_exception(&mut self, class: Place, value: Place) {
        self.a.mov_imm(FAR, self.state);
        self.read(ACC, class);
        self.a.store(Mem(FAR, state::EXC_TYPE), ACC);
        self.read(ACC, value);
        self.a.store(Mem(FAR, state::EXC_VALUE), ACC);
    }

    /// A result that is in a register which holds nothing for long.
    fn result(&mut self, op: &Operation<LowLevel>, from: Reg) -> Done<()> {
        let r = self.fresh();
        self.a.mov(r, from);
        self.define(op.result, r)
    }

    /// A result that is another value.
    fn same(&mut self, from: Place, op: &Operation<LowLevel>) -> Done<()> {
        if self.graph.ty(op.result).is_void() {
            return Ok(());
        }
        self.checked_type(*self.graph.ty(op.result))?;
        self.places[op.result.index()] = from;
        Ok(())
    }

    fn truth(&mut self, cond: Cond, value: &LLOperand, op: &Operation<LowLevel>) -> Done<()> {
        let x = self.get(value)?;
        self.a.test(x);
        self.a.set(cond, ACC);
        self.result(op, ACC)
    }

    fn compare(
        &mut self,
        cond: Cond,
        left: &LLOperand,
        right: &LLOperand,
        op: &Operation<LowLevel>,
    ) -> Done<()> {
        let x = self.get(left)?;
        match self.small(right)? {
            Some(n) => self.a.alu_imm(Alu::Cmp, x, n),
            None => {
                let y = self.get(right)?;
                self.a.alu(Alu::Cmp, x, y);
            }
        }
        self.a.set(cond, ACC);
        self.result(op, ACC)
    }

    /// Arithmetic that sets the machine's flag for overflow; what follows leaves it as it is.
    fn overflowing(
        &mut self,
        alu: Alu,
        left: &LLOperand,
        right: &LLOperand,
        op: &Operation<LowLevel>,
    ) -> Done<()> {
        self.arithmetic(alu, left, right, op)
    }

    fn arithmetic(
        &mut self,
        alu: Alu,
        left: &LLOperand,
        right: &LLOperand,
        op: &Operation<LowLevel>,
    ) -> Done<()> {
        let x = self.get(left)?;
        match self.small(right)? {
            Some(n) => {
                let r = self.fresh();
                self.a.mov(r, x);
                self.a.alu_imm(alu, r, n);
                self.define(op.result, r)
            }
            None => {
                let y = self.get(right)?;
                let r = self.fresh();
                self.a.mov(r, x);
                self.a.alu(alu, r, y);
                self.define(op.result, r)
            }
        }
    }

    fn num(
        &mut self,
        family: NumFamily,
        num: NumOp,
        left: &LLOperand,
        right: Option<&LLOperand>,
        op: &Operation<LowLevel>,
    ) -> Done<()> {
        let signed = match family {
            NumFamily::Int => true,
            NumFamily::Uint | NumFamily::Char | NumFamily::Unichar => false,
            NumFamily::Float => return self.float_num(num, left, right, op),
            NumFamily::Lllong | NumFamily::Ulllong => return Err(Unknown),
        };
        let cc = |s, u| if signed { s } else { u };
        let cond = match num {
            NumOp::Lt => Some(cc(Cond::Less, Cond::Below)),
            NumOp::Le => Some(cc(Cond::LessEqual, Cond::BelowEqual)),
            NumOp::Gt => Some(cc(Cond::Greater, Cond::Above)),
            NumOp::Ge => Some(cc(Cond::GreaterEqual, Cond::AboveEqual)),
            NumOp::Eq => Some(Cond::Equal),
            NumOp::Ne => Some(Cond::NotEqual),
            _ => None,
        };
        if let (Some(cond), Some(right)) = (cond, right) {
            return self.compare(cond, left, right, op);
        }
        if num == NumOp::IsTrue {
            return self.truth(Cond::NotEqual, left, op);
        }
        // Results of less than a word would have to be extended.
        if !matches!(self.graph.ty(op.result).kind(), TypeKind::Int(k) if k.bits == 64)
            || !matches!(family, NumFamily::Int | NumFamily::Uint)
        {
            return Err(Unknown);
        }
        match (num, right) {
            (NumOp::Add, Some(right)) => self.arithmetic(Alu::Add, left, right, op),
            (NumOp::Sub, Some(right)) => self.arithmetic(Alu::Sub, left, right, op),
            (NumOp::And, Some(right)) => self.arithmetic(Alu::And, left, right, op),
            (NumOp::Or, Some(right)) => self.arithmetic(Alu::Or, left, right, op),
            (NumOp::Xor, Some(right)) => self.arithmetic(Alu::Xor, left, right, op),
            (NumOp::Mul, Some(right)) => {
                let (x, y) = (self.get(left)?, self.get(right)?);
                let r = self.fresh();
                self.a.mov(r, x);
                self.a.imul(r, y);
                self.define(op.result, r)
            }
            (NumOp::Neg | NumOp::Invert, _) => {
                let x = self.get(left)?;
                let r = self.fresh();
                self.a.mov(r, x);
                match num {
                    NumOp::Neg => self.a.neg(r),
                    _ => self.a.not(r),
                }
                self.define(op.result, r)
            }
            (NumOp::LShift | NumOp::RShift, Some(right)) => {
                self.shifted(num == NumOp::LShift, signed, left, right, op)
            }
            (NumOp::FloorDiv | NumOp::Mod, Some(right)) => {
                self.divided(num == NumOp::FloorDiv, signed, left, right, op)
            }
            _ => Err(Unknown),
        }
    }

    /// A shift by any count: one that is out of range shifts everything out.
    fn shifted(
        &mut self,
        to_left: bool,
        signed: bool,
        left: &LLOperand,
        right: &LLOperand,
        op: &Operation<LowLevel>,
    ) -> Done<()> {
        let shift = match (to_left, signed) {
            (true, _) => Shift::Left,
            (false, false) => Shift::Right,
            (false, true) => Shift::SignedRight,
        };
        let x = self.get(left)?;
        if let Some(n @ 0..64) = self.small(right)? {
            let r = self.fresh();
            self.a.mov(r, x);
            self.a.shift_imm(shift, r, n as u8);
            return self.define(op.result, r);
        }
        let y = self.get(right)?;
        self.a.mov(TEMP, y);
        self.a.mov(ACC, x);
        self.a
            .mov_imm(MORE, if shift == Shift::SignedRight { 63 } else { 0 });
        if shift == Shift::SignedRight {
            self.a.alu_imm(Alu::Cmp, TEMP, 63);
            self.a.cmov(Cond::Above, TEMP, MORE);
            self.a.shift(shift, ACC);
        } else {
            self.a.shift(shift, ACC);
            self.a.alu_imm(Alu::Cmp, TEMP, 63);
            self.a.cmov(Cond::Above, ACC, MORE);
        }
        self.result(op, ACC)
    }

    /// Division that truncates. The divisor is not zero; the one overflow wraps.
    fn divided(
        &mut self,
        quotient: bool,
        signed: bool,
        left: &LLOperand,
        right: &LLOperand,
        op: &Operation<LowLevel>,
    ) -> Done<()> {
        let (x, y) = (self.get(left)?, self.get(right)?);
        self.a.mov(ACC, x);
        self.a.divide(signed, y);
        self.result(op, if quotient { ACC } else { MORE })
    }

    fn float_num(
        &mut self,
        num: NumOp,
        left: &LLOperand,
        right: Option<&LLOperand>,
        op: &Operation<LowLevel>,
    ) -> Done<()> {
        let (x, y) = (FloatReg(0), FloatReg(1));
        self.float(left, x)?;
        if let Some(right) = right {
            self.float(right, y)?;
        }
        let float_op = match num {
            NumOp::Add => FloatOp::Add,
            NumOp::Mul => FloatOp::Mul,
            NumOp::Sub => FloatOp::Sub,
            NumOp::TrueDiv => FloatOp::Div,
            NumOp::Neg | NumOp::Abs => {
                self.a.bits_of_float(ACC, x);
                self.a.mov_imm(TEMP, i64::MIN);
                if num == NumOp::Neg {
                    self.a.alu(Alu::Xor, ACC, TEMP);
                } else {
                    self.a.not(TEMP);
                    self.a.alu(Alu::And, ACC, TEMP);
                }
                return self.result(op, ACC);
            }
            NumOp::Lt | NumOp::Gt | NumOp::Le | NumOp::Ge => {
                let cond = match num {
                    NumOp::Lt | NumOp::Gt => FloatCond::Greater,
                    _ => FloatCond::GreaterEqual,
                };
                // Where one is no number, nothing is greater.
                match num {
                    NumOp::Lt | NumOp::Le => self.a.float_set(cond, y, x),
                    _ => self.a.float_set(cond, x, y),
                }
                return self.result(op, ACC);
            }
            NumOp::Eq | NumOp::Ne | NumOp::IsTrue => {
                if num == NumOp::IsTrue {
                    self.a.mov_imm(ACC, 0);
                    self.a.float_of_bits(y, ACC);
                }
                let cond = match num {
                    NumOp::Eq => FloatCond::Equal,
                    _ => FloatCond::NotEqual,
                };
                self.a.float_set(cond, x, y);
                return self.result(op, ACC);
            }
            _ => return Err(Unknown),
        };
        self.a.float(float_op, x, y);
        self.define_float(op.result, x);
        Ok(())
    }

    fn convert(&mut self, value: &LLOperand, op: &Operation<LowLevel>) -> Done<()> {
        let (from, to) = (self.ty(value), *self.graph.ty(op.result));
        if self.is_float(from)? {
            return Err(Unknown);
        }
        let from_width = self.width(from)?;
        if self.is_float(to)? {
            // Unsigned words do not fit.
            if matches!(from.kind(), TypeKind::Int(k) if k.bits == 64 && !k.signed) {
                return Err(Unknown);
            }
            let x = self.get(value)?;
            self.a.float_of_int(FloatReg(0), x);
            self.define_float(op.result, FloatReg(0));
            return Ok(());
        }
        if *to.kind() == TypeKind::Bool && *from.kind() != TypeKind::Bool {
            return self.truth(Cond::NotEqual, value, op);
        }
        let width = self.result_width(op)?;
        if width == from_width || width == super::Width::Word {
            let place = self.place(value)?;
            return self.same(place, op);
        }
        let x = self.get(value)?;
        let r = self.fresh();
        self.a.mov(r, x);
        self.a.extend(r, width);
        self.define(op.result, r)
    }

    // Calls.

    /// The number of a signal, or -1. A word of the state tells whether there may be one.
    fn poll_signals(&mut self, symbol: SymbolRef, op: &Operation<LowLevel>) -> Done<()> {
        let none = self.a.label();
        self.a.mov_imm(ACC, -1);
        self.a.mov_imm(FAR, self.state);
        self.a.cmp_mem_imm8(Mem(FAR, state::SIGNALS), 0);
        self.a.jump_if(Cond::Equal, none);
        self.call_symbol(symbol);
        self.a.mov(ACC, RESULT);
        self.a.bind(none);
        self.forget();
        self.result(op, ACC)
    }

    fn call(
        &mut self,
        callee: &LLOperand,
        args: &[LLOperand],
        op: &Operation<LowLevel>,
    ) -> Done<()> {
        let known: Option<&FuncSym> = match callee {
            LLOperand::Const(LLConst::Func(f) | LLConst::Void(VoidConst::Func(f))) => Some(f),
            _ => None,
        };
        let symbol = match known {
            Some(f) if releases_gil(f, args) => return Err(Unknown),
            Some(f) => {
                let symbol = SymbolRef::function(f);
                match &symbol {
                    SymbolRef::External(name) if &**name == SIGNAL_POLL => {
                        return self.poll_signals(symbol, op);
                    }
                    SymbolRef::External(name) if INSTRUCTIONS.contains(&&**name) => {
                        return Err(Unknown);
                    }
                    _ => Some(symbol),
                }
            }
            None => None,
        };
        let ty: &FuncType = match known {
            Some(f) => f.ty(),
            None => match self.ty(callee).pointee().map(|t| t.kind()) {
                Some(TypeKind::Func(ty)) => ty,
                _ => return Err(Unknown),
            },
        };
        if args.len() != ty.args.len() {
            return Err(Unknown);
        }
        let mut in_registers = Vec::with_capacity(INTS.len());
        let mut in_floats = Vec::new();
        let mut stack = 0;
        for (o, ty) in args.iter().zip(&ty.args) {
            if ty.is_void() {
                continue;
            }
            let from = self.place(o)?;
            if self.is_float(*ty)? {
                if in_floats.len() < FLOATS {
                    in_floats.push(from);
                    continue;
                }
            } else if in_registers.len() < INTS.len() {
                in_registers.push((INTS[in_registers.len()], from));
                continue;
            }
            self.read(ACC, from);
            self.a.store(Mem(STACK, stack), ACC);
            stack += 8;
        }
        self.outgoing = self.outgoing.max(stack);
        if symbol.is_none() {
            let code = self.place(callee)?;
            self.read(FAR, code);
        }
        for (i, from) in in_floats.into_iter().enumerate() {
            self.read_float(FloatReg(i as u8), from, ACC);
        }
        for (r, from) in in_registers {
            self.read(r, from);
        }
        match symbol {
            Some(symbol) => self.call_symbol(symbol),
            None => self.a.call_reg(FAR),
        }
        self.forget();
        let result = *self.graph.ty(op.result);
        if ty.result.is_void() || result.is_void() {
            return Ok(());
        }
        if self.is_float(ty.result)? {
            self.define_float(op.result, FloatReg(0));
            return Ok(());
        }
        let width = self.width(ty.result)?;
        self.a.extend(RESULT, width);
        self.result(op, RESULT)
    }
}
