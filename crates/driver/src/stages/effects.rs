//! What calling a function may do, found for all functions of a program together.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_annotator::Roots;
use taipan_base::{Db, noted};
use taipan_lltype::{FuncKind, FuncSym};
use taipan_transform::Inlining;
use taipan_transform::{Effects, Summary};

use crate::function::LLFunction;
use crate::modes::code_is_replaceable;
use crate::stages::whole::effects_of_program;
use crate::stages::{GraphStage, root_syms, simplified_summary};

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
    let functions = crate::stages::reach::reachable_here(db, roots, stage, &entries).functions;
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
        inlining: Inlining::default(),
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
