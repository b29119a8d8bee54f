"""range() lists that nobody changes, and xrange(): start and stop, and the step
where it is not constant; callers pass it anyway.

The number of items is worked out on unsigned numbers, since stop - start may
overflow.
"""
from rpython.rtyper.lltypesystem.lltype import (
    Signed, Unsigned, malloc, cast_primitive)
from rpython.rtyper.lltypesystem.lloperation import llop
from rpython.rlib.rarithmetic import intmask
from taipan_prelude.rlist import ll_newlist, ll_items


def ll_rangelen(start, stop, step):
    if step > 0:
        if start >= stop:
            return 0
        low = start
        high = stop
    else:
        if start <= stop:
            return 0
        low = stop
        high = start
        step = -step
    if step == 1:
        return high - low
    span = cast_primitive(Unsigned, intmask(high - low - 1))
    n = llop.uint_floordiv(Unsigned, span, cast_primitive(Unsigned, step))
    return cast_primitive(Signed, n) + 1

def ll_newrange(RANGE, start, stop):
    l = malloc(RANGE)
    l.start = start
    l.stop = stop
    return l

def ll_newrangest(RANGE, start, stop, step):
    if step == 0:
        raise ValueError
    l = malloc(RANGE)
    l.start = start
    l.stop = stop
    l.step = step
    return l

def ll_range_length(l, step):
    return ll_rangelen(l.start, l.stop, step)

def ll_range_is_true(l, step):
    return bool(l) and ll_range_length(l, step) != 0

def ll_range_getitem_nonneg(CHECK, l, step, index):
    if CHECK:
        if index >= ll_range_length(l, step):
            raise IndexError
    return l.start + index * step

def ll_range_getitem(CHECK, l, step, index):
    length = ll_range_length(l, step)
    if index < 0:
        index += length
    if CHECK:
        if index < 0 or index >= length:
            raise IndexError
    return l.start + index * step

def ll_range_contains(l, step, item):
    if step > 0:
        if item < l.start or item >= l.stop:
            return False
    elif item > l.start or item <= l.stop:
        return False
    return llop.int_mod(Signed, intmask(item - l.start), step) == 0

def ll_range2list(LIST, start, stop, step):
    if step == 0:
        raise ValueError
    n = ll_rangelen(start, stop, step)
    l = ll_newlist(LIST, n)
    items = ll_items(l)
    i = 0
    value = start
    while i < n:
        items[i] = value
        value = intmask(value + step)
        i += 1
    return l

def ll_copy_range(LIST, l, step):
    return ll_range2list(LIST, l.start, l.stop, step)


# Iterators: the next value, and the one behind the last, at a multiple of the step
# from the first; also the step, where it varies.

def ll_rangeiter(ITER, l, step):
    iter = malloc(ITER)
    start = l.start
    iter.next = start
    iter.stop = intmask(start + ll_rangelen(start, l.stop, step) * step)
    return iter

def ll_rangenext(iter, step):
    value = iter.next
    if value == iter.stop:
        raise StopIteration
    iter.next = intmask(value + step)
    return value
