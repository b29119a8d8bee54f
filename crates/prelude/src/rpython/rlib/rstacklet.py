"""Stacklets: pieces of the program that take turns, each on a machine stack of its own.

A stacklet that waits is known by a handle. Handles are given out by what makes the
program go on (`new`, `switch`, the start of a callback), and are used up by `switch` and
by being returned from a callback. A stacklet whose handle is lost dies.
"""
from rpython.rlib.objectmodel import specialize
from rpython.rtyper.lltypesystem import llmemory, lltype, rffi

DEBUG = False
handle = llmemory.GCREF

class StackletDebugError(Exception):
    pass


_ENTRY = lltype.Ptr(lltype.FuncType([handle, llmemory.Address], handle))
_new = rffi.llexternal('rpy_stacklet_new', [_ENTRY, llmemory.Address], handle, _nowrapper=True)
_switch = rffi.llexternal('rpy_stacklet_switch', [handle], handle, _nowrapper=True)
_is_empty = rffi.llexternal('rpy_stacklet_is_empty', [handle], rffi.INT, _nowrapper=True)


@specialize.memo()
def _entry_of(callback):
    def stacklet_entry(h, arg):
        return callback(h, arg)
    return stacklet_entry


class StackletThread(object):
    """Makes stacklets and switches between them; the argument is of no use."""

    def __init__(self, _argument_ignored_for_backward_compatibility=None):
        pass

    @specialize.arg(1)
    def new(self, callback, arg=llmemory.NULL):
        """Runs callback(handle, arg) on a stack of its own; it returns the handle to go on
        with. Answers when somebody switches back: the handle of who did, an empty one if
        that has finished."""
        h = _new(rffi.llhelper(_ENTRY, _entry_of(callback)), arg)
        if not h:
            raise MemoryError
        return h

    def switch(self, stacklet):
        """Goes on with a stacklet; answers as `new` does."""
        return _switch(stacklet)

    def is_empty_handle(self, stacklet):
        """Whether a handle is that of a stacklet that has finished."""
        return rffi.cast(lltype.Signed, _is_empty(stacklet)) != 0

    def get_null_handle(self):
        return lltype.nullptr(handle.TO)

    def _freeze_(self):
        raise Exception("StackletThread instances must not be seen during translation.")
