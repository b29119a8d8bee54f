//! The frame of roots on the shadow stack: where it is there, and which of its slots are
//! cleared where (RPython: the end of `shadowcolor.py`, where one of the slots that hold
//! nothing has a bit for each of the others).
//!
//! ```text
//! v1 = direct_call(&make)             v1 = direct_call(&make)
//!                                     gc_enter_roots_frame(2)
//! gc_save_root(0, v1)                 gc_save_root(0, v1)
//!                                     gc_save_root(1, null)
//! v2 = direct_call(&make)             v2 = direct_call(&make)
//! gc_save_root(1, v2)                 gc_save_root(1, v2)
//! v3 = direct_call(&use, v2)          v3 = direct_call(&use, v2)
//! v4 = gc_restore_root(0)             v4 = gc_restore_root(0)
//!                                     gc_save_root(0, null)
//! v5 = direct_call(&use, v4)          v5 = direct_call(&use, v4)
//! v6 = gc_restore_root(1)             v6 = gc_restore_root(1)
//!                                     gc_leave_roots_frame(2)
//! v7 = direct_call(&last, v6)         v7 = direct_call(&last, v6)
//! ```
//!
//! At an operation that can collect, a slot that is read again before it is written is in
//! use; every other one must hold nothing, or the collector would take a dead object for a
//! living one. What is in use follows from the graph, in which the two transforms have put
//! the slots' reads and writes. A write that nothing reads is dropped.
//!
//! The frame is entered in the innermost block outside loops that dominates all reads and
//! writes, before the first of them, and left on each way as soon as none can follow: there
//! nothing needs to be cleared.
//!
//! In between, a slot is cleared as late as possible, just before such an operation, and only
//! if it may hold something: what is written again at once, or not before the frame is left,
//! is never cleared. Where ways meet of which only some have something in the slot, it is
//! cleared at the end of those, if the loop there has such an operation before the slot is
//! written: before a loop that does not use the slot, in the one case of a loop over bytecodes
//! that uses it, where the nursery was full. So a slot is cleared no more often than it is
//! written. Blocks that are rarely executed do not count in this: they clear for themselves
//! what they find.

use rustc_hash::FxHashMap;
use taipan_graph::{BlockId, Dominators, LinkId, Operation, entry_map, find_loops_of};
use taipan_lltype::{
    GCREF, LLConst, LLGraph, LLOp, LowLevel, NamedOperands, PlainOp, VOID, View, cold_blocks_of,
};

use crate::Summaries;
use crate::calls::can_collect;
use crate::set::Set;
use crate::ssa::constant;

/// Puts the frame, with so many slots, into a graph that saves and restores roots, and
/// clears what must not be found in it.
pub(crate) fn insert_frame(g: &mut LLGraph, size: u32, s: &dyn Summaries) {
    let order = g.reachable();
    let mut events = Events::new(g, &order, s);
    let live = events.live(g, &order, size);
    events.drop_unread(g, &order);
    if !events.any_slot {
        return;
    }
    let entries = entry_map(g);
    let dominators = Dominators::of(g, &order, &entries);
    let shape = Shape::new(g, order, entries, &dominators);
    let frame = events.frame(g, &shape, &dominators);
    let needed = events.needed(g, &shape, frame);
    let f = Frame {
        shape,
        events,
        live,
        block: frame,
        needed,
        size,
    };
    let mut edits = f.enter_and_leave(g);
    f.clear(g, &mut edits);
    edits.apply(g, size);
}

/// What happens to slots.
#[derive(Clone)]
enum Event {
    Save(u32),
    Restore(u32),
    /// A save that nothing reads.
    Dropped,
    /// A collection, with the slots in use.
    Collect(Set),
}

/// By block, with the index of the operation.
struct Events {
    of: Vec<Vec<(usize, Event)>>,
    /// Whether there are saves and restores.
    any_slot: bool,
}

impl Event {
    fn is_slot(&self) -> bool {
        matches!(self, Event::Save(_) | Event::Restore(_))
    }
}

impl Events {
    fn new(g: &LLGraph, order: &[BlockId], s: &dyn Summaries) -> Events {
        let mut of = vec![Vec::new(); g.blocks.len()];
        for b in order {
            for (i, op) in g.block(*b).operations.iter().enumerate() {
                let event = match op.op {
                    LLOp::Plain(PlainOp::GcSaveRoot) => Event::Save(slot(op)),
                    LLOp::Plain(PlainOp::GcRestoreRoot) => Event::Restore(slot(op)),
                    _ if can_collect(op, s) => Event::Collect(Set::default()),
                    _ => continue,
                };
                of[b.index()].push((i, event));
            }
        }
        Events {
            of,
            any_slot: false,
        }
    }

    fn of(&self, b: BlockId) -> &[(usize, Event)] {
        &self.of[b.index()]
    }

    /// The slots in use where each block begins. Notes those in use at collections, and
    /// which saves are none.
    fn live(&mut self, g: &LLGraph, order: &[BlockId], size: u32) -> Vec<Set> {
        let mut live_in = vec![Set::new(size as usize); g.blocks.len()];
        let at_end = |live_in: &[Set], b: BlockId| {
            let mut live = Set::new(size as usize);
            for l in &g.block(b).exits {
                live.union(&live_in[l.target.index()]);
            }
            live
        };
        loop {
            let mut changed = false;
            for b in order.iter().rev() {
                let mut live = at_end(&live_in, *b);
                for (_, event) in self.of(*b).iter().rev() {
                    match event {
                        Event::Save(s) => live.remove(*s),
                        Event::Restore(s) => _ = live.insert(*s),
                        _ => {}
                    }
                }
                if live != live_in[b.index()] {
                    live_in[b.index()] = live;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        for b in order {
            let mut live = at_end(&live_in, *b);
            for (_, event) in self.of[b.index()].iter_mut().rev() {
                match event {
                    Event::Save(s) if live.contains(*s) => live.remove(*s),
                    Event::Save(_) => *event = Event::Dropped,
                    Event::Restore(s) => _ = live.insert(*s),
                    Event::Collect(used) => *used = live.clone(),
                    Event::Dropped => {}
                }
                self.any_slot |= event.is_slot();
            }
        }
        live_in
    }

    /// Removes the saves that are none.
    fn drop_unread(&mut self, g: &mut LLGraph, order: &[BlockId]) {
        for b in order {
            let events = &mut self.of[b.index()];
            if !events.iter().any(|(_, e)| matches!(e, Event::Dropped)) {
                continue;
            }
            let mut dropped = 0;
            events.retain_mut(|(i, e)| {
                *i -= dropped;
                let drop = matches!(e, Event::Dropped);
                if drop {
                    g.block_mut(*b).operations.remove(*i);
                    dropped += 1;
                }
                !drop
            });
        }
    }

    /// The block where the frame is entered.
    fn frame(&self, g: &LLGraph, shape: &Shape, dominators: &Dominators) -> BlockId {
        let uses_slots = |b: &&BlockId| self.of(**b).iter().any(|(_, e)| e.is_slot());
        let users: Vec<BlockId> = shape.order.iter().filter(uses_slots).copied().collect();
        let mut b = users.first().copied().unwrap_or(g.startblock);
        loop {
            let good =
                users.iter().all(|u| dominators.dominates(b, *u)) && shape.loop_of(b).is_none();
            match dominators.immediate(b) {
                Some(up) if !good => b = up,
                _ => return b,
            }
        }
    }

    /// By block, whether the frame is there where it begins: slots are still read or
    /// written.
    fn needed(&self, g: &LLGraph, shape: &Shape, frame: BlockId) -> Vec<bool> {
        let mut needed = vec![false; g.blocks.len()];
        let uses_slots = |b: &&BlockId| self.of(**b).iter().any(|(_, e)| e.is_slot());
        let mut pending: Vec<BlockId> = shape.order.iter().filter(uses_slots).copied().collect();
        while let Some(b) = pending.pop() {
            if b != frame && !std::mem::replace(&mut needed[b.index()], true) {
                pending.extend(shape.entries[b.index()].iter().map(|l| l.source));
            }
        }
        needed
    }
}

fn slot(op: &Operation<LowLevel>) -> u32 {
    let slot = match op.view() {
        View::GcSaveRoot { slot, .. } | View::GcRestoreRoot { slot } => slot.as_const(),
        _ => None,
    };
    match slot {
        Some(LLConst::Int(_, n)) => n.get() as u32,
        _ => unreachable!("slots are constants"),
    }
}

/// The blocks of a graph, and how they hang together.
struct Shape {
    order: Vec<BlockId>,
    entries: Vec<Vec<LinkId>>,
    cold: Vec<bool>,
    /// By block, the innermost loop that it belongs to.
    loops: Vec<Option<usize>>,
    /// By loop, the one around it.
    around: Vec<Option<usize>>,
}

impl Shape {
    fn new(
        g: &LLGraph,
        order: Vec<BlockId>,
        entries: Vec<Vec<LinkId>>,
        dominators: &Dominators,
    ) -> Shape {
        let mut loops = vec![None; g.blocks.len()];
        let mut around = Vec::new();
        // Outer loops come first.
        for (i, l) in find_loops_of(g, &order, &entries, dominators)
            .iter()
            .enumerate()
        {
            around.push(loops[l.header.index()]);
            l.blocks.iter().for_each(|b| loops[b.index()] = Some(i));
        }
        Shape {
            cold: cold_blocks_of(g, &order, &entries),
            order,
            entries,
            loops,
            around,
        }
    }

    fn loop_of(&self, b: BlockId) -> Option<usize> {
        self.loops[b.index()]
    }

    /// Whether a link leaves the innermost loop around its source.
    fn leaves_loop(&self, from: BlockId, to: BlockId) -> bool {
        let Some(inner) = self.loop_of(from) else {
            return false;
        };
        let mut l = self.loop_of(to);
        while let Some(i) = l {
            if i == inner {
                return false;
            }
            l = self.around[i];
        }
        true
    }
}

struct Frame {
    shape: Shape,
    events: Events,
    /// The slots in use where blocks begin.
    live: Vec<Set>,
    /// Where the frame is entered.
    block: BlockId,
    /// By block, whether it is there where the block begins.
    needed: Vec<bool>,
    size: u32,
}

/// By block, the slots that must hold nothing at some collection to come, unless they are
/// written before.
struct Asked {
    /// At any.
    ever: Vec<Set>,
    /// At one that is not rare, before the innermost loop is left.
    soon: Vec<Set>,
}

impl Frame {
    /// The exits of a block along which the frame stays.
    fn stays<'a>(&'a self, g: &'a LLGraph, b: BlockId) -> impl Iterator<Item = BlockId> + 'a {
        let targets = g.block(b).exits.iter().map(|l| l.target);
        targets.filter(|t| self.needed[t.index()])
    }

    /// What happens in a block while the frame is there.
    fn inside(&self, g: &LLGraph, b: BlockId) -> &[(usize, Event)] {
        let events = self.events.of(b);
        let is_slot = |(_, e): &(usize, Event)| e.is_slot();
        let from = match b == self.block {
            true => events.iter().position(is_slot).unwrap_or(events.len()),
            false => 0,
        };
        let to = match self.stays(g, b).next() {
            Some(_) => events.len(),
            None => events.iter().rposition(is_slot).map_or(from, |i| i + 1),
        };
        &events[from..to]
    }

    /// The blocks in which the frame is there.
    fn blocks(&self) -> impl DoubleEndedIterator<Item = BlockId> {
        let order = self.shape.order.iter().copied();
        order.filter(|b| *b == self.block || self.needed[b.index()])
    }

    /// Where the frame is entered and left.
    fn enter_and_leave(&self, g: &LLGraph) -> Edits {
        let mut edits = Edits::default();
        let is_slot = |(_, e): &&(usize, Event)| e.is_slot();
        let first = self.events.of(self.block).iter().find(is_slot);
        let at = first.map_or_else(|| end(g, self.block), |(i, _)| *i);
        edits.at(self.block, at, Edit::Enter);
        for b in self.blocks() {
            if self.stays(g, b).next().is_none() {
                let last = self.events.of(b).iter().rfind(is_slot);
                let after = last.map_or(at, |(i, _)| i + 1);
                edits.at(b, after, Edit::Leave);
                continue;
            }
            for (exit, l) in g.block(b).exits.iter().enumerate() {
                if !self.needed[l.target.index()] {
                    edits.on(LinkId { source: b, exit }, Edit::Leave);
                }
            }
        }
        // Where a block begins rather than on all links into it.
        let last = [g.returnblock, g.exceptblock];
        for b in self.shape.order.iter().filter(|b| !last.contains(b)) {
            let into = &self.shape.entries[b.index()];
            if *b != self.block && !into.is_empty() && into.iter().all(|l| edits.on.contains_key(l))
            {
                into.iter().for_each(|l| _ = edits.on.remove(l));
                edits.at(*b, 0, Edit::Leave);
            }
        }
        edits
    }

    /// Clears the slots that hold what must not be found.
    fn clear(&self, g: &LLGraph, edits: &mut Edits) {
        let asked = self.asked(g);
        let held = self.held(g, &asked);
        for b in self.blocks() {
            let mut holding = self.at_entry(&held, &asked, b);
            if b != self.block {
                for l in self.shape.entries[b.index()].iter() {
                    let mut more = held[l.source.index()].clone();
                    more.subtract(&holding);
                    more.intersect(&asked.ever[b.index()]);
                    for slot in more.iter() {
                        edits.on(*l, Edit::Clear(slot));
                    }
                }
            }
            for (i, event) in self.inside(g, b) {
                if let Event::Collect(used) = event {
                    let mut dead = holding.clone();
                    dead.subtract(used);
                    for slot in dead.iter() {
                        edits.at(b, *i, Edit::Clear(slot));
                    }
                }
                event.holds(&mut holding);
            }
        }
    }

    /// Where which slots are asked to hold nothing.
    fn asked(&self, g: &LLGraph) -> Asked {
        let none = || vec![Set::new(self.size as usize); g.blocks.len()];
        let mut asked = Asked {
            ever: none(),
            soon: none(),
        };
        let all = Set::full(self.size as usize);
        loop {
            let mut changed = false;
            for b in self.blocks().rev() {
                let (mut ever, mut soon) =
                    (Set::new(self.size as usize), Set::new(self.size as usize));
                for t in self.stays(g, b) {
                    ever.union(&asked.ever[t.index()]);
                    if !self.shape.leaves_loop(b, t) {
                        soon.union(&asked.soon[t.index()]);
                    }
                }
                for (_, event) in self.inside(g, b).iter().rev() {
                    match event {
                        Event::Save(s) => {
                            ever.remove(*s);
                            soon.remove(*s);
                        }
                        Event::Collect(used) => {
                            let mut dead = all.clone();
                            dead.subtract(used);
                            ever.union(&dead);
                            if !self.shape.cold[b.index()] {
                                soon.union(&dead);
                            }
                        }
                        _ => {}
                    }
                }
                for (before, now) in [
                    (&mut asked.ever[b.index()], ever),
                    (&mut asked.soon[b.index()], soon),
                ] {
                    if *before != now {
                        *before = now;
                        changed = true;
                    }
                }
            }
            if !changed {
                return asked;
            }
        }
    }

    /// Which slots may hold something where each block ends: the least that can be had by
    /// clearing on links.
    fn held(&self, g: &LLGraph, asked: &Asked) -> Vec<Set> {
        let mut held = vec![Set::new(self.size as usize); g.blocks.len()];
        loop {
            let mut changed = false;
            for b in self.blocks() {
                let mut holding = self.at_entry(&held, asked, b);
                let events = self.inside(g, b);
                events.iter().for_each(|(_, e)| e.holds(&mut holding));
                if holding != held[b.index()] {
                    held[b.index()] = holding;
                    changed = true;
                }
            }
            if !changed {
                return held;
            }
        }
    }

    /// Which slots may hold something where a block begins, given where others end.
    fn at_entry(&self, held: &[Set], asked: &Asked, b: BlockId) -> Set {
        if b == self.block {
            // Nothing was written yet.
            return Set::full(self.size as usize);
        }
        let cold = &self.shape.cold;
        let entries = &self.shape.entries[b.index()];
        let any_hot = entries.iter().any(|l| !cold[l.source.index()]);
        let counts = |l: &&LinkId| !any_hot || !cold[l.source.index()];
        let mut some = Set::new(self.size as usize);
        let mut all = Set::full(self.size as usize);
        for l in entries.iter().filter(counts) {
            some.union(&held[l.source.index()]);
            all.intersect(&held[l.source.index()]);
        }
        some.subtract(&asked.soon[b.index()]);
        some.union(&all);
        some.union(&self.live[b.index()]);
        some
    }
}

impl Event {
    /// Makes of the slots that may hold something before it those that may afterwards, where
    /// what must not be found is cleared.
    fn holds(&self, holding: &mut Set) {
        match self {
            Event::Save(s) => _ = holding.insert(*s),
            Event::Collect(used) => holding.intersect(used),
            Event::Restore(_) | Event::Dropped => {}
        }
    }
}

/// What is put into a graph.
#[derive(Clone, Copy)]
enum Edit {
    Enter,
    Leave,
    Clear(u32),
}

impl Edit {
    fn operation(self, g: &mut LLGraph, size: u32, at: u32) -> Operation<LowLevel> {
        let result = g.new_var("", *VOID);
        let number = |n: u32| constant(LLConst::signed(i64::from(n)));
        match self {
            Edit::Enter => {
                let slots = &number(size);
                View::GcEnterRootsFrame { slots }.operation(result, at)
            }
            Edit::Leave => {
                let slots = &number(size);
                View::GcLeaveRootsFrame { slots }.operation(result, at)
            }
            Edit::Clear(slot) => {
                let (slot, root) = (&number(slot), &constant(LLConst::Null(*GCREF)));
                View::GcSaveRoot { slot, root }.operation(result, at)
            }
        }
    }
}

#[derive(Default)]
struct Edits {
    /// Before which operations of which blocks.
    at: Vec<(BlockId, usize, Edit)>,
    on: FxHashMap<LinkId, Vec<Edit>>,
}

impl Edits {
    fn at(&mut self, b: BlockId, index: usize, edit: Edit) {
        self.at.push((b, index, edit));
    }

    fn on(&mut self, link: LinkId, edit: Edit) {
        self.on.entry(link).or_default().push(edit);
    }

    fn apply(mut self, g: &mut LLGraph, size: u32) {
        self.at.sort_by_key(|(b, i, _)| (*b, *i));
        for edits in self.at.chunk_by(|x, y| x.0 == y.0) {
            let b = edits[0].0;
            let old = std::mem::take(&mut g.block_mut(b).operations);
            let mut new = Vec::with_capacity(old.len() + edits.len());
            let mut edits = edits.iter().peekable();
            let mut at = old.first().map_or(0, |op| op.at);
            for (i, op) in old.into_iter().enumerate() {
                while let Some((.., edit)) = edits.next_if(|(_, index, _)| *index == i) {
                    new.push(edit.operation(g, size, at));
                }
                at = op.at;
                new.push(op);
            }
            new.extend(edits.map(|(.., edit)| edit.operation(g, size, at)));
            g.block_mut(b).operations = new;
        }
        let mut on: Vec<(LinkId, Vec<Edit>)> = self.on.into_iter().collect();
        on.sort_by_key(|(link, _)| *link);
        for (link, edits) in on {
            let at = g.block(link.source).operations.last().map_or(0, |op| op.at);
            let place = match g.block(link.source).exits.len() {
                1 => link.source,
                _ => g.insert_empty_block(link),
            };
            for edit in edits {
                let op = edit.operation(g, size, at);
                g.block_mut(place).operations.push(op);
            }
        }
    }
}

/// Where operations may be put at the end of a block.
fn end(g: &LLGraph, b: BlockId) -> usize {
    let block = g.block(b);
    let last = block.operations.last();
    // Nothing follows an overflow check, or what goes on elsewhere.
    let stays_last = block.canraise() || last.is_some_and(|op| op.op == PlainOp::JitExit.into());
    block.operations.len() - usize::from(stays_last && last.is_some())
}
