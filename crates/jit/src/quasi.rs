//! Writes to fields that seldom change, in code of the interpreter (RPython:
//! `jit_force_quasi_immutable`).

use taipan_graph::Operation;
use taipan_lltype::{LLGraph, LowLevel, PlainOp, Program, VOID};

use crate::purity::{field_name, is_quasi_immutable, operand_ty};

/// Whether an operation writes such a field.
fn is_write(graph: &LLGraph, op: &Operation<LowLevel>, program: &dyn Program) -> bool {
    let container = || operand_ty(graph, op.args.first()?).pointee();
    op.op == PlainOp::Setfield.into()
        && (container().zip(field_name(op.args.get(1))))
            .is_some_and(|(t, name)| is_quasi_immutable(program, t, name))
}

/// Whether a graph as the RTyper made it writes fields that seldom change.
pub fn writes_quasi_immutable(graph: &LLGraph, program: &dyn Program) -> bool {
    let mut operations = graph.blocks.iter().flat_map(|b| &b.operations);
    operations.any(|op| is_write(graph, op, program))
}

/// Puts `jit_force_quasi_immutable(object, field)` before each write of such a field: it tells
/// the compiler of a running program, which may have taken for granted that it stays as it is.
pub fn force_quasi_immutable(graph: &mut LLGraph, program: &dyn Program) {
    for b in 0..graph.blocks.len() {
        let operations = std::mem::take(&mut graph.blocks[b].operations);
        let mut out = Vec::with_capacity(operations.len());
        for op in operations {
            if is_write(graph, &op, program) {
                out.push(Operation {
                    op: PlainOp::JitForceQuasiImmutable.into(),
                    args: op.args[..2].iter().cloned().collect(),
                    result: graph.new_var("", *VOID),
                    at: op.at,
                });
            }
            out.push(op);
        }
        graph.blocks[b].operations = out;
    }
}
