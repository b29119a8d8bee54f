//! Both engines on random small graphs.

use std::cell::Cell;

use taipan_fuzz::{Choices, Target};
use taipan_graph::{ExitCase, ExitSwitch, Link, Operation, VarId, assert_valid};
use taipan_language::Machine;
use taipan_lltype::{
    BOOL, CHAR, FLOAT, FuncKind, FuncSym, FuncType, LLConst, LLGraph, LLOp, LLOperand, LLType,
    LLValue, LowLevel, NumFamily, NumOp, OBJECT, OBJECT_VTABLE, PlainOp, SIGNED, TableProgram,
    UNSIGNED,
};

use super::templates::run_unit;
use super::{run_llinterp, run_native};
use crate::template::Templates;

/// Mostly small, sometimes at the edges.
fn any_int(choices: &mut Choices<'_>) -> i64 {
    match choices.below(8) {
        0 => choices.of(&[i64::MIN, i64::MAX, -1, 1 << 32, -1 << 31]),
        1 => choices.number() as i64,
        _ => choices.between(-8..12),
    }
}

/// Builds a graph with a loop of a fixed number of rounds whose body is random.
struct Maker<'a, 'c> {
    r: &'a mut Choices<'c>,
    g: LLGraph,
    block: taipan_graph::BlockId,
    /// Variables of the block, by type.
    vars: Vec<VarId>,
}

impl Maker<'_, '_> {
    fn constant(&mut self, ty: LLType) -> LLConst {
        if ty == *SIGNED {
            LLConst::signed(any_int(self.r))
        } else if ty == *UNSIGNED {
            let v = any_int(self.r) as u64;
            LLConst::int(taipan_graph::IntKind::UNSIGNED, i128::from(v))
        } else if ty == *FLOAT {
            let v = self.r.of(&[0.0, 1.5, -2.25, 1e10, 0.1]);
            LLConst::Float(f64::to_bits(v))
        } else if ty == *BOOL {
            LLConst::Bool(self.r.below(2) == 0)
        } else {
            LLConst::Char(self.r.number() as u8)
        }
    }

    fn operand(&mut self, ty: LLType) -> LLOperand {
        let vars: Vec<VarId> = (self.vars.iter().copied())
            .filter(|v| *self.g.ty(*v) == ty)
            .collect();
        if vars.is_empty() || self.r.below(5) == 0 {
            return LLOperand::Const(self.constant(ty));
        }
        self.r.of(&vars).into()
    }

    fn push(&mut self, op: LLOp, args: Vec<LLOperand>, ty: LLType) -> VarId {
        let result = self.g.new_var("", ty);
        self.g.block_mut(self.block).operations.push(Operation {
            op,
            args: args.into_iter().collect(),
            result,
            at: 0,
        });
        self.vars.push(result);
        result
    }

    fn operation(&mut self) {
        use NumOp::*;
        let (int, uint) = (NumFamily::Int, NumFamily::Uint);
        match self.r.below(13) {
            0..=3 => {
                let family = self.r.of(&[int, uint]);
                let ty = if family == int { *SIGNED } else { *UNSIGNED };
                let num = self.r.of(&[Add, Sub, Mul, And, Or, Xor]);
                let args = vec![self.operand(ty), self.operand(ty)];
                self.push(LLOp::Num(family, num), args, ty);
            }
            4 => {
                let family = self.r.of(&[int, uint]);
                let ty = if family == int { *SIGNED } else { *UNSIGNED };
                let num = self.r.of(&[LShift, RShift]);
                let by = LLOperand::Const(LLConst::signed(self.r.below(64) as i64));
                let args = vec![self.operand(ty), by];
                self.push(LLOp::Num(family, num), args, ty);
            }
            5 => {
                let family = self.r.of(&[int, uint]);
                let ty = if family == int { *SIGNED } else { *UNSIGNED };
                // A divisor that is never zero.
                let one = LLOperand::Const(self.one(ty));
                let divisor = self.operand(ty);
                let divisor = self.push(LLOp::Num(family, Or), vec![divisor, one], ty);
                let num = self.r.of(&[FloorDiv, Mod]);
                let args = vec![self.operand(ty), divisor.into()];
                self.push(LLOp::Num(family, num), args, ty);
            }
            6 => {
                let family = self.r.of(&[int, uint, NumFamily::Float, NumFamily::Char]);
                let ty = match family {
                    NumFamily::Int => *SIGNED,
                    NumFamily::Uint => *UNSIGNED,
                    NumFamily::Float => *FLOAT,
                    _ => *CHAR,
                };
                let num = self.r.of(&[Lt, Le, Eq, Ne, Gt, Ge]);
                let args = vec![self.operand(ty), self.operand(ty)];
                self.push(LLOp::Num(family, num), args, *BOOL);
            }
            7 => {
                let num = self.r.of(&[Add, Sub, Mul, TrueDiv]);
                let args = vec![self.operand(*FLOAT), self.operand(*FLOAT)];
                self.push(LLOp::Num(NumFamily::Float, num), args, *FLOAT);
            }
            8 => {
                let num = self.r.of(&[Neg, Abs, Invert]);
                let arg = self.operand(*SIGNED);
                self.push(LLOp::Num(int, num), vec![arg], *SIGNED);
            }
            9 => {
                let (op, from, to) = self.r.of(&[
                    (PlainOp::CastBoolToInt, *BOOL, *SIGNED),
                    (PlainOp::CastIntToUint, *SIGNED, *UNSIGNED),
                    (PlainOp::CastUintToInt, *UNSIGNED, *SIGNED),
                    (PlainOp::CastIntToFloat, *SIGNED, *FLOAT),
                    (PlainOp::CastUintToFloat, *UNSIGNED, *FLOAT),
                    (PlainOp::CastIntToChar, *SIGNED, *CHAR),
                    (PlainOp::CastCharToInt, *CHAR, *SIGNED),
                    (PlainOp::BoolNot, *BOOL, *BOOL),
                    (PlainOp::CastPrimitive, *SIGNED, *UNSIGNED),
                    (PlainOp::IntForceGeZero, *SIGNED, *SIGNED),
                ]);
                let arg = self.operand(from);
                self.push(op.into(), vec![arg], to);
            }
            10 => {
                let args = vec![self.operand(*UNSIGNED), self.operand(*UNSIGNED)];
                self.push(PlainOp::UintMulHigh.into(), args, *UNSIGNED);
            }
            11 => {
                let args = (0..3).map(|_| self.operand(*SIGNED)).collect();
                self.push(PlainOp::IntBetween.into(), args, *BOOL);
            }
            _ => {
                let op = self
                    .r
                    .of(&[PlainOp::IntAddOvf, PlainOp::IntSubOvf, PlainOp::IntMulOvf]);
                // Rarely, or nearly every graph would raise.
                if self.r.below(4) == 0 {
                    let args = vec![self.operand(*SIGNED), self.operand(*SIGNED)];
                    self.push(op.into(), args, *SIGNED);
                }
            }
        }
    }

    fn one(&self, ty: LLType) -> LLConst {
        let kind = if ty == *SIGNED {
            taipan_graph::IntKind::SIGNED
        } else {
            taipan_graph::IntKind::UNSIGNED
        };
        LLConst::int(kind, 1)
    }

    /// A block that takes values of these types.
    fn new_block(&mut self, types: &[LLType]) -> taipan_graph::BlockId {
        let vars = types.iter().map(|t| self.g.new_var("", *t)).collect();
        self.g.new_block(vars)
    }

    fn enter(&mut self, block: taipan_graph::BlockId) {
        self.block = block;
        self.vars = self.g.block(block).inputargs.clone();
    }

    fn link(&mut self, to: taipan_graph::BlockId, first: Vec<LLOperand>) -> Link<LowLevel> {
        let inputs = self.g.block(to).inputargs.clone();
        let mut args = first;
        for v in &inputs[args.len()..] {
            let ty = *self.g.ty(*v);
            args.push(self.operand(ty));
        }
        Link::new(to, args)
    }

    fn finish(&mut self, switch: ExitSwitch<LowLevel>, exits: Vec<Link<LowLevel>>) {
        let block = self.g.block_mut(self.block);
        block.exitswitch = switch;
        block.exits = exits;
    }
}

/// `start -> head -> body -> (left | right | ...) -> head`, `head -> return`.
fn random_program(r: &mut Choices<'_>) -> (TableProgram, Vec<LLValue>) {
    let result = r.of(&[*SIGNED, *SIGNED, *FLOAT, *UNSIGNED]);
    let g = LLGraph::new("f", result, OBJECT_VTABLE.ptr(), OBJECT.ptr());
    let block = g.startblock;
    let vars = Vec::new();
    let mut m = Maker { r, g, block, vars };
    let args: Vec<LLType> = vec![*SIGNED, *SIGNED, *UNSIGNED, *FLOAT];
    let inputs: Vec<VarId> = args.iter().map(|t| m.g.new_var("", *t)).collect();
    m.g.block_mut(block).inputargs = inputs;
    let types = [*SIGNED, *SIGNED, *UNSIGNED, *FLOAT, *BOOL, *CHAR, *SIGNED];
    let (head, body) = (m.new_block(&types), m.new_block(&types));
    m.enter(m.g.startblock);
    (0..m.r.below(6)).for_each(|_| m.operation());
    let zero = LLOperand::Const(LLConst::signed(0));
    let link = m.link(head, vec![zero]);
    m.finish(ExitSwitch::None, vec![link]);

    m.enter(head);
    let count = m.vars[0];
    let rounds = LLOperand::Const(LLConst::signed(m.r.below(6) as i64));
    let lt = LLOp::Num(NumFamily::Int, NumOp::Lt);
    let more = m.push(lt, vec![count.into(), rounds], *BOOL);
    let mut stop = m.link(m.g.returnblock, Vec::new());
    let mut go_on = m.link(body, vec![count.into()]);
    (stop.case, go_on.case) = (ExitCase::Bool(false), ExitCase::Bool(true));
    m.finish(ExitSwitch::Value(more.into()), vec![stop, go_on]);

    m.enter(body);
    let count = m.vars[0];
    let one = LLOperand::Const(LLConst::signed(1));
    let add = LLOp::Num(NumFamily::Int, NumOp::Add);
    let next = m.push(add, vec![count.into(), one], *SIGNED);
    (0..m.r.below(10)).for_each(|_| m.operation());
    let arms = 2 + m.r.below(4);
    let arm_blocks: Vec<_> = (0..arms).map(|_| m.new_block(&types)).collect();
    let mut exits = Vec::new();
    let switch = if arms == 2 {
        let on = m.operand(*BOOL);
        for (b, case) in arm_blocks.iter().zip([false, true]) {
            let mut link = m.link(*b, vec![next.into()]);
            link.case = ExitCase::Bool(case);
            exits.push(link);
        }
        on
    } else {
        let on = m.operand(*SIGNED);
        for (i, b) in arm_blocks.iter().enumerate() {
            let mut link = m.link(*b, vec![next.into()]);
            link.case = match i + 1 == arms {
                true => ExitCase::Default,
                false => ExitCase::Value(LLConst::signed(i as i64 * 2 - 3)),
            };
            exits.push(link);
        }
        on
    };
    m.finish(ExitSwitch::Value(switch), exits);
    for b in arm_blocks {
        m.enter(b);
        let next = m.vars[0];
        (0..m.r.below(8)).for_each(|_| m.operation());
        let link = m.link(head, vec![next.into()]);
        m.finish(ExitSwitch::None, vec![link]);
    }
    m.g.compact();
    assert_valid(&m.g);

    let ty = FuncType { args, result };
    let name = "f".into();
    let f = FuncSym::new(
        FuncKind::Synth {
            name,
            args: [].into(),
        },
        ty,
    );
    let mut program = TableProgram::default();
    program.functions.push(f);
    program.graphs.insert("f".into(), m.g.into());
    let unsigned = any_int(m.r) as u64;
    let values = vec![
        LLValue::signed(any_int(m.r)),
        LLValue::signed(any_int(m.r)),
        LLValue::Int(taipan_graph::IntKind::UNSIGNED, i128::from(unsigned)),
        LLValue::Float(m.r.below(100) as f64 / 8.0),
    ];
    (program, values)
}

#[test]
fn engines_agree_on_random_graphs() {
    let target = Target::new("machine-code").cases(300).bytes(1024);
    target.run(|choices| {
        let (program, args) = random_program(choices);
        let native = run_native(&program, &args);
        let interpreted = run_llinterp(&program, &args);
        assert_eq!(native, interpreted, "{args:?}");
    });
}

/// Units that are made of templates.
#[test]
fn templates_agree_on_random_graphs() {
    if !Templates::are_for(Machine::HOST) {
        return;
    }
    let made = Cell::new(0);
    let target = Target::new("templates").cases(600).bytes(1024);
    target.run(|choices| {
        let (program, args) = random_program(choices);
        if let Some(native) = run_unit(&program, &args) {
            made.set(made.get() + 1);
            assert_eq!(native, run_llinterp(&program, &args), "{args:?}");
        }
    });
    assert!(made.get() > 100, "{} graphs were compiled", made.get());
}
