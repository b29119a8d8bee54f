//! Writes that wait (RPython: lazy `setfield_gc` and `setarrayitem_gc` of `optimizeopt/heap.py`).
//!
//! A write of a virtual object into an object that exists would force the virtual one. Frames that are not virtualizable
//! are written like that by each instruction that pushes a value, and the next push writes over it. So the write stays
//! [`Known::pending`] until something may read the place, or states meet of which one has no such write:
//!
//! ```text
//! setarrayitem(stack, 0, W_Int(v1))   ; stack[0] is a virtual W_Int, nothing is generated
//! v2 = getarrayitem(stack, 0)         ; the virtual W_Int
//! setarrayitem(stack, 0, None)        ; generated: nobody has seen the W_Int
//! ```

use taipan_lltype::{FuncSym, LLConst, StructId};

use super::Specializer;
use super::calls::callee_and_args;
use crate::code::{Arg, TsOp};
use crate::heap::Known;
use crate::layout::{Place, field_name_of};
use crate::purity::{is_immutable_field, is_quasi_immutable};
use crate::state::{BoxId, Content, JitState};
use crate::world::World;

/// Maximum number of writes that wait in a state, those to virtualizables not counted: the values are passed from block to
/// block.
const MOST_WAITING: usize = 16;

impl Specializer<'_> {
    /// Whether a write to an object that exists at run time, at a place that is known for certain, waits.
    pub(super) fn may_wait(
        &self,
        state: &JitState,
        object: BoxId,
        place: Place,
        value: BoxId,
    ) -> bool {
        // While compiling, such fields are read in memory.
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

    /// Writes what waits in lists. An object that becomes known may lead to a list that is read while compiling, and that
    /// may have been filled just before.
    pub(super) fn write_lists(&mut self, world: &mut dyn World, state: &mut JitState) {
        let of_instance = |place: Place| match place {
            Place::Field((ty, _)) => {
                (ty.as_struct()).is_some_and(|s| matches!(s.id, StructId::Instance(_)))
            }
            Place::Item { .. } | Place::Length(_) => false,
        };
        self.write_pending(world, state, |_, k| is_waiting(k) && !of_instance(k.place));
    }

    /// Writes what a call would read that is made while compiling. Returns whether there was any such write: then
    /// compilation has to stop until code gets there, since the memory that the call would read is that of now.
    pub(super) fn write_for_call_now(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
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
        let read = |state: &JitState, k: &Known| {
            let own = state.get(k.object).own_list;
            is_waiting(k) && touched.as_ref().is_none_or(|t| t.touches(k.place, own))
        };
        let found = state.heap.known.iter().any(|k| read(state, k));
        self.write_pending(world, state, read);
        found
    }
}

fn is_waiting(k: &Known) -> bool {
    k.pending && !k.kept
}
