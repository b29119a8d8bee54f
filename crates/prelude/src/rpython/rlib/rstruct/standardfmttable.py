"""What packs and unpacks the values of `struct` formats of standard sizes, by code.

The functions are given an iterator over the format (`fmtiter`), which a program writes as
it needs it. One that packs has the buffer `wbuf`, the place `pos` in it, and methods that
give the next value (`accept_int_arg()` and the like); one that unpacks has `read(size)` and
takes values by `appendobj(value)`. Both have `advance(size)` and `bigendian`.
"""
from rpython.rlib.longlong2float import (
    float2longlong, longlong2float, uint2singlefloat)
from rpython.rlib.objectmodel import specialize
from rpython.rlib.rarithmetic import intmask, r_uint, r_uint32
from rpython.rlib.rstruct import ieee
from rpython.rlib.rstruct.error import StructError, StructOverflowError

native_is_bigendian = False
native_is_ieee754 = True


# Bytes of numbers

def pack_bits(fmtiter, bits, size):
    """The low bytes of an unsigned number."""
    for i in range(size):
        at = i
        if fmtiter.bigendian:
            at = size - 1 - i
        fmtiter.wbuf.setitem(fmtiter.pos + at, chr(intmask(bits & r_uint(0xff))))
        bits >>= 8
    fmtiter.advance(size)

@specialize.argtype(0)
def unpack_bits(fmtiter, size):
    text = fmtiter.read(size)
    bits = r_uint(0)
    for i in range(size):
        at = size - 1 - i
        if fmtiter.bigendian:
            at = i
        bits = (bits << 8) | r_uint(ord(text[at]))
    return bits


# Texts

def pack_pad(fmtiter, count):
    fmtiter.wbuf.setzeros(fmtiter.pos, count)
    fmtiter.advance(count)

@specialize.argtype(0)
def unpack_pad(fmtiter, count):
    fmtiter.read(count)

def pack_char(fmtiter):
    text = fmtiter.accept_str_arg()
    if len(text) != 1:
        raise StructError("expected a string of length 1")
    fmtiter.wbuf.setitem(fmtiter.pos, text[0])
    fmtiter.advance(1)

@specialize.argtype(0)
def unpack_char(fmtiter):
    fmtiter.appendobj(fmtiter.read(1))

def _pack_text(fmtiter, text, count):
    """As much of the text as there is room for, and zeroes behind it."""
    assert count >= 0
    if len(text) > count:
        text = text[:count]
    fmtiter.wbuf.setslice(fmtiter.pos, text)
    fmtiter.wbuf.setzeros(fmtiter.pos + len(text), count - len(text))
    fmtiter.advance(count)

def pack_string(fmtiter, count):
    _pack_text(fmtiter, fmtiter.accept_str_arg(), count)

@specialize.argtype(0)
def unpack_string(fmtiter, count):
    fmtiter.appendobj(fmtiter.read(count))

def pack_pascal(fmtiter, count):
    text = fmtiter.accept_str_arg()
    if count == 0:
        raise StructError("bad '0p' in struct format")
    length = min(min(len(text), count - 1), 255)
    fmtiter.wbuf.setitem(fmtiter.pos, chr(length))
    fmtiter.advance(1)
    _pack_text(fmtiter, text, count - 1)

@specialize.argtype(0)
def unpack_pascal(fmtiter, count):
    if count == 0:
        raise StructError("bad '0p' in struct format")
    text = fmtiter.read(count)
    fmtiter.appendobj(text[1:min(1 + ord(text[0]), count)])


# Numbers

def pack_bool(fmtiter):
    char = '\x00'
    if fmtiter.accept_bool_arg():
        char = '\x01'
    fmtiter.wbuf.setitem(fmtiter.pos, char)
    fmtiter.advance(1)

@specialize.argtype(0)
def unpack_bool(fmtiter):
    fmtiter.appendobj(fmtiter.read(1)[0] != '\x00')

def _make_small_float_packer(size, code):
    def pack(fmtiter):
        value = fmtiter.accept_float_arg()
        try:
            ieee.pack_float(fmtiter.wbuf, fmtiter.pos, value, size, fmtiter.bigendian)
        except OverflowError:
            raise StructOverflowError("float too large for format '%s'" % code)
        fmtiter.advance(size)
    return pack

pack_halffloat = _make_small_float_packer(2, 'e')
pack_float = _make_small_float_packer(4, 'f')

def pack_double(fmtiter):
    pack_bits(fmtiter, r_uint(float2longlong(fmtiter.accept_float_arg())), 8)

@specialize.argtype(0)
def unpack_halffloat(fmtiter):
    fmtiter.appendobj(ieee.unpack_float(fmtiter.read(2), fmtiter.bigendian))

@specialize.argtype(0)
def unpack_float(fmtiter):
    bits = unpack_bits(fmtiter, 4)
    fmtiter.appendobj(float(uint2singlefloat(r_uint32(bits))))

@specialize.argtype(0)
def unpack_double(fmtiter):
    fmtiter.appendobj(longlong2float(intmask(unpack_bits(fmtiter, 8))))

def _cached(make):
    made = {}
    def get(size, signed):
        if (size, signed) not in made:
            made[size, signed] = make(size, signed)
        return made[size, signed]
    return get

@_cached
def make_int_packer(size, signed):
    plural = 's' if size > 1 else ''
    message = "argument out of range for %d-byte%s integer format" % (size, plural)
    if size == 8 and signed:
        def pack_int(fmtiter):
            pack_bits(fmtiter, r_uint(fmtiter.accept_int_arg()), size)
    elif size == 8:
        def pack_int(fmtiter):
            pack_bits(fmtiter, fmtiter.accept_uint_arg(), size)
    else:
        lowest = -(1 << 8 * size - 1) if signed else 0
        highest = lowest + (1 << 8 * size) - 1
        def pack_int(fmtiter):
            value = fmtiter.accept_int_arg()
            if not lowest <= value <= highest:
                raise StructError(message)
            pack_bits(fmtiter, r_uint(value), size)
    return pack_int

@_cached
def make_int_unpacker(size, signed):
    unused = 64 - 8 * size
    if size == 8 and not signed:
        @specialize.argtype(0)
        def unpack_int(fmtiter):
            fmtiter.appendobj(unpack_bits(fmtiter, size))
    elif signed:
        @specialize.argtype(0)
        def unpack_int(fmtiter):
            bits = unpack_bits(fmtiter, size) << unused
            fmtiter.appendobj(intmask(bits) >> unused)
    else:
        @specialize.argtype(0)
        def unpack_int(fmtiter):
            fmtiter.appendobj(intmask(unpack_bits(fmtiter, size)))
    return unpack_int


def _entry(size, pack, unpack, **more):
    return dict(more, size=size, pack=pack, unpack=unpack)

standard_fmttable = {
    'x': _entry(1, pack_pad, unpack_pad, needcount=True),
    'c': _entry(1, pack_char, unpack_char),
    's': _entry(1, pack_string, unpack_string, needcount=True),
    'p': _entry(1, pack_pascal, unpack_pascal, needcount=True),
    '?': _entry(1, pack_bool, unpack_bool),
    'e': _entry(2, pack_halffloat, unpack_halffloat),
    'f': _entry(4, pack_float, unpack_float),
    'd': _entry(8, pack_double, unpack_double),
}

def int_entry(size, signed):
    return _entry(size, make_int_packer(size, signed), make_int_unpacker(size, signed))

for _code, _size in dict(b=1, h=2, i=4, l=4, q=8).items():
    standard_fmttable[_code] = int_entry(_size, True)
    standard_fmttable[_code.upper()] = int_entry(_size, False)
