//! Major collections: marking of the old generation while the nursery is empty.

use super::header::{MARKED, OUTSIDE, TypeInfo};
use super::shadow::ShadowTable;
use super::{GROWTH_PERCENT, Gc, Obj};
use super::{inspect, old};
use crate::state::state;
use crate::{stacklet, threads};

impl Gc {
    /// Frees what is dead in the old generation. The nursery is empty.
    pub(super) unsafe fn major_collection(&mut self) {
        // SAFETY: all roots are on the shadow stacks, in the exception state, among
        // the objects that are kept, or in static objects that were written to.
        unsafe {
            self.old.start_marking();
            for slot in self.root_stack_slots() {
                self.mark(*slot);
            }
            threads::visit_all(|slot| self.mark(*slot));
            stacklet::visit_handles(|handle| self.mark(handle));
            self.mark((*state()).exc_value as usize);
            for i in 0..self.static_roots.len() {
                let obj = self.static_roots.as_slice()[i];
                self.mark_pointers(obj);
            }
            for i in 0..self.kept.len() {
                self.mark(self.kept.as_slice()[i]);
            }
            self.mark_waiting();
            let mut live_small = self.drain_marked();
            live_small += self.finish_old_with_finalizer();
            self.finish_old_light();
            stacklet::sweep(|handle| is_marked(handle));
            inspect::forget_dead();
            self.large.sweep();
            let live = live_small + self.large.bytes;
            self.threshold = (live / 100 * GROWTH_PERCENT).max(self.least_threshold);
            self.old.finish_marking(live_small, self.threshold - live);
        }
        self.major_collections += 1;
    }

    #[inline]
    pub(super) unsafe fn mark(&mut self, obj: Obj) {
        if obj == 0 {
            return;
        }
        // SAFETY: `obj` is a valid object outside the nursery.
        unsafe {
            let header = *(obj as *const usize);
            let new = if header & OUTSIDE != 0 {
                // Static objects have the mark already and may be read-only.
                if header & MARKED == 0 {
                    *(obj as *mut usize) = header | MARKED;
                }
                header & MARKED == 0
            } else {
                old::mark(obj)
            };
            if new {
                self.gray.push(obj);
            }
        }
    }

    unsafe fn mark_pointers(&mut self, obj: Obj) {
        // SAFETY: as for the callees.
        unsafe { TypeInfo::of(obj).for_each_pointer(obj, |slot| self.mark(*slot)) }
    }

    /// Marks everything that marked objects refer to. Answers the size of the objects
    /// in the blocks among them.
    pub(super) unsafe fn drain_marked(&mut self) -> usize {
        let mut small = 0;
        loop {
            while let Some(obj) = self.gray.pop() {
                // SAFETY: gray objects are valid.
                unsafe {
                    if *(obj as *const usize) & OUTSIDE == 0 {
                        small += TypeInfo::of(obj).size_of(obj);
                    }
                    self.mark_pointers(obj);
                }
            }
            // SAFETY: the roots of suspended stacklets are valid.
            unsafe { stacklet::visit_alive(|handle| is_marked(handle), |slot| self.mark(*slot)) };
            if self.gray.len() == 0 {
                return small;
            }
        }
    }

    /// Clears the weak references to what is dead, though a finalizer may still get to
    /// see it. Those in `revived` live on as well as what is marked.
    pub(super) unsafe fn finish_old_weakrefs(&mut self, revived: &ShadowTable) {
        self.old_weakrefs.retain_map(|weakref| {
            // SAFETY: the list holds weak references of the old generation.
            unsafe {
                let target = (weakref + 8) as *mut usize;
                if !is_marked(weakref) && revived.get(weakref).is_none() {
                    return None;
                }
                if !is_marked(*target) {
                    *target = 0;
                    return None;
                }
                Some(weakref)
            }
        });
    }
}

/// Whether an old or static object was reached.
pub(super) unsafe fn is_marked(obj: Obj) -> bool {
    // SAFETY: by contract of the caller.
    let header = unsafe { *(obj as *const usize) };
    if header & OUTSIDE != 0 {
        header & MARKED != 0
    } else {
        old::is_marked(obj)
    }
}
