"""Integers: division that rounds down, checked operations, hashes."""
from rpython.rtyper.lltypesystem.lltype import (
    Signed, Unsigned, SignedLongLongLong, UnsignedLongLongLong, cast_primitive)
from rpython.rtyper.lltypesystem.lloperation import llop
from rpython.rlib.rarithmetic import ovfcheck

INT_MIN = -0x8000000000000000


# Division. The machine truncates towards zero; Python rounds down. The two differ
# when the remainder is not zero and its sign is not the divisor's.

def ll_int_py_div(x, y):
    q = llop.int_floordiv(Signed, x, y)
    r = x - q * y
    if r != 0 and (r ^ y) < 0:
        return q - 1
    return q

def ll_int_py_div_nonnegargs(x, y):
    return llop.int_floordiv(Signed, x, y)

def ll_int_py_div_zer(x, y):
    if y == 0:
        raise ZeroDivisionError
    return ll_int_py_div(x, y)

def ll_int_py_div_ovf(x, y):
    if y == -1 and x == INT_MIN:
        raise OverflowError
    return ll_int_py_div(x, y)

def ll_int_py_div_ovf_zer(x, y):
    if y == 0:
        raise ZeroDivisionError
    return ll_int_py_div_ovf(x, y)

def ll_uint_py_div(x, y):
    return llop.uint_floordiv(Unsigned, x, y)

def ll_uint_py_div_zer(x, y):
    if y == 0:
        raise ZeroDivisionError
    return llop.uint_floordiv(Unsigned, x, y)

def ll_lllong_py_div(x, y):
    q = llop.lllong_floordiv(SignedLongLongLong, x, y)
    r = x - q * y
    if r != 0 and (r ^ y) < 0:
        return q - 1
    return q

def ll_lllong_py_div_zer(x, y):
    if y == 0:
        raise ZeroDivisionError
    return ll_lllong_py_div(x, y)

def ll_ulllong_py_div(x, y):
    return llop.ulllong_floordiv(UnsignedLongLongLong, x, y)

def ll_ulllong_py_div_zer(x, y):
    if y == 0:
        raise ZeroDivisionError
    return llop.ulllong_floordiv(UnsignedLongLongLong, x, y)


def ll_int_py_mod(x, y):
    r = llop.int_mod(Signed, x, y)
    if r != 0 and (r ^ y) < 0:
        return r + y
    return r

def ll_int_py_mod_nonnegargs(x, y):
    return llop.int_mod(Signed, x, y)

def ll_int_py_mod_zer(x, y):
    if y == 0:
        raise ZeroDivisionError
    return ll_int_py_mod(x, y)

def ll_int_py_mod_ovf(x, y):
    if y == -1 and x == INT_MIN:
        raise OverflowError
    return ll_int_py_mod(x, y)

def ll_int_py_mod_ovf_zer(x, y):
    if y == 0:
        raise ZeroDivisionError
    return ll_int_py_mod_ovf(x, y)

def ll_uint_py_mod(x, y):
    return llop.uint_mod(Unsigned, x, y)

def ll_uint_py_mod_zer(x, y):
    if y == 0:
        raise ZeroDivisionError
    return llop.uint_mod(Unsigned, x, y)

def ll_lllong_py_mod(x, y):
    r = llop.lllong_mod(SignedLongLongLong, x, y)
    if r != 0 and (r ^ y) < 0:
        return r + y
    return r

def ll_lllong_py_mod_zer(x, y):
    if y == 0:
        raise ZeroDivisionError
    return ll_lllong_py_mod(x, y)

def ll_ulllong_py_mod(x, y):
    return llop.ulllong_mod(UnsignedLongLongLong, x, y)

def ll_ulllong_py_mod_zer(x, y):
    if y == 0:
        raise ZeroDivisionError
    return llop.ulllong_mod(UnsignedLongLongLong, x, y)


# Checked operations that no low-level operation does.

def ll_int_neg_ovf(x):
    if x == INT_MIN:
        raise OverflowError
    return -x

def ll_int_abs_ovf(x):
    if x >= 0:
        return x
    if x == INT_MIN:
        raise OverflowError
    return -x

def ll_int_lshift_ovf(x, y):
    result = llop.int_lshift(Signed, x, y)
    if llop.int_rshift(Signed, result, y) != x:
        raise OverflowError
    return result

def ll_check_chr(n):
    if n < 0 or n > 255:
        raise ValueError

def ll_check_shift(n):
    if n < 0:
        raise ValueError

def ll_check_unichr(n):
    if n < 0 or n > 0x10ffff:
        raise ValueError


# Hashes.

def ll_hash_int(n):
    return cast_primitive(Signed, n)

def ll_hash_lllong(n):
    low = cast_primitive(Signed, n)
    high = cast_primitive(Signed, n >> 64)
    return low + 9 * high
