//! Byte strings of the program (`STR`), as they lie in memory.

/// A word of memory, which takes 64 bits on every machine.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug)]
pub struct Word<T>(pub T);

/// The start of a `STR`; its bytes follow.
#[repr(C)]
pub struct RpyString {
    /// GC header.
    pub header: Word<usize>,
    /// Cached hash, 0 if not yet computed.
    pub hash: i64,
    /// Number of bytes.
    pub length: usize,
}

impl RpyString {
    /// Its bytes, to be read.
    ///
    /// # Safety
    /// `s` points to a live string that nothing changes or moves meanwhile.
    pub unsafe fn text<'a>(s: *const RpyString) -> &'a [u8] {
        // SAFETY: `s` is a live string, so `length` bytes follow its fixed part.
        unsafe { core::slice::from_raw_parts(s.add(1).cast(), (*s).length) }
    }

    /// Its bytes.
    ///
    /// # Safety
    /// `s` points to a live string that nothing else reads or moves meanwhile.
    pub unsafe fn bytes<'a>(s: *mut RpyString) -> &'a mut [u8] {
        // SAFETY: `s` is a live string, so `length` bytes follow its fixed part; the caller vouches
        // that nothing else uses them meanwhile.
        unsafe { core::slice::from_raw_parts_mut(s.add(1).cast(), (*s).length) }
    }
}
