//! Random programs' use of the heap, beside a model of it that never collects.

#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "each case is one heap that nothing else uses"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;

use taipan_fuzz::{Choices, Target};

use super::api::*;
use super::inspect::{rpy_gc_flag, rpy_gc_toggle_flag};
use super::tests::{ARRAY, BYTES, FINALIZED, Heap, MORTAL, NODE};
use super::tests::{get, pop, push, root, set, set_pointer};
use super::{LARGE_OBJECT, gc, scaled};

/// No more roots than this are held.
const MOST_ROOTS: usize = 24;

/// An object of the model: by its number in [`Model::objects`].
type Id = usize;

#[derive(Clone, Debug)]
enum Contents {
    /// The number stands in the object; two pointers.
    Node([Option<Id>; 2]),
    Array(Vec<Option<Id>>),
    /// How many bytes; each is the low one of the number.
    Bytes(usize),
    /// What it refers to.
    Weak(Id),
    /// With a finalizer that adds up what stands in the objects.
    Mortal,
}

struct Object {
    contents: Contents,
    /// What [`rpy_gc_id`] said, if it was asked.
    identity: Option<i64>,
    /// Where it has to stay.
    place: Option<usize>,
    flag: bool,
    /// It was put into the care of a finalizer queue, and has not come out.
    in_queue: bool,
}

#[derive(Default)]
struct Model {
    objects: Vec<Object>,
    /// What the slots of the shadow stack hold, in order.
    roots: Vec<Id>,
    /// Objects that are kept alive for good.
    kept: Vec<Id>,
}

/// A queue is known by a function.
unsafe extern "C" fn queue() {}

fn queue_address() -> usize {
    queue as *const () as usize
}

/// The slot of a root.
fn slot(index: usize) -> &'static mut usize {
    root(index * 8)
}

impl Model {
    fn add(&mut self, contents: Contents, obj: usize) {
        self.objects.push(Object {
            contents,
            identity: None,
            place: None,
            flag: false,
            in_queue: false,
        });
        self.roots.push(self.objects.len() - 1);
        push(obj);
    }

    /// Any root's place in the list.
    fn any(&self, choices: &mut Choices<'_>) -> Option<usize> {
        (!self.roots.is_empty()).then(|| choices.below(self.roots.len()))
    }

    /// The numbers of what can be reached, queues apart.
    fn reachable(&self) -> BTreeSet<Id> {
        let mut found = BTreeSet::new();
        let mut todo: Vec<Id> = self.roots.iter().chain(&self.kept).copied().collect();
        while let Some(id) = todo.pop() {
            if found.insert(id) {
                match &self.objects[id].contents {
                    Contents::Node(to) => todo.extend(to.iter().flatten()),
                    Contents::Array(to) => todo.extend(to.iter().flatten()),
                    _ => {}
                }
            }
        }
        found
    }

    fn allocate(&mut self, choices: &mut Choices<'_>) {
        let id = self.objects.len();
        unsafe {
            match choices.below(6) {
                0 => {
                    let large = LARGE_OBJECT / 8 + choices.below(400);
                    let length = choices.of(&[0, 1, 5, 40, 70, large]);
                    let obj = rpy_gc_malloc_varsize(ARRAY.info(), length, false);
                    self.add(Contents::Array(vec![None; length]), obj);
                }
                1 => {
                    let length = choices.of(&[0, 3, 64, 700, LARGE_OBJECT + 1]);
                    let obj = rpy_gc_malloc_varsize(&BYTES, length, false);
                    core::ptr::write_bytes((obj + 16) as *mut u8, id as u8, length);
                    self.add(Contents::Bytes(length), obj);
                }
                2 => {
                    let obj = rpy_gc_malloc_fixed(&MORTAL);
                    set(obj, 1, 1 << 20 | id);
                    self.add(Contents::Mortal, obj);
                }
                3 => {
                    if let Some(i) = self.any(choices) {
                        let to = self.roots[i];
                        let obj = rpy_gc_weakref_create(*slot(i));
                        self.add(Contents::Weak(to), obj);
                    }
                }
                _ => {
                    let obj = rpy_gc_malloc_fixed(NODE.info());
                    set(obj, 1, id);
                    self.add(Contents::Node([None; 2]), obj);
                }
            }
        }
    }

    /// Stores a root into another one.
    fn store(&mut self, choices: &mut Choices<'_>) {
        let (Some(into), Some(from)) = (self.any(choices), self.any(choices)) else {
            return;
        };
        let (value, obj) = (self.roots[from], *slot(from));
        match &mut self.objects[self.roots[into]].contents {
            Contents::Node(to) => {
                let i = choices.below(2);
                to[i] = Some(value);
                set_pointer(*slot(into), 2 + i, obj);
            }
            Contents::Array(to) if !to.is_empty() => {
                let i = choices.below(to.len());
                to[i] = Some(value);
                if choices.bool() {
                    unsafe { writebarrier_array(*slot(into), i) };
                    set(*slot(into), 2 + i, obj);
                } else {
                    set_pointer(*slot(into), 2 + i, obj);
                }
            }
            _ => {}
        }
    }

    /// Makes a root of what another one refers to.
    fn load(&mut self, choices: &mut Choices<'_>) {
        let Some(i) = self.any(choices) else { return };
        let found = match &self.objects[self.roots[i]].contents {
            Contents::Node(to) => {
                let n = choices.below(2);
                to[n].map(|id| (id, get(*slot(i), 2 + n)))
            }
            Contents::Array(to) if !to.is_empty() => {
                let n = choices.below(to.len());
                to[n].map(|id| (id, get(*slot(i), 2 + n)))
            }
            _ => None,
        };
        if let Some((id, obj)) = found {
            self.roots.push(id);
            push(obj);
        }
    }

    fn forget(&mut self, choices: &mut Choices<'_>) {
        if let Some(i) = self.any(choices) {
            self.roots.swap_remove(i);
            let last = pop();
            if i < self.roots.len() {
                *slot(i) = last;
            }
        }
    }

    /// Something about one object.
    fn look(&mut self, choices: &mut Choices<'_>) {
        let Some(i) = self.any(choices) else { return };
        let id = self.roots[i];
        let obj = *slot(i);
        unsafe {
            match choices.below(5) {
                0 => {
                    let identity = rpy_gc_id(obj);
                    assert_eq!(*self.objects[id].identity.get_or_insert(identity), identity);
                }
                1 => {
                    rpy_gc_toggle_flag(obj);
                    self.objects[id].flag ^= true;
                }
                2 if self.kept.len() < 4 => {
                    let place = keep(obj);
                    self.objects[id].place = Some(place);
                    self.kept.push(id);
                }
                3 if !self.objects[id].in_queue
                    && matches!(self.objects[id].contents, Contents::Node(_)) =>
                {
                    rpy_gc_fq_register(queue_address(), obj);
                    self.objects[id].in_queue = true;
                }
                _ => {
                    let hash = rpy_gc_identityhash(obj);
                    assert_eq!(rpy_gc_identityhash(obj), hash);
                }
            }
        }
    }

    fn step(&mut self, choices: &mut Choices<'_>) {
        match choices.below(36) {
            0 => {
                unsafe { rpy_gc_collect() };
                self.collected();
            }
            1 => unsafe { rpy_gc_collect_minor() },
            // A part of a major collection, right after a minor one or not.
            32..34 => unsafe { gc().step(choices.below(4000) as isize, false) },
            34..36 => unsafe {
                let gc = gc();
                gc.minor_collection();
                gc.step(choices.below(4000) as isize, true);
                gc.reuse_nursery(0);
            },
            2..12 => self.allocate(choices),
            12..20 => self.store(choices),
            20..24 => self.load(choices),
            24..28 => self.look(choices),
            _ => self.forget(choices),
        }
        while self.roots.len() > MOST_ROOTS {
            self.forget(choices);
        }
    }

    /// After a full collection.
    fn collected(&mut self) {
        let live = self.compare();
        self.empty_queue(&live);
        // A flag goes with its object.
        for (id, object) in self.objects.iter_mut().enumerate() {
            object.flag &= live.contains(&id);
        }
    }

    /// Takes out of the queue what is in it; whether there was something.
    fn empty_queue(&mut self, live: &BTreeSet<Id>) -> bool {
        let mut some = false;
        loop {
            let dead = unsafe { rpy_gc_fq_next_dead(queue_address()) };
            if dead == 0 {
                return some;
            }
            some = true;
            let id = get(dead, 1);
            assert!(!live.contains(&id), "{id} is alive and in the queue");
            assert!(std::mem::take(&mut self.objects[id].in_queue));
        }
    }

    /// Walks through the heap as through the model. Returns what is alive.
    fn compare(&mut self) -> BTreeSet<Id> {
        let mut places: BTreeMap<Id, usize> = BTreeMap::new();
        let mut todo: Vec<(Id, usize)> = Vec::new();
        for (i, id) in self.roots.iter().enumerate() {
            todo.push((*id, *slot(i)));
        }
        for id in &self.kept {
            todo.push((*id, self.objects[*id].place.expect("it is kept")));
        }
        let mut weak = Vec::new();
        while let Some((id, obj)) = todo.pop() {
            let object = &self.objects[id];
            if let Some(known) = places.insert(id, obj) {
                assert_eq!(known, obj, "{id} is in two places");
                continue;
            }
            unsafe {
                assert!(object.place.is_none_or(|p| p == obj));
                assert!(object.identity.is_none_or(|i| i == rpy_gc_id(obj)));
                assert_eq!(rpy_gc_flag(obj) != 0, object.flag, "the flag of {id}");
            }
            let mut follow = |to: &[Option<Id>]| {
                for (i, to) in to.iter().enumerate() {
                    match to {
                        Some(to) => todo.push((*to, get(obj, 2 + i))),
                        None => assert_eq!(get(obj, 2 + i), 0),
                    }
                }
            };
            match &object.contents {
                Contents::Node(to) => {
                    assert_eq!(get(obj, 1), id);
                    follow(to);
                }
                Contents::Array(to) => {
                    assert_eq!(get(obj, 1), to.len());
                    follow(to);
                }
                Contents::Bytes(length) => {
                    assert_eq!(get(obj, 1), *length);
                    let bytes =
                        unsafe { std::slice::from_raw_parts((obj + 16) as *const u8, *length) };
                    assert!(bytes.iter().all(|b| *b == id as u8));
                }
                Contents::Weak(to) => weak.push((*to, obj)),
                Contents::Mortal => assert_eq!(get(obj, 1), 1 << 20 | id),
            }
        }
        let live = self.reachable();
        assert!(live.iter().eq(places.keys()));
        let addresses: BTreeSet<usize> = places.values().copied().collect();
        assert_eq!(addresses.len(), places.len(), "two objects in one place");
        for (to, obj) in weak {
            let target = get(obj, 1);
            match places.get(&to) {
                Some(place) => assert_eq!(target, *place),
                // It may not be known yet that it died; and it may wait in a queue.
                None => assert!(!addresses.contains(&target)),
            }
        }
        live
    }

    /// The sum that the finalizers must have computed when the queue stays empty.
    fn finalized(&self) -> usize {
        let alive = self.reachable();
        let is_dead =
            |id: &Id| matches!(self.objects[*id].contents, Contents::Mortal) && !alive.contains(id);
        let dead = (0..self.objects.len()).filter(is_dead);
        dead.map(|id| 1 << 20 | id).sum()
    }
}

#[test]
fn the_heap_is_as_the_model() {
    let (cases, bytes) = if cfg!(miri) { (3, 256) } else { (60, 2048) };
    let target = Target::new("heap").cases(cases).bytes(bytes);
    target.run(|choices| {
        let stress = choices.below(3) == 0;
        let _heap = Heap::new(64 << 10, stress);
        FINALIZED.store(0, Ordering::Relaxed);
        let mut model = Model::default();
        while !choices.is_over() && model.objects.len() < scaled(40_000) {
            model.step(choices);
        }
        // What waits for the queue keeps others alive.
        loop {
            unsafe { rpy_gc_collect() };
            let live = model.compare();
            if !model.empty_queue(&live) {
                break;
            }
        }
        assert_eq!(FINALIZED.load(Ordering::Relaxed), model.finalized());
        assert_eq!(unsafe { gc().moved.len() + gc().gray.len() }, 0);
        while !model.roots.is_empty() {
            model.roots.pop();
            pop();
        }
    });
}
