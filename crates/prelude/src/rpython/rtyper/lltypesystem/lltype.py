"""Low-level types, and the containers that have them."""
from rpython.rlib.rarithmetic import (base_int, intmask, is_valid_int, longlonglongmask,
    longlongmask, maxint, normalizedinttype, r_int, r_longfloat, r_longlong, r_longlonglong,
    r_singlefloat, r_uint, r_ulonglong, r_ulonglonglong)
from _lltype import *
from _llmalloc import (malloc, free, render_immortal, nullptr, functionptr, cast_pointer,
    cast_opaque_ptr, cast_ptr_to_int, cast_int_to_ptr, cast_primitive, direct_fieldptr,
    direct_arrayitems, direct_ptradd)


# A function among the methods of a low-level type that does not get the pointer.
staticAdtMethod = staticmethod


def typeMethod(func):
    """Marks a method that gets the low-level type instead of a pointer."""
    func._type_method = True
    return func


class scoped_alloc(object):
    """A context with raw memory, which is freed at its end."""

    def __init__(self, T, n=None, zero=False):
        if n is None:
            self.buf = malloc(T, flavor='raw', zero=zero)
        else:
            self.buf = malloc(T, n, flavor='raw', zero=zero)

    def __enter__(self):
        return self.buf

    def __exit__(self, *args):
        free(self.buf, flavor='raw')
