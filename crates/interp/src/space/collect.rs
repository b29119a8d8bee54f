//! `gc.collect()`: which weak references outlive it.
//!
//! Nothing of the heap is ever freed while a program is imported; but a program may ask
//! whether a weak reference still has its object. What only bodies that run refer to
//! cannot be seen from the heap: their frames are on the native stack. So the first time
//! that a collection is asked for, the interpreter stops ([`Fatal::Collection`]), each frame on
//! the way out tells what it holds, and the answer is worked out from that. Then all
//! runs once more, under the same numbers of objects, with the answer known.
//!
//! A program that makes no weak references, or never calls `gc.collect()`, pays nothing.
//! Values that only a builtin function holds that is under way (the items that a dict is
//! being made of) are not seen.

use super::heap::{Heap, Kind, Ref};
use super::iter::Iter;
use super::value::Value;
use super::{Fatal, Interp, R};
use crate::heap_image::heap_to_image::{children, module_dicts};
use rustc_hash::FxHashSet;
use taipan_engine::{Frame, Unwind};

/// So many collections are looked into, since each is one more run; later ones find
/// nothing.
const MOST_COLLECTIONS: usize = 16;

/// A weak reference.
#[derive(Clone, Debug)]
pub(crate) struct WeakRef {
    /// What it refers to, None when that is gone.
    pub(crate) target: Value,
    /// What is called with the reference when the object is gone; None if nothing is.
    pub(crate) callback: Value,
    /// The hash of the object, once it was asked for.
    pub(crate) hash: Option<u64>,
    /// Whether the callback gets the object, which lives on then: a finalizer.
    pub(crate) is_finalizer: bool,
}

/// What is known of the collections of one run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Collections {
    /// Per collection, in the order of their calls, the weak references that lose their
    /// objects.
    known: Vec<Vec<Ref>>,
    /// Collections so far.
    done: usize,
    /// What active frames hold, where the run has ended at a collection.
    roots: Option<Vec<Value>>,
}

impl Collections {
    /// Collections that find nothing.
    pub(crate) fn passed_over() -> Collections {
        Collections {
            done: MOST_COLLECTIONS,
            ..Collections::default()
        }
    }

    /// Decodes the output of [`Collections::to_bytes`].
    pub(crate) fn from_bytes(bytes: &[u8]) -> Collections {
        let mut words = bytes
            .chunks_exact(4)
            .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let mut known = Vec::new();
        while let Some(count) = words.next() {
            known.push(words.by_ref().take(count as usize).map(Ref).collect());
        }
        Collections {
            known,
            ..Collections::default()
        }
    }

    /// Encodes the known collections for a copy of the process.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for dead in &self.known {
            out.extend((dead.len() as u32).to_le_bytes());
            out.extend(dead.iter().flat_map(|r| r.0.to_le_bytes()));
        }
        out
    }

    /// These, as far as they have come, with what is known of others.
    pub(crate) fn knowing(self, other: Collections) -> Collections {
        Collections {
            known: other.known,
            ..self
        }
    }
}

impl Interp<'_> {
    /// Clears weak references to objects that nothing else refers to, and calls their
    /// callbacks, those of the youngest reference first. Stops where that is not known.
    pub(crate) fn collect(&mut self) -> R<()> {
        self.drop_record();
        let done = self.collections.done;
        if done == MOST_COLLECTIONS || !weak_refs(&self.heap).any(|(_, w)| !w.target.is_none()) {
            return Ok(());
        }
        let Some(dead) = self.collections.known.get(done).cloned() else {
            let mut roots = vec![Value::Ref(self.modules), Value::Ref(self.builtins)];
            roots.extend(
                self.exc_info
                    .iter()
                    .flat_map(|(t, v)| [t.clone(), v.clone()]),
            );
            self.collections.roots = Some(roots);
            return Err(Unwind::Stop(Fatal::Collection));
        };
        self.collections.done += 1;
        let mut callbacks = Vec::new();
        for r in dead.into_iter().rev() {
            if let Kind::WeakRef(w) = &mut self.heap.get_mut(r).kind {
                let target = std::mem::replace(&mut w.target, Value::None);
                let about = if w.is_finalizer {
                    target
                } else {
                    Value::Ref(r)
                };
                callbacks.push((about, w.callback.clone()));
            }
        }
        for (about, callback) in callbacks {
            if !callback.is_none() {
                self.call(&callback, &[about])?;
            }
        }
        Ok(())
    }

    /// Notes what a frame holds that is left because of a collection.
    pub(crate) fn leave_to_collect(&mut self, frame: &Frame<Value>) {
        if let Some(roots) = &mut self.collections.roots {
            frame_values(frame, roots);
        }
    }

    /// Whether the run has ended at a collection: what the next one needs to know. `more` are
    /// values that are in use besides.
    pub(crate) fn collection(&mut self, more: &[Value]) -> Option<Collections> {
        let mut roots = self.collections.roots.take()?;
        roots.extend_from_slice(more);
        let reached = reachable(&self.heap, roots);
        let is_dead = |w: &WeakRef| matches!(&w.target, Value::Ref(r) if !reached.contains(r));
        let dead = weak_refs(&self.heap).filter(|(_, w)| is_dead(w));
        let dead = dead.map(|(r, _)| r).collect();
        let mut known = std::mem::take(&mut self.collections.known);
        known.push(dead);
        Some(Collections {
            known,
            ..Collections::default()
        })
    }
}

fn weak_refs(heap: &Heap) -> impl Iterator<Item = (Ref, &WeakRef)> {
    heap.refs().filter_map(|r| match heap.kind(r) {
        Kind::WeakRef(w) => Some((r, &**w)),
        _ => None,
    })
}

fn frame_values(frame: &Frame<Value>, out: &mut Vec<Value>) {
    out.extend(frame.locals.iter().flatten().cloned());
    out.extend(frame.stack.iter().cloned());
    out.extend(frame.cells.iter().cloned());
    out.push(frame.globals.clone());
    out.extend(frame.names.clone());
}

/// All objects that a program could get hold of from these values, other than by weak
/// references: those that the image would keep, and those behind iterators, generators and
/// other objects that it has no use for.
fn reachable(heap: &Heap, mut values: Vec<Value>) -> FxHashSet<Ref> {
    let modules = module_dicts(heap);
    let mut seen = FxHashSet::default();
    values.extend(super::types::all_types().map(|(r, ..)| Value::Ref(r)));
    while let Some(v) = values.pop() {
        match v {
            Value::Tuple(t) => values.extend(t.iter().cloned()),
            Value::Bound(m) => values.extend([m.func, m.slf, m.class].map(Value::Ref)),
            Value::Method(m) => {
                values.push(m.func.clone());
                values.extend(m.slf.clone());
                values.push(Value::Ref(m.class));
            }
            Value::Ref(r) if seen.insert(r) => {
                children(heap, &modules, r, &mut values);
                passing_children(heap, r, &mut values);
            }
            _ => {}
        }
    }
    seen
}

/// What objects refer to that are none of the image's.
fn passing_children(heap: &Heap, r: Ref, out: &mut Vec<Value>) {
    match heap.kind(r) {
        Kind::Super(class, obj, of) => {
            out.extend([Value::Ref(*class), Value::Ref(*of)]);
            out.extend(obj.clone());
        }
        Kind::Exception(e) => out.push(e.args.clone()),
        Kind::WeakRef(w) => out.push(w.callback.clone()),
        Kind::Generator(g) => {
            if let Some(frame) = &g.frame {
                frame_values(frame, out);
            }
        }
        Kind::Iter(state) => match &**state {
            Iter::List(r, _) | Iter::Table(r, ..) | Iter::Reversed(r, _) | Iter::Lines(r) => {
                out.push(Value::Ref(*r));
            }
            Iter::Tuple(items, at) => out.extend(items.iter().skip(*at).cloned()),
            Iter::Values(items) => out.extend_from_slice(items.as_slice()),
            Iter::Sequence(v, _) | Iter::Enumerate(v, _) => out.push(v.clone()),
            Iter::Call(f, sentinel) => out.extend([f.clone(), sentinel.clone()]),
            Iter::Range(..) | Iter::Done => {}
        },
        _ => {}
    }
}
