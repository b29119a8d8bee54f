//! Links between objects of the heap and blocks of raw memory that C code counts references to
//! (RPython: `rpython.rlib.rawrefcount`, for `cpyext`).
//!
//! ```text
//! PyObject     raw memory: the count, the address of the linked object or 0, then C's own fields
//! P link       the object has the data: it lives as long as C holds references, and finds its PyObject
//! O link       the PyObject has the data: C's references do not keep the object alive
//! ```
//!
//! A linked object is worth [`FROM_PYPY`] references to its PyObject, or [`FROM_PYPY_LIGHT`] for one that is
//! freed without a call of the program. Any other count means that C holds references. A collection in which
//! the object dies takes these references away. A PyObject whose count becomes 0 is freed if it is light;
//! otherwise it gets one reference and waits until the program takes it with
//! [`rpy_gc_rawrefcount_next_dead`]. The program is called back when new ones wait.
//!
//! Lists of young and old links are kept apart, so that a minor collection looks at the new ones only.

use super::major::is_marked;
use super::shadow::ShadowTable;
use super::{Collector, Gc, Obj, gc};
use crate::memory::Stack;
use crate::{exc, sys};

/// References that a linked object is worth (RPython: `REFCNT_FROM_PYPY`).
pub const FROM_PYPY: i64 = i64::MAX / 4 + 1;
/// The same for a PyObject that the collector frees (RPython: `REFCNT_FROM_PYPY_LIGHT`).
pub const FROM_PYPY_LIGHT: i64 = FROM_PYPY + (i64::MAX / 2 + 1);

/// The start of a PyObject.
#[repr(C)]
struct Header {
    count: i64,
    /// The address of the linked object, or 0.
    link: i64,
}

/// The address of a PyObject.
type PyObject = usize;

/// The count of a PyObject.
///
/// # Safety
/// `ob` is a PyObject that is not freed.
unsafe fn count(ob: PyObject) -> i64 {
    // SAFETY: `ob` starts with a `Header`.
    unsafe { (*(ob as *const Header)).count }
}

/// The object that a PyObject is linked to, or 0.
///
/// # Safety
/// `ob` is a PyObject that is not freed.
unsafe fn link(ob: PyObject) -> Obj {
    // SAFETY: `ob` starts with a `Header`.
    unsafe { (*(ob as *const Header)).link as Obj }
}

/// # Safety
/// `ob` is a PyObject that is not freed.
unsafe fn set_link(ob: PyObject, obj: Obj) {
    // SAFETY: `ob` starts with a `Header`.
    unsafe { (*(ob as *mut Header)).link = obj as i64 }
}

/// Whether C holds references to a linked PyObject.
///
/// # Safety
/// `ob` is a PyObject that is not freed.
unsafe fn is_held(ob: PyObject) -> bool {
    // SAFETY: as the caller says.
    !matches!(unsafe { count(ob) }, FROM_PYPY | FROM_PYPY_LIGHT)
}

/// All links.
pub(super) struct Links {
    /// The function without arguments that is called when PyObjects wait; 0 before `init`.
    trigger: usize,
    young_p: Stack<PyObject>,
    old_p: Stack<PyObject>,
    young_o: Stack<PyObject>,
    old_o: Stack<PyObject>,
    /// The PyObjects of P links, by objects in the nursery.
    of_young: ShadowTable,
    /// The same by objects elsewhere.
    of_old: ShadowTable,
    /// PyObjects without references, from `next_dead` on.
    dead: Stack<PyObject>,
    next_dead: usize,
    /// Whether PyObjects were added to `dead` since the program was called back.
    news: bool,
}

impl Links {
    pub(super) const fn new() -> Links {
        Links {
            trigger: 0,
            young_p: Stack::new(),
            old_p: Stack::new(),
            young_o: Stack::new(),
            old_o: Stack::new(),
            of_young: ShadowTable::new(),
            of_old: ShadowTable::new(),
            dead: Stack::new(),
            next_dead: 0,
            news: false,
        }
    }

    pub(super) fn release(&mut self) {
        self.young_p.release();
        self.old_p.release();
        self.young_o.release();
        self.old_o.release();
        self.of_young.release();
        self.of_old.release();
        self.dead.release();
        *self = Links::new();
    }

    /// The lengths of the lists of links.
    #[cfg(test)]
    pub(super) fn lengths(&self) -> [usize; 4] {
        [&self.young_p, &self.old_p, &self.young_o, &self.old_o].map(Stack::len)
    }

    /// Whether the program is to be called back.
    pub(super) fn pending(&self) -> bool {
        self.news
    }

    /// The function to call back, with which PyObjects are no news any more.
    pub(super) fn take_trigger(&mut self) -> Option<usize> {
        core::mem::take(&mut self.news).then_some(self.trigger)
    }

    fn take_dead(&mut self) -> PyObject {
        match self.dead.as_slice().get(self.next_dead) {
            Some(ob) => {
                self.next_dead += 1;
                *ob
            }
            None => {
                self.dead.clear();
                self.next_dead = 0;
                0
            }
        }
    }

    /// Takes the references of a dead object away from its PyObject.
    ///
    /// # Safety
    /// `ob` is a PyObject in one of the lists, which it leaves.
    unsafe fn let_go(&mut self, ob: PyObject) {
        // SAFETY: `ob` is not freed as long as it is linked.
        unsafe {
            let header = ob as *mut Header;
            (*header).link = 0;
            if (*header).count >= FROM_PYPY_LIGHT {
                (*header).count -= FROM_PYPY_LIGHT;
                if (*header).count == 0 {
                    sys::free(ob as *mut _);
                }
                return;
            }
            if (*header).count < FROM_PYPY {
                exc::fatal(b"rawrefcount: a linked PyObject has lost references of its object");
            }
            (*header).count -= FROM_PYPY;
            if (*header).count == 0 {
                (*header).count = 1;
                self.dead.push(ob);
                self.news = true;
            }
        }
    }

    fn check_init(&self) {
        if self.trigger == 0 {
            exc::fatal(b"rawrefcount.init() was not called");
        }
    }
}

impl Gc {
    /// During a minor collection: objects that C refers to survive it.
    pub(super) unsafe fn keep_young_links(&mut self) {
        for i in 0..self.links.young_p.len() {
            let ob = self.links.young_p.as_slice()[i];
            // SAFETY: the list holds linked PyObjects; the word is the address of a young object.
            unsafe {
                if is_held(ob) {
                    let mut obj = link(ob);
                    self.visit_young(&raw mut obj);
                    set_link(ob, obj);
                }
            }
        }
    }

    /// At the end of a minor collection: links of dead objects are cut, others become old.
    pub(super) unsafe fn finish_young_links(&mut self) {
        self.links.of_young.clear();
        // SAFETY: the lists hold linked PyObjects of objects that were young.
        unsafe {
            for i in 0..self.links.young_p.len() {
                let ob = self.links.young_p.as_slice()[i];
                let obj = link(ob);
                match self.survivor(obj) {
                    Some(to) => {
                        set_link(ob, to);
                        if self.links.of_old.get(to).is_none() {
                            self.links.of_old.insert(to, ob);
                        }
                        self.links.old_p.push(ob);
                    }
                    None => {
                        self.links.of_old.remove(obj);
                        self.links.let_go(ob);
                    }
                }
            }
            self.links.young_p.clear();
            for i in 0..self.links.young_o.len() {
                let ob = self.links.young_o.as_slice()[i];
                match self.survivor(link(ob)) {
                    Some(to) => {
                        set_link(ob, to);
                        self.links.old_o.push(ob);
                    }
                    None => self.links.let_go(ob),
                }
            }
            self.links.young_o.clear();
        }
    }

    /// Marks the objects that C refers to.
    pub(super) unsafe fn mark_links(&mut self) {
        for i in 0..self.links.old_p.len() {
            let ob = self.links.old_p.as_slice()[i];
            // SAFETY: the list holds linked PyObjects of old or static objects.
            unsafe {
                if is_held(ob) {
                    self.mark(link(ob));
                }
            }
        }
    }

    /// After marking: links of dead objects are cut.
    pub(super) unsafe fn finish_old_links(&mut self) {
        let links = &mut self.links;
        let mut lists =
            [&mut links.old_p, &mut links.old_o].map(|list| core::mem::replace(list, Stack::new()));
        for (i, list) in lists.iter_mut().enumerate() {
            list.retain_map(|ob| {
                // SAFETY: the lists hold linked PyObjects of old or static objects, whose memory is intact
                // until the sweep.
                unsafe {
                    let obj = link(ob);
                    if is_marked(obj) {
                        return Some(ob);
                    }
                    if i == 0 {
                        links.of_old.remove(obj);
                    }
                    links.let_go(ob);
                    None
                }
            });
        }
        [links.old_p, links.old_o] = lists;
    }
}

/// Sets the function that is called when PyObjects wait for
/// [`rpy_gc_rawrefcount_next_dead`]. Only the first call counts.
///
/// # Safety
/// The caller is the mutator thread; `trigger` is a function of the program without arguments.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_gc_rawrefcount_init(trigger: usize) {
    // SAFETY: the caller is the mutator, and the reference ends with this function.
    let gc = unsafe { gc() };
    match gc.collector {
        Collector::Generational | Collector::None if gc.links.trigger == 0 => {
            gc.links.trigger = trigger;
        }
        Collector::Generational | Collector::None => {}
        Collector::Ref | Collector::Boehm => {
            exc::fatal(b"rawrefcount needs the generational collector");
        }
    }
}

/// Makes a P link.
///
/// # Safety
/// `obj` is a live object without a P link, `ob` a PyObject without a link.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_gc_rawrefcount_create_link_pypy(obj: Obj, ob: PyObject) {
    // SAFETY: the caller is the mutator, and the reference ends with this function.
    unsafe {
        let gc = gc();
        gc.links.check_init();
        set_link(ob, obj);
        let list = match gc.is_young(obj) {
            true => &mut gc.links.young_p,
            false => &mut gc.links.old_p,
        };
        list.push(ob);
        let table = match gc.is_in_nursery(obj) {
            true => &mut gc.links.of_young,
            false => &mut gc.links.of_old,
        };
        table.insert(obj, ob);
    }
}

/// Makes an O link.
///
/// # Safety
/// As for [`rpy_gc_rawrefcount_create_link_pypy`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_gc_rawrefcount_create_link_pyobj(obj: Obj, ob: PyObject) {
    // SAFETY: the caller is the mutator, and the reference ends with this function.
    unsafe {
        let gc = gc();
        gc.links.check_init();
        set_link(ob, obj);
        match gc.is_young(obj) {
            true => gc.links.young_o.push(ob),
            false => gc.links.old_o.push(ob),
        }
    }
}

/// Has [`rpy_gc_rawrefcount_to_obj`] return a prebuilt object for a PyObject that is being freed.
///
/// # Safety
/// `ob` is a PyObject without a link, `marker` a prebuilt object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_gc_rawrefcount_mark_deallocating(marker: Obj, ob: PyObject) {
    // SAFETY: the caller is the mutator, and `ob` starts with a `Header`.
    unsafe {
        gc().links.check_init();
        set_link(ob, marker);
    }
}

/// The PyObject of an object that has a P link, or null.
///
/// # Safety
/// Always safe to call from the mutator thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_gc_rawrefcount_from_obj(obj: Obj) -> PyObject {
    // SAFETY: the caller is the mutator, and the reference ends with this function.
    let gc = unsafe { gc() };
    let table = match gc.is_in_nursery(obj) {
        true => &gc.links.of_young,
        false => &gc.links.of_old,
    };
    table.get(obj).unwrap_or(0)
}

/// The object that a PyObject is linked to, or null.
///
/// # Safety
/// `ob` is a PyObject that is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_gc_rawrefcount_to_obj(ob: PyObject) -> Obj {
    // SAFETY: as the caller says.
    unsafe { link(ob) }
}

/// Takes the PyObject that has waited longest, or null. It has one reference, the caller's.
///
/// # Safety
/// Always safe to call from the mutator thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_gc_rawrefcount_next_dead() -> PyObject {
    // SAFETY: the caller is the mutator, and the reference ends with this function.
    unsafe { gc().links.take_dead() }
}

/// Names and addresses of the functions here, for a linker in the same process.
#[cfg(unix)]
pub(super) fn symbols(out: &mut dyn FnMut(&'static str, *const u8)) {
    macro_rules! list {
        ($($name:ident)*) => { $(out(stringify!($name), $name as *const u8);)* };
    }
    list! {
        rpy_gc_rawrefcount_init
        rpy_gc_rawrefcount_create_link_pypy
        rpy_gc_rawrefcount_create_link_pyobj
        rpy_gc_rawrefcount_mark_deallocating
        rpy_gc_rawrefcount_from_obj
        rpy_gc_rawrefcount_to_obj
        rpy_gc_rawrefcount_next_dead
    }
}
