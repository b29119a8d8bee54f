//! Where code goes back to the interpreter (RPython: guard failures below `trace_eagerness`).
//!
//! Code behind a stub is compiled when control first reaches the stub. Unless the stub is hot, compilation
//! stops at the next merge point. Residual code returns to the interpreter there, and the interpreter
//! enters compiled code again where a loop closes. A counter makes a frequent exit hot:
//!
//! ```text
//!     often = jit_count(word)
//!     if often: the stub of what follows
//!     else:     the greens and reds are left to the interpreter
//! ```

use taipan_lltype::{BOOL, LLConst, LLOperand, View};

use super::flat::with_arguments;
use super::stubs::Stub;
use super::{Failure, Specializer};
use crate::code::TsOp;
use crate::state::{JitState, Word};
use crate::world::World;

impl Specializer<'_> {
    /// Leaves the remainder to the interpreter at a merge point, unless an existing version of the merge point fits the
    /// state. Existing versions are not used if the interpreter reached the same instruction `again`, since it may
    /// have replaced the instruction. Returns state and greens if the driver does not allow to leave.
    pub(super) fn leave_for_now(
        &mut self,
        world: &mut dyn World,
        mut state: JitState,
        op: &TsOp,
        (greens, again): (Vec<Word>, bool),
    ) -> Result<Option<(JitState, Vec<Word>)>, Failure> {
        if !self.driver(&state).is_some_and(|d| d.can_leave()) {
            return Ok(Some((state, greens)));
        }
        if !again && self.closes_loop(world, &state, op, &greens, false)? {
            return Ok(None);
        }
        let Some(word) = world.leave_counter() else {
            return Ok(Some((state, greens)));
        };
        state.keep_only(&with_arguments(op));
        self.write_unreachable(world, &mut state);
        let counter = &LLOperand::Const(LLConst::signed(word as i64));
        let often = self
            .residual
            .op(state.at, View::JitCount { counter }, *BOOL);
        let (more, enough) = self.residual.branch(state.at, often);
        self.stub_of(&state, (state.at, more), false)?;
        if let Some(Stub::Split(pending)) = self.stubs.last_mut() {
            pending.is_hot = true;
        }
        state.at = enough;
        self.leave(world, state, op, greens)?;
        Ok(None)
    }

    /// Leaves the rest to the interpreter.
    fn leave(
        &mut self,
        world: &mut dyn World,
        state: JitState,
        op: &TsOp,
        greens: Vec<Word>,
    ) -> Result<(), Failure> {
        let at = state.at;
        self.leave_to_portal(world, state, op, Some(greens))?;
        self.residual.leaves_to_interpreter(at);
        Ok(())
    }
}
