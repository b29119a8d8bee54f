//! The stages after rtyping as queries, and the program as each stage shows it.
//!
//! The passes themselves are pure functions of crate `transform`; what they ask about
//! other functions they get from queries here, so that an edit re-runs only the
//! functions whose own graph, or whose callees' summaries, have changed.

#![allow(missing_docs, reason = "salsa generates undocumented accessors")]

use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_annotator::{RootSet, Roots, Spec};
use taipan_base::{Db, Diagnostic};
use taipan_lltype::{
    FuncKind, FuncSym, LLGraph, Program, StaticData, StaticSym, StructBody, StructId,
};
use taipan_rtyper::{
    RtypedProgram, Typed, TyperError, entry_sym, func_key, func_sym_of, rtyped_graph,
};
use taipan_transform::{Effects, Summaries, Summary};

/// What is wanted of code. Without one, the fastest.
#[salsa::input(singleton, debug)]
pub struct CodeMode {
    /// Functions may be replaced while frames of their callers are in progress. So they
    /// are not inlined, and callers are prepared for everything that another body may
    /// do: raise, and run the collector, which moves what they have not saved.
    #[returns(copy)]
    pub replaceable: bool,
}

fn code_is_replaceable(db: &dyn Db) -> bool {
    CodeMode::try_get(db).is_some_and(|m| m.replaceable(db))
}

/// A low-level function of a program: the key of the queries here.
#[salsa::interned(unsafe(no_lifetime), revisions = usize::MAX, debug)]
pub struct LLFunction {
    /// The program.
    #[returns(copy)]
    pub roots: Roots,
    /// The function.
    #[returns(ref)]
    pub sym: FuncSym,
}

/// Which graphs a [`StageProgram`] shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum GraphStage {
    /// As the RTyper made them.
    Rtyped,
    /// Optimised.
    Optimized,
    /// With roots and write barriers.
    Gc,
}

/// A program at one stage, for back ends and passes.
pub(crate) struct StageProgram<'db> {
    db: &'db dyn Db,
    roots: Roots,
    stage: GraphStage,
    /// Layouts and prebuilt data are the same at all stages.
    rtyped: RtypedProgram<'db>,
}

impl<'db> StageProgram<'db> {
    /// The program with these roots at that stage.
    pub(crate) fn new(db: &'db dyn Db, roots: Roots, stage: GraphStage) -> Self {
        StageProgram {
            db,
            roots,
            stage,
            rtyped: RtypedProgram::new(db, roots),
        }
    }
}

impl Program for StageProgram<'_> {
    fn graph(&self, f: &FuncSym) -> Option<Arc<LLGraph>> {
        let key = LLFunction::new(self.db, self.roots, f.clone());
        match self.stage {
            GraphStage::Rtyped => rtyped(self.db, self.roots, f)?.ok(),
            GraphStage::Optimized => optimized(self.db, key),
            GraphStage::Gc => gc(self.db, key),
        }
    }

    fn static_data(&self, s: &StaticSym) -> Arc<StaticData> {
        self.rtyped.static_data(s)
    }

    fn struct_body(&self, s: &StructId) -> Arc<StructBody> {
        self.rtyped.struct_body(s)
    }

    fn exception_vtable(&self, name: &str) -> StaticSym {
        self.rtyped.exception_vtable(name)
    }

    fn exception_instance(&self, name: &str) -> StaticSym {
        self.rtyped.exception_instance(name)
    }
}

/// What passes may ask, answered by the queries here.
struct QuerySummaries<'db> {
    program: StageProgram<'db>,
}

impl<'db> QuerySummaries<'db> {
    fn new(db: &'db dyn Db, roots: Roots) -> Self {
        QuerySummaries {
            program: StageProgram::new(db, roots, GraphStage::Optimized),
        }
    }

    fn key(&self, f: &FuncSym) -> LLFunction {
        LLFunction::new(self.program.db, self.program.roots, f.clone())
    }

    /// Whether a function is not to be inlined: its body would go on in frames of its
    /// callers after it has been replaced.
    fn stays_apart(&self, f: &FuncSym) -> bool {
        matches!(f.kind(), FuncKind::User { .. }) && code_is_replaceable(self.program.db)
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

/// The RTyper's graph of a function; none for external ones.
pub(crate) fn rtyped(
    db: &dyn Db,
    roots: Roots,
    f: &FuncSym,
) -> Option<Result<Arc<LLGraph>, Diagnostic>> {
    Some(rtyped_graph(db, func_key(db, roots, f)?))
}

/// A function simplified by itself: what callers inline. None where there is no graph.
#[salsa::tracked(returns(clone))]
pub(crate) fn simplified(db: &dyn Db, f: LLFunction) -> Option<Arc<LLGraph>> {
    let graph = rtyped(db, f.roots(db), f.sym(db))?.ok()?;
    let program = StageProgram::new(db, f.roots(db), GraphStage::Optimized);
    Some(Arc::new(taipan_transform::simplify_graph(&graph, &program)))
}

/// Summary of a simplified function.
#[salsa::tracked(returns(clone))]
pub(crate) fn simplified_summary(db: &dyn Db, f: LLFunction) -> Option<Arc<Summary>> {
    Some(Arc::new(taipan_transform::summary(&*simplified(db, f)?)))
}

/// A function with its callees inlined, optimised.
#[salsa::tracked(returns(clone))]
pub(crate) fn optimized(db: &dyn Db, f: LLFunction) -> Option<Arc<LLGraph>> {
    let graph = simplified(db, f)?;
    let summaries = QuerySummaries::new(db, f.roots(db));
    Some(Arc::new(taipan_transform::optimize(
        f.sym(db),
        &graph,
        &summaries,
    )))
}

/// Summary of an optimised function.
#[salsa::tracked(returns(clone))]
pub(crate) fn optimized_summary(db: &dyn Db, f: LLFunction) -> Option<Arc<Summary>> {
    Some(Arc::new(taipan_transform::summary(&*optimized(db, f)?)))
}

/// Effects of all functions of a program. Read through [`function_effects`].
#[salsa::tracked(returns(clone), no_eq)]
fn program_effects(db: &dyn Db, roots: Roots) -> Arc<FxHashMap<FuncSym, Effects>> {
    let Ok(entries) = root_syms(db, roots) else {
        return Arc::default();
    };
    let functions =
        crate::reach::reachable_here(db, roots, GraphStage::Optimized, &entries).functions;
    let replaceable = code_is_replaceable(db);
    let summaries: Vec<_> = functions
        .into_iter()
        .filter_map(|f| {
            let mut summary = optimized_summary(db, LLFunction::new(db, roots, f.clone()))?;
            // Helpers are what they are, but for what they call.
            if replaceable && !matches!(f.kind(), FuncKind::Helper { .. }) {
                summary = Arc::new(Summary {
                    raises: true,
                    collects: true,
                    ..(*summary).clone()
                });
            }
            Some((f, summary))
        })
        .collect();
    Arc::new(taipan_transform::effects(&summaries))
}

/// What calling a function may do.
#[salsa::tracked(returns(copy))]
pub(crate) fn function_effects(db: &dyn Db, f: LLFunction) -> Effects {
    const ANYTHING: Effects = Effects {
        can_raise: true,
        can_collect: true,
        stack_check: false,
    };
    program_effects(db, f.roots(db))
        .get(f.sym(db))
        .copied()
        .unwrap_or(ANYTHING)
}

/// A function after the exception transform.
#[salsa::tracked(returns(clone))]
pub(crate) fn exceptions(db: &dyn Db, f: LLFunction) -> Option<Arc<LLGraph>> {
    let graph = optimized(db, f)?;
    let own = function_effects(db, f);
    let summaries = QuerySummaries::new(db, f.roots(db));
    Some(Arc::new(taipan_transform::exception_transform(
        &graph, own, &summaries,
    )))
}

/// A function after the GC transform.
#[salsa::tracked(returns(clone))]
pub(crate) fn gc(db: &dyn Db, f: LLFunction) -> Option<Arc<LLGraph>> {
    let graph = exceptions(db, f)?;
    let summaries = QuerySummaries::new(db, f.roots(db));
    Some(Arc::new(taipan_transform::gc_transform(&graph, &summaries)))
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
pub(crate) fn root_syms(db: &dyn Db, roots: Roots) -> Typed<Vec<FuncSym>> {
    match roots.set(db) {
        RootSet::EntryPoint(_) | RootSet::Call { .. } => Ok(vec![root_sym(db, roots)?]),
        RootSet::Tests { .. } | RootSet::Functions(_) => (roots.functions(db).into_iter())
            .map(|f| func_sym_of(db, Spec::new(db, roots, f, "")))
            .collect(),
    }
}
