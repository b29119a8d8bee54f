"""Things that are read, and some written, like strings of bytes."""
from rpython.rlib import rgc
from rpython.rlib.longlong2float import (
    float2longlong, longlong2float, singlefloat2uint, uint2singlefloat)
from rpython.rlib.objectmodel import specialize
from rpython.rlib.rarithmetic import intmask, r_uint
from rpython.rtyper.lltypesystem import llmemory, lltype, rffi


ALLOW_UNALIGNED_ACCESS = True

class CannotRead(Exception):
    pass


class CannotWrite(Exception):
    pass


class Buffer(object):
    """Base of all of them."""
    _immutable_ = True
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

    def __getslice__(self, start, stop):
        stop = min(stop, self.getlength())
        return self.getslice(start, 1, max(stop - start, 0))

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

    @specialize.ll_and_arg(1)
    def typed_read(self, TP, byte_offset):
        """A number of a low-level type, the lowest byte first."""
        size = rffi.sizeof(TP)
        _check_room(self, byte_offset, size)
        bits = r_uint(0)
        for i in range(size - 1, -1, -1):
            bits = (bits << 8) | r_uint(ord(self.getitem(byte_offset + i)))
        if TP is lltype.Float:
            return longlong2float(intmask(bits))
        elif TP is lltype.SingleFloat:
            return uint2singlefloat(bits)
        else:
            return rffi.cast(TP, bits)

    @specialize.ll_and_arg(1)
    def typed_write(self, TP, byte_offset, value):
        if self.readonly:
            raise CannotWrite
        size = rffi.sizeof(TP)
        _check_room(self, byte_offset, size)
        if TP is lltype.Float:
            bits = r_uint(float2longlong(value))
        elif TP is lltype.SingleFloat:
            bits = r_uint(singlefloat2uint(value))
        else:
            bits = rffi.cast(lltype.Unsigned, value)
        for i in range(size):
            self.setitem(byte_offset + i, chr(intmask(bits & r_uint(255))))
            bits >>= 8

    def get_raw_address(self):
        """The bytes in memory: ValueError where they may move."""
        raise ValueError("no raw buffer")

    def releasebuffer(self):
        pass

    def needs_release(self):
        return False


def _check_room(buffer, offset, size):
    if offset < 0 or offset + size > buffer.getlength():
        raise IndexError


class RawBuffer(Buffer):
    """Base of those whose bytes do not move."""
    _immutable_ = True

    def get_raw_address(self):
        raise NotImplementedError


class RawByteBuffer(RawBuffer):
    """Zeroes in raw memory at first, which lives as long as the program."""
    _immutable_ = True

    def __init__(self, n):
        self._length = n
        self._raw = lltype.malloc(rffi.CCHARP.TO, n, flavor='raw', zero=True)
        self.readonly = False

    def getlength(self):
        return self._length

    def getitem(self, index):
        return self._raw[index]

    def setitem(self, index, char):
        self._raw[index] = char

    def get_raw_address(self):
        return self._raw


class LLBuffer(RawBuffer):
    """Characters behind a pointer."""
    _immutable_ = True

    def __init__(self, raw_cdata, size):
        self.raw_cdata = raw_cdata
        self.size = size
        self.readonly = False

    def getlength(self):
        return self.size

    def getitem(self, index):
        return self.raw_cdata[index]

    def setitem(self, index, char):
        self.raw_cdata[index] = char

    def get_raw_address(self):
        return self.raw_cdata


class GCBuffer(Buffer):
    """Base of those whose bytes are on the heap.

    Where those are to be found its subclasses say for the original's sake: numbers are
    read and written byte by byte here.
    """
    _immutable_ = True

    @staticmethod
    def decorate(cls):
        if cls.__bases__ != (GCBuffer,):
            raise ValueError("GCBuffer.decorate is for direct subclasses of GCBuffer")
        return cls


def get_gc_data_for_list_of_chars(data):
    """The low-level array of a list that `rgc.resizable_list_supporting_raw_ptr` made."""
    return lltype.cast_opaque_ptr(llmemory.GCREF, rgc.ll_for_resizable_list(data).items)

def get_gc_data_offset_for_list_of_chars():
    """Where the characters begin in such an array."""
    return llmemory.itemoffsetof(_CHARS, 0)

_CHARS = lltype.GcArray(lltype.Char)


@GCBuffer.decorate
class StringBuffer(GCBuffer):
    _immutable_ = True

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
            stop = start + size
            assert 0 <= start <= stop <= len(self.value)
            return self.value[start:stop]
        return Buffer.getslice(self, start, step, size)


@GCBuffer.decorate
class ByteBuffer(GCBuffer):
    """Zeroes at first."""
    _immutable_ = True

    def __init__(self, n):
        self.data = rgc.resizable_list_supporting_raw_ptr(['\x00'] * n)
        self.readonly = False

    def getlength(self):
        return len(self.data)

    def getitem(self, index):
        return self.data[index]

    def setitem(self, index, char):
        self.data[index] = char

    def get_raw_address(self):
        return rgc.nonmoving_raw_ptr_for_resizable_list(self.data)


class SubBuffer(Buffer):
    """size characters of another buffer from offset on, or up to its end."""
    _immutable_ = True

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

    def setslice(self, start, string):
        if string:
            self.buffer.setslice(self.offset + start, string)

    def get_raw_address(self):
        return rffi.ptradd(self.buffer.get_raw_address(), self.offset)
