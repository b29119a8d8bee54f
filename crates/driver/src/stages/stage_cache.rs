//! Results of stages that later processes take over, found by what they were made from.
//!
//! A pass sees one graph, and the rest of the program through two traits,
//! [`Summaries`] and [`Program`]. A [`Recorder`] stands in between and writes down what
//! was asked. What a later process finds is a trace: the questions in order, a hash of
//! the answer to each, and the result. If the answers are still the same, so is the
//! result, and the pass need not run (nor what it would have read be made: the hashes of
//! answers are kept as well).
//!
//! ```text
//! hash(stage, function, input graph)              -> questions, answers, result
//! hash(that, number of a question, other answer)  -> questions, answers, result
//! ```
//!
//! Where an answer differs, the search goes on under a key that says so. Every entry is
//! thus found by content alone and never replaced. Questions are asked in the order in
//! which the pass asked them, and only while the answers agree: so nothing is asked of
//! functions that are no longer there.

#![allow(missing_docs, reason = "salsa generates undocumented accessors")]

use std::cell::RefCell;
use std::sync::Arc;

use rustc_hash::FxHashSet;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use taipan_annotator::Roots;
use taipan_base::{ArtifactStore, Db, noted};
use taipan_language::{Collector, Exc, Machine, PassStage};
use taipan_lltype::{
    FuncSym, LLGraph, Program, StaticData, StaticSym, StructBody, StructId, from_bytes, to_bytes,
};
use taipan_rtyper::{LayoutKey, StaticKey, static_data, struct_body};
use taipan_transform::{Effects, Summaries, Summary};

use crate::function::LLFunction;
use crate::modes::code_is_replaceable;
use crate::stages::{
    GraphStage, QuerySummaries, StageProgram, function_effects, simplified_key, simplified_summary,
};
use crate::{Key, KeyHasher};

/// What a pass asked about the rest of the program.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) enum Question {
    /// [`Summaries::summary`]
    Summary(FuncSym),
    /// [`Summaries::simplified`]
    Simplified(FuncSym),
    /// [`Summaries::effects`]
    Effects(FuncSym),
    /// [`Program::struct_body`]
    StructBody(StructId),
    /// [`Program::static_data`]
    StaticData(StaticSym),
    /// [`Program::exception_vtable`]
    ExceptionVtable(Exc),
    /// [`Program::exception_instance`]
    ExceptionInstance(Exc),
}

/// The hash of a value's content.
pub(crate) fn content_key<T: Serialize + ?Sized>(value: &T) -> Option<Key> {
    Some(Key::of(&to_bytes(value)?))
}

noted! {
    fn struct_body_key(db, key: LayoutKey) -> Option<Key> {
        content_key(&*struct_body(db, key).ok()?)
    }
}

noted! {
    fn static_data_key(db, key: StaticKey) -> Option<Key> {
        content_key(&*static_data(db, key).ok()?)
    }
}

noted! {
    fn summary_key(db, f: LLFunction) -> Option<Key> {
        content_key(&simplified_summary(db, f))
    }
}

/// The hash of the answer to a question; none where there is no proper answer.
fn answer(db: &dyn Db, roots: Roots, question: &Question) -> Option<Key> {
    let function = |f: &FuncSym| LLFunction::new(db, roots, f.clone());
    let program = || StageProgram::new(db, roots, GraphStage::Optimized);
    match question {
        Question::Summary(f) => summary_key(db, function(f)),
        // A function without a graph differs from any that has one.
        Question::Simplified(f) => simplified_key(db, function(f)).or(Some(Key::of(b"none"))),
        Question::Effects(f) => {
            let e = function_effects(db, function(f));
            let bits = [e.can_raise, e.can_collect, e.stack_check];
            Some(Key::of(&bits.map(u8::from)))
        }
        Question::StructBody(id) => struct_body_key(db, LayoutKey::new(db, roots, id)),
        Question::StaticData(s) => static_data_key(db, StaticKey::new(db, roots, s)),
        Question::ExceptionVtable(e) => content_key(&program().exception_vtable(*e)),
        Question::ExceptionInstance(e) => content_key(&program().exception_instance(*e)),
    }
}

/// What a search for a kept result came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Search<T> {
    /// There it is.
    Found(T),
    /// It belongs here.
    Missing(Key),
    /// Nothing is kept.
    Off,
}

impl<T> Search<T> {
    /// The result, if it was found.
    pub(crate) fn found(&self) -> Option<&T> {
        match self {
            Search::Found(t) => Some(t),
            _ => None,
        }
    }
}

/// A kept result with what it depends on.
#[derive(Serialize, Deserialize)]
struct Trace<T> {
    asked: Vec<(Question, Key)>,
    result: T,
}

/// Where the search for the result of a stage starts, to which passes up to a step make a difference.
pub(crate) fn start(
    db: &dyn Db,
    roots: Roots,
    stage: &str,
    passes: PassStage,
    f: &FuncSym,
    input: Key,
) -> Option<Key> {
    let name = to_bytes(f)?;
    let options = roots.program(db).options(db);
    Some(
        KeyHasher::new(stage)
            .value(&(code_is_replaceable(db), options.stages()))
            .value(&options.passes.up_to(passes))
            .bytes(&name)
            .bytes(input.as_bytes())
            .finish(),
    )
}

/// Searches for the result of a stage.
pub(crate) fn search<T: DeserializeOwned>(
    db: &dyn Db,
    roots: Roots,
    stage: &str,
    start: Option<Key>,
) -> Search<T> {
    let (Some(store), Some(mut at)) = (db.artifacts(), start) else {
        return Search::Off;
    };
    while let Some(trace) = store
        .get(stage, at.as_bytes())
        .and_then(|bytes| from_bytes::<Trace<T>>(&bytes))
    {
        let other = (trace.asked.iter().enumerate()).find_map(|(i, (question, expected))| {
            match answer(db, roots, question) {
                Some(key) if key == *expected => None,
                other => Some((i, other)),
            }
        });
        match other {
            None => return Search::Found(trace.result),
            Some((_, None)) => return Search::Off,
            Some((i, Some(other))) => {
                at = KeyHasher::new("otherwise")
                    .bytes(at.as_bytes())
                    .number(i as u64)
                    .bytes(other.as_bytes())
                    .finish();
            }
        }
    }
    Search::Missing(at)
}

/// Keeps the result of a stage where it was searched for.
pub(crate) fn keep<T: Serialize, U>(
    db: &dyn Db,
    roots: Roots,
    stage: &str,
    place: &Search<U>,
    asked: Vec<Question>,
    result: T,
) {
    let (Some(store), Search::Missing(at)) = (db.artifacts(), place) else {
        return;
    };
    let answers = asked.iter().map(|q| answer(db, roots, q));
    let Some(answers) = answers.collect::<Option<Vec<Key>>>() else {
        return;
    };
    let trace = Trace {
        asked: asked.into_iter().zip(answers).collect(),
        result,
    };
    if let Some(bytes) = to_bytes(&trace) {
        store.put(stage, at.as_bytes(), bytes);
    }
}

/// Kind of the entries that hold graphs, under the hashes of their content.
const GRAPH: &str = "graph";

/// Keeps a graph; answers its hash.
pub(crate) fn keep_graph(store: &dyn ArtifactStore, graph: &LLGraph) -> Option<Key> {
    let bytes = to_bytes(graph)?;
    let key = Key::of(&bytes);
    store.put(GRAPH, key.as_bytes(), bytes);
    Some(key)
}

/// The graph of that hash, if it is kept.
pub(crate) fn kept_graph(store: &dyn ArtifactStore, key: Key) -> Option<LLGraph> {
    from_bytes(&store.get(GRAPH, key.as_bytes())?)
}

/// What passes may ask, answered by queries and written down.
pub(crate) struct Recorder<'db> {
    inner: QuerySummaries<'db>,
    asked: RefCell<Asked>,
}

#[derive(Default)]
struct Asked {
    seen: FxHashSet<Question>,
    order: Vec<Question>,
}

impl<'db> Recorder<'db> {
    /// Records on top of questions that were asked before.
    pub(crate) fn new(db: &'db dyn Db, roots: Roots, before: &[Question]) -> Self {
        let asked = Asked {
            seen: before.iter().cloned().collect(),
            order: before.to_vec(),
        };
        Recorder {
            inner: QuerySummaries::new(db, roots),
            asked: RefCell::new(asked),
        }
    }

    /// What was asked, each once.
    pub(crate) fn asked(self) -> Vec<Question> {
        self.asked.into_inner().order
    }

    fn note(&self, question: Question) {
        let mut asked = self.asked.borrow_mut();
        if asked.seen.insert(question.clone()) {
            asked.order.push(question);
        }
    }
}

impl Program for Recorder<'_> {
    /// No question of its own: what depends on it is kept apart by [`start`].
    fn collector(&self) -> Collector {
        self.inner.program().collector()
    }

    /// Nor here.
    fn machine(&self) -> Machine {
        self.inner.program().machine()
    }

    /// Passes see the graphs of others through [`Summaries::simplified`] only.
    fn graph(&self, _: &FuncSym) -> Option<Arc<LLGraph>> {
        None
    }

    fn static_data(&self, s: &StaticSym) -> Arc<StaticData> {
        self.note(Question::StaticData(s.clone()));
        self.inner.program().static_data(s)
    }

    fn struct_body(&self, s: &StructId) -> Arc<StructBody> {
        self.note(Question::StructBody(s.clone()));
        self.inner.program().struct_body(s)
    }

    fn exception_vtable(&self, exception: Exc) -> StaticSym {
        self.note(Question::ExceptionVtable(exception));
        self.inner.program().exception_vtable(exception)
    }

    fn exception_instance(&self, exception: Exc) -> StaticSym {
        self.note(Question::ExceptionInstance(exception));
        self.inner.program().exception_instance(exception)
    }
}

impl Summaries for Recorder<'_> {
    fn program(&self) -> &dyn Program {
        self
    }

    fn summary(&self, f: &FuncSym) -> Option<Arc<Summary>> {
        self.note(Question::Summary(f.clone()));
        self.inner.summary(f)
    }

    fn simplified(&self, f: &FuncSym) -> Option<Arc<LLGraph>> {
        self.note(Question::Simplified(f.clone()));
        self.inner.simplified(f)
    }

    fn effects(&self, f: &FuncSym) -> Effects {
        self.note(Question::Effects(f.clone()));
        self.inner.effects(f)
    }
}
