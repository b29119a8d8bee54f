//! Fields that seldom change, `x?` (RPython: `quasiimmut.py`).
//!
//! Code takes it for granted that such a field of a known object keeps its value: it is read
//! while compiling, and what is written to it later invalidates the code. That is noticed
//! by a word which a write sets, and which code looks at before it relies on what the word
//! stands for, once until something is called or written that may set it (functions that are called
//! while compiling write nothing). Code that joins
//! other code looks at the word of that. Where the word is set there is a stub: what comes is compiled anew, with the value that is
//! there by then. So a write costs what depends on the field, and no more.
//!
//! What was written once is not relied upon again, but promoted: otherwise code would be compiled
//! each time.

use taipan_lltype::{BOOL, LLConst, LLOperand, LLType, PlainOp, VOID, View, VoidConst};

use super::{Failure, Specializer};
use crate::binding::Frozen;
use crate::code::{TsGraph, TsOp};
use crate::layout::{Place, field};
use crate::purity::is_quasi_immutable;
use crate::state::{BoxId, JitState, Val};
use crate::world::World;

/// The operation itself, the read and the promotion.
const OPERATIONS_OF_A_READ: u32 = 3;

impl Specializer<'_> {
    /// Reads a field while compiling, if the object is known. Otherwise the read that follows
    /// does so.
    pub(super) fn assume_field(
        &mut self,
        world: &mut dyn World,
        mut state: JitState,
        graph: &TsGraph,
        op: &TsOp,
    ) -> Result<JitState, Failure> {
        let Some(View::Getfield {
            object,
            field: name,
        }) = op.view()
        else {
            return Err("no read of a field".into());
        };
        let Some((field_at, ty)) = self.assumable(world, &mut state, graph, op) else {
            state.frame_mut().op += 1;
            return Ok(state);
        };
        if state.assumed.is_none_or(|a| !world.holds(a))
            && let Some(word) = world.assumptions()
        {
            let mut anew = state.clone();
            anew.keep_only(&op.live);
            self.check(&mut state, anew, word)?;
        }
        let value = match state.assumed {
            Some(a) if world.assume(a, field_at) => world.memory().load_word(field_at, ty).ok(),
            _ => None,
        };
        let Some(value) = value else {
            state.frame_mut().op += 1;
            return Ok(state);
        };
        let container = self.pointee_of(&state, object).ok_or("no object")?;
        let b = state.constant(value, ty);
        state.get_mut(b).frozen = self.promised(Frozen::No, container, field(Some(name)), ty);
        self.set(&mut state, graph, op, Val::Red(b));
        state.frame_mut().op += OPERATIONS_OF_A_READ;
        Ok(state)
    }

    /// Where the field is that is going to be read, and its type, if nothing better is known.
    fn assumable(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        graph: &TsGraph,
        op: &TsOp,
    ) -> Option<(u64, LLType)> {
        let View::Getfield {
            object: pointed,
            field: name,
        } = op.view()?
        else {
            return None;
        };
        let ty = graph.slots[op.result as usize].ty;
        let object = self.known_arg(world, state, pointed)?;
        if object == 0 || ty.is_void() {
            return None;
        }
        let pointer = self.red_arg(world, state, graph, pointed);
        let getfield = PlainOp::Getfield.into();
        let path = std::slice::from_ref(name);
        let place = self.access(world, state, getfield, pointed, path).place;
        let known = place.and_then(|p| self.known_value(state, pointer, p));
        if known.is_some() || state.get(pointer).frozen.reads_constant() {
            return None;
        }
        let container = self.pointee_of(state, pointed)?;
        let name = field(Some(name))?;
        let found = world.memory().field(object as u64, container, name).ok()?;
        world.may_assume(found.0).then_some(found)
    }

    /// Sees that what other code relies on is so, before that is joined.
    pub(super) fn agree(
        &mut self,
        state: &mut JitState,
        assumed: Option<u64>,
    ) -> Result<(), Failure> {
        let Some(word) = assumed.filter(|_| state.assumed != assumed) else {
            return Ok(());
        };
        self.check(state, state.clone(), word)
    }

    /// Code looks whether what a word stands for is so. If not, compilation goes on in another
    /// state.
    fn check(
        &mut self,
        state: &mut JitState,
        mut anew: JitState,
        word: u64,
    ) -> Result<(), Failure> {
        let operand = LLOperand::Const(LLConst::signed(word as i64));
        let invalidated = View::JitInvalidated { word: &operand };
        let v = self.residual.op(state.at, invalidated, *BOOL);
        let (yes, no) = self.residual.branch(state.at, v);
        anew.at = yes;
        self.stub_of(&anew, (state.at, yes), false)?;
        (state.at, state.assumed) = (no, Some(word));
        Ok(())
    }

    /// Generates what has to come before a write to a place of an object: where that is a field
    /// that seldom changes, code that relies on it is invalid. `operands` are those of the write.
    pub(super) fn before_write(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        object: BoxId,
        place: Option<Place>,
        operands: &[LLOperand],
    ) {
        let (Some(Place::Field((container, _))), [pointer, name, ..]) = (place, operands) else {
            return;
        };
        let LLOperand::Const(LLConst::Void(VoidConst::Field(field))) = name else {
            return;
        };
        if !is_quasi_immutable(self.program, container, field) {
            return;
        }
        // Nothing relies on what was written already.
        if let Some(known) = state.known(object)
            && let Ok((at, _)) = world.memory().field(known as u64, container, field)
            && !world.may_assume(at)
        {
            return;
        }
        // Nothing relies on an object that nobody has seen, or on any without drivers.
        if self.of_driver && !state.heap.fresh.contains(&object) {
            let force = View::JitForceQuasiImmutable {
                object: pointer,
                field: name,
            };
            self.residual.op(state.at, force, *VOID);
        }
        state.assumed = None;
    }
}
