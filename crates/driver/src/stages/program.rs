//! A program at one stage, for back ends and passes, and what passes may ask of it.

use std::sync::Arc;

use taipan_annotator::{RootSet, Roots, Spec};
use taipan_base::{Db, Diagnostic};
use taipan_language::{Collector, Exc, Machine};
use taipan_lltype::{
    FuncKind, FuncSym, LLGraph, LLType, Program, StaticData, StaticSym, StructBody, StructId,
};
use taipan_rtyper::{
    RtypedProgram, Typed, TyperError, entry_sym, func_key, func_sym_of, rtyped_graph,
};
use taipan_transform::{Effects, Summaries, Summary};

use crate::function::LLFunction;
use crate::modes::code_is_replaceable;
use crate::stages::drivers::portal_graph;
use crate::stages::late_writes::believed_body;
use crate::stages::{
    entered_exceptions, function_effects, gc, jit_graph, jit_optimized, light_finalizer,
    optimized_graph, simplified, simplified_summary,
};

/// What is done to graphs before the JIT generator reads them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct JitPasses {
    /// The size up to which functions are inlined.
    pub(crate) inline: Option<u32>,
    /// Whether all other optimisations are done.
    pub(crate) optimize: bool,
    /// The function that is specialised, which is never inlined.
    pub(crate) portal: LLFunction,
}

/// Which graphs a [`StageProgram`] shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GraphStage {
    /// As the RTyper made them.
    Rtyped,
    /// As the low-level interpreter runs them beside compiled code: [`Self::Jit`], with the
    /// way into compiled code (see [`entered`]).
    Entered,
    /// As the JIT generator reads them: see [`jit_graph`].
    Jit,
    /// The same, optimised first: see [`jit_optimized`].
    JitOptimized(JitPasses),
    /// Simplified by itself: what callers inline.
    Simplified,
    /// Optimised.
    Optimized,
    /// With roots and write barriers.
    Gc,
}

/// A program at one stage, for back ends and passes.
pub struct StageProgram<'db> {
    pub(crate) db: &'db dyn Db,
    pub(crate) roots: Roots,
    stage: GraphStage,
    /// Layouts and prebuilt data are the same at all stages.
    rtyped: RtypedProgram<'db>,
}

impl<'db> StageProgram<'db> {
    /// The program with these roots at that stage.
    pub fn new(db: &'db dyn Db, roots: Roots, stage: GraphStage) -> Self {
        StageProgram {
            db,
            roots,
            stage,
            rtyped: RtypedProgram::new(db, roots),
        }
    }

    /// Its roots.
    pub(crate) fn roots(&self) -> Roots {
        self.roots
    }
}

impl Program for StageProgram<'_> {
    fn graph(&self, f: &FuncSym) -> Option<Arc<LLGraph>> {
        let key = LLFunction::new(self.db, self.roots, f.clone());
        match self.stage {
            GraphStage::Rtyped => rtyped(self.db, self.roots, f)?.ok(),
            GraphStage::Entered => entered_exceptions(self.db, key),
            GraphStage::Jit => jit_graph(self.db, key),
            GraphStage::JitOptimized(passes) => jit_optimized(self.db, key, passes),
            GraphStage::Simplified => simplified(self.db, key),
            GraphStage::Optimized => optimized_graph(self.db, key),
            GraphStage::Gc => Some(gc(self.db, key)?.graph),
        }
    }

    fn static_data(&self, s: &StaticSym) -> Arc<StaticData> {
        self.rtyped.static_data(s)
    }

    fn struct_body(&self, s: &StructId) -> Arc<StructBody> {
        let body = self.rtyped.struct_body(s);
        match (self.stage, s) {
            // Only these believe what classes say of their fields.
            (
                GraphStage::Entered | GraphStage::Jit | GraphStage::JitOptimized(_),
                StructId::Instance(class),
            ) => believed_body(self.db, self.roots, *class, body),
            // A class may be wrong about its fields: where code is checked, what they hold
            // is what is there.
            (_, StructId::Instance(_))
                if !body.immutable.is_empty()
                    && self.roots.program(self.db).options(self.db).checked =>
            {
                Arc::new(StructBody {
                    immutable: Vec::new(),
                    ..(*body).clone()
                })
            }
            _ => body,
        }
    }

    fn destructor(&self, ty: LLType) -> Option<FuncSym> {
        self.rtyped.destructor(ty)
    }

    fn collector(&self) -> Collector {
        self.roots.program(self.db).options(self.db).collector
    }

    fn machine(&self) -> Machine {
        self.roots.program(self.db).options(self.db).machine
    }

    fn is_light_destructor(&self, f: &FuncSym) -> bool {
        light_finalizer(self.db, LLFunction::new(self.db, self.roots, f.clone()))
    }

    fn exception_vtable(&self, exception: Exc) -> StaticSym {
        self.rtyped.exception_vtable(exception)
    }

    fn exception_instance(&self, exception: Exc) -> StaticSym {
        self.rtyped.exception_instance(exception)
    }
}

/// The size up to which checked builds inline functions of the program.
const SMALL_IN_CHECKED: u32 = 24;

/// What passes may ask, answered by the queries here.
pub(crate) struct QuerySummaries<'db> {
    pub(super) program: StageProgram<'db>,
}

impl<'db> QuerySummaries<'db> {
    /// The answers about the program with these roots.
    pub(crate) fn new(db: &'db dyn Db, roots: Roots) -> Self {
        QuerySummaries {
            program: StageProgram::new(db, roots, GraphStage::Optimized),
        }
    }

    pub(super) fn key(&self, f: &FuncSym) -> LLFunction {
        LLFunction::new(self.program.db, self.program.roots, f.clone())
    }

    /// Whether a function is not to be inlined: its body would go on in frames of its
    /// callers after it has been replaced, and a checked build would not know that it runs.
    /// There the smallest ones are inlined all the same: what happens in them happens in
    /// the line that calls them.
    fn stays_apart(&self, f: &FuncSym) -> bool {
        let db = self.program.db;
        let is_small =
            || simplified_summary(db, self.key(f)).is_some_and(|s| s.size <= SMALL_IN_CHECKED);
        matches!(f.kind(), FuncKind::User { .. })
            && (code_is_replaceable(db)
                || self.program.roots.program(db).options(db).checked && !is_small())
    }
}

impl Summaries for QuerySummaries<'_> {
    fn program(&self) -> &dyn Program {
        &self.program
    }

    fn summary(&self, f: &FuncSym) -> Option<Arc<Summary>> {
        if self.stays_apart(f) {
            return None;
        }
        simplified_summary(self.program.db, self.key(f))
    }

    fn simplified(&self, f: &FuncSym) -> Option<Arc<LLGraph>> {
        if self.stays_apart(f) {
            return None;
        }
        simplified(self.program.db, self.key(f))
    }

    fn effects(&self, f: &FuncSym) -> Effects {
        function_effects(self.program.db, self.key(f))
    }
}

/// The RTyper's graph of a function, or of the part of one that is a portal; none for
/// external ones.
pub(crate) fn rtyped(
    db: &dyn Db,
    roots: Roots,
    f: &FuncSym,
) -> Option<Result<Arc<LLGraph>, Diagnostic>> {
    if let Some(portal) = portal_graph(db, roots, f) {
        return Some(portal);
    }
    Some(rtyped_graph(db, func_key(db, roots, f)?))
}

/// The function that a program starts with: the entry wrapper, or the function that
/// `taipan call` calls.
pub(crate) fn root_sym(db: &dyn Db, roots: Roots) -> Typed<FuncSym> {
    match roots.set(db) {
        RootSet::EntryPoint(_) => entry_sym(db, roots),
        RootSet::Call { func, .. } => func_sym_of(db, Spec::new(db, roots, *func, "")),
        RootSet::Tests { .. } | RootSet::Functions(_) => {
            Err(TyperError::internal("these roots are many functions"))
        }
    }
}

/// All functions that a program is entered by.
pub fn root_syms(db: &dyn Db, roots: Roots) -> Typed<Vec<FuncSym>> {
    match roots.set(db) {
        RootSet::EntryPoint(_) | RootSet::Call { .. } => Ok(vec![root_sym(db, roots)?]),
        RootSet::Tests { .. } | RootSet::Functions(_) => (roots.functions(db).into_iter())
            .map(|f| func_sym_of(db, Spec::new(db, roots, f, "")))
            .collect(),
    }
}
