//! Operations without effects that were generated already (RPython: `optimizeopt/pure.py`,
//! and what `intutils.py` knows of sums with constants).
//!
//! ```text
//! v1 = int_add(sp, 1)
//! v2 = int_lt(sp, 0)          ; the branch on it went where it is false
//! v3 = int_sub(v1, 1)         ; v3 is sp
//! v4 = int_lt(v3, 0)          ; known to be false
//! ```
//!
//! Calls of `elidable` functions are among them from where it is known that they have not raised.

use smallvec::SmallVec;
use taipan_lltype::{LLOp, LLType, NumFamily, NumOp, PlainOp, SIGNED, word_of_u64};

use crate::held::Held;
use crate::state::{BoxId, JitState, Word};

/// More facts than this are forgotten again, the oldest first.
const MOST_PURE: usize = 48;

/// An operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PureArg {
    Box(BoxId),
    Const(Held),
}

/// Operands. Most operations have two, which are stored inline since states are copied often.
pub(crate) type PureArgs = SmallVec<[PureArg; 2]>;

/// The result of an operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PureFact {
    pub(crate) op: LLOp,
    pub(crate) ty: LLType,
    pub(crate) args: PureArgs,
    pub(crate) result: BoxId,
}

impl JitState {
    /// An operand, as facts name it.
    pub(crate) fn pure_arg(&self, b: BoxId) -> PureArg {
        match self.known(b) {
            Some(w) => PureArg::Const(w.into()),
            None => PureArg::Box(b),
        }
    }

    /// The result of an operation that was generated before.
    pub(crate) fn pure_result(&self, op: LLOp, ty: LLType, args: &[PureArg]) -> Option<BoxId> {
        let found = (self.pure.iter().rev()).find(|f| f.op == op && f.ty == ty && *f.args == *args);
        found.map(|f| f.result)
    }

    /// The result of a call of a function that gives the same for equal arguments, that was
    /// generated before; the function comes first among them.
    ///
    /// Null is no result: programs make what they do not find, and find it from then on, though
    /// they call the search elidable.
    pub(crate) fn pure_call(&self, ty: LLType, args: &[PureArg]) -> Option<BoxId> {
        let result = self.pure_result(PlainOp::DirectCall.into(), ty, args)?;
        (ty.pointee().is_none() || self.get(result).nonzero).then_some(result)
    }

    /// A call has raised, or may have: what it would give is not known.
    pub(crate) fn forget_pure_calls(&mut self) {
        self.pure.retain(|f| f.op != PlainOp::DirectCall.into());
    }

    /// Notes the result of an operation.
    pub(crate) fn remember_pure(&mut self, fact: PureFact) {
        if self.pure.len() >= MOST_PURE {
            self.pure.remove(0);
        }
        self.pure.push(fact);
    }

    /// Splits a number into a base box and a constant whose sum it is. The base is the box itself, and the constant 0, if no
    /// such sum is known.
    pub(crate) fn sum_of(&self, b: BoxId) -> (BoxId, i64) {
        let add = LLOp::Num(NumFamily::Int, NumOp::Add);
        let of = [PureArg::Box(b), PureArg::Const(signed_word(0).into())];
        self.as_sum(add, &of).unwrap_or((b, 0))
    }

    /// A sum with a constant as the sum of another box and a constant: what it was made of.
    pub(crate) fn as_sum(&self, op: LLOp, args: &[PureArg]) -> Option<(BoxId, i64)> {
        let (b, n) = sum(op, args)?;
        let inner = self
            .pure
            .iter()
            .rev()
            .find(|f| f.result == b && f.ty == *SIGNED && sum(f.op, &f.args).is_some());
        let (base, more) = sum(inner?.op, &inner?.args)?;
        Some((base, n.wrapping_add(more)))
    }
}

/// `int_add(b, n)` and the like.
fn sum(op: LLOp, args: &[PureArg]) -> Option<(BoxId, i64)> {
    match (op, args) {
        (
            LLOp::Num(NumFamily::Int, NumOp::Add),
            [PureArg::Box(b), PureArg::Const(n)] | [PureArg::Const(n), PureArg::Box(b)],
        ) => Some((*b, n.word() as i64)),
        (LLOp::Num(NumFamily::Int, NumOp::Sub), [PureArg::Box(b), PureArg::Const(n)]) => {
            Some((*b, (n.word() as i64).wrapping_neg()))
        }
        _ => None,
    }
}

/// The word of a Signed.
pub(crate) fn signed_word(n: i64) -> Word {
    word_of_u64(n as u64, *SIGNED)
}
