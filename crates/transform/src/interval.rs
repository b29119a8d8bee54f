//! Ranges of numbers.

use taipan_graph::IntKind;
use taipan_lltype::{LLType, NumOp, TypeKind};

/// The numbers from `low` to `high`, of which there is at least one. Of a pointer it is whether it
/// points to something: 0 is the null pointer, 1 any other one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Range {
    pub(crate) low: i128,
    pub(crate) high: i128,
}

impl Range {
    pub(crate) const BOOL: Range = Range::new(0, 1);

    /// The numbers from one to another one.
    pub(crate) const fn new(low: i128, high: i128) -> Range {
        Range { low, high }
    }

    /// One number alone.
    pub(crate) const fn just(n: i128) -> Range {
        Range::new(n, n)
    }

    /// A truth value, if it is known.
    fn truth(known: Option<bool>) -> Range {
        known.map_or(Range::BOOL, |b| Range::just(i128::from(b)))
    }

    /// What a value of a type may be; none of types that are not followed.
    pub(crate) fn of_type(ty: LLType) -> Option<Range> {
        Some(match ty.kind() {
            TypeKind::Bool => Range::BOOL,
            TypeKind::Char => Range::new(0, 0xff),
            TypeKind::UniChar => Range::new(0, 0xffff_ffff),
            TypeKind::Int(k) => Range::of_kind(*k)?,
            TypeKind::Ptr(_) if ty.is_gc_ptr() => Range::BOOL,
            _ => return None,
        })
    }

    fn of_kind(kind: IntKind) -> Option<Range> {
        let bits = u32::from(kind.bits);
        Some(match kind.signed {
            _ if bits > 64 => return None,
            true => Range::new(-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            false => Range::new(0, (1 << bits) - 1),
        })
    }

    /// The number, if there is one only.
    pub(crate) fn only(self) -> Option<i128> {
        (self.low == self.high).then_some(self.low)
    }

    pub(crate) fn is_nonneg(self) -> bool {
        self.low >= 0
    }

    /// Whether all of these are among others.
    pub(crate) fn is_within(self, other: Range) -> bool {
        other.low <= self.low && self.high <= other.high
    }

    pub(crate) fn contains(self, n: i128) -> bool {
        self.low <= n && n <= self.high
    }

    /// The least range with both.
    pub(crate) fn join(self, other: Range) -> Range {
        Range::new(self.low.min(other.low), self.high.max(other.high))
    }

    /// What is in both, if anything is.
    pub(crate) fn meet(self, other: Range) -> Option<Range> {
        let (low, high) = (self.low.max(other.low), self.high.min(other.high));
        (low <= high).then_some(Range::new(low, high))
    }

    /// The range of some results.
    fn around(results: &[i128]) -> Option<Range> {
        let low = results.iter().min()?;
        let high = results.iter().max()?;
        Some(Range::new(*low, *high))
    }

    /// What a function that goes up, or down, makes of the ends of two ranges.
    fn ends(self, other: Range, f: impl Fn(i128, i128) -> Option<i128>) -> Option<Range> {
        let all = [
            f(self.low, other.low)?,
            f(self.low, other.high)?,
            f(self.high, other.low)?,
            f(self.high, other.high)?,
        ];
        Range::around(&all)
    }

    /// What an operation makes of numbers, before it is wrapped to its type; none where that is not
    /// known.
    pub(crate) fn binary(op: NumOp, left: Range, right: Range) -> Option<Range> {
        use NumOp::*;
        let nonneg = left.is_nonneg() && right.is_nonneg();
        let shifts = right.is_within(Range::new(0, 63));
        match op {
            Add => left.ends(right, i128::checked_add),
            Sub => left.ends(right, i128::checked_sub),
            Mul => left.ends(right, i128::checked_mul),
            FloorDiv if right.low > 0 => left.ends(right, i128::checked_div),
            Mod if !right.contains(0) => Some(left.modulo(right)),
            And if nonneg => Some(Range::new(0, left.high.min(right.high))),
            And if left.is_nonneg() => Some(Range::new(0, left.high)),
            And if right.is_nonneg() => Some(Range::new(0, right.high)),
            Or | Xor if nonneg => {
                let bits = 128 - (left.high | right.high).leading_zeros();
                let low = if op == Or { left.low.max(right.low) } else { 0 };
                Some(Range::new(low, (1 << bits) - 1))
            }
            LShift if shifts => left.ends(right, |a, n| a.checked_mul(1 << n)),
            RShift if shifts => left.ends(right, |a, n| Some(a >> n)),
            _ if op.is_comparison() => Some(Range::truth(Range::compare(op, left, right))),
            _ => None,
        }
    }

    /// The remainder of a division that truncates.
    fn modulo(self, by: Range) -> Range {
        let most = by.low.abs().max(by.high.abs()) - 1;
        let low = if self.is_nonneg() {
            0
        } else {
            self.low.max(-most)
        };
        let high = if self.high <= 0 {
            0
        } else {
            self.high.min(most)
        };
        Range::new(low, high)
    }

    /// What a comparison says of all numbers of two ranges, if it says the same of all.
    pub(crate) fn compare(op: NumOp, left: Range, right: Range) -> Option<bool> {
        use NumOp::*;
        let less = |a: Range, b: Range| match (a.high < b.low, a.low >= b.high) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        };
        let equal = match left.meet(right) {
            None => Some(false),
            Some(_) => (left.only().is_some() && left == right).then_some(true),
        };
        match op {
            Lt => less(left, right),
            Gt => less(right, left),
            Ge => less(left, right).map(|b| !b),
            Le => less(right, left).map(|b| !b),
            Eq => equal,
            Ne => equal.map(|b| !b),
            _ => None,
        }
    }

    /// What an operation makes of a number, before it is wrapped to its type.
    pub(crate) fn unary(op: NumOp, value: Range) -> Option<Range> {
        let Range { low, high } = value;
        Some(match op {
            NumOp::IsTrue => Range::truth(Range::compare(NumOp::Ne, value, Range::just(0))),
            NumOp::Neg => Range::new(-high, -low),
            NumOp::Invert => Range::new(!high, !low),
            NumOp::Abs if low >= 0 => value,
            NumOp::Abs if high <= 0 => Range::new(-high, -low),
            NumOp::Abs => Range::new(0, high.max(-low)),
            _ => return None,
        })
    }

    /// What is left of two ranges where a comparison of them holds.
    pub(crate) fn where_holds(op: NumOp, left: Range, right: Range) -> (Range, Range) {
        use NumOp::*;
        let below = |a: Range, b: Range, by: i128| {
            let a2 = Range::new(a.low, a.high.min(b.high - by));
            let b2 = Range::new(b.low.max(a.low + by), b.high);
            (a2, b2)
        };
        let without = |a: Range, n: Option<i128>| match n {
            Some(n) if n == a.low && a.low < a.high => Range::new(a.low + 1, a.high),
            Some(n) if n == a.high && a.low < a.high => Range::new(a.low, a.high - 1),
            _ => a,
        };
        let swapped = |(b, a)| (a, b);
        match op {
            Lt => below(left, right, 1),
            Le => below(left, right, 0),
            Gt => swapped(below(right, left, 1)),
            Ge => swapped(below(right, left, 0)),
            Eq => left.meet(right).map_or((left, right), |both| (both, both)),
            Ne => (without(left, right.only()), without(right, left.only())),
            _ => (left, right),
        }
    }
}
