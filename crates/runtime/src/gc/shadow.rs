//! Where objects of the nursery will move to, for those whose identity was asked for:
//! their identity is that address, before and after.

use crate::memory::Stack;

const EMPTY: (usize, usize) = (0, 0);

/// A hash table from young objects to the memory reserved for them; emptied by every
/// minor collection.
pub(crate) struct ShadowTable {
    /// Open addressing; the length is 0 or a power of two, at most half in use.
    slots: Stack<(usize, usize)>,
    used: usize,
}

impl ShadowTable {
    pub(crate) const fn new() -> Self {
        ShadowTable {
            slots: Stack::new(),
            used: 0,
        }
    }

    pub(crate) fn get(&self, obj: usize) -> Option<usize> {
        let slots = self.slots.as_slice();
        let mask = slots.len().wrapping_sub(1);
        let mut i = start(obj);
        while !slots.is_empty() && slots[i & mask] != EMPTY {
            if slots[i & mask].0 == obj {
                return Some(slots[i & mask].1);
            }
            i += 1;
        }
        None
    }

    pub(crate) fn insert(&mut self, obj: usize, shadow: usize) {
        if self.used * 2 >= self.slots.len() {
            let mut old = core::mem::replace(&mut self.slots, Stack::new());
            (0..(old.len() * 2).max(16)).for_each(|_| self.slots.push(EMPTY));
            (old.as_slice().iter().filter(|s| **s != EMPTY)).for_each(|(o, s)| self.put(*o, *s));
            old.release();
        }
        self.used += 1;
        self.put(obj, shadow);
    }

    /// Takes an entry out.
    pub(crate) fn remove(&mut self, obj: usize) -> Option<usize> {
        let slots = self.slots.as_mut_slice();
        let mask = slots.len().wrapping_sub(1);
        let mut hole = start(obj);
        loop {
            match slots.get(hole & mask) {
                None | Some(&EMPTY) => return None,
                Some((found, _)) if *found == obj => break,
                Some(_) => hole += 1,
            }
        }
        let mut hole = hole & mask;
        let shadow = slots[hole].1;
        // What comes behind moves up, unless it is where a search for it starts or before that.
        let mut i = hole;
        loop {
            i = (i + 1) & mask;
            if slots[i] == EMPTY {
                break;
            }
            let from_start = i.wrapping_sub(start(slots[i].0)) & mask;
            if from_start >= i.wrapping_sub(hole) & mask {
                slots[hole] = slots[i];
                hole = i;
            }
        }
        slots[hole] = EMPTY;
        self.used -= 1;
        Some(shadow)
    }

    pub(crate) fn clear(&mut self) {
        if self.used > 0 {
            self.release();
        }
    }

    pub(crate) fn release(&mut self) {
        self.slots.release();
        self.used = 0;
    }

    fn put(&mut self, obj: usize, shadow: usize) {
        let slots = self.slots.as_mut_slice();
        let mask = slots.len() - 1;
        let mut i = start(obj);
        while slots[i & mask] != EMPTY {
            i += 1;
        }
        slots[i & mask] = (obj, shadow);
    }
}

fn start(obj: usize) -> usize {
    ((obj as u64 >> 3).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) as usize
}
