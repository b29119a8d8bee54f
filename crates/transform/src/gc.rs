//! The GC transform: roots on a shadow stack, and write barriers
//! (RPython: `memory/gctransform/shadowcolor.py`, `framework.py`).
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
//! A root is a variable with a GC pointer that is needed after an operation that can
//! collect. Every root has a slot of the frame, the same along links where possible;
//! it is saved when its slot does not hold it yet (before a loop, if the loop would)
//! and read back at its first use
//! after the collection; blocks that do not use it before the next one leave it in its
//! slot. Where the frame is there, and what of it holds nothing, is in [`crate::frame`]; where
//! barriers go is in [`crate::barriers`].
//!
//! In a large function with a loop, such as one over bytecodes, roots are read back after
//! calls that cannot collect, too. Nothing has moved, so this is right as well; and the
//! register allocator has then no variables there that live across calls from end to end
//! of the loop, for which there are few registers, and which it keeps in memory everywhere
//! once there are too many of them somewhere.

use rustc_hash::{FxHashMap, FxHashSet};
use taipan_graph::{
    BlockId, Dominators, ExitSwitch, LinkId, Loop, Operation, VarId, entry_map, find_loops,
    find_loops_of, transform_dead_op_vars, transform_dead_op_vars_with,
};
use taipan_language::{Collector, Pass};
use taipan_lltype::{LLConst, LLGraph, LLOperand, LowLevel, PlainOp, VOID, View};

use crate::Summaries;
use crate::barriers::{insert_all_barriers, insert_barriers};
use crate::calls::{calls_a_graph, can_collect};
use crate::check::check;
use crate::frame::insert_frame;
use crate::groups::group_allocations;
use crate::memory_errors::test_allocations;
use crate::nursery::split_mallocs;
use crate::passes::Passes;
use crate::refcount::count_references;
use crate::rematerialize::repeat_casts;
use crate::ssa::constant;
use crate::zeroing::mark_filled;

/// Number of blocks above which functions with loops read roots back after every call.
const LARGE: usize = 100;

/// Inserts what the collector needs.
pub fn gc_transform(graph: &LLGraph, s: &dyn Summaries, passes: &mut Passes<'_>) -> LLGraph {
    let mut g = graph.clone();
    match s.program().collector() {
        Collector::Generational => moving(&mut g, s, passes, Allocations::MayFail),
        // Reachable objects are found without the program's help, or never looked for.
        Collector::Boehm | Collector::None => {
            test_allocations(&mut g, s.program());
            transform_dead_op_vars(&mut g);
        }
        Collector::Ref => {
            test_allocations(&mut g, s.program());
            count_references(&mut g, s);
        }
    }
    g.compact();
    check("the GC transform", &g);
    g
}

/// Inserts what the collector needs into code that is made while a program runs. It cannot raise MemoryError:
/// its allocations do not fail.
pub fn gc_transform_residual(
    graph: &LLGraph,
    s: &dyn Summaries,
    passes: &mut Passes<'_>,
) -> LLGraph {
    let mut g = graph.clone();
    moving(&mut g, s, passes, Allocations::NeverFail);
    g.compact();
    check("the GC transform of residual code", &g);
    g
}

/// Whether allocations raise MemoryError.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Allocations {
    MayFail,
    NeverFail,
}

/// Inserts what a collector needs that moves objects.
fn moving(g: &mut LLGraph, s: &dyn Summaries, passes: &mut Passes<'_>, allocations: Allocations) {
    passes.run(Pass::Rematerialisation, g, |g| repeat_casts(g, s));
    if allocations == Allocations::NeverFail {
        group_allocations(g, s);
    }
    passes.run(Pass::Zeroing, g, |g| mark_filled(g, s));
    match passes.contains(Pass::Barriers) {
        true => passes.run(Pass::Barriers, g, |g| insert_barriers(g, s)),
        false => insert_all_barriers(g, s),
    }
    if allocations == Allocations::MayFail {
        test_allocations(g, s.program());
    }
    passes.run(Pass::Nursery, g, |g| split_mallocs(g, s.program()));
    transform_dead_op_vars(g);
    let roots = Roots::new(g, s);
    roots.insert(g);
    // What stays in slots is not passed on any more, and then not read there either.
    transform_dead_op_vars_with(g, |op| {
        op.op.is_removable() || op.op == PlainOp::GcRestoreRoot.into()
    });
    insert_frame(g, roots.size, s);
}

fn is_root(g: &LLGraph, v: VarId) -> bool {
    g.ty(v).is_gc_ptr()
}

/// Variables used by an operation or passed along by a link.
fn used<'a>(args: impl IntoIterator<Item = &'a LLOperand>) -> impl Iterator<Item = VarId> {
    args.into_iter().filter_map(LLOperand::as_var)
}

/// Variables that are connected by links.
struct Webs(FxHashMap<VarId, VarId>);

impl Webs {
    fn new(g: &LLGraph, order: &[BlockId]) -> Webs {
        let mut webs = Webs(FxHashMap::default());
        for b in order {
            for link in &g.block(*b).exits {
                for (a, v) in link.args.iter().zip(&g.block(link.target).inputargs) {
                    if let Some(a) = a.as_var().filter(|a| is_root(g, *a)) {
                        let (a, v) = (webs.find(a), webs.find(*v));
                        if a != v {
                            webs.0.insert(v, a);
                        }
                    }
                }
            }
        }
        webs
    }

    fn find(&mut self, v: VarId) -> VarId {
        let Some(up) = self.0.get(&v).copied() else {
            return v;
        };
        let top = self.find(up);
        self.0.insert(v, top);
        top
    }
}

/// The blocks of a graph, and how they hang together.
struct Shape {
    order: Vec<BlockId>,
    entries: Vec<Vec<LinkId>>,
    loops: Vec<Loop>,
}

impl Shape {
    fn new(g: &LLGraph) -> Shape {
        let order = g.reachable();
        let entries = entry_map(g);
        let dominators = Dominators::of(g, &order, &entries);
        let loops = find_loops_of(g, &order, &entries, &dominators);
        Shape {
            order,
            entries,
            loops,
        }
    }
}

/// Which slots are known to hold what.
struct Saved {
    at_entry: FxHashMap<BlockId, FxHashSet<VarId>>,
    /// Saves on links into loops: slot, and index of the link's argument.
    on_links: Vec<(LinkId, Vec<(u32, usize)>)>,
}

/// The slots of variables that have one.
#[derive(Default)]
struct Slots(Vec<Option<u32>>);

impl Slots {
    fn get(&self, v: VarId) -> Option<u32> {
        self.0.get(v.index()).copied().flatten()
    }

    /// That of a root.
    fn of(&self, v: VarId) -> u32 {
        self.get(v).expect("roots have slots")
    }

    fn insert(&mut self, v: VarId, slot: u32) {
        if self.0.len() <= v.index() {
            self.0.resize(v.index() + 1, None);
        }
        self.0[v.index()] = Some(slot);
    }
}

/// A set of variables of a graph.
#[derive(Default)]
struct VarSet {
    members: Vec<bool>,
    len: usize,
}

impl VarSet {
    fn contains(&self, v: VarId) -> bool {
        self.members.get(v.index()).is_some_and(|is| *is)
    }

    fn insert(&mut self, v: VarId) {
        if self.members.len() <= v.index() {
            self.members.resize(v.index() + 1, false);
        }
        self.len += usize::from(!std::mem::replace(&mut self.members[v.index()], true));
    }
}

impl Extend<VarId> for VarSet {
    fn extend<T: IntoIterator<Item = VarId>>(&mut self, all: T) {
        all.into_iter().for_each(|v| self.insert(v));
    }
}

impl FromIterator<VarId> for VarSet {
    fn from_iter<T: IntoIterator<Item = VarId>>(all: T) -> VarSet {
        let mut set = VarSet::default();
        set.extend(all);
        set
    }
}

struct Roots {
    /// By block, and by index of its operations that can collect: the roots, perhaps
    /// none.
    places: FxHashMap<BlockId, Vec<(usize, Vec<VarId>)>>,
    slots: Slots,
    /// Number of slots.
    size: u32,
}

impl Roots {
    fn new(g: &LLGraph, s: &dyn Summaries) -> Roots {
        let mut roots = Roots {
            places: FxHashMap::default(),
            slots: Slots::default(),
            size: 0,
        };
        let order = g.reachable();
        let every_call = order.len() > LARGE && !find_loops(g).is_empty();
        for b in &order {
            let places = collecting(g, *b, every_call, s);
            if !places.is_empty() {
                roots.places.insert(*b, places);
            }
        }
        roots.assign_slots(g, &order);
        roots
    }

    /// Gives each root a slot that no other root of one of its operations has;
    /// where possible the one of the variables that it comes from.
    fn assign_slots(&mut self, g: &LLGraph, order: &[BlockId]) {
        let mut all: Vec<VarId> = Vec::new();
        let mut numbers: Vec<Option<usize>> = vec![None; g.vars.len()];
        let places = order.iter().flat_map(|b| self.places.get(b)).flatten();
        for v in places.clone().flat_map(|(_, roots)| roots) {
            numbers[v.index()].get_or_insert_with(|| {
                all.push(*v);
                all.len() - 1
            });
        }
        // For each root a bit for each that is there together with it.
        let words = all.len().div_ceil(64);
        let mut rivals = vec![0_u64; words * all.len()];
        let mut together = vec![0_u64; words];
        for (_, roots) in places {
            together.fill(0);
            let roots = || roots.iter().filter_map(|v| numbers[v.index()]);
            roots().for_each(|n| together[n / 64] |= 1 << (n % 64));
            for n in roots() {
                let rivals = &mut rivals[n * words..(n + 1) * words];
                rivals.iter_mut().zip(&together).for_each(|(r, t)| *r |= t);
            }
        }
        let mut webs = Webs::new(g, order);
        let mut of_web: FxHashMap<VarId, Vec<u32>> = FxHashMap::default();
        let mut taken: Vec<bool> = Vec::new();
        for (n, v) in all.iter().copied().enumerate() {
            taken.clear();
            taken.resize(self.size as usize + 1, false);
            for (word, bits) in rivals[n * words..(n + 1) * words].iter().enumerate() {
                let mut left = *bits;
                while left != 0 {
                    let rival = all[word * 64 + left.trailing_zeros() as usize];
                    if let Some(slot) = self.slots.get(rival) {
                        taken[slot as usize] = true;
                    }
                    left &= left - 1;
                }
            }
            let used = of_web.entry(webs.find(v)).or_default();
            let wished = used.iter().find(|slot| !taken[**slot as usize]).copied();
            let slot = match wished {
                Some(slot) => slot,
                None => {
                    let free = taken.iter().position(|taken| !taken).unwrap_or(0) as u32;
                    used.push(free);
                    free
                }
            };
            self.slots.insert(v, slot);
            self.size = self.size.max(slot + 1);
        }
        // Variables that only pass the pointers on keep their slots known.
        for b in order {
            for v in g.block(*b).inputargs.iter().filter(|v| is_root(g, **v)) {
                if let Some([slot, ..]) = of_web.get(&webs.find(*v)).map(Vec::as_slice)
                    && self.slots.get(*v).is_none()
                {
                    self.slots.insert(*v, *slot);
                }
            }
        }
    }

    fn insert(&self, g: &mut LLGraph) {
        if self.size == 0 {
            return;
        }
        let shape = Shape::new(g);
        let saved = self.saved_at_entry(g, &shape);
        let resident = self.resident(g, &shape.order, &saved);
        for b in &shape.order {
            self.rewrite(g, *b, &saved, &resident);
        }
        for (link, saves) in saved.on_links {
            self.save_on_link(g, link, &saves);
        }
    }

    /// Roots among the input arguments of each block that their slots hold whichever
    /// way control came: a greatest fixpoint. What a loop keeps in a slot is saved on
    /// the way into the loop.
    fn saved_at_entry(&self, g: &LLGraph, shape: &Shape) -> Saved {
        let Shape {
            order,
            entries,
            loops,
            ..
        } = shape;
        // Input arguments of loop headers that are worth being saved before the loop.
        let mut before: FxHashSet<VarId> = FxHashSet::default();
        for l in loops {
            let slots: FxHashSet<u32> = (l.blocks.iter())
                .flat_map(|b| self.places.get(b).into_iter().flatten())
                .flat_map(|(_, roots)| roots.iter().map(|v| self.slots.of(*v)))
                .collect();
            let inputs = g.block(l.header).inputargs.iter();
            before
                .extend(inputs.filter(|v| self.slots.get(**v).is_some_and(|s| slots.contains(&s))));
        }
        loop {
            let at_entry = self.fixpoint(g, order, entries, loops, &before);
            let mut on_links = Vec::new();
            let mut conflict = None;
            for l in loops {
                let mut slots: FxHashMap<u32, VarId> = FxHashMap::default();
                for e in &entries[l.header.index()] {
                    if l.back_links.contains(e) {
                        continue;
                    }
                    let exit = self.saved_at_exit(e.source, &at_entry[&e.source]);
                    let mut saves = Vec::new();
                    for (i, v) in g.block(l.header).inputargs.iter().enumerate() {
                        if !at_entry[&l.header].contains(v) {
                            continue;
                        }
                        // A save on the way would take the place of another one that is there.
                        let first = *slots.entry(self.slots.of(*v)).or_insert(*v);
                        if first != *v {
                            let saved = [*v, first].into_iter().find(|v| before.contains(v));
                            conflict = saved.or(conflict);
                        }
                        if !self.holds(&exit, &g.link(*e).args[i], *v) {
                            saves.push((self.slots.of(*v), i));
                        }
                    }
                    if !saves.is_empty() {
                        on_links.push((*e, saves));
                    }
                }
            }
            match conflict {
                Some(v) => before.remove(&v),
                None => return Saved { at_entry, on_links },
            };
        }
    }

    /// Input arguments that stay in their slots: those which are there whichever way
    /// control came, and which no way from there uses before the next collection that
    /// they survive. Links pass nothing for them.
    fn resident(&self, g: &LLGraph, order: &[BlockId], saved: &Saved) -> VarSet {
        let mut needed = VarSet::default();
        for b in order {
            let last = *b == g.returnblock || *b == g.exceptblock;
            let inputs = g.block(*b).inputargs.iter();
            let inputs = inputs.filter(|v| last || !saved.at_entry[b].contains(v));
            needed.extend(inputs.copied());
        }
        for (link, saves) in &saved.on_links {
            needed.extend(
                saves
                    .iter()
                    .filter_map(|(_, i)| g.link(*link).args[*i].as_var()),
            );
        }
        loop {
            let before = needed.len;
            for b in order.iter().rev() {
                self.needed_by(g, *b, &mut needed);
            }
            if needed.len == before {
                break;
            }
        }
        let all = order.iter().flat_map(|b| &saved.at_entry[b]);
        all.filter(|v| !needed.contains(**v)).copied().collect()
    }

    /// Adds the input arguments of a block that are used there, or passed on to where
    /// they are, before they are among the roots of an operation.
    fn needed_by(&self, g: &LLGraph, b: BlockId, needed: &mut VarSet) {
        let block = g.block(b);
        let mut safe: FxHashSet<VarId> = FxHashSet::default();
        let mut places = self.places.get(&b).into_iter().flatten().peekable();
        for (i, op) in block.operations.iter().enumerate() {
            needed.extend(used(&op.args).filter(|v| !safe.contains(v)));
            if let Some((_, roots)) = places.next_if(|(place, _)| *place == i) {
                safe.extend(roots);
            }
        }
        for link in &block.exits {
            for (a, v) in link.args.iter().zip(&g.block(link.target).inputargs) {
                if let Some(a) = a.as_var()
                    && needed.contains(*v)
                    && !safe.contains(&a)
                {
                    needed.insert(a);
                }
            }
        }
    }

    /// Whether the slot of `v` holds what a link passes for it.
    fn holds(&self, saved: &FxHashSet<VarId>, arg: &LLOperand, v: VarId) -> bool {
        (arg.as_var()).is_some_and(|a| saved.contains(&a) && self.slots.get(a) == self.slots.get(v))
    }

    fn fixpoint(
        &self,
        g: &LLGraph,
        order: &[BlockId],
        entries: &[Vec<LinkId>],
        loops: &[Loop],
        before: &FxHashSet<VarId>,
    ) -> FxHashMap<BlockId, FxHashSet<VarId>> {
        let mut at_entry: FxHashMap<BlockId, FxHashSet<VarId>> = FxHashMap::default();
        for b in order {
            let start = *b == g.startblock;
            let all = g
                .block(*b)
                .inputargs
                .iter()
                .filter(|v| !start && self.slots.get(**v).is_some());
            at_entry.insert(*b, all.copied().collect());
        }
        let back: FxHashMap<BlockId, &[LinkId]> = loops
            .iter()
            .map(|l| (l.header, l.back_links.as_slice()))
            .collect();
        let mut at_exit: FxHashMap<BlockId, FxHashSet<VarId>> = order
            .iter()
            .map(|b| (*b, self.saved_at_exit(*b, &at_entry[b])))
            .collect();
        // Blocks to recheck: a predecessor has changed.
        let mut waiting = vec![true; g.blocks.len()];
        loop {
            let mut changed = false;
            for b in order {
                if !std::mem::take(&mut waiting[b.index()]) {
                    continue;
                }
                let Some(now) = at_entry.get_mut(b).filter(|now| !now.is_empty()) else {
                    continue;
                };
                let count = now.len();
                let back = back.get(b);
                for (i, v) in g.block(*b).inputargs.iter().enumerate() {
                    let before = before.contains(v);
                    let stays = !now.contains(v)
                        || entries[b.index()].iter().all(|l| {
                            let saved_on_link = before && back.is_some_and(|b| !b.contains(l));
                            saved_on_link
                                || self.holds(&at_exit[&l.source], &g.link(*l).args[i], *v)
                        });
                    if !stays {
                        now.remove(v);
                    }
                }
                if now.len() != count {
                    changed = true;
                    at_exit.insert(*b, self.saved_at_exit(*b, &at_entry[b]));
                    for link in &g.block(*b).exits {
                        waiting[link.target.index()] = true;
                    }
                }
            }
            if !changed {
                return at_entry;
            }
        }
    }

    fn save_on_link(&self, g: &mut LLGraph, link: LinkId, saves: &[(u32, usize)]) {
        let at = g.block(link.source).operations.last().map_or(0, |op| op.at);
        let place = match g.block(link.source).exits.len() {
            1 => link.source,
            _ => g.insert_empty_block(link),
        };
        for (slot, i) in saves {
            let exit = if place == link.source { link.exit } else { 0 };
            let value = g.block(place).exits[exit].args[*i].clone();
            let result = g.new_var("", *VOID);
            let slot = constant(LLConst::signed(i64::from(*slot)));
            let save = View::GcSaveRoot {
                slot: &slot,
                root: &value,
            };
            g.block_mut(place)
                .operations
                .push(save.operation(result, at));
        }
    }

    fn saved_at_exit(&self, b: BlockId, entry: &FxHashSet<VarId>) -> FxHashSet<VarId> {
        let mut saved = entry.clone();
        for (_, roots) in self.places.get(&b).into_iter().flatten() {
            for v in roots {
                self.note_saved(&mut saved, *v);
            }
        }
        saved
    }

    /// Notes that a root is in its slot now; what was there is not any more.
    fn note_saved(&self, saved: &mut FxHashSet<VarId>, v: VarId) {
        if saved.contains(&v) {
            return;
        }
        let slot = self.slots.get(v);
        saved.retain(|w| self.slots.get(*w) != slot);
        saved.insert(v);
    }

    /// Saves and restores the roots of one block.
    fn rewrite(&self, g: &mut LLGraph, b: BlockId, known: &Saved, resident: &VarSet) {
        let entry = &known.at_entry[&b];
        self.pass_nothing(g, b, known, resident);
        let places = self.places.get(&b).map_or(&[][..], Vec::as_slice);
        let mut saved = entry.clone();
        let operations = std::mem::take(&mut g.block_mut(b).operations);
        let mut new = Vec::with_capacity(operations.len() * 2);
        // Roots to be read back, and what the others are called now.
        let mut stale: FxHashSet<VarId> = (entry.iter().copied())
            .filter(|v| resident.contains(*v))
            .collect();
        let mut names: FxHashMap<VarId, VarId> = FxHashMap::default();
        let mut places = places.iter().peekable();
        let canraise = g.block(b).canraise();
        let count = operations.len();
        for (i, mut op) in operations.into_iter().enumerate() {
            let at = op.at;
            for v in used(&op.args).collect::<Vec<_>>() {
                self.refresh(g, &mut new, v, &mut stale, &mut names, at);
            }
            rename(&mut op.args, &names);
            let collecting = places.next_if(|(place, _)| *place == i);
            for v in collecting.into_iter().flat_map(|(_, roots)| roots) {
                if saved.contains(v) {
                    continue;
                }
                self.note_saved(&mut saved, *v);
                let name = names.get(v).copied().unwrap_or(*v);
                let result = g.new_var("", *VOID);
                let slot = constant(LLConst::signed(i64::from(self.slots.of(*v))));
                let save = View::GcSaveRoot {
                    slot: &slot,
                    root: &name.into(),
                };
                new.push(save.operation(result, at));
            }
            let last = canraise && i + 1 == count;
            if last {
                // An overflow check: nothing may follow it.
                self.refresh_exits(g, b, &mut new, &mut stale, &mut names, at);
            }
            new.push(op);
            for v in collecting.into_iter().flat_map(|(_, roots)| roots) {
                stale.insert(*v);
            }
            if i + 1 == count && !last {
                self.refresh_exits(g, b, &mut new, &mut stale, &mut names, at);
            }
        }
        let block = g.block_mut(b);
        block.operations = new;
        if let ExitSwitch::Value(LLOperand::Var(v)) = &mut block.exitswitch
            && let Some(name) = names.get(v)
        {
            *v = *name;
        }
        for link in &mut block.exits {
            rename(&mut link.args, &names);
        }
    }

    /// Takes what stays in slots out of the links of a block, but for what is saved on
    /// the way.
    fn pass_nothing(&self, g: &mut LLGraph, b: BlockId, known: &Saved, resident: &VarSet) {
        for exit in 0..g.block(b).exits.len() {
            let id = LinkId { source: b, exit };
            let on_link = known.on_links.iter().find(|(link, _)| *link == id);
            for i in 0..g.link(id).args.len() {
                let to = g.block(g.link(id).target).inputargs[i];
                let saves = on_link.is_some_and(|(_, saves)| saves.iter().any(|s| s.1 == i));
                if resident.contains(to) && !saves {
                    let nothing = constant(LLConst::Null(*g.ty(to)));
                    g.link_mut(id).args[i] = nothing;
                }
            }
        }
    }

    /// Reads back what the exits need.
    fn refresh_exits(
        &self,
        g: &mut LLGraph,
        b: BlockId,
        new: &mut Vec<Operation<LowLevel>>,
        stale: &mut FxHashSet<VarId>,
        names: &mut FxHashMap<VarId, VarId>,
        at: u32,
    ) {
        let needed: Vec<VarId> = g
            .block(b)
            .exits
            .iter()
            .flat_map(|l| used(&l.args))
            .collect();
        for v in needed {
            self.refresh(g, new, v, stale, names, at);
        }
    }

    fn refresh(
        &self,
        g: &mut LLGraph,
        new: &mut Vec<Operation<LowLevel>>,
        v: VarId,
        stale: &mut FxHashSet<VarId>,
        names: &mut FxHashMap<VarId, VarId>,
        at: u32,
    ) {
        if !stale.remove(&v) {
            return;
        }
        let name = g.copy_var(v);
        let slot = constant(LLConst::signed(i64::from(self.slots.of(v))));
        new.push(View::GcRestoreRoot { slot: &slot }.operation(name, at));
        names.insert(v, name);
    }
}

fn rename(args: &mut [LLOperand], names: &FxHashMap<VarId, VarId>) {
    for a in args {
        if let LLOperand::Var(v) = a
            && let Some(name) = names.get(v)
        {
            *v = *name;
        }
    }
}

/// The operations of a block that can collect, or those and `every_call`, with what they keep
/// alive.
fn collecting(
    g: &LLGraph,
    b: BlockId,
    every_call: bool,
    s: &dyn Summaries,
) -> Vec<(usize, Vec<VarId>)> {
    let block = g.block(b);
    let mut live: Vec<VarId> = Vec::new();
    let add = |live: &mut Vec<VarId>, v: VarId| {
        if is_root(g, v) && !live.contains(&v) {
            live.push(v);
        }
    };
    for link in &block.exits {
        used(&link.args).for_each(|v| add(&mut live, v));
    }
    let mut out = Vec::new();
    for (i, op) in block.operations.iter().enumerate().rev() {
        live.retain(|v| *v != op.result);
        if can_collect(op, s) || every_call && calls_a_graph(op) {
            let mut roots = live.clone();
            roots.sort_unstable();
            out.push((i, roots));
        }
        used(&op.args).for_each(|v| add(&mut live, v));
    }
    out.reverse();
    out
}
