"""Things that are read, and some written, like strings of bytes.

A Buffer says how long it is and gives (and takes) characters one by one; all else can be
made of that. Those whose characters lie together copy pieces of them at once.
"""
from rpython.rlib import rgc
from rpython.rlib.longlong2float import (
    float2longlong, longlong2float, singlefloat2uint, uint2singlefloat)
from rpython.rlib.objectmodel import specialize
from rpython.rlib.rarithmetic import intmask, r_uint
from rpython.rtyper.lltypesystem import llmemory, lltype, rffi


ALLOW_UNALIGNED_ACCESS = True


class CannotRead(Exception):
    """A number cannot be read at this place of this buffer."""


class CannotWrite(Exception):
    """A number cannot be written at this place of this buffer, or nothing at all."""


class Buffer(object):
    """Base of all of them. Indices are not checked, but for those of numbers."""
    _immutable_ = True
    readonly = True

    # What subclasses say.

    def getlength(self):
        raise NotImplementedError

    def getitem(self, index):
        raise NotImplementedError

    def setitem(self, index, char):
        raise NotImplementedError

    def get_raw_address(self):
        """The bytes in memory: ValueError where they may move."""
        raise ValueError("no raw buffer")

    def needs_release(self):
        """Whether releasebuffer() has to be called when the buffer is not used any more."""
        return False

    def releasebuffer(self):
        pass

    # What follows from that, and some subclasses do faster.

    def getslice(self, start, step, size):
        """size characters from start on, every step-th."""
        return ''.join([self.getitem(start + i * step) for i in range(size)])

    def setslice(self, start, string):
        for i in range(len(string)):
            self.setitem(start + i, string[i])

    def setzeros(self, index, count):
        for i in range(index, index + count):
            self.setitem(i, '\x00')

    def as_str(self):
        return self.getslice(0, 1, self.getlength())

    @specialize.ll_and_arg(1)
    def typed_read(self, TP, byte_offset):
        """A number of a low-level type, the lowest byte first."""
        size = rffi.sizeof(TP)
        self._check_room(byte_offset, size)
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
        self._check_room(byte_offset, size)
        if TP is lltype.Float:
            bits = r_uint(float2longlong(value))
        elif TP is lltype.SingleFloat:
            bits = r_uint(singlefloat2uint(value))
        else:
            bits = rffi.cast(lltype.Unsigned, value)
        for i in range(size):
            self.setitem(byte_offset + i, chr(intmask(bits & r_uint(255))))
            bits >>= 8

    def _check_room(self, offset, size):
        if offset < 0 or offset + size > self.getlength():
            raise IndexError

    # Operators.

    def __len__(self):
        length = self.getlength()
        assert length >= 0
        return length

    def __getitem__(self, index):
        return self.getitem(index)

    def __setitem__(self, index, char):
        self.setitem(index, char)

    def __getslice__(self, start, stop):
        size = min(stop, self.getlength()) - start
        return self.getslice(start, 1, max(size, 0))


# Bytes that do not move.

class RawBuffer(Buffer):
    """Base of those whose bytes do not move. get_raw_address() says where they are; how
    many need not be known."""
    _immutable_ = True

    def get_raw_address(self):
        raise NotImplementedError

    def _check_room(self, offset, size):
        pass

    def getitem(self, index):
        return self.get_raw_address()[index]

    def setitem(self, index, char):
        self.get_raw_address()[index] = char

    def getslice(self, start, step, size):
        if step == 1:
            return rffi.charpsize2str(rffi.ptradd(self.get_raw_address(), start), size)
        return Buffer.getslice(self, start, step, size)


class _Memory(RawBuffer):
    """size characters behind a pointer that stays the same."""
    _immutable_ = True

    def __init__(self, raw_cdata, size):
        self.size, self.raw_cdata = size, raw_cdata
        self.readonly = False

    def get_raw_address(self):
        return self.raw_cdata

    def getlength(self):
        return self.size

    def _check_room(self, offset, size):
        Buffer._check_room(self, offset, size)

    def setitem(self, index, char):
        self.raw_cdata[index] = char

    def getitem(self, index):
        return self.raw_cdata[index]


class LLBuffer(_Memory):
    """Memory that belongs to somebody else."""
    _immutable_ = True


class RawByteBuffer(_Memory):
    """Memory of its own, zeroes at first."""
    _immutable_ = True

    def __init__(self, n):
        chars = lltype.malloc(rffi.CCHARP.TO, n, flavor='raw', zero=True)
        _Memory.__init__(self, chars, n)

    def __del__(self):
        lltype.free(self.raw_cdata, flavor='raw')


# Bytes on the heap.

class GCBuffer(Buffer):
    """Base of those whose bytes are on the heap.

    Where those are to be found its subclasses say for the original's sake: numbers are
    read and written byte by byte here.
    """
    _immutable_ = True

    @staticmethod
    def decorate(targetcls):
        if targetcls.__bases__ != (GCBuffer,):
            raise ValueError("GCBuffer.decorate is for direct subclasses of GCBuffer")
        return targetcls


_CHARS = lltype.GcArray(lltype.Char)

def get_gc_data_for_list_of_chars(data):
    """The low-level array of a list that `rgc.resizable_list_supporting_raw_ptr` made."""
    return lltype.cast_opaque_ptr(llmemory.GCREF, rgc.ll_for_resizable_list(data).items)

def get_gc_data_offset_for_list_of_chars():
    """Where the characters begin in such an array."""
    return llmemory.itemoffsetof(_CHARS, 0)


@GCBuffer.decorate
class ByteBuffer(GCBuffer):
    """A list of characters, zeroes at first."""
    _immutable_ = True

    def __init__(self, n):
        zeroes = ['\x00'] * n
        self.data = rgc.resizable_list_supporting_raw_ptr(zeroes)
        self.readonly = False

    def get_raw_address(self):
        return rgc.nonmoving_raw_ptr_for_resizable_list(self.data)

    def getlength(self):
        return len(self.data)

    def setitem(self, index, char):
        self.data[index] = char

    def getitem(self, index):
        return self.data[index]

    def getslice(self, start, step, size):
        if step == 1:
            stop = start + size
            assert 0 <= start <= stop
            return ''.join(self.data[start:stop])
        return Buffer.getslice(self, start, step, size)


@GCBuffer.decorate
class StringBuffer(GCBuffer):
    """A string, which is read only."""
    _immutable_ = True

    def __init__(self, value):
        self.readonly = True
        self.value = value

    def as_str(self):
        return self.value

    def get_raw_address(self):
        return rffi.get_raw_address_of_string(self.value)

    def getlength(self):
        return len(self.value)

    def getslice(self, start, step, size):
        if step != 1 or size == 0:
            return Buffer.getslice(self, start, step, size)
        stop = start + size
        assert 0 <= start <= stop <= len(self.value)
        return self.value[start:stop]

    def getitem(self, index):
        return self.value[index]


# A part of another buffer.

class SubBuffer(Buffer):
    """size characters of another buffer from offset on, or up to its end."""
    _immutable_ = True

    def __init__(self, buffer, offset, size):
        self.readonly = buffer.readonly
        if isinstance(buffer, SubBuffer):
            # Of the innermost buffer, so that access takes one step only.
            room = max(0, buffer.getlength() - offset)
            size = room if size < 0 else min(size, room)
            offset, buffer = buffer.offset + offset, buffer.buffer
        self.size, self.offset, self.buffer = size, offset, buffer

    def get_raw_address(self):
        return rffi.ptradd(self.buffer.get_raw_address(), self.offset)

    def getlength(self):
        room = max(0, self.buffer.getlength() - self.offset)
        return self.size if 0 <= self.size < room else room

    def getitem(self, index):
        return self.buffer.getitem(self.offset + index)

    def setitem(self, index, char):
        inner = self.offset + index
        self.buffer.setitem(inner, char)

    def getslice(self, start, step, size):
        # The place of nothing at all may be outside of the other buffer.
        if size != 0:
            return self.buffer.getslice(self.offset + start, step, size)
        return ''

    def setslice(self, start, string):
        if string:
            self.buffer.setslice(self.offset + start, string)
