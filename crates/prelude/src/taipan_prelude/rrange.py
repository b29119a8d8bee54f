"""range() lists that nobody changes, and xrange(): start and stop, and the step
where it is not constant. STEP is the step, 0 if it varies.

The number of items is worked out on unsigned numbers, since stop - start may
overflow.
"""
from rpython.rtyper.lltypesystem.lltype import (
    Signed, Unsigned, malloc, cast_primitive)
from rpython.rtyper.lltypesystem.lloperation import llop
from rpython.rlib.rarithmetic import intmask, ovfcheck
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

def range_step(l, STEP):
    if STEP == 0:
        return l.step
    return STEP

def ll_range_length(l, STEP):
    return ll_rangelen(l.start, l.stop, range_step(l, STEP))

def ll_range_getitem_nonneg(CHECK, l, STEP, index):
    if CHECK:
        if index >= ll_range_length(l, STEP):
            raise IndexError
    return l.start + index * range_step(l, STEP)

def ll_range_getitem(CHECK, l, STEP, index):
    length = ll_range_length(l, STEP)
    if index < 0:
        index += length
    if CHECK:
        if index < 0 or index >= length:
            raise IndexError
    return l.start + index * range_step(l, STEP)

def ll_range_contains(l, STEP, item):
    step = range_step(l, STEP)
    if step > 0:
        if item < l.start or item >= l.stop:
            return False
    elif item > l.start or item <= l.stop:
        return False
    return llop.int_mod(Signed, item - l.start, step) == 0

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
        value += step
        i += 1
    return l

def ll_copy_range(LIST, l, STEP):
    return ll_range2list(LIST, l.start, l.stop, range_step(l, STEP))

def ll_range_is_true(l, STEP):
    return bool(l) and ll_range_length(l, STEP) != 0


# Iterators: next value and stop; also the step, where it varies.

def ll_rangeiter(ITER, l, STEP):
    iter = malloc(ITER)
    iter.next = l.start
    iter.stop = l.stop
    if STEP == 0:
        iter.step = l.step
    return iter

def ll_rangenext(iter, STEP):
    value = iter.next
    step = range_step(iter, STEP)
    if step > 0:
        if value >= iter.stop:
            raise StopIteration
    elif value <= iter.stop:
        raise StopIteration
    if STEP == 1 or STEP == -1:
        iter.next = value + STEP
    else:
        iter.next = advance(value, step, iter.stop)
    return value

def advance(value, step, stop):
    """value + step, or stop where that would overflow."""
    try:
        return ovfcheck(value + step)
    except OverflowError:
        return stop
