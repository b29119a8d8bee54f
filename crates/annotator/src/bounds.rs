//! Limits of annotation. Values only grow, and the lattice has finite height: a monotone
//! computation stays far below these limits. A computation that exceeds one does not terminate.

use taipan_base::{Db, Program};
use taipan_flow::span_at;
use taipan_interp::Function;

use crate::origins::object_name;
use crate::solver::Solver;
use crate::store::{NodeIx, NodeKey, SlotKey, Store};

/// Nesting of values inside a value.
pub(crate) struct Nesting {
    /// Depth of the nesting.
    pub(crate) levels: usize,
    /// Depth of tuples that conflict with a value of another kind.
    pub(crate) conflicts: usize,
    /// Number of nested values, at all depths.
    pub(crate) parts: usize,
}

/// Maximum nesting of a value. Only a loop that puts a tuple into itself exceeds it; a loop that
/// puts the tuple in twice doubles the parts in each round.
pub(crate) const NESTING: Nesting = Nesting {
    levels: 24,
    conflicts: usize::MAX,
    parts: 1 << 13,
};

/// Maximum nesting of the items of a new tuple. `x = (x,)` turns a number into a conflict of the number
/// and a tuple of it. Such conflicts nest without limit, and a large one changes too often to
/// reach the fixpoint in acceptable time.
pub(crate) const NESTING_MADE: Nesting = Nesting {
    conflicts: 2,
    ..NESTING
};

/// Maximum number of specialisations of a function. Only a recursion exceeds it. Tests use a lower limit.
pub(crate) const MOST_COPIES: usize = if cfg!(test) { 100 } else { 10_000 };

/// Number of specialisations below which a function is never reported, whatever their keys.
pub(crate) const FEW_COPIES: usize = 16;

/// Maximum number of arguments of a specialisation. Only a recursion that extends `*args` exceeds it.
pub(crate) const MOST_ARGUMENTS: usize = if cfg!(test) { 50 } else { 1000 };

/// Maximum length of a specialisation key. The location of a call inside a specialisation contains the key
/// of that specialisation, so only a recursion exceeds the limit.
pub(crate) const LONGEST_KEY: usize = 1 << 14;

/// Maximum number of changes of a slot, in addition to one per object: a set may grow by each object.
const CHANGES: usize = 1 << 14;

/// Maximum number of evaluations per node until the program is solved, on average.
const EVALUATIONS: usize = 1 << 10;

/// Maximum number of passes over each block of a function in one evaluation, on average.
const PASSES: usize = 1 << 14;

/// Whether a slot has exceeded its limit of changes. `objects` is the number of objects in the image.
pub(crate) fn changes_endlessly(changes: usize, objects: usize) -> bool {
    changes > CHANGES + objects
}

/// Whether the solver has exceeded its limit of evaluations for this number of nodes.
pub(crate) fn is_evaluated_endlessly(evaluations: usize, nodes: usize) -> bool {
    evaluations / EVALUATIONS > nodes + EVALUATIONS
}

/// Whether one evaluation has exceeded its limit of passes for a function with this number of blocks.
pub(crate) fn is_passed_endlessly(passes: usize, blocks: usize) -> bool {
    passes / PASSES > blocks
}

/// Describes the node whose annotation does not terminate: function, file and line.
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

/// The function of a node: its own, or the one whose slots it writes.
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
