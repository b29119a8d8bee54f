//! Late writes: those to fields that classes call immutable, in objects that compiled code
//! may know already.
//!
//! The tracing JIT believes `_immutable_fields_`, and so would residual code: what it read
//! of a known object stays. A write is right as long as no code can have been compiled for
//! the object: it was made in this function, or in one that passes it here, and since then
//! it was not put where interpreters find it, or none has run.
//!
//! ```text
//! __init__(self, x):                        replace(self, other):
//!     self.x = x          ; right               self.x = other      ; late
//! make(x):
//!     f = F(x)
//!     f.y = x             ; right
//!     frames.append(f)
//!     f.z = x             ; right
//!     run(f)              ; comes by a merge point
//!     f.z = 0             ; late
//! ```
//!
//! What a function does by itself (`object_flow.rs`) depends on its graph alone. What becomes of
//! its objects follows from that and from what its callees do with their arguments
//! (`facts.rs`); then it goes from the functions that write a field of an argument back to those
//! that call them. What is done before the first interpreter runs is right in any case. All
//! that is kept up to date function by function (`joined.rs`).

mod facts;
mod joined;
mod object_flow;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use taipan_graph::{ObjId, Operation};
use taipan_lltype::{
    FuncSym, LLGraph, LLType, LowLevel, NamedOperands, PlainOp, Program, StructId, View,
};

use crate::purity::{field_of, is_immutable_field, operand_ty};

pub use joined::LateWrites;
pub use object_flow::ObjectFlow;

/// A late write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LateWrite {
    /// The class whose field it is.
    pub class: ObjId,
    /// The field, as low-level code calls it.
    pub field: Arc<str>,
    /// The function that writes, and the instruction.
    pub place: (FuncSym, u32),
    /// If it writes to an object that it was passed: a call that passes one which is not
    /// new, and the function that is called there.
    pub call: Option<(FuncSym, u32, FuncSym)>,
}

fn operations(graph: &LLGraph) -> impl Iterator<Item = &Operation<LowLevel>> {
    let blocks = graph.reachable().into_iter();
    blocks.flat_map(|b| &graph.block(b).operations)
}

/// The class and the field that an operation writes, if the class calls it immutable.
fn written_field(
    program: &dyn Program,
    graph: &LLGraph,
    op: &Operation<LowLevel>,
) -> Option<(ObjId, Arc<str>)> {
    let View::Setfield {
        object,
        field,
        value,
    } = op.view_among(&[PlainOp::Setfield])?
    else {
        return None;
    };
    let (container, name) = field_of(graph, object, field)?;
    let class = instance_of(container).filter(|_| name.starts_with("inst_"))?;
    let holds_nothing = operand_ty(graph, value).is_void();
    (!holds_nothing && is_immutable_field(program, container, name)).then(|| (class, name.into()))
}

fn instance_of(container: LLType) -> Option<ObjId> {
    match container.as_struct()?.id {
        StructId::Instance(class) => Some(class),
        _ => None,
    }
}
