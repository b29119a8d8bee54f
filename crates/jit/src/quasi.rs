//! Writes to fields that seldom change, in code of the interpreter (RPython:
//! `jit_force_quasi_immutable`).

use taipan_graph::Operation;
use taipan_lltype::{LLGraph, LLOperand, LowLevel, NamedOperands, PlainOp, Program, VOID, View};

use crate::purity::{field_of, is_quasi_immutable};

/// What has to come before an operation, if it writes such a field.
fn before_write<'o>(
    graph: &LLGraph,
    op: &'o Operation<LowLevel>,
    program: &dyn Program,
) -> Option<View<'o, LLOperand>> {
    let View::Setfield { object, field, .. } = op.view_among(&[PlainOp::Setfield])? else {
        return None;
    };
    let (container, name) = field_of(graph, object, field)?;
    is_quasi_immutable(program, container, name)
        .then_some(View::JitForceQuasiImmutable { object, field })
}

/// Whether a graph as the RTyper made it writes fields that seldom change.
pub fn writes_quasi_immutable(graph: &LLGraph, program: &dyn Program) -> bool {
    let mut operations = graph.blocks.iter().flat_map(|b| &b.operations);
    operations.any(|op| before_write(graph, op, program).is_some())
}

/// Puts `jit_force_quasi_immutable(object, field)` before each write of such a field: it tells
/// the compiler of a running program, which may have taken for granted that it stays as it is.
pub fn force_quasi_immutable(graph: &mut LLGraph, program: &dyn Program) {
    for b in 0..graph.blocks.len() {
        let operations = std::mem::take(&mut graph.blocks[b].operations);
        let mut out = Vec::with_capacity(operations.len());
        for op in operations {
            if let Some(force) = before_write(graph, &op, program) {
                out.push(force.operation(graph.new_var("", *VOID), op.at));
            }
            out.push(op);
        }
        graph.blocks[b].operations = out;
    }
}
