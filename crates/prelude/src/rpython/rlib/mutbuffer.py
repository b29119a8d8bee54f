"""A buffer that is filled once and becomes a string."""
from rpython.rlib.buffer import Buffer


class MutableStringBuffer(Buffer):
    _immutable_ = True
    readonly = False

    def __init__(self, size):
        self.size = size
        self._chars = ['\0'] * size

    def getlength(self):
        return self.size

    def getitem(self, index):
        return self._chars[index]

    def setitem(self, index, char):
        self._chars[index] = char

    def as_str(self):
        return ''.join(self._chars)

    def finish(self):
        """The string, of a buffer that is not used any more."""
        return self.as_str()
