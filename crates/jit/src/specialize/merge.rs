//! Where states meet.

use std::collections::BTreeMap;

use taipan_lltype::{LLOperand, View};

use super::stubs::Promoted;
use super::{Activation, Failure, MergeKey, Seen, Specializer};
use crate::binding::Frozen;
use crate::code::{Slot, TsKind, TsOp};
use crate::colors::CallColor;
use crate::freeze::{DontMerge, Matched, exact_match, passed};
use crate::heap::{General, Known};
use crate::layout::Place;
use crate::pure::PureArg;
use crate::state::{BoxId, Content, GenVar, JitState, Val};
use crate::world::World;

/// So many states that must not meet go on from one point; then they meet after all.
const MOST_VERSIONS: usize = 4;

impl Specializer<'_> {
    /// The green values that tell states apart at a merge point.
    pub(super) fn merge_key(&self, state: &JitState, live: &[Slot]) -> MergeKey {
        let frame = state.frame();
        let greens = live.iter().filter_map(|s| match frame.values.get(*s) {
            Val::Green(w) => Some(w),
            _ => None,
        });
        (frame.block, frame.op, greens.collect())
    }

    /// Lets a state go on where one like it went on before; returns it if it goes on by
    /// itself, in a new block.
    pub(super) fn merge(
        &mut self,
        world: &mut dyn World,
        seen: &mut Seen,
        key: MergeKey,
        mut state: JitState,
        force: bool,
    ) -> Result<Option<JitState>, Failure> {
        self.write_unreachable(world, &mut state);
        state.compact();
        let entries = seen.entry(key).or_default();
        // Lists that grow while compiling would never meet.
        let force = force || entries.len() >= MOST_VERSIONS;
        for entry in entries.iter_mut().rev() {
            let Ok(matched) = self.compare(world, &entry.0, &mut state, force) else {
                continue;
            };
            if matched.exact {
                self.write_these(world, &mut state, &matched.unwritten);
                let target = entry.1;
                let inputs = self.residual.inputs(target);
                let mut args = Vec::with_capacity(inputs.len());
                for (b, input) in matched.outgoing.iter().zip(inputs) {
                    let ty = self.residual.ty(input);
                    args.push(self.typed_operand(world, &mut state, *b, ty));
                }
                self.residual.goto(state.at, target, args);
                return Ok(None);
            }
            let general = (entry.0.heap.general).after(!matched.missing.is_empty());
            self.generalize(world, &mut state, &matched, general);
            *entry = self.start_new_block(world, &mut state)?;
            entry.0.heap.general = general;
            return Ok(Some(state));
        }
        let entry = self.start_new_block(world, &mut state)?;
        entries.push(entry);
        Ok(Some(state))
    }

    /// Compares a state with one that went on before. What that one knows of virtualizables
    /// is read, so that the state knows it, too.
    pub(super) fn compare(
        &mut self,
        world: &mut dyn World,
        frozen: &JitState,
        state: &mut JitState,
        force: bool,
    ) -> Result<Matched, DontMerge> {
        let pass_known = self.touches.is_some();
        if force {
            self.keep_exception_as(world, state, frozen);
        }
        loop {
            let matched = exact_match(frozen, state, force, pass_known)?;
            let mut read = false;
            for (object, place) in &matched.missing {
                read |= self.read_missing(world, state, *object, *place);
            }
            if !read {
                return Ok(matched);
            }
        }
    }

    /// The boxes of a state that its next block gets as arguments.
    pub(super) fn outgoing(&self, state: &JitState) -> Vec<BoxId> {
        passed(state, self.touches.is_some())
    }

    /// Makes variables of the values in which states differ.
    pub(super) fn generalize(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        matched: &Matched,
        general: General,
    ) {
        let before = state.heap.known.clone();
        self.because(|_| "not known any more where states meet".to_owned());
        for b in &matched.outgoing {
            let operand = self.operand(world, state, *b);
            let ty = state.get(*b).ty;
            if let LLOperand::Const(_) = operand {
                let v = (self.residual).op(state.at, View::SameAs { value: &operand }, ty);
                let red = state.get_mut(*b);
                red.var = Some(GenVar::Var(v));
                red.content = Content::None;
                red.frozen = Frozen::No;
            }
            if matched.forget_nonzero.contains(b) {
                state.get_mut(*b).nonzero = false;
            }
        }
        state.pure.retain(|f| matched.pure.contains(f));
        // Objects that were made just now would be new in each state that comes here.
        let new = |k: &Known| k.kept && !general.closed && before.contains(k);
        let held = |k: &Known| !general.is_last() && (new(k) || matched.facts.contains(k));
        self.write_pending(world, state, |_, k| !held(k));
        state.heap.known.retain(held);
        // The last one for a box counts.
        let partial: BTreeMap<BoxId, &Vec<Place>> =
            matched.partial.iter().map(|(b, kept)| (*b, kept)).collect();
        for (b, kept) in partial {
            let red = state.get_mut(b);
            if let Content::Partial(fields) = &mut red.content {
                fields.retain(|f| kept.contains(&f.0));
                if fields.is_empty() {
                    red.content = Content::None;
                }
            }
        }
        if general.is_last() {
            state.forget_sharing();
        }
    }

    /// Starts a block that other states can go on in.
    pub(super) fn start_new_block(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
    ) -> Result<(JitState, taipan_graph::BlockId), Failure> {
        state.compact();
        self.start_block_compact(world, state)
    }

    /// The same for a state that has no boxes which nothing refers to.
    pub(super) fn start_block_compact(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
    ) -> Result<(JitState, taipan_graph::BlockId), Failure> {
        // Other states come here with objects that are not new.
        state.heap.fresh.clear();
        let outgoing = self.outgoing(state);
        let mut pure = std::mem::take(&mut state.pure);
        let mut passed = vec![false; state.boxes.len()];
        outgoing.iter().for_each(|b| passed[b.0 as usize] = true);
        let passed = |b: BoxId| passed[b.0 as usize] || state.constant_of(b).is_some();
        pure.retain(|f| {
            passed(f.result)
                && f.args.iter().all(|a| match a {
                    PureArg::Box(b) => passed(*b),
                    PureArg::Const(_) => true,
                })
        });
        state.pure = pure;
        self.enter_next_block(world, state, &outgoing);
        Ok((state.clone(), state.at))
    }

    /// Goes on in a new block whose input arguments stand for these boxes.
    pub(super) fn enter_next_block(
        &mut self,
        world: &mut dyn World,
        state: &mut JitState,
        incoming: &[BoxId],
    ) {
        // Other states may come with pointers to other subclasses: what they have in common
        // is the type of the variable of the program.
        let mut declared = vec![None; state.boxes.len()];
        if let Val::Red(b) = state.returned {
            let graph = &self.graphs[state.frame().code as usize];
            declared[b.0 as usize] = Some(graph.func.ty().result);
        }
        for frame in state.frames.iter().rev() {
            let slots = &self.graphs[frame.code as usize].slots;
            for (slot, val) in frame.values.iter() {
                if let Val::Red(b) = val {
                    declared[b.0 as usize].get_or_insert(slots[slot as usize].ty);
                }
            }
        }
        for object in &state.virtuals {
            let Some(shape) = self.shape(object.ty) else {
                continue;
            };
            for (ty, b) in shape.types().zip(&object.fields) {
                declared[b.0 as usize].get_or_insert(ty);
            }
        }
        for k in &state.heap.known {
            let declared = &mut declared[k.value.0 as usize];
            *declared = declared.or_else(|| self.type_at(k.place));
        }
        let mut operands = Vec::with_capacity(incoming.len());
        let mut types = Vec::with_capacity(incoming.len());
        for b in incoming {
            let ty = declared[b.0 as usize].unwrap_or(state.get(*b).ty);
            operands.push(self.typed_operand(world, state, *b, ty));
            types.push(ty);
        }
        let (block, inputs) = self.residual.new_entry(&types);
        self.residual.goto(state.at, block, operands);
        state.at = block;
        for ((b, v), ty) in incoming.iter().zip(inputs).zip(types) {
            let red = state.get_mut(*b);
            (red.var, red.ty) = (Some(GenVar::Var(v)), ty);
        }
    }

    /// A state arrives at a global merge point, after all others that waited.
    pub(super) fn global_merge(
        &mut self,
        world: &mut dyn World,
        activation: &mut Activation,
        mut state: JitState,
    ) -> Result<(), Failure> {
        let graph = self.graphs[state.frame().code as usize].clone();
        let frame = state.frame();
        let live = &graph.blocks[frame.block as usize].ops[frame.op as usize].live;
        state.keep_only(live);
        let key = self.merge_key(&state, live);
        let mut seen = std::mem::take(&mut self.global_seen);
        let merged = self.merge(world, &mut seen, key, state, false);
        self.global_seen = seen;
        if let Some(mut state) = merged? {
            // Code from here on is for all who come by later, too.
            activation.seen.clear();
            state.frame_mut().op += 1;
            self.run_state(world, activation, state)?;
        }
        Ok(())
    }

    /// Lets the states in which a function returned meet. Those of a function that
    /// returns a green value go on by themselves.
    pub(super) fn merge_returned(
        &mut self,
        world: &mut dyn World,
        mut states: Vec<JitState>,
        portal: bool,
    ) -> Result<Vec<JitState>, Failure> {
        states.reverse();
        let Some(first) = states.first() else {
            return Ok(states);
        };
        let graph = &self.graphs[first.frame().code as usize];
        if graph.color == CallColor::Yellow {
            return Ok(states);
        }
        // Some may fit a later, more general one: a second round finds these.
        for _ in 0..2 {
            let mut seen = Seen::new();
            let mut left = Vec::new();
            for state in states {
                let key = (0, 0, Vec::new());
                left.extend(self.merge(world, &mut seen, key, state, portal)?);
            }
            left.reverse();
            states = left;
        }
        Ok(states)
    }

    /// Takes states that have returned back into the caller.
    pub(super) fn return_to_caller(&self, mut states: Vec<JitState>) -> Vec<JitState> {
        states.iter_mut().for_each(|s| self.return_one(s));
        states
    }

    /// Continues a state in the caller after the innermost function has returned.
    pub(super) fn return_one(&self, state: &mut JitState) {
        let callee = state.frames.pop();
        let frame = state.frame_mut();
        // A test in a helper counts for its caller: whether a list has another item ends the caller's loop.
        frame.decides |= callee.is_some_and(|f| f.decides && !self.own[f.code as usize]);
        let (slot, code) = (frame.waiting, frame.code);
        let returned = std::mem::replace(&mut state.returned, Val::Unset);
        let Some(info) = self.graphs[code as usize].slots.get(slot as usize) else {
            return;
        };
        let val = match returned {
            Val::Green(w) if !info.green => Val::Red(state.constant(w, info.ty)),
            other => other,
        };
        state.frame_mut().values.set(slot, val);
    }

    /// Makes a value known: by itself, or by stopping until it arrives at run time.
    pub(super) fn promote(
        &mut self,
        world: &mut dyn World,
        mut state: JitState,
        op: &TsOp,
    ) -> Result<Option<JitState>, Failure> {
        debug_assert!(matches!(op.kind, TsKind::Promote | TsKind::PromoteField));
        let graph = self.graphs[state.frame().code as usize].clone();
        let promoted = self.red_arg(world, &mut state, &graph, op.operand());
        self.operand(world, &mut state, promoted);
        if let Some(w) = state.known(promoted) {
            if op.kind == TsKind::PromoteField {
                self.learn_promise(&mut state, op, promoted);
            }
            let green = graph.slots[op.result as usize].green;
            let frame = state.frame_mut();
            let val = match green {
                true => Val::Green(w),
                false => Val::Red(promoted),
            };
            frame.values.set(op.result, val);
            frame.op += 1;
            return Ok(Some(state));
        }
        self.wait_for(world, state, promoted, &op.live, Promoted::Hint)
    }
}
