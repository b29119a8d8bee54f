"""There is one thread at import time."""
error = RuntimeError


class LockType(object):
    def __init__(self):
        self.held = False

    def acquire(self, waitflag=1):
        self.held = True
        return True

    def release(self):
        self.held = False

    def locked(self):
        return self.held

    def __enter__(self):
        return self.acquire()

    def __exit__(self, *exc_info):
        self.release()


allocate_lock = LockType


def get_ident():
    return 1


def start_new_thread(func, args, kwds={}):
    raise error("import-time code cannot start threads")
