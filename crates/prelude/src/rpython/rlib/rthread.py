"""Threads, their locks, and variables that each of them has of its own."""
from rpython.rlib.objectmodel import not_rpython, specialize, we_are_translated
from rpython.rtyper.annlowlevel import cast_gcref_to_instance, cast_instance_to_gcref
from rpython.rtyper.lltypesystem import llmemory, lltype, rffi
from taipan_lowlevel import (rpy_lock_free, rpy_lock_new, rpy_lock_release, rpy_lock_try,
                             rpy_lock_wait, rpy_thread_ident, rpy_thread_set_stack_size,
                             rpy_thread_stack_size)


class RThreadError(Exception):
    """What cannot be done to a lock or thread."""


error = RThreadError

TIMEOUT_MAX = 4294967.0
RPY_LOCK_FAILURE, RPY_LOCK_ACQUIRED, RPY_LOCK_INTR = range(3)
_NOBODY_ELSE = 3

RPYTHREAD_NAME = 'pthread'
# Locks are POSIX's semaphores.
USE_SEMAPHORES = True
CS_GNU_LIBPTHREAD_VERSION = 3

# ____________________________________________________________ locks

class Lock(object):
    """Whoever takes it, anybody may release it."""

    _lock = 0
    _taken = False      # while the program loads

    def _handle(self):
        """The lock behind it. One that was there before the program started is made at
        its first use."""
        if not self._lock:
            self._lock = rpy_lock_new()
            if not self._lock:
                raise error("out of resources")
            if self._taken:
                rpy_lock_try(self._lock)
        return self._lock

    def _try(self):
        if we_are_translated():
            return rpy_lock_try(self._handle())
        if self._taken:
            return False
        self._taken = True
        return True

    def acquire(self, flag):
        """Takes it; False if it is taken and `flag` is not set."""
        if self._try():
            return True
        if flag:
            if not we_are_translated() or rpy_lock_wait(self._lock, -1, False) == _NOBODY_ELSE:
                raise error("deadlock: the only thread holds the lock already")
            return True
        return False

    def is_acquired(self):
        if self._try():
            self.release()
            return False
        return True

    def acquire_timed(self, timeout):
        """`timeout` in microseconds, negative: for ever. RPY_LOCK_INTR if a signal came."""
        if self._try():
            return RPY_LOCK_ACQUIRED
        if not we_are_translated():
            return RPY_LOCK_FAILURE
        return rpy_lock_wait(self._lock, rffi.cast(lltype.Signed, timeout), True)

    def release(self):
        if we_are_translated():
            failed = rpy_lock_release(self._handle()) != 0
        else:
            failed = not self._taken
            self._taken = False
        if failed:
            raise error("the lock was not previously acquired")

    def __enter__(self):
        self.acquire(True)

    def __exit__(self, *failure):
        self.release()

    def __del__(self):
        if we_are_translated() and self._lock:
            rpy_lock_free(self._lock)


def allocate_lock():
    lock = Lock()
    if we_are_translated():
        lock._handle()
    return lock


class DummyLock(object):
    """Nobody ever waits for it."""

    def _freeze_(self):
        return True

    def is_acquired(self):
        return False

    def acquire(self, flag):
        return True

    def release(self):
        pass

    def __enter__(self):
        self.acquire(True)

    def __exit__(self, *failure):
        self.release()


dummy_lock = DummyLock()

# ____________________________________________________________ threads

CALLBACK = lltype.Ptr(lltype.FuncType([], lltype.Void))
_start = rffi.llexternal('rpy_thread_start', [CALLBACK], lltype.Signed, _nowrapper=True)


def get_ident():
    if we_are_translated():
        return rpy_thread_ident()
    return 1


get_or_make_ident = get_ident

_gettid = rffi.llexternal('gettid', [], rffi.INT, _nowrapper=True)
_pthread_kill = rffi.llexternal('pthread_kill', [lltype.Signed, rffi.INT], rffi.INT,
                                _nowrapper=True)


def c_pthread_kill(ident, signum):
    """Sends a signal to a thread; the number of an error, or 0."""
    return _pthread_kill(ident, rffi.cast(rffi.INT, signum))


def c_get_native_id():
    """The number that the system gives the thread."""
    return rffi.cast(rffi.ULONG, _gettid())


@specialize.memo()
def _entry_of(func):
    def thread_entry():
        func()
    return thread_entry


@specialize.arg(0)
def ll_start_new_thread(func):
    """Runs a function in a thread of its own; answers the number of that."""
    ident = _start(rffi.llhelper(CALLBACK, _entry_of(func)))
    if ident == -1:
        raise error("can't start new thread")
    return ident


@specialize.arg(0)
def start_new_thread(x, y):
    """The same. The function gets no arguments: `y` is empty."""
    assert len(y) == 0
    return ll_start_new_thread(x)


def get_stacksize():
    """What new threads get, in bytes; 0 if that is the system's affair."""
    return rpy_thread_stack_size()


def set_stacksize(newsize):
    """0 if it could be done, -1 for a size that is not possible."""
    return rpy_thread_set_stack_size(newsize)


def thread_after_fork():
    """The runtime does that."""

# The collector knows the threads without being told.

def gc_thread_run():
    pass


def gc_thread_start():
    pass


def gc_thread_die():
    pass


def gc_thread_before_fork():
    return llmemory.NULL


def gc_thread_after_fork(result_of_fork, opaqueaddr):
    pass

# ____________________________________________________________ variables of threads

_object = rffi.llexternal('rpy_thread_object', [lltype.Signed], llmemory.GCREF,
                          _nowrapper=True)
_set_object = rffi.llexternal('rpy_thread_set_object', [lltype.Signed, llmemory.GCREF],
                              lltype.Void, _nowrapper=True)
_count = [0, 0]


@not_rpython
def _next_number(kind):
    number = _count[kind]
    _count[kind] += 1
    return number


class ThreadLocalReference(object):
    """A place for an instance of a class, None at first in every thread."""

    def __init__(self, Cls, loop_invariant=False):
        number = _next_number(0)
        self._value = None      # while the program loads

        def get():
            if we_are_translated():
                return cast_gcref_to_instance(Cls, _object(number))
            return self._value

        def set(value):
            if we_are_translated():
                _set_object(number, cast_instance_to_gcref(value))
            else:
                self._value = value
        self.get, self.set = get, set

    def _freeze_(self):
        return True

    @staticmethod
    def automatic_keepalive(config):
        """Whether the collector keeps the instance alive by itself."""
        return True


class ThreadLocalField(object):
    """A place for a low-level value, zero at first in every thread."""

    def __init__(self, FIELDTYPE, fieldname, loop_invariant=False):
        number = _next_number(1)
        PLACE = rffi.CArrayPtr(FIELDTYPE)
        place = rffi.llexternal('rpy_thread_word', [lltype.Signed], PLACE, _nowrapper=True)
        self._value = FIELDTYPE._defl()     # while the program loads

        def getraw():
            if we_are_translated():
                return place(number)[0]
            return self._value

        def setraw(value):
            if we_are_translated():
                place(number)[0] = value
            else:
                self._value = value
        self.getraw, self.get_or_make_raw, self.setraw = getraw, getraw, setraw

    def _freeze_(self):
        return True


tlfield_thread_ident = ThreadLocalField(lltype.Signed, "thread_ident", loop_invariant=True)
tlfield_thread_ident.getraw = tlfield_thread_ident.get_or_make_raw = get_ident
tlfield_alt_errno = ThreadLocalField(rffi.INT, "alt_errno")
