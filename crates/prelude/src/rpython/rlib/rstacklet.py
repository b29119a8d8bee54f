"""Pieces of the machine stack that can be switched between. Programs that use them compile;
the stack is in one piece, so that starting a second one fails."""
from rpython.rlib.objectmodel import specialize
from rpython.rtyper.lltypesystem import llmemory, lltype, rffi

DEBUG = False
handle = rffi.VOIDP

class StackletDebugError(Exception):
    pass


class StackletThread(object):
    """A machine stack; the argument is of no use."""

    def __init__(self, _argument_ignored_for_backward_compatibility=None):
        pass

    @specialize.arg(1)
    def new(self, callback, arg=llmemory.NULL):
        """Runs callback(handle, arg) on a stack of its own."""
        null = self.get_null_handle()
        if null:
            return callback(null, arg)
        raise NotImplementedError("stacklets: a program has one stack here")

    def switch(self, stacklet):
        raise NotImplementedError("stacklets: a program has one stack here")

    def is_empty_handle(self, stacklet):
        return not stacklet

    def get_null_handle(self):
        return lltype.nullptr(handle.TO)

    def _freeze_(self):
        raise Exception("StackletThread instances must not be seen during translation.")
