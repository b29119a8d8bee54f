//! Limits of what annotation takes. Values only grow, and each can grow so often only: a
//! computation that follows from a program stays far below these. One that exceeds them would
//! have no end.

use taipan_base::{Db, Program};
use taipan_flow::span_at;
use taipan_interp::Function;

use crate::origins::object_name;
use crate::solver::Solver;
use crate::store::{NodeIx, NodeKey, SlotKey, Store};

/// How values are nested in a value.
pub(crate) struct Nesting {
    /// How deep.
    pub(crate) levels: usize,
    /// How deep tuples are that stand in the place of another kind of value as well.
    pub(crate) conflicts: usize,
    /// How many there are, those nested in others included.
    pub(crate) parts: usize,
}

/// No program nests values beyond this, but by a loop that puts a tuple into a tuple. One that
/// puts it in twice doubles the parts each time.
pub(crate) const NESTING: Nesting = Nesting {
    levels: 24,
    conflicts: usize::MAX,
    parts: 1 << 13,
};

/// The same of what an operation makes a tuple of. `x = (x,)` makes of a number first a number or a
/// tuple of it, which is a conflict: these are nested in each other without end, and large ones
/// could change more often than anybody would wait for.
pub(crate) const NESTING_MADE: Nesting = Nesting {
    conflicts: 2,
    ..NESTING
};

/// No function has more copies by what it is specialised by, but by a recursion.
/// Tests take less.
pub(crate) const MOST_COPIES: usize = if cfg!(test) { 100 } else { 10_000 };

/// A function with fewer copies is not copied without end, however these look.
pub(crate) const FEW_COPIES: usize = 16;

/// No copy takes more arguments than this, but by a recursion that passes on `*args` and more.
pub(crate) const MOST_ARGUMENTS: usize = if cfg!(test) { 50 } else { 1000 };

/// What a copy is specialised by is no longer than this, but by a recursion: the place of a call
/// in a copy names what that is specialised by.
pub(crate) const LONGEST_KEY: usize = 1 << 14;

/// How often a slot may change, and as often as there are objects: a set may grow by each of them.
const CHANGES: usize = 1 << 14;

/// How often nodes may be evaluated until a program is solved, on average.
const EVALUATIONS: usize = 1 << 10;

/// How often the blocks of a function may be passed over in one evaluation, on average.
const PASSES: usize = 1 << 14;

/// Whether a slot whose value has changed so often goes on changing without end.
pub(crate) fn changes_endlessly(changes: usize, objects: usize) -> bool {
    changes > CHANGES + objects
}

/// Whether so many nodes are evaluated without end.
pub(crate) fn is_evaluated_endlessly(evaluations: usize, nodes: usize) -> bool {
    evaluations / EVALUATIONS > nodes + EVALUATIONS
}

/// Whether a function of so many blocks is evaluated without end.
pub(crate) fn is_passed_endlessly(passes: usize, blocks: usize) -> bool {
    passes / PASSES > blocks
}

/// Where annotation does not end, in words.
pub(crate) fn describe(db: &dyn Db, program: Program, solver: &Solver, at: NodeIx) -> String {
    let store = &solver.store;
    let Some(func) = function_of(store, at) else {
        return format!("{:?}", store.nodes[at].key);
    };
    let name = object_name(solver, func);
    let span = span_at(db, Function::new(db, program, func), None);
    span.map_or_else(
        || format!("{name}()"),
        |span| {
            let text = span.file.text(db);
            let before = text.get(..span.range.start as usize).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            format!("{name}(), {}:{line}", span.file.path(db))
        },
    )
}

/// The function that a node is about, itself or by what it contributes to.
fn function_of(store: &Store, at: NodeIx) -> Option<taipan_graph::ObjId> {
    let node = &store.nodes[at];
    if let NodeKey::Spec(spec) = node.key {
        return Some(store.specs[spec].func);
    }
    let slots = node.events.iter().flat_map(|(_, writes)| writes);
    slots
        .rev()
        .find_map(|(slot, _)| match store.slots[*slot].key {
            SlotKey::Called(spec) | SlotKey::Arg(spec, _) | SlotKey::Ret(spec) => {
                Some(store.specs[spec].func)
            }
            _ => None,
        })
}
