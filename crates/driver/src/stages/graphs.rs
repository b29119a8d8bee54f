//! The stages after rtyping as queries, and the program as each stage shows it.
//!
//! The passes themselves are pure functions of crate `transform`; what they ask about
//! other functions they get from queries here, so that an edit re-runs only the
//! functions whose own graph, or whose callees' summaries, have changed.

#![allow(missing_docs, reason = "salsa generates undocumented accessors")]

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use taipan_base::{Db, noted};
use taipan_codegen::{Reference, graph_references};
use taipan_lltype::{FuncSym, LLGraph, StaticSym};
use taipan_transform::{Summaries, Summary};

use crate::Key;
use crate::function::LLFunction;
use crate::stages::drivers::entered;
use crate::stages::stage_cache::Search;
use crate::stages::stage_cache::start;
use crate::stages::stage_cache::{
    Question, Recorder, content_key, keep, keep_graph, kept_graph, search,
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
    pub(crate) fn light_finalizer(db, f: LLFunction) -> bool {
        let roots = f.roots(db);
        taipan_transform::is_light_finalizer(f.sym(db), &mut |f| {
            optimized(db, LLFunction::new(db, roots, f.clone()))
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
