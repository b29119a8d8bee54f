"""Numbers as text and back. Signed and unsigned ones share the code through the
magnitude, which is unsigned, so that the most negative number is no special case."""
from rpython.rtyper.lltypesystem.lltype import (
    Signed, Unsigned, UnsignedLongLongLong, Char, Void, malloc, cast_primitive)
from rpython.rtyper.lltypesystem.lloperation import llop
from taipan_lowlevel import (
    STR, rpy_float_format, rpy_float_parse, rpy_float_parse_ok)
from taipan_prelude.rstr import ll_strip_default, ll_slice

# Flags of rpy_float_format.
SIGN = 1
ADD_DOT_0 = 2


def magnitude(i):
    """Of a negative number."""
    return cast_primitive(Unsigned, 0) - cast_primitive(Unsigned, i)

def ll_int2dec(i):
    if i < 0:
        return decimal(magnitude(i), 1)
    return decimal(cast_primitive(Unsigned, i), 0)

def decimal(u, negative):
    size = 1 + negative
    ten = cast_primitive(Unsigned, 10)
    rest = u
    while rest >= ten:
        rest = llop.uint_floordiv(Unsigned, rest, ten)
        size += 1
    result = malloc(STR, size)
    i = size - 1
    while u >= ten:
        q = llop.uint_floordiv(Unsigned, u, ten)
        result.chars[i] = digit(cast_primitive(Signed, u - q * ten))
        u = q
        i -= 1
    result.chars[i] = digit(cast_primitive(Signed, u))
    if negative:
        result.chars[0] = '-'
    return result

def ll_int2hex(i, add_prefix):
    if i < 0:
        u = magnitude(i)
        return power_of_two_base(u, 1, 4, 'x', add_prefix)
    return power_of_two_base(cast_primitive(Unsigned, i), 0, 4, 'x', add_prefix)

def ll_int2oct(i, add_prefix):
    if i == 0:
        add_prefix = False
    if i < 0:
        u = magnitude(i)
        return power_of_two_base(u, 1, 3, '0', add_prefix)
    return power_of_two_base(cast_primitive(Unsigned, i), 0, 3, '0', add_prefix)

def ll_int2bin(i, add_prefix):
    if i < 0:
        u = magnitude(i)
        return power_of_two_base(u, 1, 1, 'b', add_prefix)
    return power_of_two_base(cast_primitive(Unsigned, i), 0, 1, 'b', add_prefix)

def power_of_two_base(u, negative, bits, letter, add_prefix):
    """The prefix is '0' and the letter; a letter '0' stands for '0' alone."""
    size = 1
    rest = llop.uint_rshift(Unsigned, u, bits)
    while rest:
        rest = llop.uint_rshift(Unsigned, rest, bits)
        size += 1
    start = negative
    if add_prefix:
        start += 1
        if letter != '0':
            start += 1
    result = malloc(STR, start + size)
    mask = llop.int_lshift(Signed, 1, bits) - 1
    i = start + size - 1
    while i >= start:
        result.chars[i] = digit(cast_primitive(Signed, u) & mask)
        u = llop.uint_rshift(Unsigned, u, bits)
        i -= 1
    if add_prefix:
        if letter != '0':
            result.chars[start - 1] = letter
            result.chars[start - 2] = '0'
        else:
            result.chars[start - 1] = '0'
    if negative:
        result.chars[0] = '-'
    return result

def digit(d):
    if d < 10:
        return llop.cast_int_to_char(Char, 48 + d)
    return llop.cast_int_to_char(Char, 87 + d)

def ll_lllong2dec(i):
    """Decimal text of a 128-bit integer, signed or unsigned."""
    negative = 0
    u = cast_primitive(UnsignedLongLongLong, i)
    if i < 0:
        negative = 1
        u = cast_primitive(UnsignedLongLongLong, 0) - u
    ten = cast_primitive(UnsignedLongLongLong, 10)
    size = 1 + negative
    rest = u
    while rest >= ten:
        rest = llop.ulllong_floordiv(UnsignedLongLongLong, rest, ten)
        size += 1
    result = malloc(STR, size)
    i = size - 1
    while i >= negative:
        q = llop.ulllong_floordiv(UnsignedLongLongLong, u, ten)
        result.chars[i] = digit(cast_primitive(Signed, u - q * ten))
        u = q
        i -= 1
    if negative:
        result.chars[0] = '-'
    return result


# Fixed-width formatting: %5d, %-5s, %05d, %02x, ...

def ll_pad(s, width, left, zero, prefix):
    """s filled up to width: blanks before it (after it if left), or zeroes behind
    its sign and that many further characters."""
    n = len(s.chars)
    if n >= width:
        return s
    result = malloc(STR, width)
    fill = width - n
    if left:
        llop.gc_copy_array(Void, s, result, 0, 0, n)
        i = n
        while i < width:
            result.chars[i] = ' '
            i += 1
        return result
    start = 0
    c = ' '
    if zero:
        c = '0'
        start = prefix
        if n > 0 and (s.chars[0] == '-' or s.chars[0] == '+'):
            start += 1
        llop.gc_copy_array(Void, s, result, 0, 0, start)
    i = 0
    while i < fill:
        result.chars[start + i] = c
        i += 1
    llop.gc_copy_array(Void, s, result, start, start + fill, n - start)
    return result


# int(s, base), for byte strings and unicode.

def ll_int(s, base):
    if base < 2 or base > 36:
        raise ValueError
    n = len(s.chars)
    i = skip_blanks(s, 0)
    negative = False
    if i < n:
        c = ord(s.chars[i])
        if c == 45:
            negative = True
            i += 1
        elif c == 43:
            i += 1
    i = skip_blanks(s, i)
    first = i
    value = 0
    while i < n:
        d = digit_value(ord(s.chars[i]))
        if d >= base:
            break
        value = value * base + d
        i += 1
    if i == first:
        raise ValueError
    if skip_blanks(s, i) != n:
        raise ValueError
    if negative:
        return -value
    return value

def skip_blanks(s, i):
    while i < len(s.chars) and ord(s.chars[i]) == 32:
        i += 1
    return i

def digit_value(c):
    """99 if it is none."""
    if 48 <= c and c <= 57:
        return c - 48
    if 97 <= c and c <= 122:
        return c - 87
    if 65 <= c and c <= 90:
        return c - 55
    return 99


# Floats.

def ll_formatd(x, code, precision, flags):
    room = precision
    if room < 17:
        room = 17
    if code == 'f' or code == 'F':
        room += 310
    buffer = malloc(STR, room + 32)
    n = rpy_float_format(x, code, precision, flags, buffer)
    result = ll_slice(buffer, 0, n)
    if x != x and flags & SIGN != 0:
        return ll_with_sign(result)
    return result

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

# What format strings ask for beyond that.

def ll_min_digits(s, count, prefix, keep_zero):
    """%.5d: zeroes before the digits. %.0d of zero has none."""
    first = prefix
    if s.chars[0] == '-':
        first += 1
    if count == 0 and not keep_zero and len(s.chars) == first + 1 and s.chars[first] == '0':
        return ll_slice(s, 0, first)
    return ll_pad(s, count + first, False, True, prefix)

def ll_with_sign(s):
    """%+d"""
    n = len(s.chars)
    if n > 0 and s.chars[0] == '-':
        return s
    result = malloc(STR, n + 1)
    result.chars[0] = '+'
    llop.gc_copy_array(Void, s, result, 0, 1, n)
    return result
