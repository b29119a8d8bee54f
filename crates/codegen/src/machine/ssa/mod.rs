//! The parts of a [`Machine`](super::Machine), over [`Instructions`](super::Instructions).

mod arithmetic;
mod calls;
mod checks;
mod convert;
mod exceptions;
mod memory;
mod objects;
mod roots;

pub use objects::{allocate_slowly, bump, fill};

use super::{Binary, Cond, Instructions};

/// An instruction whose second operand is a constant.
fn with_constant<M: Instructions>(m: &mut M, op: Binary, a: &M::Value, n: i64) -> M::Value {
    let ty = m.type_of(a);
    let n = m.int(ty, n.into());
    m.binary(op, a, &n)
}

/// A comparison with a constant.
fn compare_with<M: Instructions>(
    m: &mut M,
    cond: Cond,
    signed: bool,
    a: &M::Value,
    n: i64,
) -> M::Bit {
    let ty = m.type_of(a);
    let n = m.int(ty, n.into());
    m.compare(cond, signed, a, &n)
}

/// The address at a constant distance from another one.
fn displaced<M: Instructions>(m: &mut M, base: &M::Value, distance: i64) -> M::Value {
    let distance = m.int(super::Ty::I64, distance.into());
    m.advance(base, &distance)
}
