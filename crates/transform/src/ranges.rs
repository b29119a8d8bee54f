//! Comparisons, overflow checks and null checks whose outcome follows from what numbers and pointers
//! can be there (LLVM has this as correlated value propagation).
//!
//! ```text
//! n = getfield(l, .length)            n = getfield(l, .length)        ; 0 to 2**45
//! m = int_add(n, 3)                   m = int_add(n, 3)
//! c = int_gt(m, 72057594037927936)    ; False
//! d = int_lt(m, n)                    ; False
//! k = int_mod(m, 8)                   k = int_and(m, 7)
//! s = int_add_ovf(m, 1)               s = int_add(m, 1)
//! ```
//!
//! Works in SSA form, down the dominator tree: what a branch says of numbers holds in all blocks that the
//! link dominates. Ranges start out from lengths, characters, masks, remainders and constants. Where
//! ways meet, an input argument has the range of what links pass that can be taken; in loops that is
//! repeated until nothing grows. A range that grows goes on to the next number that something is
//! compared with, and after some rounds to the end of its type. One more walk narrows the
//! ranges down again and changes the graph.
//!
//! That something fits where two numbers are unknown is found by what one of them was made of: `n`
//! is at most `n + 3`.

mod facts;
mod values;

use taipan_graph::{
    BlockId, Dominators, ExitCase, ExitSwitch, LinkId, Operation, Substitution, VarId, entry_map,
    remove_identical_vars_ssa, ssa_to_ssi,
};
use taipan_lltype::{
    LLConst, LLGraph, LLOp, LLOperand, LowLevel, NamedOperands, NumFamily, NumOp, PlainOp, View,
    const_word, word_const,
};

use self::facts::{Facts, holds};
use crate::calls::allocates;
use crate::interval::Range;
use crate::loops::dereferenced;
use crate::ssa::{constant, type_of};

/// Walks after which a range that still grows becomes that of its type.
const PATIENCE: u32 = 5;
/// Walks after which a graph is left as it is.
const MOST_WALKS: u32 = 20;
/// How many operations a number may be away from another one that it is compared with.
const DEPTH: u32 = 4;

/// Uses ranges. The graph is in SSI form. Returns whether anything changed.
pub(crate) fn narrow_ranges(g: &mut LLGraph) -> bool {
    let mut new = g.clone();
    remove_identical_vars_ssa(&mut new);
    let changed = narrow_ranges_ssa(&mut new);
    if changed {
        ssa_to_ssi(&mut new);
        *g = new;
    }
    changed
}

/// The same for a graph in SSA form, which it stays in, and in which no variable is another one's
/// equal.
pub(crate) fn narrow_ranges_ssa(g: &mut LLGraph) -> bool {
    let order = g.reachable();
    let mut pass = Ranges::new(g, &order);
    if !pass.find(g, &order) {
        return false;
    }
    pass.walk(g, true);
    pass.rewrite(g, &order);
    pass.changed
}

/// What is known of a link.
#[derive(Clone, Copy)]
struct Way {
    /// Whether it may be taken.
    taken: bool,
    /// Where its arguments start among [`Ranges::passed`].
    first: u32,
}

struct Ranges {
    entries: Vec<Vec<LinkId>>,
    dominators: Dominators,
    /// Blocks that links of blocks behind them lead to.
    headers: Vec<bool>,
    /// The blocks that a block dominates without one in between, in reverse postorder.
    children: Vec<Vec<BlockId>>,
    /// Of each variable whose type is followed; narrower while the walk is where more is known.
    ranges: Vec<Option<Range>>,
    /// Block and operation that a variable is the result of.
    definitions: Vec<(BlockId, u32)>,
    /// Links, after [`Ranges::first_way`] of the block that they leave.
    ways: Vec<Way>,
    first_way: Vec<u32>,
    passed: Vec<Option<Range>>,
    /// The number of the last walk that came to a block.
    reached: Vec<u32>,
    walks: u32,
    /// What ranges grow up to, sorted.
    limits: Vec<i128>,
    /// What the last walk found for variables.
    replaced: Substitution<LowLevel>,
    changed: bool,
}

/// A variable that no operation of a block is the result of.
const NO_OPERATION: u32 = u32::MAX;

impl Ranges {
    fn new(g: &LLGraph, order: &[BlockId]) -> Ranges {
        let dominators = Dominators::new(g);
        let mut children = vec![Vec::new(); g.blocks.len()];
        let entries = entry_map(g);
        let mut headers = vec![false; g.blocks.len()];
        let mut before = vec![false; g.blocks.len()];
        let mut definitions = vec![(g.startblock, NO_OPERATION); g.vars.len()];
        let mut ways = Vec::new();
        let mut first_way = vec![0; g.blocks.len()];
        let mut passed = 0;
        for b in order {
            let goes_back = |l: &LinkId| !before[l.source.index()];
            headers[b.index()] = entries[b.index()].iter().any(goes_back);
            before[b.index()] = true;
            if let Some(d) = dominators.immediate(*b) {
                children[d.index()].push(*b);
            }
            let block = g.block(*b);
            for v in block.definitions() {
                definitions[v.index()] = (*b, NO_OPERATION);
            }
            for (i, op) in block.operations.iter().enumerate() {
                definitions[op.result.index()] = (*b, i as u32);
            }
            first_way[b.index()] = ways.len() as u32;
            for link in &block.exits {
                let first = passed;
                ways.push(Way {
                    taken: false,
                    first,
                });
                passed += link.args.len() as u32;
            }
        }
        let of_type = |v: u32| Range::of_type(*g.ty(VarId(v)));
        Ranges {
            entries,
            dominators,
            headers,
            children,
            ranges: (0..g.vars.len() as u32).map(of_type).collect(),
            definitions,
            ways,
            first_way,
            passed: vec![None; passed as usize],
            reached: vec![0; g.blocks.len()],
            walks: 0,
            limits: Vec::new(),
            replaced: Substitution::<LowLevel>::default(),
            changed: false,
        }
    }

    /// Finds ranges that hold in every round of loops. Returns whether it has found them.
    fn find(&mut self, g: &mut LLGraph, order: &[BlockId]) -> bool {
        let headers = || order.iter().filter(|b| self.headers[b.index()]);
        if headers().next().is_none() {
            return true;
        }
        let headers: Vec<BlockId> = headers().copied().collect();
        while self.walks < MOST_WALKS {
            self.walk(g, false);
            if self.walks == 1 {
                self.limits.sort_unstable();
                self.limits.dedup();
            }
            if headers.iter().all(|h| self.is_stable(g, *h)) {
                return true;
            }
        }
        false
    }

    /// Whether what links pass is within what the last walk took it to be.
    fn is_stable(&self, g: &LLGraph, header: BlockId) -> bool {
        let taken = self.entries[header.index()]
            .iter()
            .any(|l| self.way(*l).taken);
        if !taken || self.is_end(g, header) {
            return true;
        }
        let inputs = g.block(header).inputargs.iter().enumerate();
        self.reached[header.index()] == self.walks
            && inputs.clone().all(|(i, v)| {
                let passed = self.passed_for(header, i, |_| true);
                match (passed, self.ranges[v.index()]) {
                    (Some(passed), Some(known)) => passed.is_within(known),
                    _ => true,
                }
            })
    }

    /// Blocks whose input arguments are what they are.
    fn is_end(&self, g: &LLGraph, b: BlockId) -> bool {
        [g.startblock, g.returnblock, g.exceptblock].contains(&b)
    }

    fn way(&self, l: LinkId) -> Way {
        self.ways[self.first_way[l.source.index()] as usize + l.exit]
    }

    /// What the links that may be taken pass for an input argument.
    fn passed_for(
        &self,
        b: BlockId,
        input: usize,
        among: impl Fn(LinkId) -> bool,
    ) -> Option<Range> {
        let mut all: Option<Range> = None;
        for l in self.entries[b.index()].iter().filter(|l| among(**l)) {
            let way = self.way(*l);
            if way.taken {
                let passed = self.passed[way.first as usize + input]?;
                all = Some(all.map_or(passed, |r| r.join(passed)));
            }
        }
        all
    }

    /// Walks down the dominator tree. The last walk changes operations.
    fn walk(&mut self, g: &mut LLGraph, last: bool) {
        enum Step {
            Enter(BlockId),
            /// Forget what was only known in a block and those that it dominates.
            Leave(usize),
        }
        self.walks += 1;
        let mut undo: Vec<(VarId, Option<Range>)> = Vec::new();
        let mut pending = vec![Step::Enter(g.startblock)];
        while let Some(step) = pending.pop() {
            match step {
                Step::Leave(known) => {
                    while undo.len() > known
                        && let Some((v, range)) = undo.pop()
                    {
                        self.ranges[v.index()] = range;
                    }
                }
                Step::Enter(b) => {
                    let entries = &self.entries[b.index()];
                    if b != g.startblock && !entries.iter().any(|l| self.way(*l).taken) {
                        self.leave_alone(g, b);
                        continue;
                    }
                    pending.push(Step::Leave(undo.len()));
                    if let Some(only) = self.only_way(b) {
                        let facts = self.facts(g, only);
                        self.know(&facts, &mut undo);
                    }
                    self.inputs(g, b, last);
                    self.reached[b.index()] = self.walks;
                    self.operations(g, b, last, &mut undo);
                    self.exits(g, b);
                    let children = self.children[b.index()].iter().rev();
                    pending.extend(children.map(|c| Step::Enter(*c)));
                }
            }
        }
    }

    /// The one link by which control comes to a block, but for links back to it.
    fn only_way(&self, b: BlockId) -> Option<LinkId> {
        let entries = self.entries[b.index()].iter().copied();
        let mut ways = entries.filter(|l| !self.dominators.dominates(b, l.source));
        ways.next().filter(|_| ways.next().is_none())
    }

    /// No link out of a block, or out of those that it dominates, is taken.
    fn leave_alone(&mut self, g: &LLGraph, b: BlockId) {
        let mut pending = vec![b];
        while let Some(b) = pending.pop() {
            let first = self.first_way[b.index()] as usize;
            for way in &mut self.ways[first..first + g.block(b).exits.len()] {
                way.taken = false;
            }
            pending.extend(&self.children[b.index()]);
        }
    }

    fn know(&mut self, facts: &Facts, undo: &mut Vec<(VarId, Option<Range>)>) {
        for (v, range) in facts {
            let known = &mut self.ranges[v.index()];
            if let Some(both) = known.and_then(|k| k.meet(*range))
                && Some(both) != *known
            {
                undo.push((*v, *known));
                *known = Some(both);
            }
        }
    }

    /// Input arguments are what links pass.
    fn inputs(&mut self, g: &LLGraph, b: BlockId, last: bool) {
        if self.is_end(g, b) {
            return;
        }
        let grows = self.headers[b.index()] && self.reached[b.index()] > 0 && !last;
        for (i, v) in g.block(b).inputargs.iter().enumerate() {
            let Some(known) = self.ranges[v.index()] else {
                continue;
            };
            let whole = Range::of_type(*g.ty(*v)).unwrap_or(known);
            let mut range = self.passed_for(b, i, |_| true).unwrap_or(whole);
            if grows {
                range = self.grown(known, range, whole);
            }
            self.ranges[v.index()] = Some(range);
            if last {
                self.decide(g, *v);
            }
        }
    }

    /// A range in a loop, which has to have an end to its growth.
    fn grown(&self, known: Range, passed: Range, whole: Range) -> Range {
        let mut range = known.join(passed);
        if range == known {
            return known;
        }
        if self.walks > PATIENCE {
            return whole;
        }
        if range.high > known.high {
            let next = self.limits.partition_point(|n| *n < range.high);
            range.high = self
                .limits
                .get(next)
                .map_or(whole.high, |n| whole.high.min(*n));
        }
        if range.low < known.low {
            let next = self.limits.partition_point(|n| *n <= range.low);
            let limit = next.checked_sub(1).and_then(|i| self.limits.get(i));
            range.low = limit.map_or(whole.low, |n| whole.low.max(*n));
        }
        range
    }

    fn operations(
        &mut self,
        g: &mut LLGraph,
        b: BlockId,
        last: bool,
        undo: &mut Vec<(VarId, Option<Range>)>,
    ) {
        for i in 0..g.block(b).operations.len() {
            let op = &g.block(b).operations[i];
            let result = op.result;
            if self.walks == 1 && !last {
                self.add_limits(op);
            }
            if let Some(whole) = Range::of_type(*g.ty(result)) {
                let found = self.result(g, op).and_then(|r| r.meet(whole));
                self.ranges[result.index()] = Some(found.unwrap_or(whole));
            }
            // It would have ended the program.
            if let Some(object) = dereferenced(op).filter(|v| g.ty(*v).is_gc_ptr()) {
                self.know(&Facts::from_slice(&[(object, Range::just(1))]), undo);
            }
            if last {
                let op = &g.block(b).operations[i];
                if op.op.can_fold() && !op.op.can_raise() {
                    self.decide(g, result);
                }
                if let Some(better) = self.better(g, op) {
                    g.block_mut(b).operations[i] = better;
                    self.changed = true;
                }
            }
        }
    }

    /// Numbers that something is compared with are where ranges may stop growing.
    fn add_limits(&mut self, op: &Operation<LowLevel>) {
        let View::Binary {
            op, left, right, ..
        } = op.view()
        else {
            return;
        };
        if !op.is_comparison() {
            return;
        }
        for Range { low, high } in [self.range(left), self.range(right)].into_iter().flatten() {
            self.limits.extend([low, low - 1, high, high - 1]);
        }
    }

    fn range(&self, o: &LLOperand) -> Option<Range> {
        match o {
            LLOperand::Var(v) => self.ranges[v.index()],
            LLOperand::Const(LLConst::Null(_)) => Some(Range::just(0)),
            LLOperand::Const(LLConst::Static(..)) => Some(Range::just(1)),
            LLOperand::Const(c) => Range::of_type(c.ty())
                .and_then(|whole| Some(Range::just(const_word(c)?)).filter(|r| r.is_within(whole))),
        }
    }

    /// The operation that a variable is the result of.
    fn definition<'g>(&self, g: &'g LLGraph, v: VarId) -> Option<&'g Operation<LowLevel>> {
        let (b, i) = self.definitions[v.index()];
        g.block(b).operations.get(i as usize)
    }

    fn view<'g>(&self, g: &'g LLGraph, o: &LLOperand) -> Option<View<'g, LLOperand>> {
        Some(self.definition(g, o.as_var()?)?.view())
    }

    /// Notes which links out of a block may be taken, and what they pass.
    fn exits(&mut self, g: &LLGraph, b: BlockId) {
        let block = g.block(b);
        let raises = (block.operations.last())
            .is_some_and(|op| allocates(op) || op.op.can_raise() && !self.cannot_overflow(g, op));
        for (exit, link) in block.exits.iter().enumerate() {
            let l = LinkId { source: b, exit };
            let may_be = |c: &LLOperand| match (&block.exitswitch, self.range(c)) {
                (ExitSwitch::Value(o), Some(case)) => {
                    self.range(o).is_none_or(|r| r.meet(case).is_some())
                }
                _ => true,
            };
            let taken = match &link.case {
                ExitCase::Bool(case) => may_be(&constant(LLConst::Bool(*case))),
                ExitCase::Value(c) => may_be(&constant(c.clone())),
                ExitCase::Exception(_) => raises,
                ExitCase::None | ExitCase::Default => true,
            };
            let Way { first, .. } = self.way(l);
            let way = self.first_way[b.index()] as usize + exit;
            self.ways[way].taken = taken;
            if !taken || self.is_end(g, link.target) || link.args.is_empty() {
                continue;
            }
            let facts = self.facts(g, l);
            for (i, o) in link.args.iter().enumerate() {
                let known = |v: VarId| facts.iter().rev().find(|(f, _)| *f == v);
                let range = match o.as_var().and_then(known) {
                    Some((_, range)) => Some(*range),
                    None => self.range(o),
                };
                let counted = || self.counted(g, l, i);
                self.passed[first as usize + i] = match range {
                    Some(range) if self.headers[link.target.index()] => {
                        counted().and_then(|c| c.meet(range)).or(Some(range))
                    }
                    other => other,
                };
            }
        }
    }

    /// What a link back passes for an input argument that counts up, or down, from before a limit
    /// until it is that:
    ///
    /// ```text
    /// block1(i):
    ///     j = int_add(i, 1)
    ///     c = int_eq(j, n)
    ///     switch c False: block1(j)
    /// ```
    ///
    /// All other ways to the loop must pass what is before the limit, or count to it as well.
    fn counted(&self, g: &LLGraph, l: LinkId, input: usize) -> Option<Range> {
        let counter @ (limit, by) = self.counter(g, l, input)?;
        let header = g.link(l).target;
        let others = |other| other != l && self.counter(g, other, input) != Some(counter);
        let start = self.passed_for(header, input, others)?;
        let limit = self.range(limit)?;
        match by {
            1 if start.high < limit.low => Some(Range::new(
                start.low + 1,
                (limit.high - 1).max(start.low + 1),
            )),
            -1 if start.low > limit.high => Some(Range::new(
                (limit.low + 1).min(start.high - 1),
                start.high - 1,
            )),
            _ => None,
        }
    }

    /// If a link back passes the next number for an input argument unless that is a limit: the
    /// limit, which is the same in all rounds, and what is added to the argument.
    fn counter<'g>(
        &self,
        g: &'g LLGraph,
        l: LinkId,
        input: usize,
    ) -> Option<(&'g LLOperand, i128)> {
        let block = g.block(l.source);
        let link = &block.exits[l.exit];
        let next = &link.args[input];
        let (ExitSwitch::Value(test), ExitCase::Bool(truth)) = (&block.exitswitch, &link.case)
        else {
            return None;
        };
        let View::Binary {
            family: NumFamily::Int,
            op,
            left,
            right,
        } = self.view(g, test)?
        else {
            return None;
        };
        let limit = match (left == next, right == next) {
            (true, false) => right,
            (false, true) => left,
            _ => return None,
        };
        (holds(op, *truth)? == NumOp::Ne).then_some(())?;
        let header = link.target;
        let is_outside = |v: VarId| {
            let (b, _) = self.definitions[v.index()];
            b != header && self.dominators.dominates(b, header)
        };
        limit.as_var().is_none_or(is_outside).then_some(())?;
        let View::Binary {
            family: NumFamily::Int,
            op,
            left,
            right: LLOperand::Const(by),
        } = self.view(g, next)?
        else {
            return None;
        };
        (left.as_var()? == g.block(header).inputargs[input]).then_some(())?;
        match (op, const_word(by)?) {
            (NumOp::Add, n) => Some((limit, n)),
            (NumOp::Sub, n) => Some((limit, -n)),
            _ => None,
        }
    }

    /// Whether an operation checks for an overflow that does not happen.
    fn cannot_overflow(&self, g: &LLGraph, op: &Operation<LowLevel>) -> bool {
        let whole = Range::of_type(*g.ty(op.result));
        unchecked(op).is_some()
            && self
                .computed(g, &op.view())
                .is_some_and(|r| whole.is_some_and(|whole| r.is_within(whole)))
    }

    /// Notes that a variable always is the same number, if it is.
    fn decide(&mut self, g: &LLGraph, v: VarId) {
        let ty = *g.ty(v);
        if let Some(n) = self.ranges[v.index()].and_then(Range::only)
            && !ty.is_gc_ptr()
            && let Some(c) = word_const(n, ty)
        {
            self.replaced.insert(v, constant(c));
            self.changed = true;
        }
    }

    /// What does the same as an operation at less cost.
    fn better(&self, g: &LLGraph, op: &Operation<LowLevel>) -> Option<Operation<LowLevel>> {
        if let Some(num) = unchecked(op).filter(|_| self.cannot_overflow(g, op)) {
            let mut op = op.clone();
            op.op = LLOp::Num(NumFamily::Int, num);
            return Some(op);
        }
        let view = op.view();
        match view {
            // The second one alone decides on which side an overflow is.
            View::IntAddOvf { left, right } => {
                let is_constant = |o: &LLOperand| o.as_const().is_some();
                if is_constant(left) || is_constant(right) {
                    return None;
                }
                let (left, right) = match (self.range(left)?, self.range(right)?) {
                    (_, by) if by.is_nonneg() => (left, right),
                    (by, _) if by.is_nonneg() => (right, left),
                    _ => return None,
                };
                let sum = View::IntAddNonnegOvf { left, right };
                Some(sum.operation(op.result, op.at))
            }
            View::IntForceGeZero { value }
            | View::Unary {
                op: NumOp::Abs,
                value,
                ..
            } if self.range(value)?.is_nonneg() => {
                Some(View::SameAs { value }.operation(op.result, op.at))
            }
            View::Binary {
                family: NumFamily::Int,
                op: num @ (NumOp::FloorDiv | NumOp::Mod),
                left,
                right,
            } => {
                let divisor = self.range(right)?.only()?;
                let power = divisor > 0 && divisor & (divisor - 1) == 0;
                if !power || !self.range(left)?.is_nonneg() {
                    return None;
                }
                let (num, by) = match num {
                    NumOp::Mod => (NumOp::And, divisor - 1),
                    _ => (NumOp::RShift, i128::from(divisor.trailing_zeros())),
                };
                let right = &constant(word_const(by, type_of(g, right))?);
                let view = View::Binary {
                    family: NumFamily::Int,
                    op: num,
                    left,
                    right,
                };
                Some(view.operation(op.result, op.at))
            }
            _ => None,
        }
    }

    /// Puts in constants, and takes out the links that are never taken.
    fn rewrite(&mut self, g: &mut LLGraph, order: &[BlockId]) {
        for b in order {
            if self.reached[b.index()] != self.walks {
                continue;
            }
            let first = self.first_way[b.index()] as usize;
            let ways = &self.ways[first..first + g.block(*b).exits.len()];
            let block = g.block_mut(*b);
            block.substitute(&self.replaced);
            if block.fold_exitswitch() {
                continue;
            }
            if ways.iter().any(|w| w.taken) && !ways.iter().all(|w| w.taken) {
                self.changed = true;
                let mut taken = ways.iter().map(|w| w.taken);
                block.exits.retain(|_| taken.next().unwrap_or(true));
                if let [only] = &mut block.exits[..] {
                    only.case = ExitCase::None;
                    block.exitswitch = ExitSwitch::None;
                }
            }
        }
    }
}

/// The operation that computes the same where there is no overflow.
fn unchecked(op: &Operation<LowLevel>) -> Option<NumOp> {
    match op.op {
        LLOp::Plain(PlainOp::IntAddOvf | PlainOp::IntAddNonnegOvf) => Some(NumOp::Add),
        LLOp::Plain(PlainOp::IntSubOvf) => Some(NumOp::Sub),
        LLOp::Plain(PlainOp::IntMulOvf) => Some(NumOp::Mul),
        _ => None,
    }
}
