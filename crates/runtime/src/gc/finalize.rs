//! What happens to objects with finalizers when they die.
//!
//! A *light* finalizer touches no other object of the heap and is called while its
//! object is dead already, by the collection that found it so. All others (RPython:
//! old-style finalizers, and the objects in a `rgc.FinalizerQueue`) may do anything,
//! so the object is kept alive once more, and the program called back after the
//! collection. Only major collections look for these.
//!
//! Of several dead objects, those come first that no other one of them refers to; the
//! others wait for the next collection. Of a cycle, the object that was registered first
//! comes first. The order is that of incminimark (`deal_with_objects_with_finalizers`).

use super::header::TypeInfo;
use super::major::is_marked;
use super::shadow::ShadowTable;
use super::{Gc, Obj, gc};
use crate::exc;
use crate::memory::Stack;
use crate::state::state;

/// A finalizer queue, known by what is to be called when objects were put into it
/// (RPython: `finalizer_trigger`); 0 for objects whose class has `__del__`.
type Trigger = usize;

/// An object of which the program wants to know when it dies.
#[derive(Clone, Copy)]
struct Registered {
    obj: Obj,
    trigger: Trigger,
}

/// All objects with finalizers.
pub(super) struct Finalizers {
    young_light: Stack<Obj>,
    old_light: Stack<Obj>,
    young: Stack<Registered>,
    old: Stack<Registered>,
    /// Dead objects whose `__del__` is to be called; before `next_due`, it was.
    due: Stack<Obj>,
    next_due: usize,
    /// What the queues hold, oldest first; `obj` is 0 where it was taken out.
    queued: Stack<Registered>,
    /// The program is being called back, or need not be.
    busy: bool,
    /// Objects were found dead since the program was called back.
    news: bool,
}

impl Finalizers {
    pub(super) const fn new() -> Finalizers {
        Finalizers {
            young_light: Stack::new(),
            old_light: Stack::new(),
            young: Stack::new(),
            old: Stack::new(),
            due: Stack::new(),
            next_due: 0,
            queued: Stack::new(),
            busy: false,
            news: false,
        }
    }

    pub(super) fn release(&mut self) {
        self.young_light.release();
        self.old_light.release();
        self.young.release();
        self.old.release();
        self.due.release();
        self.queued.release();
        *self = Finalizers::new();
    }

    /// Whether [`call_back`] has finalizers to call.
    pub(super) fn pending(&self) -> bool {
        self.news && !self.busy
    }

    /// Whether the program is being called back.
    pub(super) fn is_busy(&self) -> bool {
        self.busy
    }

    /// Calls `visit` with where the addresses of dead objects are that the program has not
    /// seen yet.
    pub(super) fn each_waiting(&self, mut visit: impl FnMut(*const usize)) {
        self.due.as_slice().iter().for_each(|obj| visit(obj));
        let queued = self.queued.as_slice().iter();
        queued.for_each(|r| visit(&raw const r.obj));
    }

    /// The next object whose `__del__` is to be called.
    fn take_due(&mut self) -> Option<Obj> {
        let obj = self.due.as_slice().get(self.next_due).copied();
        self.next_due += 1;
        if obj.is_none() {
            self.due.clear();
            self.next_due = 0;
        }
        obj
    }

    /// The oldest object of a queue, taken out.
    fn take_queued(&mut self, trigger: Trigger) -> Option<Obj> {
        let mut slots = self.queued.as_mut_slice().iter_mut();
        let found = slots.find(|r| r.trigger == trigger && r.obj != 0);
        let obj = found.map(|r| core::mem::take(&mut r.obj));
        if obj.is_none() {
            self.queued.retain_map(|r| (r.obj != 0).then_some(r));
        }
        obj
    }
}

impl Gc {
    /// Whether [`call_back`] has something to do.
    pub(super) fn owes_call(&self) -> bool {
        !self.finalizers.busy && (self.finalizers.news || self.links.pending())
    }

    /// Notes a new object whose type has a finalizer.
    pub(super) fn created_with_finalizer(&mut self, obj: Obj, info: &TypeInfo) {
        // SAFETY: the object is new.
        let young = unsafe { self.is_young(obj) };
        let list = &mut self.finalizers;
        let registered = Registered { obj, trigger: 0 };
        match (info.heavy_finalizer != 0, young) {
            (true, true) => list.young.push(registered),
            (true, false) => list.old.push(registered),
            (false, true) => list.young_light.push(obj),
            (false, false) => list.old_light.push(obj),
        }
    }

    /// Puts an object under the care of a finalizer queue.
    pub(super) fn register(&mut self, trigger: Trigger, obj: Obj) {
        let registered = Registered { obj, trigger };
        // SAFETY: the object is alive.
        match unsafe { self.is_young(obj) } {
            true => self.finalizers.young.push(registered),
            false => self.finalizers.old.push(registered),
        }
    }

    /// Notes that an object has died, for the program to look at: see [`call_back`].
    pub(super) fn died(&mut self, obj: Obj, trigger: Trigger) {
        match trigger {
            0 => self.finalizers.due.push(obj),
            _ => self.finalizers.queued.push(Registered { obj, trigger }),
        }
        self.finalizers.news = true;
    }

    /// Takes a dead object out of a finalizer queue.
    pub(super) fn next_dead(&mut self, trigger: Trigger) -> Option<Obj> {
        self.finalizers.take_queued(trigger)
    }

    /// During a minor collection: these survive it.
    pub(super) unsafe fn keep_young_with_finalizer(&mut self) {
        for i in 0..self.finalizers.young.len() {
            let mut r = self.finalizers.young.as_slice()[i];
            // SAFETY: the list holds young objects.
            unsafe { self.visit_young(&raw mut r.obj) };
            self.finalizers.old.push(r);
        }
        self.finalizers.young.clear();
    }

    /// At the end of a minor collection.
    pub(super) unsafe fn finish_young_light(&mut self) {
        for i in 0..self.finalizers.young_light.len() {
            let obj = self.finalizers.young_light.as_slice()[i];
            // SAFETY: the list holds objects that were young.
            unsafe {
                match self.survivor(obj) {
                    Some(to) => self.finalizers.old_light.push(to),
                    None => finalize(obj),
                }
            }
        }
        self.finalizers.young_light.clear();
    }

    /// At the end of a major collection.
    pub(super) unsafe fn finish_old_light(&mut self) {
        self.finalizers.old_light.retain_map(|obj| {
            // SAFETY: the list holds objects of the old generation, whose memory is
            // intact until the sweep.
            unsafe {
                if is_marked(obj) {
                    return Some(obj);
                }
                finalize(obj);
                None
            }
        });
    }

    /// Marks what waits for the program to look at it.
    pub(super) unsafe fn mark_waiting(&mut self) {
        // SAFETY: the lists hold live objects of the old generation.
        unsafe {
            for i in self.finalizers.next_due..self.finalizers.due.len() {
                self.mark(self.finalizers.due.as_slice()[i]);
            }
            for i in 0..self.finalizers.queued.len() {
                self.mark(self.finalizers.queued.as_slice()[i].obj);
            }
        }
    }

    /// After marking: finds the objects whose finalizers are to be called, and revives
    /// them and what they refer to. In between, weak references are told.
    pub(super) unsafe fn finish_old_with_finalizer(&mut self) {
        // SAFETY: the lists hold objects of the old generation, and memory is intact
        // until the sweep.
        unsafe {
            // Dead objects, by the first of the registered ones that led to them.
            let mut reached = ShadowTable::new();
            let mut todo: Stack<Obj> = Stack::new();
            for i in 0..self.finalizers.old.len() {
                let x = self.finalizers.old.as_slice()[i].obj;
                if reached.get(x).is_some_and(|first| first != x) {
                    // The object waits for the one that it was reached from, also within a cycle.
                    continue;
                }
                todo.push(x);
                while let Some(y) = todo.pop() {
                    if is_marked(y) {
                        continue;
                    }
                    match reached.get(y) {
                        None => {
                            reached.insert(y, x);
                            TypeInfo::of(y).for_each_pointer(y, |slot| {
                                if *slot != 0 {
                                    todo.push(*slot);
                                }
                            });
                        }
                        // Two registered objects lead to it, or it is one itself: it
                        // waits, with all that it refers to.
                        Some(first) if first != x => self.mark(y),
                        Some(_) => {}
                    }
                }
            }
            todo.release();
            self.drain_marked();
            self.finish_old_weakrefs(&reached);
            let mut old = core::mem::replace(&mut self.finalizers.old, Stack::new());
            old.retain_map(|r| {
                if is_marked(r.obj) || reached.get(r.obj) != Some(r.obj) {
                    return Some(r);
                }
                // Marked below: an object may be registered twice.
                match r.trigger {
                    0 => self.finalizers.due.push(r.obj),
                    _ => self.finalizers.queued.push(r),
                }
                None
            });
            self.finalizers.old = old;
            reached.release();
            self.mark_waiting();
            self.drain_marked();
            let list = &mut self.finalizers;
            list.news = list.due.len() > 0 || list.queued.as_slice().iter().any(|r| r.obj != 0);
        }
    }
}

/// Calls the program back about dead objects: finalizer queues first, then `__del__`, then
/// PyObjects without references.
/// What is raised there is reported and forgotten.
///
/// # Safety
/// The caller is the mutator thread, its roots are saved, and it expects that the
/// program allocates.
#[cold]
pub(super) unsafe fn call_back() {
    // SAFETY: the caller is the mutator, has saved its roots, and expects that the program runs. No
    // reference to `GC` is held while it does; triggers are functions without arguments.
    unsafe {
        gc().finalizers.busy = true;
        gc().finalizers.news = false;
        let mut called = Stack::new();
        let mut i = 0;
        while let Some(r) = gc().finalizers.queued.as_slice().get(i).copied() {
            i += 1;
            if r.obj != 0 && !called.as_slice().contains(&r.trigger) {
                called.push(r.trigger);
                pull(r.trigger);
            }
        }
        called.release();
        while let Some(obj) = gc().finalizers.take_due() {
            finalize(obj);
        }
        if let Some(trigger) = gc().links.take_trigger() {
            pull(trigger);
        }
        gc().finalizers.busy = false;
    }
}

/// Calls a trigger.
///
/// # Safety
/// It is a function of the program without arguments; the caller holds no reference to the collector's state.
unsafe fn pull(trigger: Trigger) {
    // By way of a pointer, which may be made of an address.
    let trigger = trigger as *const ();
    // SAFETY: as the caller says.
    unsafe {
        let trigger: unsafe extern "C" fn() = core::mem::transmute(trigger);
        guarded(|| trigger());
    }
}

/// Calls the finalizer of an object.
///
/// # Safety
/// The object's memory is intact; the caller holds no reference to the collector's state.
pub(super) unsafe fn finalize(obj: Obj) {
    // SAFETY: the memory of `obj` is intact, so its type can be read. The finalizer is the compiled
    // function of that type and takes the object.
    unsafe {
        if let Some(finalizer) = TypeInfo::of(obj).finalizer {
            guarded(|| finalizer(obj));
        }
    }
}

/// Calls the program. Nobody is there to catch what it raises; what was raised before
/// stays.
unsafe fn guarded(call: impl FnOnce()) {
    // SAFETY: called by the mutator; the current exception stays a root.
    unsafe {
        let s = state();
        let before = (*s).exc_type;
        *(*s).root_stack_top = (*s).exc_value as usize;
        (*s).root_stack_top = (*s).root_stack_top.add(1);
        exc::clear_exception();
        call();
        exc::report_ignored(b"exception raised by a finalizer, ignored: ");
        (*s).root_stack_top = (*s).root_stack_top.sub(1);
        (*s).exc_type = before;
        (*s).exc_value = *(*s).root_stack_top as *mut _;
    }
}
