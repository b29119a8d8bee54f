//! What happens to objects with finalizers when they die: as in the runtime's
//! collector, but that light finalizers come after the collection as well.

use rustc_hash::FxHashMap;

use super::{Access, Heap, Object, State, WEAK_TARGET};
use crate::Addr;

/// Address of the function that a finalizer queue calls when objects died, by which it
/// is known; 0 for objects whose class has `__del__`.
pub type Trigger = u64;

/// Objects with finalizers, alive and dead.
#[derive(Default)]
pub(super) struct Finalizers {
    /// In the order of registration: number of the object, and its queue.
    registered: Vec<(usize, Trigger)>,
    /// Those whose class has a light one.
    light: Vec<usize>,
    due: Vec<Addr>,
    queued: Vec<(Addr, Trigger)>,
}

impl Heap<'_> {
    /// Notes that an object is to be finalized: by `__del__` of its class, or by the
    /// queue with that trigger.
    pub fn register(&mut self, trigger: Trigger, addr: Addr) {
        let i = (addr >> 32) as usize;
        let light = trigger == 0 && self.objects.get(i).is_some_and(|o| self.is_light(o));
        match light {
            true => self.finalizers.light.push(i),
            false => self.finalizers.registered.push((i, trigger)),
        }
    }

    fn is_light(&self, o: &Object) -> bool {
        let destructor = self.program.destructor(o.ty);
        destructor.is_some_and(|f| self.program.is_light_destructor(&f))
    }

    /// Takes the objects whose `__del__` is to be called, in order.
    pub fn take_due(&mut self) -> Vec<Addr> {
        std::mem::take(&mut self.finalizers.due)
    }

    /// The queues that hold objects.
    pub fn queues(&self) -> Vec<Trigger> {
        let mut out = Vec::new();
        for (_, trigger) in &self.finalizers.queued {
            if !out.contains(trigger) {
                out.push(*trigger);
            }
        }
        out
    }

    /// Takes the object that died first out of a queue; null if there is none.
    pub fn next_dead(&mut self, trigger: Trigger) -> Addr {
        let queued = &mut self.finalizers.queued;
        match queued.iter().position(|(_, t)| *t == trigger) {
            Some(i) => queued.remove(i).0,
            None => 0,
        }
    }

    /// Numbers of the objects that wait for the program to look at them.
    pub(super) fn waiting(&self) -> Vec<usize> {
        let f = &self.finalizers;
        let all = f.due.iter().chain(f.queued.iter().map(|(a, _)| a));
        all.map(|a| (a >> 32) as usize).collect()
    }

    /// After marking: finds the objects whose finalizers are to be called, tells weak
    /// references of what is dead, and revives the former with what they refer to. Of
    /// several dead objects those come first that no other one refers to.
    pub(super) fn finalize_dead(&mut self) {
        let registered = std::mem::take(&mut self.finalizers.registered);
        // Dead objects, by the first of the registered ones that led to them.
        let mut reached: FxHashMap<usize, usize> = FxHashMap::default();
        for (x, _) in &registered {
            if reached.get(x).is_some_and(|first| first != x) {
                // The object waits for the one that it was reached from, also within a cycle.
                continue;
            }
            let mut todo = vec![*x];
            while let Some(y) = todo.pop() {
                if self.objects[y].marked || !self.is_collected(y) {
                    continue;
                }
                match reached.get(&y) {
                    None => {
                        reached.insert(y, *x);
                        todo.extend(self.gc_words(y).iter().map(|w| (w >> 32) as usize));
                    }
                    Some(first) if first != x => self.mark_from(vec![y]),
                    Some(_) => {}
                }
            }
        }
        self.clear_weakrefs(&reached);
        let mut revived = Vec::new();
        for (x, trigger) in registered {
            if self.objects[x].marked || reached.get(&x) != Some(&x) {
                self.finalizers.registered.push((x, trigger));
                continue;
            }
            revived.push(x);
            let addr = (x as Addr) << 32;
            match trigger {
                0 => self.finalizers.due.push(addr),
                _ => self.finalizers.queued.push((addr, trigger)),
            }
        }
        self.mark_from(revived);
        let mut dead = Vec::new();
        let objects = &self.objects;
        self.finalizers.light.retain(|x| {
            let alive = objects[*x].marked;
            if !alive {
                dead.push(*x);
            }
            alive
        });
        let addresses = dead.iter().map(|x| (*x as Addr) << 32);
        self.finalizers.due.extend(addresses);
        self.mark_from(dead);
    }

    /// Clears the weak references to what is dead. Those in `revived` live on as well
    /// as what is marked.
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

    /// Whether an object is managed by the collector.
    fn is_collected(&self, i: usize) -> bool {
        let o = self.objects.get(i);
        o.is_some_and(|o| matches!(o.state, State::Gc | State::Weak))
    }
}
