//! Object headers and type information.

use core::mem::size_of;

use crate::memory::prefetch;
use crate::os;

/// Flag: an old object that is not in the remembered set (incminimark:
/// `GCFLAG_TRACK_YOUNG_PTRS`). The write barrier acts on it.
pub const TRACK: usize = 1;
/// Flag of an object in the nursery: it moved, the rest of the word is where to. Of a
/// static one: always set, since static objects are never collected.
pub const MARKED: usize = 2;
/// Flag: large or static, so no block has a bit for it.
pub const OUTSIDE: usize = 4;
/// Flag of a static object: never written to (incminimark: `GCFLAG_NO_HEAP_PTRS`). Of
/// an object in the nursery: its future place is reserved (`GCFLAG_HAS_SHADOW`). Of a
/// large one: it has cards (`GCFLAG_HAS_CARDS`).
pub const PRISTINE: usize = 8;
/// All flags.
pub const FLAGS: usize = 15;
/// Flags of static objects in the program's image.
pub const STATIC_FLAGS: usize = TRACK | MARKED | OUTSIDE | PRISTINE;

/// Kind of [`TypeInfo`]: an ordinary object.
pub const PLAIN: u32 = 0;
/// Kind of [`TypeInfo`]: a weak reference; its one pointer does not keep alive.
pub const WEAKREF: u32 = 1;
/// Kind of [`TypeInfo`]: an instance of a class of the program.
pub const INSTANCE: u32 = 2;

/// The size of a pointer in an object.
const POINTER: usize = 8;
/// What the pointers in an array lead to is fetched so many items before it is looked at.
const AHEAD: usize = 8;

/// Bytes of a line of the cache.
const LINE: usize = 64;

/// Bytes that are fetched at once: 128 pointers.
const FETCHED: usize = 1024;

/// Larger objects do not fit the address space.
const MOST: usize = if usize::BITS < 64 { 1 << 31 } else { 1 << 47 };

/// What the collector knows of a type: static data at a multiple of 16. The offsets of
/// GC pointers in the fixed part and then of those in an item follow it, as `u32`s; then what the type is
/// called.
#[repr(C, align(16))]
pub struct TypeInfo {
    /// Size of an object without items: a multiple of 8 if the type has none. Room behind the last item
    /// (`extra_item_after_alloc`) is part of it.
    pub fixed_size: u32,
    /// Distance between items; 0 if there are none.
    pub item_size: u32,
    /// Offset of the length word.
    pub length_offset: u32,
    /// Offset of the first item.
    pub items_offset: u32,
    /// Number of GC pointers in the fixed part.
    pub pointers: u32,
    /// Number of GC pointers in an item.
    pub item_pointers: u32,
    /// [`PLAIN`], [`WEAKREF`] or [`INSTANCE`].
    pub kind: u32,
    /// Not 0 if the finalizer may do anything: then the object is kept alive once more
    /// and the finalizer called after the collection. A light one allocates nothing,
    /// touches no other object of the heap and keeps the object nowhere.
    pub heavy_finalizer: u32,
    /// Called with the address of a dead object (`__del__`), before its memory is
    /// used again.
    pub finalizer: Option<unsafe extern "C" fn(usize)>,
    /// How far from the start of the record its text is, which ends in a zero byte; 0 if it has none.
    pub text: u64,
}

impl TypeInfo {
    /// The type information of an object whose header is in place.
    ///
    /// # Safety
    /// `obj` is an object that has not moved away.
    #[inline]
    pub(crate) unsafe fn of<'a>(obj: usize) -> &'a TypeInfo {
        // SAFETY: the header of an object that has not moved is the address of static type
        // information, with flags in the low bits.
        unsafe { &*((*(obj as *const usize) & !FLAGS) as *const TypeInfo) }
    }

    /// Size of an object of this type with that many items; `None` if it is too large
    /// for the address space.
    #[inline]
    pub(crate) fn size_with(&self, length: usize) -> Option<usize> {
        if self.item_size == 0 {
            return Some(self.fixed_size as usize);
        }
        let items = length.checked_mul(self.item_size as usize)?;
        let size = items.checked_add(self.fixed_size as usize + 7)? & !7;
        (size < MOST).then_some(size)
    }

    /// Size of that object of this type.
    ///
    /// # Safety
    /// `obj` is one.
    #[inline]
    pub(crate) unsafe fn size_of(&self, obj: usize) -> usize {
        // SAFETY: `obj` is an object of this type, so it has a length where the type says.
        unsafe { self.size_with(self.length(obj)).unwrap_or(0) }
    }

    /// Number of items of that object of this type.
    ///
    /// # Safety
    /// `obj` is one.
    #[inline]
    pub(crate) unsafe fn length(&self, obj: usize) -> usize {
        if self.item_size == 0 {
            return 0;
        }
        // SAFETY: `obj` is an object of this type, which has items: their number is the word at
        // `length_offset`.
        unsafe { *((obj + self.length_offset as usize) as *const usize) }
    }

    #[inline]
    pub(crate) fn has_pointers(&self) -> bool {
        self.pointers | self.item_pointers != 0
    }

    /// What the type is called; empty if nobody has said that.
    pub(crate) fn text(&self) -> &[u8] {
        match self.text as usize {
            0 => &[],
            offset => {
                let at = (&raw const *self).expose_provenance() + offset;
                // SAFETY: `text` is the distance to a text behind the static record, which ends in
                // a zero byte (`type_info_object` of codegen).
                unsafe { os::c_bytes(core::ptr::with_exposed_provenance(at)) }
            }
        }
    }

    /// Calls `f` with the address of every GC pointer in `obj`.
    ///
    /// # Safety
    /// `obj` is of this type, and all its pointers are valid or null.
    #[inline]
    pub(crate) unsafe fn for_each_pointer(&self, obj: usize, mut f: impl FnMut(*mut usize)) {
        // SAFETY: `obj` is of this type, so it has all items up to its length.
        unsafe {
            self.for_each_pointer_in_fixed_part(obj, &mut f);
            if self.item_pointers != 0 {
                self.for_each_pointer_in_items(obj, 0, self.length(obj), f);
            }
        }
    }

    /// The same for what comes before the items.
    ///
    /// # Safety
    /// As for [`TypeInfo::for_each_pointer`].
    #[inline]
    pub(crate) unsafe fn for_each_pointer_in_fixed_part(
        &self,
        obj: usize,
        mut f: impl FnMut(*mut usize),
    ) {
        // SAFETY: `pointers` offsets follow the static record (`type_info_object` of codegen), each
        // that of a word in the fixed part of `obj`.
        unsafe {
            let offsets = self.offsets();
            for i in 0..self.pointers as usize {
                f((obj + *offsets.add(i) as usize) as *mut usize);
            }
        }
    }

    /// The same for the items from number `from` to before number `to`.
    ///
    /// # Safety
    /// As for [`TypeInfo::for_each_pointer`]; there are so many items.
    #[inline]
    pub(crate) unsafe fn for_each_pointer_in_items(
        &self,
        obj: usize,
        from: usize,
        to: usize,
        mut f: impl FnMut(*mut usize),
    ) {
        // SAFETY: `obj` has the items before `to`. The offsets in an item follow those in the fixed
        // part (`type_info_object` of codegen). Prefetching reads a word of an item before `to`.
        unsafe {
            let offsets = self.offsets().add(self.pointers as usize);
            let mut item = obj + self.items_offset as usize + from * self.item_size as usize;
            if self.item_size as usize == POINTER {
                for left in (0..to.saturating_sub(from)).rev() {
                    if left >= AHEAD {
                        prefetch(*((item + AHEAD * POINTER) as *const usize));
                    }
                    f(item as *mut usize);
                    item += POINTER;
                }
                return;
            }
            for _ in from..to {
                for i in 0..self.item_pointers as usize {
                    f((item + *offsets.add(i) as usize) as *mut usize);
                }
                item += self.item_size as usize;
            }
        }
    }

    /// The items from number `from` to before number `to`, if each is one pointer and takes no more memory than addresses
    /// of the machine do.
    ///
    /// # Safety
    /// As for [`TypeInfo::for_each_pointer_in_items`]; they are not written to while the result is used.
    #[inline]
    pub(crate) unsafe fn items_as_pointers<'a>(
        &self,
        obj: usize,
        from: usize,
        to: usize,
    ) -> Option<&'a [usize]> {
        let is_pointer = self.item_size as usize == size_of::<usize>() && self.item_pointers == 1;
        let start = obj + self.items_offset as usize + from * POINTER;
        let count = to.saturating_sub(from);
        // SAFETY: `obj` has the items before `to`, each one aligned pointer, and nothing writes to
        // them while the slice is in use.
        is_pointer.then(|| unsafe {
            core::slice::from_raw_parts(core::ptr::with_exposed_provenance(start), count)
        })
    }

    /// Fetches the items from number `from` to before number `to`, as far as they are small.
    #[inline]
    pub(crate) fn fetch_items(&self, obj: usize, from: usize, to: usize) {
        let item_size = self.item_size as usize;
        let start = obj + self.items_offset as usize + from * item_size;
        let bytes = (to.saturating_sub(from) * item_size).min(FETCHED);
        (start..start + bytes).step_by(LINE).for_each(prefetch);
    }

    /// The offsets behind the record: beyond what `self` may be used for, so by their address.
    #[inline]
    fn offsets(&self) -> *const u32 {
        let at = (&raw const *self).expose_provenance() + size_of::<TypeInfo>();
        core::ptr::with_exposed_provenance(at)
    }
}
