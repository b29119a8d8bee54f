//! Lists that one loop builds (RPython: `detect_list_comprehension` of
//! `rpython/translator/simplify.py`).
//!
//! Such a list is complete when the loop is left, and from there on it is another one,
//! whose length does not change. That holds for comprehensions and for loops that are
//! written out.
//!
//! ```text
//! l = newlist()                       l = newlist()
//! it = iter(..)                       it = iter(..)
//! loop(it, l):                        loop(it, l):
//!     x = next(it)                        x = next(it)
//!         ok: .. append(l, x) ..              ok: .. append(l, x) ..
//!         StopIteration: after(l)             StopIteration: done(l)
//!                                     done(l1):
//!                                         l2 = hint(l1, 'fence')
//!                                         goto after(l2)
//! ```

use rustc_hash::FxHashSet;
use taipan_graph::{
    Block, BlockId, Const, ExitCase, FunctionGraph, HighLevel, HlOp, LinkId, Operation, VarId,
    entry_map,
};
use taipan_interp::named_id;

use crate::value::Operand;

/// Puts a `fence` hint where a list leaves the loop that builds it.
pub(crate) fn detect_list_comprehension(graph: &mut FunctionGraph) {
    let order = graph.reachable();
    let mut operations = order.iter().flat_map(|b| &graph.block(*b).operations);
    if !operations.clone().any(is_newlist) || !operations.any(|op| op.op == HlOp::Next) {
        return;
    }
    let mut done = FxHashSet::default();
    while let Some(built) = Search::new(graph).find(&done) {
        done.insert(built.list);
        fence(graph, &built);
    }
}

/// A list and the loop that builds it.
struct Built {
    /// The result of its `newlist`.
    list: VarId,
    /// The links that leave the loop with the list, and at which place they pass it.
    exits: Vec<(LinkId, usize)>,
    /// The instruction that the loop is at.
    at: u32,
}

fn fence(graph: &mut FunctionGraph, built: &Built) {
    for (link, index) in &built.exits {
        let block = graph.insert_empty_block(*link);
        let Operand::Var(list) = graph.block(block).exits[0].args[*index] else {
            continue;
        };
        let result = graph.copy_var(list);
        let block = graph.block_mut(block);
        for arg in &mut block.exits[0].args {
            if *arg == Operand::Var(list) {
                *arg = Operand::Var(result);
            }
        }
        block.operations.push(Operation {
            op: HlOp::Hint,
            args: [Operand::Var(list), Operand::Const(Const::str("fence"))]
                .into_iter()
                .collect(),
            result,
            at: built.at,
        });
    }
}

fn is_newlist(op: &Operation<HighLevel>) -> bool {
    op.op == HlOp::NewList && op.args.is_empty()
}

/// A loop over an iterator that is made just in front of it.
struct Loop {
    /// Asks for the next item.
    head: BlockId,
    /// Makes the iterator.
    iter: BlockId,
}

struct Search<'a> {
    graph: &'a FunctionGraph,
    order: Vec<BlockId>,
    /// One variable per value: what a variable was renamed from on the links.
    families: Vec<u32>,
    loops: Vec<Loop>,
}

impl<'a> Search<'a> {
    fn new(graph: &'a FunctionGraph) -> Self {
        let order = graph.reachable();
        let families = families(graph, &order);
        let mut this = Search {
            graph,
            order,
            families,
            loops: Vec::new(),
        };
        this.loops = this.find_loops();
        this
    }

    fn find_loops(&self) -> Vec<Loop> {
        let stop_iteration = ExitCase::Exception(Const::Obj(named_id("exceptions.StopIteration")));
        let mut loops = Vec::new();
        for head in &self.order {
            let block = self.graph.block(*head);
            let [next] = &block.operations[..] else {
                continue;
            };
            if next.op != HlOp::Next
                || !block.canraise()
                || !block.exits.iter().any(|l| l.case == stop_iteration)
            {
                continue;
            }
            let Some(it) = next.args[0].as_var() else {
                continue;
            };
            let made = self.order.iter().find(|b| {
                let block = self.graph.block(**b);
                let mut operations = block.operations.iter();
                operations.any(|op| op.op == HlOp::Iter && self.same(op.result, it))
                    && !block.canraise()
                    && matches!(&block.exits[..], [only] if only.target == *head)
            });
            loops.extend(made.map(|iter| Loop {
                head: *head,
                iter: *iter,
            }));
        }
        loops
    }

    /// The next list that a loop builds.
    fn find(&self, done: &FxHashSet<VarId>) -> Option<Built> {
        let block = |b: &BlockId| self.graph.block(*b);
        let lists: Vec<(VarId, BlockId)> = (self.order.iter())
            .flat_map(|b| block(b).operations.iter().map(move |op| (op, *b)))
            .filter(|(op, _)| is_newlist(op) && !done.contains(&op.result))
            .map(|(op, b)| (op.result, b))
            .collect();
        for b in &self.order {
            for append in (block(b).operations.iter()).filter(|op| is_append(op)) {
                let list = append.args[0].as_var();
                let made = list.and_then(|v| lists.iter().find(|(l, _)| self.same(*l, v)));
                let Some((list, newlist)) = made else {
                    continue;
                };
                if !called_only_here(block(b), append.result) {
                    continue;
                }
                let list = List {
                    search: self,
                    list: *list,
                    newlist: *newlist,
                    method: append.result,
                    append: *b,
                };
                if let Some(built) = self.loops.iter().find_map(|l| list.built_by(l)) {
                    return Some(built);
                }
            }
        }
        None
    }

    fn same(&self, a: VarId, b: VarId) -> bool {
        self.families[a.index()] == self.families[b.index()]
    }

    /// Blocks that can be reached by leaving a block, without passing through `avoid`.
    fn reachable_from(&self, from: BlockId, avoid: BlockId) -> Vec<bool> {
        let mut reached = vec![false; self.graph.blocks.len()];
        let mut pending = vec![from];
        let mut first = true;
        while let Some(b) = pending.pop() {
            if b == avoid {
                continue;
            }
            if !std::mem::take(&mut first) && std::mem::replace(&mut reached[b.index()], true) {
                continue;
            }
            pending.extend(self.graph.block(b).exits.iter().map(|l| l.target));
        }
        reached
    }

    fn reaches(&self, from: BlockId, to: BlockId, avoid: BlockId) -> bool {
        self.reachable_from(from, avoid)[to.index()]
    }
}

fn is_append(op: &Operation<HighLevel>) -> bool {
    op.op == HlOp::GetAttr
        && op.args.get(1).and_then(Operand::as_const) == Some(&Const::str("append"))
}

/// Whether a method is called with one argument, and nothing else happens to it.
fn called_only_here(block: &Block<HighLevel>, method: VarId) -> bool {
    let method = Operand::Var(method);
    let mut called = false;
    for op in &block.operations {
        if op.op == HlOp::SimpleCall && op.args.len() == 2 && op.args[0] == method {
            called = true;
        } else if op.args.contains(&method) {
            return false;
        }
    }
    called && !block.exits.iter().any(|l| l.args.contains(&method))
}

/// A list that something is appended to in one place.
struct List<'a> {
    search: &'a Search<'a>,
    list: VarId,
    /// The block that makes it.
    newlist: BlockId,
    /// Its method `append`, and the block that calls it.
    method: VarId,
    append: BlockId,
}

impl List<'_> {
    fn is(&self, o: &Operand) -> bool {
        o.as_var().is_some_and(|v| self.search.same(v, self.list))
    }

    /// Whether the list is known when a block starts, or made there.
    fn alive(&self, b: BlockId) -> bool {
        let mut inputargs = self.search.graph.block(b).inputargs.iter();
        b == self.newlist || inputargs.any(|v| self.search.same(*v, self.list))
    }

    /// Whether a block does something else with the list than to append to it or to
    /// read an item.
    fn escapes(&self, b: BlockId) -> bool {
        let graph = self.search.graph;
        b == graph.returnblock
            || b == graph.exceptblock
            || graph.block(b).operations.iter().any(|op| {
                op.result != self.method
                    && op.op != HlOp::GetItem
                    && op.args.iter().any(|a| self.is(a))
            })
    }

    /// The list as this loop builds it, if it is the one that does.
    fn built_by(&self, l: &Loop) -> Option<Built> {
        let search = self.search;
        let graph = search.graph;
        if !self.alive(l.head) {
            return None;
        }
        // Between the list's creation and the loop nothing is appended, and no round
        // goes back there; a round appends at most once; nothing is appended after the
        // last one.
        if search.reaches(self.newlist, self.append, l.iter)
            || search.reaches(l.head, l.iter, self.newlist)
            || search.reaches(self.append, self.append, l.head)
        {
            return None;
        }
        let head = graph.block(l.head);
        let stops = head.exits.iter().filter(|e| e.case != ExitCase::None);
        if (stops.clone()).any(|e| search.reaches(e.target, self.append, self.newlist)) {
            return None;
        }
        // The body: from where `append` is reached within the loop.
        let body: Vec<BlockId> = (search.order.iter().copied())
            .filter(|b| self.alive(*b) && search.reaches(*b, self.append, l.iter))
            .collect();
        if !body.contains(&self.append) || !body.contains(&l.head) {
            return None;
        }
        if body.contains(&l.iter) || stops.clone().any(|e| body.contains(&e.target)) {
            return None;
        }
        let mut used = self.before(l.head).into_iter().chain(body.iter().copied());
        if used.any(|b| self.escapes(b)) {
            return None;
        }
        let mut exits = Vec::new();
        for source in &body {
            for (exit, link) in graph.block(*source).exits.iter().enumerate() {
                if !body.contains(&link.target)
                    && let Some(index) = link.args.iter().position(|a| self.is(a))
                {
                    let source = *source;
                    exits.push((LinkId { source, exit }, index));
                }
            }
        }
        Some(Built {
            list: self.list,
            exits,
            at: head.operations[0].at,
        })
    }

    /// Blocks from the list's creation to the loop.
    fn before(&self, head: BlockId) -> Vec<BlockId> {
        let mut found: Vec<BlockId> = Vec::new();
        let mut pending = vec![self.newlist];
        while let Some(b) = pending.pop() {
            if b != head && !found.contains(&b) && self.alive(b) {
                found.push(b);
                let exits = &self.search.graph.block(b).exits;
                pending.extend(exits.iter().map(|l| l.target));
            }
        }
        found
    }
}

/// For every variable the one that stands for its value: variables to which links pass
/// one and the same value have the same (RPython: `DataFlowFamilyBuilder`).
fn families(graph: &FunctionGraph, order: &[BlockId]) -> Vec<u32> {
    let mut parents: Vec<u32> = (0..graph.vars.len() as u32).collect();
    let find = |parents: &[u32], v: VarId| {
        let mut at = v.0;
        while parents[at as usize] != at {
            at = parents[at as usize];
        }
        at
    };
    let entries = entry_map(graph);
    let mut progress = true;
    while std::mem::take(&mut progress) {
        for b in order.iter().filter(|b| **b != graph.startblock) {
            for (i, v) in graph.block(*b).inputargs.iter().enumerate() {
                let own = find(&parents, *v);
                let mut passed = (entries[b.index()].iter()).map(|l| {
                    let arg = graph.link(*l).args[i].as_var();
                    arg.map(|a| find(&parents, a))
                });
                let mut one = None;
                let same = passed.all(|a| match a {
                    Some(a) => a == own || *one.get_or_insert(a) == a,
                    None => false,
                });
                if let Some(one) = one
                    && same
                {
                    parents[own as usize] = one;
                    progress = true;
                }
            }
        }
    }
    (0..parents.len() as u32)
        .map(|v| find(&parents, VarId(v)))
        .collect()
}
