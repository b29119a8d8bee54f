//! Moving values word by word.
//!
//! The processor cannot forward two stores, tag and payload, to one wide load: copying a whole value that was
//! just written waits for memory (a store-forwarding stall). Frequent kinds of values are therefore copied by
//! tag and payload. Values without a destructor are overwritten without a drop.

use super::value::Value;

/// Pushes a copy of a value.
#[inline(always)]
pub(crate) fn push_copy(stack: &mut Vec<Value>, v: &Value) {
    match v {
        Value::Int(i) => stack.push(Value::Int(*i)),
        Value::Ref(r) => stack.push(Value::Ref(*r)),
        Value::None => stack.push(Value::None),
        Value::Bool(b) => stack.push(Value::Bool(*b)),
        _ => stack.push(v.clone()),
    }
}

/// Appends a copy of a value to the locals.
#[inline(always)]
pub(crate) fn push_local(locals: &mut Vec<Option<Value>>, v: &Value) {
    match v {
        Value::Int(i) => locals.push(Some(Value::Int(*i))),
        Value::Ref(r) => locals.push(Some(Value::Ref(*r))),
        Value::None => locals.push(Some(Value::None)),
        _ => locals.push(Some(v.clone())),
    }
}

/// Whether dropping a value has no effect.
#[inline(always)]
pub(crate) fn is_bare(v: &Value) -> bool {
    matches!(
        v,
        Value::Int(_)
            | Value::Ref(_)
            | Value::None
            | Value::Bool(_)
            | Value::Bound(_)
            | Value::Float(_)
    )
}

/// Overwrites a value.
#[inline(always)]
pub(crate) fn put(place: &mut Value, v: Value) {
    if !is_bare(place) {
        *place = v;
        return;
    }
    std::mem::forget(match v {
        Value::Int(i) => std::mem::replace(place, Value::Int(i)),
        Value::Ref(r) => std::mem::replace(place, Value::Ref(r)),
        Value::None => std::mem::replace(place, Value::None),
        v => std::mem::replace(place, v),
    });
}

/// Overwrites a value by a copy of another.
#[inline(always)]
pub(crate) fn put_copy(place: &mut Value, v: &Value) {
    if !is_bare(place) {
        *place = v.clone();
        return;
    }
    std::mem::forget(match v {
        Value::Int(i) => std::mem::replace(place, Value::Int(*i)),
        Value::Ref(r) => std::mem::replace(place, Value::Ref(*r)),
        Value::None => std::mem::replace(place, Value::None),
        v => std::mem::replace(place, v.clone()),
    });
}

/// Pops the top of a stack.
#[inline(always)]
pub(crate) fn discard(stack: &mut Vec<Value>) {
    match stack.last() {
        Some(v) if is_bare(v) => std::mem::forget(stack.pop()),
        _ => drop(stack.pop()),
    }
}

/// Pops the top of a stack into another value.
#[inline(always)]
pub(crate) fn pop_to(stack: &mut Vec<Value>, place: &mut Value) {
    match stack.last() {
        Some(v @ (Value::Int(_) | Value::Ref(_) | Value::None)) => {
            put_copy(place, v);
            std::mem::forget(stack.pop());
        }
        _ => {
            if let Some(v) = stack.pop() {
                *place = v;
            }
        }
    }
}

/// Empties the locals of a frame.
pub(crate) fn discard_locals(locals: &mut Vec<Option<Value>>) {
    while let Some(v) = locals.last() {
        match v {
            Some(v) if !is_bare(v) => drop(locals.pop()),
            _ => std::mem::forget(locals.pop()),
        }
    }
}
