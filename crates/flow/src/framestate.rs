//! Merging of frames (RPython: `rpython/flowspace/framestate.py`).

use taipan_engine::Frame;
use taipan_graph::VarId;

use crate::value::{Operand, Value};

/// The state at a join point. Two states at the same place have stacks of the same
/// depth.
pub(crate) type FrameState = Frame<Value>;

/// All places of a frame: locals, then the stack.
fn places(state: &FrameState) -> impl Iterator<Item = Option<&Value>> {
    let stack = state.stack.iter().map(Some);
    state.locals.iter().map(Option::as_ref).chain(stack)
}

/// The variables of a state, in the order in which links pass them.
pub(crate) fn variables(state: &FrameState) -> Vec<VarId> {
    places(state).flatten().filter_map(Value::as_var).collect()
}

/// A copy in which all variables are fresh.
pub(crate) fn copy(state: &FrameState, mut fresh: impl FnMut(VarId) -> VarId) -> FrameState {
    let mut new = state.clone();
    let all = new.locals.iter_mut().flatten().chain(&mut new.stack);
    for v in all {
        let mut copied = std::mem::replace(v, Value::Cell(None)).normalized();
        if let Value::Var(x) = &mut copied {
            *x = fresh(*x);
        }
        *v = copied;
    }
    new
}

/// The most special state that is at least as general as both: equal constants stay,
/// everything else becomes a variable. None where the two must not be merged.
/// `name` is the local that a fresh variable is for.
pub(crate) fn union(
    a: &FrameState,
    b: &FrameState,
    mut fresh: impl FnMut(Option<usize>) -> VarId,
    is_tag: impl Fn(&Value) -> bool,
) -> Option<FrameState> {
    if a.stack.len() != b.stack.len() {
        return None;
    }
    let mut merge = |x: &Value, y: &Value, local| {
        if x.clone().normalized() == y.clone().normalized() {
            return Some(x.clone().normalized());
        }
        match (x.operand(), y.operand()) {
            (Some(Operand::Const(_)), Some(Operand::Const(_))) if is_tag(x) || is_tag(y) => None,
            (Some(_), Some(_)) => Some(Value::Var(fresh(local))),
            _ => None,
        }
    };
    let mut new = a.clone();
    for (i, (x, y)) in a.locals.iter().zip(&b.locals).enumerate() {
        // Unset on one of the ways: unset from here on.
        new.locals[i] = match (x, y) {
            (Some(x), Some(y)) => Some(merge(x, y, Some(i))?),
            _ => None,
        };
    }
    for (i, (x, y)) in a.stack.iter().zip(&b.stack).enumerate() {
        new.stack[i] = merge(x, y, None)?;
    }
    Some(new)
}

/// Whether the two differ only in which variables they use.
pub(crate) fn matches(a: &FrameState, b: &FrameState) -> bool {
    a.stack.len() == b.stack.len()
        && places(a).zip(places(b)).all(|(x, y)| match (x, y) {
            (Some(Value::Var(_)), Some(Value::Var(_))) => true,
            (x, y) => x == y,
        })
}

/// What a link from one state to a more general one passes.
pub(crate) fn output_args(from: &FrameState, to: &FrameState) -> Vec<Operand> {
    places(from)
        .zip(places(to))
        .filter(|(_, t)| matches!(t, Some(Value::Var(_))))
        .filter_map(|(f, _)| f.and_then(Value::operand))
        .collect()
}
