//! Which collector a program was compiled for, and how each allocates.

use super::api::Failure;
use super::header::TypeInfo;
use super::{Obj, api, boehm, gc};

/// A garbage collector; the numbers are those of program tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Collector {
    /// The moving one of this module.
    Generational = 0,
    /// Reference counting: [`super::refcount`].
    Ref = 1,
    /// libgc: [`super::boehm`].
    Boehm = 2,
    /// None: [`super::bump`].
    None = 3,
}

impl Collector {
    /// The collector of that number.
    pub fn numbered(number: u32) -> Collector {
        match number {
            1 => Collector::Ref,
            2 => Collector::Boehm,
            3 => Collector::None,
            _ => Collector::Generational,
        }
    }
}

/// Memory for an object where emitted code did not find any: its words are undefined, unless
/// the collector is one that does without roots. Dead objects with finalizers may be dealt
/// with before. Null if there is no memory and that can be told.
///
/// # Safety
/// The caller's roots are saved. It fills the object before it allocates again.
pub(super) unsafe fn allocate_slowly(size: usize, has_pointers: bool, failure: Failure) -> Obj {
    // SAFETY: the caller is the mutator and has saved its roots. The reference to `GC` is not used
    // across calls that may run finalizers.
    unsafe {
        match gc().collector {
            Collector::Generational => api::allocate_in_nursery(size, failure),
            Collector::Ref => super::refcount::allocate(size, failure),
            Collector::Boehm => boehm::allocate(size, has_pointers, failure),
            Collector::None => {
                let gc = gc();
                let most = gc.most_bytes(failure);
                let obj = gc.bump.allocate(size, gc.stress, most);
                if failure == Failure::Fatal && gc.most_heap.is_some() {
                    // Others must not take what is above the limit.
                    gc.bump.stop_allocation();
                }
                obj.unwrap_or_else(|| failure.no_memory())
            }
        }
    }
}

/// An object of any size for a collector other than the generational one. The first `clear`
/// bytes of it are zero but for the header.
///
/// # Safety
/// As for [`allocate_slowly`].
pub(super) unsafe fn allocate_elsewhere(
    info: &'static TypeInfo,
    size: usize,
    clear: usize,
    failure: Failure,
) -> Obj {
    // SAFETY: the caller has saved its roots. `obj` is new and has `size` bytes, which are no fewer
    // than `clear` and a header.
    unsafe {
        let obj = allocate_slowly(size, info.has_pointers(), failure);
        if obj == 0 {
            return 0;
        }
        core::ptr::write_bytes(obj as *mut u8, 0, clear);
        *(obj as *mut usize) = &raw const *info as usize;
        obj
    }
}
