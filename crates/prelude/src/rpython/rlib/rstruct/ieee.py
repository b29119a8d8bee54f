"""Floats in the formats of IEEE 754: of 2, 4 and 8 bytes."""
import math

from rpython.rlib import rfloat
from rpython.rlib.rarithmetic import intmask, r_ulonglong
from rpython.rlib.rstring import StringBuilder


def round_to_nearest(x):
    """The nearest integer, the even one of two, as int."""
    whole = int(x)
    rest = x - whole
    if rest > 0.5 or (rest == 0.5 and whole & 1):
        whole += 1
    return whole


def _mantissa_bits(size):
    if size == 8:
        return 52
    if size == 4:
        return 23
    if size == 2:
        return 10
    raise ValueError("a float has 2, 4 or 8 bytes")


def float_unpack(Q, size):
    """The float of these bits."""
    bits = _mantissa_bits(size)
    exponent_bits = 8 * size - 1 - bits
    bias = (1 << (exponent_bits - 1)) - 1
    mantissa = intmask(Q & ((r_ulonglong(1) << bits) - r_ulonglong(1)))
    exponent = intmask(Q >> bits) & ((1 << exponent_bits) - 1)
    negative = intmask(Q >> (8 * size - 1)) & 1
    if exponent == 2 * bias + 1:
        if mantissa:
            result = rfloat.NAN
        else:
            result = rfloat.INFINITY
    elif exponent == 0:
        result = math.ldexp(float(mantissa), 1 - bias - bits)
    else:
        result = math.ldexp(float(mantissa + (1 << bits)), exponent - bias - bits)
    if negative:
        return -result
    return result


def float_pack(x, size):
    """The bits of a float, as r_ulonglong. OverflowError if it is too large."""
    bits = _mantissa_bits(size)
    exponent_bits = 8 * size - 1 - bits
    bias = (1 << (exponent_bits - 1)) - 1
    mantissa = 0
    if math.isnan(x):
        exponent = 2 * bias + 1
        mantissa = 1 << (bits - 1)
    elif math.isinf(x):
        exponent = 2 * bias + 1
    elif x == 0.0:
        exponent = 0
    else:
        fraction, power = math.frexp(math.fabs(x))
        exponent = power - 1 + bias
        if exponent >= 1:
            mantissa = round_to_nearest(math.ldexp(fraction, bits + 1)) - (1 << bits)
        else:
            # Too small to have a leading one.
            mantissa = round_to_nearest(math.ldexp(fraction, power + bias - 1 + bits))
            exponent = 0
        if mantissa == 1 << bits:
            mantissa = 0
            exponent += 1
        if exponent >= 2 * bias + 1:
            raise OverflowError("float too large to pack in this format")
    result = (r_ulonglong(exponent) << bits) | r_ulonglong(mantissa)
    if math.copysign(1.0, x) < 0.0:
        result |= r_ulonglong(1) << (8 * size - 1)
    return result


def pack_float(wbuf, pos, x, size, be):
    """Writes a float into a buffer, `be`: the highest byte first."""
    pack_float_to_buffer(wbuf, pos, float_pack(x, size), size, be)


def pack_float_to_buffer(wbuf, pos, value, size, be):
    """Writes the bits of a float."""
    for i in range(size):
        at = pos + i
        if be:
            at = pos + size - 1 - i
        wbuf.setitem(at, chr(intmask(value >> (8 * i)) & 0xff))


def unpack_float(s, be):
    """The float in all bytes of a string."""
    bits = r_ulonglong(0)
    for i in range(len(s)):
        at = len(s) - 1 - i
        if be:
            at = i
        bits = (bits << 8) | r_ulonglong(ord(s[at]))
    return float_unpack(bits, len(s))
