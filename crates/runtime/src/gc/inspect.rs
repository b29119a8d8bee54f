//! Looking around in the heap: what `rpython.rlib.rgc` offers to programs that search it
//! for objects (`get_rpy_roots`, `get_rpy_referents`, ...).
//!
//! Nothing here allocates objects: lists of objects are written into arrays of the
//! program's.

use super::api::{rpy_gc_id, writebarrier};
use super::dump::each_object;
use super::header::{INSTANCE, TRACK, TypeInfo};
use super::major::is_marked;
use super::shadow::ShadowTable;
use super::{Obj, counts_references, gc, refcount};
use crate::memory::Stack;
use crate::state::state;
use crate::{stacklet, threads};

/// What is known of objects besides what is in them.
struct Notes {
    /// From the identity of an object to its place in `flags`.
    places: ShadowTable,
    /// Identities and flags of objects.
    flags: Stack<(usize, bool)>,
    /// From the address of a type to its number.
    types: ShadowTable,
    /// The types, by their numbers minus one.
    numbered: Stack<&'static TypeInfo>,
}

static mut NOTES: Notes = Notes {
    places: ShadowTable::new(),
    flags: Stack::new(),
    types: ShadowTable::new(),
    numbered: Stack::new(),
};

/// # Safety
/// The caller is the mutator and holds no other reference to them.
unsafe fn notes<'a>() -> &'a mut Notes {
    let notes = &raw mut NOTES;
    // SAFETY: the caller is the mutator, the only thread that uses `NOTES`, and holds no other
    // reference to it.
    unsafe { &mut *notes }
}

/// An array of the program's with GC pointers, to be filled.
struct Output {
    array: Obj,
    room: usize,
    found: usize,
}

impl Output {
    /// # Safety
    /// `array` is a live array of GC pointers.
    unsafe fn new(array: Obj) -> Output {
        // SAFETY: `array` is a live array of GC pointers, so it has a header and a length.
        unsafe {
            if *(array as *const usize) & TRACK != 0 {
                writebarrier(array);
            }
            let room = TypeInfo::of(array).length(array);
            Output {
                array,
                room,
                found: 0,
            }
        }
    }

    /// Counts an object, and notes it if there is room.
    ///
    /// # Safety
    /// The array is still alive and has not moved.
    unsafe fn add(&mut self, obj: Obj) {
        if obj == 0 {
            return;
        }
        if self.found < self.room {
            // SAFETY: item `found` is within the array, which has not moved.
            unsafe {
                let items = self.array + TypeInfo::of(self.array).items_offset as usize;
                let slot = (items + self.found * 8) as *mut usize;
                match counts_references() {
                    true => refcount::replace(slot, obj),
                    false => *slot = obj,
                }
            }
        }
        self.found += 1;
    }
}

/// Writes what active functions and changed prebuilt objects keep alive into an array;
/// answers how many that are, which may be more than there is room for.
///
/// # Safety
/// `array` is a live array of GC pointers; the caller's roots are saved.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_gc_roots(array: Obj) -> i64 {
    // SAFETY: the program passes a live array of GC pointers and has saved its roots. Nothing here
    // allocates objects, so the array does not move.
    unsafe {
        let mut out = Output::new(array);
        each_root(|obj| out.add(obj));
        out.found as i64
    }
}

/// Calls `f` with what active functions and changed prebuilt objects keep alive, null too.
///
/// # Safety
/// The caller's roots are saved.
pub(super) unsafe fn each_root(mut f: impl FnMut(Obj)) {
    // SAFETY: the caller is the mutator and has saved its roots; suspended threads and stacklets
    // have left theirs on their shadow stacks.
    unsafe {
        for slot in gc().root_stack_slots() {
            f(*slot);
        }
        stacklet::visit_all(|slot| f(*slot));
        threads::visit_all(|slot| f(*slot));
        f((*state()).exc_value as usize);
        for i in 0..gc().static_roots.len() {
            f(gc().static_roots.as_slice()[i]);
        }
    }
}

/// The same for what an object refers to.
///
/// # Safety
/// As for [`rpy_gc_roots`]; `obj` is a live object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_gc_referents(obj: Obj, array: Obj) -> i64 {
    // SAFETY: the program passes two live objects, the second an array of GC pointers. Nothing here
    // allocates objects, so they do not move.
    unsafe {
        let mut out = Output::new(array);
        TypeInfo::of(obj).for_each_pointer(obj, |slot| out.add(*slot));
        out.found as i64
    }
}

/// Bytes that an object takes.
///
/// # Safety
/// `obj` is a live object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_gc_size(obj: Obj) -> i64 {
    // SAFETY: the program passes a live object, which has a header.
    unsafe { TypeInfo::of(obj).size_of(obj) as i64 }
}

/// The number of an object's type, from 1, in the order in which they were asked for.
///
/// # Safety
/// `obj` is a live object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_gc_type_number(obj: Obj) -> i64 {
    // SAFETY: the program passes a live object, whose type information is static. The reference to
    // `NOTES` ends with this function.
    unsafe {
        let info = TypeInfo::of(obj);
        let at = &raw const *info as usize;
        let notes = notes();
        if let Some(number) = notes.types.get(at) {
            return number as i64;
        }
        notes.numbered.push(info);
        notes.types.insert(at, notes.numbered.len());
        notes.numbered.len() as i64
    }
}

/// How many types have numbers. Those of all objects that can be reached get one before.
///
/// # Safety
/// The caller's roots are saved.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_gc_count_types() -> i64 {
    // SAFETY: the program has saved its roots. No reference to `NOTES` is held while
    // `rpy_gc_type_number` uses another one.
    unsafe {
        if gc().root_stack != 0 {
            each_object(|obj| _ = rpy_gc_type_number(obj));
        }
        notes().numbered.len() as i64
    }
}

/// A character of the text of the type with that number; -1 at its end.
///
/// # Safety
/// Always safe to call from the mutator thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_gc_type_text(number: i64, index: i64) -> i64 {
    // SAFETY: the caller is the mutator.
    let types = unsafe { notes() }.numbered.as_slice();
    let text = match types.get((number - 1) as usize) {
        Some(info) => info.text(),
        None => &[],
    };
    text.get(index as usize).map_or(-1, |c| i64::from(*c))
}

/// Whether an object is an instance of an RPython class.
///
/// # Safety
/// `obj` is a live object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_gc_is_instance(obj: Obj) -> i32 {
    // SAFETY: the program passes a live object, which has a header.
    unsafe { i32::from(TypeInfo::of(obj).kind == INSTANCE) }
}

/// The flag that programs have for each object, unset at first.
///
/// # Safety
/// `obj` is a live object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_gc_flag(obj: Obj) -> i32 {
    // SAFETY: the program passes a live object. `rpy_gc_id` does not use `NOTES`.
    unsafe {
        let notes = notes();
        if notes.flags.len() == 0 {
            return 0;
        }
        let place = notes.places.get(rpy_gc_id(obj) as usize);
        i32::from(place.is_some_and(|p| notes.flags.as_slice()[p].1))
    }
}

/// Turns the flag of an object.
///
/// # Safety
/// `obj` is a live object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_gc_toggle_flag(obj: Obj) {
    // SAFETY: the program passes a live object. The reference to `NOTES` ends with this function.
    unsafe {
        let id = rpy_gc_id(obj) as usize;
        let notes = notes();
        match notes.places.get(id) {
            Some(p) => {
                let flag = &mut notes.flags.as_mut_slice()[p].1;
                *flag = !*flag;
            }
            None => {
                notes.places.insert(id, notes.flags.len());
                notes.flags.push((id, true));
            }
        }
    }
}

/// Forgets the flags of dead objects, whose addresses others may get.
///
/// # Safety
/// The caller is a major collection that has marked everything and freed nothing.
pub(super) unsafe fn forget_dead() {
    // SAFETY: `finish_marking` calls this before anything is freed. Identities are addresses of
    // cells or of large objects, so each has a mark.
    unsafe {
        let notes = notes();
        if notes.flags.len() == 0 {
            return;
        }
        (notes.flags).retain_map(|(id, flag)| (flag && is_marked(id)).then_some((id, flag)));
        notes.places.clear();
        for (place, (id, _)) in notes.flags.as_slice().iter().enumerate() {
            notes.places.insert(*id, place);
        }
    }
}

/// Forgets the flag of an object that dies.
///
/// # Safety
/// The caller is the mutator.
pub(super) unsafe fn forget(id: usize) {
    // SAFETY: the caller is the mutator, and the reference to `NOTES` ends with this function.
    unsafe {
        let notes = notes();
        if notes.flags.len() != 0
            && let Some(place) = notes.places.get(id)
        {
            notes.flags.as_mut_slice()[place].1 = false;
        }
    }
}

/// Forgets everything.
///
/// # Safety
/// Nothing uses objects any more.
pub(super) unsafe fn teardown() {
    // SAFETY: the program has returned, so no code uses `NOTES` any more.
    unsafe {
        let notes = notes();
        notes.places.release();
        notes.flags.release();
        notes.types.release();
        notes.numbered.release();
    }
}

/// Names and addresses of the functions here, for a linker in the same process.
pub(crate) fn symbols(out: &mut dyn FnMut(&'static str, *const u8)) {
    out("rpy_gc_roots", rpy_gc_roots as *const u8);
    out("rpy_gc_referents", rpy_gc_referents as *const u8);
    out("rpy_gc_size", rpy_gc_size as *const u8);
    out("rpy_gc_type_number", rpy_gc_type_number as *const u8);
    out("rpy_gc_count_types", rpy_gc_count_types as *const u8);
    out("rpy_gc_type_text", rpy_gc_type_text as *const u8);
    out("rpy_gc_is_instance", rpy_gc_is_instance as *const u8);
    out("rpy_gc_flag", rpy_gc_flag as *const u8);
    out("rpy_gc_toggle_flag", rpy_gc_toggle_flag as *const u8);
}
