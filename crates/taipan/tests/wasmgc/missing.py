"""Uses features that hosts with a collector of their own lack."""

import os
from rpython.rlib import rgc, rthread
from rpython.rlib.rarithmetic import r_longlonglong, intmask
from rpython.rtyper.lltypesystem import lltype, rffi

POINT = lltype.Struct('point', ('x', lltype.Signed))


class Mortal(object):
    def __del__(self):
        pass


def worker():
    pass


def raw():
    p = lltype.malloc(POINT, flavor='raw')
    p.x = 5
    x = p.x
    lltype.free(p, flavor='raw')
    return x


def text(what):
    with rffi.scoped_str2charp(what) as p:
        return len(rffi.charp2str(p))


class Wide(object):
    def __init__(self, n):
        self.n = n


kept = [Wide(r_longlonglong(0))]


def wide(n):
    w = Wide(r_longlonglong(n))
    w.n = w.n * w.n
    return w


def upper(w):
    return intmask(w.n >> 64)


def fork():
    return os.fork()


def thread():
    rthread.start_new_thread(worker, ())
    return 0


def mortal():
    Mortal()
    return 0


def wider():
    kept.append(wide(5))
    return upper(kept[-1])


# An inlined function is reported at its call.
for f in [fork, thread, raw, text, wider, mortal]:
    f._dont_inline_ = True


def entry_point(argv):
    what = argv[1]
    if what == 'fork':
        return fork()
    elif what == 'thread':
        return thread()
    elif what == 'raw':
        return raw()
    elif what == 'text':
        return text(what)
    elif what == 'wide':
        return wider()
    elif what == 'del':
        return mortal()
    return 0


def target(driver, args):
    return entry_point
