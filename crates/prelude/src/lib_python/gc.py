"""The collector. Nothing is ever collected at import time; the compiler knows collect() in
functions.

A program can switch automatic collections off; that is noted, and they go on.
"""


class _State(object):
    enabled = True

_state = _State()


def collect(generation=2):
    pass


def enable():
    _state.enabled = True


def disable():
    _state.enabled = False


def isenabled():
    return _state.enabled
