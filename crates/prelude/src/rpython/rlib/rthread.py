"""Locks. Translated programs have one thread, so that waiting for a lock that is taken
would never end: it raises."""
import time


class error(Exception):
    """What cannot be done to a lock or thread."""


RThreadError = error

TIMEOUT_MAX = 4294967.0
RPY_LOCK_FAILURE, RPY_LOCK_ACQUIRED, RPY_LOCK_INTR = range(3)


class Lock(object):
    def __init__(self):
        self._taken = False

    def acquire(self, flag):
        """Takes it; False if it is taken and `flag` is not set."""
        if self._taken:
            if flag:
                raise error("deadlock: the only thread holds the lock already")
            return False
        self._taken = True
        return True

    def is_acquired(self):
        return self._taken

    def acquire_timed(self, timeout):
        """`timeout` in microseconds, negative: for ever."""
        if self.acquire(timeout < 0):
            return RPY_LOCK_ACQUIRED
        # Nobody will release it meanwhile.
        time.sleep(float(timeout) / 1000000.0)
        return RPY_LOCK_FAILURE

    def release(self):
        if not self._taken:
            raise error("the lock is not taken")
        self._taken = False

    def __enter__(self):
        self.acquire(True)

    def __exit__(self, *args):
        self.release()


def allocate_lock():
    return Lock()


dummy_lock = Lock()


def get_ident():
    return 1


def get_or_make_ident():
    return 1


def gc_thread_before_fork():
    from rpython.rtyper.lltypesystem import llmemory
    return llmemory.NULL


def gc_thread_after_fork(result_of_fork, opaqueaddr):
    pass


def gc_thread_start():
    pass


def gc_thread_die():
    pass


class ThreadLocalReference(object):
    """A place for an instance of a class, None at first."""

    def __init__(self, Cls, loop_invariant=False):
        self._value = None

    def get(self):
        return self._value

    def set(self, value):
        self._value = value

    @staticmethod
    def automatic_keepalive(config):
        """Whether the collector keeps the instance alive by itself."""
        return True


def ThreadLocalField(FIELDTYPE, fieldname, loop_invariant=False):
    """A place for a low-level value."""
    class ThreadLocalField(object):
        def __init__(self):
            self._value = FIELDTYPE._defl()

        def getraw(self):
            return self._value

        def get_or_make_raw(self):
            return self._value

        def setraw(self, value):
            self._value = value
    return ThreadLocalField()


def ll_start_new_thread(func):
    """Programs have one thread: starting another one fails."""
    raise error("can't start new thread")


def start_new_thread(x, y):
    return ll_start_new_thread(x)


def get_stacksize():
    return 0


def set_stacksize(newsize):
    """0 if it could be done, -1 for a size that is not possible, -2 if none is."""
    return -2


def thread_after_fork():
    pass


def gc_thread_run():
    pass
