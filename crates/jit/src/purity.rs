//! Whether a function always gives the same result for the same arguments, and does
//! nothing else (RPython: `ImpurityAnalyzer`).

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_graph::Operation;
use taipan_lltype::{
    ConstantOperand, FuncKind, FuncSym, LLConst, LLGraph, LLOp, LLOperand, LLType, LowLevel,
    NamedOperands, PlainOp, Program, TypeKind, View, VoidConst,
};

use crate::program::JitProgram;
use crate::timeshift::ENSURE_INDEX;

/// Answers by function, kept.
pub(crate) struct Purity<'p> {
    program: &'p dyn JitProgram,
    known: RefCell<FxHashMap<FuncSym, bool>>,
}

/// Whether calls of a function that stay calls can be merged with others.
pub fn is_elidable(program: &dyn JitProgram, f: &FuncSym) -> bool {
    Purity::new(program).is_elidable(f)
}

/// Name of the helper that looks for a key in a dict.
const LOOKUP: &str = "rdict.lookup";
/// First part of the names of helpers of dicts.
const OF_DICTS: &str = "rdict.";

/// Whether a function looks for a key in a dict, its first argument, with a result that depends on the arguments and the
/// dict's index alone. That holds if the functions that hash and compare keys are pure. The first such call of a prebuilt
/// dict makes its index (RPython: `_optimize_CALL_DICT_LOOKUP` of `optimizeopt/heap.py`).
pub fn is_search(program: &dyn JitProgram, f: &FuncSym) -> bool {
    if !is_helper(f, LOOKUP) {
        return false;
    }
    let purity = Purity::new(program);
    let mut seen = FxHashSet::default();
    let mut pending = vec![f.clone()];
    while let Some(f) = pending.pop() {
        let is_own =
            matches!(f.kind(), FuncKind::Helper { name, .. } if name.starts_with(OF_DICTS));
        if is_helper(&f, ENSURE_INDEX) || !is_own && purity.is_pure(&f) || !seen.insert(f.clone()) {
            continue;
        }
        let Some(graph) = program.graph(&f).filter(|_| is_own) else {
            return false;
        };
        let calls = [PlainOp::DirectCall, PlainOp::IndirectCall].map(LLOp::from);
        let blocks = graph.reachable();
        let operations = blocks.iter().flat_map(|b| &graph.block(*b).operations);
        for op in operations.filter(|op| calls.contains(&op.op)) {
            match call_targets(op) {
                Some(fs) => pending.extend(fs),
                None => return false,
            }
        }
    }
    true
}

/// Whether a function is the helper of the prelude with this name, in any variant.
pub(crate) fn is_helper(f: &FuncSym, wanted: &str) -> bool {
    matches!(f.kind(), FuncKind::Helper { name, .. } if &**name == wanted)
}

/// Type of an operand.
pub(crate) fn operand_ty(graph: &LLGraph, o: &LLOperand) -> LLType {
    match o {
        LLOperand::Var(v) => *graph.ty(*v),
        LLOperand::Const(c) => c.ty(),
    }
}

/// The type of the object behind a pointer.
pub(crate) fn pointee(graph: &LLGraph, o: &LLOperand) -> Option<LLType> {
    operand_ty(graph, o).pointee()
}

/// The object behind a pointer, and the name of one of its fields.
pub(crate) fn field_of<'o>(
    graph: &LLGraph,
    object: &LLOperand,
    field: &'o LLOperand,
) -> Option<(LLType, &'o str)> {
    pointee(graph, object).zip(field.as_field())
}

/// Whether a field keeps its value for the life of the object.
pub(crate) fn is_immutable_field(program: &dyn Program, container: LLType, name: &str) -> bool {
    container
        .as_struct()
        .is_some_and(|s| program.body(s).immutable.iter().any(|f| &**f == name))
}

/// Whether a field holds a list whose length and items never change.
pub(crate) fn has_frozen_list(program: &dyn Program, container: LLType, name: &str) -> bool {
    (container.as_struct())
        .is_some_and(|s| program.body(s).frozen_lists.iter().any(|f| &**f == name))
}

/// Whether a field seldom changes.
pub(crate) fn is_quasi_immutable(program: &dyn Program, container: LLType, name: &str) -> bool {
    (container.as_struct())
        .is_some_and(|s| (program.body(s).quasi_immutable.iter()).any(|f| &**f == name))
}

/// Whether the items of an array keep their values.
pub(crate) fn is_immutable_array(container: LLType) -> bool {
    container.as_array().is_some_and(|a| a.immutable)
}

/// The operand that an operation returns unchanged, if it is a cast, a copy or a hint.
pub(crate) fn handed_on(op: &Operation<LowLevel>) -> Option<&LLOperand> {
    match op.view() {
        View::SameAs { value }
        | View::CastPointer { value }
        | View::CastOpaquePtr { value }
        | View::Hint { value, .. } => Some(value),
        _ => None,
    }
}

/// The functions that a call may reach; none if unknown.
pub(crate) fn call_targets(op: &Operation<LowLevel>) -> Option<Vec<FuncSym>> {
    match op.view() {
        View::DirectCall {
            callee: LLOperand::Const(LLConst::Func(f)),
            ..
        } => Some(vec![f.clone()]),
        View::IndirectCall {
            targets: LLOperand::Const(LLConst::Void(VoidConst::Targets(t))),
            ..
        } => Some(t.to_vec()),
        _ => None,
    }
}

impl<'p> Purity<'p> {
    pub(crate) fn new(program: &'p dyn JitProgram) -> Self {
        Purity {
            program,
            known: RefCell::default(),
        }
    }

    /// Whether calls of a function that stay calls give the same for equal arguments, and do
    /// nothing else: it is said so, or it is a helper of the prelude of which that is found.
    pub(crate) fn is_elidable(&self, f: &FuncSym) -> bool {
        let helper = || matches!(f.kind(), FuncKind::Helper { .. });
        self.program.hints(f).elidable
            || helper() && !self.program.looks_inside(f) && self.is_pure(f)
    }

    /// Whether calls of a function are pure.
    pub(crate) fn is_pure(&self, f: &FuncSym) -> bool {
        if let Some(known) = self.known.borrow().get(f) {
            return *known;
        }
        if self.program.hints(f).elidable {
            return true;
        }
        // A cycle of calls adds nothing.
        self.known.borrow_mut().insert(f.clone(), true);
        let pure = match self.program.graph(f) {
            Some(graph) => self.graph_is_pure(&graph),
            None => false,
        };
        self.known.borrow_mut().insert(f.clone(), pure);
        pure
    }

    fn graph_is_pure(&self, graph: &LLGraph) -> bool {
        let blocks = graph.reachable();
        let mut operations = blocks.iter().flat_map(|b| &graph.block(*b).operations);
        operations.all(|op| self.operation_is_pure(graph, op))
    }

    /// Whether an operation is pure. A call is if all that it may reach are.
    pub(crate) fn operation_is_pure(&self, graph: &LLGraph, op: &Operation<LowLevel>) -> bool {
        match op.view() {
            View::DirectCall { .. } | View::IndirectCall { .. } => match call_targets(op) {
                Some(targets) => targets.iter().all(|f| self.is_pure(f)),
                None => false,
            },
            View::Getfield { object, field } => field_of(graph, object, field)
                .is_some_and(|(t, name)| is_immutable_field(self.program, t, name)),
            View::Getarrayitem { array, .. } => {
                pointee(graph, array).is_some_and(is_immutable_array)
            }
            View::Getinteriorfield { object, path } => {
                reads_immutable(self.program, graph, object, path)
            }
            // A callee that raises is impure itself.
            View::ExcOccurred {}
            | View::Hint { .. }
            | View::SameAs { .. }
            | View::Keepalive { .. } => true,
            _ => match op.op {
                LLOp::Num(..) => true,
                LLOp::Plain(p) => is_silent(p) || p.flags() & taipan_lltype::FOLD != 0,
            },
        }
    }
}

/// Operations that only help to find mistakes.
pub(crate) fn is_silent(p: PlainOp) -> bool {
    matches!(
        p,
        PlainOp::DebugAssert
            | PlainOp::DebugPrint
            | PlainOp::DebugStartTraceback
            | PlainOp::DebugRecordTraceback
            | PlainOp::DebugCatchException
            | PlainOp::DebugReraiseTraceback
            | PlainOp::Keepalive
    )
}

/// Follows the path of a `getinteriorfield`: whether what is read there keeps its
/// value.
pub(crate) fn reads_immutable(
    program: &dyn Program,
    graph: &LLGraph,
    object: &LLOperand,
    path: &[LLOperand],
) -> bool {
    let mut ty = pointee(graph, object);
    let mut immutable = false;
    for step in path {
        let Some(container) = ty else {
            return false;
        };
        (ty, immutable) = match (container.kind(), step.as_field()) {
            (TypeKind::Struct(s), Some(name)) => {
                let body = program.body(s);
                let field = body.fields.iter().find(|f| &*f.name == name);
                let immutable = is_immutable_field(program, container, name);
                (field.map(|f| f.ty), immutable)
            }
            (TypeKind::Array(a), None) => (Some(a.of), a.immutable),
            (TypeKind::FixedArray(of, _), None) => (Some(*of), false),
            _ => return false,
        };
    }
    immutable
}
