//! Units that are compiled with optimisations: loops and functions that are entered often.

use std::rc::Rc;

use rustc_hash::FxHashSet;
use taipan_graph::{BlockId, VarId};
use taipan_jit::Failure;
use taipan_jit::engine::ResidualFunction;
use taipan_lltype::LLGraph;
use taipan_transform::{Passes, gc_transform_residual, optimize_residual};

use super::plan::Extent;
use super::record::Made;
use super::{Function, Functions, NEVER, Point};
use crate::cells::{load, store};
use crate::engine::NativeJit;
use crate::log::Stopwatch;
use crate::loops::Loops;
use crate::unit::size;

/// Number of operations for which a region's threshold grows by that of a small region: of the first [`IN_PIECES`]
/// operations, and of the others. A path through a large region executes a small part of it.
const OPERATIONS_PER_PIECE: usize = 16;
const OPERATIONS_PER_LARGE_PIECE: usize = 256;
const IN_PIECES: usize = 256;

/// Growth of a region, as a factor, above which its counter is extended.
const MUCH_GROWN: u64 = 4;

/// Number of optimised operations by which [`patience`] grows by one, and its maximum.
const PATIENT_AFTER: usize = 4_000;
const MOST_PATIENCE: u64 = 32;

/// A region that was compiled with optimisations is compiled again at once if it has grown by
/// this part of it.
const MUCH_NEW: usize = 2;

/// Entries of code without optimisations, per operation of a region, that pay for compiling the region again: of one
/// that has stopped growing, and of one that grows.
const MISSES: u64 = 32;
const MANY_MISSES: u64 = 128;

/// A region that was compiled with optimisations.
#[derive(Clone, Copy)]
pub(super) struct Hot {
    /// How many blocks it had then.
    blocks: usize,
    /// Number of blocks at the last test for growth.
    seen: usize,
    /// Number of entries between two tests for growth.
    rounds: u64,
    /// The word that counts them.
    counter: usize,
    /// Entries of code without optimisations in the region, up to the compilation.
    missed: u64,
}

/// A region that is being compiled with optimisations.
pub(super) struct Region {
    pub(super) function: usize,
    pub(super) head: BlockId,
    /// The block whose counter ran out.
    pub(super) counted: BlockId,
    /// Variables that its code starts with.
    live: Vec<VarId>,
    operations: usize,
    hot: Hot,
}

/// Number of entries before a region with `operations` operations is optimised; `hot` is the number for a
/// small region. Compile time of larger code takes longer to pay off.
pub(super) fn rounds_of(operations: usize, hot: u64) -> u64 {
    let first = operations.min(IN_PIECES) / OPERATIONS_PER_PIECE;
    let others = operations.saturating_sub(IN_PIECES) / OPERATIONS_PER_LARGE_PIECE;
    hot.saturating_mul(1 + (first + others) as u64)
}

/// Factor of thresholds, by the number of operations that were optimised before. A few hot loops are compiled early; of
/// a thousand loops that are entered equally often, early compilation costs more than it saves.
fn patience(optimised: usize) -> u64 {
    (1 + (optimised / PATIENT_AFTER) as u64).min(MOST_PATIENCE)
}

/// Number of further entries before a region with `operations` operations is optimised, after `counted` entries; None
/// if it is optimised at once. `hot` is as in [`rounds_of`], `optimised` as in [`patience`].
fn left_to_count(counted: u64, operations: usize, hot: u64, optimised: usize) -> Option<u64> {
    let usual = rounds_of(operations, hot);
    let patience = patience(optimised);
    let wanted = usual.saturating_mul(patience);
    let waits = usual / MUCH_GROWN > counted || patience > 1 && wanted > counted;
    waits.then(|| wanted - counted)
}

impl<'p> Functions<'p> {
    /// What `f` finds out of the loops of a function.
    fn loops<T>(
        &mut self,
        function: usize,
        f: impl FnOnce(&mut Loops, &ResidualFunction<'_>) -> T,
    ) -> T {
        let Function {
            residual, loops, ..
        } = &mut self.functions[function];
        f(loops.get_or_insert_with(|| Loops::new(residual)), residual)
    }

    /// How many operations blocks of a function have.
    fn operations(&self, function: usize, blocks: &FxHashSet<BlockId>) -> usize {
        let graph = self.functions[function].residual.graph();
        blocks.iter().map(|b| size(graph.block(*b))).sum()
    }

    /// What counts how often a region is entered, and up to how many times.
    pub(super) fn counter(&self, function: usize, head: BlockId) -> Option<(usize, u64)> {
        let f = &self.functions[function];
        match f.hot.get(&head) {
            Some(hot) => Some((hot.counter, hot.rounds)),
            None => f.counters.get(&head).copied(),
        }
    }

    /// Code of a region asks no more whether it is entered often.
    pub(super) fn stop_counting(&self, function: usize, head: BlockId) {
        if let Some((counter, _)) = self.counter(function, head) {
            store(counter, NEVER);
        }
    }

    /// Whether a region that was entered often may be compiled with optimisations: it has earned that by
    /// itself. If there is no room for code it is counted anew.
    pub(super) fn is_earned(&self, jit: &NativeJit<'p>, function: usize, head: BlockId) -> bool {
        let Some((counter, rounds)) = self.counter(function, head) else {
            return true;
        };
        jit.account.went(rounds);
        let is_full = self.is_full(jit);
        if is_full {
            store(counter, rounds);
        }
        !is_full
    }

    /// Whether the threshold of a region has risen above its counter: the region has grown by more than [`MUCH_GROWN`], or
    /// much was optimised. If so, the counter is extended to the present threshold.
    fn is_early(
        &mut self,
        jit: &NativeJit<'p>,
        function: usize,
        head: BlockId,
        inside: &FxHashSet<BlockId>,
    ) -> bool {
        let operations = self.operations(function, inside);
        let f = &mut self.functions[function];
        if f.hot.contains_key(&head) {
            return false;
        }
        let Some((counter, counted)) = f.counters.get_mut(&head) else {
            return false;
        };
        let Some(left) =
            left_to_count(*counted, operations, jit.options.hot, self.counts.optimised)
        else {
            return false;
        };
        *counted += left;
        store(*counter, left);
        true
    }

    /// The block to compile with optimisations when code has come by a block often, and its region.
    pub(super) fn hot_place(
        &mut self,
        function: usize,
        b: BlockId,
    ) -> Option<(BlockId, Rc<FxHashSet<BlockId>>)> {
        self.loops(function, |loops, f| loops.place(f, b))
    }

    /// Compiles the region of a block that code has come by often with optimisations; the cell by
    /// which to go on.
    pub(super) fn compile_hot(
        &mut self,
        jit: &NativeJit<'p>,
        function: usize,
        b: BlockId,
    ) -> Result<usize, Failure> {
        let live = self.inputs(function, b);
        let entry = self.cell(function, Point::Block(b), live, None);
        let Some((head, inside)) = self.hot_place(function, b) else {
            self.stop_counting(function, b);
            return Ok(entry);
        };
        if self.is_early(jit, function, b, &inside) {
            return Ok(entry);
        }
        if head == b || !self.functions[function].hot.contains_key(&head) {
            self.compile_region(jit, function, (head, b), &inside)?;
        }
        if let Some(meanwhile) = self.go_on_meanwhile(jit, function, b)? {
            return Ok(meanwhile);
        }
        if head == b {
            return Ok(entry);
        }
        // It is a part of another region: its counter is not needed any more.
        self.stop_counting(function, b);
        // Code gets to it by its cell from now on. What has it in the middle would go around the
        // loop past the code with optimisations.
        let f = &mut self.functions[function];
        f.starts.insert(head);
        let mut units = f.middle.remove(&head).unwrap_or_default();
        units.push(entry);
        units.sort_unstable();
        units.dedup();
        for at in units {
            if self.cells.contains_key(&at) {
                self.compile_again(jit, at)?;
            }
        }
        Ok(entry)
    }

    /// Number of entries of code without optimisations at blocks of a region.
    fn missed(&self, function: usize, inside: &FxHashSet<BlockId>) -> u64 {
        let tallies = &self.functions[function].tallies;
        let inside = tallies.iter().filter(|(b, _)| inside.contains(b));
        inside.map(|(_, word)| NEVER - load(*word)).sum()
    }

    /// Compiles the region with a head with optimisations, if it has changed since its last compilation. `counted` is the
    /// block whose counter ran out. The result is the cell by which the region is entered.
    fn compile_region(
        &mut self,
        jit: &NativeJit<'p>,
        function: usize,
        (head, counted): (BlockId, BlockId),
        inside: &FxHashSet<BlockId>,
    ) -> Result<usize, Failure> {
        let started = self.log.stopwatch();
        let live = self.inputs(function, head);
        let entry = self.cell(function, Point::Block(head), live.clone(), None);
        if self.waits_too(function, (head, counted)) {
            return Ok(entry);
        }
        let size = inside.len();
        let operations = self.operations(function, inside);
        // Tests for growth become ever rarer.
        let last = self.functions[function].hot.get(&head).copied();
        let last = last.unwrap_or_else(|| Hot {
            blocks: 0,
            seen: 0,
            rounds: rounds_of(operations, jit.options.hot),
            counter: self.words.new_word(0),
            missed: 0,
        });
        let missed = self.missed(function, inside);
        let (blocks, counter) = (last.blocks, last.counter);
        let new = Hot {
            blocks: size,
            seen: size,
            rounds: last.rounds.saturating_mul(2),
            counter,
            missed,
        };
        store(counter, new.rounds.min(NEVER));
        // A region that grows is likely to grow further: unless much is new, compilation waits for its end.
        let grows = last.seen != size && size < blocks + blocks / MUCH_NEW;
        let lately = missed.saturating_sub(last.missed);
        let per_operation = lately / operations.max(1) as u64;
        let pays = per_operation >= MANY_MISSES || !grows && per_operation >= MISSES;
        if blocks == size || blocks > 0 && !pays {
            let missed = last.missed;
            let hot = Hot {
                blocks,
                missed,
                ..new
            };
            self.functions[function].hot.insert(head, hot);
            return Ok(entry);
        }
        let again = self.cell(function, Point::Again(head), live.clone(), None);
        let extent = Extent::Loop(inside, counter, again);
        let graph = self.region(jit, function, head, &live, extent);
        let region = Region {
            function,
            head,
            counted,
            live,
            operations,
            hot: new,
        };
        match self.submit(graph, region) {
            Ok(()) => Ok(entry),
            Err((graph, region)) => self.optimise(jit, graph, region, started),
        }
    }

    /// Compiles the graph of a region with optimisations; the cell by which the region is entered.
    fn optimise(
        &mut self,
        jit: &NativeJit<'p>,
        mut graph: LLGraph,
        region: Region,
        mut started: Stopwatch,
    ) -> Result<usize, Failure> {
        let (function, head) = (region.function, region.head);
        let entry = self.cell(function, Point::Block(head), region.live.clone(), None);
        optimize_residual(&mut graph, &jit.program, &jit.program);
        let f = &self.functions[function];
        let rounds = f.counters.get(&region.counted).map_or(0, |c| c.1);
        let blocks = f.hot.get(&head).map_or(0, |hot| hot.blocks);
        self.log.reason(entry, || match blocks {
            0 if region.counted == head => format!("it was entered {rounds} times"),
            0 => format!("a part of it was entered {rounds} times"),
            _ => format!("it has grown from {blocks} to {} blocks", region.hot.blocks),
        });
        let made = self.log_listing(jit, function, &mut graph, &mut started);
        let before = self.code.used();
        let graph = gc_transform_residual(&graph, &jit.program, &mut Passes::default());
        let code = self
            .emit(jit, &graph, true, jit.options.largest_unit)
            .map_err(|e| e.to_string())?;
        self.log_unit(
            jit,
            made.map(Made::hot),
            &graph,
            (entry, code, self.code.used() - before),
            started,
        );
        self.install(region, code);
        Ok(entry)
    }

    /// Has a region entered by its optimised code.
    pub(super) fn install(&mut self, region: Region, code: usize) {
        let Region { function, head, .. } = region;
        self.counts.hot += 1;
        self.counts.optimised += region.operations;
        let live = region.live;
        let entry = self.cell(function, Point::Block(head), live.clone(), None);
        let hot = self.cell(function, Point::Hot(head), live, None);
        let f = &mut self.functions[function];
        f.hot.insert(head, region.hot);
        store(region.hot.counter, region.hot.rounds.min(NEVER));
        store(entry, code as u64);
        store(hot, code as u64);
        // Code that counts leads there from now on.
        if let Some((counter, _)) = f.counters.get(&head) {
            store(*counter, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_PATIENCE, PATIENT_AFTER, left_to_count, rounds_of};

    #[test]
    fn large_regions_wait_little_longer() {
        assert_eq!(rounds_of(0, 2_000), 2_000);
        assert_eq!(rounds_of(256, 2_000), 34_000);
        assert_eq!(rounds_of(4_352, 2_000), 66_000);
    }

    #[test]
    fn regions_that_grow_are_counted_for_longer() {
        let counted = rounds_of(160, 2_000);
        assert_eq!(left_to_count(counted, 160, 2_000, 0), None);
        assert_eq!(left_to_count(counted, 600, 2_000, 0), None);
        let left = left_to_count(counted, 9_000, 2_000, 0).expect("it has grown");
        assert_eq!(counted + left, rounds_of(9_000, 2_000));
        assert_eq!(left_to_count(counted + left, 9_000, 2_000, 0), None);
    }

    #[test]
    fn many_regions_are_counted_for_longer() {
        let counted = rounds_of(160, 2_000);
        assert_eq!(left_to_count(counted, 160, 2_000, PATIENT_AFTER - 1), None);
        assert_eq!(
            left_to_count(counted, 160, 2_000, PATIENT_AFTER),
            Some(counted)
        );
        assert_eq!(left_to_count(2 * counted, 160, 2_000, PATIENT_AFTER), None);
        let left = left_to_count(counted, 160, 2_000, 1_000_000).expect("it waits");
        assert_eq!(counted + left, MOST_PATIENCE * counted);
    }
}
