//! The frame of a function on the shadow stack, by which the collector finds its roots.
//!
//! ```text
//! enter    the top of the stack is the frame's base; it goes up by `size`
//! slot i   the word `offset(i)` above the base
//! leave    the base is the top again
//! ```

use taipan_lltype::{LLConst, LLOperand};

/// A frame that was entered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RootsFrame {
    slots: i64,
}

impl RootsFrame {
    /// One with that many slots. The transform fills all of them before the collector looks.
    pub fn with(slots: &LLOperand) -> Result<RootsFrame, String> {
        constant(slots).map(|slots| RootsFrame { slots })
    }

    /// The number of slots.
    pub fn slots(self) -> i64 {
        self.slots
    }

    /// The number of bytes.
    pub fn size(self) -> i64 {
        RootsFrame::offset(self.slots)
    }

    /// How far from the base a slot is.
    pub fn offset(slot: i64) -> i64 {
        slot * 8
    }

    /// The number of a slot of the frame that was entered.
    pub fn slot(entered: Option<RootsFrame>, slot: &LLOperand) -> Result<i64, String> {
        let frame = entered.ok_or("no roots frame was entered")?;
        let slot = constant(slot)?;
        match (0..frame.slots).contains(&slot) {
            true => Ok(slot),
            false => Err(format!("slot {slot} is outside the roots frame")),
        }
    }

    /// The bytes by which the function's frame on the machine stack, which has `linkage` bytes anyway, is made no
    /// smaller than this one: by that the shadow stack cannot be used up first, and nobody has to look how full it
    /// is (`stacks.rs` of the runtime). Memory that is never touched costs nothing.
    pub fn machine_bytes(self, linkage: i64) -> i64 {
        (self.size() - linkage).max(0)
    }
}

fn constant(o: &LLOperand) -> Result<i64, String> {
    match o {
        LLOperand::Const(LLConst::Int(_, n)) => Ok(n.get() as i64),
        _ => Err("needs a constant".into()),
    }
}
