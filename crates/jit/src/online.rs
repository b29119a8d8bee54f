//! Functions as compilers of drivers read them.
//!
//! Where a compiler for one portal colours all that the portal reaches, one for drivers
//! goes by what it knows when it gets there, as a tracing compiler does: an operation is
//! computed if its operands happen to be known, and a call is followed if it happens to be
//! known which function it is. So each function is timeshifted by itself, and an edit of
//! another one means nothing to it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use taipan_graph::{BlockId, Operation, VarId, find_loops, remove_identical_vars_ssa};
use taipan_lltype::{
    FuncSym, LLGraph, LLOperand, LowLevel, NamedOperands, PlainOp, TypeKind, View,
};

use crate::code::{Arg, TsGraph, TsKind};
use crate::colors::CallColor;
use crate::prepare::{prepare, remove_assertions};
use crate::program::{FunctionHints, JitProgram, PromotedArguments};
use crate::purity::{Purity, call_targets, operand_ty};
use crate::timeshift::{Coloring, NewOps, timeshift_graph};

/// Whether compilers of drivers follow calls of a function (RPython: `JitPolicy`): not
/// into functions with loops, unless they may be unrolled, nor into those that are better
/// left as calls. Of one with a merge point the loop is not followed: see the specialiser.
pub fn looks_inside(hints: &FunctionHints, graph: &LLGraph) -> bool {
    stays_call(hints, graph).is_none()
}

/// Why compilers of drivers do not follow calls of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum StaysCall {
    /// The hint `elidable`.
    Elidable,
    /// The hint `dont_look_inside`.
    DontLookInside,
    /// A loop, without the hint `unroll_safe`.
    Loop,
    /// It sets a parameter of a driver.
    SetsParameter,
    /// A function of the runtime or a C library, which has no graph.
    External,
}

impl StaysCall {
    /// Its name in the log.
    pub fn name(self) -> &'static str {
        match self {
            StaysCall::Elidable => "elidable",
            StaysCall::DontLookInside => "dont_look_inside",
            StaysCall::Loop => "loop",
            StaysCall::SetsParameter => "set_param",
            StaysCall::External => "external",
        }
    }
}

/// Why calls of a function with this graph are not followed. None if they are.
pub fn stays_call(hints: &FunctionHints, graph: &LLGraph) -> Option<StaysCall> {
    let sets = |op: &Operation<LowLevel>| op.op == PlainOp::JitSetParam.into();
    let unrolled = hints.unroll_safe || hints.has_merge_point;
    if hints.elidable {
        Some(StaysCall::Elidable)
    } else if hints.look_inside == Some(false) {
        Some(StaysCall::DontLookInside)
    } else if !unrolled && !find_loops(graph).is_empty() {
        Some(StaysCall::Loop)
    } else if graph.blocks.iter().flat_map(|b| &b.operations).any(sets) {
        Some(StaysCall::SetsParameter)
    } else {
        None
    }
}

/// Timeshifts the graph of a function for compilers of drivers. None on failure.
pub fn timeshift_function(
    program: &dyn JitProgram,
    f: &FuncSym,
    graph: &LLGraph,
) -> Option<Arc<TsGraph>> {
    let mut graph = prepare(graph, true);
    remove_assertions(&mut graph, program);
    // Values that links pass on unchanged get no separate slots: they took most of the specialiser's time on links.
    remove_identical_vars_ssa(&mut graph);
    let online = Online {
        program,
        purity: Purity::new(program),
        graph: &graph,
    };
    let color = match f.ty().result.is_void() {
        true => CallColor::Gray,
        false => CallColor::Red,
    };
    let name = f.name().to_owned();
    timeshift_graph(&online, &graph, name, f.clone(), color)
        .ok()
        .map(Arc::new)
}

struct Online<'a> {
    program: &'a dyn JitProgram,
    purity: Purity<'a>,
    graph: &'a LLGraph,
}

impl Online<'_> {
    /// What a call of one function becomes.
    fn kind(&self, f: &FuncSym) -> TsKind {
        if self.purity.is_elidable(f) {
            TsKind::ElidableCall
        } else if self.program.looks_inside(f) {
            TsKind::Inline(vec![f.clone()])
        } else {
            TsKind::ResidualCall
        }
    }

    /// Promotes the arguments that a function wants known.
    fn promote(&self, f: &FuncSym, op: &Operation<LowLevel>, args: &mut [Arg], t: &mut NewOps<'_>) {
        let wanted = match self.program.hints(f).promote_args {
            None => return,
            Some(wanted) => wanted,
        };
        let View::DirectCall { args: passed, .. } = op.view() else {
            return;
        };
        // The callee comes first.
        for (i, (o, arg)) in passed.iter().zip(&mut args[1..]).enumerate() {
            let ty = operand_ty(self.graph, o);
            let is_wanted = match &wanted {
                PromotedArguments::All => true,
                PromotedArguments::Some(indices) => indices.contains(&i),
            };
            let is_float = matches!(ty.kind(), TypeKind::Float | TypeKind::SingleFloat);
            if is_wanted && o.as_var().is_some() && !ty.is_void() && !is_float {
                let known = t.slot(ty);
                t.push(TsKind::Promote, vec![arg.clone()], Some(known));
                *arg = Arg::Slot(known);
            }
        }
    }
}

impl Coloring for Online<'_> {
    fn program(&self) -> &dyn JitProgram {
        self.program
    }

    fn green(&self, v: VarId) -> bool {
        self.graph.ty(v).is_void()
    }

    fn deepfrozen(&self, _: &LLOperand) -> bool {
        false
    }

    fn call(
        &self,
        _: (BlockId, usize),
        op: &Operation<LowLevel>,
        mut args: Vec<Arg>,
        t: &mut NewOps<'_>,
    ) {
        let direct = op.op == PlainOp::DirectCall.into();
        let kind = match call_targets(op) {
            Some(targets) if direct => {
                self.promote(&targets[0], op, &mut args, t);
                self.kind(&targets[0])
            }
            Some(targets) => {
                let inside = |f: &FuncSym| self.program.looks_inside(f);
                let followed: Vec<FuncSym> = targets.into_iter().filter(inside).collect();
                match followed.is_empty() {
                    true => TsKind::ResidualCall,
                    false => TsKind::Inline(followed),
                }
            }
            None => TsKind::ResidualCall,
        };
        t.push(kind, args, Some(op.result.0));
    }

    fn online(&self) -> bool {
        true
    }
}
