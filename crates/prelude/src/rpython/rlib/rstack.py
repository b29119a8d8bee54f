"""How deep the stack may be, and is.

Translated functions that recurse check the stack by themselves, and raise StackOverflow.
"""
from rpython.rlib.objectmodel import we_are_translated
from rpython.rlib.rstackovf import _StackOverflow
from taipan_lowlevel import (
    rpy_stack_is_almost_full, rpy_stack_is_too_big, rpy_stack_set_critical,
    rpy_stack_set_length_fraction)


def stack_almost_full():
    """Whether it is time to stop recursing: less than a sixteenth of the stack is left."""
    if we_are_translated():
        return rpy_stack_is_almost_full()
    return False


def stack_check():
    """Raises StackOverflow where the stack is deeper than it may be."""
    if we_are_translated():
        stack_check_slowpath(0)


def stack_check_slowpath(current):
    if rpy_stack_is_too_big():
        raise _StackOverflow


# By these names the original's functions are known that have none without an underscore.

def _stack_set_length_fraction(fraction):
    """Sets how deep stacks may be, of all threads: 1.0 is what they have at first."""
    if we_are_translated():
        rpy_stack_set_length_fraction(fraction)


def _stack_criticalcode_start():
    """From now on StackOverflow is raised only where the stack really ends."""
    if we_are_translated():
        rpy_stack_set_critical(True)


def _stack_criticalcode_stop():
    if we_are_translated():
        rpy_stack_set_critical(False)
