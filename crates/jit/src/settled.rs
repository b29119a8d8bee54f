//! Fields that are only written while their object is constructed, but are not in `_immutable_fields_`. The log names
//! them, since the declaration would remove reads from residual code.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use taipan_graph::{ObjId, VarId};
use taipan_lltype::{FuncSym, LLGraph, LLOperand, NamedOperands, PlainOp, StructId, View};

use crate::purity::{field_of, handed_on, operand_ty};

/// A field of a class, as low-level code calls it.
pub type ClassField = (ObjId, Arc<str>);

/// Fields that a function writes in other objects than those under construction, which are the objects that it
/// allocated and the `self` of `__init__`. The graph is in SSI form.
pub fn rewritten_fields(f: &FuncSym, graph: &LLGraph) -> BTreeSet<ClassField> {
    let mut new = None;
    let mut out = BTreeSet::new();
    for b in graph.reachable() {
        for op in &graph.block(b).operations {
            let Some(View::Setfield {
                object,
                field,
                value,
            }) = op.view_among(&[PlainOp::Setfield])
            else {
                continue;
            };
            let Some((container, name)) = field_of(graph, object, field) else {
                continue;
            };
            let Some(StructId::Instance(class)) = container.as_struct().map(|s| &s.id) else {
                continue;
            };
            if !name.starts_with("inst_") || operand_ty(graph, value).is_void() {
                continue;
            }
            let new = new.get_or_insert_with(|| new_objects(f, graph));
            if !object.as_var().is_some_and(|v| new.contains(&v)) {
                out.insert((*class, name.into()));
            }
        }
    }
    out
}

/// The variables that only hold objects under construction.
fn new_objects(f: &FuncSym, graph: &LLGraph) -> FxHashSet<VarId> {
    let blocks = graph.reachable();
    let mut new: FxHashSet<VarId> = FxHashSet::default();
    let last = f.name().rsplit('.').next();
    if last.is_some_and(|name| name.starts_with("__init__")) {
        new.extend(graph.block(graph.startblock).inputargs.first());
    }
    // Start with all variables and remove the others until nothing changes.
    for b in blocks.iter().map(|b| graph.block(*b)) {
        for op in &b.operations {
            let made = [PlainOp::Malloc.into(), PlainOp::MallocVarsize.into()].contains(&op.op);
            if made || handed_on(op).is_some() {
                new.insert(op.result);
            }
        }
        for link in &b.exits {
            new.extend(&graph.block(link.target).inputargs);
        }
    }
    loop {
        let is_old = |o: &LLOperand| !o.as_var().is_some_and(|v| new.contains(&v));
        let mut old = Vec::new();
        for b in blocks.iter().map(|b| graph.block(*b)) {
            let handed = b
                .operations
                .iter()
                .filter(|op| handed_on(op).is_some_and(is_old));
            old.extend(handed.map(|op| op.result));
            for link in &b.exits {
                let inputs = graph.block(link.target).inputargs.iter().zip(&link.args);
                old.extend(inputs.filter(|(_, a)| is_old(a)).map(|(v, _)| *v));
            }
        }
        let before = new.len();
        for v in old {
            new.remove(&v);
        }
        if new.len() == before {
            return new;
        }
    }
}
