"""Floats: hash, division, power."""
from rpython.rtyper.lltypesystem.lltype import Signed, Float
from rpython.rtyper.lltypesystem.lloperation import llop
from rpython.rlib.rarithmetic import intmask
from taipan_lowlevel import rpy_float_frexp_mantissa, rpy_float_frexp_exponent
from taipan_prelude.rmath import ll_math_pow


def ll_hash_float(x):
    """CPython 2.7's, without its special case for integral values."""
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

def ll_float_to_int(x):
    if x != x:
        raise ValueError
    if x >= 9223372036854775808.0 or x < -9223372036854775808.0:
        raise OverflowError
    return llop.cast_float_to_int(Signed, x)

def ll_float_pow(x, y):
    return ll_math_pow(x, y)
