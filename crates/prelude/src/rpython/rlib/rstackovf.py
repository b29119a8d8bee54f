"""Stack overflow as an exception: `except StackOverflow`, followed by
`check_stack_overflow()`, which lets every other RuntimeError through."""
import sys

from rpython.rlib.objectmodel import not_rpython, we_are_translated
from taipan_lowlevel import StackOverflow

_StackOverflow = StackOverflow


def check_stack_overflow():
    """To be called in a handler of StackOverflow."""
    if not we_are_translated():
        _check()

# While a program loads, the stack overflows by a RuntimeError, as Python's does.

@not_rpython
def _check():
    cls, value, _ = sys.exc_info()
    if cls is not RuntimeError or 'recursion' not in str(value):
        raise
