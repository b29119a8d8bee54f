//! From graphs to code: constants become words, fields numbers, links moves between variables.

use std::sync::Arc;

use taipan_graph::{ExitCase, ExitSwitch, Link, Operation};
use taipan_lltype::{
    ConstantOperand, FuncSym, LLConst, LLOp, LLOperand, LLType, NumFamily, NumOp, PlainOp,
    VoidConst, is_conversion,
};
use taipan_ootype::{
    OOGraph, OOOp, OOOperand, OOType, ObjectOp, ObjectOriented, inherited, items_field, type_of,
};

use super::heap::Objects;

/// An operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Value {
    /// A variable, by its number.
    Var(u32),
    /// A constant.
    Word(i128),
}

/// The work of an operation on its operands.
#[derive(Clone, Debug)]
pub(super) enum Work {
    Number(NumFamily, NumOp, LLType),
    Overflow(PlainOp),
    /// Between numbers of these types.
    Convert(LLType, LLType),
    /// Any other operation on numbers or on the state of the program.
    Plain(PlainOp),
    Object(ObjectOp),
    /// With values for these fields.
    New(LLType, Box<[usize]>),
    NewItems(LLType),
    GetField(usize),
    SetField(usize),
    /// By the number of the field with the array.
    Shrink(usize),
    /// To a container type, if that says more.
    Cast(Option<LLType>),
    Call(FuncSym),
    /// If the first operand is true.
    CallIf(FuncSym),
    /// If the first operand is zero or null; else that is the result.
    CallUnless(FuncSym),
    /// The method is the first operand.
    CallMethod,
    /// The graph is malformed here.
    Fault(String),
}

pub(super) struct Instruction {
    pub(super) work: Work,
    pub(super) args: Box<[Value]>,
    pub(super) dst: u32,
}

pub(super) struct Jump {
    pub(super) target: usize,
    pub(super) moves: Vec<(Value, u32)>,
}

pub(super) enum Exit {
    Return(Value),
    Goto(Jump),
    /// If true, and if false.
    Branch(Value, Jump, Jump),
    Switch(Value, Vec<(i128, Jump)>, Option<Jump>),
    /// Behind an operation that may overflow: if it does not, and if it does.
    Overflow(Jump, Jump),
    Fault(String),
}

pub(super) struct BlockCode {
    pub(super) instructions: Vec<Instruction>,
    pub(super) exit: Exit,
}

pub(super) struct Code {
    pub(super) func: FuncSym,
    pub(super) graph: Arc<OOGraph>,
    pub(super) blocks: Vec<BlockCode>,
    /// The variables of the arguments that are not Void.
    pub(super) args: Vec<u32>,
}

impl Code {
    /// The operation that an instruction comes from; none at the end of a block.
    pub(super) fn operation(&self, block: usize, i: usize) -> Option<&Operation<ObjectOriented>> {
        self.graph.blocks.get(block)?.operations.get(i)
    }
}

pub(super) fn decode(func: &FuncSym, graph: Arc<OOGraph>, objects: &mut Objects<'_>) -> Code {
    let mut decoder = Decoder {
        graph: &graph,
        objects,
    };
    let blocks = (0..graph.blocks.len()).map(|b| decoder.block(b)).collect();
    let args = graph
        .args()
        .iter()
        .filter(|v| *graph.ty(**v) != OOType::Void);
    Code {
        func: func.clone(),
        blocks,
        args: args.map(|v| v.0).collect(),
        graph,
    }
}

struct Decoder<'a, 'p> {
    graph: &'a OOGraph,
    objects: &'a mut Objects<'p>,
}

fn low(o: &OOOperand) -> LLOperand {
    match o {
        OOOperand::Var(v) => LLOperand::Var(*v),
        OOOperand::Const(c) => LLOperand::Const(c.clone()),
    }
}

impl Decoder<'_, '_> {
    fn block(&mut self, b: usize) -> BlockCode {
        let graph = self.graph;
        let block = &graph.blocks[b];
        let mut instructions = Vec::with_capacity(block.operations.len());
        for op in &block.operations {
            let dst = op.result.0;
            instructions.push(match self.instruction(op) {
                Ok((work, args)) => Instruction { work, args, dst },
                Err(why) => Instruction {
                    work: Work::Fault(why),
                    args: Box::default(),
                    dst,
                },
            });
        }
        let exit = self.exit(b).unwrap_or_else(Exit::Fault);
        BlockCode { instructions, exit }
    }

    fn instruction(
        &mut self,
        op: &Operation<ObjectOriented>,
    ) -> Result<(Work, Box<[Value]>), String> {
        let (work, args) = self.operation(op)?;
        let args: Result<Box<[Value]>, String> = args.into_iter().map(|o| self.value(o)).collect();
        Ok((work, args?))
    }

    fn value(&mut self, o: &OOOperand) -> Result<Value, String> {
        match o {
            OOOperand::Var(v) => Ok(Value::Var(v.0)),
            OOOperand::Const(c) => match self.objects.constant(c) {
                Ok(word) => Ok(Value::Word(word)),
                Err(e) => Err(e.to_string()),
            },
        }
    }

    fn exit(&mut self, b: usize) -> Result<Exit, String> {
        let block = &self.graph.blocks[b];
        let Some(first) = block.exits.first() else {
            return match block.inputargs.as_slice() {
                [result] if b == self.graph.returnblock.index() => {
                    Ok(Exit::Return(Value::Var(result.0)))
                }
                _ => Err("an exception that is not in the state of the program".to_owned()),
            };
        };
        match (&block.exitswitch, block.exits.as_slice()) {
            (ExitSwitch::None, _) => Ok(Exit::Goto(self.jump(first)?)),
            (ExitSwitch::LastException, [done, overflow]) => {
                Ok(Exit::Overflow(self.jump(done)?, self.jump(overflow)?))
            }
            (ExitSwitch::LastException, _) => {
                Err("an operation that raises in the middle of a function".to_owned())
            }
            (ExitSwitch::Value(v), exits) => {
                let v = self.value(v)?;
                let (mut cases, mut default) = (Vec::new(), None);
                for link in exits {
                    let jump = self.jump(link)?;
                    match &link.case {
                        ExitCase::Bool(b) => cases.push((i128::from(*b), jump)),
                        ExitCase::Value(c) => {
                            let case = self.objects.constant(c).map_err(|e| e.to_string())?;
                            cases.push((case, jump));
                        }
                        _ => default = Some(jump),
                    }
                }
                cases.sort_by_key(|c| c.0);
                Ok(match (<[_; 2]>::try_from(cases), default) {
                    (Ok([(0, no), (1, yes)]), None) => Exit::Branch(v, yes, no),
                    (Ok(cases), default) => Exit::Switch(v, cases.into(), default),
                    (Err(cases), default) => Exit::Switch(v, cases, default),
                })
            }
        }
    }

    fn jump(&mut self, link: &Link<ObjectOriented>) -> Result<Jump, String> {
        let to = &self.graph.block(link.target).inputargs;
        let mut moves = Vec::new();
        for (arg, to) in link.args.iter().zip(to) {
            let from = self.value(arg)?;
            if from != Value::Var(to.0) && *self.graph.ty(*to) != OOType::Void {
                moves.push((from, to.0));
            }
        }
        Ok(Jump {
            target: link.target.index(),
            moves,
        })
    }

    /// The work of an operation, and its operands.
    fn operation<'o>(&self, op: &'o Operation<ObjectOriented>) -> Decoded<'o> {
        let args = &op.args[..];
        let result = *self.graph.ty(op.result);
        let plain = match op.op {
            OOOp::Object(object) => return self.object(object, op),
            OOOp::Low(LLOp::Num(family, num)) => {
                return Ok((Work::Number(family, num, result.low()), all(args)));
            }
            OOOp::Low(LLOp::Plain(plain)) => plain,
        };
        Ok(match plain {
            PlainOp::DirectCall => return self.call(args),
            PlainOp::JitConditionalCall => (
                Work::CallIf(function(&args[1])?),
                self.passed(&args[..1], &args[2..]),
            ),
            PlainOp::JitConditionalCallValue => (
                Work::CallUnless(function(&args[1])?),
                self.passed(&args[..1], &args[2..]),
            ),
            PlainOp::IntAddOvf
            | PlainOp::IntAddNonnegOvf
            | PlainOp::IntSubOvf
            | PlainOp::IntMulOvf => (Work::Overflow(plain), all(args)),
            // Messages for people may be of any type.
            PlainOp::DebugAssert => (Work::Plain(plain), all(&args[..1])),
            PlainOp::DebugPrint => (Work::Plain(plain), Vec::new()),
            _ if is_conversion(plain) || plain == PlainOp::ForceCast => {
                let from = type_of(self.graph, &args[0]).low();
                (Work::Convert(from, result.low()), all(args))
            }
            _ => (Work::Plain(plain), all(args)),
        })
    }

    fn object<'o>(&self, object: ObjectOp, op: &'o Operation<ObjectOriented>) -> Decoded<'o> {
        let args = &op.args[..];
        let program = self.objects.program;
        let container = || {
            let ty = type_of(self.graph, &args[0]);
            ty.container().ok_or_else(|| format!("{ty} has no fields"))
        };
        let field = |ty: LLType, name: &OOOperand| {
            let name = low(name);
            let name = name.as_field().ok_or("a field without a name")?;
            match inherited(ty, name, program) {
                Some((i, _)) => Ok(i),
                None => Err(format!("{ty} has no field {name}")),
            }
        };
        Ok(match object {
            ObjectOp::New | ObjectOp::NewItems => {
                let ty = low(&args[0])
                    .as_type()
                    .ok_or("an object of no constant type")?;
                match object {
                    ObjectOp::NewItems => (Work::NewItems(ty), all(&args[1..])),
                    _ => {
                        let names = args.iter().skip(1).step_by(2);
                        let fields: Result<_, String> = names.map(|n| field(ty, n)).collect();
                        let values = args.iter().skip(2).step_by(2);
                        (Work::New(ty, fields?), values.collect())
                    }
                }
            }
            ObjectOp::GetField => (
                Work::GetField(field(container()?, &args[1])?),
                all(&args[..1]),
            ),
            ObjectOp::SetField => (
                Work::SetField(field(container()?, &args[1])?),
                vec![&args[0], &args[2]],
            ),
            ObjectOp::Shrink => {
                let (i, _) = items_field(container()?, program).ok_or("an object without items")?;
                (Work::Shrink(i), all(args))
            }
            ObjectOp::Cast => (Work::Cast(self.graph.ty(op.result).container()), all(args)),
            ObjectOp::Call => return self.call(args),
            other => (Work::Object(other), all(args)),
        })
    }

    /// A call of the first operand with the others.
    fn call<'o>(&self, args: &'o [OOOperand]) -> Decoded<'o> {
        Ok(match function(&args[0]) {
            Ok(f) => (Work::Call(f), self.passed(&[], &args[1..])),
            Err(_) => (Work::CallMethod, self.passed(&args[..1], &args[1..])),
        })
    }

    /// Some operands, and arguments of a call: Void ones are not passed.
    fn passed<'o>(&self, first: &'o [OOOperand], args: &'o [OOOperand]) -> Vec<&'o OOOperand> {
        let args = args
            .iter()
            .filter(|o| type_of(self.graph, o) != OOType::Void);
        first.iter().chain(args).collect()
    }
}

type Decoded<'o> = Result<(Work, Vec<&'o OOOperand>), String>;

fn all(args: &[OOOperand]) -> Vec<&OOOperand> {
    args.iter().collect()
}

/// The function that an operand names.
fn function(o: &OOOperand) -> Result<FuncSym, String> {
    match o {
        OOOperand::Const(LLConst::Func(f) | LLConst::Void(VoidConst::Func(f))) => Ok(f.clone()),
        _ => Err("a call of no known function".to_owned()),
    }
}
