//! Reference counting, for programs compiled with `--gc ref`.
//!
//! ```text
//! count │ header, fields, items
//!       ▲ object
//! ```
//!
//! The transform of the compiler (`taipan_transform`'s `refcount.rs`) has programs say when
//! a reference comes and goes. An object whose last reference went is freed at once, with
//! what only it referred to; its finalizer runs before. Objects that refer to each other in
//! a circle are never freed. Static objects are not counted: [`OUTSIDE`] in the header says
//! so.
//!
//! Code that back ends emit counts by itself, and comes here for last references.
//!
//! In stress mode dead objects are overwritten, their memory is used again only late, and the
//! end of a reference to a dead object ends the program.

use super::api::Failure;
use super::header::{MARKED, OUTSIDE, PRISTINE, TypeInfo, WEAKREF};
use super::shadow::ShadowTable;
use super::{Gc, Obj, finalize, gc, inspect};
use crate::memory::Stack;
use crate::pages::{try_map, unmap};
use crate::string::Word;
use crate::{exc, sys};

/// Flag of an object that weak references or finalizer queues know.
const KNOWN: usize = MARKED;
/// Flag of an object whose finalizer has been called.
const FINALIZED: usize = PRISTINE;

/// Distance between sizes of cells, each with room for the count.
const GRAIN: usize = 16;
/// Objects above this size come from the C library.
const MOST_SMALL: usize = 512;
const CLASSES: usize = MOST_SMALL / GRAIN + 1;
const CHUNK: usize = super::scaled(1 << 20);
/// So many dead objects are kept from being used again in stress mode.
const QUARANTINE: usize = 1 << 14;
/// What dead objects are overwritten with: a header like that of a counted object, and a count
/// below zero, so that emitted code comes here with them.
const POISON: u8 = 0xd8;
const DEAD: usize = usize::from_ne_bytes([POISON; size_of::<usize>()]);

/// What comes before a big object.
#[repr(C, align(8))]
struct Big {
    next: *mut Big,
    before: *mut Big,
    size: Word<usize>,
    count: u64,
}

/// All objects.
pub(super) struct Counted {
    /// By size, cells that are free: each has the address of the next one.
    free: [usize; CLASSES],
    fresh: usize,
    fresh_end: usize,
    chunks: Stack<usize>,
    big: *mut Big,
    /// How many objects there are, and their size.
    pub(super) objects: usize,
    pub(super) bytes: usize,
    /// Dead objects that are not freed yet.
    dying: Stack<Obj>,
    busy: bool,
    /// What weak references and queues there are to an object.
    notes: ShadowTable,
    quarantine: Stack<(usize, usize)>,
    next_out: usize,
}

/// What is to be told of an object's death: a list that begins in [`Counted::notes`].
struct Note {
    /// A weak reference, or 0.
    weakref: Obj,
    /// The queue, if it is none.
    trigger: usize,
    next: *mut Note,
}

impl Counted {
    pub(super) const fn new() -> Counted {
        Counted {
            free: [0; CLASSES],
            fresh: 0,
            fresh_end: 0,
            chunks: Stack::new(),
            big: core::ptr::null_mut(),
            objects: 0,
            bytes: 0,
            dying: Stack::new(),
            busy: false,
            notes: ShadowTable::new(),
            quarantine: Stack::new(),
            next_out: 0,
        }
    }

    /// Memory for an object, its count 1; none if all would take more than `most` bytes or the system
    /// has no more.
    unsafe fn allocate(&mut self, size: usize, most: usize) -> Option<Obj> {
        if size > most.saturating_sub(self.bytes) {
            return None;
        }
        let with_count = size.checked_add(8)?;
        // SAFETY: cells and blocks of the C library are as large as asked for.
        let obj = unsafe {
            if with_count > MOST_SMALL {
                self.allocate_big(size)?
            } else {
                let class = with_count.div_ceil(GRAIN);
                let mut cell = self.free[class];
                if cell == 0 {
                    cell = self.fresh_cell(class * GRAIN)?;
                } else {
                    self.free[class] = *(cell as *const usize);
                }
                *(cell as *mut u64) = 1;
                cell + 8
            }
        };
        self.objects += 1;
        self.bytes += size;
        Some(obj)
    }

    fn fresh_cell(&mut self, size: usize) -> Option<usize> {
        if self.fresh_end - self.fresh < size {
            self.fresh = try_map(CHUNK)?;
            self.fresh_end = self.fresh + CHUNK;
            self.chunks.push(self.fresh);
        }
        let cell = self.fresh;
        self.fresh += size;
        Some(cell)
    }

    unsafe fn allocate_big(&mut self, size: usize) -> Option<Obj> {
        // SAFETY: the block has room for both.
        unsafe {
            let big: *mut Big = sys::malloc(size.checked_add(size_of::<Big>())?).cast();
            if big.is_null() {
                return None;
            }
            big.write(Big {
                next: self.big,
                before: core::ptr::null_mut(),
                size: Word(size),
                count: 1,
            });
            if let Some(next) = self.big.as_mut() {
                next.before = big;
            }
            self.big = big;
            Some(big.add(1) as Obj)
        }
    }

    /// Gives the memory of an object back.
    unsafe fn free(&mut self, obj: Obj, size: usize, stress: bool) {
        self.objects -= 1;
        self.bytes -= size;
        // SAFETY: the object is one of these, of that size.
        unsafe {
            if !stress {
                return self.free_now(obj, size);
            }
            core::ptr::write_bytes((obj - 8) as *mut u8, POISON, size + 8);
            if self.quarantine.len() < QUARANTINE {
                self.quarantine.push((obj, size));
                return;
            }
            let at = self.next_out % QUARANTINE;
            self.next_out += 1;
            let slot = &mut self.quarantine.as_mut_slice()[at];
            let (old, old_size) = core::mem::replace(slot, (obj, size));
            self.free_now(old, old_size);
        }
    }

    unsafe fn free_now(&mut self, obj: Obj, size: usize) {
        // SAFETY: `free` calls this with an object that `allocate` made for that size and nothing
        // refers to, so the count, and the links of a big one, are before it.
        unsafe {
            let with_count = size + 8;
            if with_count <= MOST_SMALL {
                let class = with_count.div_ceil(GRAIN);
                *((obj - 8) as *mut usize) = self.free[class];
                self.free[class] = obj - 8;
                return;
            }
            let big = (obj as *mut Big).sub(1);
            match (*big).before.as_mut() {
                Some(before) => before.next = (*big).next,
                None => self.big = (*big).next,
            }
            if let Some(next) = (*big).next.as_mut() {
                next.before = (*big).before;
            }
            sys::free(big.cast());
        }
    }

    /// Gives all memory back.
    ///
    /// # Safety
    /// Nothing uses objects any more.
    pub(super) unsafe fn release(&mut self) {
        // SAFETY: the program has returned. Chunks and big objects are those in the lists, and each
        // is given back once.
        unsafe {
            while let Some(chunk) = self.chunks.pop() {
                unmap(chunk, CHUNK);
            }
            while !self.big.is_null() {
                let next = (*self.big).next;
                sys::free(self.big.cast());
                self.big = next;
            }
        }
        self.chunks.release();
        self.dying.release();
        self.notes.release();
        self.quarantine.release();
        *self = Counted::new();
    }

    unsafe fn note(&mut self, obj: Obj, weakref: Obj, trigger: usize) {
        // SAFETY: the object is live and counted; notes are of the C library.
        unsafe {
            let note: *mut Note = sys::malloc(size_of::<Note>()).cast();
            if note.is_null() {
                exc::out_of_memory();
            }
            let next = self.notes.remove(obj).unwrap_or(0) as *mut Note;
            note.write(Note {
                weakref,
                trigger,
                next,
            });
            self.notes.insert(obj, note as usize);
            *(obj as *mut usize) |= KNOWN;
        }
    }

    /// Forgets a weak reference that dies before what it refers to.
    unsafe fn forget_weakref(&mut self, weakref: Obj) {
        // SAFETY: its target is alive, and has a note of it.
        unsafe {
            let target = *((weakref + 8) as *const usize);
            if target == 0 || *(target as *const usize) & OUTSIDE != 0 {
                return;
            }
            let mut list = self.notes.remove(target).unwrap_or(0) as *mut Note;
            let mut at = &raw mut list;
            while !(*at).is_null() && (**at).weakref != weakref {
                at = &raw mut (**at).next;
            }
            let found = *at;
            if !found.is_null() {
                *at = (*found).next;
                sys::free(found.cast());
            }
            match list.is_null() {
                true => *(target as *mut usize) &= !KNOWN,
                false => self.notes.insert(target, list as usize),
            }
        }
    }
}

/// The count of an object that is counted.
#[inline]
unsafe fn count_of(obj: Obj) -> Option<*mut u64> {
    // SAFETY: `obj` is null, or an object that is live or in quarantine and has a header. The count
    // of an object that is not static is before it.
    unsafe {
        if obj == 0 {
            return None;
        }
        let header = *(obj as *const usize);
        if header & OUTSIDE != 0 {
            return None;
        }
        if header == DEAD {
            exc::fatal(b"internal error: a dead object is used");
        }
        Some((obj - 8) as *mut u64)
    }
}

/// Counts a new reference.
///
/// # Safety
/// `obj` is null or a live object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_gc_incref(obj: Obj) {
    // SAFETY: compiled code passes null or a live object, whose count is before it.
    unsafe {
        if let Some(count) = count_of(obj) {
            *count += 1;
        }
    }
}

/// Counts a reference that is gone, and frees the object if it was the last. The program is
/// called back about dead objects.
///
/// # Safety
/// `obj` is null or a live object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_gc_decref(obj: Obj) {
    // SAFETY: compiled code passes null or a live object and gives up one reference to it, which is
    // counted.
    unsafe {
        if let Some(count) = count_of(obj) {
            *count -= 1;
            if *count == 0 {
                last_reference_gone(obj);
            }
        }
    }
}

#[cold]
unsafe fn last_reference_gone(obj: Obj) {
    // SAFETY: no reference to the collector's state is held across calls into the program.
    unsafe {
        gc().counted.dying.push(obj);
        if core::mem::replace(&mut gc().counted.busy, true) {
            return;
        }
        while let Some(obj) = gc().counted.dying.pop() {
            die(obj);
        }
        gc().counted.busy = false;
        if gc().finalizers.pending() {
            finalize::call_back();
        }
    }
}

/// Does what is to be done with an object without references.
unsafe fn die(obj: Obj) {
    // SAFETY: its memory is intact, and so are its references.
    unsafe {
        let header = obj as *mut usize;
        let info = TypeInfo::of(obj);
        if *header & KNOWN != 0 && tell(obj) {
            return;
        }
        if info.finalizer.is_some() && *header & FINALIZED == 0 {
            *header |= FINALIZED;
            let count = (obj - 8) as *mut u64;
            *count = 1;
            finalize::finalize(obj);
            *count -= 1;
            if *count != 0 {
                return;
            }
            // It may have become known in the meantime.
            if *header & KNOWN != 0 && tell(obj) {
                return;
            }
        }
        if info.kind == WEAKREF {
            gc().counted.forget_weakref(obj);
        }
        let size = info.size_of(obj);
        info.for_each_pointer(obj, |slot| {
            if let Some(count) = count_of(*slot) {
                *count -= 1;
                if *count == 0 {
                    gc().counted.dying.push(*slot);
                }
            }
        });
        inspect::forget(obj);
        let stress = gc().stress;
        gc().counted.free(obj, size, stress);
    }
}

/// Clears the weak references to an object, and puts it into the queues that wait for it;
/// whether there is one.
unsafe fn tell(obj: Obj) -> bool {
    // SAFETY: `die` passes an object without references whose memory is intact. Its notes come from
    // `note` and are freed once; weak references among them are live, as those that die are
    // forgotten.
    unsafe {
        *(obj as *mut usize) &= !KNOWN;
        let count = (obj - 8) as *mut u64;
        let mut note = gc().counted.notes.remove(obj).unwrap_or(0) as *mut Note;
        while !note.is_null() {
            let Note {
                weakref,
                trigger,
                next,
            } = note.read();
            sys::free(note.cast());
            note = next;
            match weakref {
                0 => {
                    // The queue's own reference.
                    *count += 1;
                    gc().died(obj, trigger);
                }
                weakref => *((weakref + 8) as *mut usize) = 0,
            }
        }
        *count != 0
    }
}

/// Memory for an object, its count 1.
///
/// # Safety
/// The caller is the mutator.
pub(super) unsafe fn allocate(size: usize, failure: Failure) -> Obj {
    // SAFETY: the caller is the mutator, and no reference to `GC` is held across the failure.
    unsafe {
        let most = gc().most_bytes(failure);
        let obj = gc().counted.allocate(size, most);
        obj.unwrap_or_else(|| failure.no_memory())
    }
}

/// Has an object given to a finalizer queue when it dies.
///
/// # Safety
/// `obj` is a live object.
pub(super) unsafe fn register(trigger: usize, obj: Obj) {
    // SAFETY: the program passes a live object, whose count keeps the note valid until it dies.
    unsafe {
        if count_of(obj).is_some() {
            gc().counted.note(obj, 0, trigger);
        }
    }
}

/// Has a weak reference cleared when its target dies.
///
/// # Safety
/// Both are live objects; the target may be null.
pub(super) unsafe fn register_weakref(weakref: Obj, target: Obj) {
    // SAFETY: `rpy_gc_weakref_create` passes a new weak reference and its target, which is live or
    // null.
    unsafe {
        if count_of(target).is_some() {
            gc().counted.note(target, weakref, 0);
        }
    }
}

/// Stores a reference in place of another one.
///
/// # Safety
/// The word holds one, or null.
pub(crate) unsafe fn replace(slot: *mut usize, obj: Obj) {
    // SAFETY: the word holds null or a counted reference, which is given up after the new one is in
    // place.
    unsafe {
        rpy_gc_incref(obj);
        let old = core::mem::replace(&mut *slot, obj);
        rpy_gc_decref(old);
    }
}

/// Copies items between arrays of GC pointers, or of structs with some.
///
/// # Safety
/// Both are live arrays of one type that have these items.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_gc_copy_counted(
    source: Obj,
    dest: Obj,
    source_start: u64,
    dest_start: u64,
    length: u64,
) {
    let [source_start, dest_start, length] = [source_start, dest_start, length].map(|n| n as usize);
    // SAFETY: compiled code passes live arrays of one type that have the items from the starts on.
    // Finalizers run only when all references are in place.
    unsafe {
        let info = TypeInfo::of(source);
        info.for_each_pointer_in_items(source, source_start, source_start + length, |slot| {
            rpy_gc_incref(*slot);
        });
        // What was there is let go of when the new references are in place: finalizers look.
        let mut old = Stack::new();
        info.for_each_pointer_in_items(dest, dest_start, dest_start + length, |slot| {
            if *slot != 0 {
                old.push(*slot);
            }
        });
        let item =
            |array: Obj, n: usize| array + info.items_offset as usize + n * info.item_size as usize;
        let bytes = length * info.item_size as usize;
        // They may be parts of one array.
        let from = item(source, source_start) as *const u8;
        core::ptr::copy(from, item(dest, dest_start) as *mut u8, bytes);
        while let Some(obj) = old.pop() {
            rpy_gc_decref(obj);
        }
        old.release();
    }
}

impl Gc {
    /// How many counted objects there are: 0 with another collector.
    pub(super) fn counted_objects(&self) -> usize {
        self.counted.objects
    }
}

/// Names and addresses of the functions here, for a linker in the same process.
pub(crate) fn symbols(out: &mut dyn FnMut(&'static str, *const u8)) {
    out("rpy_gc_incref", rpy_gc_incref as *const u8);
    out("rpy_gc_decref", rpy_gc_decref as *const u8);
    out("rpy_gc_copy_counted", rpy_gc_copy_counted as *const u8);
}
