//! Assertions, and the checks of checked builds before undefined behaviour.
//!
//! A null pointer needs no check: its page faults, and so does a division by zero; the runtime reports where
//! (`crash.rs`).

use taipan_graph::Operation;
use taipan_lltype::{LLOperand, LLType, LowLevel, is_index_check};

use super::super::{Access, Bad, Checks, Cond, Instructions, Rare, Ty};
use super::convert;
use crate::abi::{self, state};
use crate::runtime;

impl<M: Instructions> Checks for M {
    fn assertion(&mut self, condition: &Self::Value, op: &Operation<LowLevel>) -> Result<(), Bad> {
        if self.is_checked() {
            let what = match is_index_check(op) {
                true => abi::check::INDEX,
                false => abi::check::ASSERTION,
            };
            let bit = self.bit(condition);
            check(self, &bit, what);
            return Ok(());
        }
        if self.unit_assertion(condition, op) {
            return Ok(());
        }
        let bit = self.bit(condition);
        let (failed, next) = (self.cold_block("failed"), self.block("next"));
        self.branch(&bit, &next, &failed, Rare::Second);
        self.start(&failed);
        self.call_runtime(runtime::ASSERT_FAILED, &[]);
        self.jump(&next);
        self.start(&next);
        Ok(())
    }

    fn stack_check(&mut self) -> Self::Value {
        let limit = self.load_state(state::STACK_LIMIT, Ty::I64);
        let top = self.stack_pointer();
        let bit = self.compare(Cond::Lt, false, &top, &limit);
        self.boolean(bit)
    }

    fn printable(&mut self, ty: LLType, value: &Self::Value) -> Result<Self::Value, Bad> {
        Ok(convert::printable(self, ty, value))
    }

    fn print_word(&mut self, kind: i32, word: &Self::Value) {
        let kind = self.int(Ty::I32, kind.into());
        self.call_runtime(runtime::DEBUG_PRINT, &[kind, word.clone()]);
    }
}

/// Ends the program unless a condition holds.
fn check<M: Instructions>(m: &mut M, condition: &M::Bit, what: i64) {
    let (failed, next) = (m.cold_block("failed"), m.block("next"));
    m.branch(condition, &next, &failed, Rare::Second);
    m.start(&failed);
    let [location, frame] = where_it_is(m);
    let what = m.int(Ty::I64, what.into());
    m.call_runtime(runtime::CHECK_FAILED, &[what, location, frame]);
    // The call does not return: no register is saved across it on the path that succeeds.
    m.never_reached();
    m.start(&next);
}

/// The place of the operation, and the function's frame.
fn where_it_is<M: Instructions>(m: &mut M) -> [M::Value; 2] {
    let (block, index) = m.place();
    let at = m.graph().block(block).operations[index].at;
    [m.location(at), m.frame_address()]
}

/// Checks in checked builds that raw memory was not freed.
pub(super) fn check_raw<M: Instructions>(m: &mut M, pointer: &LLOperand, address: &M::Value) {
    let pointer = m.ty(pointer);
    let Some(container) = pointer.pointee() else {
        return;
    };
    // Smaller ones are parts of others.
    let large = m.layout(container).size >= 8 || container.as_array().is_some();
    if pointer.is_gc_ptr() || container.is_vtable() || !large {
        return;
    }
    let access = Access {
        is_unknown: true,
        ..Access::RAW
    };
    let word = m.load_at(Ty::I64, &access, address, 0);
    let alive = super::compare_with(m, Cond::Ne, false, &word, abi::FREED as i64);
    check(m, &alive, abi::check::FREED);
}

/// `free` of checked builds, which keeps the memory for a while.
pub(super) fn checked_free<M: Instructions>(m: &mut M, address: &M::Value) {
    let [location, frame] = where_it_is(m);
    m.call_runtime(runtime::CHECKED_FREE, &[address.clone(), location, frame]);
}
