//! The parts of syntax nodes, for passes over the tree.
//!
//! Expressions that lean to the left (`a + b + c`, `a.b().c()`) may be chained
//! without limit: passes go down their left side in a loop, see [`Spine`].

use crate::{Block, Expr, ExprId, Stmt};

/// A part of a statement.
pub enum Part<'a> {
    /// An expression.
    Expr(ExprId),
    /// A block.
    Block(&'a Block),
}

/// Where a walk goes on.
pub enum Spine {
    /// At the left operand, which was not visited.
    Left(ExprId),
    /// Nowhere: all parts were visited.
    End,
}

/// Visits the parts of an expression but the left operand of one that leans to the
/// left. The parts of a lambda or comprehension are other scopes' matter.
pub fn expr_parts(expr: &Expr, visit: &mut dyn FnMut(ExprId)) -> Spine {
    match expr {
        Expr::Error
        | Expr::Name(_)
        | Expr::None
        | Expr::Bool(_)
        | Expr::Ellipsis
        | Expr::Int(_)
        | Expr::Long(_)
        | Expr::Float(_)
        | Expr::Imaginary(_)
        | Expr::Str(_)
        | Expr::Unicode(_)
        | Expr::Lambda(_)
        | Expr::Comprehension(_) => {}
        Expr::Tuple(items)
        | Expr::List(items)
        | Expr::Set(items)
        | Expr::And(items)
        | Expr::Or(items) => items.iter().for_each(|e| visit(*e)),
        Expr::Dict(items) => {
            for (k, v) in items {
                visit(*k);
                visit(*v);
            }
        }
        Expr::Unary(_, e) | Expr::Repr(e) => visit(*e),
        Expr::Binary(_, left, right) | Expr::Subscript(left, right) => {
            visit(*right);
            return Spine::Left(*left);
        }
        Expr::Compare(first, rest) => {
            visit(*first);
            rest.iter().for_each(|(_, e)| visit(*e));
        }
        Expr::Conditional { test, then, orelse } => {
            visit(*test);
            visit(*then);
            visit(*orelse);
        }
        Expr::Call(c) => {
            c.args.iter().for_each(|e| visit(*e));
            c.keywords.iter().for_each(|(_, e)| visit(*e));
            c.star.into_iter().chain(c.dstar).for_each(visit);
            return Spine::Left(c.function);
        }
        Expr::Attribute(value, _) => return Spine::Left(*value),
        Expr::Slice { lower, upper, step } => {
            lower
                .iter()
                .chain(upper)
                .chain(step.iter().flatten())
                .for_each(|e| visit(*e));
        }
        Expr::Yield(e) => e.iter().for_each(|e| visit(*e)),
    }
    Spine::End
}

/// The left operand of an expression that leans to the left.
pub fn left(expr: &Expr) -> Option<ExprId> {
    match expr {
        Expr::Binary(_, left, _) | Expr::Attribute(left, _) | Expr::Subscript(left, _) => {
            Some(*left)
        }
        Expr::Call(c) => Some(c.function),
        _ => None,
    }
}

/// Visits expressions and blocks of a statement, in source order. A definition's
/// parts and an import's names are not among them.
pub fn stmt_parts<'a>(stmt: &'a Stmt, visit: &mut dyn FnMut(Part<'a>)) {
    let mut exprs = |items: &[ExprId]| items.iter().for_each(|e| visit(Part::Expr(*e)));
    match stmt {
        Stmt::Error
        | Stmt::Pass
        | Stmt::Break
        | Stmt::Continue
        | Stmt::Global(_)
        | Stmt::Import(_)
        | Stmt::ImportFrom(_)
        | Stmt::Function(_)
        | Stmt::Class(_) => {}
        Stmt::Expr(e) => exprs(&[*e]),
        Stmt::Assign(targets, value) => {
            exprs(&[*value]);
            exprs(targets);
        }
        Stmt::AugAssign(_, target, value) => exprs(&[*target, *value]),
        Stmt::Delete(items) | Stmt::Raise(items) => exprs(items),
        Stmt::Print { dest, values, .. } => {
            exprs(dest.as_slice());
            exprs(values);
        }
        Stmt::Exec {
            code,
            globals,
            locals,
        } => {
            exprs(&[*code]);
            exprs(globals.as_slice());
            exprs(locals.as_slice());
        }
        Stmt::Return(e) => exprs(e.as_slice()),
        Stmt::Assert(test, message) => {
            exprs(&[*test]);
            exprs(message.as_slice());
        }
        Stmt::If(branches, orelse) => {
            for (test, block) in branches {
                visit(Part::Expr(*test));
                visit(Part::Block(block));
            }
            visit(Part::Block(orelse));
        }
        Stmt::While { test, body, orelse } => {
            visit(Part::Expr(*test));
            visit(Part::Block(body));
            visit(Part::Block(orelse));
        }
        Stmt::For {
            target,
            iter,
            body,
            orelse,
        } => {
            visit(Part::Expr(*iter));
            visit(Part::Expr(*target));
            visit(Part::Block(body));
            visit(Part::Block(orelse));
        }
        Stmt::Try(t) => {
            visit(Part::Block(&t.body));
            for h in &t.handlers {
                if let Some(e) = h.class {
                    visit(Part::Expr(e));
                }
                if let Some(e) = h.target {
                    visit(Part::Expr(e));
                }
                visit(Part::Block(&h.body));
            }
            visit(Part::Block(&t.orelse));
            visit(Part::Block(&t.finally));
        }
        Stmt::With(items, body) => {
            for (value, target) in items {
                visit(Part::Expr(*value));
                if let Some(t) = target {
                    visit(Part::Expr(*t));
                }
            }
            visit(Part::Block(body));
        }
    }
}

/// What a statement assigns to or deletes.
pub fn targets(stmt: &Stmt) -> Vec<ExprId> {
    match stmt {
        Stmt::Assign(targets, _) | Stmt::Delete(targets) => targets.to_vec(),
        Stmt::AugAssign(_, target, _) | Stmt::For { target, .. } => vec![*target],
        Stmt::Try(t) => t.handlers.iter().filter_map(|h| h.target).collect(),
        Stmt::With(items, _) => items.iter().filter_map(|i| i.1).collect(),
        _ => Vec::new(),
    }
}
