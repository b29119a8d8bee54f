//! What of a graph becomes a variable: arguments of blocks that always have the same value are that value.

use taipan_graph::{BlockId, Dominators, ExitSwitch, Link, Loop, VarId, find_loops};
use taipan_lltype::{LLConst, LLGraph, LLOperand, LowLevel};

/// A graph with what is known of its variables and its control flow.
pub(crate) struct Shape<'a> {
    pub(crate) graph: &'a LLGraph,
    /// Reachable blocks, in reverse postorder.
    pub(crate) order: Vec<BlockId>,
    /// Position in `order`.
    pub(crate) position: Vec<usize>,
    pub(crate) dominators: Dominators,
    pub(crate) loops: Vec<Loop>,
    /// How many links lead to a block from before it.
    pub(crate) forward: Vec<usize>,
    /// A link leads into a loop past its header.
    pub(crate) irreducible: bool,
    /// What arguments of blocks stand for.
    alias: Vec<Option<LLOperand>>,
    /// How often a variable is used, and whether only in the block that makes it.
    uses: Vec<u32>,
    local: Vec<bool>,
}

impl<'a> Shape<'a> {
    pub(crate) fn new(graph: &'a LLGraph) -> Shape<'a> {
        let order = graph.reachable();
        let mut position = vec![usize::MAX; graph.blocks.len()];
        for (i, b) in order.iter().enumerate() {
            position[b.index()] = i;
        }
        let dominators = Dominators::new(graph);
        let mut forward = vec![0; graph.blocks.len()];
        let mut irreducible = false;
        for b in &order {
            for link in &graph.block(*b).exits {
                if position[link.target.index()] > position[b.index()] {
                    forward[link.target.index()] += 1;
                } else {
                    irreducible |= !dominators.dominates(link.target, *b);
                }
            }
        }
        let mut shape = Shape {
            graph,
            loops: find_loops(graph),
            order,
            position,
            dominators,
            forward,
            irreducible,
            alias: vec![None; graph.vars.len()],
            uses: vec![0; graph.vars.len()],
            local: vec![true; graph.vars.len()],
        };
        shape.find_aliases();
        shape.count_uses();
        shape
    }

    /// Whether control ends in a block.
    pub(crate) fn is_end(&self, b: BlockId) -> bool {
        self.graph.block(b).exits.is_empty()
    }

    /// What an operand stands for.
    pub(crate) fn resolve(&self, o: &LLOperand) -> LLOperand {
        let mut o = o.clone();
        while let LLOperand::Var(v) = o {
            match &self.alias[v.index()] {
                Some(other) => o = other.clone(),
                None => break,
            }
        }
        o
    }

    /// Whether an argument of a block is a variable of its own.
    pub(crate) fn is_variable(&self, v: VarId) -> bool {
        self.alias[v.index()].is_none() && !self.graph.ty(v).is_void()
    }

    pub(crate) fn uses(&self, v: VarId) -> u32 {
        self.uses[v.index()]
    }

    /// Whether a variable is used once, where it is made.
    pub(crate) fn is_used_once_there(&self, v: VarId) -> bool {
        self.uses[v.index()] == 1 && self.local[v.index()]
    }

    fn find_aliases(&mut self) {
        let graph = self.graph;
        let mut incoming: Vec<Vec<&Link<LowLevel>>> = vec![Vec::new(); graph.blocks.len()];
        for b in &self.order {
            for link in &graph.block(*b).exits {
                incoming[link.target.index()].push(link);
            }
        }
        let mut changed = true;
        while changed {
            changed = false;
            for b in self.order.clone() {
                if b == graph.startblock || self.is_end(b) {
                    continue;
                }
                for (i, v) in graph.block(b).inputargs.iter().enumerate() {
                    if self.alias[v.index()].is_some() {
                        continue;
                    }
                    if let Some(same) = self.only_value(&incoming[b.index()], i, *v) {
                        self.alias[v.index()] = Some(same);
                        changed = true;
                    }
                }
            }
        }
    }

    /// The value that an argument of a block has on all ways, if it is one.
    fn only_value(&self, incoming: &[&Link<LowLevel>], i: usize, v: VarId) -> Option<LLOperand> {
        let mut only = None;
        for link in incoming {
            let value = self.resolve(&link.args[i]);
            if value == LLOperand::Var(v) || only.as_ref() == Some(&value) {
                continue;
            }
            if only.is_some() {
                return None;
            }
            only = Some(value);
        }
        // Constants that are made each time would be other objects.
        only.filter(|o| !matches!(o, LLOperand::Const(LLConst::Void(_))))
    }

    fn count_uses(&mut self) {
        let graph = self.graph;
        let mut home = vec![None; graph.vars.len()];
        for b in &self.order {
            for op in &graph.block(*b).operations {
                home[op.result.index()] = Some(*b);
            }
        }
        for b in self.order.clone() {
            let block = graph.block(b);
            let mut used: Vec<LLOperand> = Vec::new();
            for op in &block.operations {
                used.extend(op.args.iter().cloned());
            }
            if let ExitSwitch::Value(o) = &block.exitswitch {
                used.push(o.clone());
            }
            for link in &block.exits {
                let to = &graph.block(link.target).inputargs;
                for (arg, to) in link.args.iter().zip(to) {
                    if self.is_variable(*to) {
                        used.push(arg.clone());
                    }
                }
            }
            for o in used {
                if let LLOperand::Var(v) = self.resolve(&o) {
                    self.uses[v.index()] += 1;
                    self.local[v.index()] &= home[v.index()] == Some(b);
                }
            }
        }
    }
}
