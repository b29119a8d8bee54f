//! Which exceptions are raised again: those that a handler or `finally` has caught, whatever way
//! they took since (RPython: `comes_from_last_exception`).
//!
//! ```text
//! block1():
//!     v1 = exc_value()
//!     debug_catch_exception(v0)
//!     goto block2(v1)
//! block2(v2):
//!     v3 = cast_pointer(v2)
//!     goto except(v0, v3)                  ; v3 was caught
//! ```

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_graph::{BlockId, LinkId, VarId, entry_map};
use taipan_lltype::{LLGraph, LLOperand, NamedOperands as _, View};

/// Where the variables of a graph come from.
pub(crate) struct Reraised {
    origins: FxHashMap<VarId, Origin>,
    entries: Vec<Vec<LinkId>>,
}

/// Where a variable comes from, as far as it may be an exception.
enum Origin {
    /// `exc_value()`, at that place: what raised.
    Caught(u32),
    /// The same with another type.
    Cast(LLOperand),
    /// An argument of a block, by its number.
    Input(BlockId, usize),
}

impl Reraised {
    /// Those of a graph whose calls have handlers of their own.
    pub(crate) fn of(graph: &LLGraph) -> Reraised {
        let mut origins = FxHashMap::default();
        for b in graph.reachable() {
            let block = graph.block(b);
            for (i, v) in block.inputargs.iter().enumerate() {
                origins.insert(*v, Origin::Input(b, i));
            }
            for op in &block.operations {
                let origin = match op.view() {
                    View::ExcValue {} => Origin::Caught(op.at),
                    View::CastPointer { value } | View::SameAs { value } => {
                        Origin::Cast(value.clone())
                    }
                    _ => continue,
                };
                origins.insert(op.result, origin);
            }
        }
        let entries = entry_map(graph);
        Reraised { origins, entries }
    }

    /// The place of what raised an exception that is raised again, if it was caught on all ways.
    pub(crate) fn place(&self, graph: &LLGraph, value: &LLOperand) -> Option<u32> {
        let mut first: Option<u32> = None;
        let mut seen = FxHashSet::default();
        let mut waiting = vec![value];
        while let Some(value) = waiting.pop() {
            let v = value.as_var()?;
            if !seen.insert(v) {
                continue;
            }
            match self.origins.get(&v) {
                Some(Origin::Caught(at)) => first = Some(first.map_or(*at, |f| f.min(*at))),
                Some(Origin::Cast(of)) => waiting.push(of),
                Some(Origin::Input(b, i)) if !self.entries[b.index()].is_empty() => {
                    let entries = self.entries[b.index()].iter();
                    waiting.extend(entries.map(|l| {
                        let link = &graph.block(l.source).exits[l.exit];
                        &link.args[*i]
                    }));
                }
                _ => return None,
            }
        }
        first
    }
}
