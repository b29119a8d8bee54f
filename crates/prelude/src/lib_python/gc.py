"""The collector. At import time a collection frees nothing, but it clears weak references;
the compiler knows collect() in functions.

A translated program can switch off that major collections come by themselves. While one loads
that is noted only.
"""
from _taipan import collect as _collect
from rpython.rlib.objectmodel import we_are_translated
from taipan_lowlevel import rpy_gc_is_enabled, rpy_gc_set_enabled


class _State(object):
    enabled = True

_state = _State()


def collect(generation=2):
    _collect()
    return 0


def enable():
    if we_are_translated():
        rpy_gc_set_enabled(True)
    else:
        _state.enabled = True


def disable():
    if we_are_translated():
        rpy_gc_set_enabled(False)
    else:
        _state.enabled = False


def isenabled():
    if we_are_translated():
        return rpy_gc_is_enabled()
    return _state.enabled
