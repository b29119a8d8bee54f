//! Writing the whole heap to a file, for programs that look at it later: `rgc.dump_rpy_heap()`.
//!
//! The file consists of words. An object is its address, the number of its type, its size, what it
//! refers to, and -1. Roots come first, then `0 0 0 -1`, then the rest (RPython:
//! `memory/gc/inspector.py`).

use core::ffi::c_int;

use super::header::TypeInfo;
use super::inspect::{each_root, rpy_gc_type_number};
use super::shadow::ShadowTable;
use super::{Obj, gc};
use crate::memory::Stack;
use crate::os;

/// So many words are written at once.
const WORDS: usize = 8192;
const END: u64 = u64::MAX;

/// The way through all objects.
struct Walk {
    /// The objects that were met.
    seen: ShadowTable,
    pending: Stack<Obj>,
}

impl Walk {
    fn new() -> Walk {
        Walk {
            seen: ShadowTable::new(),
            pending: Stack::new(),
        }
    }

    fn meet(&mut self, obj: Obj) {
        if obj != 0 && self.seen.get(obj).is_none() {
            self.seen.insert(obj, obj);
            self.pending.push(obj);
        }
    }

    fn release(&mut self) {
        self.pending.release();
        self.seen.release();
    }
}

/// Calls `f` with every object that can be reached.
///
/// # Safety
/// The caller is the mutator, whose roots are saved.
pub(super) unsafe fn each_object(mut f: impl FnMut(Obj)) {
    let mut walk = Walk::new();
    // SAFETY: the caller is the mutator and has saved its roots, so objects that are reached from
    // them are live and have a header.
    unsafe {
        each_root(|obj| walk.meet(obj));
        while let Some(obj) = walk.pending.pop() {
            f(obj);
            TypeInfo::of(obj).for_each_pointer(obj, |slot| walk.meet(*slot));
        }
    }
    walk.release();
}

struct Dump {
    fd: c_int,
    words: Stack<u64>,
    walk: Walk,
    /// Everything could be written so far.
    good: bool,
}

impl Dump {
    fn word(&mut self, word: u64) {
        self.words.push(word);
        if self.words.len() == WORDS {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let words = self.words.as_slice();
        // SAFETY: words are bytes.
        let bytes = unsafe { core::slice::from_raw_parts(words.as_ptr().cast(), words.len() * 8) };
        self.good = self.good && os::write_all(self.fd, bytes) >= 0;
        self.words.clear();
    }

    unsafe fn object(&mut self, obj: Obj) {
        // SAFETY: the object was found from a root.
        unsafe {
            let info = TypeInfo::of(obj);
            self.word(obj as u64);
            self.word(rpy_gc_type_number(obj) as u64);
            self.word(info.size_of(obj) as u64);
            info.for_each_pointer(obj, |slot| {
                if *slot != 0 {
                    self.word(*slot as u64);
                    self.walk.meet(*slot);
                }
            });
            self.word(END);
        }
    }
}

/// Writes all objects that can be reached to a file. Whether all went well; not so if there is no
/// heap, which is so for interpreted programs.
pub(crate) fn dump(fd: i64) -> bool {
    // SAFETY: the caller is the mutator, whose roots are saved.
    unsafe {
        if gc().root_stack == 0 {
            return false;
        }
        let mut dump = Dump {
            fd: fd as c_int,
            words: Stack::new(),
            walk: Walk::new(),
            good: true,
        };
        each_root(|obj| dump.walk.meet(obj));
        let mut roots = core::mem::replace(&mut dump.walk.pending, Stack::new());
        while let Some(obj) = roots.pop() {
            dump.object(obj);
        }
        [0, 0, 0, END].into_iter().for_each(|word| dump.word(word));
        while let Some(obj) = dump.walk.pending.pop() {
            dump.object(obj);
        }
        dump.flush();
        roots.release();
        dump.walk.release();
        dump.words.release();
        dump.good
    }
}

#[cfg(test)]
#[allow(
    clippy::undocumented_unsafe_blocks,
    reason = "each test is one heap that nothing else uses"
)]
#[allow(clippy::disallowed_methods, reason = "the file is the test's own")]
mod tests {
    use std::os::fd::AsRawFd;

    use super::super::api::*;
    use super::super::tests::{Heap, NODE, get, node, push, root};
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "Miri keeps programs from files")]
    fn objects_come_with_what_they_refer_to() {
        let _heap = Heap::new(128 << 10, false);
        let leaf = node(1, 0, 0);
        let leaf = push(leaf);
        let middle = node(2, *root(leaf), 0);
        *root(leaf) = 0;
        let top = push(node(3, middle, middle));
        unsafe { rpy_gc_collect_minor() };
        let path = std::env::temp_dir().join(format!("heap-{}", std::process::id()));
        let file = std::fs::File::create(&path).unwrap();
        assert!(dump(i64::from(file.as_raw_fd())));
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let words = bytes.chunks_exact(8);
        let words: Vec<u64> = (words.map(|w| u64::from_ne_bytes(w.try_into().unwrap()))).collect();
        let (top, size) = (*root(top), u64::from(NODE.info().fixed_size));
        let middle = get(top, 2);
        let leaf = get(middle, 2);
        let ty = unsafe { rpy_gc_type_number(top) } as u64;
        let [top, middle, leaf] = [top, middle, leaf].map(|obj| obj as u64);
        assert_eq!(
            words,
            [
                &[top, ty, size, middle, middle, END][..],
                &[0, 0, 0, END],
                &[middle, ty, size, leaf, END],
                &[leaf, ty, size, END],
            ]
            .concat()
        );
        // Nothing can be written there.
        assert!(!dump(-1));
    }
}
