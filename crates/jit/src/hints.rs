//! The operation `hint`: a value, and the names of the hints that are set.

use taipan_graph::Operation;
use taipan_lltype::{ConstantOperand, LowLevel, NamedOperands, PlainOp, View};

/// What one `hint` says (RPython: the keywords of `rlib.jit.hint`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Hint {
    /// The value has to be known while compiling, and so what it depends on.
    Concrete,
    /// Compilation goes on once the value is known at run time.
    Promote,
    /// The same of a string, by its characters.
    PromoteString,
    /// The value counts as red. For tests.
    Variable,
    /// The value is red and becomes green where it happens to be known. For tests.
    Forget,
    /// What is reached through the pointer never changes.
    DeepFreeze,
    /// States meet here, whatever path they came along, and stay.
    GlobalMergePoint,
    /// Split states go on in the order in which they were left.
    ReverseSplitQueue,
    /// Other code is going to look into the virtualizable.
    ForceVirtualizable,
    /// Nothing that matters here.
    Other,
}

/// The hint of an operation `hint`; none for another operation.
pub(crate) fn hint_of(op: &Operation<LowLevel>) -> Option<Hint> {
    if op.op != PlainOp::Hint.into() {
        return None;
    }
    let View::Hint { names, .. } = op.view() else {
        return None;
    };
    let known = names.iter().filter_map(|name| {
        Some(match name.as_field()? {
            "concrete" => Hint::Concrete,
            "promote" => Hint::Promote,
            "promote_string" | "promote_unicode" => Hint::PromoteString,
            "variable" | "force_no_const" => Hint::Variable,
            "forget" => Hint::Forget,
            "deepfreeze" => Hint::DeepFreeze,
            "global_merge_point" => Hint::GlobalMergePoint,
            "force_virtualizable" => Hint::ForceVirtualizable,
            "reverse_split_queue" => Hint::ReverseSplitQueue,
            _ => Hint::Other,
        })
    });
    Some(known.fold(Hint::Other, |a, b| if a == Hint::Other { b } else { a }))
}
