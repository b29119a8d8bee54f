//! Delayed writes (RPython: lazy `setfield_gc` and `setarrayitem_gc` of `optimizeopt/heap.py`).
//!
//! A write of a virtual object into a real one would force the virtual object. Each push of an interpreter writes a box into a
//! frame that is not virtualizable, and the next push overwrites it. So the write stays [`Known::pending`] until an
//! operation may read the place, or until states meet of which one lacks the write:
//!
//! ```text
//! setarrayitem(stack, 0, W_Int(v1))   ; stack[0] is a virtual W_Int, nothing is generated
//! v2 = getarrayitem(stack, 0)         ; the virtual W_Int
//! setarrayitem(stack, 0, None)        ; generated; the W_Int is never allocated
//! ```

use taipan_lltype::{FuncSym, LLConst, StructId};

use super::Specializer;
use super::calls::callee_and_args;
use crate::code::{Arg, TsGraph, TsOp};
use crate::heap::Known;
use crate::layout::{Place, field_name_of};
use crate::purity::{is_immutable_field, is_quasi_immutable};
use crate::state::{BoxId, Content, JitState};
use crate::touches::Effect;
use crate::world::World;

/// Maximum number of delayed writes of a state, without those to virtualizables. Their values are arguments of each block.
const MOST_WAITING: usize = 16;

impl Specializer<'_> {
    /// Whether a write to a place of a real object is delayed. The place has to be certain.
    pub(super) fn may_wait(
        &self,
        state: &JitState,
        object: BoxId,
        place: Place,
        value: BoxId,
    ) -> bool {
        // The specialiser reads such fields from memory.
        let read_now = || match place {
            Place::Field(key) => field_name_of(self.program, key).is_none_or(|name| {
                is_immutable_field(self.program, key.0, &name)
                    || is_quasi_immutable(self.program, key.0, &name)
            }),
            Place::Item { .. } | Place::Length(_) => false,
        };
        self.of_driver
            && matches!(state.get(value).content, Content::Virtual(_))
            && state.get(object).var.is_some()
            && state.heap.known.iter().filter(|k| is_waiting(k)).count() < MOST_WAITING
            && !read_now()
    }

    /// Emits the delayed writes to lists, before a promotion: the promoted object may lead to a list that the specialiser reads
    /// from memory, and that was filled before.
    pub(super) fn write_lists(&mut self, world: &mut dyn World, state: &mut JitState) {
        let of_instance = |place: Place| match place {
            Place::Field((ty, _)) => {
                (ty.as_struct()).is_some_and(|s| matches!(s.id, StructId::Instance(_)))
            }
            Place::Item { .. } | Place::Length(_) => false,
        };
        self.write_pending(world, state, |_, k| is_waiting(k) && !of_instance(k.place));
    }

    /// Emits the delayed writes that a call at compile time would read. Returns whether there were any: compilation has to stop
    /// there, since such a call reads the memory as it is at compile time.
    pub(super) fn write_for_call_now(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        graph: &TsGraph,
        op: &TsOp,
    ) -> bool {
        let (true, Some(touches)) = (self.of_driver, self.touches.clone()) else {
            return false;
        };
        if !state.heap.known.iter().any(is_waiting)
            || !(op.args.iter()).all(|a| self.known_arg(world, state, a).is_some())
        {
            return false;
        }
        let callee: Option<FuncSym> = match callee_and_args(op).0 {
            Arg::Const(LLConst::Func(f)) => Some(f.clone()),
            a => self
                .known_arg(world, state, a)
                .and_then(|w| world.function(w)),
        };
        let touched = callee.map(|f| touches.of(&f));
        let passed = self.passed_lists(state, graph, &op.args);
        let read = |state: &JitState, k: &Known| {
            let owner = state.get(k.object).owner;
            let reads = |t: &Effect<'_>| t.touches(k.place, owner, &passed);
            is_waiting(k) && touched.as_ref().is_none_or(reads)
        };
        let found = state.heap.known.iter().any(|k| read(state, k));
        self.write_pending(world, state, read);
        found
    }
}

/// Whether a fact is a delayed write to an object other than a virtualizable.
fn is_waiting(k: &Known) -> bool {
    k.pending && !k.kept
}
