//! What code of checked builds looks at before it does what would be undefined behaviour.
//!
//! A null pointer needs no check: its page faults.

use taipan_codegen::{abi, runtime};
use taipan_graph::Operation;
use taipan_lltype::{LLType, LowLevel, is_index_check};

use super::{Emitter, HEAP, Value};
use crate::text::Metadata;
use crate::types::Ty;

impl Emitter<'_> {
    /// Ends the program unless the condition holds.
    fn check(&mut self, bit: &str, what: i64) {
        let (failed, next) = (self.new_label("failed"), self.new_label("next"));
        self.branch_if(bit, &next, &failed, Some(Metadata::SecondIsRare));
        self.start(&failed);
        let [location, frame] = self.where_it_is();
        let what = self.int(Ty::I64, i128::from(what));
        self.call_runtime(runtime::CHECK_FAILED, &[what, location, frame]);
        self.never_reached();
        self.start(&next);
    }

    /// The place of the operation, and the function's frame.
    fn where_it_is(&mut self) -> [Value; 2] {
        let location = self.location(self.at);
        let location = self.address_of(&location);
        let level = Value::new("0", Ty::I32);
        let frame = self.intrinsic("llvm.frameaddress.p0", &[&level], "ptr");
        [location, Value::new(frame, Ty::Ptr)]
    }

    /// `debug_assert` says where it is in code with checks.
    pub(super) fn checked_assertion(&mut self, condition: &Value, op: &Operation<LowLevel>) {
        let what = match is_index_check(op) {
            true => abi::check::INDEX,
            false => abi::check::ASSERTION,
        };
        let bit = self.bit(condition);
        self.check(&bit, what);
    }

    /// That raw memory was not freed.
    pub(super) fn check_raw(&mut self, pointer: LLType, address: &Value) {
        let Some(container) = pointer.pointee() else {
            return;
        };
        // Smaller ones are parts of others.
        let size = self.layout(container).size;
        let large = size >= 8 || container.as_array().is_some();
        if pointer.is_gc_ptr() || container.is_vtable() || !large {
            return;
        }
        let tag = self.tag(&[HEAP]);
        let word = self.part(&format!(
            "load volatile i64, ptr {}, align 1{tag}",
            address.text
        ));
        let alive = self.part(&format!("icmp ne i64 {word}, {}", abi::FREED as i64));
        self.check(&alive, abi::check::FREED);
    }

    /// `free` that keeps the memory for a while.
    pub(super) fn checked_free(&mut self, address: Value) {
        let [location, frame] = self.where_it_is();
        self.call_runtime(runtime::CHECKED_FREE, &[address, location, frame]);
    }

    /// Ends a block whose end is never reached.
    pub(super) fn never_reached(&mut self) {
        self.trap();
        self.run("unreachable");
    }

    /// Ends the program.
    pub(super) fn trap(&mut self) {
        (self.declarations)
            .entry("llvm.trap".to_owned())
            .or_insert_with(|| "declare void @llvm.trap()".to_owned());
        self.run("call void @llvm.trap()");
    }
}
