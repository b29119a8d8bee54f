//! Operations that are left out of a graph because nothing needs their results, and could not
//! succeed.

use taipan_base::ErrorCode;
use taipan_flow::{DeadOperand, DeadOperation};
use taipan_graph::{Const, HlOp};

use super::{Cx, Local, Problem};
use crate::facts::Known;
use crate::val::{Atom, Val};

impl Cx<'_> {
    /// What is wrong with those of the operations whose operands are known to be numbers,
    /// strings and tuples of them. To try them writes nothing.
    pub(super) fn dead_operations(
        &mut self,
        dead: &[DeadOperation],
        vars: &[Local],
    ) -> Known<Vec<Problem>> {
        let mut wrong = Vec::new();
        let mut results: Vec<Val> = Vec::new();
        for op in dead {
            let reached = |v: &taipan_graph::VarId| !vars[v.index()].val.is_bottom();
            let mut args: Vec<Val> = Vec::new();
            for a in &op.args {
                args.push(match a {
                    DeadOperand::Var(v) => vars[v.index()].val.clone(),
                    DeadOperand::Dead(i) => results[*i].clone(),
                    DeadOperand::Const(c) if is_plain_const(c) => self.const_val(c)?,
                    DeadOperand::Const(_) => Val::default(),
                });
            }
            if !op.after.as_ref().is_none_or(reached) || !args.iter().all(is_plain) {
                results.push(Val::default());
                continue;
            }
            let (told, known) = (self.place.at.replace(op.at), self.problems.len());
            let result = match &args[..] {
                [] if op.op == HlOp::Len => Val::nonneg(),
                [] => Val::str_(false),
                [x] => self.unary(op.op, x)?,
                [x, y] => self.binary(op.op, x, y)?,
                _ => Val::default(),
            };
            self.place.at = told;
            if result.is_bottom() {
                let told = self.problems.drain(known..).next();
                wrong.push(told.unwrap_or_else(|| self.fails(op, &args)));
            }
            results.push(result);
        }
        Ok(wrong)
    }

    /// What is to be said of an operation that has no outcome.
    fn fails(&self, op: &DeadOperation, args: &[Val]) -> Problem {
        let kinds: Vec<String> = args.iter().map(|a| self.facts.describe(a)).collect();
        let (name, kinds) = (op.op.spelt(), kinds.join(" and "));
        Problem {
            code: Some(ErrorCode::UnsupportedOperands),
            at: Some(op.at),
            message: format!("{name} of {kinds} is not RPython"),
            help: None,
            about: None,
            subject: None,
        }
    }
}

fn is_plain_const(c: &Const) -> bool {
    matches!(
        c,
        Const::None
            | Const::Bool(_)
            | Const::Int(_)
            | Const::Float(_)
            | Const::Str(_)
            | Const::Unicode(_)
    )
}

/// Whether it is known what a value is, and that operations on it have no effect.
fn is_plain(v: &Val) -> bool {
    let plain = |a: &Atom| match a {
        Atom::Int(_) | Atom::Float | Atom::Str { .. } | Atom::Uni { .. } => true,
        Atom::Tuple(items) => items.iter().all(is_plain),
        _ => false,
    };
    !v.is_bottom() && v.atoms.iter().all(plain)
}
