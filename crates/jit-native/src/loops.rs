//! The loops of a residual function: what is compiled together once it is entered often.

use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_graph::{BlockId, Dominators, find_loops};
use taipan_jit::engine::ResidualFunction;

/// Regions of more blocks are not compiled again with optimisations.
const LARGEST_REGION: usize = 10_000;

/// Whether a function has loops.
pub(crate) fn has_loops(residual: &ResidualFunction<'_>) -> bool {
    find_loops(residual.graph()).iter().any(|l| {
        let asks = l.blocks.iter().filter(|b| residual.promotes(**b)).count();
        // The self-loop of a promotion stub does not count.
        asks == 0 || l.blocks.len() > asks + 1
    })
}

/// The loops of a function as it is: its graph must not change while this is in use.
pub(crate) struct Loops {
    dominators: Dominators,
    /// The blocks that control comes to each from.
    sources: Vec<Vec<BlockId>>,
    /// The blocks of loops that were asked for, by the block that they start with.
    found: FxHashMap<BlockId, Rc<FxHashSet<BlockId>>>,
    order: Vec<BlockId>,
}

impl Loops {
    pub(crate) fn new(residual: &ResidualFunction<'_>) -> Loops {
        let graph = residual.graph();
        let order = graph.reachable();
        let mut sources = vec![Vec::new(); graph.blocks.len()];
        for b in &order {
            // A promotion that asks again is no loop.
            if residual.promotes(*b) {
                continue;
            }
            for link in &graph.block(*b).exits {
                sources[link.target.index()].push(*b);
            }
        }
        Loops {
            dominators: Dominators::new(graph),
            sources,
            found: FxHashMap::default(),
            order,
        }
    }

    /// Region to optimise when block `b` is hot: its head and its blocks.
    ///
    /// - the natural loop with head `b`, or the whole function if `b` is its first block;
    /// - else the innermost natural loop that contains `b`;
    /// - else the strongly connected component of `b`, with `b` as head: a loop with several entries.
    ///
    /// None if there is no such region, or if it exceeds [`LARGEST_REGION`].
    pub(crate) fn place(
        &mut self,
        residual: &ResidualFunction<'_>,
        b: BlockId,
    ) -> Option<(BlockId, Rc<FxHashSet<BlockId>>)> {
        let fits =
            |inside: &Rc<FxHashSet<BlockId>>| !inside.is_empty() && inside.len() <= LARGEST_REGION;
        if b == residual.graph().startblock {
            let all: Rc<FxHashSet<BlockId>> = Rc::new(self.order.iter().copied().collect());
            return fits(&all).then_some((b, all));
        }
        let own = self.starting_with(b);
        if !own.is_empty() {
            return fits(&own).then_some((b, own));
        }
        if let Some(head) = self.around(residual, b) {
            let around = self.starting_with(head);
            return fits(&around).then_some((head, around));
        }
        let ring = Rc::new(self.ring(residual, b));
        fits(&ring).then_some((b, ring))
    }

    /// The blocks that control gets to from a block and comes back from; none if it does not.
    fn ring(&self, residual: &ResidualFunction<'_>, b: BlockId) -> FxHashSet<BlockId> {
        let graph = residual.graph();
        let after = |b: BlockId| graph.block(b).exits.iter().map(|l| l.target);
        let mut behind = FxHashSet::default();
        let mut waiting: Vec<BlockId> = after(b).collect();
        while let Some(next) = waiting.pop() {
            if behind.insert(next) {
                waiting.extend(after(next));
            }
        }
        if !behind.contains(&b) {
            return FxHashSet::default();
        }
        let mut inside = FxHashSet::default();
        let mut waiting = vec![b];
        while let Some(next) = waiting.pop() {
            if behind.contains(&next) && inside.insert(next) {
                waiting.extend(&self.sources[next.index()]);
            }
        }
        // A promotion that asks again is the only way back in some.
        match self.sources[b.index()].iter().any(|s| inside.contains(s)) {
            true => inside,
            false => FxHashSet::default(),
        }
    }

    /// The blocks of the loop that starts with a block; none if there is no such loop.
    fn starting_with(&mut self, head: BlockId) -> Rc<FxHashSet<BlockId>> {
        if let Some(found) = self.found.get(&head) {
            return found.clone();
        }
        let mut inside = FxHashSet::default();
        let sources = self.sources[head.index()].iter().copied();
        let mut waiting: Vec<BlockId> = sources
            .filter(|b| self.dominators.dominates(head, *b))
            .collect();
        if !waiting.is_empty() {
            inside.insert(head);
        }
        while let Some(b) = waiting.pop() {
            if inside.insert(b) {
                waiting.extend(&self.sources[b.index()]);
            }
        }
        let inside = Rc::new(inside);
        self.found.insert(head, inside.clone());
        inside
    }

    /// The block that the innermost loop around a block starts with, of those that are not too
    /// large.
    fn around(&mut self, residual: &ResidualFunction<'_>, inner: BlockId) -> Option<BlockId> {
        let graph = residual.graph();
        let mut heads = BTreeSet::new();
        for b in &self.order {
            let targets = graph.block(*b).exits.iter().map(|l| l.target);
            heads.extend(targets.filter(|t| {
                *t != inner && residual.is_entry(*t) && self.dominators.dominates(*t, *b)
            }));
        }
        let loops = heads
            .into_iter()
            .map(|head| (self.starting_with(head), head));
        let around = loops.filter(|l| l.0.contains(&inner) && l.0.len() <= LARGEST_REGION);
        around.min_by_key(|l| l.0.len()).map(|l| l.1)
    }
}
