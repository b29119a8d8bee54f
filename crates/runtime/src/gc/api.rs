//! What emitted code calls. Callers keep their live GC pointers on the shadow stack
//! around every function here that can collect: `malloc*`, `collect`,
//! `weakref_create`, and `id` and `identityhash` do not move objects.

use super::collector::{Collector, allocate_elsewhere, allocate_slowly};
use super::header::{FLAGS, MARKED, OUTSIDE, PRISTINE, STATIC_FLAGS, TRACK, TypeInfo, WEAKREF};
use super::large::mark_card;
use super::{LARGE_OBJECT, boehm, finalize, gc, rawrefcount, refcount};
use crate::exc;
use crate::state::state;

/// Objects up to this size are cleared word by word.
const SMALL: usize = 256;

/// The type of weak references: header and target.
static WEAKREF_INFO: TypeInfo = TypeInfo {
    fixed_size: 16,
    item_size: 0,
    length_offset: 0,
    items_offset: 0,
    pointers: 0,
    item_pointers: 0,
    kind: WEAKREF,
    heavy_finalizer: 0,
    finalizer: None,
    text: 0,
};

/// Whether who allocates can be told that there is no memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Failure {
    /// By null, which makes the program raise MemoryError.
    Null,
    /// No: the limit of the heap does not count, and the process ends if the system has nothing left.
    Fatal,
}

impl Failure {
    /// What is returned where there is no memory.
    #[cold]
    pub(super) fn no_memory(self) -> usize {
        match self {
            Failure::Null => 0,
            Failure::Fatal => exc::out_of_memory(),
        }
    }
}

/// Memory in the nursery. Afterwards the program has been called back about dead
/// objects if need be.
pub(super) unsafe fn allocate_in_nursery(size: usize, failure: Failure) -> usize {
    // SAFETY: the callers, `allocate_slowly` for compiled code and the runtime, have saved their
    // roots. No reference to `GC` is held while finalizers run.
    unsafe {
        loop {
            let obj = gc().allocate_in_nursery(size);
            if failure == Failure::Null && gc().exceeds_limit() {
                gc().give_back(obj);
                if gc().is_still_above_limit() {
                    return 0;
                }
                continue;
            }
            if !gc().owes_call() {
                return obj;
            }
            // The program allocates, so the memory is given back meanwhile.
            gc().give_back(obj);
            finalize::call_back();
        }
    }
}

/// A zeroed object of fixed size: of any size, and with a finalizer if its type has
/// one. Null if there is no memory.
///
/// # Safety
/// The caller's roots are saved.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_gc_malloc_fixed(info: &'static TypeInfo) -> usize {
    // SAFETY: compiled code calls this with static type information of a type without items, its
    // roots on the shadow stack.
    unsafe { malloc_fixed(info, Failure::Null) }
}

/// The same, never null.
///
/// # Safety
/// As for that.
pub(crate) unsafe fn malloc_fixed_surely(info: &'static TypeInfo) -> usize {
    // SAFETY: as `rpy_gc_malloc_fixed`: the type has no items, and the caller's roots are on the
    // shadow stack.
    unsafe { malloc_fixed(info, Failure::Fatal) }
}

unsafe fn malloc_fixed(info: &'static TypeInfo, failure: Failure) -> usize {
    // SAFETY: the caller's roots are on the shadow stack, as `allocate` requires; `obj` is new and
    // of that type.
    unsafe {
        let obj = allocate(info, info.fixed_size as usize, true, failure);
        if obj != 0 && info.finalizer.is_some() {
            match gc().collector {
                Collector::Generational => gc().created_with_finalizer(obj, info),
                Collector::Boehm => boehm::register(0, obj),
                Collector::Ref | Collector::None => {}
            }
        }
        obj
    }
}

/// An object with that many items. Its fixed part is zeroed, and so are the items if
/// they contain GC pointers or `zero` says so. Null if there is no memory.
///
/// # Safety
/// The caller's roots are saved.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_gc_malloc_varsize(
    info: &'static TypeInfo,
    length: usize,
    zero: bool,
) -> usize {
    // SAFETY: compiled code calls this with static type information, its roots on the shadow stack.
    unsafe { malloc_varsize(info, length, zero, Failure::Null) }
}

/// The same, never null.
///
/// # Safety
/// As for that.
pub(crate) unsafe fn malloc_varsize_surely(
    info: &'static TypeInfo,
    length: usize,
    zero: bool,
) -> usize {
    // SAFETY: the caller's roots are on the shadow stack.
    unsafe { malloc_varsize(info, length, zero, Failure::Fatal) }
}

unsafe fn malloc_varsize(
    info: &'static TypeInfo,
    length: usize,
    zero: bool,
    failure: Failure,
) -> usize {
    let Some(size) = info.size_with(length) else {
        return failure.no_memory();
    };
    // SAFETY: the caller's roots are on the shadow stack, as `allocate` requires. `obj` has `size`
    // bytes, with the length in its fixed part.
    unsafe {
        let obj = allocate(info, size, zero || info.item_pointers != 0, failure);
        // Items of no size are counted, too.
        if obj != 0 && info.length_offset != 0 {
            *((obj + info.length_offset as usize) as *mut u64) = length as u64;
        }
        obj
    }
}

#[inline]
unsafe fn allocate(info: &'static TypeInfo, size: usize, zero: bool, failure: Failure) -> usize {
    // SAFETY: the caller is the mutator, whose roots are on the shadow stack. `obj` is `size` bytes
    // of the nursery, which hold the header and the part that is cleared.
    unsafe {
        let s = state();
        if size >= LARGE_OBJECT {
            return allocate_large(info, size, zero, failure);
        }
        let mut obj = (*s).nursery_free;
        if size <= (*s).nursery_top - obj {
            (*s).nursery_free = obj + size;
        } else {
            obj = allocate_slowly(size, info.has_pointers(), failure);
            if obj == 0 {
                return 0;
            }
        }
        let clear = if zero { size } else { info.fixed_size as usize };
        clear_words(obj, clear);
        *(obj as *mut usize) = &raw const *info as usize;
        obj
    }
}

/// Clears that many bytes, to the next multiple of eight.
#[inline]
unsafe fn clear_words(at: usize, bytes: usize) {
    // SAFETY: `allocate` calls this with a new object of at least `bytes` bytes; sizes of objects
    // are multiples of eight.
    unsafe {
        if bytes > SMALL {
            core::ptr::write_bytes(at as *mut u8, 0, bytes);
            return;
        }
        let end = at + bytes;
        let mut at = at;
        while at < end {
            // Volatile, that it is not made a call of memset: that costs more.
            (at as *mut u64).write_volatile(0);
            at += 8;
        }
    }
}

/// A large object is young, and never moves.
#[cold]
unsafe fn allocate_large(
    info: &'static TypeInfo,
    size: usize,
    zero: bool,
    failure: Failure,
) -> usize {
    // SAFETY: `allocate` calls this with roots saved. `obj` has `size` bytes behind its cards, and
    // no reference to `GC` is held while finalizers run.
    unsafe {
        let clear = if zero { size } else { info.fixed_size as usize };
        if gc().collector != Collector::Generational {
            return allocate_elsewhere(info, size, clear, failure);
        }
        gc().make_room_for_large(size);
        if failure == Failure::Null && !gc().keeps_limit_with(size) {
            return 0;
        }
        if gc().owes_call() {
            finalize::call_back();
        }
        let (items, cards) = match info.item_pointers {
            0 => (0, 0),
            _ => (
                (size - info.items_offset as usize) / info.item_size as usize,
                PRISTINE,
            ),
        };
        let obj = match gc().large.allocate_young(size, items, zero) {
            Some(obj) => obj,
            None => {
                gc().collect();
                if gc().owes_call() {
                    finalize::call_back();
                }
                let Some(obj) = gc().large.allocate_young(size, items, zero) else {
                    return failure.no_memory();
                };
                obj
            }
        };
        if !zero {
            core::ptr::write_bytes(obj as *mut u8, 0, clear);
        }
        *(obj as *mut usize) = &raw const *info as usize | OUTSIDE | cards;
        obj
    }
}

/// A zeroed object that never moves, made without collecting: for those who build
/// objects from outside a program. It stays alive until the next collection anyway.
///
/// # Safety
/// The heap is set up, and this is the mutator thread.
pub unsafe fn malloc_nonmoving(info: &'static TypeInfo, length: usize) -> usize {
    let Some(size) = info.size_with(length) else {
        exc::out_of_memory()
    };
    // SAFETY: the heap is set up, and the caller is the mutator. `obj` is new, of that size, and
    // has room for the length.
    unsafe {
        let obj = match gc().collector {
            Collector::Generational => gc().make_old(info, size),
            _ => allocate_elsewhere(info, size, size, Failure::Fatal),
        };
        if info.length_offset != 0 {
            *((obj + info.length_offset as usize) as *mut u64) = length as u64;
        }
        obj
    }
}

/// Where an object lies for good, which is then kept alive as long as the heap is: for code
/// that is made while the program runs, and has its address. A young object becomes an old one
/// first, by a collection.
///
/// # Safety
/// `obj` is null or a live object, and the caller's roots are saved.
pub unsafe fn keep(obj: usize) -> usize {
    let mut objects = [obj];
    // SAFETY: `obj` is null or a live object, and the caller, the compiler at run time, has saved
    // its other roots. `kept` is a root from now on.
    unsafe {
        settle(&mut objects);
        if objects[0] != 0 {
            gc().kept.push(objects[0]);
        }
    }
    objects[0]
}

/// How many collections there were. While the number is the same no object has moved.
///
/// # Safety
/// The caller is the mutator.
pub unsafe fn collections() -> u64 {
    // SAFETY: the caller is the mutator, and the reference ends with this function.
    let gc = unsafe { gc() };
    (gc.minor_collections + gc.major_collections) as u64
}

/// Moves objects to where they stay, and makes them old. The program is called back about the dead at the
/// next allocation, not here.
///
/// # Safety
/// These are objects or null; the caller's other roots are saved.
pub unsafe fn settle(objects: &mut [usize]) {
    // SAFETY: the words are null or live objects. They are on the shadow stack while they move,
    // which has room for so few, the green variables of a merge point.
    unsafe {
        if !objects.iter().any(|obj| gc().is_young(*obj)) {
            return;
        }
        let s = state();
        let roots = (*s).root_stack_top;
        for (i, obj) in objects.iter().enumerate() {
            *roots.add(i) = *obj;
        }
        (*s).root_stack_top = roots.add(objects.len());
        gc().collect_for_space(0);
        (*s).root_stack_top = roots;
        for (i, obj) in objects.iter_mut().enumerate() {
            *obj = *roots.add(i);
        }
    }
}

/// The write barrier, for an object whose header has [`TRACK`]: called before a GC
/// pointer is stored into it.
///
/// # Safety
/// `obj` is a live object.
#[cold]
pub unsafe extern "C" fn writebarrier(obj: usize) {
    // SAFETY: compiled code calls this before a store into `obj`, which is live: its header may be
    // read and changed.
    unsafe {
        let header = obj as *mut usize;
        let old = *header;
        if old & TRACK == 0 {
            return;
        }
        let gc = gc();
        if gc.collector != Collector::Generational {
            return;
        }
        *header = old & !TRACK;
        gc.remembered.push(obj);
        if old & FLAGS == STATIC_FLAGS {
            *header &= !PRISTINE;
            gc.static_roots.push(obj);
        }
    }
}

/// The write barrier for a store into item `index` of an array.
///
/// # Safety
/// `obj` is a live array with such an item.
#[cold]
pub unsafe extern "C" fn writebarrier_array(obj: usize, index: usize) {
    // SAFETY: compiled code calls this before a store into item `index` of `obj`, which is live and
    // has that item, so it has the card if it has cards.
    unsafe {
        let has_cards = OUTSIDE | PRISTINE;
        if *(obj as *const usize) & (has_cards | MARKED) != has_cards {
            writebarrier(obj);
        } else if mark_card(obj, index) {
            gc().carded.push(obj);
        }
    }
}

/// A full collection.
///
/// # Safety
/// The caller's roots are saved.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_gc_collect() {
    // SAFETY: the caller, the operation `gc__collect` or the runtime, has saved its roots. No
    // reference to `GC` is held while finalizers run.
    unsafe {
        match gc().collector {
            Collector::Generational => gc().collect(),
            Collector::Boehm => return boehm::collect(),
            Collector::Ref | Collector::None => return,
        }
        if gc().owes_call() {
            finalize::call_back();
        }
    }
}

/// Moves what is live in the nursery to the old space, where it stays in place.
///
/// # Safety
/// The caller's roots are saved.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_gc_collect_minor() {
    // SAFETY: the caller has saved its roots. No reference to `GC` is held while finalizers run.
    unsafe {
        match gc().collector {
            Collector::Generational => gc().collect_for_space(0),
            Collector::Boehm => return boehm::collect(),
            Collector::Ref | Collector::None => return,
        }
        if gc().owes_call() {
            finalize::call_back();
        }
    }
}

/// Puts an object into the care of a finalizer queue: it comes out of
/// [`rpy_gc_fq_next_dead`] when nothing else refers to it any more. The queue is known
/// by the function that is called when objects died.
///
/// # Safety
/// `obj` is a live object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_gc_fq_register(trigger: usize, obj: usize) {
    // SAFETY: the program calls this with a live object and the trigger function of one of its
    // queues.
    unsafe {
        match gc().collector {
            Collector::Generational => gc().register(trigger, obj),
            Collector::Boehm => boehm::register(trigger, obj),
            Collector::Ref => refcount::register(trigger, obj),
            Collector::None => {}
        }
    }
}

/// The object of a finalizer queue that died first, or null.
///
/// # Safety
/// Always safe to call from the mutator thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_gc_fq_next_dead(trigger: usize) -> usize {
    // SAFETY: the caller is the mutator, and the reference ends with this function.
    unsafe { gc().next_dead(trigger).unwrap_or(0) }
}

/// A number that no other live object has, the same as long as the object lives.
///
/// # Safety
/// `obj` is null or a live object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_gc_id(obj: usize) -> i64 {
    // SAFETY: the caller is the mutator. `obj` is null, which is outside the nursery, or a live
    // object; `shadow` has as many bytes as it.
    unsafe {
        let gc = gc();
        if !gc.is_in_nursery(obj) {
            return obj as i64;
        }
        let header = obj as *mut usize;
        if *header & PRISTINE != 0
            && let Some(shadow) = gc.shadows.get(obj)
        {
            return shadow as i64;
        }
        let size = TypeInfo::of(obj).size_of(obj);
        let shadow = gc.reserve(size);
        if size > super::old::MAX_SMALL {
            // The sweep reads the header even if the object dies and leaves it unused.
            *(shadow as *mut usize) = (*header & !FLAGS) | OUTSIDE;
        }
        *header |= PRISTINE;
        gc.shadows.insert(obj, shadow);
        shadow as i64
    }
}

/// The identity hash: derived from [`rpy_gc_id`], for static objects the word before
/// the object, which the compiler knows too.
///
/// # Safety
/// `obj` is null or a live object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_gc_identityhash(obj: usize) -> i64 {
    // SAFETY: `obj` is null or a live object. Before static objects, which alone have both flags
    // outside the nursery, the compiler places a word with their hash.
    unsafe {
        if obj != 0 && !gc().is_in_nursery(obj) {
            let outside_marked = OUTSIDE | MARKED;
            if *(obj as *const usize) & outside_marked == outside_marked {
                return *((obj - 8) as *const i64);
            }
        }
        let id = rpy_gc_id(obj);
        // Addresses are multiples of 8: bring the bits that differ to the low end.
        id ^ (id >> 4)
    }
}

/// Whether the next collection may move the object.
///
/// # Safety
/// Always safe to call from the mutator thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_gc_can_move(obj: usize) -> bool {
    // SAFETY: the caller is the mutator, and the object is not read.
    unsafe { gc().is_in_nursery(obj) }
}

/// A weak reference to an object or to null.
///
/// # Safety
/// The caller's roots are saved.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_gc_weakref_create(target: usize) -> usize {
    // SAFETY: the caller is the mutator, whose roots are on the shadow stack, and so is `target`
    // during the allocation. `weakref` has 16 bytes.
    unsafe {
        let s = state();
        *(*s).root_stack_top = target;
        (*s).root_stack_top = (*s).root_stack_top.add(1);
        let size = WEAKREF_INFO.fixed_size as usize;
        let weakref = allocate(&WEAKREF_INFO, size, true, Failure::Fatal);
        (*s).root_stack_top = (*s).root_stack_top.sub(1);
        let link = (weakref + 8) as *mut usize;
        *link = *(*s).root_stack_top;
        match gc().collector {
            Collector::Generational => gc().young_weakrefs.push(weakref),
            Collector::Boehm => boehm::register_link(link, *link),
            Collector::Ref => refcount::register_weakref(weakref, *link),
            Collector::None => {}
        }
        weakref
    }
}

/// Names and addresses of the functions here, for a linker in the same process.
#[cfg(unix)]
pub(crate) fn symbols(out: &mut dyn FnMut(&'static str, *const u8)) {
    super::slow::symbols(out);
    rawrefcount::symbols(out);
    refcount::symbols(out);
    out("rpy_gc_malloc_fixed", rpy_gc_malloc_fixed as *const u8);
    out("rpy_gc_malloc_varsize", rpy_gc_malloc_varsize as *const u8);
    out("rpy_gc_collect", rpy_gc_collect as *const u8);
    out("rpy_gc_collect_minor", rpy_gc_collect_minor as *const u8);
    out("rpy_gc_fq_register", rpy_gc_fq_register as *const u8);
    out("rpy_gc_fq_next_dead", rpy_gc_fq_next_dead as *const u8);
    out("rpy_gc_id", rpy_gc_id as *const u8);
    out("rpy_gc_identityhash", rpy_gc_identityhash as *const u8);
    out("rpy_gc_can_move", rpy_gc_can_move as *const u8);
    out("rpy_gc_weakref_create", rpy_gc_weakref_create as *const u8);
}
