//! The stages after rtyping as queries, and the program as each stage shows it.
//!
//! The passes themselves are pure functions of crate `transform`; what they ask about
//! other functions they get from queries here, so that an edit re-runs only the
//! functions whose own graph, or whose callees' summaries, have changed.

#![allow(missing_docs, reason = "salsa generates undocumented accessors")]

use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use taipan_annotator::{RootSet, Roots, Spec};
use taipan_base::{Db, Diagnostic, noted};
use taipan_codegen::{Reference, graph_references};
use taipan_language::Exc;
use taipan_lltype::{
    FuncKind, FuncSym, LLGraph, LLType, Program, StaticData, StaticSym, StructBody, StructId,
};
use taipan_rtyper::{
    RtypedProgram, Typed, TyperError, entry_sym, func_key, func_sym_of, rtyped_graph,
};
use taipan_transform::{Effects, Summaries, Summary};

use crate::Key;
use crate::drivers::{entered, followed, function_hints, portal_graph};
use crate::late_writes::believed_body;
use crate::stage_cache::{
    Question, Recorder, Search, content_key, keep, keep_graph, kept_graph, search, start,
};
use crate::whole::effects_of_program;

/// What is wanted of code. Without one, the fastest.
#[salsa::input(singleton, debug)]
pub struct CodeMode {
    /// Functions may be replaced while frames of their callers are in progress. So they
    /// are not inlined, and callers are prepared for everything that another body may
    /// do: raise, and run the collector, which moves what they have not saved.
    #[returns(copy)]
    pub replaceable: bool,
}

pub(crate) fn code_is_replaceable(db: &dyn Db) -> bool {
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

/// What is done to graphs before the JIT generator reads them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct JitPasses {
    /// The size up to which functions are inlined.
    pub(crate) inline: Option<u32>,
    /// Whether all other optimisations are done.
    pub(crate) optimize: bool,
    /// The function that is specialised, which is never inlined.
    pub(crate) portal: LLFunction,
}

/// Which graphs a [`StageProgram`] shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum GraphStage {
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
pub(crate) struct StageProgram<'db> {
    pub(crate) db: &'db dyn Db,
    pub(crate) roots: Roots,
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
            GraphStage::Optimized => optimized(self.db, key),
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
                if !body.immutable.is_empty() && self.roots.program(self.db).checked(self.db) =>
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
    program: StageProgram<'db>,
}

impl<'db> QuerySummaries<'db> {
    /// The answers about the program with these roots.
    pub(crate) fn new(db: &'db dyn Db, roots: Roots) -> Self {
        QuerySummaries {
            program: StageProgram::new(db, roots, GraphStage::Optimized),
        }
    }

    fn key(&self, f: &FuncSym) -> LLFunction {
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
                || self.program.roots.program(db).checked(db) && !is_small())
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

/// What an earlier process left of a stage's graph: enough for all who do not read the
/// graph itself.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct KeptGraph {
    /// The hash of the graph, under which it is kept.
    key: Key,
    summary: Arc<Summary>,
    mentioned: Arc<Mentioned>,
}

impl KeptGraph {
    fn new(key: Key, graph: &LLGraph) -> KeptGraph {
        KeptGraph {
            key,
            summary: Arc::new(taipan_transform::summary(graph)),
            mentioned: Arc::new(Mentioned::of(graph)),
        }
    }
}

/// The functions and prebuilt data that a graph mentions, in order.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Mentioned {
    pub(crate) functions: Vec<FuncSym>,
    pub(crate) statics: Vec<StaticSym>,
}

impl Mentioned {
    fn of(graph: &LLGraph) -> Mentioned {
        let mut out = Mentioned::default();
        graph_references(graph, &mut |r| match r {
            Reference::Func(f) => out.functions.push(f.clone()),
            Reference::Static(s) => out.statics.push(s.clone()),
        });
        out
    }
}

/// The graph of a stage: the kept one, or what `make` makes, which is then kept.
fn restore_or_make(
    db: &dyn Db,
    f: LLFunction,
    stage: &'static str,
    kept: &Search<Arc<KeptGraph>>,
    make: impl FnOnce(&Recorder<'_>) -> Option<LLGraph>,
) -> Option<Arc<LLGraph>> {
    let roots = f.roots(db);
    let recorder = Recorder::new(db, roots, &[]);
    let Some(store) = db.artifacts() else {
        return make(&recorder).map(Arc::new);
    };
    if let Some(found) = kept.found() {
        if !store.verifies()
            && let Some(graph) = kept_graph(store, found.key)
        {
            store.restored(stage, &|| f.sym(db).name().to_owned());
            return Some(Arc::new(graph));
        }
        let graph = make(&recorder)?;
        if store.verifies() {
            let now = content_key(&graph).map(|key| KeptGraph::new(key, &graph));
            assert!(now.as_ref() == Some(&**found), "the cached {stage} differs");
        }
        return Some(Arc::new(graph));
    }
    let graph = make(&recorder)?;
    if let Search::Missing(_) = kept {
        // Simplifying a graph is little more than reading one.
        let key = match stage {
            SIMPLIFIED => content_key(&graph),
            _ => keep_graph(store, &graph),
        };
        if let Some(key) = key {
            let result = KeptGraph::new(key, &graph);
            keep(db, roots, stage, kept, recorder.asked(), result);
        }
    }
    Some(Arc::new(graph))
}

/// The answer of a query that searches the cache, if there is one.
pub(crate) fn search_of<T>(
    db: &dyn Db,
    f: LLFunction,
    query: impl Fn(&dyn Db, LLFunction) -> Search<T>,
) -> Search<T> {
    match db.artifacts() {
        Some(_) => query(db, f),
        None => Search::Off,
    }
}

noted! {
    /// The hash of what the graph of a function is before any pass.
    fn entered_key(db, f: LLFunction) -> Option<Key> {
        content_key(&*entered(db, f.roots(db), f.sym(db))?.ok()?)
    }
}

noted! {
    /// What is kept of [`simplified`].
    fn kept_simplified(db, f: LLFunction) -> Search<Arc<KeptGraph>> {
        let _timed = taipan_base::timed(db);
        let start =
            entered_key(db, f).and_then(|input| start(db, f.roots(db), SIMPLIFIED, f.sym(db), input));
        search(db, f.roots(db), SIMPLIFIED, start)
    }
}

const SIMPLIFIED: &str = "simplified";

noted! {
    /// A function simplified by itself: what callers inline. None where there is no graph.
    pub(crate) fn simplified(db, f: LLFunction) -> Option<Arc<LLGraph>> {
        let _timed = taipan_base::timed(db);
        let kept = search_of(db, f, kept_simplified);
        restore_or_make(db, f, SIMPLIFIED, &kept, |r| {
            let graph = entered(db, f.roots(db), f.sym(db))?.ok()?;
            Some(taipan_transform::simplify_graph(&graph, r))
        })
    }
}

noted! {
    /// The hash of a simplified function.
    pub(crate) fn simplified_key(db, f: LLFunction) -> Option<Key> {
        match search_of(db, f, kept_simplified) {
            Search::Found(kept) => Some(kept.key),
            _ => content_key(&*simplified(db, f)?),
        }
    }
}

noted! {
    /// Summary of a simplified function.
    pub(crate) fn simplified_summary(db, f: LLFunction) -> Option<Arc<Summary>> {
        match search_of(db, f, kept_simplified) {
            Search::Found(kept) => Some(kept.summary.clone()),
            _ => Some(Arc::new(taipan_transform::summary(&*simplified(db, f)?))),
        }
    }
}

noted! {
    /// What a simplified function mentions.
    pub(crate) fn simplified_mentions(db, f: LLFunction) -> Option<Arc<Mentioned>> {
        match search_of(db, f, kept_simplified) {
            Search::Found(kept) => Some(kept.mentioned.clone()),
            _ => Some(Arc::new(Mentioned::of(&*simplified(db, f)?))),
        }
    }
}

noted! {
    /// What is kept of [`optimized`].
    fn kept_optimized(db, f: LLFunction) -> Search<Arc<KeptGraph>> {
        let _timed = taipan_base::timed(db);
        let start =
            simplified_key(db, f).and_then(|input| start(db, f.roots(db), OPTIMIZED, f.sym(db), input));
        search(db, f.roots(db), OPTIMIZED, start)
    }
}

const OPTIMIZED: &str = "optimized";

noted! {
    /// A function with its callees inlined, optimised.
    pub(crate) fn optimized(db, f: LLFunction) -> Option<Arc<LLGraph>> {
        let _timed = taipan_base::timed(db);
        let kept = search_of(db, f, kept_optimized);
        restore_or_make(db, f, OPTIMIZED, &kept, |r| {
            let graph = simplified(db, f)?;
            Some(taipan_transform::optimize(f.sym(db), &graph, r))
        })
    }
}

noted! {
    /// The hash of an optimised function.
    pub(crate) fn optimized_key(db, f: LLFunction) -> Option<Key> {
        match search_of(db, f, kept_optimized) {
            Search::Found(kept) => Some(kept.key),
            _ => content_key(&*optimized(db, f)?),
        }
    }
}

noted! {
    /// Summary of an optimised function.
    pub(crate) fn optimized_summary(db, f: LLFunction) -> Option<Arc<Summary>> {
        match search_of(db, f, kept_optimized) {
            Search::Found(kept) => Some(kept.summary.clone()),
            _ => Some(Arc::new(taipan_transform::summary(&*optimized(db, f)?))),
        }
    }
}

noted! {
    /// What an optimised function mentions.
    pub(crate) fn optimized_mentions(db, f: LLFunction) -> Option<Arc<Mentioned>> {
        match search_of(db, f, kept_optimized) {
            Search::Found(kept) => Some(kept.mentioned.clone()),
            _ => Some(Arc::new(Mentioned::of(&*optimized(db, f)?))),
        }
    }
}

noted! {
    /// Whether the collector may call a finalizer by itself.
    fn light_finalizer(db, f: LLFunction) -> bool {
        let roots = f.roots(db);
        taipan_transform::is_light_finalizer(f.sym(db), &mut |f| {
            optimized(db, LLFunction::new(db, roots, f.clone()))
        })
    }
}

/// What calling a function may do, by function.
pub(crate) type AllEffects = Arc<FxHashMap<FuncSym, Effects>>;

/// Effects of all functions of a program. Read through [`function_effects`].
#[salsa::tracked(returns(clone), no_eq)]
fn program_effects(db: &dyn Db, roots: Roots) -> AllEffects {
    let _timed = taipan_base::timed(db);
    effects_of_program(db, roots)
}

/// The same of simplified functions. Read through [`jit_effects`].
#[salsa::tracked(returns(clone), no_eq)]
fn jit_program_effects(db: &dyn Db, roots: Roots) -> AllEffects {
    let Ok(entries) = root_syms(db, roots) else {
        return Arc::default();
    };
    let stage = GraphStage::Simplified;
    let functions = crate::reach::reachable_here(db, roots, stage, &entries).functions;
    let summaries = functions.into_iter().filter_map(|f| {
        let summary = simplified_summary(db, LLFunction::new(db, roots, f.clone()))?;
        let summary = as_called(db, &f, &summary);
        Some((f, summary))
    });
    Arc::new(taipan_transform::effects(&summaries.collect::<Vec<_>>()))
}

/// What callers have to expect of a function with that summary, without what only concerns the
/// inliner.
pub(crate) fn as_called(db: &dyn Db, f: &FuncSym, summary: &Summary) -> Arc<Summary> {
    // Helpers are what they are, but for what they call.
    let is_replaceable = code_is_replaceable(db) && !matches!(f.kind(), FuncKind::Helper { .. });
    Arc::new(Summary {
        size: 0,
        cost: 0,
        has_loop: false,
        raises: summary.raises || is_replaceable,
        collects: summary.collects || is_replaceable,
        ..summary.clone()
    })
}

noted! {
    /// What calling a function may do.
    pub(crate) fn function_effects(db, f: LLFunction) -> Effects {
        effects_in(&program_effects(db, f.roots(db)), f.sym(db))
    }
}

/// What calling a function may do, as far as simplified graphs tell: of functions that are
/// inlined wherever they are called, too, and before anything is optimised.
#[salsa::tracked(returns(copy))]
pub(crate) fn jit_effects(db: &dyn Db, f: LLFunction) -> Effects {
    effects_in(&jit_program_effects(db, f.roots(db)), f.sym(db))
}

/// Functions that are not listed are inlined wherever the program calls them. Code that is
/// compiled at run time may call them all the same, and recurse that way.
fn effects_in(all: &FxHashMap<FuncSym, Effects>, f: &FuncSym) -> Effects {
    const ANYTHING: Effects = Effects {
        can_raise: true,
        can_collect: true,
        stack_check: true,
    };
    all.get(f).copied().unwrap_or(ANYTHING)
}

/// What the exception transform asks about the functions that the JIT generator reads.
struct JitSummaries<'db>(QuerySummaries<'db>);

impl Summaries for JitSummaries<'_> {
    fn program(&self) -> &dyn Program {
        self.0.program()
    }

    fn summary(&self, f: &FuncSym) -> Option<Arc<Summary>> {
        self.0.summary(f)
    }

    fn simplified(&self, f: &FuncSym) -> Option<Arc<LLGraph>> {
        self.0.simplified(f)
    }

    fn effects(&self, f: &FuncSym) -> Effects {
        jit_effects(self.0.program.db, self.0.key(f))
    }
}

/// A function as the JIT generator reads it: the RTyper's graph, which has the hints and
/// the calls that the program has, after the exception transform. It checks no stack:
/// what is a call here need not be one in residual code. None where there is no graph.
///
/// No cache keeps these: transforming an RTyper's graph is little more than reading one.
#[salsa::tracked(returns(clone))]
pub(crate) fn jit_graph(db: &dyn Db, f: LLFunction) -> Option<Arc<LLGraph>> {
    let _timed = taipan_base::timed(db);
    if let Some(portal) = followed(db, f) {
        return Some(jit_exceptions(db, f, &portal.whole));
    }
    let graph = rtyped(db, f.roots(db), f.sym(db))?.ok()?;
    Some(jit_exceptions(db, f, &graph))
}

/// The same of a graph that is optimised before, with its hints.
#[salsa::tracked(returns(clone))]
fn jit_optimized(db: &dyn Db, f: LLFunction, passes: JitPasses) -> Option<Arc<LLGraph>> {
    if followed(db, f).is_some() {
        return jit_graph(db, f);
    }
    let graph = rtyped(db, f.roots(db), f.sym(db))?.ok()?;
    let summaries = HintedSummaries {
        jit: JitSummaries(QuerySummaries::new(db, f.roots(db))),
        portal: passes.portal.sym(db),
    };
    let graph = taipan_transform::optimize_hinted(
        f.sym(db),
        &graph,
        &summaries,
        passes.inline,
        passes.optimize,
    );
    Some(jit_exceptions(db, f, &graph))
}

/// The same with the way into compiled code.
#[salsa::tracked(returns(clone))]
fn entered_exceptions(db: &dyn Db, f: LLFunction) -> Option<Arc<LLGraph>> {
    let graph = entered(db, f.roots(db), f.sym(db))?.ok()?;
    Some(jit_exceptions(db, f, &graph))
}

fn jit_exceptions(db: &dyn Db, f: LLFunction, graph: &LLGraph) -> Arc<LLGraph> {
    let summaries = JitSummaries(QuerySummaries::new(db, f.roots(db)));
    let own = Effects {
        stack_check: false,
        ..summaries.effects(f.sym(db))
    };
    Arc::new(taipan_transform::exception_transform(
        graph, own, &summaries,
    ))
}

/// What the inliner asks about functions whose hints stay.
struct HintedSummaries<'a, 'db> {
    jit: JitSummaries<'db>,
    portal: &'a FuncSym,
}

impl Summaries for HintedSummaries<'_, '_> {
    fn program(&self) -> &dyn Program {
        self.jit.program()
    }

    fn summary(&self, f: &FuncSym) -> Option<Arc<Summary>> {
        Some(Arc::new(taipan_transform::summary(&*self.simplified(f)?)))
    }

    /// The RTyper's graph; none of functions about whose calls hints say something.
    fn simplified(&self, f: &FuncSym) -> Option<Arc<LLGraph>> {
        let hints = function_hints(self.jit.0.program.db, self.jit.0.key(f));
        let called = hints.elidable || hints.look_inside.is_some() || hints.oopspec.is_some();
        if called || hints.has_merge_point || f == self.portal {
            return None;
        }
        rtyped(self.jit.0.program.db, self.jit.0.program.roots, f)?.ok()
    }

    fn effects(&self, f: &FuncSym) -> Effects {
        self.jit.effects(f)
    }
}

/// A graph with all that was asked on the way to it from the optimised one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Traced {
    pub(crate) graph: Arc<LLGraph>,
    pub(crate) asked: Arc<[Question]>,
}

impl Traced {
    fn new(db: &dyn Db, graph: LLGraph, recorder: Recorder<'_>) -> Traced {
        let asked = match db.artifacts() {
            Some(_) => recorder.asked().into(),
            None => Arc::default(),
        };
        Traced {
            graph: Arc::new(graph),
            asked,
        }
    }
}

noted! {
    /// A function after the exception transform.
    pub(crate) fn exceptions(db, f: LLFunction) -> Option<Traced> {
        let _timed = taipan_base::timed(db);
        let graph = optimized(db, f)?;
        let recorder = Recorder::new(db, f.roots(db), &[]);
        let own = recorder.effects(f.sym(db));
        let graph = taipan_transform::exception_transform(&graph, own, &recorder);
        Some(Traced::new(db, graph, recorder))
    }
}

noted! {
    /// A function after the GC transform.
    pub(crate) fn gc(db, f: LLFunction) -> Option<Traced> {
        let _timed = taipan_base::timed(db);
        let before = exceptions(db, f)?;
        let recorder = Recorder::new(db, f.roots(db), &before.asked);
        let graph = taipan_transform::gc_transform(&before.graph, &recorder);
        Some(Traced::new(db, graph, recorder))
    }
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
