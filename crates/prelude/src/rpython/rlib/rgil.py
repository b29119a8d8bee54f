"""The lock that lets one thread of the program run at a time.

It is given up around calls of C functions that may take long, in programs that import
`rthread`; and where the program says so. While a program loads it has one thread, which
holds the lock.
"""
from rpython.rlib.objectmodel import specialize, we_are_translated
from rpython.rtyper.lltypesystem import lltype, rffi
from taipan_lowlevel import (rpy_gil_acquire, rpy_gil_holder, rpy_gil_release, rpy_gil_yield,
                             rpy_thread_ident)


def allocate():
    """The lock is there as soon as there are two threads."""


def acquire():
    if we_are_translated():
        rpy_gil_acquire()
    else:
        _emulated.is_held = True


def acquire_maybe_in_new_thread():
    if we_are_translated():
        rpy_gil_acquire()
    else:
        _emulated.is_held = True


def release():
    """Nothing that the collector moves may be touched until the next acquire()."""
    if we_are_translated():
        rpy_gil_release()
    else:
        _emulated.is_held = False


def yield_thread():
    """Lets another thread run if one wants to."""
    if we_are_translated():
        rpy_gil_yield()


def gil_get_holder():
    if not we_are_translated():
        return 1 if _emulated.is_held else 0
    return rpy_gil_holder()


def am_I_holding_the_GIL():
    if not we_are_translated():
        return _emulated.is_held
    return rpy_gil_holder() == rpy_thread_ident()


_CALLBACK = lltype.Ptr(lltype.FuncType([], lltype.Void))
_set_switched = rffi.llexternal('rpy_thread_switched', [_CALLBACK], lltype.Void, _nowrapper=True)


@specialize.arg(0)
def invoke_after_thread_switch(callback):
    """Has a function called whenever another thread runs than before, in that thread. There is one
    such function, which raises nothing."""
    if we_are_translated():
        _set_switched(rffi.llhelper(_CALLBACK, callback))


class _Emulated(object):
    """The lock while a program loads, and of tests that are interpreted."""
    is_held = True

_emulated = _Emulated()


def _reset_emulated_gil_holder():
    """Tests begin with the lock, whatever the one before has left."""
    _emulated.is_held = True
