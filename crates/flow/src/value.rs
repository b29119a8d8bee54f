//! Values on the frame of the flow space.

use std::sync::Arc;

use taipan_graph::{Const, HighLevel, VarId};

/// An operand of a high-level operation.
pub(crate) type Operand = taipan_graph::Operand<HighLevel>;

/// What a local variable or a place on the operand stack holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// A variable of the graph.
    Var(VarId),
    /// A constant.
    Const(Const),
    /// The class of an exception that an operation may raise implicitly
    /// (RPython: `RaiseImplicit`). If nothing catches it, it is taken not to occur.
    Implicit(Operand),
    /// An iterator over an `unrolling_iterable`: its items, and which one is next.
    Unroller(Arc<[Const]>, usize),
    /// A closure's cell with its contents.
    Cell(Option<Const>),
}

impl Value {
    /// As an operand; cells and unrollers have none.
    pub(crate) fn operand(&self) -> Option<Operand> {
        match self {
            Value::Var(v) => Some(Operand::Var(*v)),
            Value::Const(c) => Some(Operand::Const(c.clone())),
            Value::Implicit(o) => Some(o.clone()),
            Value::Unroller(..) | Value::Cell(_) => None,
        }
    }

    /// The constant, if it is one.
    pub(crate) fn as_const(&self) -> Option<&Const> {
        match self {
            Value::Const(c) | Value::Implicit(Operand::Const(c)) => Some(c),
            _ => None,
        }
    }

    /// The variable that it stands for, if any.
    pub(crate) fn as_var(&self) -> Option<VarId> {
        match self {
            Value::Var(v) | Value::Implicit(Operand::Var(v)) => Some(*v),
            _ => None,
        }
    }

    /// As it is once control has met other operations: an exception that got that far
    /// is an ordinary one.
    pub(crate) fn normalized(self) -> Value {
        match self {
            Value::Implicit(Operand::Var(v)) => Value::Var(v),
            Value::Implicit(Operand::Const(c)) => Value::Const(c),
            other => other,
        }
    }
}

impl From<Operand> for Value {
    fn from(o: Operand) -> Self {
        match o {
            Operand::Var(v) => Value::Var(v),
            Operand::Const(c) => Value::Const(c),
        }
    }
}
