//! Operations with their operands by name, as the table of operations declares them.
//!
//! ```text
//! match op.view() {
//!     View::Getfield { object, field } => ..,
//!     View::Setinteriorfield { object, path, value } => ..,
//!     View::DirectCall { callee, args } => ..,
//!     ..
//! }
//! ```
//!
//! A [`View`] borrows the operands. They may be those of an operation, the words that an interpreter
//! has for them, or what an analysis knows of each: whatever there is one of per operand. The other
//! way, an operation is made of a view, which it is impossible to do with too few or too many operands:
//!
//! ```text
//! View::PtrEq { left: &a, right: &b }.operation(result, at)
//! ```

use taipan_graph::{Args, Operation, VarId};

use crate::ops::plain_ops_table;
use crate::{
    FuncSym, LLConst, LLOp, LLOperand, LLType, LowLevel, NumFamily, NumOp, PlainOp, VoidConst,
};

/// The type of an operand in a [`View`].
macro_rules! operand_type {
    ($a:lifetime, $o:ident, [$kind:ident]) => { &$a [$o] };
    ($a:lifetime, $o:ident, ($kind:ident?)) => { Option<&$a $o> };
    ($a:lifetime, $o:ident, $kind:ident) => { &$a $o };
}

/// How many operands there are at least.
macro_rules! needed {
    ([$kind:ident]) => {
        0
    };
    (($kind:ident?)) => {
        0
    };
    ($kind:ident) => {
        1
    };
}

/// Takes an operand off the front of those that are left.
macro_rules! take {
    ($given:ident, [$kind:ident]) => {
        $given.several()
    };
    ($given:ident, ($kind:ident?)) => {
        $given.perhaps_one()
    };
    ($given:ident, $kind:ident) => {
        $given.one()?
    };
}

/// Puts an operand behind others.
macro_rules! put {
    ($out:ident, $arg:ident, [$kind:ident]) => {
        $out.extend($arg.iter().cloned())
    };
    ($out:ident, $arg:ident, ($kind:ident?)) => {
        $out.extend($arg.cloned())
    };
    ($out:ident, $arg:ident, $kind:ident) => {
        $out.push($arg.clone())
    };
}

macro_rules! view {
    (
        operations {
            $($v:ident = $n:literal, $flags:expr, ($($arg:ident: $kind:tt),*) -> $result:ident;)*
        }
        notes {
            $($note:ident = $note_name:literal, ($($note_arg:ident: $note_kind:tt),*);)*
        }
    ) => {
        views! {
            $($v = $n, ($($arg: $kind),*);)*
            $($note = $note_name, ($($note_arg: $note_kind),*);)*
        }
    };
}

macro_rules! views {
    ($($v:ident = $n:literal, ($($arg:ident: $kind:tt),*);)*) => {
        /// An operation with its operands by name: see the table of operations for what they are.
        #[allow(missing_docs, reason = "the table of operations says what operands are")]
        pub enum View<'a, O> {
            /// Arithmetic on one number.
            Unary { family: NumFamily, op: NumOp, value: &'a O },
            /// Arithmetic on two numbers, and comparison.
            Binary { family: NumFamily, op: NumOp, left: &'a O, right: &'a O },
            $(#[doc = concat!("`", $n, "`")] $v { $($arg: operand_type!('a, O, $kind)),* },)*
        }

        impl<O> Clone for View<'_, O> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<O> Copy for View<'_, O> {}

        impl<'a, O> View<'a, O> {
            fn plain(op: PlainOp, operands: &'a [O]) -> Option<View<'a, O>> {
                match op {
                    $(PlainOp::$v => {
                        #[allow(unused_mut, reason = "where there are no operands")]
                        let mut given = Given { operands, needed: 0 $(+ needed!($kind))* };
                        $(let $arg = take!(given, $kind);)*
                        given.end(View::$v { $($arg),* })
                    })*
                }
            }

            /// The operation.
            pub fn op(&self) -> LLOp {
                match self {
                    View::Unary { family, op, .. } | View::Binary { family, op, .. } => {
                        LLOp::Num(*family, *op)
                    }
                    $(View::$v { .. } => LLOp::Plain(PlainOp::$v),)*
                }
            }
        }

        impl View<'_, LLOperand> {
            /// Its operands, in order.
            pub fn operands(&self) -> Args<LowLevel> {
                #[allow(unused_mut, reason = "where there are no operands")]
                let mut out = Args::<LowLevel>::new();
                match *self {
                    View::Unary { value, .. } => out.push(value.clone()),
                    View::Binary { left, right, .. } => out.extend([left.clone(), right.clone()]),
                    $(View::$v { $($arg),* } => { $(put!(out, $arg, $kind);)* })*
                }
                out
            }
        }
    };
}
plain_ops_table!(view);

/// Operands that have no name yet.
struct Given<'a, O> {
    operands: &'a [O],
    /// How many of them the names that are left need.
    needed: usize,
}

impl<'a, O> Given<'a, O> {
    fn one(&mut self) -> Option<&'a O> {
        self.needed -= 1;
        self.operands.split_off_first()
    }

    fn perhaps_one(&mut self) -> Option<&'a O> {
        match self.operands.len() > self.needed {
            true => self.operands.split_off_first(),
            false => None,
        }
    }

    fn several(&mut self) -> &'a [O] {
        let count = self.operands.len().saturating_sub(self.needed);
        let (several, rest) = self.operands.split_at(count);
        self.operands = rest;
        several
    }

    fn end<T>(self, view: T) -> Option<T> {
        self.operands.is_empty().then_some(view)
    }
}

impl<'a, O> View<'a, O> {
    /// An operation on these operands; none if there are too few or too many.
    pub fn of(op: LLOp, operands: &'a [O]) -> Option<View<'a, O>> {
        match (op, operands) {
            (LLOp::Plain(op), operands) => View::plain(op, operands),
            (LLOp::Num(family, op), [value]) if op.is_unary() => {
                Some(View::Unary { family, op, value })
            }
            (LLOp::Num(family, op), [left, right]) if !op.is_unary() => Some(View::Binary {
                family,
                op,
                left,
                right,
            }),
            (LLOp::Num(..), _) => None,
        }
    }
}

impl LLOp {
    /// The operation with what there is one of per operand.
    ///
    /// # Panics
    /// If there are too few or too many.
    pub fn view<O>(self, operands: &[O]) -> View<'_, O> {
        match View::of(self, operands) {
            Some(view) => view,
            None => panic!("{self} of {} operands", operands.len()),
        }
    }
}

impl PlainOp {
    /// The operation with what there is one of per operand.
    ///
    /// # Panics
    /// If there are too few or too many.
    pub fn view<O>(self, operands: &[O]) -> View<'_, O> {
        LLOp::Plain(self).view(operands)
    }
}

/// Low-level operations as [`View`]s.
pub trait NamedOperands {
    /// The operation with its operands by name.
    ///
    /// # Panics
    /// If there are too few or too many, which the verifier refuses.
    fn view(&self) -> View<'_, LLOperand>;

    /// The same, if it is one of these operations: for who looks for a few among many.
    fn view_among(&self, ops: &[PlainOp]) -> Option<View<'_, LLOperand>>;
}

impl NamedOperands for Operation<LowLevel> {
    fn view(&self) -> View<'_, LLOperand> {
        self.op.view(&self.args)
    }

    #[inline]
    fn view_among(&self, ops: &[PlainOp]) -> Option<View<'_, LLOperand>> {
        match self.op {
            LLOp::Plain(op) if ops.contains(&op) => Some(self.view()),
            _ => None,
        }
    }
}

impl View<'_, LLOperand> {
    /// The operation of a graph.
    pub fn operation(&self, result: VarId, at: u32) -> Operation<LowLevel> {
        Operation {
            op: self.op(),
            args: self.operands(),
            result,
            at,
        }
    }
}

/// A load or a store, of whatever kind.
pub struct Accessed<'a, O> {
    /// The pointer.
    pub object: &'a O,
    /// The fields and items that lead to the place from there.
    pub path: &'a [O],
    /// The value that is stored; none of a load.
    pub stored: Option<&'a O>,
}

/// A call of one function.
pub struct Called<'a, O> {
    /// The function.
    pub callee: &'a O,
    /// What it is given.
    pub args: &'a [O],
    /// The functions that may be meant, of an indirect call.
    pub targets: Option<&'a O>,
}

/// An allocation of an object of the program.
pub struct Allocated<'a, O> {
    /// The type of the object.
    pub ty: &'a O,
    /// How it is allocated.
    pub flavor: &'a O,
    /// The number of its items.
    pub length: Option<&'a O>,
}

impl<'a, O> View<'a, O> {
    /// What a load or a store is about.
    pub fn access(self) -> Option<Accessed<'a, O>> {
        use std::slice::from_ref;
        let (object, path, stored) = match self {
            View::Getfield { object, field } => (object, from_ref(field), None),
            View::Setfield {
                object,
                field,
                value,
            }
            | View::BareSetfield {
                object,
                field,
                value,
            } => (object, from_ref(field), Some(value)),
            View::Getarrayitem { array, index } => (array, from_ref(index), None),
            View::Setarrayitem {
                array,
                index,
                value,
            }
            | View::BareSetarrayitem {
                array,
                index,
                value,
            } => (array, from_ref(index), Some(value)),
            View::Getinteriorfield { object, path } => (object, path, None),
            View::Setinteriorfield {
                object,
                path,
                value,
            }
            | View::BareSetinteriorfield {
                object,
                path,
                value,
            } => (object, path, Some(value)),
            _ => return None,
        };
        Some(Accessed {
            object,
            path,
            stored,
        })
    }

    /// What a direct or an indirect call calls.
    pub fn call(self) -> Option<Called<'a, O>> {
        match self {
            View::DirectCall { callee, args } => Some(Called {
                callee,
                args,
                targets: None,
            }),
            View::IndirectCall {
                callee,
                args,
                targets,
            } => Some(Called {
                callee,
                args,
                targets: Some(targets),
            }),
            _ => None,
        }
    }

    /// What an operation allocates.
    pub fn allocation(self) -> Option<Allocated<'a, O>> {
        let (ty, flavor, length) = match self {
            View::Malloc { ty, flavor, .. } | View::GcMallocNursery { ty, flavor } => {
                (ty, flavor, None)
            }
            View::MallocVarsize { ty, flavor, length }
            | View::GcMallocFilled { ty, flavor, length } => (ty, flavor, Some(length)),
            View::GcMallocReserved {
                ty, flavor, length, ..
            } => (ty, flavor, length),
            _ => return None,
        };
        Some(Allocated { ty, flavor, length })
    }
}

/// What operands that are constants say.
pub trait ConstantOperand {
    /// The name of a field.
    fn as_field(&self) -> Option<&str>;
    /// A type.
    fn as_type(&self) -> Option<LLType>;
    /// A function.
    fn as_function(&self) -> Option<&FuncSym>;
}

impl ConstantOperand for LLOperand {
    fn as_field(&self) -> Option<&str> {
        match self {
            LLOperand::Const(LLConst::Void(VoidConst::Field(name))) => Some(name),
            _ => None,
        }
    }

    fn as_type(&self) -> Option<LLType> {
        match self {
            LLOperand::Const(LLConst::Void(VoidConst::Type(ty))) => Some(*ty),
            _ => None,
        }
    }

    fn as_function(&self) -> Option<&FuncSym> {
        match self {
            LLOperand::Const(LLConst::Func(f) | LLConst::Void(VoidConst::Func(f))) => Some(f),
            _ => None,
        }
    }
}
