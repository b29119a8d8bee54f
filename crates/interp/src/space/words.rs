//! Moving values word by word.
//!
//! The processor cannot forward two stores, tag and payload, to one wide load: copying a whole value that was
//! just written waits for memory (a store-forwarding stall). Frequent kinds of values are therefore copied by
//! tag and payload. Values without a destructor are overwritten without a drop.

use super::heap::Ref;
use super::value::Value;

/// A copy of a value.
#[inline(always)]
pub(crate) fn copy(v: &Value) -> Value {
    match v {
        Value::Int(i) => Value::Int(*i),
        Value::Ref(r) => Value::Ref(*r),
        Value::None => Value::None,
        v => v.clone(),
    }
}

/// Appends a value. Unlike [`Vec::push`] it calls nothing that may panic while the value lives: the compiler keeps such a
/// value in memory, writes it there in words, and copies it as a whole.
///
/// # Safety
/// The vector has room for a value: see [`room`].
#[inline(always)]
unsafe fn append<T>(stack: &mut Vec<T>, v: T) {
    let len = stack.len();
    // SAFETY: the place after the last value belongs to the vector, as the caller promises, and is set afterwards.
    unsafe {
        stack.as_mut_ptr().add(len).write(v);
        stack.set_len(len + 1);
    }
}

/// Makes room for a value.
#[inline(always)]
fn room<T>(stack: &mut Vec<T>) {
    if stack.len() == stack.capacity() {
        grow(stack);
    }
}

#[cold]
#[inline(never)]
fn grow<T>(stack: &mut Vec<T>) {
    stack.reserve(1);
}

/// Pushes a number.
#[inline(always)]
pub(crate) fn push_int(stack: &mut Vec<Value>, n: i64) {
    room(stack);
    // SAFETY: there is room.
    unsafe { append(stack, Value::Int(n)) }
}

/// Pushes an object.
#[inline(always)]
pub(crate) fn push_ref(stack: &mut Vec<Value>, r: Ref) {
    room(stack);
    // SAFETY: there is room.
    unsafe { append(stack, Value::Ref(r)) }
}

/// Pushes a copy of a value.
#[inline(always)]
pub(crate) fn push_copy(stack: &mut Vec<Value>, v: &Value) {
    room(stack);
    // SAFETY: there is room, and copying a value runs nothing else.
    unsafe {
        match v {
            Value::Int(i) => append(stack, Value::Int(*i)),
            Value::Ref(r) => append(stack, Value::Ref(*r)),
            Value::None => append(stack, Value::None),
            Value::Bool(b) => append(stack, Value::Bool(*b)),
            _ => append(stack, v.clone()),
        }
    }
}

/// Appends a copy of a value to the locals.
#[inline(always)]
pub(crate) fn push_local(locals: &mut Vec<Option<Value>>, v: &Value) {
    room(locals);
    // SAFETY: there is room, and copying a value runs nothing else.
    unsafe {
        match v {
            Value::Int(i) => append(locals, Some(Value::Int(*i))),
            Value::Ref(r) => append(locals, Some(Value::Ref(*r))),
            Value::None => append(locals, Some(Value::None)),
            _ => append(locals, Some(v.clone())),
        }
    }
}

/// Moves a value to the locals. An object stays in its place as well.
#[inline(always)]
pub(crate) fn move_local(locals: &mut Vec<Option<Value>>, v: &mut Value) {
    room(locals);
    // SAFETY: there is room, and copying a value runs nothing else.
    unsafe {
        match v {
            Value::Int(i) => append(locals, Some(Value::Int(*i))),
            Value::Ref(r) => append(locals, Some(Value::Ref(*r))),
            Value::None => append(locals, Some(Value::None)),
            v => append(locals, Some(std::mem::replace(v, Value::None))),
        }
    }
}

/// Appends a local that is not set.
#[inline(always)]
pub(crate) fn push_unset(locals: &mut Vec<Option<Value>>) {
    room(locals);
    // SAFETY: there is room.
    unsafe { append(locals, None) }
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
        Value::Bool(b) => std::mem::replace(place, Value::Bool(b)),
        v => std::mem::replace(place, v),
    });
}

/// Overwrites a value by a number.
#[inline(always)]
pub(crate) fn put_int(place: &mut Value, n: i64) {
    match place {
        Value::Int(old) => *old = n,
        place => put(place, Value::Int(n)),
    }
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
