//! Exceptions: the pair of class and instance in the state shared with the runtime, and the
//! ring of traceback entries.

use taipan_codegen::abi::state;
use taipan_graph::VarId;
use taipan_lltype::LLOperand;

use super::{Emitter, STATE, Value};
use crate::types::{Bad, Ty, llvm_type};

impl Emitter<'_> {
    pub(super) fn set_exception(&mut self, class: &Value, value: &Value) {
        self.store_state(state::EXC_TYPE, class);
        self.store_state(state::EXC_VALUE, value);
    }

    /// The except block of a graph that still has one: the exception is set and the function
    /// returns anything.
    pub(super) fn raise_block(&mut self, class: VarId, value: VarId) -> Result<(), Bad> {
        let class = self.value(&LLOperand::Var(class))?;
        let value = self.value(&LLOperand::Var(value))?;
        self.set_exception(&class, &value);
        match llvm_type(*self.graph.ty(self.graph.returnvar())) {
            Some(ty) => self.run(&format!("ret {ty} {}", ty.zero())),
            None => self.run("ret void"),
        }
        Ok(())
    }

    /// Whether there is a current exception.
    pub(super) fn exc_occurred(&mut self) -> Value {
        let class = self.load_state(state::EXC_TYPE, Ty::Ptr);
        let bit = self.part(&format!("icmp ne {}, null", class.typed()));
        self.boolean(bit)
    }

    pub(super) fn traceback_location(&mut self, at: u32, class: &Value) {
        let symbol = self.location(at);
        let location = self.address_of(&symbol);
        self.traceback_entry(&location, class);
    }

    pub(super) fn traceback_mark(&mut self, mark: i64, class: &Value) {
        let mark = self.int(Ty::I64, i128::from(mark));
        self.traceback_entry(&mark, class);
    }

    /// Adds an entry to the ring.
    fn traceback_entry(&mut self, location: &Value, class: &Value) {
        let count = self.load_state(state::TRACEBACK_COUNT, Ty::I64);
        let next = self.ins(Ty::I64, &format!("add {}, 1", count.typed()));
        self.store_state(state::TRACEBACK_COUNT, &next);
        let most = state::TRACEBACK_DEPTH - 1;
        let index = self.part(&format!("and {}, {most}", count.typed()));
        let offset = self.part(&format!("shl i64 {index}, 4"));
        let ring = self.state_place(state::TRACEBACK);
        let entry = self.part(&format!("getelementptr i8, ptr {ring}, i64 {offset}"));
        let second = self.part(&format!("getelementptr i8, ptr {entry}, i64 8"));
        let tag = self.tag(&[STATE]);
        self.run(&format!(
            "store {}, ptr {entry}, align 8{tag}",
            location.typed()
        ));
        self.run(&format!(
            "store {}, ptr {second}, align 8{tag}",
            class.typed()
        ));
    }
}
