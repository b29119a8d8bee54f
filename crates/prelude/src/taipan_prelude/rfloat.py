"""Floats: text, hash, conversions."""
from rpython.rtyper.lltypesystem.lltype import (
    Signed, Float, malloc)
from rpython.rtyper.lltypesystem.lloperation import llop
from taipan_lowlevel import STR
from rpython.rlib.rarithmetic import intmask
from taipan_lowlevel import (
    rpy_float_format, rpy_float_parse, rpy_float_parse_ok,
    rpy_float_frexp_mantissa, rpy_float_frexp_exponent)
from taipan_prelude.rstr import ll_strip_default, ll_slice

ADD_DOT_0 = 2


def ll_formatd(x, code, precision, flags):
    room = precision
    if room < 17:
        room = 17
    if code == 'f' or code == 'F':
        room += 310
    buffer = malloc(STR, room + 32)
    n = rpy_float_format(x, code, precision, flags, buffer)
    return ll_slice(buffer, 0, n)

def ll_float_str(x):
    """str() and %f alike; unlike CPython's str(), as in RPython."""
    return ll_formatd(x, 'f', 6, 0)

def ll_float_repr(x):
    return ll_formatd(x, 'r', 0, ADD_DOT_0)

def ll_str2float(s):
    s = ll_strip_default(s, True, True)
    if not rpy_float_parse_ok(s):
        raise ValueError
    return rpy_float_parse(s)

def ll_float_hash(x):
    """As CPython 2.7 for integral values, so that 1.0 and 1 agree."""
    if x != x:
        return 0
    if x * 0.5 == x and x != 0.0:
        if x > 0.0:
            return 314159
        return -271828
    mantissa = rpy_float_frexp_mantissa(x)
    exponent = rpy_float_frexp_exponent(x)
    mantissa = mantissa * 2147483648.0
    high = llop.cast_float_to_int(Signed, mantissa)
    mantissa = (mantissa - llop.cast_int_to_float(Float, high)) * 2147483648.0
    low = llop.cast_float_to_int(Signed, mantissa)
    return intmask(high + low + llop.int_lshift(Signed, exponent, 15))
