//! Constant expressions.
//!
//! CPython's bytecode compiler computes operations on literals, and RPython analyses
//! its bytecode: `1 << 100` is a long constant there, which no int variable takes,
//! while a shift of variables wraps around. So arithmetic on int literals is computed
//! here, except `/`, whose meaning depends on how CPython is started.

use num_bigint::{BigInt, Sign};
use num_integer::Integer;
use num_traits::{Pow, ToPrimitive, Zero};
use taipan_syntax::{BinaryOp, Expr, ExprId, UnaryOp};

use super::Compiler;
use crate::bytecode::CodeConst;

/// Larger results are left to run time.
const MOST_BITS: u64 = 1 << 12;

impl Compiler<'_> {
    /// The value of a literal, of arithmetic on int literals, or of a tuple of such.
    pub(super) fn constant(&self, id: ExprId) -> Option<CodeConst> {
        Some(match &self.ast.exprs[id] {
            Expr::None => CodeConst::None,
            Expr::Bool(b) => CodeConst::Bool(*b),
            Expr::Ellipsis => CodeConst::Ellipsis,
            Expr::Int(i) => CodeConst::Int(*i),
            Expr::Long(i) => CodeConst::Long(i.clone()),
            Expr::Float(f) => CodeConst::Float(*f),
            Expr::Imaginary(f) => CodeConst::Imaginary(*f),
            Expr::Str(s) => CodeConst::Str(s.clone()),
            Expr::Unicode(s) => CodeConst::Unicode(s.clone()),
            Expr::Unary(UnaryOp::Neg, e) => match self.constant(*e)? {
                CodeConst::Float(f) => CodeConst::Float((-f64::from_bits(f)).to_bits()),
                CodeConst::Int(i) if i == i64::MIN => CodeConst::Long((-BigInt::from(i)).into()),
                CodeConst::Int(i) => CodeConst::Int(-i),
                CodeConst::Long(i) => CodeConst::Long((-&*i).into()),
                _ => return None,
            },
            Expr::Unary(UnaryOp::Invert, e) => match self.constant(*e)? {
                CodeConst::Int(i) => CodeConst::Int(!i),
                CodeConst::Long(i) => CodeConst::Long((!&*i).into()),
                _ => return None,
            },
            Expr::Binary(..) => self.folded(id)?,
            Expr::Tuple(items) => {
                let items: Option<Vec<_>> = items.iter().map(|e| self.constant(*e)).collect();
                CodeConst::Tuple(items?.into())
            }
            _ => return None,
        })
    }

    /// The value of a number, a string or None that is written down as such: `True` and
    /// `False` are names to CPython 2.
    pub(super) fn literal(&self, id: ExprId) -> Option<CodeConst> {
        match &self.ast.exprs[id] {
            Expr::Bool(_) | Expr::Ellipsis | Expr::Binary(..) | Expr::Tuple(_) => None,
            _ => self.constant(id),
        }
    }

    /// The value of a chain of binary operations, without recursion down its left side.
    fn folded(&self, id: ExprId) -> Option<CodeConst> {
        let mut chain = Vec::new();
        let mut head = id;
        while let Expr::Binary(op, left, right) = &self.ast.exprs[head] {
            chain.push((*op, *right));
            head = *left;
        }
        let mut value = self.constant(head)?;
        for (op, right) in chain.into_iter().rev() {
            value = self.fold_with(op, &value, right)?;
        }
        Some(value)
    }

    /// The value of an operation on a constant and an expression, if that is constant
    /// too, both are integers, and the operation neither raises nor depends on
    /// CPython's options.
    pub(super) fn fold_with(
        &self,
        op: BinaryOp,
        left: &CodeConst,
        right: ExprId,
    ) -> Option<CodeConst> {
        let (a, long_a) = integer(left)?;
        let (b, long_b) = integer(&self.constant(right)?)?;
        let value = compute(op, &a, &b)?;
        Some(match value.to_i64() {
            Some(i) if !long_a && !long_b => CodeConst::Int(i),
            _ => CodeConst::Long(value.into()),
        })
    }

    /// The truth of a constant.
    pub(super) fn truth(&self, e: ExprId) -> Option<bool> {
        match self.constant(e)? {
            CodeConst::None => Some(false),
            CodeConst::Bool(b) => Some(b),
            CodeConst::Int(i) => Some(i != 0),
            CodeConst::Str(s) => Some(!s.is_empty()),
            _ => None,
        }
    }
}

/// The value of an integer constant, and whether it is a long.
fn integer(c: &CodeConst) -> Option<(BigInt, bool)> {
    match c {
        CodeConst::Int(i) => Some((BigInt::from(*i), false)),
        CodeConst::Long(i) => Some((BigInt::clone(i), true)),
        _ => None,
    }
}

/// What Python computes; None where it raises, or where the result is no integer or
/// very long.
fn compute(op: BinaryOp, a: &BigInt, b: &BigInt) -> Option<BigInt> {
    let value = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::FloorDiv if !b.is_zero() => a.div_floor(b),
        BinaryOp::Mod if !b.is_zero() => a.mod_floor(b),
        BinaryOp::Pow => {
            let exponent = b
                .to_u32()
                .filter(|e| a.bits().saturating_mul(u64::from(*e)) <= MOST_BITS)?;
            Pow::pow(a, exponent)
        }
        BinaryOp::LShift => a << b.to_u64().filter(|n| *n <= MOST_BITS)?,
        BinaryOp::RShift if b.sign() != Sign::Minus => a >> b.to_u64()?,
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        _ => return None,
    };
    (value.bits() <= MOST_BITS).then_some(value)
}
