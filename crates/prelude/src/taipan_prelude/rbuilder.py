"""StringBuilder and UnicodeBuilder: a string with room to grow and how much of it is
used."""
from rpython.rtyper.lltypesystem.lltype import malloc, typeOf
from taipan_prelude.rlist import ll_check_bytes
from taipan_prelude.rstr import copy_chars, ll_slice

INITIAL_SIZE = 100
LARGEST_INITIAL_SIZE = 1 << 20


def ll_new(BUILDER, size):
    if size < 16:
        size = 16
    if size > LARGEST_INITIAL_SIZE:
        size = LARGEST_INITIAL_SIZE
    builder = malloc(BUILDER)
    builder.buffer = malloc(typeOf(builder.buffer).TO, size)
    builder.used = 0
    return builder

def room_for(builder, count):
    """Makes room and returns where to write."""
    start = builder.used
    needed = start + count
    buffer = builder.buffer
    if needed > len(buffer.chars):
        ll_check_bytes(2 * needed)
        new = malloc(typeOf(buffer).TO, 2 * needed)
        copy_chars(buffer, new, 0, 0, start)
        builder.buffer = new
    builder.used = needed
    return start

def ll_append(builder, s):
    n = len(s.chars)
    start = room_for(builder, n)
    copy_chars(s, builder.buffer, 0, start, n)

def ll_append_char(builder, ch):
    start = builder.used
    if start == len(builder.buffer.chars):
        room_for(builder, 1)
    builder.buffer.chars[start] = ch
    builder.used = start + 1

def ll_append_slice(builder, s, start, stop):
    n = stop - start
    target = room_for(builder, n)
    copy_chars(s, builder.buffer, start, target, n)

def ll_append_multiple_char(builder, ch, times):
    if times > 0:
        i = room_for(builder, times)
        stop = i + times
        while i < stop:
            builder.buffer.chars[i] = ch
            i += 1

def ll_append_charpsize(builder, charp, size):
    i = room_for(builder, size)
    j = 0
    while j < size:
        builder.buffer.chars[i + j] = charp[j]
        j += 1

def ll_getlength(builder):
    return builder.used

def ll_build(builder):
    """The buffer itself is given away where it is full; it is never written to
    again, since the next append finds no room in it."""
    if builder.used == len(builder.buffer.chars):
        return builder.buffer
    return ll_slice(builder.buffer, 0, builder.used)

def ll_bool(builder):
    return bool(builder)
