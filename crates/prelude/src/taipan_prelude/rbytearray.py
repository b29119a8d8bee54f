"""Bytearrays: byte strings that nobody shares, so that they may change in place."""
from rpython.rtyper.lltypesystem.lltype import malloc, typeOf
from taipan_lowlevel import STR
from taipan_prelude.rstr import copy_chars


def ll_copy(s):
    return ll_slice(s, 0, len(s.chars))

def ll_slice(s, start, stop):
    if stop > len(s.chars):
        stop = len(s.chars)
    n = stop - start
    if n < 0:
        n = 0
    result = malloc(typeOf(s).TO, n)
    copy_chars(s, result, start, 0, n)
    return result

def ll_slice_startonly(s, start):
    return ll_slice(s, start, len(s.chars))

def ll_slice_minusone(s):
    return ll_slice(s, 0, len(s.chars) - 1)

def ll_zeros(n):
    if n < 0:
        raise ValueError
    result = malloc(STR, n)
    i = 0
    while i < n:
        result.chars[i] = '\x00'
        i += 1
    return result

def ll_setitem(s, i, value):
    if i < 0:
        i += len(s.chars)
    s.chars[i] = chr(value & 0xff)

def ll_setitem_checked(s, i, value):
    n = len(s.chars)
    if i < 0:
        i += n
    if i < 0 or i >= n:
        raise IndexError
    s.chars[i] = chr(value & 0xff)
