//! The GC transform for code that is made while a program runs and is soon made again: it
//! takes about as long as reading the graph.
//!
//! ```text
//! block0(v0: *GcStruct S):            block0(v0: *GcStruct S):
//!     v1 = direct_call(&g)                gc_enter_roots_frame(1)
//!     v2 = setfield(v0, .x, v1)           gc_save_root(0, v0)
//!     goto return(v0)                     v1 = direct_call(&g)
//!                                         v3: *GcStruct S = gc_restore_root(0)
//!                                         gc_leave_roots_frame(1)
//!                                         gc_writebarrier(v3)
//!                                         v2 = setfield(v3, .x, v1)
//!                                         goto return(v3)
//! ```
//!
//! What [`crate::gc_transform`] does for code that runs often is left out: a root is saved
//! where it is made, and read back where it is used first in a block or after a collection;
//! barriers are left out within a block only. The frame is the same ([`crate::frame`]).
//!
//! Graphs are in SSA form here, before and after: blocks use what those that dominate them
//! define. Slots are given out in that order, so that the frame has as many as there are
//! roots at one time (Hack, Grund and Goos, *Register Allocation for Programs in SSA-Form*,
//! 2006).

use taipan_graph::{Block, BlockId, ExitSwitch, Operation, VarId};
use taipan_lltype::{LLConst, LLGraph, LLOperand, LowLevel, VOID, View};

use crate::Summaries;
use crate::barriers::insert_barriers_in_block;
use crate::calls::can_collect;
use crate::frame::insert_frame;
use crate::set::Set;
use crate::ssa::constant;

/// Inserts what the collector needs. The graph is in SSA form.
pub fn gc_transform_quickly(mut g: LLGraph, s: &dyn Summaries) -> LLGraph {
    let order = g.reachable();
    for b in &order {
        insert_barriers_in_block(&mut g, *b, s);
    }
    let roots = Roots::new(&g, &order, s);
    if roots.size > 0 {
        roots.insert(&mut g, &order);
        insert_frame(&mut g, roots.size, s);
    }
    g
}

/// Pointers that the collector moves, by number.
struct Numbers {
    /// By variable; [`NO_NUMBER`] for other values.
    of: Vec<u32>,
    count: usize,
}

const NO_NUMBER: u32 = u32::MAX;

impl Numbers {
    fn new(g: &LLGraph, order: &[BlockId]) -> Numbers {
        let (mut of, mut count) = (vec![NO_NUMBER; g.vars.len()], 0);
        for v in order.iter().flat_map(|b| g.block(*b).definitions()) {
            if g.ty(v).is_gc_ptr() {
                of[v.index()] = count;
                count += 1;
            }
        }
        let count = count as usize;
        Numbers { of, count }
    }

    /// The number of a variable. None for other values and for variables added later.
    fn of_var(&self, v: VarId) -> Option<u32> {
        self.of.get(v.index()).copied().filter(|n| *n != NO_NUMBER)
    }

    fn of(&self, o: &LLOperand) -> Option<u32> {
        self.of_var(o.as_var()?)
    }
}

/// What the end of a block uses.
fn at_end(block: &Block<LowLevel>) -> impl Iterator<Item = &LLOperand> {
    let on = match &block.exitswitch {
        ExitSwitch::Value(o) => Some(o),
        _ => None,
    };
    block.exits.iter().flat_map(|l| &l.args).chain(on)
}

/// The blocks before each block, by place in an order.
struct Predecessors {
    /// Index in `all` of the first predecessor of each block; last, the number of all.
    starts: Vec<u32>,
    all: Vec<u32>,
}

impl Predecessors {
    fn new(g: &LLGraph, order: &[BlockId], place: &[u32]) -> Predecessors {
        let targets = |b: &BlockId| g.block(*b).exits.iter().map(|l| place[l.target.index()]);
        let mut starts = vec![0; order.len() + 1];
        for to in order.iter().flat_map(targets) {
            starts[to as usize + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut next = starts.clone();
        let mut all = vec![0; starts[order.len()] as usize];
        for (i, b) in (0..).zip(order) {
            for to in targets(b) {
                let slot = &mut next[to as usize];
                all[*slot as usize] = i;
                *slot += 1;
            }
        }
        Predecessors { starts, all }
    }

    fn of(&self, place: u32) -> &[u32] {
        let place = place as usize;
        &self.all[self.starts[place] as usize..self.starts[place + 1] as usize]
    }
}

struct Roots {
    numbers: Numbers,
    /// What is live where a block ends, by place in the order.
    live_out: Vec<Vec<u32>>,
    /// Indexes of the operations that can collect, by place in the order.
    collecting: Vec<Vec<usize>>,
    /// The slots of what lives through a collection.
    slots: Vec<Option<u32>>,
    size: u32,
}

impl Roots {
    fn new(g: &LLGraph, order: &[BlockId], s: &dyn Summaries) -> Roots {
        let numbers = Numbers::new(g, order);
        let collecting = order.iter().map(|b| {
            let operations = g.block(*b).operations.iter().enumerate();
            let collecting = operations.filter(|(_, op)| can_collect(op, s));
            collecting.map(|(i, _)| i).collect()
        });
        let mut roots = Roots {
            collecting: collecting.collect(),
            live_out: Vec::new(),
            slots: vec![None; numbers.count],
            numbers,
            size: 0,
        };
        if roots.collecting.iter().all(Vec::is_empty) {
            return roots;
        }
        roots.find_live(g, order);
        let saved = roots.saved(g, order);
        roots.give_slots(g, order, &saved);
        roots
    }

    /// The live roots at the end of each block: each root is followed from its uses up to its definition (Boissinot,
    /// Brandner, Darte, Dupont de Dinechin and Rastello, *A Non-iterative Data-flow Algorithm for Computing Liveness
    /// Sets in Strict SSA Programs*, 2011). So it takes as long as there are roots and blocks where they are live.
    fn find_live(&mut self, g: &LLGraph, order: &[BlockId]) {
        const NOWHERE: u32 = u32::MAX;
        let mut place = vec![NOWHERE; g.blocks.len()];
        for (i, b) in (0..).zip(order) {
            place[b.index()] = i;
        }
        let before = Predecessors::new(g, order, &place);
        let mut defined = vec![NOWHERE; self.numbers.count];
        // Uses in other blocks than the defining one, which comes first in the order.
        let mut uses: Vec<(u32, u32)> = Vec::new();
        for (i, b) in (0..).zip(order) {
            let block = g.block(*b);
            for n in block.definitions().filter_map(|v| self.numbers.of_var(v)) {
                defined[n as usize] = i;
            }
            let operands = block.operations.iter().flat_map(|op| &op.args);
            let numbers = operands.chain(at_end(block));
            let numbers = numbers.filter_map(|o| self.numbers.of(o));
            uses.extend(
                numbers
                    .filter(|n| defined[*n as usize] != i)
                    .map(|n| (n, i)),
            );
        }
        uses.sort_unstable();
        uses.dedup();
        self.live_out = vec![Vec::new(); order.len()];
        let mut todo = Vec::new();
        for (n, at) in uses {
            todo.push(at);
            while let Some(at) = todo.pop() {
                for from in before.of(at) {
                    let live = &mut self.live_out[*from as usize];
                    if live.last() == Some(&n) {
                        continue;
                    }
                    live.push(n);
                    if *from != defined[n as usize] {
                        todo.push(*from);
                    }
                }
            }
        }
    }

    /// What lives through some collection.
    fn saved(&self, g: &LLGraph, order: &[BlockId]) -> Set {
        let mut saved = Set::new(self.numbers.count);
        for (i, b) in order.iter().enumerate() {
            let Some(first) = self.collecting[i].first() else {
                continue;
            };
            let block = g.block(*b);
            let mut live = Set::new(self.numbers.count);
            let at_end = at_end(block).filter_map(|o| self.numbers.of(o));
            for n in at_end.chain(self.live_out[i].iter().copied()) {
                live.insert(n);
            }
            let mut collecting = self.collecting[i].iter().rev().peekable();
            for (k, op) in block.operations.iter().enumerate().skip(*first).rev() {
                if let Some(n) = self.numbers.of_var(op.result) {
                    live.remove(n);
                }
                if collecting.next_if_eq(&&k).is_some() {
                    saved.union(&live);
                }
                for n in op.args.iter().filter_map(|o| self.numbers.of(o)) {
                    live.insert(n);
                }
            }
        }
        saved
    }

    /// Gives each of these a slot that nothing has that is live together with it.
    fn give_slots(&mut self, g: &LLGraph, order: &[BlockId], saved: &Set) {
        let mut last = LastUses::new(self.numbers.count);
        let mut taken: Vec<Option<u32>> = Vec::new();
        for (i, b) in order.iter().enumerate() {
            let block = g.block(*b);
            let count = block.operations.len();
            last.clear();
            for (k, op) in block.operations.iter().enumerate() {
                for n in op.args.iter().filter_map(|o| self.numbers.of(o)) {
                    last.set(n, k);
                }
            }
            for n in at_end(block).filter_map(|o| self.numbers.of(o)) {
                last.set(n, count);
            }
            for n in &self.live_out[i] {
                last.set(*n, LIVES_ON);
            }
            // What comes from blocks before has its slot already.
            taken.clear();
            taken.resize(self.size as usize, None);
            for n in &last.used {
                if let Some(slot) = self.slots[*n as usize] {
                    taken[slot as usize] = Some(*n);
                }
            }
            let mut give = |n: u32, taken: &mut Vec<Option<u32>>| {
                if !saved.contains(n) || self.slots[n as usize].is_some() {
                    return;
                }
                let slot = match taken.iter().position(Option::is_none) {
                    Some(slot) => slot,
                    None => {
                        taken.push(None);
                        taken.len() - 1
                    }
                };
                // What nothing uses gives it back at once.
                taken[slot] = last.of(n).is_some().then_some(n);
                self.slots[n as usize] = Some(slot as u32);
                self.size = self.size.max(taken.len() as u32);
            };
            let inputs = block.inputargs.iter();
            for n in inputs.filter_map(|v| self.numbers.of_var(*v)) {
                give(n, &mut taken);
            }
            for (k, op) in block.operations.iter().enumerate() {
                for slot in &mut taken {
                    if slot.is_some_and(|n| last.of(n) == Some(k)) {
                        *slot = None;
                    }
                }
                if let Some(n) = self.numbers.of_var(op.result) {
                    give(n, &mut taken);
                }
            }
        }
    }

    fn insert(&self, g: &mut LLGraph, order: &[BlockId]) {
        let mut rewriter = Rewriter {
            roots: self,
            new: Vec::new(),
            names: Names::new(self.numbers.count),
        };
        for (i, b) in order.iter().enumerate() {
            rewriter.names.forget();
            rewriter.block(g, *b, &self.collecting[i]);
        }
    }
}

/// Last use of each root in a block, by number.
struct LastUses {
    /// Index of an operation, the number of operations for the end of the block, [`UNUSED`], or [`LIVES_ON`].
    at: Vec<usize>,
    /// The used roots, each once.
    used: Vec<u32>,
}

/// A root that the block does not use.
const UNUSED: usize = usize::MAX - 1;
/// A root that is live where the block ends.
const LIVES_ON: usize = usize::MAX;

impl LastUses {
    fn new(count: usize) -> LastUses {
        LastUses {
            at: vec![UNUSED; count],
            used: Vec::new(),
        }
    }

    fn clear(&mut self) {
        self.used
            .drain(..)
            .for_each(|n| self.at[n as usize] = UNUSED);
    }

    fn set(&mut self, n: u32, at: usize) {
        if std::mem::replace(&mut self.at[n as usize], at) == UNUSED {
            self.used.push(n);
        }
    }

    fn of(&self, n: u32) -> Option<usize> {
        Some(self.at[n as usize]).filter(|at| *at != UNUSED)
    }
}

/// The variable that currently holds each root, by number. A collection invalidates all of them.
struct Names {
    of: Vec<Option<(u32, VarId)>>,
    /// Entries of earlier rounds are invalid.
    round: u32,
}

impl Names {
    fn new(count: usize) -> Names {
        Names {
            of: vec![None; count],
            round: 0,
        }
    }

    fn forget(&mut self) {
        self.round += 1;
    }

    fn get(&self, n: u32) -> Option<VarId> {
        let (round, v) = self.of[n as usize]?;
        (round == self.round).then_some(v)
    }

    fn set(&mut self, n: u32, v: VarId) {
        self.of[n as usize] = Some((self.round, v));
    }
}

/// Blocks that are being rewritten.
struct Rewriter<'a> {
    roots: &'a Roots,
    /// The operations of the current block.
    new: Vec<Operation<LowLevel>>,
    names: Names,
}

impl Rewriter<'_> {
    /// Saves the roots that a block defines, and reads back those that it uses.
    fn block(&mut self, g: &mut LLGraph, b: BlockId, collecting: &[usize]) {
        let mut operations = std::mem::take(&mut g.block_mut(b).operations);
        for v in g.block(b).inputargs.clone() {
            self.define(g, v, 0);
        }
        let raises = g.block(b).canraise();
        let count = operations.len();
        let mut collecting = collecting.iter().peekable();
        let mut exits = std::mem::take(&mut g.block_mut(b).exits);
        let mut exitswitch = std::mem::replace(&mut g.block_mut(b).exitswitch, ExitSwitch::None);
        let mut at = 0;
        for (k, mut op) in operations.drain(..).enumerate() {
            at = op.at;
            for o in &mut op.args {
                self.read(g, o, at);
            }
            if raises && k + 1 == count {
                // An overflow check: nothing may follow it.
                let passed = exits.iter_mut().flat_map(|l| &mut l.args);
                passed.for_each(|o| self.read(g, o, at));
            }
            let result = op.result;
            self.new.push(op);
            if collecting.next_if_eq(&&k).is_some() {
                self.names.forget();
            }
            self.define(g, result, at);
        }
        if !raises {
            let passed = exits.iter_mut().flat_map(|l| &mut l.args);
            passed.for_each(|o| self.read(g, o, at));
            if let ExitSwitch::Value(o) = &mut exitswitch {
                self.read(g, o, at);
            }
        }
        operations.append(&mut self.new);
        let block = g.block_mut(b);
        (block.operations, block.exits, block.exitswitch) = (operations, exits, exitswitch);
    }

    /// Number and slot of a root that lives through a collection.
    fn saved(&self, v: VarId) -> Option<(u32, LLOperand)> {
        let n = self.roots.numbers.of_var(v)?;
        let slot = self.roots.slots[n as usize]?;
        Some((n, constant(LLConst::signed(i64::from(slot)))))
    }

    fn define(&mut self, g: &mut LLGraph, v: VarId, at: u32) {
        if let Some((n, slot)) = self.saved(v) {
            let result = g.new_var("", *VOID);
            let save = View::GcSaveRoot {
                slot: &slot,
                root: &v.into(),
            };
            self.new.push(save.operation(result, at));
            self.names.set(n, v);
        }
    }

    fn read(&mut self, g: &mut LLGraph, o: &mut LLOperand, at: u32) {
        let Some(v) = o.as_var() else {
            return;
        };
        let Some((n, slot)) = self.saved(v) else {
            return;
        };
        let name = self.names.get(n).unwrap_or_else(|| {
            let name = g.copy_var(v);
            (self.new).push(View::GcRestoreRoot { slot: &slot }.operation(name, at));
            self.names.set(n, name);
            name
        });
        *o = name.into();
    }
}
