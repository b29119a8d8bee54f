//! Iterators written in Rust.

use taipan_code::{Instr, Pc};
use taipan_engine::Frame;

use super::heap::{Kind, Ref};
use super::types::ty;
use super::value::{Tuple, Value};
use super::words;
use super::{Body, Interp, R};

/// State of a builtin iterator.
#[derive(Clone, Debug)]
pub(crate) enum Iter {
    /// Over a list object, which may change meanwhile.
    List(Ref, usize),
    /// Over a tuple.
    Tuple(Tuple, usize),
    /// Over values that cannot change.
    Values(std::vec::IntoIter<Value>),
    /// Over numbers.
    Range(i64, i64, i64),
    /// Over a dict or set: keys, values or items, and the length it must keep.
    Table(Ref, usize, View, usize),
    /// Over an object with `__getitem__`.
    Sequence(Value, i64),
    /// Calls a function until it answers the sentinel.
    Call(Value, Value),
    /// `enumerate`
    Enumerate(Value, i64),
    /// `reversed` over a list.
    Reversed(Ref, usize),
    /// Lines of a file.
    Lines(Ref),
    /// Nothing left.
    Done,
}

impl Iter {
    /// Calls a function with the values in the state.
    pub(crate) fn each_value(&self, f: &mut impl FnMut(&Value)) {
        match self {
            Iter::Tuple(items, _) => f(&Value::Tuple(items.clone())),
            Iter::Values(items) => items.as_slice().iter().for_each(f),
            Iter::Sequence(v, _) | Iter::Enumerate(v, _) => f(v),
            Iter::Call(function, sentinel) => {
                f(function);
                f(sentinel);
            }
            Iter::List(..)
            | Iter::Range(..)
            | Iter::Table(..)
            | Iter::Reversed(..)
            | Iter::Lines(_)
            | Iter::Done => {}
        }
    }
}

/// What an iterator over a dict gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    /// Keys.
    Keys,
    /// Values.
    Values,
    /// Pairs.
    Items,
}

impl Interp<'_> {
    /// A new builtin iterator.
    pub(crate) fn new_iter(&mut self, it: Iter) -> Value {
        Value::Ref(self.heap.alloc(ty::ITERATOR, Kind::Iter(Box::new(it))))
    }

    /// `iter(v)`
    pub(crate) fn iter(&mut self, v: &Value) -> R {
        let state = match v {
            Value::Tuple(t) => Iter::Tuple(t.clone(), 0),
            Value::Str(s) => {
                self.copy_items(s.len())?;
                let chars: Vec<Value> = s.iter().map(|c| Value::bytes(&[*c])).collect();
                Iter::Values(chars.into_iter())
            }
            Value::Unicode(s) => {
                self.copy_items(s.len())?;
                let chars: Vec<Value> = s.iter().map(|c| Value::Unicode([*c].into())).collect();
                Iter::Values(chars.into_iter())
            }
            Value::Ref(r) => {
                if let Some(m) = self.special(v, "__iter__")?
                    && !m.is_none()
                {
                    let it = self.call(&m, &[])?;
                    return Ok(it);
                }
                match self.heap.kind(*r) {
                    Kind::List(_) => Iter::List(*r, 0),
                    Kind::Dict(d) | Kind::Set(d) | Kind::FrozenSet(d) => {
                        Iter::Table(*r, 0, View::Keys, d.len())
                    }
                    Kind::XRange(start, n, step) => Iter::Range(*start, *n, *step),
                    Kind::Iter(_) | Kind::Generator(_) => return Ok(v.clone()),
                    Kind::File(_) => Iter::Lines(*r),
                    Kind::Boxed(inner) => {
                        let inner = inner.clone();
                        return self.iter(&inner);
                    }
                    Kind::Class(_) => {
                        let meta = self.heap.get(*r).class;
                        return match self.lookup(meta, "__iter__").cloned() {
                            Some(f) => self.call(&f, std::slice::from_ref(v)),
                            None => self.not_iterable(v),
                        };
                    }
                    _ => match self.special(v, "__getitem__")? {
                        Some(_) => Iter::Sequence(v.clone(), 0),
                        None => return self.not_iterable(v),
                    },
                }
            }
            _ => return self.not_iterable(v),
        };
        Ok(self.new_iter(state))
    }

    /// `GetIter` for a builtin container on top of the stack: replaces it by its iterator. False for other values.
    pub(crate) fn quick_iter(&mut self, stack: &mut [Value]) -> bool {
        let Some(top) = stack.last_mut() else {
            return false;
        };
        let state = match top {
            Value::Tuple(t) => Iter::Tuple(t.clone(), 0),
            Value::Ref(r) => {
                let o = self.heap.get(*r);
                match &o.kind {
                    Kind::List(_) if o.class == ty::LIST => Iter::List(*r, 0),
                    Kind::XRange(start, n, step) => Iter::Range(*start, *n, *step),
                    Kind::Dict(d) if o.class == ty::DICT => Iter::Table(*r, 0, View::Keys, d.len()),
                    Kind::Set(d) if o.class == ty::SET => Iter::Table(*r, 0, View::Keys, d.len()),
                    _ => return false,
                }
            }
            _ => return false,
        };
        *top = Value::Ref(self.heap.loop_iterator(state));
        true
    }

    /// `ForIter` for an iterator written in Rust on top of the stack: pushes its next item, or leaves the loop. False for
    /// other iterators, which stay unchanged.
    #[inline(always)]
    pub(crate) fn iterate(&mut self, body: &Body, frame: &mut Frame<Value>) -> R<bool> {
        let Some(Value::Ref(r)) = frame.stack.last() else {
            return Ok(false);
        };
        let r = *r;
        match self.quick_next(r, &mut frame.stack)? {
            Some(true) => frame.pc += 1,
            Some(false) => frame.pc = self.leave_loop(body, frame, r, frame.pc),
            None => return Ok(false),
        }
        Ok(true)
    }

    /// Leaves a loop whose iterator, on top of the stack, has ended. Returns where execution continues.
    #[inline(never)]
    pub(crate) fn leave_loop(
        &mut self,
        body: &Body,
        frame: &mut Frame<Value>,
        r: Ref,
        pc: Pc,
    ) -> Pc {
        words::discard(&mut frame.stack);
        let instrs = &body.code.instrs;
        // An iterator that the loop itself made is referred to by nothing else.
        let site = self.heap.get(r).site;
        let made_here = site.code == body.site;
        if made_here && matches!(instrs.get(site.pc as usize), Some(Instr::GetIter)) {
            self.heap.loop_ended(r);
        }
        match instrs[pc as usize] {
            Instr::ForIter(target) => target,
            _ => unreachable!("the head of a loop"),
        }
    }

    fn not_iterable<T>(&mut self, v: &Value) -> R<T> {
        let t = self.heap.type_name(v).to_owned();
        self.type_error(format!("'{t}' object is not iterable"))
    }

    /// Pushes the next item of a generator or of an iterator over a list, a tuple or numbers on a stack. False at the
    /// end of the iterator; None for other iterators, which stay unchanged.
    #[inline(always)]
    pub(crate) fn quick_next(&mut self, r: Ref, stack: &mut Vec<Value>) -> R<Option<bool>> {
        if self.timeless {
            return Ok(None);
        }
        match self.heap.kind(r) {
            Kind::Iter(state) if matches!(**state, Iter::Table(..)) => {
                return self.next_key(r, stack);
            }
            Kind::Iter(state)
                if matches!(**state, Iter::Range(..) | Iter::List(..) | Iter::Tuple(..)) => {}
            Kind::Generator(_) => {
                self.work(1)?;
                let mut item = Value::None;
                let more = self.resume_to(r, Value::None, &mut item)?;
                if more {
                    self.check_item(&item)?;
                    stack.push(item);
                }
                return Ok(Some(more));
            }
            _ => return Ok(None),
        }
        self.work(1)?;
        let Kind::Iter(state) = &mut self.heap.get_mut(r).kind else {
            return Ok(None);
        };
        let (list, i) = match &mut **state {
            Iter::Range(at, left, step) => {
                let more = *left > 0;
                if more {
                    words::push_int(stack, *at);
                    *left -= 1;
                    *at = at.wrapping_add(*step);
                }
                return Ok(Some(more));
            }
            Iter::Tuple(items, at) => {
                let item = items.get(*at);
                *at += usize::from(item.is_some());
                let Some(item) = item else {
                    return Ok(Some(false));
                };
                words::push_copy(stack, item);
                if let Some(v @ (Value::Str(_) | Value::Tuple(_))) = stack.last() {
                    self.check_size(&v.clone())?;
                }
                return Ok(Some(true));
            }
            Iter::List(list, at) => {
                *at += 1;
                (*list, *at - 1)
            }
            _ => return Ok(None),
        };
        match self.heap.list_items(list).and_then(|l| l.get(i)) {
            Some(v) => words::push_copy(stack, v),
            None => {
                self.finish(r);
                return Ok(Some(false));
            }
        }
        match stack.last() {
            Some(Value::Int(_) | Value::None) | None => {}
            Some(v) => self.check_size(&v.clone())?,
        }
        Ok(Some(true))
    }

    /// Pushes the next key or value of a dict or set that has not changed its size. False at the end of the iterator;
    /// None for pairs, and for a table that has changed.
    fn next_key(&mut self, r: Ref, stack: &mut Vec<Value>) -> R<Option<bool>> {
        let Kind::Iter(state) = self.heap.kind(r) else {
            return Ok(None);
        };
        let Iter::Table(d, at, view, len) = **state else {
            return Ok(None);
        };
        let (Kind::Dict(table) | Kind::Set(table)) = self.heap.kind(d) else {
            return Ok(None);
        };
        if table.len() != len || view == View::Items {
            return Ok(None);
        }
        let next = match table.next_from(at) {
            Some((next, k, v)) => {
                words::push_copy(stack, if view == View::Keys { k } else { v });
                Some(next)
            }
            None => None,
        };
        self.work(1)?;
        let Some(next) = next else {
            self.finish(r);
            return Ok(Some(false));
        };
        self.set_state(r, Iter::Table(d, next, view, len));
        match stack.last() {
            Some(Value::Int(_) | Value::None) | None => {}
            Some(v) => self.check_size(&v.clone())?,
        }
        Ok(Some(true))
    }

    /// The next item, None at the end.
    pub(crate) fn next_item(&mut self, it: &Value) -> R<Option<Value>> {
        let Value::Ref(r) = it else {
            let t = self.heap.type_name(it).to_owned();
            return self.type_error(format!("'{t}' object is not an iterator"));
        };
        if self.timeless {
            return self.untold();
        }
        // Built-in functions go through iterators that never end without an instruction.
        self.work(1)?;
        match &mut self.heap.get_mut(*r).kind {
            Kind::Iter(state) => match &mut **state {
                Iter::Range(at, left, step) => {
                    if *left <= 0 {
                        return Ok(None);
                    }
                    let v = *at;
                    *left -= 1;
                    *at = at.wrapping_add(*step);
                    Ok(Some(Value::Int(v)))
                }
                Iter::Values(items) => Ok(items.next()),
                Iter::Tuple(items, at) => {
                    *at += 1;
                    Ok(items.get(*at - 1).cloned())
                }
                Iter::Done => Ok(None),
                Iter::List(list, at) => {
                    let (list, i) = (*list, *at);
                    *at += 1;
                    let v = self.heap.list_items(list).and_then(|l| l.get(i)).cloned();
                    if v.is_none() {
                        self.finish(*r);
                    }
                    Ok(v)
                }
                _ => self.next_slow(*r),
            },
            Kind::Generator(_) => self.resume(*r, Value::None),
            _ => {
                let m = match self.special(it, "next")? {
                    Some(m) => m,
                    None => {
                        let t = self.heap.type_name(it).to_owned();
                        return self.type_error(format!("{t} object is not an iterator"));
                    }
                };
                let got = self.call(&m, &[]);
                self.catch(got, ty::STOP_ITERATION)
            }
        }
    }

    fn finish(&mut self, r: Ref) {
        self.set_state(r, Iter::Done);
    }

    fn set_state(&mut self, r: Ref, new: Iter) {
        if let Kind::Iter(state) = &mut self.heap.get_mut(r).kind {
            **state = new;
        }
    }

    fn next_slow(&mut self, r: Ref) -> R<Option<Value>> {
        let Kind::Iter(state) = self.heap.kind(r) else {
            return Ok(None);
        };
        match &**state {
            Iter::Table(d, at, view, len) => {
                let (d, at, view, len) = (*d, *at, *view, *len);
                let Some(table) = self.table(d) else {
                    return Ok(None);
                };
                if table.len() != len {
                    self.finish(r);
                    return self.raise(
                        ty::RUNTIME_ERROR,
                        "dictionary changed size during iteration",
                    );
                }
                let Some((next, k, v)) = table.next_from(at) else {
                    self.finish(r);
                    return Ok(None);
                };
                let item = match view {
                    View::Keys => k.clone(),
                    View::Values => v.clone(),
                    View::Items => Value::tuple(vec![k.clone(), v.clone()]),
                };
                self.set_state(r, Iter::Table(d, next, view, len));
                Ok(Some(item))
            }
            Iter::Sequence(obj, at) => {
                let (obj, at) = (obj.clone(), *at);
                self.set_state(r, Iter::Sequence(obj.clone(), at + 1));
                let got = self.getitem(&obj, &Value::Int(at));
                let v = self.catch(got, ty::INDEX_ERROR)?;
                if v.is_none() {
                    self.finish(r);
                }
                Ok(v)
            }
            Iter::Call(f, sentinel) => {
                let (f, sentinel) = (f.clone(), sentinel.clone());
                let v = self.call(&f, &[])?;
                if self.eq_item(&v, &sentinel)? {
                    self.finish(r);
                    return Ok(None);
                }
                Ok(Some(v))
            }
            Iter::Enumerate(inner, n) => {
                let (inner, n) = (inner.clone(), *n);
                let Some(v) = self.next_item(&inner)? else {
                    return Ok(None);
                };
                self.set_state(r, Iter::Enumerate(inner, n + 1));
                Ok(Some(Value::tuple(vec![Value::Int(n), v])))
            }
            Iter::Reversed(list, left) => {
                let (list, left) = (*list, *left);
                if left == 0 {
                    return Ok(None);
                }
                self.set_state(r, Iter::Reversed(list, left - 1));
                Ok(self
                    .heap
                    .list_items(list)
                    .and_then(|l| l.get(left - 1))
                    .cloned())
            }
            Iter::Lines(file) => {
                let file = *file;
                let line = self.read_line(file)?;
                Ok(Some(line).filter(|l| !matches!(l, Value::Str(s) if s.is_empty())))
            }
            Iter::List(..) | Iter::Tuple(..) | Iter::Values(_) | Iter::Range(..) | Iter::Done => {
                Ok(None)
            }
        }
    }

    /// All items of an iterable.
    pub(crate) fn list_of(&mut self, v: &Value) -> R<Vec<Value>> {
        match v {
            Value::Tuple(t) => {
                self.copy_items(t.len())?;
                return Ok(t.to_vec());
            }
            Value::Ref(r) => match self.heap.kind(*r) {
                Kind::List(l) if self.heap.get(*r).class == ty::LIST => {
                    let items = l.clone();
                    self.copy_items(items.len())?;
                    return Ok(items);
                }
                Kind::Dict(d) if self.heap.get(*r).class == ty::DICT => {
                    let keys: Vec<Value> = d.keys().cloned().collect();
                    self.copy_items(keys.len())?;
                    return Ok(keys);
                }
                Kind::Set(d) | Kind::FrozenSet(d)
                    if [ty::SET, ty::FROZENSET].contains(&self.heap.get(*r).class) =>
                {
                    let keys: Vec<Value> = d.keys().cloned().collect();
                    self.copy_items(keys.len())?;
                    return Ok(keys);
                }
                _ => {}
            },
            _ => {}
        }
        let it = self.iter(v)?;
        let mut items = Vec::new();
        while let Some(x) = self.next_item(&it)? {
            self.gather(&x)?;
            items.push(x);
            self.check_items(items.len())?;
        }
        Ok(items)
    }

    /// Counts the steps of copying `n` items.
    pub(crate) fn copy_items(&mut self, items: usize) -> R<()> {
        self.gather_bytes((items * size_of::<Value>()) as u64)?;
        self.work_items(items)
    }
}
