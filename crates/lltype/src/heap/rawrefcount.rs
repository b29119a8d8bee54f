//! Links between objects and PyObjects, raw memory that C code counts references to: as in the runtime's
//! collector (`gc/rawrefcount.rs`), but that every object is old and every collection a full one.

use rustc_hash::FxHashMap;

use super::finalize::Collected;
use super::{Heap, HeapError, Trigger};
use crate::{Access, Addr};

/// References that a linked object is worth (RPython: `REFCNT_FROM_PYPY`).
const FROM_PYPY: i64 = i64::MAX / 4 + 1;
/// The same for a PyObject that the collector frees (RPython: `REFCNT_FROM_PYPY_LIGHT`).
const FROM_PYPY_LIGHT: i64 = FROM_PYPY + (i64::MAX / 2 + 1);

/// Offset of the link in a PyObject, behind the count.
const LINK: u64 = 8;

/// All links.
#[derive(Default, Debug)]
pub(super) struct Links {
    /// The function that is called when PyObjects wait.
    trigger: Option<Trigger>,
    /// PyObjects whose objects have the data, in the order of their links.
    p: Vec<Addr>,
    /// PyObjects that have the data themselves.
    o: Vec<Addr>,
    /// The PyObject of an object that has the data.
    of_object: FxHashMap<Addr, Addr>,
    /// PyObjects without references, oldest first.
    dead: Vec<Addr>,
    /// Whether PyObjects were added to `dead` since the program was called back.
    news: bool,
}

impl Heap<'_> {
    /// Sets the function that is called when PyObjects wait. Only the first call counts.
    pub fn init_links(&mut self, trigger: Trigger) {
        self.links.trigger.get_or_insert(trigger);
    }

    /// Links an object that has the data to a PyObject.
    ///
    /// # Errors
    /// The PyObject is no memory, or `init_links` was not called.
    pub fn create_link_pypy(&mut self, object: Addr, pyobject: Addr) -> Result<(), HeapError> {
        self.set_link(pyobject, object)?;
        self.links.p.push(pyobject);
        self.links.of_object.insert(object, pyobject);
        Ok(())
    }

    /// Links a PyObject that has the data to an object.
    ///
    /// # Errors
    /// As for [`Heap::create_link_pypy`].
    pub fn create_link_pyobj(&mut self, object: Addr, pyobject: Addr) -> Result<(), HeapError> {
        self.set_link(pyobject, object)?;
        self.links.o.push(pyobject);
        Ok(())
    }

    /// Has [`Heap::link_of`] return an object, which the collector does not know of.
    ///
    /// # Errors
    /// As for [`Heap::create_link_pypy`].
    pub fn set_link(&mut self, pyobject: Addr, object: Addr) -> Result<(), HeapError> {
        match self.links.trigger {
            Some(_) => self.store(pyobject + LINK, Access::W64, object),
            None => Err(HeapError::Type("rawrefcount.init() was not called")),
        }
    }

    /// The PyObject of an object that has the data, or null.
    pub fn pyobject_of(&self, object: Addr) -> Addr {
        self.links.of_object.get(&object).copied().unwrap_or(0)
    }

    /// The object that a PyObject is linked to, or null.
    ///
    /// # Errors
    /// The PyObject is no memory.
    pub fn link_of(&mut self, pyobject: Addr) -> Result<Addr, HeapError> {
        self.load(pyobject + LINK, Access::W64)
    }

    /// Takes the PyObject without references that has waited longest, or null.
    pub fn next_dead_pyobject(&mut self) -> Addr {
        match self.links.dead.is_empty() {
            true => 0,
            false => self.links.dead.remove(0),
        }
    }

    /// The function to call back, if PyObjects wait since the last time.
    pub fn take_link_trigger(&mut self) -> Option<Trigger> {
        match std::mem::take(&mut self.links.news) {
            true => self.links.trigger,
            false => None,
        }
    }

    /// The numbers of objects that have the data and that C refers to.
    pub(super) fn held_by_pyobjects(&mut self) -> Result<Vec<usize>, HeapError> {
        let mut held = Vec::new();
        for i in 0..self.links.p.len() {
            let pyobject = self.links.p[i];
            if !matches!(self.count(pyobject)?, FROM_PYPY | FROM_PYPY_LIGHT) {
                held.push((self.link_of(pyobject)? >> 32) as usize);
            }
        }
        Ok(held)
    }

    /// After marking: cuts the links of dead objects.
    pub(super) fn cut_links(&mut self) -> Result<(), HeapError> {
        let lists = [&mut self.links.p, &mut self.links.o];
        let mut lists = lists.map(std::mem::take);
        for list in &mut lists {
            let mut kept = Vec::new();
            for pyobject in list.drain(..) {
                let object = self.link_of(pyobject)?;
                let i = (object >> 32) as usize;
                if !self.is_collected(i) || self.is_marked(i) {
                    kept.push(pyobject);
                    continue;
                }
                if self.links.of_object.get(&object) == Some(&pyobject) {
                    self.links.of_object.remove(&object);
                }
                self.let_go(pyobject)?;
            }
            *list = kept;
        }
        [self.links.p, self.links.o] = lists;
        Ok(())
    }

    /// Takes the references of a dead object away from its PyObject.
    fn let_go(&mut self, pyobject: Addr) -> Result<(), HeapError> {
        let count = self.count(pyobject)?;
        self.store(pyobject + LINK, Access::W64, 0)?;
        let is_light = count >= FROM_PYPY_LIGHT;
        let left = match is_light {
            true => count - FROM_PYPY_LIGHT,
            false if count >= FROM_PYPY => count - FROM_PYPY,
            false => {
                let why = "rawrefcount: a linked PyObject has lost references of its object";
                return Err(HeapError::Type(why));
            }
        };
        match (left, is_light) {
            (0, true) => return self.free(pyobject),
            (0, false) => {
                self.links.dead.push(pyobject);
                self.links.news = true;
            }
            _ => {}
        }
        let left = if left == 0 { 1 } else { left };
        self.store(pyobject, Access::W64, left as u64)
    }

    fn count(&mut self, pyobject: Addr) -> Result<i64, HeapError> {
        Ok(self.load(pyobject, Access::W64)? as i64)
    }
}
