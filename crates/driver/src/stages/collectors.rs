//! Operations of a program that its collector does not have.

use rustc_hash::FxHashMap;
use taipan_annotator::Roots;
use taipan_base::{Diagnostic, ErrorCode};
use taipan_language::Collector;
use taipan_lltype::{FuncSym, NamedOperands as _, Program as _, View};

use crate::db::Database;
use crate::stages::reach::{function_references, reachable};
use crate::stages::ways::{way, with_way};
use crate::stages::{GraphStage, StageProgram};

/// Why a collector has no links of `rawrefcount`; none if it has.
fn without_links(collector: Collector) -> Option<&'static str> {
    match collector {
        Collector::Generational | Collector::None => None,
        Collector::Ref => Some("it does not learn when C gives up its last reference"),
        Collector::Boehm => Some("libgc takes no roots that depend on a count"),
    }
}

/// The first place where the program calls `rawrefcount.init()`, if its collector has no links.
pub(crate) fn missing_links(
    db: &Database,
    roots: Roots,
    entries: &[FuncSym],
) -> Option<Diagnostic> {
    let collector = roots.program(db).options(db).collector;
    let why = without_links(collector)?;
    let stage = GraphStage::Simplified;
    let program = StageProgram::new(db, roots, stage);
    let functions = reachable(db, roots, stage, entries).functions;
    let (user, at) = functions.iter().find_map(|f| {
        let graph = program.graph(f)?;
        let blocks = graph.reachable();
        let mut operations = blocks.iter().flat_map(|b| &graph.block(*b).operations);
        let found = operations.find(|op| matches!(op.view(), View::GcRawrefcountInit { .. }));
        found.map(|op| (f, op.at))
    })?;
    let called = (functions.iter()).map(|f| function_references(db, roots, stage, f).functions);
    let called: Vec<_> = called.collect();
    let mut callers: FxHashMap<&FuncSym, &FuncSym> = FxHashMap::default();
    for (f, called) in functions.iter().zip(&called) {
        for callee in called {
            callers.entry(callee).or_insert(f);
        }
    }
    let mut way = way(db, roots, &program, &callers, user, Some(at));
    let message =
        format!("the collector {collector} does not have rpython.rlib.rawrefcount: {why}");
    let d = Diagnostic::error(ErrorCode::NotOnTheTarget, way.pop(), message);
    let d = with_way(d, way, "it is used here");
    Some(d.with_help(format!("leave out `--gc {collector}`")))
}
