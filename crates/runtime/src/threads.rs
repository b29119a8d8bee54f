//! Threads of the program (RPython: `rlib.rthread`, `rlib.rgil`).
//!
//! One of them runs at a time: who runs holds the lock here. It is given up around calls
//! that may take long, while which nothing of the program's heap and nothing of
//! [`crate::state::State`] may be touched. The words there belong to the thread that held
//! the lock last; the next one to get it puts them away, if it is another one, and brings
//! its own. So giving the lock up and taking it again costs little.
//!
//! The shadow stack of a thread that does not run is a root of the collector, and so are
//! its exception and the objects in its thread-local variables.
//!
//! Before the first thread is started there is no lock: what the program starts on holds it.

mod foreign;
mod roots;

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicUsize, fence};

use crate::memory::Stack;
use crate::platform::{SavedRegisters, save_registers};
use crate::pthread::{self, Condition, Mutex};
use crate::stacklet::Own;
use crate::stacks::{Extent, STACK_RESERVE, ShadowStack};
use crate::state::{TRACEBACK_DEPTH, TracebackEntry, state};
use crate::{exc, gc, stacklet, stacks, sys};

pub(crate) use foreign::{
    Entered, after_foreign_fork, begin, is_in, let_in, note_gone, wait_until_free,
};
pub(crate) use roots::{each_stacklets, each_waiting_stack, stack_end, visit_all, visit_fresh};

/// What a thread starts with: a function of the program.
pub type Entry = unsafe extern "C" fn();

/// So much of its machine stack a thread may use if the program has not said how much.
const STACK: usize = 16 << 20;
/// Least machine stack that a program may ask for.
const LEAST_STACK: i64 = 32 << 10;

/// A thread, and what belongs to it while another one runs.
pub(crate) struct Thread {
    next: *mut Thread,
    ident: usize,
    /// Which of the programs of this process it belongs to.
    program: usize,
    entry: Option<Entry>,
    /// Another thread has run since this thread last called the program's function for switches.
    switched: bool,
    /// Its shadow stack; none for what the program started on.
    shadow: ShadowStack,
    /// It ran since the last minor collection: its roots may be young objects.
    fresh: bool,
    /// It is one of [`Lock::all`].
    listed: bool,
    /// It belongs to others, and has ended.
    gone: AtomicBool,
    saved_errno: i64,
    roots: usize,
    roots_top: *mut usize,
    exc_type: *mut c_void,
    exc_value: *mut c_void,
    stack: Extent,
    traceback_count: usize,
    traceback: [TracebackEntry; TRACEBACK_DEPTH],
    stacklets: Own,
    /// Where its machine stack ends; 0 as long as nobody has asked.
    stack_end: usize,
    /// Its registers when it gave the lock up, if the collector looks at machine stacks.
    registers: SavedRegisters,
    /// Its variables: plain words, and objects.
    words: Stack<u64>,
    objects: Stack<usize>,
}

impl Thread {
    /// Saves what the collector must see while the thread waits.
    #[inline]
    fn stand_still(&mut self) {
        if gc::scans_stacks() {
            if self.stack_end == 0 {
                self.stack_end = pthread::stack_end();
            }
            // SAFETY: `registers` has as many words as are written.
            unsafe { save_registers(&raw mut self.registers) };
        }
    }

    /// Its roots: while it does not run.
    ///
    /// # Safety
    /// Another thread runs.
    unsafe fn slots(&self) -> impl Iterator<Item = *mut usize> + use<> {
        let base = self.roots as *mut usize;
        // SAFETY: a thread that does not run has the start and the top of its shadow stack, which
        // is one mapping.
        unsafe {
            let len = self.roots_top.offset_from(base) as usize;
            (0..len).map(move |i| base.add(i))
        }
    }

    /// Notes what only the thread itself knows, which calls this first of all.
    fn settle(&mut self) {
        self.ident = pthread::current();
        if gc::scans_stacks() {
            self.stack_end = pthread::stack_end();
        }
        self.stack = self.shadow.extent(pthread::stack_start());
    }
}

/// The lock and the threads that use it.
struct Lock {
    /// Protects the rest, but for what only the holder of the lock looks at.
    mutex: Mutex,
    /// The lock is free.
    free: Condition,
    /// It was taken.
    taken: Condition,
    /// Who has it; nobody if null.
    holder: *mut Thread,
    /// Number of threads that want it. Threads that wait for the mutex are counted: one that gives way in a loop would
    /// seldom let them have it.
    waiting: AtomicUsize,
    /// How often it was taken.
    turn: usize,
    /// Whose words are in [`crate::state::State`]: who had the lock last. The holder's.
    last: *mut Thread,
    /// All threads. The holder's.
    all: *mut Thread,
    /// Counts the programs of this process.
    program: usize,
    /// What new threads get, 0: what the system gives.
    stack_size: i64,
    /// The program's function for switches, called in the thread that runs after a switch. Protected by the lock.
    switched: Option<Entry>,
}

static mut LOCK: Lock = Lock {
    mutex: Mutex::new(),
    free: Condition::new(),
    taken: Condition::new(),
    holder: ptr::null_mut(),
    waiting: AtomicUsize::new(0),
    turn: 0,
    last: ptr::null_mut(),
    all: ptr::null_mut(),
    program: 0,
    stack_size: 0,
    switched: None,
};

/// Whether a second thread was ever started.
static STARTED: AtomicBool = AtomicBool::new(false);

fn lock() -> *mut Lock {
    &raw mut LOCK
}

/// Whether there may be more threads than one.
#[inline]
pub(crate) fn started() -> bool {
    STARTED.load(Relaxed)
}

/// The number of this thread.
pub fn ident() -> i64 {
    pthread::current() as i64
}

/// Gives the lock up. `errno` stays. The caller has it, and touches nothing of the
/// program's until it has it again.
pub fn release() {
    if started() {
        // SAFETY: the caller has the lock, so `own` is alive and `give_up` may free the lock.
        // `errno` is a word of the calling thread.
        unsafe {
            let errno = *sys::__errno_location();
            let l = lock();
            (*own()).stand_still();
            (*l).mutex.lock();
            give_up(l);
            (*l).mutex.unlock();
            *sys::__errno_location() = errno;
        }
    }
}

/// Waits for the lock. `errno` stays. Does not return if the program of the thread that
/// calls is gone.
pub fn take() {
    if started() {
        // SAFETY: the thread is one of the program's and alive; it touches the program's words only
        // after `acquire`. `errno` is a word of the calling thread.
        unsafe {
            let errno = *sys::__errno_location();
            let me = own();
            acquire(me);
            tell(me);
            *sys::__errno_location() = errno;
        }
    } else {
        end_if_left();
    }
}

/// Lets another thread run if one wants to. The caller has the lock, and its roots are
/// saved.
pub fn give_way() {
    if !started() {
        return;
    }
    // SAFETY: the caller has the lock, and the mutex while it changes the holder. It touches the
    // program's words only after `acquire`.
    unsafe {
        let me = own();
        let l = lock();
        if (*l).waiting.load(Relaxed) > 0 {
            (*l).mutex.lock();
            (*me).stand_still();
            let turn = (*l).turn;
            give_up(l);
            // A thread that was counted may leave without taking the lock: its program has ended, or it waits until the
            // lock is free.
            while (*l).waiting.load(Relaxed) > 0
                && (*l).turn == turn
                && (*l).program == (*me).program
            {
                (*l).taken.wait(&(*l).mutex);
            }
            (*l).mutex.unlock();
            acquire(me);
        }
        tell(me);
    }
}

/// Sets the function that every switch to another thread of the program calls, in the thread that runs then.
///
/// # Safety
/// The caller has the lock. `callback` is a function of the program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_thread_switched(callback: Entry) {
    // SAFETY: the caller has the lock, which protects the word.
    unsafe { (*lock()).switched = Some(callback) };
}

/// Calls the program's function for switches, if the threads switched. An exception that waits for C code to return
/// defers the call to the next time that the thread takes the lock.
///
/// # Safety
/// `me` is the calling thread, which has the lock; its roots are saved.
unsafe fn tell(me: *mut Thread) {
    // SAFETY: `me` is the calling thread and has the lock. Its roots are saved, since the function
    // may collect, as another thread might have before.
    unsafe {
        if (*me).switched
            && (*state()).exc_type.is_null()
            && let Some(callback) = (*lock()).switched
        {
            (*me).switched = false;
            callback();
            exc::report_ignored(b"exception raised after a switch of threads, ignored: ");
        }
    }
}

/// The number of the thread that has the lock; 0 if none has it.
pub fn holder() -> i64 {
    if !started() {
        return ident();
    }
    // SAFETY: what is read is protected by the mutex, and threads with the lock are alive.
    unsafe {
        let l = lock();
        (*l).mutex.lock();
        let holder = match (*l).holder.as_ref() {
            Some(t) => t.ident as i64,
            None => 0,
        };
        (*l).mutex.unlock();
        holder
    }
}

/// From now on there is a lock, and the thread that calls has it.
unsafe fn start() {
    // SAFETY: the caller has the lock, or is the only thread of the program: no other thread reads
    // the holder yet.
    unsafe {
        if !started() {
            (*lock()).holder = own();
            (*lock()).last = own();
            STARTED.store(true, Relaxed);
        }
    }
}

/// Before C code gets a function that it may call: threads that it starts have to wait.
///
/// # Safety
/// The caller has the lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_callback_prepare() {
    // SAFETY: the caller has the lock, or is the only thread of the program.
    unsafe { start() }
}

/// The thread had the lock already when C code called.
const HAD_LOCK: i64 = 0;
/// It is one of the program's.
const TOOK_LOCK: i64 = 1;
/// C code has started it.
const FOREIGN: i64 = 2;

/// Takes the lock if the thread does not have it, before a function that C code calls. The
/// answer is for [`rpy_callback_leave`].
///
/// # Safety
/// Called by C code that a function of the program was given to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_callback_enter() -> i64 {
    if !started() {
        end_if_left();
        return HAD_LOCK;
    }
    // SAFETY: what belongs to the thread is its own; the rest happens with the lock.
    unsafe {
        let mut me: *mut Thread = pthread::own().cast();
        let foreign = me.is_null();
        if foreign {
            me = make_thread(STACK);
            (*me).settle();
            (*lock()).mutex.lock();
            (*me).program = (*lock()).program;
            (*lock()).mutex.unlock();
            pthread::set_own(me.cast());
        }
        (*lock()).mutex.lock();
        let had = (*lock()).holder == me;
        (*lock()).mutex.unlock();
        if had {
            return HAD_LOCK;
        }
        acquire(me);
        if foreign {
            enlist(me);
        }
        tell(me);
        if foreign { FOREIGN } else { TOOK_LOCK }
    }
}

/// Gives the lock up again. What the function raised stays with the thread; of a thread
/// that C code has started it is reported.
///
/// # Safety
/// `entered` is what [`rpy_callback_enter`] has answered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_callback_leave(entered: i64) {
    // SAFETY: C code calls this in the thread that entered, with the result of
    // `rpy_callback_enter`: the thread has the lock.
    unsafe {
        match entered {
            HAD_LOCK => {}
            FOREIGN => {
                exc::report_ignored(b"exception raised by a thread, ignored: ");
                end(own());
            }
            _ => release(),
        }
    }
}

/// Starts a thread: its number, or -1 if that fails.
///
/// # Safety
/// The caller has the lock. `entry` is a function of the program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_thread_start(entry: Entry) -> i64 {
    // SAFETY: the new thread waits for the lock before it touches anything.
    unsafe {
        start();
        // What checks gets all that was asked for.
        let size = match (*lock()).stack_size {
            0 => 0,
            n => n as usize + STACK_RESERVE,
        };
        let new = make_thread(if size == 0 { STACK } else { size });
        enlist(new);
        (*new).entry = Some(entry);
        match pthread::start(run, new.cast(), size) {
            Some(ident) => ident as i64,
            None => {
                discard(new);
                -1
            }
        }
    }
}

/// What new threads get as machine stack; 0 if that was never set.
pub fn stack_size() -> i64 {
    // SAFETY: the program calls this with the lock, which protects the word.
    unsafe { (*lock()).stack_size }
}

/// Sets that. 0, or -1 for a size that is not possible.
pub fn set_stack_size(size: i64) -> i64 {
    if size != 0 && size < LEAST_STACK {
        return -1;
    }
    // SAFETY: the program calls this with the lock, which protects the word.
    unsafe { (*lock()).stack_size = size };
    0
}

/// What a thread does.
unsafe extern "C" fn run(thread: *mut c_void) -> *mut c_void {
    let me: *mut Thread = thread.cast();
    // SAFETY: the thread is new and nobody else's; the rest happens with the lock.
    unsafe {
        pthread::set_own(me.cast());
        (*me).settle();
        acquire(me);
        tell(me);
        if let Some(entry) = (*me).entry {
            entry();
        }
        exc::report_ignored(b"exception raised by a thread, ignored: ");
        end(me);
    }
    ptr::null_mut()
}

/// Leaves the threads of the program, and gives the lock up.
unsafe fn end(me: *mut Thread) {
    // SAFETY: the caller has the lock and is that thread.
    unsafe {
        let l = lock();
        drop_objects(me);
        pthread::set_own(ptr::null_mut());
        let own = stacklet::exchange(Own::NONE);
        stacklet::forget_first(own);
        (*l).last = ptr::null_mut();
        discard(me);
        (*l).mutex.lock();
        give_up(l);
        (*l).mutex.unlock();
    }
}

/// Frees the lock.
///
/// # Safety
/// The caller has it, and the mutex.
unsafe fn give_up(l: *mut Lock) {
    // SAFETY: the caller has the lock, and the mutex that protects holder and waiting threads.
    unsafe {
        (*l).holder = ptr::null_mut();
        (*l).free.signal();
    }
}

/// Waits for the lock, and puts the thread's words where emitted code expects them.
unsafe fn acquire(me: *mut Thread) {
    // SAFETY: `me` is the calling thread, which is alive. The mutex protects holder and program;
    // `last` belongs to the holder.
    unsafe {
        let l = lock();
        (*l).waiting.fetch_add(1, Relaxed);
        (*l).mutex.lock();
        while !(*l).holder.is_null() && (*l).holder != me && (*l).program == (*me).program {
            (*l).free.wait(&(*l).mutex);
        }
        (*l).waiting.fetch_sub(1, Relaxed);
        if (*l).program != (*me).program {
            (*l).taken.signal_all();
            (*l).mutex.unlock();
            pthread::vanish();
        }
        if (*l).holder == me {
            (*l).mutex.unlock();
            return;
        }
        (*l).holder = me;
        (*l).turn += 1;
        (*l).taken.signal_all();
        (*l).mutex.unlock();
        let last = core::mem::replace(&mut (*l).last, me);
        if last != me {
            if !last.is_null() {
                put_away(last);
            }
            bring(me);
            (*me).switched = true;
        }
    }
}

unsafe fn put_away(t: *mut Thread) {
    // SAFETY: the words are that thread's, which does not run.
    unsafe {
        let s = state();
        (*t).fresh = true;
        (*t).roots = gc::root_stack();
        (*t).roots_top = (*s).root_stack_top;
        (*t).exc_type = (*s).exc_type;
        (*t).exc_value = (*s).exc_value;
        (*t).stack = stacks::current();
        (*t).traceback_count = (*s).traceback_count;
        (*t).traceback = (*s).traceback;
        (*t).stacklets = stacklet::exchange(Own::NONE);
    }
}

unsafe fn bring(t: *mut Thread) {
    // SAFETY: the words of the thread before are put away.
    unsafe {
        let s = state();
        gc::set_root_stack((*t).roots);
        (*s).root_stack_top = (*t).roots_top;
        (*s).exc_type = (*t).exc_type;
        (*s).exc_value = (*t).exc_value;
        stacks::set_current((*t).stack);
        (*s).traceback_count = (*t).traceback_count;
        (*s).traceback = (*t).traceback;
        stacklet::exchange((*t).stacklets);
    }
}

/// The thread that calls this. Threads that C code has started are there while they call
/// back.
unsafe fn own() -> *mut Thread {
    let own: *mut Thread = pthread::own().cast();
    if own.is_null() {
        exc::fatal(b"a thread that the program has not started");
    }
    own
}

/// A thread without anything, and with nothing that is its own yet.
unsafe fn blank_thread() -> *mut Thread {
    // SAFETY: all of a thread may be zero.
    unsafe {
        let t: *mut Thread = sys::calloc(1, size_of::<Thread>()).cast();
        if t.is_null() {
            exc::out_of_memory();
        }
        t
    }
}

/// A thread with a shadow stack, which may use so much of its machine stack.
unsafe fn make_thread(stack: usize) -> *mut Thread {
    // SAFETY: the mapping is fresh.
    unsafe {
        let t = blank_thread();
        (*t).shadow = ShadowStack::map(stack);
        (*t).roots = (*t).shadow.start();
        (*t).roots_top = (*t).roots as *mut usize;
        t
    }
}

/// Puts a thread into the list of all of them.
unsafe fn enlist(t: *mut Thread) {
    // SAFETY: the holder of the lock adds to the list.
    unsafe {
        let l = lock();
        (*t).program = (*l).program;
        (*t).next = (*l).all;
        (*t).listed = true;
        (*l).all = t;
    }
}

/// Takes a thread from the list, and gives back what it has.
unsafe fn discard(t: *mut Thread) {
    // SAFETY: the holder of the lock changes the list; the thread does not come back.
    unsafe {
        drop_objects(t);
        let mut at = &raw mut (*lock()).all;
        while !(*at).is_null() && *at != t {
            at = &raw mut (**at).next;
        }
        if !(*at).is_null() {
            *at = (*t).next;
        }
        (*t).shadow.unmap();
        (*t).words.release();
        (*t).objects.release();
        sys::free(t.cast());
    }
}

/// Gives up the references in a thread's variables, if they are counted. Finalizers run in the calling thread, which
/// needs its shadow stack and the lock for that, and may set variables.
///
/// # Safety
/// The caller has the lock but not the mutex, and `t` is alive.
unsafe fn drop_objects(t: *mut Thread) {
    if !gc::counts_references() {
        return;
    }
    // SAFETY: `t` is alive, and each word holds null or a counted reference. No reference to the table is held while
    // finalizers run.
    unsafe {
        while let Some(object) = (*t).objects.pop() {
            gc::refcount::rpy_gc_decref(object);
        }
    }
}

/// Calls `f` with each thread.
unsafe fn each(mut f: impl FnMut(*mut Thread)) {
    // SAFETY: the caller has the lock, so no other thread changes the list.
    unsafe {
        let mut t = (*lock()).all;
        while !t.is_null() {
            f(t);
            t = (*t).next;
        }
    }
}

/// Makes the thread that calls this the first one of a program.
///
/// # Safety
/// No program runs in this process.
pub(crate) unsafe fn setup() {
    // SAFETY: no program runs in this process, so no other thread uses the list.
    unsafe {
        let first = blank_thread();
        enlist(first);
        (*first).ident = pthread::current();
        pthread::set_own(first.cast());
    }
}

/// Forgets the threads of a program. Those that are still there end when they ask for the
/// lock.
///
/// # Safety
/// The first thread calls this, and has the lock.
pub(crate) unsafe fn teardown() {
    // SAFETY: the first thread has the lock, and the mutex while it changes what other threads
    // read. Threads that come back own what they have.
    unsafe {
        let l = lock();
        let first: *mut Thread = pthread::own().cast();
        if !first.is_null() {
            drop_objects(first);
        }
        (*l).mutex.lock();
        (*l).program += 1;
        (*l).holder = ptr::null_mut();
        (*l).last = ptr::null_mut();
        if !first.is_null() {
            discard(first);
        }
        if !(*l).all.is_null() {
            // They still have to find out.
            LEFT.store(true, Relaxed);
            (*l).all = ptr::null_mut();
        }
        // Release: a thread that reads this also reads the word above.
        STARTED.store(false, Release);
        pthread::set_own(ptr::null_mut());
        (*l).stack_size = 0;
        (*l).switched = None;
        (*l).free.signal_all();
        (*l).taken.signal_all();
        (*l).mutex.unlock();
    }
}

/// Whether a program of this process has ended before its threads.
static LEFT: AtomicBool = AtomicBool::new(false);

/// Whether threads of programs that are gone may still be there: these are inside of C
/// functions that they will return from.
pub fn left_behind() -> bool {
    LEFT.load(Relaxed)
}

/// For the case that no lock exists: ends the calling thread if its program has ended while the thread was in a C
/// function. Returns otherwise.
#[cold]
fn end_if_left() {
    fence(Acquire);
    if !left_behind() {
        return;
    }
    // SAFETY: the thread's words are its own, and the lock's are protected by the mutex.
    unsafe {
        let me: *mut Thread = pthread::own().cast();
        if me.is_null() {
            return;
        }
        let l = lock();
        (*l).mutex.lock();
        let gone = (*l).program != (*me).program;
        (*l).mutex.unlock();
        if gone {
            pthread::vanish();
        }
    }
}

/// In the child of a fork: no other thread is there any more.
///
/// # Safety
/// The caller has the lock.
pub(crate) unsafe fn after_fork() {
    if !started() {
        return;
    }
    // SAFETY: this is the only thread of the process, and it has the lock. The others do not come
    // back.
    unsafe {
        let l = lock();
        let me = own();
        (*l).mutex = Mutex::new();
        (*l).free = Condition::new();
        (*l).taken = Condition::new();
        (*l).waiting = AtomicUsize::new(0);
        (*l).holder = me;
        (*me).ident = pthread::current();
        while (*l).all != me || !(*me).next.is_null() {
            let other = if (*l).all == me { (*me).next } else { (*l).all };
            discard(other);
        }
    }
}

/// The place of a thread-local variable that holds a word, zero at first. It stays until
/// another one is asked for.
///
/// # Safety
/// The caller has the lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_thread_word(number: i64) -> *mut u64 {
    // SAFETY: the caller has the lock, and `own` is alive while its thread runs.
    unsafe { place(&mut (*own()).words, number) }
}

/// What a thread-local variable refers to.
///
/// # Safety
/// The caller has the lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_thread_object(number: i64) -> usize {
    // SAFETY: the caller has the lock, and `own` is alive while its thread runs.
    unsafe { *place(&mut (*own()).objects, number) }
}

/// Sets that.
///
/// # Safety
/// The caller has the lock; `object` is one or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rpy_thread_set_object(number: i64, object: usize) {
    // SAFETY: the caller has the lock, and `own` is alive while its thread runs. The word is not
    // used after `replace`, whose finalizers may move the table.
    unsafe {
        let place = place(&mut (*own()).objects, number);
        match gc::counts_references() {
            true => gc::refcount::replace(place, object),
            false => *place = object,
        }
    }
}

fn place<T: Copy + Default>(table: &mut Stack<T>, number: i64) -> *mut T {
    let number = number as usize;
    while table.len() <= number {
        table.push(T::default());
    }
    &raw mut table.as_mut_slice()[number]
}

/// The errno that this thread of the program has saved, if it has a place of its own.
pub(crate) fn saved_errno() -> Option<*mut i64> {
    let own: *mut Thread = match started() {
        true => pthread::own().cast(),
        false => ptr::null_mut(),
    };
    // SAFETY: a thread is alive while it runs.
    (!own.is_null()).then(|| unsafe { &raw mut (*own).saved_errno })
}

/// Names and addresses of the functions here, for a linker in the same process.
pub(crate) fn symbols(out: &mut dyn FnMut(&'static str, *const u8)) {
    out("rpy_callback_prepare", rpy_callback_prepare as *const u8);
    out("rpy_callback_enter", rpy_callback_enter as *const u8);
    out("rpy_callback_leave", rpy_callback_leave as *const u8);
    out("rpy_thread_start", rpy_thread_start as *const u8);
    out("rpy_thread_switched", rpy_thread_switched as *const u8);
    out("rpy_thread_word", rpy_thread_word as *const u8);
    out("rpy_thread_object", rpy_thread_object as *const u8);
    out("rpy_thread_set_object", rpy_thread_set_object as *const u8);
}
