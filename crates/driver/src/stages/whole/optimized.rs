//! The whole program as it is optimised: which functions code is made of, and what calling each of
//! them may do.

#![allow(missing_docs, reason = "salsa generates undocumented accessors")]

use std::sync::{Arc, PoisonError};

use rustc_hash::FxHashMap;
use taipan_annotator::Roots;
use taipan_base::reads::{Step, apart};
use taipan_base::{Db, Diagnostic, StageOptions, noted};
use taipan_lltype::FuncSym;
use taipan_rtyper::StaticKey;
use taipan_transform::{Effects, Summary};

use super::graph::{Ask, Graph, Level, NodeIx, What, ask_all, ask_here, with_graph};
use super::typed::{LowLevelFacts, low_level_facts};
use crate::db::Database;
use crate::function::LLFunction;
use crate::modes::{code_is_replaceable, jit_is_on};
use crate::stages::reach::References;
use crate::stages::whole::graph::place;
use crate::stages::{AllEffects, GraphStage, as_called, optimized_summary};

/// Optimises everything that a program needs, on all threads. Returns its functions in the order of
/// a walk from its entries: none where it has no entries. Never to be called from within a query.
pub(crate) fn optimized_functions(db: &Database, roots: Roots) -> Vec<FuncSym> {
    let ask = ask_all::<Optimized>(db, roots);
    let found = with_optimized(db, roots, false, &ask, |db, graph| {
        update_effects(db, graph, roots, &ask);
        let sym = |n: &NodeIx| Some(graph.node(*n)?.what.function()?.sym(db).clone());
        graph.level.order.iter().filter_map(sym).collect()
    });
    found.unwrap_or_default()
}

/// Effects of all functions of a program, for a query.
pub(crate) fn effects_of_program(db: &dyn Db, roots: Roots) -> AllEffects {
    // Whoever asks depends on the effects of one function, not on what all are made from.
    apart(|| {
        let ask = ask_here::<Optimized>(roots);
        with_optimized(db, roots, true, &ask, |db, graph| {
            update_effects(db, graph, roots, &ask);
            graph.level.effects.clone()
        })
        .unwrap_or_default()
    })
}

/// The functions whose effects have changed since a version, and the version of now, as of the last
/// time that they were asked for. None where it is not known any more.
pub(crate) fn changed_effects(
    db: &dyn Db,
    roots: Roots,
    since: u64,
) -> (u64, Option<Vec<FuncSym>>) {
    let slot = place::<_, Graph<Optimized>>(db, Optimized::NAME, roots);
    let slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(Graph { level, .. }) = &*slot else {
        return (0, None);
    };
    let changed = || {
        let changed = level.changed.iter().filter(|(_, at)| **at > since);
        let mut changed: Vec<FuncSym> = changed.map(|(f, _)| f.clone()).collect();
        changed.sort_by_cached_key(|f| format!("{f:?}"));
        changed
    };
    let is_known = (level.oldest..=level.version).contains(&since);
    (level.version, is_known.then(changed))
}

fn with_optimized<R>(
    db: &dyn Db,
    roots: Roots,
    in_query: bool,
    ask: Ask<'_, Optimized>,
    work: impl FnOnce(&dyn Db, &mut Graph<Optimized>) -> R,
) -> Result<R, Diagnostic> {
    let surroundings = Surroundings::of(db, roots);
    let notice = |level: &mut Optimized| {
        let before = level.surroundings.replace(surroundings.clone());
        surroundings.changed_since(roots, before.as_ref())
    };
    with_graph(db, roots, in_query, ask, notice, work)
}

/// What all code depends on that neither import time nor annotation tells.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Surroundings {
    replaceable: bool,
    options: StageOptions,
    /// Where compiled code is entered.
    facts: Option<LowLevelFacts>,
}

impl Surroundings {
    /// What it is now.
    pub(crate) fn of(db: &dyn Db, roots: Roots) -> Surroundings {
        Surroundings {
            replaceable: code_is_replaceable(db),
            options: roots.program(db).options(db).stages(),
            facts: jit_is_on(db).then(|| low_level_facts(db, roots)),
        }
    }

    /// What has changed since then. None where all code may be another.
    pub(crate) fn changed_since(
        &self,
        roots: Roots,
        before: Option<&Surroundings>,
    ) -> Option<Vec<Step>> {
        let before = before?;
        let (facts, old_facts) = (&self.facts, &before.facts);
        let is_same = self.replaceable == before.replaceable
            && self.options == before.options
            && facts.is_some() == old_facts.is_some();
        let step = Step::of::<low_level_facts>(roots);
        is_same.then(|| (facts != old_facts).then_some(step).into_iter().collect())
    }
}

noted! {
    /// A function in what is kept of a whole program as it is optimised.
    kept OptimizedFunction(LLFunction)
}

/// A program as it is optimised.
#[derive(Default)]
struct Optimized {
    surroundings: Option<Surroundings>,
    /// What the effects are made from may be other than it was.
    stale: bool,
    /// The functions, in the order of a walk.
    order: Vec<NodeIx>,
    effects: AllEffects,
    /// Goes up whenever effects change.
    version: u64,
    /// Since when the effects of functions are what they are, as far as they have changed after
    /// `oldest`.
    changed: FxHashMap<FuncSym, u64>,
    oldest: u64,
}

impl Level for Optimized {
    type Fact = Option<Arc<Summary>>;
    const STAGE: GraphStage = GraphStage::Optimized;
    type Function = OptimizedFunction;
    const NAME: &'static str = "optimized programs";

    /// What effects are made from.
    fn fact(db: &dyn Db, f: LLFunction, _: &mut References) -> Option<Arc<Summary>> {
        let summary = optimized_summary(db, f)?;
        Some(as_called(db, f.sym(db), &summary))
    }

    fn data_fact(_: &dyn Db, _: StaticKey, _: &mut References) -> Option<Arc<Summary>> {
        None
    }

    fn changed(&mut self, _: NodeIx, _: &What, _: &Option<Arc<Summary>>) {
        self.stale = true;
    }

    fn gone(&mut self, _: &dyn Db, _: NodeIx, _: &What) {
        self.stale = true;
    }

    fn walked(&mut self) {
        self.stale = true;
    }

    fn forgotten(&mut self) {
        self.stale = true;
    }
}

/// So many functions whose effects have changed are remembered beside those that there are.
const MOST_CHANGED: usize = 1000;

fn update_effects(
    db: &dyn Db,
    graph: &mut Graph<Optimized>,
    roots: Roots,
    ask: Ask<'_, Optimized>,
) {
    if !graph.level.stale {
        return;
    }
    let mut order = graph.walked(db, roots, ask);
    order.retain(|n| (graph.node(*n)).is_some_and(|n| n.what.function().is_some()));
    let summaries = order.iter().filter_map(|n| {
        let node = graph.node(*n)?;
        Some((node.what.function()?.sym(db).clone(), node.fact.clone()?))
    });
    let summaries: Vec<(FuncSym, Arc<Summary>)> = summaries.collect();
    graph.level.order = order;
    graph.level.take(taipan_transform::effects(&summaries));
}

impl Optimized {
    /// Takes in what the effects are now.
    fn take(&mut self, effects: FxHashMap<FuncSym, Effects>) {
        let is_other = |f: &FuncSym| self.effects.get(f) != effects.get(f);
        let both = self.effects.keys().chain(effects.keys());
        let others: Vec<FuncSym> = both.filter(|f| is_other(f)).cloned().collect();
        if !others.is_empty() {
            self.version += 1;
            (self.changed).extend(others.into_iter().map(|f| (f, self.version)));
        }
        if self.changed.len() > effects.len() + MOST_CHANGED {
            self.changed.clear();
            self.oldest = self.version;
        }
        self.effects = Arc::new(effects);
        self.stale = false;
    }
}
