//! From `lltype` to `ootype`, function by function.
//!
//! ```text
//! v1: Char = getinteriorfield(s_0, .chars, i_2)      v3: Array(Array of Char) = oogetfield(s_0, .chars)
//!                                                    v1: Char = oogetitem(v3, i_2)
//! v4: *GcStruct B = cast_pointer(a_1)                v4: Instance(GcStruct B) = oocast(a_1)
//! v5: Signed = indirect_call(m_0, v4, {f, g})        v5: Signed = oocall(m_0, v4)
//! v6: Void = keepalive(v4)
//! ```
//!
//! Containers inside of others become objects that the outer one refers to, so that a pointer to one is a reference.
//! Blocks and links stay as they are.

mod objects;
mod table;

use taipan_graph::{Block, BlockId, ExitCase, ExitSwitch, Graph, Link, Operand, Operation, VarId};
use taipan_lltype::{LLConst, LLGraph, LLOperand, LowLevel, Program, View};

use crate::{Lack, OOGraph, OOOp, OOOperand, OOType, ObjectOp, ObjectOriented, Unsupported};

/// Translates a graph, which has been through the exception transform.
///
/// # Errors
/// The operations that have no translation; variables without one where there is no such operation.
pub fn lower(graph: &LLGraph, program: &dyn Program) -> Result<OOGraph, Vec<Unsupported>> {
    let vars = graph.vars.iter().map(|v| taipan_graph::VarData {
        name: v.name.clone(),
        ty: OOType::of(v.ty),
    });
    let out = Graph {
        name: graph.name.clone(),
        vars: vars.collect(),
        blocks: Vec::new(),
        startblock: graph.startblock,
        returnblock: graph.returnblock,
        exceptblock: graph.exceptblock,
    };
    let mut lowerer = Lowerer {
        graph,
        program,
        out,
        operations: Vec::new(),
        at: 0,
        found: Vec::new(),
    };
    for b in 0..graph.blocks.len() {
        let block = lowerer.block(BlockId(b as u32));
        lowerer.out.blocks.push(block);
    }
    if !lowerer.found.is_empty() {
        return Err(lowerer.found);
    }
    lowerer.check_variables().map_err(|e| vec![e])?;
    lowerer.out.compact();
    Ok(lowerer.out)
}

/// A graph in translation.
struct Lowerer<'a> {
    graph: &'a LLGraph,
    program: &'a dyn Program,
    out: OOGraph,
    /// Those of the current block so far.
    operations: Vec<Operation<ObjectOriented>>,
    /// The current instruction.
    at: u32,
    found: Vec<Unsupported>,
}

impl Lowerer<'_> {
    fn block(&mut self, b: BlockId) -> Block<ObjectOriented> {
        let block = self.graph.block(b);
        for op in &block.operations {
            self.at = op.at;
            if let Err(lack) = self.operation(op) {
                self.found.push(Unsupported { lack, at: op.at });
            }
        }
        let exits = block.exits.iter().map(link).collect();
        Block {
            inputargs: block.inputargs.clone(),
            operations: std::mem::take(&mut self.operations),
            exitswitch: match &block.exitswitch {
                ExitSwitch::None => ExitSwitch::None,
                ExitSwitch::Value(v) => ExitSwitch::Value(operand(v)),
                ExitSwitch::LastException => ExitSwitch::LastException,
            },
            exits,
        }
    }

    /// Whether all variables have values here.
    fn check_variables(&self) -> Result<(), Unsupported> {
        let blocks = self.out.reachable();
        let mut at = 0;
        for b in blocks {
            let block = self.out.block(b);
            let results = block.operations.iter().map(|op| (op.result, op.at));
            let at_entry = block.operations.first().map_or(at, |op| op.at);
            let args = block.inputargs.iter().map(|v| (*v, at_entry));
            for (v, place) in args.chain(results) {
                at = place;
                if matches!(self.out.ty(v), OOType::Raw(_)) {
                    let lack = Lack::RawMemory;
                    return Err(Unsupported { lack, at });
                }
            }
        }
        Ok(())
    }

    /// Adds an operation with a result of its own.
    fn push(&mut self, op: ObjectOp, args: Vec<OOOperand>, ty: OOType) -> OOOperand {
        let result = self.out.new_var("", ty);
        self.emit(op.into(), args, result);
        Operand::Var(result)
    }

    fn emit(&mut self, op: OOOp, args: Vec<OOOperand>, result: VarId) {
        self.operations.push(Operation {
            op,
            args: args.into(),
            result,
            at: self.at,
        });
    }

    /// Adds an operation that has the result of the translated one.
    fn object(&mut self, op: ObjectOp, args: Vec<OOOperand>, result: VarId) {
        self.emit(op.into(), args, result);
    }

    /// The result is this operand.
    fn same(&mut self, value: OOOperand, result: VarId) {
        let op = taipan_lltype::PlainOp::SameAs.into();
        self.emit(OOOp::Low(op), vec![value], result);
    }

    /// The result is this operand, seen as one of the result's type.
    fn cast(&mut self, value: OOOperand, result: VarId) -> Result<(), Lack> {
        let (from, to) = (crate::type_of(&self.out, &value), *self.out.ty(result));
        if from == to {
            self.same(value, result);
        } else if from.is_reference() && to.is_reference() {
            self.object(ObjectOp::Cast, vec![value], result);
        } else {
            return Err(Lack::Addresses);
        }
        Ok(())
    }

    /// The operation as it is.
    fn shared(&mut self, op: &Operation<LowLevel>) {
        let args = op.args.iter().map(operand).collect();
        self.emit(OOOp::Low(op.op), args, op.result);
    }

    /// The operation and its operands.
    fn operation(&mut self, op: &Operation<LowLevel>) -> Result<(), Lack> {
        let view = View::of(op.op, &op.args).ok_or_else(|| Lack::Operation(op.op.to_string()))?;
        self.translate(view, op)
    }
}

/// An operand: variables and constants are the same.
fn operand(o: &LLOperand) -> OOOperand {
    match o {
        Operand::Var(v) => Operand::Var(*v),
        Operand::Const(c) => Operand::Const(c.clone()),
    }
}

fn link(l: &Link<LowLevel>) -> Link<ObjectOriented> {
    Link {
        target: l.target,
        args: l.args.iter().map(operand).collect(),
        case: match &l.case {
            ExitCase::None => ExitCase::None,
            ExitCase::Bool(b) => ExitCase::Bool(*b),
            ExitCase::Value(c) => ExitCase::Value(c.clone()),
            ExitCase::Default => ExitCase::Default,
            ExitCase::Exception(c) => ExitCase::Exception(c.clone()),
        },
        last_exception: l.last_exception,
        last_exc_value: l.last_exc_value,
        at: l.at,
    }
}

/// A Bool.
fn truth(b: bool) -> OOOperand {
    Operand::Const(LLConst::Bool(b))
}
