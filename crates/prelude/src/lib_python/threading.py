"""There is one thread at import time."""
from thread import allocate_lock as Lock

RLock = Lock


class local(object):
    pass


class Thread(object):
    def __init__(self, *args, **kwds):
        pass

    def start(self):
        raise RuntimeError("import-time code cannot start threads")


def currentThread():
    return Thread()


current_thread = currentThread


# The remedy that the compiler shows where translated code makes one.
Thread._instead_ = 'use `start_new_thread(function, args)` of rpython.rlib.rthread, and locks of `allocate_lock()`'
