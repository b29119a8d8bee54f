//! Graphs as the JIT generator and the low-level interpreter read them: with hints and calls as the
//! program has them.

use std::sync::Arc;

use taipan_base::Db;
use taipan_lltype::{FuncKind, FuncSym, LLGraph, Program};
use taipan_transform::{Effects, Inlining, Summaries, Summary};

use crate::function::LLFunction;
use crate::stages::drivers::{entered, followed, function_hints, looks_inside};
use crate::stages::graphs::inlining;
use crate::stages::{JitPasses, QuerySummaries, jit_effects, rtyped};

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
    make_jit_graph(db, f)
}

/// [`jit_graph`] for a reader that asks little of it: kept for later rounds, if there are any.
pub(crate) fn jit_graph_once(db: &dyn Db, f: LLFunction) -> Option<Arc<LLGraph>> {
    if db.ends_with_command() {
        make_jit_graph(db, f)
    } else {
        jit_graph(db, f)
    }
}

fn make_jit_graph(db: &dyn Db, f: LLFunction) -> Option<Arc<LLGraph>> {
    let _timed = taipan_base::timed(db);
    if let Some(portal) = followed(db, f) {
        return Some(jit_exceptions(db, f, &portal.whole));
    }
    let graph = rtyped(db, f.roots(db), f.sym(db))?.ok()?;
    Some(jit_exceptions(db, f, &graph))
}

/// The graph of a function as compilers of drivers follow it: helpers are inlined. Depends on no other body of
/// the program.
#[salsa::tracked(returns(clone))]
fn graph_to_follow(db: &dyn Db, f: LLFunction) -> Option<Arc<LLGraph>> {
    make_graph_to_follow(db, f)
}

/// [`graph_to_follow`] for its only reader: kept for later rounds, if there are any.
pub(crate) fn graph_to_follow_once(db: &dyn Db, f: LLFunction) -> Option<Arc<LLGraph>> {
    if db.ends_with_command() {
        make_graph_to_follow(db, f)
    } else {
        graph_to_follow(db, f)
    }
}

fn make_graph_to_follow(db: &dyn Db, f: LLFunction) -> Option<Arc<LLGraph>> {
    let (portal, own);
    let graph = match followed(db, f) {
        Some(p) => {
            portal = p;
            &portal.whole
        }
        None => {
            own = rtyped(db, f.roots(db), f.sym(db))?.ok()?;
            &*own
        }
    };
    let followed = |called: &FuncSym, key| {
        matches!(called.kind(), FuncKind::Helper { .. })
            && called != f.sym(db)
            && !taipan_jit::is_done_by_compilers(called)
            && inlining(db, key) != Inlining::Never
            && looks_inside(db, key)
    };
    let helpers = InlinedSummaries::new(db, f, followed);
    let graph = taipan_transform::inline_helpers(f.sym(db), graph, &helpers);
    Some(jit_exceptions(db, f, &graph))
}

/// The same of a graph that is optimised before, with its hints.
#[salsa::tracked(returns(clone))]
pub(crate) fn jit_optimized(db: &dyn Db, f: LLFunction, passes: JitPasses) -> Option<Arc<LLGraph>> {
    if followed(db, f).is_some() {
        return jit_graph(db, f);
    }
    let graph = rtyped(db, f.roots(db), f.sym(db))?.ok()?;
    // Calls of functions with hints are not inlined.
    let without_hints = |called: &FuncSym, key| {
        let hints = function_hints(db, key);
        let stays = hints.elidable || hints.look_inside.is_some() || hints.oopspec.is_some();
        !stays && !hints.has_merge_point && called != passes.portal.sym(db)
    };
    let summaries = InlinedSummaries::new(db, f, without_hints);
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
pub(crate) fn entered_exceptions(db: &dyn Db, f: LLFunction) -> Option<Arc<LLGraph>> {
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

/// Functions to inline before the JIT generator reads a graph: the RTyper's graph of each function for which `may`
/// returns true.
struct InlinedSummaries<'db, F> {
    jit: JitSummaries<'db>,
    may: F,
}

impl<'db, F: Fn(&FuncSym, LLFunction) -> bool> InlinedSummaries<'db, F> {
    fn new(db: &'db dyn Db, f: LLFunction, may: F) -> Self {
        InlinedSummaries {
            jit: JitSummaries(QuerySummaries::new(db, f.roots(db))),
            may,
        }
    }
}

impl<F: Fn(&FuncSym, LLFunction) -> bool> Summaries for InlinedSummaries<'_, F> {
    fn program(&self) -> &dyn Program {
        self.jit.program()
    }

    fn summary(&self, f: &FuncSym) -> Option<Arc<Summary>> {
        Some(Arc::new(taipan_transform::summary(&*self.simplified(f)?)))
    }

    fn simplified(&self, f: &FuncSym) -> Option<Arc<LLGraph>> {
        let may = (self.may)(f, self.jit.0.key(f));
        let program = &self.jit.0.program;
        may.then(|| rtyped(program.db, program.roots, f))??.ok()
    }

    fn effects(&self, f: &FuncSym) -> Effects {
        self.jit.effects(f)
    }
}
