"""Byte strings and unicode strings. Both are GcStructs of a cached hash and an
inlined array `chars`, so one source serves both."""
from rpython.rtyper.lltypesystem.lltype import (
    Signed, Char, UniChar, Void, malloc, typeOf, cast_primitive)
from rpython.rtyper.lltypesystem.lloperation import llop
from taipan_lowlevel import STR, UNICODE
from rpython.rlib.rarithmetic import intmask
from taipan_prelude.rlist import ll_check_bytes, ll_newlist, ll_items

MAXINT = 0x7fffffffffffffff


def copy_chars(src, dst, src_start, dst_start, length):
    llop.gc_copy_array(Void, src, dst, src_start, dst_start, length)


# Characters.

def ll_chr2str(ch):
    s = malloc(STR, 1)
    s.chars[0] = ch
    return s

def ll_unichr2unicode(ch):
    s = malloc(UNICODE, 1)
    s.chars[0] = ch
    return s

def ll_chr2unichr(ch):
    if ord(ch) > 127:
        raise UnicodeDecodeError
    return cast_primitive(UniChar, ch)

def ll_char_isspace(ch):
    c = ord(ch)
    return c == 32 or (9 <= c and c <= 13)

def ll_unichar_isspace(ch):
    c = ord(ch)
    if c < 128:
        return c == 32 or (9 <= c and c <= 13) or (28 <= c and c <= 31)
    return (c == 0x85 or c == 0xa0 or c == 0x1680 or c == 0x180e or
            (0x2000 <= c and c <= 0x200a) or c == 0x2028 or c == 0x2029 or
            c == 0x202f or c == 0x205f or c == 0x3000)

def ll_char_isdigit(ch):
    c = ord(ch)
    return 48 <= c and c <= 57

def ll_char_isupper(ch):
    c = ord(ch)
    return 65 <= c and c <= 90

def ll_char_islower(ch):
    c = ord(ch)
    return 97 <= c and c <= 122

def ll_char_isalpha(ch):
    c = ord(ch) | 32
    return 97 <= c and c <= 122

def ll_char_isalnum(ch):
    return ll_char_isalpha(ch) or ll_char_isdigit(ch)

def ll_upper_char(ch):
    if ll_char_islower(ch):
        return llop.cast_int_to_char(Char, ord(ch) - 32)
    return ch

def ll_lower_char(ch):
    if ll_char_isupper(ch):
        return llop.cast_int_to_char(Char, ord(ch) + 32)
    return ch

def ll_char_mul(STRING, ch, times):
    if times < 0:
        times = 0
    s = malloc(STRING, times)
    i = 0
    while i < times:
        s.chars[i] = ch
        i += 1
    return s


# Whole strings tested for a kind of character: false if empty, as in Python.

def ll_isdigit(s):
    n = len(s.chars)
    i = 0
    while i < n:
        if not ll_char_isdigit(s.chars[i]):
            return False
        i += 1
    return n > 0

def ll_isalpha(s):
    n = len(s.chars)
    i = 0
    while i < n:
        if not ll_char_isalpha(s.chars[i]):
            return False
        i += 1
    return n > 0

def ll_isalnum(s):
    n = len(s.chars)
    i = 0
    while i < n:
        if not ll_char_isalnum(s.chars[i]):
            return False
        i += 1
    return n > 0


# Conversions.

def ll_str2unicode(s):
    n = len(s.chars)
    result = malloc(UNICODE, n)
    i = 0
    while i < n:
        c = s.chars[i]
        if ord(c) > 127:
            raise UnicodeDecodeError
        result.chars[i] = cast_primitive(UniChar, c)
        i += 1
    return result

def ll_unicode_or_none(s):
    if s:
        return s
    return ll_str2unicode("None")

def ll_unicode2str(s):
    if not s:
        return "None"
    return narrow(s, 127)

def ll_encode_latin1(s):
    return narrow(s, 255)

def narrow(s, highest):
    n = len(s.chars)
    result = malloc(STR, n)
    i = 0
    while i < n:
        c = s.chars[i]
        if ord(c) > highest:
            raise UnicodeEncodeError
        result.chars[i] = cast_primitive(Char, c)
        i += 1
    return result

def ll_decode_latin1(s):
    n = len(s.chars)
    result = malloc(UNICODE, n)
    i = 0
    while i < n:
        result.chars[i] = cast_primitive(UniChar, s.chars[i])
        i += 1
    return result


def utf8_length(c):
    if c < 0x80:
        return 1
    if c < 0x800:
        return 2
    if c < 0x10000:
        return 3
    return 4

def code_point(s, i):
    """Two halves of a surrogate pair count as one character."""
    c = ord(s.chars[i])
    if 0xd800 <= c and c < 0xdc00 and i + 1 < len(s.chars):
        low = ord(s.chars[i + 1])
        if 0xdc00 <= low and low < 0xe000:
            return 0x10000 + llop.int_lshift(Signed, c - 0xd800, 10) + low - 0xdc00
    return c

def units_of(c, s, i):
    """How many items of s the character at i takes."""
    if c >= 0x10000 and ord(s.chars[i]) < 0x10000:
        return 2
    return 1

def ll_encode_utf8(s):
    n = len(s.chars)
    size = 0
    i = 0
    while i < n:
        c = code_point(s, i)
        size += utf8_length(c)
        i += units_of(c, s, i)
    result = malloc(STR, size)
    i = 0
    j = 0
    while i < n:
        c = code_point(s, i)
        i += units_of(c, s, i)
        k = utf8_length(c)
        last = j + k - 1
        j += k
        if k == 1:
            result.chars[last] = llop.cast_int_to_char(Char, c)
        else:
            first = llop.int_rshift(Signed, 0xf00, k) & 0xff
            while k > 1:
                result.chars[last] = llop.cast_int_to_char(Char, 0x80 | (c & 0x3f))
                c = llop.int_rshift(Signed, c, 6)
                last -= 1
                k -= 1
            result.chars[last] = llop.cast_int_to_char(Char, first | c)
    return result

def sequence_length(first):
    """Length of the UTF-8 sequence that starts with this byte; 0 if none does."""
    if first < 0x80:
        return 1
    if first < 0xc2:
        return 0
    if first < 0xe0:
        return 2
    if first < 0xf0:
        return 3
    if first < 0xf5:
        return 4
    return 0

def ll_decode_utf8(s):
    n = len(s.chars)
    size = 0
    i = 0
    while i < n:
        k = sequence_length(ord(s.chars[i]))
        if k == 0 or i + k > n:
            raise UnicodeDecodeError
        i += k
        size += 1
    result = malloc(UNICODE, size)
    i = 0
    j = 0
    while i < n:
        c = ord(s.chars[i])
        k = sequence_length(c)
        if k > 1:
            c = c & (llop.int_rshift(Signed, 0xff, k + 1))
            rest = 1
            while rest < k:
                d = ord(s.chars[i + rest])
                if d & 0xc0 != 0x80:
                    raise UnicodeDecodeError
                c = llop.int_lshift(Signed, c, 6) | (d & 0x3f)
                rest += 1
            if utf8_length(c) != k or c > 0x10ffff:
                raise UnicodeDecodeError
        result.chars[j] = llop.cast_int_to_unichar(UniChar, c)
        i += k
        j += 1
    return result

def hex_digit(d):
    if d < 10:
        return llop.cast_int_to_char(Char, 48 + d)
    return llop.cast_int_to_char(Char, 87 + d)

def escaped_length(c, quote):
    if c == quote or c == 92 or c == 9 or c == 10 or c == 13:
        return 2
    if c < 32 or c >= 127:
        return 4
    return 1

def ll_repr(s):
    """repr() of a byte string."""
    n = len(s.chars)
    quote = 39
    if ll_contains_char(s, "'") and not ll_contains_char(s, '"'):
        quote = 34
    size = 2
    i = 0
    while i < n:
        size += escaped_length(ord(s.chars[i]), quote)
        i += 1
    result = malloc(STR, size)
    result.chars[0] = llop.cast_int_to_char(Char, quote)
    j = 1
    i = 0
    while i < n:
        c = ord(s.chars[i])
        k = escaped_length(c, quote)
        if k == 1:
            result.chars[j] = s.chars[i]
        else:
            result.chars[j] = '\\'
            if k == 4:
                result.chars[j + 1] = 'x'
                result.chars[j + 2] = hex_digit(llop.int_rshift(Signed, c, 4))
                result.chars[j + 3] = hex_digit(c & 15)
            elif c == 9:
                result.chars[j + 1] = 't'
            elif c == 10:
                result.chars[j + 1] = 'n'
            elif c == 13:
                result.chars[j + 1] = 'r'
            else:
                result.chars[j + 1] = s.chars[i]
        j += k
        i += 1
    result.chars[j] = llop.cast_int_to_char(Char, quote)
    return result


# Hash: the one of CPython 2, so that it is the same at import time and when
# translated. 0 means not yet computed; prebuilt strings may start with 0.

def ll_strhash(s):
    if not s:
        return 0
    h = s.hash
    if h == 0:
        h = compute_hash(s)
    return h

def compute_hash(s):
    n = len(s.chars)
    if n == 0:
        x = -1
    else:
        x = llop.int_lshift(Signed, ord(s.chars[0]), 7)
        i = 0
        while i < n:
            x = intmask(1000003 * x) ^ ord(s.chars[i])
            i += 1
        x = x ^ n
        if x == 0:
            x = 29872897
    s.hash = x
    return x


# Comparison. Null stands for None.

def ll_strlen(s):
    return len(s.chars)

def ll_strlen_maybe_null(s):
    if not s:
        return 0
    return len(s.chars)

def ll_str_is_true(s):
    return bool(s) and len(s.chars) != 0

def ll_streq(s1, s2):
    if s1 == s2:
        return True
    if not s1 or not s2:
        return False
    n = len(s1.chars)
    if n != len(s2.chars):
        return False
    if n == 0:
        return True
    # Most unequal strings of the same length differ here. Strings of one character need no call.
    if s1.chars[0] != s2.chars[0]:
        return False
    return n == 1 or equal_chars(s1, s2, n)

def equal_chars(s1, s2, n):
    """Whether strings with the same first character have the same `n` characters."""
    i = 1
    while i < n:
        if s1.chars[i] != s2.chars[i]:
            return False
        i += 1
    return True

def ll_strne(s1, s2):
    return not ll_streq(s1, s2)

def ll_strcmp(s1, s2):
    """Negative, zero or positive; None is smaller than any string."""
    if not s1 or not s2:
        return int(bool(s1)) - int(bool(s2))
    n1 = len(s1.chars)
    n2 = len(s2.chars)
    n = n1
    if n2 < n:
        n = n2
    i = 0
    while i < n:
        difference = ord(s1.chars[i]) - ord(s2.chars[i])
        if difference != 0:
            return difference
        i += 1
    return n1 - n2

def ll_strcmp_sign(s1, s2):
    """cmp(s1, s2)"""
    difference = ll_strcmp(s1, s2)
    return int(difference > 0) - int(difference < 0)

def ll_strlt(s1, s2):
    return ll_strcmp(s1, s2) < 0

def ll_strle(s1, s2):
    return ll_strcmp(s1, s2) <= 0

def ll_strgt(s1, s2):
    return ll_strcmp(s1, s2) > 0

def ll_strge(s1, s2):
    return ll_strcmp(s1, s2) >= 0

def ll_startswith(s1, s2):
    n = len(s2.chars)
    return n <= len(s1.chars) and same_chars(s1, 0, s2, n)

def ll_endswith(s1, s2):
    n = len(s2.chars)
    start = len(s1.chars) - n
    return start >= 0 and same_chars(s1, start, s2, n)

def ll_startswith_char(s, ch):
    return len(s.chars) > 0 and s.chars[0] == ch

def ll_endswith_char(s, ch):
    n = len(s.chars)
    return n > 0 and s.chars[n - 1] == ch

def same_chars(s1, start, s2, n):
    i = 0
    while i < n:
        if s1.chars[start + i] != s2.chars[i]:
            return False
        i += 1
    return True


# Items and slices.

def ll_stritem_nonneg(s, i):
    return s.chars[i]

def ll_stritem(s, i):
    if i < 0:
        i += len(s.chars)
    return s.chars[i]

def ll_stritem_nonneg_checked(s, i):
    if i >= len(s.chars):
        raise IndexError
    return s.chars[i]

def ll_stritem_checked(s, i):
    n = len(s.chars)
    if i < 0:
        i += n
    if i < 0 or i >= n:
        raise IndexError
    return s.chars[i]

def ll_slice(s, start, stop):
    """0 <= start; both within the length, or start beyond stop."""
    n = stop - start
    if n < 0:
        n = 0
    result = malloc(typeOf(s).TO, n)
    copy_chars(s, result, start, 0, n)
    return result

def piece(s, start, stop):
    """The last piece of a string that is split: the string itself if there is no other."""
    if start == 0 and stop == len(s.chars):
        return s
    return ll_slice(s, start, stop)

def ll_stringslice_startonly(s, start):
    return ll_slice(s, start, len(s.chars))

def ll_stringslice_startstop(s, start, stop):
    n = len(s.chars)
    if stop >= n:
        if start == 0:
            return s
        stop = n
    return ll_slice(s, start, stop)

def ll_stringslice_minusone(s):
    return ll_slice(s, 0, len(s.chars) - 1)


# Concatenation and the like. A length that overflows is MemoryError.

def ll_strconcat(s1, s2):
    n1 = len(s1.chars)
    n2 = len(s2.chars)
    result = malloc(typeOf(s1).TO, n1 + n2)
    copy_chars(s1, result, 0, 0, n1)
    copy_chars(s2, result, 0, n1, n2)
    return result

def ll_strconcat_char(s, ch):
    n = len(s.chars)
    result = malloc(typeOf(s).TO, n + 1)
    copy_chars(s, result, 0, 0, n)
    result.chars[n] = ch
    return result

def ll_str_mul(s, times):
    n = len(s.chars)
    if times <= 0 or n == 0:
        return malloc(typeOf(s).TO, 0)
    if n > llop.int_floordiv(Signed, MAXINT, times):
        raise MemoryError
    size = n * times
    ll_check_bytes(size)
    result = malloc(typeOf(s).TO, size)
    copy_chars(s, result, 0, 0, n)
    done = n
    while done < size:
        step = done
        if step > size - done:
            step = size - done
        copy_chars(result, result, 0, done, step)
        done += step
    return result

def ll_join(s, length, items):
    """items: a GcArray, or the items of a list of that length."""
    if length == 0:
        return malloc(typeOf(s).TO, 0)
    separator = len(s.chars)
    size = separator * (length - 1)
    i = 0
    while i < length:
        size += len(items[i].chars)
        i += 1
    if size < 0:
        raise MemoryError
    ll_check_bytes(size)
    result = malloc(typeOf(s).TO, size)
    position = 0
    i = 0
    while i < length:
        if i > 0 and separator > 0:
            copy_chars(s, result, 0, position, separator)
            position += separator
        item = items[i]
        n = len(item.chars)
        copy_chars(item, result, 0, position, n)
        position += n
        i += 1
    return result

def ll_join_strs(STRING, length, items):
    size = 0
    i = 0
    while i < length:
        size += len(items[i].chars)
        i += 1
    ll_check_bytes(size)
    result = malloc(STRING, size)
    position = 0
    i = 0
    while i < length:
        item = items[i]
        n = len(item.chars)
        copy_chars(item, result, 0, position, n)
        position += n
        i += 1
    return result

def ll_join_chars(STRING, length, items):
    result = malloc(STRING, length)
    i = 0
    while i < length:
        result.chars[i] = items[i]
        i += 1
    return result

def ll_join_chars_with(s, length, items):
    """s.join(characters)"""
    if length == 0:
        return malloc(typeOf(s).TO, 0)
    separator = len(s.chars)
    result = malloc(typeOf(s).TO, length + separator * (length - 1))
    position = 0
    i = 0
    while i < length:
        if i > 0:
            copy_chars(s, result, 0, position, separator)
            position += separator
        result.chars[position] = items[i]
        position += 1
        i += 1
    return result

def ll_string2list(LIST, s):
    n = len(s.chars)
    result = ll_newlist(LIST, n)
    items = ll_items(result)
    i = 0
    while i < n:
        items[i] = s.chars[i]
        i += 1
    return result


# Search. start and end as in Python once negative ones are out: 0 <= start.

def ll_contains_char(s, ch):
    n = len(s.chars)
    i = 0
    while i < n:
        if s.chars[i] == ch:
            return True
        i += 1
    return False

def ll_contains(s1, s2):
    return ll_find(s1, s2, 0, len(s1.chars)) >= 0

def ll_find_char(s, ch, start, end):
    if end > len(s.chars):
        end = len(s.chars)
    i = start
    while i < end:
        if s.chars[i] == ch:
            return i
        i += 1
    return -1

def ll_rfind_char(s, ch, start, end):
    if end > len(s.chars):
        end = len(s.chars)
    i = end - 1
    while i >= start:
        if s.chars[i] == ch:
            return i
        i -= 1
    return -1

def ll_count_char(s, ch, start, end):
    if end > len(s.chars):
        end = len(s.chars)
    count = 0
    i = start
    while i < end:
        if s.chars[i] == ch:
            count += 1
        i += 1
    return count

def ll_find(s1, s2, start, end):
    if start < 0:
        start = 0
    if end > len(s1.chars):
        end = len(s1.chars)
    m = len(s2.chars)
    last = end - m
    if start > last:
        return -1
    if m == 0:
        return start
    first = s2.chars[0]
    i = start
    while i <= last:
        if s1.chars[i] == first and same_chars(s1, i, s2, m):
            return i
        i += 1
    return -1

def ll_rfind(s1, s2, start, end):
    if start < 0:
        start = 0
    if end > len(s1.chars):
        end = len(s1.chars)
    m = len(s2.chars)
    i = end - m
    while i >= start:
        if same_chars(s1, i, s2, m):
            return i
        i -= 1
    return -1

def ll_count(s1, s2, start, end):
    if start < 0:
        start = 0
    if end > len(s1.chars):
        end = len(s1.chars)
    m = len(s2.chars)
    if m == 0:
        if start > end:
            return 0
        return end - start + 1
    count = 0
    i = start
    while i <= end - m:
        if same_chars(s1, i, s2, m):
            count += 1
            i += m
        else:
            i += 1
    return count


# Stripping; left and right say at which ends.

def ll_strip_default(s, left, right):
    start = 0
    stop = len(s.chars)
    if left:
        while start < stop and ll_char_isspace(s.chars[start]):
            start += 1
    if right:
        while start < stop and ll_char_isspace(s.chars[stop - 1]):
            stop -= 1
    return ll_slice(s, start, stop)

def ll_strip_default_unicode(s, left, right):
    start = 0
    stop = len(s.chars)
    if left:
        while start < stop and ll_unichar_isspace(s.chars[start]):
            start += 1
    if right:
        while start < stop and ll_unichar_isspace(s.chars[stop - 1]):
            stop -= 1
    return ll_slice(s, start, stop)

def ll_strip(s, ch, left, right):
    start = 0
    stop = len(s.chars)
    if left:
        while start < stop and s.chars[start] == ch:
            start += 1
    if right:
        while start < stop and s.chars[stop - 1] == ch:
            stop -= 1
    return ll_slice(s, start, stop)

def ll_strip_multiple(s, chars, left, right):
    start = 0
    stop = len(s.chars)
    if left:
        while start < stop and ll_contains_char(chars, s.chars[start]):
            start += 1
    if right:
        while start < stop and ll_contains_char(chars, s.chars[stop - 1]):
            stop -= 1
    return ll_slice(s, start, stop)


# Case and replacement.

def ll_upper(s):
    n = len(s.chars)
    result = malloc(STR, n)
    i = 0
    while i < n:
        result.chars[i] = ll_upper_char(s.chars[i])
        i += 1
    return result

def ll_lower(s):
    n = len(s.chars)
    result = malloc(STR, n)
    i = 0
    while i < n:
        result.chars[i] = ll_lower_char(s.chars[i])
        i += 1
    return result

def ll_replace_chr_chr(s, old, new):
    n = len(s.chars)
    result = malloc(typeOf(s).TO, n)
    i = 0
    while i < n:
        c = s.chars[i]
        if c == old:
            c = new
        result.chars[i] = c
        i += 1
    return result

def ll_split_chr(LIST, s, ch, limit):
    n = len(s.chars)
    count = ll_count_char(s, ch, 0, n)
    if limit >= 0 and count > limit:
        count = limit
    result = ll_newlist(LIST, count + 1)
    items = ll_items(result)
    start = 0
    i = 0
    while i < count:
        found = ll_find_char(s, ch, start, n)
        items[i] = ll_slice(s, start, found)
        start = found + 1
        i += 1
    items[count] = piece(s, start, n)
    return result

def ll_check_separator(separator):
    if len(separator.chars) == 0:
        raise ValueError

def empty_separators(n, limit):
    """How often the text of n characters is split where the separator is empty: it is
    found at the same place again and again."""
    if limit >= 0:
        return limit
    return n

def ll_split(LIST, s, separator, limit):
    n = len(s.chars)
    m = len(separator.chars)
    if m == 0:
        count = empty_separators(n, limit)
    else:
        count = ll_count(s, separator, 0, n)
        if limit >= 0 and count > limit:
            count = limit
    result = ll_newlist(LIST, count + 1)
    items = ll_items(result)
    start = 0
    i = 0
    while i < count:
        found = ll_find(s, separator, start, n)
        items[i] = ll_slice(s, start, found)
        start = found + m
        i += 1
    items[count] = piece(s, start, n)
    return result

def ll_rsplit_chr(LIST, s, ch, limit):
    stop = len(s.chars)
    count = ll_count_char(s, ch, 0, stop)
    if limit >= 0 and count > limit:
        count = limit
    result = ll_newlist(LIST, count + 1)
    items = ll_items(result)
    while count > 0:
        found = ll_rfind_char(s, ch, 0, stop)
        items[count] = ll_slice(s, found + 1, stop)
        stop = found
        count -= 1
    items[0] = piece(s, 0, stop)
    return result

def ll_rsplit(LIST, s, separator, limit):
    n = len(s.chars)
    m = len(separator.chars)
    count = 0
    if m == 0:
        count = empty_separators(n, limit)
    else:
        stop = ll_rfind(s, separator, 0, n)
        while stop >= 0 and (limit < 0 or count < limit):
            count += 1
            stop = ll_rfind(s, separator, 0, stop)
    result = ll_newlist(LIST, count + 1)
    items = ll_items(result)
    stop = n
    while count > 0:
        found = ll_rfind(s, separator, 0, stop)
        items[count] = ll_slice(s, found + m, stop)
        stop = found
        count -= 1
    items[0] = piece(s, 0, stop)
    return result

def ll_split_blanks(LIST, s, limit):
    """split() without separator: runs of white space separate."""
    n = len(s.chars)
    count = 0
    i = skip_space(s, 0)
    while i < n:
        count += 1
        if limit >= 0 and count > limit:
            i = n
        else:
            i = skip_space(s, skip_word(s, i))
    result = ll_newlist(LIST, count)
    items = ll_items(result)
    start = skip_space(s, 0)
    i = 0
    while i < count:
        if limit >= 0 and i == limit:
            stop = n
        else:
            stop = skip_word(s, start)
        items[i] = ll_slice(s, start, stop)
        start = skip_space(s, stop)
        i += 1
    return result

def skip_space(s, i):
    while i < len(s.chars) and ll_char_isspace(s.chars[i]):
        i += 1
    return i

def skip_word(s, i):
    while i < len(s.chars) and not ll_char_isspace(s.chars[i]):
        i += 1
    return i

def line_end(s, i):
    n = len(s.chars)
    while i < n and s.chars[i] != '\n' and s.chars[i] != '\r':
        i += 1
    return i

def next_line(s, end):
    """Where the line starts that follows one that ends there."""
    n = len(s.chars)
    if end + 1 < n and s.chars[end] == '\r' and s.chars[end + 1] == '\n':
        return end + 2
    if end < n:
        return end + 1
    return n

def ll_splitlines(LIST, s, keep_ends):
    n = len(s.chars)
    count = 0
    i = 0
    while i < n:
        count += 1
        i = next_line(s, line_end(s, i))
    result = ll_newlist(LIST, count)
    items = ll_items(result)
    i = 0
    start = 0
    while i < count:
        end = line_end(s, start)
        follows = next_line(s, end)
        if keep_ends:
            end = follows
        items[i] = ll_slice(s, start, end)
        start = follows
        i += 1
    return result


# Iteration: (string, length, index).

def ll_striter(ITER, s):
    iter = malloc(ITER)
    iter.string = s
    iter.length = len(s.chars)
    iter.index = 0
    return iter

def ll_strnext(iter):
    index = iter.index
    if index >= iter.length:
        raise StopIteration
    iter.index = index + 1
    return iter.string.chars[index]

def ll_str_or_none(s):
    """str(s) of a string that may be None."""
    if not s:
        return "None"
    return s
