//! What passes did to graphs, for `--timings`.

use std::time::Instant;

use rustc_hash::FxHashMap;
use taipan_base::{Db, PassCounts};
use taipan_language::Pass;
use taipan_lltype::LLGraph;
use taipan_transform::{PassObserver, Passes};

use crate::function::LLFunction;

/// Runs something with the passes of a function's program. What they did is counted, if somebody
/// wants to know: the result of the query is the same, and so no other query hears of it.
pub(super) fn with_passes<T>(
    db: &dyn Db,
    f: LLFunction,
    work: impl FnOnce(&mut Passes<'_>) -> T,
) -> T {
    let on = f.roots(db).program(db).options(db).passes;
    let Some(clock) = db.clock().filter(|c| c.counts_passes()) else {
        return work(&mut Passes::new(on));
    };
    let mut counter = Counter::default();
    let result = work(&mut Passes::observed(on, &mut counter));
    let counts: Vec<(Pass, PassCounts)> = counter.counts.into_iter().collect();
    clock.passes(&counts);
    result
}

/// Counts what passes do to one function.
#[derive(Default)]
struct Counter {
    /// What the pass that runs began with, and when.
    begun: Option<(LLGraph, Instant)>,
    counts: FxHashMap<Pass, PassCounts>,
}

impl PassObserver for Counter {
    fn begin(&mut self, _: Pass, graph: &LLGraph) {
        let before = compact(graph);
        // What comes before is not the pass itself.
        self.begun = Some((before, Instant::now()));
    }

    fn end(&mut self, pass: Pass, graph: &LLGraph) {
        let took = |(before, since): (LLGraph, Instant)| (before, since.elapsed());
        let Some((before, time)) = self.begun.take().map(took) else {
            return;
        };
        let after = compact(graph);
        let count = self.counts.entry(pass).or_insert_with(|| PassCounts {
            graphs: 1,
            operations: operations(&before),
            blocks: before.blocks.len(),
            ..PassCounts::default()
        });
        // A graph counts once, however often a pass runs over it.
        count.changed |= usize::from(before != after);
        count.more_operations += operations(&after) as isize - operations(&before) as isize;
        count.more_blocks += after.blocks.len() as isize - before.blocks.len() as isize;
        count.time += time;
    }
}

/// What is left of a graph without what is not reached.
fn compact(graph: &LLGraph) -> LLGraph {
    let mut graph = graph.clone();
    graph.compact();
    graph
}

fn operations(graph: &LLGraph) -> usize {
    graph.blocks.iter().map(|b| b.operations.len()).sum()
}
