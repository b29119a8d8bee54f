//! What happens to objects with finalizers when they die: as in the runtime's
//! collector, but that light finalizers come after the collection as well.

use rustc_hash::FxHashMap;

use super::{Access, Heap, Object, State, WEAK_TARGET};
use crate::Addr;

/// Address of the function that a finalizer queue calls when objects died, by which it
/// is known; 0 for objects whose class has `__del__`.
pub type Trigger = u64;

/// Objects of a heap by number, during a collection.
pub trait Collected {
    /// Whether an object is managed by the collector.
    fn is_collected(&self, i: usize) -> bool;

    /// Whether it was found to be alive.
    fn is_marked(&self, i: usize) -> bool;

    /// The numbers of the objects that it refers to; others may be among them.
    fn references(&mut self, i: usize) -> Vec<usize>;

    /// Marks the objects of these numbers, where there are such, and those that they refer to.
    fn mark_from(&mut self, todo: Vec<usize>);

    /// Clears the weak references to dead objects. Weak references among `revived` live on as well as marked ones.
    fn clear_weakrefs(&mut self, revived: &FxHashMap<usize, usize>);
}

/// Objects with finalizers, alive and dead, by number.
#[derive(Default, Debug)]
pub struct Finalizers {
    /// In the order of registration: the object, and its queue.
    registered: Vec<(usize, Trigger)>,
    /// Those whose class has a light one.
    light: Vec<usize>,
    due: Vec<usize>,
    queued: Vec<(usize, Trigger)>,
}

impl Finalizers {
    /// Notes that an object is to be finalized: by `__del__` of its class, or by the
    /// queue with that trigger. Light finalizers come last.
    pub fn register(&mut self, trigger: Trigger, object: usize, light: bool) {
        match light {
            true => self.light.push(object),
            false => self.registered.push((object, trigger)),
        }
    }

    /// Takes the objects whose `__del__` is to be called, in order.
    pub fn take_due(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.due)
    }

    /// The queues that hold objects.
    pub fn queues(&self) -> Vec<Trigger> {
        let mut out = Vec::new();
        for (_, trigger) in &self.queued {
            if !out.contains(trigger) {
                out.push(*trigger);
            }
        }
        out
    }

    /// Takes the object that died first out of a queue.
    pub fn next_dead(&mut self, trigger: Trigger) -> Option<usize> {
        let i = self.queued.iter().position(|(_, t)| *t == trigger)?;
        Some(self.queued.remove(i).0)
    }

    /// The objects that wait for the program to look at them.
    pub fn waiting(&self) -> Vec<usize> {
        let queued = self.queued.iter().map(|(i, _)| i);
        self.due.iter().chain(queued).copied().collect()
    }

    /// After marking: finds the objects whose finalizers are to be called, clears weak
    /// references to dead objects, and revives the former with those that they refer to. Of
    /// several dead objects those come first that no other one refers to.
    pub fn finalize_dead(&mut self, heap: &mut impl Collected) {
        let registered = std::mem::take(&mut self.registered);
        // Dead objects, by the first of the registered ones that led to them.
        let mut reached: FxHashMap<usize, usize> = FxHashMap::default();
        for (x, _) in &registered {
            if reached.get(x).is_some_and(|first| first != x) {
                // The object waits for the one that it was reached from, also within a cycle.
                continue;
            }
            let mut todo = vec![*x];
            while let Some(y) = todo.pop() {
                if !heap.is_collected(y) || heap.is_marked(y) {
                    continue;
                }
                match reached.get(&y) {
                    None => {
                        reached.insert(y, *x);
                        todo.extend(heap.references(y));
                    }
                    Some(first) if first != x => heap.mark_from(vec![y]),
                    Some(_) => {}
                }
            }
        }
        heap.clear_weakrefs(&reached);
        let mut revived = Vec::new();
        for (x, trigger) in registered {
            if heap.is_marked(x) || reached.get(&x) != Some(&x) {
                self.registered.push((x, trigger));
                continue;
            }
            revived.push(x);
            match trigger {
                0 => self.due.push(x),
                _ => self.queued.push((x, trigger)),
            }
        }
        heap.mark_from(revived);
        let (alive, dead): (Vec<usize>, Vec<usize>) =
            self.light.iter().partition(|x| heap.is_marked(**x));
        self.light = alive;
        self.due.extend(&dead);
        heap.mark_from(dead);
    }
}

impl Heap<'_> {
    /// Notes that an object is to be finalized: by `__del__` of its class, or by the
    /// queue with that trigger.
    pub fn register(&mut self, trigger: Trigger, addr: Addr) {
        let i = (addr >> 32) as usize;
        let light = trigger == 0 && self.objects.get(i).is_some_and(|o| self.is_light(o));
        self.finalizers.register(trigger, i, light);
    }

    fn is_light(&self, o: &Object) -> bool {
        let destructor = self.program.destructor(o.ty);
        destructor.is_some_and(|f| self.program.is_light_destructor(&f))
    }

    /// Takes the objects whose `__del__` is to be called, in order.
    pub fn take_due(&mut self) -> Vec<Addr> {
        let due = self.finalizers.take_due();
        due.into_iter().map(|i| (i as Addr) << 32).collect()
    }

    /// The queues that hold objects.
    pub fn queues(&self) -> Vec<Trigger> {
        self.finalizers.queues()
    }

    /// Takes the object that died first out of a queue; null if there is none.
    pub fn next_dead(&mut self, trigger: Trigger) -> Addr {
        let dead = self.finalizers.next_dead(trigger);
        dead.map_or(0, |i| (i as Addr) << 32)
    }

    pub(super) fn finalize_dead(&mut self) {
        let mut finalizers = std::mem::take(&mut self.finalizers);
        finalizers.finalize_dead(self);
        self.finalizers = finalizers;
    }
}

impl Collected for Heap<'_> {
    fn is_collected(&self, i: usize) -> bool {
        let o = self.objects.get(i);
        o.is_some_and(|o| matches!(o.state, State::Gc | State::Weak))
    }

    fn is_marked(&self, i: usize) -> bool {
        self.objects[i].marked
    }

    fn references(&mut self, i: usize) -> Vec<usize> {
        let words = self.gc_words(i);
        words.into_iter().map(|w| (w >> 32) as usize).collect()
    }

    fn mark_from(&mut self, mut todo: Vec<usize>) {
        while let Some(i) = todo.pop() {
            match self.objects.get_mut(i) {
                Some(o) if matches!(o.state, State::Gc | State::Weak) && !o.marked => {
                    o.marked = true;
                    if matches!(o.state, State::Weak) {
                        continue;
                    }
                    todo.extend(self.references(i));
                }
                _ => {}
            }
        }
    }

    fn clear_weakrefs(&mut self, revived: &FxHashMap<usize, usize>) {
        for i in 0..self.objects.len() {
            let o = &self.objects[i];
            if !matches!(o.state, State::Weak) || !(o.marked || revived.contains_key(&i)) {
                continue;
            }
            let target = (Access::W64.decode(&o.data[WEAK_TARGET..]) >> 32) as usize;
            if self.is_collected(target) && !self.objects[target].marked {
                self.objects[i].data[WEAK_TARGET..].fill(0);
            }
        }
    }
}
