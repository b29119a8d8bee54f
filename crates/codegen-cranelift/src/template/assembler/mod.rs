//! Instructions of the machine that this process runs on, as bytes.
//!
//! Each machine has a file with an `Assembler` of the same methods, and with the registers for these purposes:
//!
//! | | purpose |
//! | --- | --- |
//! | `ACC`, `TEMP`, `MORE`, `FAR` | hold values within the code of an operation. `FAR` mostly has the address of the state. |
//! | `POOL` | values stay in them from one operation to the next |
//! | `INTS` | integers are passed in them |
//! | `RESULT` | results of functions |
//! | `CELL`, `UNIT_RESULT` | Cranelift's `tail` convention: a unit's cell, and its result |
//! | `FRAME`, `STACK` | pointers to the frame and to the end of the stack |
//!
//! An operation may use `ACC` and `RESULT` for the same purpose only if a move between them follows the call: on
//! x86-64 they are one register. Instructions that load or store, move or set registers leave flags as they are,
//! except `mov_imm` of 0. Only the low bits of registers that a value has are defined where code is called, so
//! results are extended.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(not(target_arch = "aarch64"))]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub(super) use aarch64::*;
#[cfg(not(target_arch = "aarch64"))]
pub(super) use x86_64::*;

/// A general register, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Reg(pub(super) u8);

/// A floating-point register, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FloatReg(pub(super) u8);

/// A place in memory: a register and a distance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Mem(pub(super) Reg, pub(super) i32);

/// Operations of two operands. Sums and differences set flags.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Alu {
    Add,
    Or,
    And,
    Sub,
    Xor,
    Cmp,
}

/// Conditions of integers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cond {
    Overflow,
    Below,
    AboveEqual,
    Equal,
    NotEqual,
    BelowEqual,
    Above,
    Sign,
    Less,
    GreaterEqual,
    LessEqual,
    Greater,
}

/// Conditions of floats: all but the last are false if one is no number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FloatCond {
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
}

/// Arithmetic of floats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FloatOp {
    Add,
    Mul,
    Sub,
    Div,
}

/// Shifts: to the left, to the right, to the right with the sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shift {
    Left,
    Right,
    SignedRight,
}

/// Number of bits that a load reads, and the value of the other bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Width {
    Unsigned8,
    Signed8,
    Unsigned16,
    Signed16,
    Unsigned32,
    Signed32,
    Word,
}

/// A place in code that is jumped to, perhaps before it is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Label(usize);

/// The labels of code under construction, and the jumps to them.
#[derive(Default)]
struct Labels {
    /// Where labels are.
    places: Vec<Option<usize>>,
    /// Where jumps are whose distances are to be filled in, and to which labels they lead.
    jumps: Vec<(usize, Label)>,
}

impl Labels {
    fn label(&mut self) -> Label {
        self.places.push(None);
        Label(self.places.len() - 1)
    }

    fn bind(&mut self, label: Label, at: usize) {
        self.places[label.0] = Some(at);
    }

    /// Calls `fill` with the place of each jump and of its label. False if a label was never bound, or `fill` returns
    /// false.
    fn finish(&mut self, mut fill: impl FnMut(usize, usize) -> bool) -> bool {
        let mut jumps = std::mem::take(&mut self.jumps).into_iter();
        jumps.all(|(at, label)| self.places[label.0].is_some_and(|to| fill(at, to)))
    }
}
