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
    let _timed = taipan_base::timed(db);
    if let Some(portal) = followed(db, f) {
        return Some(jit_exceptions(db, f, &portal.whole));
    }
    let graph = rtyped(db, f.roots(db), f.sym(db))?.ok()?;
    Some(jit_exceptions(db, f, &graph))
}

/// A function as compilers of drivers follow it: with its helpers inlined. Depends on no other
/// body of the program.
#[salsa::tracked(returns(clone))]
pub(crate) fn graph_to_follow(db: &dyn Db, f: LLFunction) -> Option<Arc<LLGraph>> {
    let graph = match followed(db, f) {
        Some(portal) => Arc::new(portal.whole.clone()),
        None => rtyped(db, f.roots(db), f.sym(db))?.ok()?,
    };
    let helpers = HelperSummaries {
        jit: JitSummaries(QuerySummaries::new(db, f.roots(db))),
        own: f.sym(db),
    };
    let graph = taipan_transform::inline_helpers(f.sym(db), &graph, &helpers);
    Some(jit_exceptions(db, f, &graph))
}

/// The same of a graph that is optimised before, with its hints.
#[salsa::tracked(returns(clone))]
pub(crate) fn jit_optimized(db: &dyn Db, f: LLFunction, passes: JitPasses) -> Option<Arc<LLGraph>> {
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

/// What the inliner asks about helpers that compilers of drivers follow.
struct HelperSummaries<'a, 'db> {
    jit: JitSummaries<'db>,
    /// The function that they are inlined into.
    own: &'a FuncSym,
}

impl Summaries for HelperSummaries<'_, '_> {
    fn program(&self) -> &dyn Program {
        self.jit.program()
    }

    fn summary(&self, f: &FuncSym) -> Option<Arc<Summary>> {
        Some(Arc::new(taipan_transform::summary(&*self.simplified(f)?)))
    }

    /// The RTyper's graph of a helper whose calls are followed.
    fn simplified(&self, f: &FuncSym) -> Option<Arc<LLGraph>> {
        let FuncKind::Helper { .. } = f.kind() else {
            return None;
        };
        let (db, key) = (self.jit.0.program.db, self.jit.0.key(f));
        let stays = f == self.own
            || taipan_jit::is_done_by_compilers(f)
            || inlining(db, key) == Inlining::Never
            || !looks_inside(db, key);
        if stays {
            return None;
        }
        rtyped(db, key.roots(db), f)?.ok()
    }

    fn effects(&self, f: &FuncSym) -> Effects {
        self.jit.effects(f)
    }
}
