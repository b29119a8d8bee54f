"""The containers behind strings."""
from taipan_lowlevel import STR, UNICODE
from rpython.rtyper.lltypesystem import lltype


def copy_string_to_raw(ll_s, p, start, length):
    """Copies part of a byte string to raw memory."""
    i = 0
    while i < length:
        p[i] = ll_s.chars[start + i]
        i += 1

def copy_raw_to_string(p, ll_s, start, length):
    i = 0
    while i < length:
        ll_s.chars[start + i] = p[i]
        i += 1

copy_unicode_to_raw = copy_string_to_raw
copy_raw_to_unicode = copy_raw_to_string

def copy_string_contents(src, dst, srcstart, dststart, length):
    """Copies part of a byte string into another one."""
    i = 0
    while i < length:
        dst.chars[dststart + i] = src.chars[srcstart + i]
        i += 1

copy_unicode_contents = copy_string_contents

def mallocstr(length):
    return lltype.malloc(STR, length)

def mallocunicode(length):
    return lltype.malloc(UNICODE, length)
