//! The state of a function's annotation: what is known of its variables, and what the last
//! pass over each of its blocks came to.

use std::collections::BTreeSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use taipan_graph::{BlockId, FunctionGraph, HlOp, VarId};

use super::exceptions::Raises;
use super::{Cx, FunctionState, Knows, Local, Meetings, OpRecord, Problem, Write};
use crate::bounds;
use crate::store::SlotIx;
use crate::val::Val;

/// What the last pass over a block came to.
#[derive(Default)]
pub(super) struct BlockOutcome {
    pub(super) writes: Vec<Write>,
    pub(super) met: Meetings,
    pub(super) problems: Vec<Problem>,
    pub(super) ops: Vec<(u32, OpRecord)>,
    /// Exits that are taken.
    pub(super) followed: Vec<u32>,
    pub(super) blocked: Option<u32>,
    /// Slots that were read, sorted. Nothing if the evaluation is not taken up again.
    pub(super) read: Vec<SlotIx>,
}

/// A pass over a block, up to an operation.
pub(super) struct Pass {
    pub(super) block: BlockId,
    pub(super) op: usize,
    pub(super) raises: Raises,
    pub(super) outcome: BlockOutcome,
    /// How much had been written, and had met, before the operation.
    pub(super) before: (usize, usize),
}

/// Where a pass of the past has come to an operation that comes to nothing.
pub(super) struct Stop {
    pub(super) op: usize,
    /// How much had been written, and had met, before the operation.
    pub(super) writes: usize,
    pub(super) met: usize,
    /// The slots that the operation has read.
    pub(super) read: Vec<SlotIx>,
}

impl Pass {
    pub(super) fn over(block: BlockId) -> Pass {
        Pass {
            block,
            op: 0,
            raises: Raises::Only(Vec::new()),
            outcome: BlockOutcome::default(),
            before: (0, 0),
        }
    }
}

/// What every pass over a graph needs of it.
pub(crate) struct Shape {
    /// Position of blocks in reverse postorder.
    rank: Vec<usize>,
    order: Vec<BlockId>,
    /// For every operation, how many of the same kind stand before it.
    pub(super) ordinals: Vec<Vec<u32>>,
}

impl Shape {
    pub(crate) fn new(graph: &FunctionGraph) -> Shape {
        let order = graph.reachable();
        let mut rank = vec![usize::MAX; graph.blocks.len()];
        for (i, b) in order.iter().enumerate() {
            rank[b.index()] = i;
        }
        let mut counts = FxHashMap::<HlOp, u32>::default();
        let mut ordinals = vec![Vec::new(); graph.blocks.len()];
        for b in &order {
            for op in &graph.block(*b).operations {
                let n = counts.entry(op.op).or_default();
                ordinals[b.index()].push(*n);
                *n += 1;
            }
        }
        Shape {
            rank,
            order,
            ordinals,
        }
    }
}

/// The state of a function's annotation.
pub(super) struct Flow {
    pub(super) graph: Arc<FunctionGraph>,
    pub(super) vars: Vec<Local>,
    reached: Vec<bool>,
    pub(super) outcomes: Vec<BlockOutcome>,
    pub(super) shape: Arc<Shape>,
    /// The blocks that are to be passed over, by rank.
    pending: BTreeSet<usize>,
    /// What arguments of links were known to be because of the case, by block, exit and
    /// argument.
    narrowed: FxHashMap<(BlockId, u32, u32), Val>,
    /// Where the last passes have come to. Nothing while the program is solved, and of blocks that
    /// have been reached with something else since.
    pub(super) stops: FxHashMap<BlockId, Stop>,
    /// It was complete, or waiting, when slots that it had read got other values.
    pub(super) continued: bool,
    /// Since then something came to what does not contain what it was before.
    pub(super) shrunk: bool,
    /// How many blocks were passed over since the evaluation began or was taken up.
    passes: usize,
}

impl Flow {
    pub(super) fn new(graph: Arc<FunctionGraph>, shape: Arc<Shape>) -> Self {
        Flow {
            vars: vec![Local::default(); graph.vars.len()],
            reached: vec![false; graph.blocks.len()],
            outcomes: graph
                .blocks
                .iter()
                .map(|_| BlockOutcome::default())
                .collect(),
            graph,
            shape,
            pending: BTreeSet::new(),
            narrowed: FxHashMap::default(),
            stops: FxHashMap::default(),
            continued: false,
            shrunk: false,
            passes: 0,
        }
    }

    /// Has a block passed over, if it was reached.
    pub(super) fn repeat(&mut self, block: BlockId) {
        if self.reached[block.index()] {
            self.reach(block);
        }
    }

    fn reach(&mut self, block: BlockId) {
        self.reached[block.index()] = true;
        self.stops.remove(&block);
        self.go_on(block);
    }

    /// Has a block passed over from where the last pass has come to.
    pub(super) fn go_on(&mut self, block: BlockId) {
        let rank = self.shape.rank[block.index()];
        if rank != usize::MAX {
            self.pending.insert(rank);
        }
    }

    /// Whether there is no block to pass over.
    pub(super) fn is_passed(&self) -> bool {
        self.pending.is_empty()
    }

    /// An evaluation is taken up, or begins.
    pub(super) fn begins(&mut self) {
        self.passes = 0;
    }

    /// Whether the evaluation has exceeded its limit of passes.
    pub(super) fn is_endless(&self) -> bool {
        bounds::is_passed_endlessly(self.passes, self.graph.blocks.len())
    }

    /// The next pass.
    pub(super) fn next_pass(&mut self) -> Option<Pass> {
        self.next_block().map(Pass::over)
    }

    /// The next block that is to be passed over.
    pub(super) fn next_block(&mut self) -> Option<BlockId> {
        self.passes += 1;
        let rank = self.pending.pop_first()?;
        Some(self.shape.order[rank])
    }

    /// The last pass over a block, before the operation that it has come to.
    pub(super) fn pass_from(&mut self, block: BlockId, stop: Stop) -> Pass {
        let mut pass = Pass::over(block);
        let outcome = std::mem::take(&mut self.outcomes[block.index()]);
        (pass.op, pass.outcome) = (stop.op, outcome);
        let outcome = &mut pass.outcome;
        outcome.writes.truncate(stop.writes);
        outcome.met.truncate(stop.met);
        outcome.ops.pop_if(|(i, _)| *i as usize == stop.op);
        outcome.blocked = None;
        pass
    }

    /// What the function is called with.
    pub(super) fn enter(&mut self, values: Vec<Val>, cx: &mut Cx<'_>) {
        let start = self.graph.startblock;
        let mut changed = !self.reached[start.index()];
        for (v, val) in self.graph.args().to_vec().into_iter().zip(values) {
            let old = std::mem::replace(&mut self.vars[v.index()], val.into());
            let new = &self.vars[v.index()].val;
            changed |= old.val != *new;
            self.shrunk |= self.continued && !grows(&old.val, new, cx);
        }
        if changed {
            self.reach(start);
        }
    }

    /// The result of an operation: at least as general as it was before.
    pub(super) fn set(&mut self, v: VarId, new: Local, cx: &mut Cx<'_>) {
        let old = std::mem::take(&mut self.vars[v.index()]);
        if self.continued && !old.val.is_bottom() {
            self.shrunk |= !local_grows(&old, &new, cx);
        }
        self.vars[v.index()] = Local {
            val: old.val.join(&new.val, cx),
            knows: new.knows,
            type_of: new.type_of,
        };
    }

    /// The exception that a link catches.
    pub(super) fn catch(&mut self, v: VarId, caught: Val, cx: &mut Cx<'_>) {
        let old = std::mem::replace(&mut self.vars[v.index()], caught.into());
        if self.continued {
            self.shrunk |= !grows(&old.val, &self.vars[v.index()].val, cx);
        }
    }

    /// What is known of an argument of a link because of its case.
    pub(super) fn narrow(&mut self, at: (BlockId, u32, u32), val: &Val, cx: &mut Cx<'_>) {
        if let Some(old) = self.narrowed.insert(at, val.clone())
            && self.continued
        {
            self.shrunk |= !grows(&old, val, cx);
        }
    }

    /// The values that come along a link.
    pub(super) fn arrive(&mut self, block: BlockId, incoming: Vec<Local>, cx: &mut Cx<'_>) {
        let target = self.graph.block(block).inputargs.clone();
        let mut changed = !self.reached[block.index()];
        for (v, local) in target.iter().zip(incoming) {
            changed |= self.merge(*v, local, cx);
        }
        if changed {
            self.reach(block);
        }
    }

    /// A value that comes along a link. Returns whether that changes anything.
    fn merge(&mut self, v: VarId, new: Local, cx: &mut Cx<'_>) -> bool {
        let old = &self.vars[v.index()];
        let fresh = old.val.is_bottom();
        let sum = Local {
            val: old.val.join(&new.val, cx),
            knows: if fresh {
                new.knows
            } else {
                merge_known(&old.knows, &new.knows, cx)
            },
            type_of: if fresh {
                new.type_of
            } else {
                old.type_of
                    .clone()
                    .filter(|t| new.type_of.as_ref() == Some(t))
            },
        };
        let changed = sum != *old;
        self.vars[v.index()] = sum;
        changed
    }

    /// What a whole pass came to takes the place of what the one before did, which is
    /// returned.
    pub(super) fn passed(&mut self, pass: Pass) -> BlockOutcome {
        let outcome = &mut self.outcomes[pass.block.index()];
        let old = std::mem::replace(outcome, pass.outcome);
        let followed = |exit| outcome.followed.contains(exit);
        self.shrunk |= self.continued && !old.followed.iter().all(followed);
        old
    }

    /// What is known of the function in the end. Writes and meetings are dropped.
    pub(super) fn into_state(self) -> FunctionState {
        let mut state = FunctionState {
            reached: self.reached,
            ..FunctionState::default()
        };
        // Collecting in place would keep the room of what is dropped.
        state.vars = Vec::with_capacity(self.vars.len());
        state.vars.extend(self.vars.into_iter().map(|l| l.val));
        for (i, o) in self.outcomes.into_iter().enumerate() {
            let block = BlockId(i as u32);
            state.problems.extend(o.problems);
            let ops = o.ops.into_iter();
            state.ops.extend(ops.map(|(n, r)| (block, n, r)));
            let mut followed = o.followed;
            followed.sort_unstable();
            let followed = followed.into_iter();
            state.followed.extend(followed.map(|n| (block, n)));
            state.blocked.extend(o.blocked.map(|n| (block, n)));
        }
        state
    }
}

/// Whether a value is at least as general as the one in whose place it stands. That lists
/// meet is known where the new one comes from.
pub(super) fn grows(old: &Val, new: &Val, cx: &mut Cx<'_>) -> bool {
    if old == new || old.is_bottom() {
        return true;
    }
    let met = cx.met.len();
    let sum = old.join(new, cx);
    cx.met.truncate(met);
    sum == *new
}

/// The same of a value with what it says of variables.
fn local_grows(old: &Local, new: &Local, cx: &mut Cx<'_>) -> bool {
    let known = match (&old.knows, &new.knows) {
        (None, None) => true,
        (Some(a), Some(b)) => {
            a == b
                || a.iter().zip(b.iter()).all(|(a, b)| {
                    let mut both = a.iter().zip(b);
                    a.len() == b.len()
                        && both.all(|((v, old), (w, new))| v == w && grows(old, new, cx))
                })
        }
        _ => false,
    };
    known && old.type_of == new.type_of && grows(&old.val, &new.val, cx)
}

/// What both say.
fn merge_known(
    a: &Option<Arc<Knows>>,
    b: &Option<Arc<Knows>>,
    cx: &mut Cx<'_>,
) -> Option<Arc<Knows>> {
    let (Some(a), Some(b)) = (a, b) else {
        return None;
    };
    let mut side = |i: usize| -> Vec<(VarId, Val)> {
        a[i].iter()
            .filter_map(|(v, x)| {
                let (_, y) = b[i].iter().find(|(w, _)| w == v)?;
                Some((*v, x.join(y, cx)))
            })
            .collect()
    };
    let (no, yes) = (side(0), side(1));
    Some(Arc::new([no, yes]))
}
