//! Graphs as the JIT generator wants them.
//!
//! What only helps to find mistakes goes: assertions, traceback records, `keepalive`.
//! The interpreter's stack checks go as well; residual code has its own.

use taipan_graph::{BlockId, Link, Operation, cleanup};
use taipan_lltype::{FuncSym, LLConst, LLGraph, LLOp, LLOperand, OBJECT, OBJECT_VTABLE, PlainOp};

use crate::drivers::{MarkerKind, marker_kind};
use crate::purity::is_silent;

/// Drops what residual code does not need; merge points of drivers only on demand.
pub(crate) fn prepare(graph: &LLGraph, merge_points: bool) -> LLGraph {
    let mut g = graph.clone();
    for block in &mut g.blocks {
        block.operations.retain(|op| match op.op {
            LLOp::Plain(PlainOp::JitMarker) => {
                merge_points && marker_kind(op) == Some(MarkerKind::MergePoint)
            }
            LLOp::Plain(p) => !is_silent(p),
            LLOp::Num(..) => true,
        });
        for op in &mut block.operations {
            if op.op == PlainOp::StackCheck.into() {
                op.op = PlainOp::SameAs.into();
                op.args = [LLOperand::Const(LLConst::Bool(false))]
                    .into_iter()
                    .collect();
            }
        }
        let no_check: Vec<_> = block
            .operations
            .iter()
            .filter(|op| {
                op.op == PlainOp::SameAs.into()
                    && op.args[0] == LLOperand::Const(LLConst::Bool(false))
            })
            .map(|op| (op.result, op.args[0].clone()))
            .collect();
        if !no_check.is_empty() {
            block.substitute(&no_check.into_iter().collect());
        }
    }
    cleanup(&mut g);
    g.compact();
    g
}

/// A graph that does nothing but call a function.
pub(crate) fn call_stub(f: &FuncSym) -> LLGraph {
    let ty = f.ty();
    let mut g = LLGraph::new(f.name(), ty.result, OBJECT_VTABLE.ptr(), OBJECT.ptr());
    let args: Vec<_> = ty.args.iter().map(|t| g.new_var("", *t)).collect();
    let result = g.new_var("", ty.result);
    let callee = LLOperand::Const(LLConst::Func(f.clone()));
    let start = BlockId(0);
    let operands = args.iter().map(|v| LLOperand::Var(*v));
    let call = Operation {
        op: PlainOp::DirectCall.into(),
        args: std::iter::once(callee).chain(operands).collect(),
        result,
        at: 0,
    };
    let exit = Link::new(g.returnblock, vec![LLOperand::Var(result)]);
    let block = g.block_mut(start);
    block.inputargs = args;
    block.operations.push(call);
    block.exits.push(exit);
    g
}
