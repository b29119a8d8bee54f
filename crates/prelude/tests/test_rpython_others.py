"""Weak references, signals, and pieces of the other modules that only RPython reaches."""
import os
import weakref

from hidden import number, real
from rpython.rlib import rgc, rposix, rsignal
from rpython.rlib.objectmodel import newlist_hint, resizelist_hint
from rpython.rlib.rstring import StringBuilder
from rpython.rtyper.lltypesystem import rffi


class Thing(object):
    def __init__(self, n):
        self.n = n

def test_weak_references():
    thing = Thing(number(5))
    ref = weakref.ref(thing)
    rgc.collect()
    assert ref().n == 5
    assert ref() is thing

def nobody():
    return weakref.ref(Thing(number(7)))

def test_weak_reference_to_what_is_gone():
    ref = nobody()
    rgc.collect()
    assert ref() is None

def test_hints_of_lengths():
    l = newlist_hint(number(100))
    assert len(l) == 0
    for i in range(200):
        l.append(i)
    resizelist_hint(l, number(1000))
    assert len(l) == 200
    l.append(5)
    assert l[199] == 199 and l[200] == 5

def test_signals():
    rsignal.pypysig_setflag(rsignal.SIGUSR1)
    assert rsignal.pypysig_poll() == -1
    os.kill(os.getpid(), rsignal.SIGUSR1)
    assert rsignal.pypysig_poll() == rsignal.SIGUSR1
    assert rsignal.pypysig_poll() == -1
    rsignal.pypysig_ignore(rsignal.SIGUSR1)
    os.kill(os.getpid(), rsignal.SIGUSR1)
    assert rsignal.pypysig_poll() == -1
    rsignal.pypysig_pushback(rsignal.SIGUSR2)
    assert rsignal.pypysig_poll() == rsignal.SIGUSR2
    rsignal.pypysig_default(rsignal.SIGUSR1)

def divided(x, y):
    try:
        return x / y
    except ZeroDivisionError:
        return -1.0

def test_division_of_floats_by_zero():
    # As the machine divides: nothing is raised.
    assert divided(real(1.0), real(2.0)) == 0.5
    assert divided(real(1.0), real(0.0)) == real(1e300) * 1e300

def test_pieces_of_raw_memory():
    builder = StringBuilder()
    with rffi.scoped_str2charp('hello') as p:
        builder.append_charpsize(p, number(4))
        builder.append_charpsize(p, number(0))
    assert builder.build() == 'hell'

def test_wakeup_descriptor():
    reading, writing = os.pipe()
    rsignal.pypysig_set_wakeup_fd(writing, True)
    rsignal.pypysig_setflag(rsignal.SIGUSR1)
    os.kill(os.getpid(), rsignal.SIGUSR1)
    assert os.read(reading, number(10)) == '\x00'
    assert rsignal.pypysig_set_wakeup_fd(writing, False) == writing
    os.kill(os.getpid(), rsignal.SIGUSR1)
    assert os.read(reading, number(10)) == chr(rsignal.SIGUSR1)
    rsignal.pypysig_set_wakeup_fd(-1, True)
    rsignal.pypysig_default(rsignal.SIGUSR1)

def test_saved_errno():
    rposix.set_saved_errno(number(5))
    assert rposix.get_saved_errno() == 5

def shifted(n, m):
    return n << rffi.cast(rffi.UCHAR, m)

def shifted_back(n, m):
    return n >> rffi.cast(rffi.INT, m)

def test_shifts_by_small_integers():
    assert shifted(number(5), number(4)) == 80
    assert shifted_back(number(-80), number(4)) == -5
