//! The C library's threads, as far as the runtime needs them.

use core::cell::{Cell, UnsafeCell};
use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use crate::exc;
use crate::sys::{self, EINTR, Timespec};

/// Room for any of the C library's objects here; all zero is how those start that are
/// not initialised by a call.
type Room = [u64; 8];

unsafe extern "C" {
    fn pthread_self() -> usize;
    fn pthread_create(
        ident: *mut usize,
        attributes: *const Room,
        f: unsafe extern "C" fn(*mut c_void) -> *mut c_void,
        argument: *mut c_void,
    ) -> c_int;
    fn pthread_attr_init(attributes: *mut Room) -> c_int;
    fn pthread_attr_destroy(attributes: *mut Room) -> c_int;
    fn pthread_attr_setdetachstate(attributes: *mut Room, state: c_int) -> c_int;
    fn pthread_attr_setstacksize(attributes: *mut Room, size: usize) -> c_int;
    fn pthread_attr_getstack(
        attributes: *const Room,
        start: *mut *mut c_void,
        size: *mut usize,
    ) -> c_int;
    fn pthread_getattr_np(ident: usize, attributes: *mut Room) -> c_int;
    fn pthread_mutex_lock(mutex: *mut Room) -> c_int;
    fn pthread_mutex_unlock(mutex: *mut Room) -> c_int;
    fn pthread_key_create(key: *mut u32, destructor: *const c_void) -> c_int;
    fn pthread_setspecific(key: u32, value: *const c_void) -> c_int;
    fn pthread_getspecific(key: u32) -> *mut c_void;
    fn pthread_atfork(
        prepare: Option<unsafe extern "C" fn()>,
        parent: Option<unsafe extern "C" fn()>,
        child: Option<unsafe extern "C" fn()>,
    ) -> c_int;
    fn pause() -> c_int;
    fn sem_init(semaphore: *mut Room, shared: c_int, value: u32) -> c_int;
    fn sem_destroy(semaphore: *mut Room) -> c_int;
    fn sem_trywait(semaphore: *mut Room) -> c_int;
    fn sem_wait(semaphore: *mut Room) -> c_int;
    #[cfg_attr(target_arch = "x86", link_name = "__sem_timedwait64")]
    fn sem_timedwait(semaphore: *mut Room, until: *const Timespec) -> c_int;
    fn sem_getvalue(semaphore: *mut Room, value: *mut c_int) -> c_int;
    fn sem_post(semaphore: *mut Room) -> c_int;
}

const DETACHED: c_int = 1;
/// Sizes of stacks are multiples of it, whichever pages the system has.
const LARGEST_PAGE: usize = 64 << 10;
/// The system gives no thread less.
const LEAST_STACK: usize = 64 << 10;

/// The number of the calling thread.
pub(crate) fn current() -> usize {
    // SAFETY: cannot fail.
    unsafe { pthread_self() }
}

/// Starts a thread that nobody waits for: its number. `stack` is in bytes, 0 for what the
/// system gives.
pub(crate) fn start(
    f: unsafe extern "C" fn(*mut c_void) -> *mut c_void,
    argument: *mut c_void,
    stack: usize,
) -> Option<usize> {
    let mut attributes: Room = [0; 8];
    let mut ident = 0;
    // SAFETY: the attributes are initialised by the first call.
    unsafe {
        if pthread_attr_init(&raw mut attributes) != 0 {
            return None;
        }
        pthread_attr_setdetachstate(&raw mut attributes, DETACHED);
        let size = stack.max(LEAST_STACK).next_multiple_of(LARGEST_PAGE);
        let failed = (stack != 0 && pthread_attr_setstacksize(&raw mut attributes, size) != 0)
            || pthread_create(&raw mut ident, &raw const attributes, f, argument) != 0;
        pthread_attr_destroy(&raw mut attributes);
        (!failed).then_some(ident)
    }
}

/// The lowest address of the calling thread's stack.
pub(crate) fn stack_start() -> usize {
    stack_bounds().0
}

/// The address behind the calling thread's stack. Asking takes long on the first thread.
pub(crate) fn stack_end() -> usize {
    stack_bounds().1
}

/// The lowest address of the calling thread's stack, and its end.
pub(crate) fn stack_bounds() -> (usize, usize) {
    let mut attributes: Room = [0; 8];
    let (mut start, mut size) = (ptr::null_mut(), 0);
    // SAFETY: the attributes are initialised by the first call.
    unsafe {
        if pthread_getattr_np(pthread_self(), &raw mut attributes) == 0 {
            pthread_attr_getstack(&raw const attributes, &raw mut start, &raw mut size);
            pthread_attr_destroy(&raw mut attributes);
        }
    }
    (start as usize, start as usize + size)
}

/// Has `ended` called at the end of the calling thread, with what it is given here.
pub(crate) fn at_end(ended: unsafe extern "C" fn(*mut c_void), given: *mut c_void) {
    static KEY: AtomicU64 = AtomicU64::new(NO_KEY);
    let mut key = 0;
    // SAFETY: the key exists once it is stored; of two threads that make one, one is not used.
    unsafe {
        if KEY.load(Relaxed) == NO_KEY {
            if pthread_key_create(&raw mut key, (ended as *const ()).cast()) != 0 {
                exc::fatal(b"no key for the threads");
            }
            let _ = KEY.compare_exchange(NO_KEY, u64::from(key), Relaxed, Relaxed);
        }
        pthread_setspecific(KEY.load(Relaxed) as u32, given);
    }
}

/// Has this called in children of forks.
pub(crate) fn at_fork(child: unsafe extern "C" fn()) {
    // SAFETY: registers a function.
    unsafe { pthread_atfork(None, None, Some(child)) };
}

/// Something that happens once, which others wait for.
pub(crate) struct Once {
    mutex: Mutex,
    happened: Condition,
    done: AtomicBool,
}

// SAFETY: mutexes and conditions are for threads to share, and are used through their functions only.
unsafe impl Sync for Once {}

impl Once {
    pub(crate) const fn new() -> Once {
        Once {
            mutex: Mutex::new(),
            happened: Condition::new(),
            done: AtomicBool::new(false),
        }
    }

    /// It has happened.
    pub(crate) fn done(&self) {
        self.mutex.lock();
        self.done.store(true, Relaxed);
        self.happened.signal();
        self.mutex.unlock();
    }

    pub(crate) fn wait(&self) {
        self.mutex.lock();
        while !self.done.load(Relaxed) {
            // SAFETY: the caller has the mutex.
            unsafe { self.happened.wait(&self.mutex) };
        }
        self.mutex.unlock();
    }
}

/// Never returns, and does nothing.
pub(crate) fn vanish() -> ! {
    loop {
        // SAFETY: waits for a signal.
        unsafe { pause() };
    }
}

const NO_KEY: u64 = u64::MAX;
static KEY: AtomicU64 = AtomicU64::new(NO_KEY);

/// What [`set_own`] was given in the calling thread; null at first.
pub(crate) fn own() -> *mut c_void {
    match KEY.load(Relaxed) {
        NO_KEY => ptr::null_mut(),
        // SAFETY: the key exists.
        key => unsafe { pthread_getspecific(key as u32) },
    }
}

/// Gives the calling thread something of its own. The first call is nobody else's.
pub(crate) fn set_own(own: *mut c_void) {
    let mut key = 0;
    // SAFETY: the key exists once it is stored.
    unsafe {
        if KEY.load(Relaxed) == NO_KEY {
            if pthread_key_create(&raw mut key, ptr::null()) != 0 {
                exc::fatal(b"no key for the threads");
            }
            KEY.store(u64::from(key), Relaxed);
        }
        pthread_setspecific(KEY.load(Relaxed) as u32, own);
    }
}

/// A lock for moments.
pub(crate) struct Mutex(UnsafeCell<Room>);

impl Mutex {
    pub(crate) const fn new() -> Self {
        Mutex(UnsafeCell::new([0; 8]))
    }

    pub(crate) fn lock(&self) {
        // SAFETY: a mutex may be zero at first.
        unsafe { pthread_mutex_lock(self.0.get()) };
    }

    pub(crate) fn unlock(&self) {
        // SAFETY: a mutex may be zero at first, and the caller has locked it.
        unsafe { pthread_mutex_unlock(self.0.get()) };
    }
}

/// A condition variable, which wakes threads in the order in which they began to wait. The caller of each function has the
/// mutex that [`Condition::wait`] releases.
///
/// Each thread waits on a semaphore of its own. Condition variables of glibc before 2.41 lose wakeups
/// (<https://sourceware.org/bugzilla/show_bug.cgi?id=25847>), so that threads which give way to each other stop for ever.
pub(crate) struct Condition {
    first: Cell<*mut Waiter>,
    last: Cell<*mut Waiter>,
}

/// A waiting thread, on the stack of that thread.
struct Waiter {
    woken: Room,
    next: *mut Waiter,
}

impl Condition {
    pub(crate) const fn new() -> Self {
        Condition {
            first: Cell::new(ptr::null_mut()),
            last: Cell::new(ptr::null_mut()),
        }
    }

    /// Releases the mutex until another thread signals.
    ///
    /// # Safety
    /// The caller has the mutex.
    pub(crate) unsafe fn wait(&self, mutex: &Mutex) {
        let mut waiter = Waiter {
            woken: [0; 8],
            next: ptr::null_mut(),
        };
        let this = &raw mut waiter;
        // SAFETY: the mutex protects the list. A thread that removes the waiter posts the semaphore last, and this function
        // returns only after that.
        unsafe {
            let woken = &raw mut (*this).woken;
            sem_init(woken, 0, 0);
            match self.last.replace(this) {
                last if last.is_null() => self.first.set(this),
                last => (*last).next = this,
            }
            mutex.unlock();
            // Signals of the system interrupt it.
            while sem_wait(woken) != 0 {}
            sem_destroy(woken);
        }
        mutex.lock();
    }

    /// Wakes the thread that has waited longest; does nothing if none waits.
    pub(crate) fn signal(&self) {
        let first = self.first.get();
        if first.is_null() {
            return;
        }
        // SAFETY: the thread waits until its semaphore is posted; the mutex protects the list.
        unsafe {
            self.first.set((*first).next);
            if self.first.get().is_null() {
                self.last.set(ptr::null_mut());
            }
            sem_post(&raw mut (*first).woken);
        }
    }

    /// Wakes all threads that wait.
    pub(crate) fn signal_all(&self) {
        while !self.first.get().is_null() {
            self.signal();
        }
    }
}

// The locks of programs: semaphores, by their addresses.

fn semaphore(lock: i64) -> *mut Room {
    lock as usize as *mut Room
}

/// A new lock; 0 if there is no memory.
pub fn new_lock() -> i64 {
    // SAFETY: the memory has room for a semaphore.
    unsafe {
        let lock: *mut Room = sys::calloc(1, size_of::<Room>()).cast();
        if !lock.is_null() {
            sem_init(lock, 0, 1);
        }
        lock as i64
    }
}

/// Ends a lock.
pub fn free_lock(lock: i64) {
    // SAFETY: it came from `new_lock`, and nobody uses it any more.
    unsafe {
        sem_destroy(semaphore(lock));
        sys::free(semaphore(lock).cast());
    }
}

/// Takes a lock unless somebody has it.
pub fn try_lock(lock: i64) -> bool {
    // SAFETY: it came from `new_lock`.
    unsafe { sem_trywait(semaphore(lock)) == 0 }
}

/// Gives a lock back: 0, or -1 if nobody has it.
pub fn unlock(lock: i64) -> i64 {
    let mut value: MaybeUninit<c_int> = MaybeUninit::zeroed();
    // SAFETY: it came from `new_lock`.
    unsafe {
        sem_getvalue(semaphore(lock), value.as_mut_ptr());
        if value.assume_init() > 0 {
            return -1;
        }
        i64::from(sem_post(semaphore(lock)))
    }
}

/// Waits that many microseconds at the most for a lock, for ever if negative: 1 if it was
/// taken, 0 if not, 2 if a signal came and `interruptible` is set; 3 if nobody is there who
/// could give it back.
pub fn wait_for_lock(lock: i64, microseconds: i64, interruptible: bool) -> i64 {
    if microseconds < 0 && !interruptible && !crate::threads::started() {
        return 3;
    }
    let until = match microseconds {
        n if n < 0 => None,
        n => Some(crate::os::time_after(n)),
    };
    loop {
        // SAFETY: the lock came from `new_lock`.
        let (failed, errno) = unsafe {
            let result = match &until {
                None => sem_wait(semaphore(lock)),
                Some(until) => sem_timedwait(semaphore(lock), &raw const *until),
            };
            (result != 0, *sys::__errno_location())
        };
        match errno {
            _ if !failed => return 1,
            EINTR if interruptible => return 2,
            EINTR => {}
            // Timed out.
            _ => return 0,
        }
    }
}
