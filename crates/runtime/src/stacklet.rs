//! Stacklets: pieces of a program that take turns, each on a machine stack of its own
//! (RPython: `rlib.rstacklet`).
//!
//! A [`Context`] is what a stacklet needs to run: machine stack, shadow stack, and the
//! words of [`crate::state::State`] that belong to them. One context runs; the others are
//! suspended, and a suspended one is known to the program by its *handle*, an object of
//! the heap that lives as long as the context and never moves. To switch to a context
//! uses its handle up: it is given out again when the context is suspended again.
//!
//! The shadow stack of a suspended context is a root of the collector as long as its
//! handle is alive; with the handle dies the context. What the program started on is
//! always kept.

use core::ptr;

use crate::gc::refcount::{rpy_gc_decref, rpy_gc_incref};
use crate::gc::{self, TypeInfo, api};
use crate::memory::Stack;
use crate::platform::{new_stack, switch_stacks};
use crate::stacks::{Extent, GUARD};
use crate::state::state;
use crate::string::Word;
use crate::{exc, pages, stacks, sys, threads};

/// Bytes of a machine stack.
const MACHINE_STACK: usize = 2 << 20;
/// Bytes of a shadow stack, which lies behind the machine stack and ends no sooner: see
/// [`crate::stacks`].
const SHADOW_STACK: usize = MACHINE_STACK;
/// Both ends of a mapping are guarded.
const MAPPING: usize = GUARD + MACHINE_STACK + SHADOW_STACK + GUARD;
/// So many mappings are kept for the next contexts.
const MOST_FREE: usize = 16;
/// So many contexts may be made before a collection looks for dead ones.
const FEW: usize = 500;

/// What a stacklet starts with: it gets the handle of who made it and an argument, and
/// returns the handle to go on with.
pub type Entry = unsafe extern "C" fn(usize, usize) -> usize;

/// A stacklet.
struct Context {
    /// Start of its mapping; 0 for what the program started on.
    memory: usize,
    handle: *mut Handle,
    suspended: bool,
    /// Suspended since the last minor collection: it may refer to young objects.
    fresh: bool,
    /// Its roots are marked in this major collection.
    visited: bool,
    /// The rest is of use while it is suspended: the machine's stack pointer,
    stack_pointer: usize,
    /// the shadow stack and its first free word,
    roots: usize,
    roots_top: *mut usize,
    /// how far its machine stack may be used,
    stack: Extent,
    /// and where its machine stack ends.
    stack_end: usize,
}

impl Context {
    /// The words of its shadow stack.
    ///
    /// # Safety
    /// It is suspended.
    unsafe fn slots(&self) -> impl Iterator<Item = *mut usize> + use<> {
        let base = self.roots as *mut usize;
        // SAFETY: a suspended context has the start and the top of its shadow stack, which is one
        // mapping.
        unsafe {
            let len = self.roots_top.offset_from(base) as usize;
            (0..len).map(move |i| base.add(i))
        }
    }
}

/// The object by which programs know a context.
#[repr(C)]
struct Handle {
    header: Word<usize>,
    /// Null once the context has finished.
    context: *mut Context,
}

static HANDLE_INFO: TypeInfo = TypeInfo {
    fixed_size: 16,
    item_size: 0,
    length_offset: 0,
    items_offset: 0,
    pointers: 0,
    item_pointers: 0,
    kind: gc::header::PLAIN,
    heavy_finalizer: 0,
    finalizer: Some(handle_died),
    text: 0,
};

/// What each thread has of its own: null before it makes its first stacklet.
#[derive(Clone, Copy)]
pub(crate) struct Own {
    /// What stands for the stack that the thread started on.
    first: *mut Context,
    running: *mut Context,
}

impl Own {
    /// Where the stack ends that runs, unless it is the thread's own.
    pub(crate) fn stack_end(&self) -> Option<usize> {
        if self.running == self.first {
            return None;
        }
        // SAFETY: contexts of threads are alive as long as these.
        Some(unsafe { (*self.running).stack_end })
    }

    /// Of a thread without stacklets.
    pub(crate) const NONE: Own = Own {
        first: ptr::null_mut(),
        running: ptr::null_mut(),
    };
}

/// All contexts; nothing before the first stacklet is made.
pub(crate) struct Contexts {
    all: Stack<*mut Context>,
    own: Own,
    /// The handle that stands for a stacklet that has finished.
    empty: *mut Handle,
    /// What the context that is switched to is given.
    answer: *mut Handle,
    /// What the context that is switched to starts with, if it is new.
    start: Option<(Entry, usize)>,
    /// Finished, but its stack was still in use when it said so.
    finished: *mut Context,
    free: Stack<usize>,
    /// How many there may be before the next collection.
    threshold: usize,
}

static mut CONTEXTS: Contexts = Contexts {
    all: Stack::new(),
    own: Own::NONE,
    empty: ptr::null_mut(),
    answer: ptr::null_mut(),
    start: None,
    finished: ptr::null_mut(),
    free: Stack::new(),
    threshold: FEW,
};

/// # Safety
/// The caller is the mutator and holds no other reference to them.
unsafe fn contexts<'a>() -> &'a mut Contexts {
    let contexts = &raw mut CONTEXTS;
    // SAFETY: the caller is the mutator, the only thread that uses `CONTEXTS`, and holds no other
    // reference to it.
    unsafe { &mut *contexts }
}

/// Runs `entry(handle, argument)` on a new stack, `handle` being that of the caller.
/// Answers when somebody switches back to the caller: the handle of who did, the empty
/// one if that has finished. Null if there is no memory for a stack.
///
/// # Safety
/// The caller's roots are saved. `entry` is a function of the program; no exception is
/// set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_stacklet_new(entry: Entry, argument: usize) -> usize {
    // SAFETY: the program has saved its roots and passes one of its functions. No reference to
    // `CONTEXTS` is held while a collection or another stacklet runs.
    unsafe {
        if contexts().own.running.is_null() {
            contexts().become_first();
        }
        if contexts().all.len() >= contexts().threshold {
            api::rpy_gc_collect();
            contexts().threshold = contexts().all.len() * 2 + FEW;
        }
        let mut new = contexts().make();
        if new.is_none() {
            api::rpy_gc_collect();
            new = contexts().make();
        }
        let Some(new) = new else {
            return 0;
        };
        let c = contexts();
        c.start = Some((entry, argument));
        c.suspend();
        resume(new) as usize
    }
}

/// Goes on with a suspended stacklet. Answers as [`rpy_stacklet_new`] does.
///
/// # Safety
/// As for that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_stacklet_switch(handle: usize) -> usize {
    // SAFETY: the program has saved its roots. `suspended` refuses handles of contexts that are not
    // suspended.
    unsafe {
        let to = suspended(handle);
        contexts().suspend();
        resume(to) as usize
    }
}

/// Whether a handle is that of stacklets that have finished.
///
/// # Safety
/// Always safe to call from the mutator thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_stacklet_is_empty(handle: usize) -> i32 {
    // SAFETY: the caller is the mutator, and the reference to `CONTEXTS` ends with this function.
    unsafe { i32::from(handle != 0 && handle == contexts().empty as usize) }
}

/// The context of a handle; a fatal error if that cannot be switched to.
unsafe fn suspended(handle: usize) -> *mut Context {
    let handle = handle as *mut Handle;
    // SAFETY: the program has handles from here only.
    unsafe {
        if handle.is_null() || (*handle).context.is_null() || !(*(*handle).context).suspended {
            exc::fatal(b"stacklet: switching to one that is not suspended");
        }
        (*handle).context
    }
}

impl Contexts {
    /// Makes the context of the stack that the program started on.
    unsafe fn become_first(&mut self) {
        // SAFETY: the heap is set up.
        unsafe {
            let first = self.register(0);
            (*first).stack_end = match gc::scans_stacks() {
                true => threads::stack_end(),
                false => 0,
            };
            self.own = Own {
                first,
                running: first,
            };
            if self.empty.is_null() {
                self.empty = new_handle(ptr::null_mut());
            }
        }
    }

    /// A new context, suspended in front of [`start_context`].
    unsafe fn make(&mut self) -> Option<*mut Context> {
        let memory = match self.free.pop() {
            Some(memory) => memory,
            None => map_stack()?,
        };
        // SAFETY: the mapping is fresh or no longer in use, and large enough.
        unsafe {
            let context = self.register(memory);
            let stack_end = memory + GUARD + MACHINE_STACK;
            let start = start_context as *const () as usize;
            (*context).stack_pointer = new_stack(stack_end, start);
            (*context).stack_end = stack_end;
            (*context).roots = stack_end;
            (*context).roots_top = stack_end as *mut usize;
            (*context).stack = Extent::new(stack_end, memory + GUARD);
            (*context).suspended = true;
            Some(context)
        }
    }

    unsafe fn register(&mut self, memory: usize) -> *mut Context {
        // SAFETY: calloc's memory is a context whose pointers are null.
        unsafe {
            let context: *mut Context = sys::calloc(1, size_of::<Context>()).cast();
            if context.is_null() {
                exc::out_of_memory();
            }
            (*context).memory = memory;
            // Where references are counted a handle is as old as a suspension.
            if !gc::counts_references() {
                (*context).handle = new_handle(context);
            }
            self.all.push(context);
            context
        }
    }

    /// The running context becomes one of the suspended.
    unsafe fn suspend(&mut self) {
        // SAFETY: `become_first` has made a context before, so one is running, and its words are
        // those of the state.
        unsafe {
            let running = self.own.running;
            (*running).roots = gc::root_stack();
            (*running).roots_top = (*state()).root_stack_top;
            (*running).stack = stacks::current();
            (*running).suspended = true;
            (*running).fresh = true;
            if gc::counts_references() {
                (*running).handle = new_handle(running);
            }
            self.answer = (*running).handle;
        }
    }

    /// Gives back what a context has. It is not the running one.
    unsafe fn destroy(&mut self, context: *mut Context) {
        // SAFETY: nobody switches to it any more.
        unsafe {
            if let Some(handle) = (*context).handle.as_mut() {
                handle.context = ptr::null_mut();
            }
            let memory = (*context).memory;
            if memory != 0 && self.free.len() < MOST_FREE {
                self.free.push(memory);
            } else if memory != 0 {
                pages::unmap(memory, MAPPING);
            }
            sys::free(context.cast());
        }
    }
}

/// Goes on with a context. Returns on the stack of the context that ran until now, when
/// that is gone on with: the handle it is given.
unsafe fn resume(to: *mut Context) -> *mut Handle {
    // SAFETY: `to` is suspended, and what the running context needs is saved.
    unsafe {
        let from = contexts().own.running;
        contexts().own.running = to;
        (*to).suspended = false;
        if gc::counts_references()
            && let Some(handle) = (*to).handle.as_mut()
        {
            handle.context = ptr::null_mut();
            (*to).handle = ptr::null_mut();
        }
        gc::set_root_stack((*to).roots);
        (*state()).root_stack_top = (*to).roots_top;
        stacks::set_current((*to).stack);
        switch_stacks(&raw mut (*from).stack_pointer, (*to).stack_pointer);
        arrive()
    }
}

/// The first thing after a switch.
unsafe fn arrive() -> *mut Handle {
    // SAFETY: the stack of the finished context is no longer in use.
    unsafe {
        let c = contexts();
        let finished = core::mem::replace(&mut c.finished, ptr::null_mut());
        if !finished.is_null() {
            c.all.retain_map(|o| (o != finished).then_some(o));
            c.destroy(finished);
        }
        c.answer
    }
}

/// What a new stack starts with.
unsafe extern "C" fn start_context() -> ! {
    // SAFETY: `rpy_stacklet_new` has left the function to call.
    unsafe {
        let from = arrive();
        if let Some((entry, argument)) = contexts().start.take() {
            let next = entry(from as usize, argument);
            if gc::counts_references() {
                rpy_gc_decref(from as usize);
            }
            if !(*state()).exc_type.is_null() {
                exc::report_uncaught();
                exc::abort_standalone();
                sys::_exit(exc::FATAL_EXIT);
            }
            let to = suspended(next);
            let c = contexts();
            c.finished = c.own.running;
            c.answer = c.empty;
            if gc::counts_references() {
                rpy_gc_incref(c.empty as usize);
                (*(next as *mut Handle)).context = ptr::null_mut();
                (*to).handle = ptr::null_mut();
                rpy_gc_decref(next);
            }
            resume(to);
        }
        exc::fatal(b"stacklet: a finished one goes on")
    }
}

/// Called by collectors that do without [`sweep`].
unsafe extern "C" fn handle_died(handle: usize) {
    // SAFETY: nobody can switch to a context without a handle.
    unsafe {
        let context = (*(handle as *mut Handle)).context;
        if context.is_null() {
            return;
        }
        (*context).handle = ptr::null_mut();
        if (*context).suspended && (*context).memory != 0 {
            let c = contexts();
            c.all.retain_map(|o| (o != context).then_some(o));
            c.destroy(context);
        }
    }
}

unsafe fn new_handle(context: *mut Context) -> *mut Handle {
    // SAFETY: the heap is set up; allocating it does not collect.
    unsafe {
        let handle = api::malloc_nonmoving(&HANDLE_INFO, 0) as *mut Handle;
        (*handle).context = context;
        if gc::scans_stacks() {
            api::rpy_gc_fq_register(0, handle as usize);
        }
        handle
    }
}

/// Maps memory for two stacks.
fn map_stack() -> Option<usize> {
    let at = pages::try_map(MAPPING)?;
    for end in [at, at + MAPPING - GUARD] {
        // SAFETY: the ends of the mapping, which is new.
        unsafe { pages::guard(end, GUARD) };
    }
    Some(at)
}

/// Calls `visit` with each root of the contexts that were suspended since the last call.
///
/// # Safety
/// The caller is the collector.
pub(crate) unsafe fn visit_fresh(mut visit: impl FnMut(*mut usize)) {
    // SAFETY: contexts in the list are alive, and the words are GC pointers.
    unsafe {
        for context in contexts().all.as_slice() {
            if (**context).suspended && core::mem::take(&mut (**context).fresh) {
                (**context).slots().for_each(&mut visit);
            }
        }
    }
}

/// Calls `visit` with each root of all suspended contexts.
///
/// # Safety
/// The caller is the mutator.
pub(crate) unsafe fn visit_all(mut visit: impl FnMut(*mut usize)) {
    // SAFETY: contexts in the list are alive, and the words are GC pointers.
    unsafe {
        for context in contexts().all.as_slice() {
            if (**context).suspended {
                (**context).slots().for_each(&mut visit);
            }
        }
    }
}

/// Puts away what the thread that ran has of its own, and brings that of another one.
///
/// # Safety
/// The caller changes threads.
pub(crate) unsafe fn exchange(own: Own) -> Own {
    // SAFETY: the caller changes threads and has the lock, so no stacklet of the program runs
    // meanwhile.
    unsafe { core::mem::replace(&mut contexts().own, own) }
}

/// Forgets the stack of a thread that has ended.
///
/// # Safety
/// The caller has the lock of the threads.
pub(crate) unsafe fn forget_first(own: Own) {
    if own.first.is_null() {
        return;
    }
    // SAFETY: the thread has ended, so its stack is never resumed.
    unsafe {
        let c = contexts();
        c.all.retain_map(|o| (o != own.first).then_some(o));
        c.destroy(own.first);
    }
}

/// Where the stack ends that runs, unless it is a thread's own.
///
/// # Safety
/// The caller is the collector.
pub(crate) unsafe fn running_stack_end() -> Option<usize> {
    // SAFETY: the caller is the collector, which runs in the mutator and holds no reference to
    // `CONTEXTS`.
    unsafe { contexts().own.stack_end() }
}

/// Calls `range` with the stacks of suspended contexts and `word` with where handles are
/// that are always alive, for a collector that looks at machine stacks.
///
/// # Safety
/// The caller is the collector.
pub(crate) unsafe fn each_waiting_stack(range: impl Fn(usize, usize), word: impl Fn(*const usize)) {
    // SAFETY: contexts in the list are alive, and their stacks are mapped.
    unsafe {
        for context in contexts().all.as_slice() {
            let context = *context;
            if (*context).suspended {
                range((*context).stack_pointer, (*context).stack_end);
                (*context).slots().for_each(|slot| word(slot));
            }
            // Its handle dies when nothing else refers to it, if it may.
            if !(*context).suspended || (*context).memory == 0 {
                word((&raw const (*context).handle).cast());
            }
        }
        word((&raw const contexts().empty).cast());
    }
}

/// Calls `visit` with the handles that are always alive.
///
/// # Safety
/// As for [`visit_fresh`].
pub(crate) unsafe fn visit_handles(mut visit: impl FnMut(usize)) {
    // SAFETY: contexts of threads are alive as long as these.
    unsafe {
        let mut visit_own = |own: Own| {
            if !own.first.is_null() {
                visit((*own.first).handle as usize);
                visit((*own.running).handle as usize);
            }
        };
        visit_own(contexts().own);
        threads::each_stacklets(visit_own);
        if !contexts().empty.is_null() {
            visit(contexts().empty as usize);
        }
    }
}

/// Calls `visit` with each root of those contexts whose handles are alive, unless it was
/// called with them since the last [`sweep`] or [`forget_visits`].
///
/// # Safety
/// As for [`visit_fresh`].
pub(crate) unsafe fn visit_alive(
    is_marked: impl Fn(usize) -> bool,
    mut visit: impl FnMut(*mut usize),
) {
    // SAFETY: contexts in the list are alive, and so is each handle that `is_marked` reads until
    // the sweep; the words are GC pointers.
    unsafe {
        for context in contexts().all.as_slice() {
            let context = *context;
            if (*context).suspended && !(*context).visited && is_marked((*context).handle as usize)
            {
                (*context).visited = true;
                (*context).slots().for_each(&mut visit);
            }
        }
    }
}

/// Has [`visit_alive`] look at all contexts again: they may have run since.
///
/// # Safety
/// As for [`visit_fresh`].
pub(crate) unsafe fn forget_visits() {
    // SAFETY: contexts in the list are alive, and the collector holds no other reference to
    // `CONTEXTS`.
    unsafe {
        for context in contexts().all.as_slice() {
            (**context).visited = false;
        }
    }
}

/// Ends the contexts whose handles are dead.
///
/// # Safety
/// As for [`visit_fresh`].
pub(crate) unsafe fn sweep(is_marked: impl Fn(usize) -> bool) {
    // SAFETY: nobody can switch to a context without a handle.
    unsafe {
        let mut all = core::mem::replace(&mut contexts().all, Stack::new());
        all.retain_map(|context| {
            (*context).visited = false;
            if is_marked((*context).handle as usize) {
                return Some(context);
            }
            contexts().destroy(context);
            None
        });
        contexts().all = all;
    }
}

/// Forgets all contexts.
///
/// # Safety
/// Nothing runs on the stacks of contexts any more.
pub(crate) unsafe fn teardown() {
    // SAFETY: the program has returned on the stack that it started on. Handles are still mapped,
    // since the heap is released after this.
    unsafe {
        let c = contexts();
        while let Some(context) = c.all.pop() {
            c.destroy(context);
        }
        while let Some(memory) = c.free.pop() {
            pages::unmap(memory, MAPPING);
        }
        c.all.release();
        c.free.release();
        c.own = Own::NONE;
        c.empty = ptr::null_mut();
        c.threshold = FEW;
    }
}

/// Names and addresses of the functions here, for a linker in the same process.
pub(crate) fn symbols(out: &mut dyn FnMut(&'static str, *const u8)) {
    out("rpy_stacklet_new", rpy_stacklet_new as *const u8);
    out("rpy_stacklet_switch", rpy_stacklet_switch as *const u8);
    out("rpy_stacklet_is_empty", rpy_stacklet_is_empty as *const u8);
}
