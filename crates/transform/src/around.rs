//! What passes know of a program besides the graph at hand.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_graph::{Operation, VarId};
use taipan_lltype::{
    EFFECT, FuncKind, FuncSym, LLConst, LLGraph, LLOp, LLOperand, LLType, LowLevel, NamedOperands,
    PlainOp, Program, TypeKind, View, VoidConst,
};

use crate::calls::{Callees, callees, external_effects};
use crate::memory::Kind;
use crate::ssa::type_of;

/// How a call accesses memory of one kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CallAccess {
    /// Not at all.
    None,
    /// It may read it.
    Reads,
    /// It may write it.
    Writes,
}

/// Memory of one kind, in whatever object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part<'a> {
    /// A field of a struct type.
    Field(LLType, &'a str),
    /// Items of an array type.
    Items(LLType),
    /// Any other.
    Other,
}

/// What is known of the functions that code calls, where their graphs are not at hand.
pub trait CallFacts {
    /// Calls with equal arguments give the same result, and do nothing else.
    fn is_elidable(&self, f: &FuncSym) -> bool;

    /// Calls look for a key in a dict, the first argument. The result depends on the arguments and the dict's index, and
    /// the index stays as it is.
    fn is_search(&self, f: &FuncSym) -> bool;

    /// A call may leave an exception.
    fn can_raise(&self, f: &FuncSym) -> bool;

    /// What a call does to memory of the heap.
    fn access(&self, f: &FuncSym, part: Part<'_>) -> CallAccess;
}

/// What passes may ask.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a> {
    pub(crate) program: &'a dyn Program,
    /// Where it is known what single functions do.
    pub(crate) calls: Option<&'a dyn CallFacts>,
    /// Where the graph at hand gives fields their values.
    pub(crate) initialised: Option<&'a Initialised>,
}

/// What an operation that is no store to a single place may write.
pub(crate) enum Effect<'a> {
    /// Nothing that loads read.
    None,
    /// What one of these functions writes.
    Calls(&'a [FuncSym]),
    /// Anything.
    Anything,
}

impl<'a> Around<'a> {
    /// A program of which no more is known.
    pub(crate) fn program(program: &'a dyn Program) -> Self {
        Around {
            program,
            calls: None,
            initialised: None,
        }
    }

    /// What an operation may write that is no store to a single place.
    pub(crate) fn effect<'o>(&self, op: &'o Operation<LowLevel>) -> Effect<'o> {
        if op.op.flags() & EFFECT == 0 || is_harmless(op) {
            return Effect::None;
        }
        match (self.calls, callees(op)) {
            (Some(_), Callees::Known(fs)) => Effect::Calls(fs),
            _ => Effect::Anything,
        }
    }

    /// What calling one of these functions does to memory of a kind.
    pub(crate) fn access(&self, fs: &[FuncSym], kind: &Kind) -> CallAccess {
        let Some(facts) = self.calls else {
            return CallAccess::Writes;
        };
        let of = |f: &FuncSym| match kind.is_raw() {
            false if let Some(index) = kind.index() => match facts.is_search(f) {
                true => CallAccess::Reads,
                false => index
                    .map(|part| facts.access(f, part))
                    .into_iter()
                    .max()
                    .unwrap_or(CallAccess::Writes),
            },
            // It is not known who accesses raw memory.
            true if facts.is_elidable(f) => CallAccess::Reads,
            true => CallAccess::Writes,
            false => facts.access(f, kind.part()),
        };
        fs.iter().map(of).max().unwrap_or(CallAccess::Writes)
    }

    /// Whether a call may raise, if it can be merged with equal ones; none for all other operations.
    pub(crate) fn elidable(&self, op: &Operation<LowLevel>) -> Option<bool> {
        self.raises_if(op, |facts, f| facts.is_elidable(f))
    }

    /// Whether a call that looks for a key in a dict may raise; none for all other operations.
    pub(crate) fn search(&self, op: &Operation<LowLevel>) -> Option<bool> {
        self.raises_if(op, |facts, f| facts.is_search(f))
    }

    /// Whether a call may raise, if it has a single target with a property; none for all other operations.
    fn raises_if(
        &self,
        op: &Operation<LowLevel>,
        has: impl Fn(&dyn CallFacts, &FuncSym) -> bool,
    ) -> Option<bool> {
        let facts = self.calls?;
        match (op.op, callees(op)) {
            (LLOp::Plain(PlainOp::DirectCall), Callees::Known([f])) if has(facts, f) => {
                Some(facts.can_raise(f))
            }
            _ => None,
        }
    }

    /// The same, for a graph of which it is known where it gives fields their values.
    pub(crate) fn of_graph(self, initialised: &'a Initialised) -> Self {
        Around {
            initialised: Some(initialised),
            ..self
        }
    }

    /// Whether a field of an object keeps its value that programs declare so with
    /// `_immutable_fields_`. Many programs write such an attribute once more, later; where facts of
    /// calls are known, fields for which that was found are not among those.
    pub(crate) fn believes(&self, ty: LLType, field: &str, object: &LLOperand) -> bool {
        let known = self.initialised.filter(|_| self.calls.is_some());
        known.is_some_and(|i| i.keeps(ty, field, object))
    }
}

/// Where a graph in SSA form gives fields their values: in objects that it makes, or in others,
/// which have not got them all yet.
#[derive(Default)]
pub(crate) struct Initialised {
    /// Fields that are written through pointers to objects that may be made elsewhere.
    elsewhere: FxHashSet<(LLType, Arc<str>)>,
    made: FxHashSet<VarId>,
    /// What was cast.
    casts: FxHashMap<VarId, VarId>,
}

impl Initialised {
    /// Those of a graph, where something depends on it.
    pub(crate) fn of(g: &LLGraph, around: Around<'_>) -> Initialised {
        let mut all = Initialised::default();
        if around.calls.is_none() {
            return all;
        }
        let operations = || g.blocks.iter().flat_map(|b| &b.operations);
        for op in operations() {
            match op.view() {
                View::Malloc { .. } => _ = all.made.insert(op.result),
                View::CastPointer {
                    value: LLOperand::Var(v),
                }
                | View::SameAs {
                    value: LLOperand::Var(v),
                } => _ = all.casts.insert(op.result, *v),
                _ => {}
            }
        }
        for op in operations() {
            if let View::Setfield { object, field, .. } | View::BareSetfield { object, field, .. } =
                op.view()
                && let LLOperand::Const(LLConst::Void(VoidConst::Field(name))) = field
                && !all.is_made(object)
                && let Some(ty) = type_of(g, object).pointee()
            {
                all.elsewhere.insert((ty, name.clone()));
            }
        }
        all
    }

    fn is_made(&self, object: &LLOperand) -> bool {
        let mut of = object.as_var();
        while let Some(v) = of {
            if self.made.contains(&v) {
                return true;
            }
            of = self.casts.get(&v).copied();
        }
        false
    }

    fn keeps(&self, ty: LLType, field: &str, object: &LLOperand) -> bool {
        !self.is_made(object) && !self.elsewhere.contains(&(ty, field.into()))
    }
}

/// Whether an operation with an effect leaves memory that loads read alone.
fn is_harmless(op: &Operation<LowLevel>) -> bool {
    use PlainOp::*;
    if let Callees::Known([f]) = callees(op) {
        // The runtime's functions write to strings at the most, C functions to where
        // pointers lead, libraries to where they ever led.
        let own = matches!(f.kind(), FuncKind::External { library: None, .. });
        let raw =
            |t: &LLType| matches!(t.kind(), TypeKind::Ptr(_) | TypeKind::Address) && !t.is_gc_ptr();
        return own
            && !f.ty().args.iter().any(raw)
            && external_effects(f).is_some_and(|e| !e.can_collect);
    }
    matches!(
        op.op,
        LLOp::Plain(
            Malloc
                | MallocVarsize
                | Keepalive
                | DebugAssert
                | JitMarker
                | JitNote
                | JitForceQuasiImmutable
                | JitInvalidated
                | JitCount
                | Hint
                | DebugStartTraceback
                | DebugRecordTraceback
                | DebugCatchException
                | DebugReraiseTraceback
                | IntAddOvf
                | IntAddNonnegOvf
                | IntSubOvf
                | IntMulOvf
        )
    )
}

/// Whether an operation asks whether the call before it has raised.
pub(crate) fn asks_for_exception(op: &Operation<LowLevel>) -> bool {
    matches!(op.view(), View::ExcOccurred {})
}
