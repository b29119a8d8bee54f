//! Arithmetic and comparison. `taipan_lltype::eval_num` defines the operations: integers wrap, and a
//! shift by a count that is out of range shifts everything out. A division by zero that nothing checks for is a trap.

use taipan_graph::Operation;
use taipan_lltype::{LLConst, LLOp, NumFamily, NumOp, PlainOp, const_word};
use taipan_ootype::{Lack, OOOp, OOOperand, ObjectOriented};
use wasm_encoder::{BlockType, ValType};

use super::Emitter;
use crate::code::Ins;
use crate::symbols::Glue;

impl Emitter<'_> {
    pub(super) fn number(
        &mut self,
        family: NumFamily,
        num: NumOp,
        args: &[OOOperand],
    ) -> Result<(), Lack> {
        match family {
            NumFamily::Lllong | NumFamily::Ulllong => self.wide(family, num, args),
            NumFamily::Float => self.float(num, args),
            NumFamily::Char | NumFamily::Unichar => {
                let ins = small(num).ok_or_else(|| no_operation(family, num))?;
                self.on(args, &ins)
            }
            NumFamily::Int => self.word(family, num, args),
            NumFamily::Uint => self.word(family, num, args),
        }
    }

    fn float(&mut self, num: NumOp, args: &[OOOperand]) -> Result<(), Lack> {
        let ins = match num {
            NumOp::IsTrue => return self.on(args, &[Ins::F64Const(0.0.into()), Ins::F64Ne]),
            NumOp::Neg => Ins::F64Neg,
            NumOp::Abs => Ins::F64Abs,
            NumOp::Add => Ins::F64Add,
            NumOp::Sub => Ins::F64Sub,
            NumOp::Mul => Ins::F64Mul,
            NumOp::TrueDiv => Ins::F64Div,
            NumOp::Lt => Ins::F64Lt,
            NumOp::Le => Ins::F64Le,
            NumOp::Eq => Ins::F64Eq,
            NumOp::Ne => Ins::F64Ne,
            NumOp::Gt => Ins::F64Gt,
            NumOp::Ge => Ins::F64Ge,
            _ => return Err(no_operation(NumFamily::Float, num)),
        };
        self.on(args, &[ins])
    }

    /// Integers of 64 bits.
    fn word(&mut self, family: NumFamily, num: NumOp, args: &[OOOperand]) -> Result<(), Lack> {
        let signed = family == NumFamily::Int;
        let pick = |yes: Ins, no: Ins| if signed { yes } else { no };
        let ins = match num {
            NumOp::IsTrue => return self.on(args, &[Ins::I64Const(0), Ins::I64Ne]),
            NumOp::Neg => {
                self.out.push(Ins::I64Const(0));
                return self.on(args, &[Ins::I64Sub]);
            }
            NumOp::Invert => return self.on(args, &[Ins::I64Const(-1), Ins::I64Xor]),
            NumOp::Abs if signed => return self.absolute(&args[0]),
            NumOp::Abs => return self.on(args, &[]),
            NumOp::FloorDiv | NumOp::Mod => return self.divide(signed, num, args),
            NumOp::LShift | NumOp::RShift => return self.shift(signed, num, args),
            NumOp::TrueDiv => return Err(no_operation(family, num)),
            NumOp::Add => Ins::I64Add,
            NumOp::Sub => Ins::I64Sub,
            NumOp::Mul => Ins::I64Mul,
            NumOp::And => Ins::I64And,
            NumOp::Or => Ins::I64Or,
            NumOp::Xor => Ins::I64Xor,
            NumOp::Eq => Ins::I64Eq,
            NumOp::Ne => Ins::I64Ne,
            NumOp::Lt => pick(Ins::I64LtS, Ins::I64LtU),
            NumOp::Le => pick(Ins::I64LeS, Ins::I64LeU),
            NumOp::Gt => pick(Ins::I64GtS, Ins::I64GtU),
            NumOp::Ge => pick(Ins::I64GeS, Ins::I64GeU),
        };
        self.on(args, &[ins])
    }

    /// Pushes an operand that is used several times, and returns the local that it is in.
    pub(super) fn kept(&mut self, o: &OOOperand) -> Result<u32, Lack> {
        if let Some(local) = self.local_of(o) {
            return Ok(local);
        }
        let local = self.temporary(ValType::I64);
        self.on(std::slice::from_ref(o), &[Ins::LocalSet(local)])?;
        Ok(local)
    }

    fn absolute(&mut self, o: &OOOperand) -> Result<(), Lack> {
        let a = self.kept(o)?;
        self.out.extend([
            Ins::I64Const(0),
            Ins::LocalGet(a),
            Ins::I64Sub,
            Ins::LocalGet(a),
            Ins::LocalGet(a),
            Ins::I64Const(0),
            Ins::I64LtS,
            Ins::Select,
        ]);
        Ok(())
    }

    /// Division that truncates.
    fn divide(&mut self, signed: bool, num: NumOp, args: &[OOOperand]) -> Result<(), Lack> {
        let ins = match (signed, num) {
            (true, NumOp::FloorDiv) => Ins::I64DivS,
            (true, _) => Ins::I64RemS,
            (false, NumOp::FloorDiv) => Ins::I64DivU,
            (false, _) => Ins::I64RemU,
        };
        let overflows = matches!(ins, Ins::I64DivS) && known(&args[1]).is_none_or(|n| n == -1);
        if !overflows {
            return self.on(args, &[ins]);
        }
        let (a, b) = (self.kept(&args[0])?, self.kept(&args[1])?);
        self.out.extend([
            Ins::LocalGet(b),
            Ins::I64Const(-1),
            Ins::I64Eq,
            Ins::If(BlockType::Result(ValType::I64)),
            Ins::I64Const(0),
            Ins::LocalGet(a),
            Ins::I64Sub,
            Ins::Else,
            Ins::LocalGet(a),
            Ins::LocalGet(b),
            ins,
            Ins::End,
        ]);
        Ok(())
    }

    fn shift(&mut self, signed: bool, num: NumOp, args: &[OOOperand]) -> Result<(), Lack> {
        let ins = match (signed, num) {
            (_, NumOp::LShift) => Ins::I64Shl,
            (true, _) => Ins::I64ShrS,
            (false, _) => Ins::I64ShrU,
        };
        if known(&args[1]).is_some_and(|n| (0..64).contains(&n)) {
            return self.on(args, &[ins]);
        }
        if matches!(ins, Ins::I64ShrS) {
            // By at most 63 places.
            self.push(&args[0])?;
            let n = self.kept(&args[1])?;
            self.out.extend([
                Ins::LocalGet(n),
                Ins::I64Const(63),
                Ins::LocalGet(n),
                Ins::I64Const(63),
                Ins::I64LtU,
                Ins::Select,
                ins,
            ]);
            return Ok(());
        }
        self.push(&args[0])?;
        let n = self.kept(&args[1])?;
        self.out.extend([
            Ins::LocalGet(n),
            ins,
            Ins::I64Const(0),
            Ins::LocalGet(n),
            Ins::I64Const(64),
            Ins::I64LtU,
            Ins::Select,
        ]);
        Ok(())
    }

    /// `int_between(low, value, high)`
    pub(super) fn between(&mut self, args: &[OOOperand]) -> Result<(), Lack> {
        let [low, value, high] = args else {
            return Err(Lack::Operation("int_between".into()));
        };
        let v = self.kept(value)?;
        self.push(low)?;
        self.out
            .extend([Ins::LocalGet(v), Ins::I64LeS, Ins::LocalGet(v)]);
        self.push(high)?;
        self.out.extend([Ins::I64LtS, Ins::I32And]);
        Ok(())
    }

    /// `int_force_ge_zero`
    pub(super) fn not_negative(&mut self, o: &OOOperand) -> Result<(), Lack> {
        let a = self.kept(o)?;
        self.out.extend([
            Ins::I64Const(0),
            Ins::LocalGet(a),
            Ins::LocalGet(a),
            Ins::I64Const(0),
            Ins::I64LtS,
            Ins::Select,
        ]);
        Ok(())
    }

    /// An operation at the end of its block: stores its result, and pushes whether it overflows.
    pub(crate) fn overflowing(&mut self, op: &Operation<ObjectOriented>) -> Result<(), Lack> {
        let OOOp::Low(LLOp::Plain(plain)) = op.op else {
            return Err(Lack::Operation(op.op.to_string()));
        };
        let (a, b) = (self.kept(&op.args[0])?, self.kept(&op.args[1])?);
        let ins = match plain {
            PlainOp::IntAddOvf | PlainOp::IntAddNonnegOvf => Ins::I64Add,
            PlainOp::IntSubOvf => Ins::I64Sub,
            PlainOp::IntMulOvf => Ins::I64Mul,
            other => return Err(Lack::Operation(other.name().to_owned())),
        };
        let r = self.temporary(ValType::I64);
        self.out.extend([
            Ins::LocalGet(a),
            Ins::LocalGet(b),
            ins.clone(),
            Ins::LocalTee(r),
        ]);
        self.store(op.result)?;
        match ins {
            Ins::I64Mul => {
                self.out.extend([Ins::LocalGet(a), Ins::LocalGet(b)]);
                self.call_glue(Glue::MulOverflows);
            }
            // The sign of the result differs from that of both operands; of a difference, from the first one alone.
            _ => {
                let other = if matches!(ins, Ins::I64Add) { r } else { a };
                self.out.extend([
                    Ins::LocalGet(a),
                    Ins::LocalGet(r),
                    Ins::I64Xor,
                    Ins::LocalGet(b),
                    Ins::LocalGet(other),
                    Ins::I64Xor,
                    Ins::I64And,
                    Ins::I64Const(0),
                    Ins::I64LtS,
                ]);
            }
        }
        Ok(())
    }
}

/// Comparison of characters.
fn small(num: NumOp) -> Option<Vec<Ins>> {
    Some(match num {
        NumOp::IsTrue => vec![Ins::I32Const(0), Ins::I32Ne],
        NumOp::Lt => vec![Ins::I32LtU],
        NumOp::Le => vec![Ins::I32LeU],
        NumOp::Eq => vec![Ins::I32Eq],
        NumOp::Ne => vec![Ins::I32Ne],
        NumOp::Gt => vec![Ins::I32GtU],
        NumOp::Ge => vec![Ins::I32GeU],
        _ => return None,
    })
}

pub(super) fn known(o: &OOOperand) -> Option<i128> {
    match o {
        OOOperand::Const(c @ LLConst::Int(..)) => const_word(c),
        _ => None,
    }
}

pub(super) fn no_operation(family: NumFamily, num: NumOp) -> Lack {
    Lack::Operation(format!("{}_{}", family.name(), num.name()))
}
