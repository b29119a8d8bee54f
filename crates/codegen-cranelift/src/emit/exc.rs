//! Exceptions: the pair of class and instance in the state shared with the runtime,
//! and the ring of traceback entries.
//!
//! ```text
//! v = int_add_ovf(a, b)           r, overflow = sadd_overflow a, b
//! e = exc_occurred()         =>   brif overflow, raise, next
//! exitswitch e                    raise: (cold) exc = OverflowError; jump handler
//! ```
//! The check after an operation that raises by itself reads the machine's flag, not
//! memory, and the exception is set on the way to its handler.

use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value};
use taipan_codegen::SymbolRef;
use taipan_codegen::abi::{mark, state};
use taipan_graph::{BlockId, ExitSwitch, VarId};
use taipan_lltype::{LLOp, LLOperand, PlainOp};

use super::types::clif_type;
use super::{Bad, Emitter, PTR};

impl Emitter<'_, '_> {
    /// The variable of the check, if the operation at `index` is followed by nothing
    /// but the check whether it raised, which decides between the block's exits.
    pub(super) fn check_after(&self, id: BlockId, index: usize) -> Option<VarId> {
        let block = self.graph.block(id);
        let [check] = &block.operations[index + 1..] else {
            return None;
        };
        let is_check = check.op == LLOp::from(PlainOp::ExcOccurred);
        let decides = matches!(&block.exitswitch,
            ExitSwitch::Value(LLOperand::Var(v)) if *v == check.result);
        (is_check && decides).then_some(check.result)
    }

    /// Raises a builtin exception if `raised`, a machine truth value, holds.
    pub(super) fn raise_if(
        &mut self,
        raised: Value,
        class: &'static str,
        id: BlockId,
        index: usize,
    ) {
        if let Some(check) = self.check_after(id, index) {
            self.pending_raise = Some((check, class));
            self.define(check, raised);
            return;
        }
        let (raise, next) = (self.cold_block(), self.b.create_block());
        self.b.ins().brif(raised, raise, &[], next, &[]);
        self.b.switch_to_block(raise);
        self.raise_builtin(class);
        self.b.ins().jump(next, &[]);
        self.b.switch_to_block(next);
    }

    /// Sets a prebuilt exception.
    pub(super) fn raise_builtin(&mut self, class: &'static str) {
        let vtable = SymbolRef::Static(self.program.exception_vtable(class));
        let instance = SymbolRef::Static(self.program.exception_instance(class));
        let etype = self.address_of(&vtable);
        let evalue = self.address_of(&instance);
        self.set_exception(etype, evalue);
        self.start_traceback(etype);
    }

    fn set_exception(&mut self, etype: Value, evalue: Value) {
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

    pub(super) fn exception_op(
        &mut self,
        op: PlainOp,
        args: &[LLOperand],
        at: u32,
    ) -> Result<Option<Value>, Bad> {
        use PlainOp::*;
        match op {
            ExcOccurred => {
                let etype = self.load_state(state::EXC_TYPE);
                let zero = self.int(PTR, 0);
                let ne = cranelift_codegen::ir::condcodes::IntCC::NotEqual;
                return Ok(Some(self.b.ins().icmp(ne, etype, zero)));
            }
            ExcType => return Ok(Some(self.load_state(state::EXC_TYPE))),
            ExcValue => return Ok(Some(self.load_state(state::EXC_VALUE))),
            ExcSet => {
                let (etype, evalue) = (self.value(&args[0])?, self.value(&args[1])?);
                self.set_exception(etype, evalue);
            }
            ExcClear => {
                let zero = self.int(PTR, 0);
                self.set_exception(zero, zero);
            }
            DebugStartTraceback | DebugCatchException | DebugReraiseTraceback => {
                let etype = match args.first() {
                    Some(a) => self.value(a)?,
                    None => self.load_state(state::EXC_TYPE),
                };
                match op {
                    DebugStartTraceback => self.start_traceback(etype),
                    DebugCatchException => self.traceback_mark(mark::CAUGHT, etype),
                    _ => self.traceback_mark(mark::RERAISED, etype),
                }
            }
            _ => {
                let etype = self.load_state(state::EXC_TYPE);
                let symbol = self.symbols.location(at);
                let location = self.address_of(&symbol);
                self.traceback_entry(location, etype);
            }
        }
        Ok(None)
    }

    fn start_traceback(&mut self, etype: Value) {
        self.traceback_mark(mark::RAISED, etype);
    }

    fn traceback_mark(&mut self, mark: i64, etype: Value) {
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
