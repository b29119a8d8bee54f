//! Exceptions: the pair of class and instance in the state shared with the runtime, and the ring of traceback
//! entries.

use super::super::{Access, Binary, Cond, Exceptions, Instructions, Ty};
use crate::abi::state;

impl<M: Instructions> Exceptions for M {
    fn exc_occurred(&mut self) -> Self::Value {
        let class = self.load_state(state::EXC_TYPE, Ty::Ptr);
        let null = self.null();
        let bit = self.compare(Cond::Ne, false, &class, &null);
        self.boolean(bit)
    }

    fn exc_type(&mut self) -> Self::Value {
        self.load_state(state::EXC_TYPE, Ty::Ptr)
    }

    fn exc_value(&mut self) -> Self::Value {
        self.load_state(state::EXC_VALUE, Ty::Ptr)
    }

    fn set_exception(&mut self, class: &Self::Value, value: &Self::Value) {
        self.store_state(state::EXC_TYPE, class);
        self.store_state(state::EXC_VALUE, value);
    }

    fn traceback_location(&mut self, at: u32, class: &Self::Value) {
        let location = self.location(at);
        traceback_entry(self, &location, class);
    }

    fn traceback_mark(&mut self, mark: i64, class: &Self::Value) {
        let mark = self.int(Ty::I64, mark.into());
        traceback_entry(self, &mark, class);
    }
}

/// Adds an entry to the ring.
fn traceback_entry<M: Instructions>(m: &mut M, location: &M::Value, class: &M::Value) {
    let count = m.load_state(state::TRACEBACK_COUNT, Ty::I64);
    let next = super::with_constant(m, Binary::Add, &count, 1);
    m.store_state(state::TRACEBACK_COUNT, &next);
    let most = state::TRACEBACK_DEPTH - 1;
    let index = super::with_constant(m, Binary::And, &count, most);
    let offset = super::with_constant(m, Binary::Shl, &index, 4);
    let base = m.state();
    let entry = m.advance(&base, &offset);
    let at = i64::from(state::TRACEBACK);
    m.store_at(&Access::STATE, location, &entry, at);
    m.store_at(&Access::STATE, class, &entry, at + 8);
}
