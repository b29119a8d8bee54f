//! What branches say of numbers.

use smallvec::SmallVec;
use taipan_graph::{ExitCase, ExitSwitch, LinkId, VarId};
use taipan_lltype::{LLGraph, LLOperand, LowLevel, NamedOperands, NumOp, View, const_word};

use super::{DEPTH, Ranges};
use crate::interval::Range;
use crate::ssa::type_of;

/// Switches with more exits say nothing of the value in their default case.
const FEW_CASES: usize = 16;

/// What holds of variables along a link.
pub(super) type Facts = SmallVec<[(VarId, Range); 8]>;

impl Ranges {
    /// What holds where a link has been taken.
    pub(super) fn facts(&self, g: &LLGraph, l: LinkId) -> Facts {
        let mut facts = Facts::new();
        let block = g.block(l.source);
        let ExitSwitch::Value(LLOperand::Var(v)) = &block.exitswitch else {
            return facts;
        };
        let number = |case: &ExitCase<LowLevel>| match case {
            ExitCase::Bool(b) => Some(i128::from(*b)),
            ExitCase::Value(c) => const_word(c),
            _ => None,
        };
        if let Some(n) = number(&block.exits[l.exit].case) {
            self.learn(g, *v, Range::just(n), &mut facts, DEPTH);
        } else if let Some(mut range) = self.ranges[v.index()]
            && block.exits.len() <= FEW_CASES
        {
            let is_case = |n: i128| block.exits.iter().any(|l| number(&l.case) == Some(n));
            while range.low < range.high && is_case(range.low) {
                range.low += 1;
            }
            while range.low < range.high && is_case(range.high) {
                range.high -= 1;
            }
            self.learn(g, *v, range, &mut facts, DEPTH);
        }
        facts
    }

    fn learn_of(&self, g: &LLGraph, o: &LLOperand, range: Range, facts: &mut Facts, depth: u32) {
        if let Some(v) = o.as_var() {
            self.learn(g, v, range, facts, depth);
        }
    }

    /// A variable is within a range, and what it was made of is accordingly.
    fn learn(&self, g: &LLGraph, v: VarId, range: Range, facts: &mut Facts, depth: u32) {
        let Some(known) = self.ranges[v.index()] else {
            return;
        };
        let Some(new) = known.meet(range).filter(|new| *new != known) else {
            return;
        };
        facts.push((v, new));
        let Some(op) = self.definition(g, v).filter(|_| depth > 0) else {
            return;
        };
        let depth = depth - 1;
        match op.view() {
            View::SameAs { value }
            | View::Likely { value }
            | View::Unlikely { value }
            | View::CastPointer { value }
            | View::CastOpaquePtr { value }
            | View::PtrNonzero { value }
            | View::CastBoolToInt { value }
            | View::CastBoolToUint { value }
            | View::CastCharToInt { value }
            | View::CastUnicharToInt { value } => self.learn_of(g, value, new, facts, depth),
            View::CastIntToUint { value } | View::CastUintToInt { value } => {
                // Both are the same number, if that is one of both types.
                let whole = Range::of_type(type_of(g, value));
                if new.is_nonneg() && whole.is_some_and(|whole| new.is_within(whole)) {
                    self.learn_of(g, value, new, facts, depth);
                }
            }
            View::BoolNot { value } | View::PtrIszero { value } => {
                let opposite = Range::new(1 - new.high, 1 - new.low);
                self.learn_of(g, value, opposite, facts, depth);
            }
            View::IntBetween { low, value, high } if new.only() == Some(1) => {
                self.learn_comparison(g, NumOp::Le, low, value, facts, depth);
                self.learn_comparison(g, NumOp::Lt, value, high, facts, depth);
            }
            View::Unary {
                op: NumOp::IsTrue,
                value,
                ..
            } => {
                let op = if new.only() == Some(1) {
                    NumOp::Ne
                } else {
                    NumOp::Eq
                };
                let (left, _) = match self.range(value) {
                    Some(range) => Range::where_holds(op, range, Range::just(0)),
                    None => return,
                };
                self.learn_of(g, value, left, facts, depth);
            }
            View::Binary {
                op, left, right, ..
            } if op.is_comparison() => {
                if let Some(op) = holds(op, new.only() == Some(1)) {
                    self.learn_comparison(g, op, left, right, facts, depth);
                }
            }
            View::Binary {
                op: NumOp::Add | NumOp::Sub,
                left,
                right: LLOperand::Const(c),
                ..
            } => {
                let (Some((op, ..)), Some(n)) = (self.exact(g, &v.into()), const_word(c)) else {
                    return;
                };
                let by = if op == NumOp::Add { n } else { -n };
                let before = Range::new(new.low - by, new.high - by);
                self.learn_of(g, left, before, facts, depth);
            }
            _ => {}
        }
    }

    fn learn_comparison(
        &self,
        g: &LLGraph,
        op: NumOp,
        left: &LLOperand,
        right: &LLOperand,
        facts: &mut Facts,
        depth: u32,
    ) {
        if let (Some(a), Some(b)) = (self.range(left), self.range(right)) {
            let (a, b) = Range::where_holds(op, a, b);
            self.learn_of(g, left, a, facts, depth);
            self.learn_of(g, right, b, facts, depth);
        }
    }
}

/// The comparison that holds where another one has this result.
pub(super) fn holds(op: NumOp, result: bool) -> Option<NumOp> {
    use NumOp::*;
    Some(match (op, result) {
        (Lt | Le | Gt | Ge | Eq | Ne, true) => op,
        (Lt, false) => Ge,
        (Le, false) => Gt,
        (Gt, false) => Le,
        (Ge, false) => Lt,
        (Eq, false) => Ne,
        (Ne, false) => Eq,
        _ => return None,
    })
}
