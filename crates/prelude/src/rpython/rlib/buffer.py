"""Things that are read, and some written, like strings of bytes."""


class CannotRead(Exception):
    pass


class CannotWrite(Exception):
    pass


class Buffer(object):
    """Base of all of them."""
    readonly = True

    def getlength(self):
        raise NotImplementedError

    def __len__(self):
        return self.getlength()

    def getitem(self, index):
        raise NotImplementedError

    def __getitem__(self, index):
        return self.getitem(index)

    def as_str(self):
        return self.getslice(0, 1, self.getlength())

    def getslice(self, start, step, size):
        """size characters from start on, every step-th."""
        chars = [self.getitem(start + i * step) for i in range(size)]
        return ''.join(chars)

    def setitem(self, index, char):
        raise NotImplementedError

    def __setitem__(self, index, char):
        self.setitem(index, char)

    def setslice(self, start, string):
        for i in range(len(string)):
            self.setitem(start + i, string[i])

    def setzeros(self, start, count):
        for i in range(start, start + count):
            self.setitem(i, '\x00')

    def releasebuffer(self):
        pass

    def needs_release(self):
        return False


class StringBuffer(Buffer):

    def __init__(self, value):
        self.value = value
        self.readonly = True

    def getlength(self):
        return len(self.value)

    def as_str(self):
        return self.value

    def getitem(self, index):
        return self.value[index]

    def getslice(self, start, step, size):
        if size == 0:
            return ''
        if step == 1:
            assert 0 <= start <= start + size <= len(self.value)
            return self.value[start:start + size]
        return Buffer.getslice(self, start, step, size)


class ByteBuffer(Buffer):
    """Zeroes at first."""

    def __init__(self, n):
        self.data = ['\x00'] * n
        self.readonly = False

    def getlength(self):
        return len(self.data)

    def getitem(self, index):
        return self.data[index]

    def setitem(self, index, char):
        self.data[index] = char


class SubBuffer(Buffer):
    """size characters of another buffer from offset on, or up to its end."""

    def __init__(self, buffer, offset, size):
        self.readonly = buffer.readonly
        if isinstance(buffer, SubBuffer):
            # Of the innermost buffer, so that access takes one step only.
            room = max(0, buffer.getlength() - offset)
            size = room if size < 0 else min(size, room)
            offset += buffer.offset
            buffer = buffer.buffer
        self.buffer = buffer
        self.offset = offset
        self.size = size

    def getlength(self):
        room = max(0, self.buffer.getlength() - self.offset)
        if 0 <= self.size < room:
            return self.size
        return room

    def getitem(self, index):
        return self.buffer.getitem(self.offset + index)

    def getslice(self, start, step, size):
        if start == 0 and size == 0:
            return ''
        return self.buffer.getslice(self.offset + start, step, size)

    def setitem(self, index, char):
        self.buffer.setitem(self.offset + index, char)
