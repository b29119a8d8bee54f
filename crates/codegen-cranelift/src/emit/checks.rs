//! What code of checked builds looks at before it does what would be undefined behaviour.
//!
//! A null pointer needs no check: its page faults, and so does a division by zero; the runtime
//! says where (`crash.rs`).

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, Value};
use taipan_codegen::{abi, runtime};
use taipan_graph::Operation;
use taipan_lltype::{LLType, LowLevel, is_index_check};

use super::{Emitter, PTR};

impl Emitter<'_, '_> {
    /// Ends the program unless the condition holds.
    pub(super) fn check(&mut self, condition: Value, what: i64) {
        let (failed, next) = (self.cold_block(), self.b.create_block());
        self.b.ins().brif(condition, next, &[], failed, &[]);
        self.b.switch_to_block(failed);
        let arguments = self.where_it_is();
        let what = self.int(I64, what);
        self.call_runtime(runtime::CHECK_FAILED, &[what, arguments[0], arguments[1]]);
        // The call does not return: no register is saved across it on the way that succeeds.
        self.never_reached();
        self.b.switch_to_block(next);
    }

    /// The check of an index in a unit, whose code comes from a function of that name.
    pub(super) fn check_in_unit(&mut self, condition: Value, function: &[u8]) {
        let (failed, next) = (self.cold_block(), self.b.create_block());
        self.b.ins().brif(condition, next, &[], failed, &[]);
        self.b.switch_to_block(failed);
        // Units stay where they are until the process ends, and so does what they refer to.
        let name: &'static [u8] = Box::leak(function.into());
        let name = [name.as_ptr() as i64, name.len() as i64].map(|n| self.int(I64, n));
        self.call_runtime(runtime::UNIT_CHECK_FAILED, &name);
        self.never_reached();
        self.b.switch_to_block(next);
    }

    /// The place of the operation, and the function's frame.
    fn where_it_is(&mut self) -> [Value; 2] {
        let (block, index) = self.place;
        let at = self.graph.block(block).operations[index].at;
        let location = self.symbols.location(at);
        [
            self.address_of(&location),
            self.b.ins().get_frame_pointer(PTR),
        ]
    }

    /// `debug_assert` says where it is in code with checks.
    pub(super) fn checked_assertion(&mut self, condition: Value, op: &Operation<LowLevel>) {
        let what = match is_index_check(op) {
            true => abi::check::INDEX,
            false => abi::check::ASSERTION,
        };
        self.check(condition, what);
    }

    /// That raw memory was not freed.
    pub(super) fn check_raw(&mut self, pointer: LLType, address: Value) {
        let Some(container) = pointer.pointee() else {
            return;
        };
        // Smaller ones are parts of others.
        let size = self.layout(container).size;
        let large = size >= 8 || container.as_array().is_some();
        if pointer.is_gc_ptr() || container.is_vtable() || !large {
            return;
        }
        let flags = self.heap_flags();
        let word = self.b.ins().load(I64, flags, address, 0);
        let freed = self.int(I64, abi::FREED as i64);
        let alive = self.b.ins().icmp(IntCC::NotEqual, word, freed);
        self.check(alive, abi::check::FREED);
    }

    /// `free` that keeps the memory for a while.
    pub(super) fn checked_free(&mut self, address: Value) {
        let [location, frame] = self.where_it_is();
        self.call_runtime(runtime::CHECKED_FREE, &[address, location, frame]);
    }
}
