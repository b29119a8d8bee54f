//! The graph of a function from the RTyper's to the one that code is made of, and what is said of it.

#![allow(missing_docs, reason = "salsa generates undocumented accessors")]

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use taipan_base::{Db, noted};
use taipan_codegen::{Reference, graph_references};
use taipan_graph::Const;
use taipan_interp::{ObjData, Object, object};
use taipan_language::{NEVER_INLINED, PassStage};
use taipan_lltype::{FuncKind, FuncSym, LLGraph, StaticSym};
use taipan_transform::{Inlining, Summaries, Summary, gc_transform, optimize, simplify_graph};

use crate::Key;
use crate::function::LLFunction;
use crate::stages::drivers::entered;
use crate::stages::pass_counts::with_passes;
use crate::stages::stage_cache::{
    Question, Recorder, Search, content_key, keep, keep_graph, kept_graph, search, start,
};

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

/// A stage whose graphs are kept in the cache, with enough beside each for all who do not read the
/// graph itself: what is said of a function at that stage is taken from there, or from its graph.
trait Stage {
    /// Kind of the cache entries, and what logs call the stage.
    const NAME: &'static str;

    /// Passes up to that step make a difference to the graphs.
    const PASSES: PassStage;

    /// Whether graphs themselves are kept: making a simplified one is little more than reading it.
    const KEEPS_GRAPHS: bool;

    /// The hash of what the stage's graph is made from.
    fn input(db: &dyn Db, f: LLFunction) -> Option<Key>;

    /// The query that looks for what is kept: [`Stage::search`].
    fn kept(db: &dyn Db, f: LLFunction) -> Search<Arc<KeptGraph>>;

    /// The query of the graph: [`Stage::restore_or_make`].
    fn graph(db: &dyn Db, f: LLFunction) -> Option<Arc<LLGraph>>;

    /// Makes the graph. What it asks for beside its input it asks the recorder.
    fn make(db: &dyn Db, f: LLFunction, recorder: &Recorder<'_>) -> Option<LLGraph>;

    /// Looks for what is kept.
    fn search(db: &dyn Db, f: LLFunction) -> Search<Arc<KeptGraph>> {
        let _timed = taipan_base::timed(db);
        let roots = f.roots(db);
        let input = Self::input(db, f);
        let start =
            input.and_then(|input| start(db, roots, Self::NAME, Self::PASSES, f.sym(db), input));
        search(db, roots, Self::NAME, start)
    }

    /// The kept graph, or the one that is made, which is then kept.
    fn restore_or_make(db: &dyn Db, f: LLFunction) -> Option<Arc<LLGraph>> {
        let _timed = taipan_base::timed(db);
        let kept = search_of(db, f, Self::kept);
        let roots = f.roots(db);
        let recorder = Recorder::new(db, roots, &[]);
        let Some(store) = db.artifacts() else {
            return Self::make(db, f, &recorder).map(Arc::new);
        };
        if let Some(found) = kept.found() {
            if !store.verifies()
                && let Some(graph) = kept_graph(store, found.key)
            {
                store.restored(Self::NAME, &|| f.sym(db).name().to_owned());
                return Some(Arc::new(graph));
            }
            let graph = Self::make(db, f, &recorder)?;
            if store.verifies() {
                let now = content_key(&graph).map(|key| KeptGraph::new(key, &graph));
                assert!(
                    now.as_ref() == Some(&**found),
                    "the cached {} differs",
                    Self::NAME
                );
            }
            return Some(Arc::new(graph));
        }
        let graph = Self::make(db, f, &recorder)?;
        if let Search::Missing(_) = kept {
            let key = if Self::KEEPS_GRAPHS {
                keep_graph(store, &graph)
            } else {
                content_key(&graph)
            };
            if let Some(key) = key {
                let result = KeptGraph::new(key, &graph);
                keep(db, roots, Self::NAME, &kept, recorder.asked(), result);
            }
        }
        Some(Arc::new(graph))
    }

    /// What is said of the graph: from what is kept, or else from the graph.
    fn said<T>(
        db: &dyn Db,
        f: LLFunction,
        of_kept: impl FnOnce(&KeptGraph) -> T,
        of_graph: impl FnOnce(&LLGraph) -> Option<T>,
    ) -> Option<T> {
        match search_of(db, f, Self::kept) {
            Search::Found(kept) => Some(of_kept(&kept)),
            _ => of_graph(&*Self::graph(db, f)?),
        }
    }

    /// The hash of the graph.
    fn key(db: &dyn Db, f: LLFunction) -> Option<Key> {
        Self::said(db, f, |kept| kept.key, content_key)
    }

    /// What callers want to know of the graph.
    fn summary(db: &dyn Db, f: LLFunction) -> Option<Arc<Summary>> {
        let of_graph = |graph: &LLGraph| Some(Arc::new(taipan_transform::summary(graph)));
        Self::said(db, f, |kept| kept.summary.clone(), of_graph)
    }

    /// What the graph mentions.
    fn mentions(db: &dyn Db, f: LLFunction) -> Option<Arc<Mentioned>> {
        let of_graph = |graph: &LLGraph| Some(Arc::new(Mentioned::of(graph)));
        Self::said(db, f, |kept| kept.mentioned.clone(), of_graph)
    }
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
    /// What the program, or the prelude, says of inlining a function.
    pub(crate) fn inlining(db, f: LLFunction) -> Inlining {
        let func = match f.sym(db).kind() {
            FuncKind::User { func, .. } => func,
            FuncKind::Helper { name, .. } if NEVER_INLINED.contains(&&**name) => {
                return Inlining::Never;
            }
            _ => return Inlining::BySize,
        };
        let key = Object::new(db, f.roots(db).program(db), *func);
        let Some(ObjData::Function(function)) = object(db, key).as_deref() else {
            return Inlining::BySize;
        };
        let says = |name| match function.get(name) {
            Some(Const::Bool(b)) => *b,
            // `@try_inline`
            Some(c) => c.as_str() == Some("try"),
            None => false,
        };
        match (says("_dont_inline_"), says("_always_inline_")) {
            (true, _) => Inlining::Never,
            (_, true) => Inlining::Always,
            _ => Inlining::BySize,
        }
    }
}

/// Functions simplified by themselves: what callers inline.
struct Simplified;

impl Stage for Simplified {
    const NAME: &'static str = "simplified";
    const PASSES: PassStage = PassStage::Simplify;
    const KEEPS_GRAPHS: bool = false;

    fn input(db: &dyn Db, f: LLFunction) -> Option<Key> {
        entered_key(db, f)
    }

    fn kept(db: &dyn Db, f: LLFunction) -> Search<Arc<KeptGraph>> {
        kept_simplified(db, f)
    }

    fn graph(db: &dyn Db, f: LLFunction) -> Option<Arc<LLGraph>> {
        simplified(db, f)
    }

    fn make(db: &dyn Db, f: LLFunction, recorder: &Recorder<'_>) -> Option<LLGraph> {
        let graph = entered(db, f.roots(db), f.sym(db))?.ok()?;
        // Where the annotator found a mistake, the graph has nothing behind its first block. `explain` of an edit reads it.
        let is_broken = graph.block(graph.startblock).exits.is_empty();
        (!is_broken).then(|| with_passes(db, f, |p| simplify_graph(&graph, recorder, p)))
    }
}

/// Functions with their callees inlined, optimised.
struct Optimized;

impl Stage for Optimized {
    const NAME: &'static str = "optimized";
    const PASSES: PassStage = PassStage::Optimize;
    const KEEPS_GRAPHS: bool = true;

    fn input(db: &dyn Db, f: LLFunction) -> Option<Key> {
        simplified_key(db, f)
    }

    fn kept(db: &dyn Db, f: LLFunction) -> Search<Arc<KeptGraph>> {
        kept_optimized(db, f)
    }

    fn graph(db: &dyn Db, f: LLFunction) -> Option<Arc<LLGraph>> {
        optimized_graph(db, f)
    }

    fn make(db: &dyn Db, f: LLFunction, recorder: &Recorder<'_>) -> Option<LLGraph> {
        let graph = simplified(db, f)?;
        Some(with_passes(db, f, |p| {
            optimize(f.sym(db), &graph, recorder, p)
        }))
    }
}

noted! {
    /// What is kept of [`simplified`](fn@simplified).
    fn kept_simplified(db, f: LLFunction) -> Search<Arc<KeptGraph>> {
        Simplified::search(db, f)
    }
}

noted! {
    /// A function simplified by itself: what callers inline. None where there is no graph.
    pub(crate) fn simplified(db, f: LLFunction) -> Option<Arc<LLGraph>> {
        Simplified::restore_or_make(db, f)
    }
}

noted! {
    /// The hash of a simplified function.
    pub(crate) fn simplified_key(db, f: LLFunction) -> Option<Key> {
        Simplified::key(db, f)
    }
}

noted! {
    /// Summary of a simplified function, with what its decorators say of inlining it.
    pub(crate) fn simplified_summary(db, f: LLFunction) -> Option<Arc<Summary>> {
        let summary = Simplified::summary(db, f)?;
        Some(match inlining(db, f) {
            Inlining::BySize => summary,
            inlining => Arc::new(Summary { inlining, ..(*summary).clone() }),
        })
    }
}

noted! {
    /// What a simplified function mentions.
    pub(crate) fn simplified_mentions(db, f: LLFunction) -> Option<Arc<Mentioned>> {
        Simplified::mentions(db, f)
    }
}

noted! {
    /// What is kept of [`optimized`](fn@optimized).
    fn kept_optimized(db, f: LLFunction) -> Search<Arc<KeptGraph>> {
        Optimized::search(db, f)
    }
}

noted! {
    /// A function with its callees inlined, optimised.
    fn optimized(db, f: LLFunction) -> Option<Held> {
        Optimized::restore_or_make(db, f).map(Held::new)
    }
}

/// The graph of [`optimized`](fn@optimized).
pub(crate) fn optimized_graph(db: &dyn Db, f: LLFunction) -> Option<Arc<LLGraph>> {
    let graph = optimized(db, f)?.get();
    graph.or_else(|| Optimized::restore_or_make(db, f))
}

/// The same for the code generator, the last reader of the graph.
fn last_optimized_graph(db: &dyn Db, f: LLFunction) -> Option<Arc<LLGraph>> {
    if !db.ends_with_command() {
        return optimized_graph(db, f);
    }
    let graph = optimized(db, f)?.take();
    graph.or_else(|| Optimized::restore_or_make(db, f))
}

/// A graph until its last reader takes it out. It can be made again.
#[derive(Clone, Debug)]
pub(crate) struct Held(Arc<Mutex<Option<Arc<LLGraph>>>>);

impl Held {
    fn new(graph: Arc<LLGraph>) -> Held {
        Held(Arc::new(Mutex::new(Some(graph))))
    }

    fn slot(&self) -> MutexGuard<'_, Option<Arc<LLGraph>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self) -> Option<Arc<LLGraph>> {
        self.slot().clone()
    }

    fn take(&self) -> Option<Arc<LLGraph>> {
        self.slot().take()
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Held) -> bool {
        // One after the other: both may be the same.
        let (own, others) = (self.get(), other.get());
        own == others
    }
}

impl Eq for Held {}

noted! {
    /// The hash of an optimised function.
    pub(crate) fn optimized_key(db, f: LLFunction) -> Option<Key> {
        Optimized::key(db, f)
    }
}

noted! {
    /// Summary of an optimised function.
    pub(crate) fn optimized_summary(db, f: LLFunction) -> Option<Arc<Summary>> {
        Optimized::summary(db, f)
    }
}

noted! {
    /// What an optimised function mentions.
    pub(crate) fn optimized_mentions(db, f: LLFunction) -> Option<Arc<Mentioned>> {
        Optimized::mentions(db, f)
    }
}

noted! {
    /// Whether the collector may call a finalizer by itself.
    pub(crate) fn light_finalizer(db, f: LLFunction) -> bool {
        let roots = f.roots(db);
        taipan_transform::is_light_finalizer(f.sym(db), &mut |f| {
            optimized_graph(db, LLFunction::new(db, roots, f.clone()))
        })
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
        make_exceptions(db, f)
    }
}

fn make_exceptions(db: &dyn Db, f: LLFunction) -> Option<Traced> {
    let _timed = taipan_base::timed(db);
    let graph = last_optimized_graph(db, f)?;
    let recorder = Recorder::new(db, f.roots(db), &[]);
    let own = recorder.effects(f.sym(db));
    let graph = taipan_transform::exception_transform(&graph, own, &recorder);
    Some(Traced::new(db, graph, recorder))
}

noted! {
    /// A function after the GC transform.
    pub(crate) fn gc(db, f: LLFunction) -> Option<Traced> {
        make_gc(db, f)
    }
}

fn make_gc(db: &dyn Db, f: LLFunction) -> Option<Traced> {
    let _timed = taipan_base::timed(db);
    let before = if db.ends_with_command() {
        make_exceptions(db, f)?
    } else {
        exceptions(db, f)?
    };
    let recorder = Recorder::new(db, f.roots(db), &before.asked);
    let graph = with_passes(db, f, |p| gc_transform(&before.graph, &recorder, p));
    Some(Traced::new(db, graph, recorder))
}

/// [`gc`](fn@gc) for its only reader: kept for later rounds, if there are any.
pub(crate) fn gc_once(db: &dyn Db, f: LLFunction) -> Option<Traced> {
    if db.ends_with_command() {
        make_gc(db, f)
    } else {
        gc(db, f)
    }
}
