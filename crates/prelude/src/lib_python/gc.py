"""The collector. Nothing is ever collected at import time."""
from rpython.rlib.objectmodel import we_are_translated


def collect(generation=2):
    if we_are_translated():
        from rpython.rlib import rgc
        rgc.collect()


def enable():
    if we_are_translated():
        from rpython.rlib import rgc
        rgc.enable()


def disable():
    if we_are_translated():
        from rpython.rlib import rgc
        rgc.disable()


def isenabled():
    return True
