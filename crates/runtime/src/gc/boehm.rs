//! The conservative collector of the library libgc, for programs compiled with `--gc boehm`.
//!
//! The library is loaded when such a program starts. It finds out about the program's static
//! data by itself in executables, and is told of them otherwise ([`add_static_data`]). Machine
//! stacks are shown to it here, in [`push_roots`]: that of the thread that runs, and those of
//! threads and stacklets that wait. The library knows of the thread that made the heap alone, for
//! its sake of quick allocation; it never looks for roots on stacks by itself.
//!
//! Finalizers are ordered: an object's is called before those of what the object refers to,
//! and circles of objects with finalizers wait forever, as with the generational collector.

use core::ffi::{c_char, c_int, c_void};
use core::ops::Range;
use core::ptr;

use super::api::Failure;
use super::header::OUTSIDE;
use super::{Obj, finalize, gc};
use crate::memory::Stack;
use crate::state::state;
use crate::{exc, pthread, stacklet, sys, threads};

/// The functions of the library.
macro_rules! library {
    ($($field:ident = $name:literal: $ty:ty;)*) => {
        #[derive(Clone, Copy)]
        struct Library { $($field: $ty,)* }

        /// Loads the library; the name of what is missing if that fails.
        unsafe fn load() -> Result<Library, &'static [u8]> {
            // SAFETY: the names end in a zero byte, and the types are those of the
            // library's header.
            unsafe {
                let library = sys::dlopen(c"libgc.so.1".as_ptr(), sys::RTLD_NOW);
                if library.is_null() {
                    return Err(b"libgc.so.1");
                }
                Ok(Library {
                    $($field: {
                        const NAME: &[u8] = concat!($name, "\0").as_bytes();
                        let f = sys::dlsym(library, NAME.as_ptr().cast::<c_char>());
                        if f.is_null() {
                            return Err($name.as_bytes());
                        }
                        core::mem::transmute::<*mut c_void, $ty>(f)
                    },)*
                })
            }
        }
    };
}

type Finalizer = unsafe extern "C" fn(*mut c_void, *mut c_void);

library! {
    init = "GC_init": unsafe extern "C" fn();
    malloc = "GC_malloc": unsafe extern "C" fn(usize) -> *mut c_void;
    malloc_atomic = "GC_malloc_atomic": unsafe extern "C" fn(usize) -> *mut c_void;
    collect = "GC_gcollect": unsafe extern "C" fn();
    add_roots = "GC_add_roots": unsafe extern "C" fn(*mut c_void, *mut c_void);
    remove_roots = "GC_remove_roots": unsafe extern "C" fn(*mut c_void, *mut c_void);
    set_push_other_roots = "GC_set_push_other_roots":
        unsafe extern "C" fn(unsafe extern "C" fn());
    push_all_eager = "GC_push_all_eager": unsafe extern "C" fn(*mut c_void, *mut c_void);
    register_finalizer = "GC_register_finalizer": unsafe extern "C" fn(
        *mut c_void, Option<Finalizer>, *mut c_void, *mut Option<Finalizer>, *mut *mut c_void);
    set_finalize_on_demand = "GC_set_finalize_on_demand": unsafe extern "C" fn(c_int);
    should_invoke_finalizers = "GC_should_invoke_finalizers": unsafe extern "C" fn() -> c_int;
    invoke_finalizers = "GC_invoke_finalizers": unsafe extern "C" fn() -> c_int;
    register_link = "GC_general_register_disappearing_link":
        unsafe extern "C" fn(*mut *mut c_void, *const c_void) -> c_int;
    set_interior_pointers = "GC_set_all_interior_pointers": unsafe extern "C" fn(c_int);
    set_max_heap_size = "GC_set_max_heap_size": unsafe extern "C" fn(usize);
    set_markers = "GC_set_markers_count": unsafe extern "C" fn(u32);
    set_warn = "GC_set_warn_proc": unsafe extern "C" fn(*mut c_void);
    ignore_warn = "GC_ignore_warn_proc": unsafe extern "C" fn(*mut c_char, usize);
    allow_threads = "GC_allow_register_threads": unsafe extern "C" fn();
    register_thread = "GC_register_my_thread": unsafe extern "C" fn(*const *mut c_void) -> c_int;
    unregister_thread = "GC_unregister_my_thread": unsafe extern "C" fn() -> c_int;
}

/// In stress mode there is a collection after so many allocations at first. In a long run they
/// become rarer, or it would never end.
const STRESS_EVERY: usize = 7;
/// By one more in so many.
const STRESS_SLOWER: usize = 200;

/// What this module keeps beside the library's own.
pub(super) struct Boehm {
    library: Option<Library>,
    /// There is a heap that uses it.
    active: bool,
    /// The ranges of memory that it was told of.
    data: Stack<(usize, usize)>,
    allocations: usize,
    /// The allocation before which there is the next collection in stress mode.
    next_stress: usize,
}

impl Boehm {
    pub(super) const fn new() -> Boehm {
        Boehm {
            library: None,
            active: false,
            data: Stack::new(),
            allocations: 0,
            next_stress: STRESS_EVERY,
        }
    }
}

fn library() -> Library {
    // SAFETY: the caller is the mutator, and the reference to `GC` ends here.
    match unsafe { gc().boehm.library } {
        Some(library) => library,
        None => exc::fatal(b"libgc was not loaded"),
    }
}

/// Loads the library if this is the first heap that uses it.
///
/// # Safety
/// The caller becomes the only mutator thread.
pub(super) unsafe fn setup() {
    // SAFETY: the library is set up by one thread, and forgets it: see the module.
    unsafe {
        if gc().boehm.library.is_none() {
            gc().boehm.library = match load() {
                Ok(library) => Some(library),
                Err(what) => exc::fatal_missing(what, WHY),
            };
            // The thread that does this can never be forgotten entirely, so it is one of its own.
            if pthread::start(initialise, ptr::null_mut(), 0).is_none() {
                exc::fatal(b"a thread cannot be started");
            }
            READY.wait();
        }
        let end = threads::stack_end() as *mut c_void;
        (library().register_thread)(&raw const end);
        gc().boehm.active = true;
    }
}

/// The library is ready.
static READY: pthread::Once = pthread::Once::new();

const WHY: &[u8] = b": programs compiled with --gc boehm need libgc (Debian: libgc1)";

/// What of the library is not there.
pub(super) fn missing() -> Option<&'static str> {
    // SAFETY: loads a library of the system whose initialisation has no effect here.
    let what = unsafe { load() }.err()?;
    core::str::from_utf8(what).ok()
}

/// Initialises the library.
unsafe extern "C" fn initialise(_: *mut c_void) -> *mut c_void {
    // SAFETY: whoever started this waits for it.
    unsafe {
        let library = library();
        (library.set_interior_pointers)(0);
        (library.set_markers)(1);
        (library.set_warn)(library.ignore_warn as *mut c_void);
        (library.init)();
        (library.set_finalize_on_demand)(1);
        (library.set_push_other_roots)(push_roots);
        (library.allow_threads)();
        (library.unregister_thread)();
        READY.done();
    }
    ptr::null_mut()
}

/// Tells the library where static objects are that it does not see by itself.
///
/// # Safety
/// The memory stays mapped as long as the heap.
pub(super) unsafe fn add_static_data(data: Range<usize>) {
    if data.is_empty() {
        return;
    }
    // SAFETY: the library is set up, and the caller keeps `data` mapped until `teardown` removes
    // the range.
    unsafe {
        (library().add_roots)(data.start as *mut c_void, data.end as *mut c_void);
        gc().boehm.data.push((data.start, data.end));
    }
}

/// Forgets the heap: what is in it is garbage from now on.
///
/// # Safety
/// Nothing uses objects any more.
pub(super) unsafe fn teardown() {
    // SAFETY: the program has returned. The thread that `setup` registered calls this, and the
    // ranges are those that `add_static_data` added.
    unsafe {
        if !core::mem::take(&mut gc().boehm.active) {
            return;
        }
        while let Some((start, end)) = gc().boehm.data.pop() {
            (library().remove_roots)(start as *mut c_void, end as *mut c_void);
        }
        gc().boehm.data.release();
        (library().unregister_thread)();
    }
}

/// Sets how large the library's heap may become, if there is a limit.
pub(super) fn set_most_heap(most: Option<usize>) {
    // SAFETY: `setup` has loaded and initialised the library.
    unsafe { (library().set_max_heap_size)(most.unwrap_or(0)) };
}

/// Memory for an object, zeroed if it may have pointers. The library collects before it has none.
///
/// # Safety
/// The caller is the mutator, and expects that the program is called back.
pub(super) unsafe fn allocate(size: usize, has_pointers: bool, failure: Failure) -> Obj {
    // SAFETY: the caller is the mutator, whose roots the library finds on its stack. No reference
    // to `GC` is held while finalizers run.
    unsafe {
        let library = library();
        call_back(&library);
        if gc().stress {
            let boehm = &mut gc().boehm;
            boehm.allocations += 1;
            if boehm.allocations >= boehm.next_stress {
                boehm.next_stress += STRESS_EVERY + boehm.allocations / STRESS_SLOWER;
                (library.collect)();
            }
        }
        let take = || match has_pointers {
            true => (library.malloc)(size),
            false => (library.malloc_atomic)(size),
        };
        let mut obj = take();
        if obj.is_null() && failure == Failure::Fatal {
            (library.set_max_heap_size)(0);
            obj = take();
            set_most_heap(gc().most_heap);
        }
        match obj.is_null() {
            true => failure.no_memory(),
            false => obj as Obj,
        }
    }
}

/// Calls finalizers of dead objects, if there are some.
unsafe fn call_back(library: &Library) {
    // SAFETY: the caller expects that the program runs.
    unsafe {
        if (library.should_invoke_finalizers)() != 0 && !gc().finalizers.is_busy() {
            (library.invoke_finalizers)();
            if gc().finalizers.pending() {
                finalize::call_back();
            }
        }
    }
}

/// A full collection.
///
/// # Safety
/// As for [`allocate`].
pub(super) unsafe fn collect() {
    // SAFETY: the caller is the mutator, whose roots the library finds on its stack, and expects
    // that finalizers run.
    unsafe {
        let library = library();
        (library.collect)();
        call_back(&library);
    }
}

/// A note that an object is to be given to the program when it dies.
struct Note {
    trigger: usize,
    next: *mut Note,
}

/// Has the program told when an object dies: by its finalizer if `trigger` is 0, else by a
/// queue.
///
/// # Safety
/// `obj` is a live object.
pub(super) unsafe fn register(trigger: usize, obj: Obj) {
    // SAFETY: `obj` is live. The note has room for a `Note`, and `note_dead` frees it.
    unsafe {
        if !is_managed(obj) {
            return;
        }
        let library = library();
        let note: *mut Note = sys::malloc(size_of::<Note>()).cast();
        if note.is_null() {
            exc::out_of_memory();
        }
        let (mut before, mut others) = (None, ptr::null_mut());
        (library.register_finalizer)(
            obj as *mut c_void,
            Some(note_dead),
            note.cast(),
            &raw mut before,
            &raw mut others,
        );
        note.write(Note {
            trigger,
            next: others.cast(),
        });
    }
}

/// Called by the library, outside of its collections.
unsafe extern "C" fn note_dead(obj: *mut c_void, notes: *mut c_void) {
    let mut note: *mut Note = notes.cast();
    // SAFETY: the notes are those of `register`.
    unsafe {
        while !note.is_null() {
            gc().died(obj as Obj, (*note).trigger);
            let next = (*note).next;
            sys::free(note.cast());
            note = next;
        }
    }
}

/// Whether the library manages an object: it is neither null nor static.
///
/// # Safety
/// `obj` is null or an object.
unsafe fn is_managed(obj: Obj) -> bool {
    // SAFETY: an object has a header.
    obj != 0 && unsafe { *(obj as *const usize) & OUTSIDE } == 0
}

/// Has a word of an object that is not searched for pointers cleared when `target` dies. The library would read the
/// mark of a target that it does not manage.
///
/// # Safety
/// The word is in a live object, and holds the address of the target, which is null or an object.
pub(super) unsafe fn register_link(link: *mut usize, target: Obj) {
    // SAFETY: `link` is a word of a live object that the library does not search for pointers, and it gets no target but
    // its own objects.
    unsafe {
        if is_managed(target) {
            (library().register_link)(link.cast(), target as *const c_void);
        }
    }
}

/// Called by the library in a collection: shows it what it does not see by itself. Registers
/// are on the stack by then.
unsafe extern "C" fn push_roots() {
    let here = 0usize;
    // SAFETY: the program's thread collects, so nothing changes meanwhile. All ranges are
    // mapped.
    unsafe {
        if !gc().boehm.active {
            return;
        }
        let library = library();
        let push = |from: usize, to: usize| {
            (library.push_all_eager)((from & !7) as *mut c_void, to as *mut c_void);
        };
        let word = |word: *const usize| push(word as usize, word as usize + 8);
        let end = stacklet::running_stack_end();
        let end = end.unwrap_or_else(|| threads::stack_end());
        push(&raw const here as usize, end);
        push(gc().root_stack, (*state()).root_stack_top as usize);
        stacklet::each_waiting_stack(push, word);
        threads::each_waiting_stack(push, word);
        word((&raw const (*state()).exc_value).cast());
        gc().finalizers.each_waiting(word);
        for kept in gc().kept.as_slice() {
            word(kept);
        }
    }
}
