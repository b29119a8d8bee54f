//! Extent of a unit, and its exits.

use rustc_hash::FxHashSet;
use taipan_graph::{BlockId, VarId};
use taipan_jit::{Stub, Word};
use taipan_lltype::LLOperand;

use super::hot::rounds_of;
use super::{Functions, Left, NEVER, Point};
use crate::engine::NativeJit;
use crate::entries::PortalKey;
use crate::unit::{CalledPortal, Exits, VirtualCall, size};

/// Maximum number of operations that a unit copies from other units which it joins in the middle. Without
/// copies there would be many small units, each from one join to the next.
const MOST_AGAIN: usize = 100;

/// Number of null results after which an `@elidable` call is replaced by null.
const MOST_TRIES: u64 = 1_000;

/// How far a unit extends.
#[derive(Clone, Copy)]
pub(super) enum Extent<'a> {
    /// Up to blocks that another unit contains. The cell is that of the unit.
    Rest(usize),
    /// As `Rest`, but the given blocks are included even if another unit contains them.
    Copy(usize, &'a FxHashSet<BlockId>),
    /// To the next blocks that can be entered from other units.
    Piece,
    /// To the blocks of a region that it begins with. A word counts how often it is entered, and
    /// the cell is that by which the compiler is called when that was often.
    Loop(&'a FxHashSet<BlockId>, usize, usize),
}

/// Where the unit that is being made is left.
pub(super) struct Plan<'a, 'p> {
    pub(super) inner: &'a mut Functions<'p>,
    pub(super) jit: &'a NativeJit<'p>,
    pub(super) function: usize,
    pub(super) extent: Extent<'a>,
    /// The unit's first block.
    pub(super) start: BlockId,
    /// What the unit starts with.
    pub(super) live: &'a [VarId],
    /// Approximate number of operations copied from other units.
    pub(super) again: usize,
}

impl Plan<'_, '_> {
    fn cell(&mut self, point: Point, live: Vec<VarId>, value: Option<VarId>) -> usize {
        self.inner.cell(self.function, point, live, value)
    }

    fn inputs(&self, b: BlockId) -> Vec<VarId> {
        self.inner.inputs(self.function, b)
    }
}

impl Exits for Plan<'_, '_> {
    fn entry(&mut self, b: BlockId) -> Option<usize> {
        let f = &mut self.inner.functions[self.function];
        let inputs = &f.residual.graph().block(b).inputargs;
        // A case of a promotion starts with what the block defines that promotes.
        let defines = self.live.iter().any(|v| inputs.contains(v));
        let included = match self.extent {
            Extent::Loop(inside, ..) => inside.contains(&b),
            Extent::Piece => false,
            // What was compiled in the middle of another unit is compiled once more, a
            // piece at a time.
            Extent::Rest(_) | Extent::Copy(..) if f.compiled.insert(b) => true,
            Extent::Rest(_) if f.starts.contains(&b) || defines => false,
            Extent::Rest(_) if self.again >= MOST_AGAIN => false,
            Extent::Copy(_, copied) if copied.contains(&b) => !defines,
            Extent::Copy(..) => false,
            Extent::Rest(_) => {
                self.again += 1 + size(f.residual.graph().block(b));
                true
            }
        };
        if included {
            if let Extent::Rest(cell) | Extent::Copy(cell, _) = self.extent {
                f.middle.entry(b).or_default().push(cell);
                f.inside.entry(cell).or_default().push(b);
            }
            return None;
        }
        let live = self.inputs(b);
        Some(self.cell(Point::Block(b), live, None))
    }

    fn portal(&mut self, greens: &[Word], callee: &LLOperand, fixed: &[LLOperand]) -> usize {
        (self.inner).portal_cell(self.jit, self.function, greens, (callee, fixed))
    }

    fn called_portal(&mut self, driver: u32, greens: &[Word]) -> CalledPortal {
        let key = PortalKey::plain(driver as usize, greens);
        let inner = &mut *self.inner;
        let of = &self.jit.entered[driver as usize];
        CalledPortal {
            entry: inner.entries.word(key, &mut inner.words),
            ty: of.entry.clone(),
            rest: of.rest.clone(),
        }
    }

    fn wants_virtual_arguments(&self, driver: u32, greens: &[Word]) -> bool {
        let key = PortalKey::plain(driver as usize, greens);
        matches!(self.extent, Extent::Loop(..))
            && self.inner.entries.is_set(&key)
            && !self.inner.has_loops(&key)
    }

    fn virtual_portal(&mut self, call: VirtualCall<'_>) -> Option<CalledPortal> {
        let driver = call.driver as usize;
        let number = self
            .inner
            .number_of_arguments(driver, call.greens, &call.built.arguments)?;
        let key = PortalKey {
            driver,
            greens: call.greens.to_vec(),
            arguments: Some(number),
        };
        let ty = self.inner.entry_type(self.jit, &key);
        if !self.inner.portals.contains_key(&key) {
            let graph = self.inner.functions[self.function].residual.graph();
            let makes = call.interpreted(graph, ty.result);
            let left = Left {
                key: key.clone(),
                count: 0,
                callee: call.callee.clone(),
                greens: Vec::new(),
                makes_arguments: Some(makes),
            };
            let cell = self.inner.waiting_portal(self.jit, self.function, left);
            let entry = self.inner.entry(&ty, cell).ok()?;
            self.inner
                .entries
                .set(key.clone(), entry, &mut self.inner.words);
        }
        Some(CalledPortal {
            entry: self.inner.entries.word(key, &mut self.inner.words),
            ty,
            rest: self.jit.entered[driver].rest.clone(),
        })
    }

    fn interpreter(&mut self) -> Option<usize> {
        let driver = self.inner.functions[self.function].key.driver;
        self.inner.leaving_cell(self.jit, driver).ok()
    }

    fn stub(&mut self, stub: &Stub) -> usize {
        let f = &mut self.inner.functions[self.function];
        f.stubs.insert(stub.number, stub.clone());
        let live = self.inputs(stub.target);
        self.cell(Point::Stub(stub.number), live, stub.value)
    }

    fn tries(&mut self, result: VarId) -> usize {
        let inner = &mut *self.inner;
        let tries = &mut inner.functions[self.function].tries;
        *tries
            .entry(result)
            .or_insert_with(|| inner.words.new_word(MOST_TRIES))
    }

    fn counter(&mut self, b: BlockId, operations: usize) -> Option<(usize, usize)> {
        if let Extent::Loop(..) = self.extent {
            return None;
        }
        let live = self.inputs(b);
        let cell = self.cell(Point::Hot(b), live, None);
        let inner = &mut *self.inner;
        let words = &mut inner.words;
        let f = &mut inner.functions[self.function];
        let rounds = rounds_of(operations, self.jit.options.hot);
        let new = || (words.new_word(rounds), rounds);
        Some((f.counters.entry(b).or_insert_with(new).0, cell))
    }

    fn entered(&self) -> Option<(usize, usize)> {
        match self.extent {
            Extent::Loop(_, counter, cell) => Some((counter, cell)),
            Extent::Rest(_) | Extent::Copy(..) | Extent::Piece => None,
        }
    }

    fn tally(&mut self) -> Option<usize> {
        let inner = &mut *self.inner;
        let is_hot = matches!(self.extent, Extent::Loop(..));
        if is_hot && !inner.log.is_on() {
            return None;
        }
        let tally = inner.words.new_word(NEVER);
        inner.log.count_by(tally);
        if !is_hot {
            let tallies = &mut inner.functions[self.function].tallies;
            tallies.push((self.start, tally));
        }
        Some(tally)
    }
}
