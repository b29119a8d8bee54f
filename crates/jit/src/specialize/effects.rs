//! Effects of calls on the facts of a state.

use smallvec::SmallVec;
use taipan_lltype::FuncSym;

use super::Specializer;
use crate::code::{Arg, TsGraph};
use crate::own_lists::items_of;
use crate::state::{JitState, Owner, Val};
use crate::touches::PassedList;
use crate::world::World;

/// Arguments of a call that are lists which a field may own.
pub(super) type PassedLists = SmallVec<[PassedList; 2]>;

impl Specializer<'_> {
    /// Prepares a state for a call: emits the pending writes that the call may read, and drops the facts that it may change.
    /// `targets` are the functions that it may reach, if they are known; `passed` are the lists among its arguments.
    pub(super) fn calls_out(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        targets: Option<&[FuncSym]>,
        passed: &[PassedList],
    ) {
        let Some(touches) = self.touches.clone() else {
            return;
        };
        let Some(targets) = targets else {
            return self.anything_happens(world, state);
        };
        if targets.iter().any(|f| touches.may_invalidate(f)) {
            state.assumed = None;
        }
        let touched: Vec<_> = targets.iter().map(|f| touches.of(f)).collect();
        self.write_pending(world, state, |state, k| {
            let owner = state.get(k.object).owner;
            touched.iter().any(|t| t.touches(k.place, owner, passed))
        });
        state.forget(|state, k| {
            let owner = state.get(k.object).owner;
            let written = touched.iter().any(|t| t.writes(k.place, owner, passed));
            written && !state.heap.fresh.contains(&k.object)
        });
    }

    /// The same for an operation that may read and write anything.
    pub(super) fn anything_happens(&mut self, world: &mut dyn World, state: &mut JitState) {
        self.write_all_pending(world, state);
        state.assumed = None;
        // No other code has a pointer to a fresh object.
        state.forget(|state, k| !state.heap.fresh.contains(&k.object));
    }

    /// The lists among the arguments of a call that a field may own.
    pub(super) fn passed_lists(
        &self,
        state: &JitState,
        graph: &TsGraph,
        args: &[Arg],
    ) -> PassedLists {
        let lists = args.iter().filter_map(|a| {
            let array = items_of(self.ty_of(graph, a).pointee()?)?;
            let owner = match a {
                Arg::Slot(s) => match state.frame().values.get(*s) {
                    Val::Red(b) => state.get(b).owner,
                    Val::Green(_) | Val::Unset => Owner::Unknown,
                },
                // Prebuilt lists with items have no owner.
                Arg::Const(_) => Owner::Elsewhere,
            };
            (owner != Owner::Elsewhere).then_some((owner, array))
        });
        lists.collect()
    }
}
