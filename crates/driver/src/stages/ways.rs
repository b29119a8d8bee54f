//! The ways from a program to functions that its target lacks: places in the program's own files.

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_annotator::Roots;
use taipan_base::{Db, Diagnostic, SHIPPED, Span};
use taipan_lltype::{CodePlace, FuncSym, LLConst, LLGraph, LLOperand, Program as _, VoidConst};

use crate::stages::StageProgram;
use crate::stages::lowlevel_errors::span_of;

/// Calls that a diagnostic shows at most.
const MOST_CALLS: usize = 5;

/// The place at an instruction of a function, and those of the functions that lead there, up to the program's own
/// files. `callers` has one caller of each function. Helpers have no place.
pub(crate) fn way(
    db: &dyn Db,
    roots: Roots,
    program: &StageProgram<'_>,
    callers: &FxHashMap<&FuncSym, &FuncSym>,
    user: &FuncSym,
    at: Option<u32>,
) -> Vec<Span> {
    let mut way = Vec::new();
    let (mut user, mut at) = (user.clone(), at);
    let mut passed = FxHashSet::default();
    loop {
        let place = at.map(|at| CodePlace {
            func: user.clone(),
            at,
        });
        if let Some(span) = place.and_then(|p| span_of(db, roots, &p)) {
            let own = !span.file.path(db).as_str().starts_with(SHIPPED);
            way.push(span);
            if own {
                return way;
            }
        }
        match callers.get(&user) {
            Some(caller) if passed.insert(user.clone()) => {
                at = program.graph(caller).and_then(|g| mention(&g, &user));
                user = (*caller).clone();
            }
            _ => return way,
        }
    }
}

/// The place of the first operation that mentions a function.
pub(crate) fn mention(graph: &LLGraph, f: &FuncSym) -> Option<u32> {
    let is = |o: &LLOperand| match o {
        LLOperand::Const(LLConst::Func(g) | LLConst::Void(VoidConst::Func(g))) => g == f,
        _ => false,
    };
    let blocks = graph.reachable();
    let mut operations = blocks.iter().flat_map(|b| &graph.block(*b).operations);
    operations.find(|op| op.args.iter().any(is)).map(|op| op.at)
}

/// A diagnostic at the end of a way, with the calls that lead on from there. `here` is its label if there are none.
pub(crate) fn with_way(d: Diagnostic, way: Vec<Span>, here: &str) -> Diagnostic {
    let mut d = match way.is_empty() {
        true => d.with_label(here),
        false => d.with_label("the program gets there from here"),
    };
    for span in way.into_iter().rev().take(MOST_CALLS) {
        d = d.with_note(Some(span), "and then here");
    }
    d
}
