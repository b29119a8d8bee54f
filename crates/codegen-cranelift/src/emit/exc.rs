//! Exceptions: the pair of class and instance in the state shared with the runtime,
//! and the ring of traceback entries.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value};
use taipan_codegen::abi::state;
use taipan_graph::VarId;
use taipan_lltype::LLOperand;

use super::types::clif_type;
use super::{Bad, Emitter, PTR};

impl Emitter<'_, '_> {
    pub(super) fn set_exception(&mut self, etype: Value, evalue: Value) {
        self.store_state(state::EXC_TYPE, etype);
        self.store_state(state::EXC_VALUE, evalue);
    }

    /// The except block of a graph that still has one: the exception is set and the
    /// function returns anything.
    pub(super) fn raise_block(&mut self, etype: VarId, evalue: VarId) -> Result<(), Bad> {
        let etype = self.value(&LLOperand::Var(etype))?;
        let evalue = self.value(&LLOperand::Var(evalue))?;
        self.set_exception(etype, evalue);
        let result = clif_type(*self.graph.ty(self.graph.returnvar()));
        let dummy = result.map(|ty| self.zero(ty));
        self.b.ins().return_(dummy.as_slice());
        Ok(())
    }

    /// Whether there is a current exception.
    pub(super) fn exc_occurred(&mut self) -> Value {
        let etype = self.load_state(state::EXC_TYPE);
        let zero = self.int(PTR, 0);
        self.b.ins().icmp(IntCC::NotEqual, etype, zero)
    }

    pub(super) fn traceback_location(&mut self, at: u32, etype: Value) {
        let symbol = self.symbols.location(at);
        let location = self.address_of(&symbol);
        self.traceback_entry(location, etype);
    }

    pub(super) fn traceback_mark(&mut self, mark: i64, etype: Value) {
        let mark = self.int(PTR, mark);
        self.traceback_entry(mark, etype);
    }

    /// Adds an entry to the ring.
    fn traceback_entry(&mut self, location: Value, etype: Value) {
        let count = self.load_state(state::TRACEBACK_COUNT);
        let next = self.b.ins().iadd_imm_s(count, 1);
        self.store_state(state::TRACEBACK_COUNT, next);
        let depth = self.int(PTR, state::TRACEBACK_DEPTH - 1);
        let index = self.b.ins().band(count, depth);
        let offset = self.b.ins().ishl_imm_u(index, 4);
        let base = self.state();
        let entry = self.b.ins().iadd(base, offset);
        let flags = MemFlagsData::trusted().with_alias_region(Some(self.regions.state));
        self.b.ins().store(flags, location, entry, state::TRACEBACK);
        self.b
            .ins()
            .store(flags, etype, entry, state::TRACEBACK + 8);
    }
}
