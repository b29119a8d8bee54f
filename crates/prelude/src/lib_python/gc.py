"""The collector. At import time a collection frees nothing, but it clears weak references;
the compiler knows collect() in functions.

A program can switch automatic collections off; that is noted, and they go on.
"""
from _taipan import collect as _collect


class _State(object):
    enabled = True

_state = _State()


def collect(generation=2):
    _collect()
    return 0


def enable():
    _state.enabled = True


def disable():
    _state.enabled = False


def isenabled():
    return _state.enabled
