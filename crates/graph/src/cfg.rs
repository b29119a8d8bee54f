//! Questions about the shape of a graph: who links to a block, dominators, loops.

use crate::{BlockId, Dialect, Graph};

/// A link, by the block it leaves and its index among the exits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LinkId {
    /// Where it starts.
    pub source: BlockId,
    /// Index among the exits of `source`.
    pub exit: usize,
}

/// The links into every block (RPython: `mkentrymap`), by block index; links from
/// unreachable blocks are left out. In the order of [`Graph::reachable`].
pub fn entry_map<D: Dialect>(graph: &Graph<D>) -> Vec<Vec<LinkId>> {
    entry_map_of(graph, &graph.reachable())
}

/// The same for who knows the reachable blocks, in their order.
pub(crate) fn entry_map_of<D: Dialect>(
    graph: &Graph<D>,
    reachable: &[BlockId],
) -> Vec<Vec<LinkId>> {
    let mut map = vec![Vec::new(); graph.blocks.len()];
    for source in reachable.iter().copied() {
        for (exit, link) in graph.block(source).exits.iter().enumerate() {
            map[link.target.index()].push(LinkId { source, exit });
        }
    }
    map
}

/// Which blocks lie on every way to a block (Cooper, Harvey and Kennedy: A simple,
/// fast dominance algorithm).
#[derive(Clone, Debug)]
pub struct Dominators {
    /// Immediate dominator by block index; the start block's own for itself.
    idom: Vec<Option<BlockId>>,
    /// Position in reverse postorder.
    position: Vec<usize>,
    /// Where a block is when each is followed by those that it dominates, and how many
    /// blocks that are with itself; none for unreachable ones.
    places: Vec<(u32, u32)>,
}

impl Dominators {
    /// Those of a graph.
    pub fn new<D: Dialect>(graph: &Graph<D>) -> Self {
        let order = graph.reachable();
        Self::of(graph, &order, &entry_map_of(graph, &order))
    }

    /// The same for who knows the reachable blocks, in their order, and the links into each.
    pub fn of<D: Dialect>(graph: &Graph<D>, order: &[BlockId], entries: &[Vec<LinkId>]) -> Self {
        let mut position = vec![usize::MAX; graph.blocks.len()];
        for (i, b) in order.iter().enumerate() {
            position[b.index()] = i;
        }
        let mut this = Dominators {
            idom: vec![None; graph.blocks.len()],
            position,
            places: vec![(0, 0); graph.blocks.len()],
        };
        this.idom[graph.startblock.index()] = Some(graph.startblock);
        let mut changed = true;
        while changed {
            changed = false;
            for b in order.iter().filter(|b| **b != graph.startblock) {
                let mut new = None;
                let entries = &entries[b.index()];
                // Deepest predecessor first: the common dominator moves up one step at a time. Shallow ones first would
                // walk from each deep predecessor up to the start block: quadratic for blocks with many entries. The
                // shallowest one comes second: if the start block is all that both have in common, no other is needed.
                let (first, others) = match &entries[..] {
                    [first, others @ ..] => (Some(first), others),
                    [] => (None, &entries[..]),
                };
                let (last, others) = match others {
                    [others @ .., last] => (Some(last), others),
                    [] => (None, others),
                };
                for link in last.into_iter().chain(first).chain(others.iter().rev()) {
                    if this.idom[link.source.index()].is_some() {
                        new = Some(match new {
                            None => link.source,
                            Some(other) => this.common(other, link.source),
                        });
                    }
                    if new == Some(graph.startblock) {
                        break;
                    }
                }
                if this.idom[b.index()] != new {
                    this.idom[b.index()] = new;
                    changed = true;
                }
            }
        }
        this.place(order);
        this
    }

    fn place(&mut self, order: &[BlockId]) {
        for b in order.iter().rev() {
            self.places[b.index()].1 += 1;
            if let Some(d) = self.immediate(*b) {
                self.places[d.index()].1 += self.places[b.index()].1;
            }
        }
        // Where the next block goes that is dominated.
        let mut next = vec![0; self.places.len()];
        for b in order {
            if let Some(d) = self.immediate(*b) {
                self.places[b.index()].0 = next[d.index()];
                next[d.index()] += self.places[b.index()].1;
            }
            next[b.index()] = self.places[b.index()].0 + 1;
        }
    }

    fn common(&self, mut a: BlockId, mut b: BlockId) -> BlockId {
        while a != b {
            let later = if self.position[a.index()] > self.position[b.index()] {
                &mut a
            } else {
                &mut b
            };
            *later = self.idom[later.index()].expect("processed before");
        }
        a
    }

    /// The closest other block on every way to `b`; None for the start block and for
    /// unreachable blocks.
    pub fn immediate(&self, b: BlockId) -> Option<BlockId> {
        self.idom[b.index()].filter(|d| *d != b)
    }

    /// Whether every way to `b` goes through `a` (or they are the same).
    pub fn dominates(&self, a: BlockId, b: BlockId) -> bool {
        let (first, count) = self.places[a.index()];
        let (place, reachable) = self.places[b.index()];
        a == b || reachable > 0 && first <= place && place < first + count
    }
}

/// A natural loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The one block that it is entered by.
    pub header: BlockId,
    /// Its blocks, header included, in the order of [`Graph::reachable`].
    pub blocks: Vec<BlockId>,
    /// The links back to the header.
    pub back_links: Vec<LinkId>,
}

impl Loop {
    /// Whether a block belongs to it.
    pub fn contains(&self, b: BlockId) -> bool {
        self.blocks.contains(&b)
    }
}

/// The natural loops, in reverse postorder of their headers: outer loops before the
/// ones inside them. Links back to a block that does not dominate their source make
/// no loop here (irreducible control flow).
pub fn find_loops<D: Dialect>(graph: &Graph<D>) -> Vec<Loop> {
    let order = graph.reachable();
    if !leads_back(graph, &order) {
        return Vec::new();
    }
    let entries = entry_map_of(graph, &order);
    let dominators = Dominators::of(graph, &order, &entries);
    find_loops_of(graph, &order, &entries, &dominators)
}

/// Whether the graph has a cycle: a link whose target does not come after its source in `order`, a reverse postorder.
fn leads_back<D: Dialect>(graph: &Graph<D>, order: &[BlockId]) -> bool {
    let mut passed = vec![false; graph.blocks.len()];
    order.iter().any(|b| {
        passed[b.index()] = true;
        graph
            .block(*b)
            .exits
            .iter()
            .any(|l| passed[l.target.index()])
    })
}

/// The same for who knows all that it needs to know.
pub fn find_loops_of<D: Dialect>(
    graph: &Graph<D>,
    order: &[BlockId],
    entries: &[Vec<LinkId>],
    dominators: &Dominators,
) -> Vec<Loop> {
    let mut loops = Vec::new();
    for header in order {
        let back_links: Vec<LinkId> = entries[header.index()]
            .iter()
            .filter(|l| dominators.dominates(*header, l.source))
            .copied()
            .collect();
        if back_links.is_empty() {
            continue;
        }
        let mut inside = vec![false; graph.blocks.len()];
        inside[header.index()] = true;
        let mut pending: Vec<BlockId> = back_links.iter().map(|l| l.source).collect();
        while let Some(b) = pending.pop() {
            if !std::mem::replace(&mut inside[b.index()], true) {
                pending.extend(entries[b.index()].iter().map(|l| l.source));
            }
        }
        loops.push(Loop {
            header: *header,
            blocks: order
                .iter()
                .filter(|b| inside[b.index()])
                .copied()
                .collect(),
            back_links,
        });
    }
    loops
}
