//! What operations make of ranges.

use taipan_graph::Operation;
use taipan_lltype::{
    ConstantOperand, LLGraph, LLOperand, LLType, LowLevel, NamedOperands, NumFamily, NumOp,
    TypeKind, View,
};

use super::{DEPTH, Ranges};
use crate::interval::Range;
use crate::ssa::type_of;

/// No address has more bits, so that no array is longer.
const ADDRESS_BITS: u32 = 48;

impl Ranges {
    /// What an operation computes before that is wrapped to the type of its result.
    pub(super) fn computed(&self, g: &LLGraph, view: &View<'_, LLOperand>) -> Option<Range> {
        let (op, left, right) = match *view {
            View::Unary { op, value, .. } => return Range::unary(op, self.range(value)?),
            View::Binary {
                op, left, right, ..
            } => (op, left, right),
            View::IntAddOvf { left, right } | View::IntAddNonnegOvf { left, right } => {
                (NumOp::Add, left, right)
            }
            View::IntSubOvf { left, right } => (NumOp::Sub, left, right),
            View::IntMulOvf { left, right } => (NumOp::Mul, left, right),
            _ => return None,
        };
        if let Some(remainder) = self.remainder(g, op, left, right) {
            return Some(remainder);
        }
        let (a, b) = (self.range(left)?, self.range(right)?);
        let found = Range::binary(op, a, b);
        match found {
            Some(Range::BOOL) if op.is_comparison() => match self.compared(g, op, left, right) {
                Some(known) => Some(Range::just(i128::from(known))),
                None => found,
            },
            _ => found,
        }
    }

    /// `x - x // y * y`
    fn remainder(
        &self,
        g: &LLGraph,
        op: NumOp,
        dividend: &LLOperand,
        product: &LLOperand,
    ) -> Option<Range> {
        let (
            View::Binary {
                op: NumOp::Mul,
                left,
                right,
                ..
            },
            NumOp::Sub,
        ) = (self.view(g, product)?, op)
        else {
            return None;
        };
        match self.view(g, left)? {
            View::Binary {
                op: NumOp::FloorDiv,
                left: x,
                right: y,
                ..
            } if x == dividend && y == right => {
                Range::binary(NumOp::Mod, self.range(x)?, self.range(y)?)
            }
            _ => None,
        }
    }

    /// What the result of an operation can be.
    pub(super) fn result(&self, g: &LLGraph, op: &Operation<LowLevel>) -> Option<Range> {
        let whole = Range::of_type(*g.ty(op.result))?;
        let view = op.view();
        let found = match view {
            View::Unary { .. } | View::Binary { .. } => self.computed(g, &view)?,
            View::IntAddOvf { .. }
            | View::IntAddNonnegOvf { .. }
            | View::IntSubOvf { .. }
            | View::IntMulOvf { .. } => self.computed(g, &view)?.meet(whole)?,
            View::BoolNot { value } => {
                let Range { low, high } = self.range(value)?;
                Range::new(1 - high, 1 - low)
            }
            View::IntBetween { low, value, high } => {
                let (low, value, high) = (self.range(low)?, self.range(value)?, self.range(high)?);
                let inside = low.high <= value.low && value.high < high.low;
                let outside = value.high < low.low || high.high <= value.low;
                match (inside, outside) {
                    (true, _) => Range::just(1),
                    (_, true) => Range::just(0),
                    _ => Range::BOOL,
                }
            }
            View::IntForceGeZero { value } => {
                let Range { low, high } = self.range(value)?;
                Range::new(low.max(0), high.max(0))
            }
            View::CastBoolToInt { value }
            | View::CastBoolToUint { value }
            | View::CastCharToInt { value }
            | View::CastUnicharToInt { value }
            | View::CastIntToChar { value }
            | View::CastIntToUnichar { value }
            | View::CastIntToUint { value }
            | View::CastUintToInt { value }
            | View::CastIntToLonglong { value }
            | View::TruncateLonglongToInt { value }
            | View::CastPrimitive { value }
            | View::CastPointer { value }
            | View::CastOpaquePtr { value }
            | View::SameAs { value }
            | View::Likely { value }
            | View::Unlikely { value } => self.range(value)?,
            View::PtrNonzero { value } => self.range(value)?,
            View::PtrIszero { value } => {
                let Range { low, high } = self.range(value)?;
                Range::new(1 - high, 1 - low)
            }
            View::PtrEq { left, right } => {
                Range::binary(NumOp::Eq, self.range(left)?, self.range(right)?)
                    .filter(|r| r.only() == Some(0))?
            }
            View::PtrNe { left, right } => {
                Range::binary(NumOp::Ne, self.range(left)?, self.range(right)?)
                    .filter(|r| r.only() == Some(1))?
            }
            View::Malloc { .. } | View::MallocVarsize { .. } => Range::just(1),
            View::Getarraysize { array } => length(type_of(g, array).pointee()?)?,
            View::Getinteriorarraysize { object, path } => {
                let ty = type_of(g, object).pointee()?;
                length(inlined_array(ty, path).unwrap_or(ty))?
            }
            View::Getfield { object, field } if field.as_field() == Some("length") => {
                length(items_of_list(type_of(g, object).pointee()?)?)?
            }
            _ => return None,
        };
        found.is_within(whole).then_some(found)
    }

    /// What a comparison of two numbers is, by what they were made of.
    fn compared(
        &self,
        g: &LLGraph,
        op: NumOp,
        left: &LLOperand,
        right: &LLOperand,
    ) -> Option<bool> {
        let at_most = |a, b, by| self.is_at_most(g, a, b, by, DEPTH);
        let less = |a, b| match (at_most(a, b, -1), at_most(b, a, 0)) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        };
        match op {
            NumOp::Lt => less(left, right),
            NumOp::Gt => less(right, left),
            NumOp::Ge => less(left, right).map(|b| !b),
            NumOp::Le => less(right, left).map(|b| !b),
            NumOp::Eq | NumOp::Ne => {
                let differ = at_most(left, right, -1) || at_most(right, left, -1);
                differ.then_some(op == NumOp::Ne)
            }
            _ => None,
        }
    }

    /// Whether `a <= b + by`.
    fn is_at_most(&self, g: &LLGraph, a: &LLOperand, b: &LLOperand, by: i128, depth: u32) -> bool {
        let (Some(ra), Some(rb)) = (self.range(a), self.range(b)) else {
            return false;
        };
        if a == b && by >= 0 || ra.high <= rb.low + by {
            return true;
        }
        if depth == 0 {
            return false;
        }
        let goes = |a, b, by| self.is_at_most(g, a, b, by, depth - 1);
        let above = self.exact(g, b).is_some_and(|(op, x, y)| {
            let (Some(rx), Some(ry)) = (self.range(x), self.range(y)) else {
                return false;
            };
            match op {
                NumOp::Add => goes(a, x, by + ry.low) || goes(a, y, by + rx.low),
                NumOp::Sub => goes(a, x, by - ry.high),
                _ => false,
            }
        });
        above
            || self.exact(g, a).is_some_and(|(op, x, y)| {
                let (Some(rx), Some(ry)) = (self.range(x), self.range(y)) else {
                    return false;
                };
                match op {
                    NumOp::Add => goes(x, b, by - ry.high) || goes(y, b, by - rx.high),
                    NumOp::Sub => goes(x, b, by + ry.low),
                    NumOp::RShift | NumOp::And | NumOp::FloorDiv if rx.is_nonneg() => {
                        goes(x, b, by)
                    }
                    NumOp::Mod if rx.is_nonneg() && ry.low > 0 => {
                        goes(x, b, by) || goes(y, b, by + 1)
                    }
                    _ => false,
                }
            })
    }

    /// The arithmetic that a number comes from, if it was not wrapped.
    pub(super) fn exact<'g>(
        &self,
        g: &'g LLGraph,
        o: &LLOperand,
    ) -> Option<(NumOp, &'g LLOperand, &'g LLOperand)> {
        let v = o.as_var()?;
        let whole = Range::of_type(*g.ty(v))?;
        let (op, left, right) = match self.definition(g, v)?.view() {
            View::Binary {
                family: NumFamily::Int | NumFamily::Uint,
                op,
                left,
                right,
            } => {
                let computed = Range::binary(op, self.range(left)?, self.range(right)?)?;
                computed.is_within(whole).then_some((op, left, right))?
            }
            View::IntAddOvf { left, right } | View::IntAddNonnegOvf { left, right } => {
                (NumOp::Add, left, right)
            }
            View::IntSubOvf { left, right } => (NumOp::Sub, left, right),
            _ => return None,
        };
        Some((op, left, right))
    }
}

/// What the length of an array can be.
fn length(array: LLType) -> Option<Range> {
    let TypeKind::Array(array) = array.kind() else {
        return None;
    };
    let item = match array.of.kind() {
        TypeKind::Void => return Some(Range::new(0, i128::from(i64::MAX))),
        TypeKind::Int(k) => u32::from(k.bits / 8),
        TypeKind::UniChar => 4,
        TypeKind::Float | TypeKind::Ptr(_) | TypeKind::Address => 8,
        _ => 1,
    };
    Some(Range::new(0, (1 << ADDRESS_BITS) / i128::from(item)))
}

/// The array in which a list of this type has its items (see `rlist.py` of the prelude).
fn items_of_list(list: LLType) -> Option<LLType> {
    let list = list.as_struct().filter(|s| s.gc && &*s.name == "list")?;
    let body = list.known_body()?;
    let [length, items] = &body.fields[..] else {
        return None;
    };
    (&*length.name == "length" && &*items.name == "items").then(|| items.ty.pointee())?
}

/// The array that a path of fields leads to.
fn inlined_array(object: LLType, path: &[LLOperand]) -> Option<LLType> {
    path.iter().try_fold(object, |ty, step| {
        let body = ty.as_struct()?.known_body()?;
        let name = step.as_field()?;
        Some(body.fields.iter().find(|f| &*f.name == name)?.ty)
    })
}
