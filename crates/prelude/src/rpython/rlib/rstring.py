"""Strings: splitting and replacing as functions, builders, numbers in text."""
import sys

from rpython.rlib.objectmodel import newlist_hint, not_rpython, specialize


# Functions that take byte or unicode strings alike.

@specialize.argtype(0)
def _isspace(c):
    if isinstance(c, unicode):
        code = ord(c)
        return (9 <= code <= 13 or 28 <= code <= 32 or code == 0x85 or code == 0xa0 or
                code >= 0x1680 and _is_wide_space(code))
    return c == ' ' or '\t' <= c <= '\r'

def _is_wide_space(code):
    return (code == 0x1680 or code == 0x180e or 0x2000 <= code <= 0x200a or
            code == 0x2028 or code == 0x2029 or code == 0x202f or code == 0x205f or
            code == 0x3000)

def _space_in_utf8(s, pos):
    """How many bytes of white space a character at that place takes, 0 if it is none."""
    code = ord(s[pos])
    if code < 0x80:
        return int(9 <= code <= 13 or 28 <= code <= 32)
    if code == 0xc2 and pos + 1 < len(s):
        return 2 * int(s[pos + 1] == '\x85' or s[pos + 1] == '\xa0')
    if 0xe0 <= code < 0xf0 and pos + 2 < len(s):
        code = (code & 15) << 12 | (ord(s[pos + 1]) & 63) << 6 | ord(s[pos + 2]) & 63
        return 3 * int(_is_wide_space(code))
    return 0

def _split_utf8(value, maxsplit):
    result = []
    pos = 0
    while pos < len(value):
        space = _space_in_utf8(value, pos)
        if space:
            pos += space
            continue
        start = pos
        while pos < len(value) and (maxsplit == 0 or not _space_in_utf8(value, pos)):
            pos += 1
        result.append(value[start:pos])
        maxsplit -= 1
    return result

def _rsplit_utf8(value, maxsplit):
    # Where each word starts and stops; the last ones are apart.
    places = []
    pos = 0
    while pos < len(value):
        space = _space_in_utf8(value, pos)
        if space:
            pos += space
            continue
        start = pos
        while pos < len(value) and not _space_in_utf8(value, pos):
            pos += 1
        places.append((start, pos))
    rest = 0
    if maxsplit >= 0 and len(places) > maxsplit:
        rest = len(places) - maxsplit
    result = []
    if rest > 0:
        stop = places[rest - 1][1]
        result.append(value[:stop])
    for i in range(rest, len(places)):
        start, stop = places[i]
        result.append(value[start:stop])
    return result

@specialize.argtype(0)
def split(value, by=None, maxsplit=-1, isutf8=False):
    """The pieces between occurrences of by, or between white space, which with isutf8 is
    that of unicode in UTF-8."""
    if isinstance(value, str):
        if isutf8 and by is None:
            return _split_utf8(value, maxsplit)
    result = []
    length = len(value)
    start = 0
    if by is None:
        while True:
            while start < length and _isspace(value[start]):
                start += 1
            if start >= length:
                return result
            stop = start
            if maxsplit == 0:
                stop = length
            while stop < length and not _isspace(value[stop]):
                stop += 1
            result.append(value[start:stop])
            maxsplit -= 1
            start = stop
    return _split_by(value, by, maxsplit)

@specialize.argtype(0, 1)
def _split_by(value, by, maxsplit):
    bylen = len(by)
    if bylen == 0:
        raise ValueError("empty separator")
    result = []
    start = 0
    while maxsplit != 0:
        found = find(value, by, start, len(value))
        if found < 0:
            break
        assert found >= start
        result.append(value[start:found])
        start = found + bylen
        maxsplit -= 1
    result.append(value[start:])
    return result

@specialize.argtype(0)
def rsplit(value, by=None, maxsplit=-1, isutf8=False):
    """split() from the right."""
    if by is not None:
        return _rsplit_by(value, by, maxsplit)
    if isinstance(value, str):
        if isutf8:
            return _rsplit_utf8(value, maxsplit)
    result = []
    stop = len(value)
    while True:
        while stop > 0 and _isspace(value[stop - 1]):
            stop -= 1
        if stop <= 0:
            break
        start = stop
        if maxsplit == 0:
            start = 0
        while start > 0 and not _isspace(value[start - 1]):
            start -= 1
        assert start >= 0
        result.append(value[start:stop])
        maxsplit -= 1
        stop = start
    result.reverse()
    return result

@specialize.argtype(0, 1)
def _rsplit_by(value, by, maxsplit):
    bylen = len(by)
    if bylen == 0:
        raise ValueError("empty separator")
    result = []
    stop = len(value)
    while maxsplit != 0:
        found = rfind(value, by, 0, stop)
        if found < 0:
            break
        result.append(value[found + bylen:stop])
        stop = found
        maxsplit -= 1
    assert stop >= 0
    result.append(value[:stop])
    result.reverse()
    return result

@specialize.argtype(0, 1)
def replace(input, sub, by, maxcount=-1):
    """input with occurrences of sub, maxcount of them at the most, replaced."""
    return replace_count(input, sub, by, maxcount)[0]

@specialize.ll_and_arg(4)
def replace_count(input, sub, by, maxcount=-1, isutf8=False):
    """The replaced string, or list of characters, and how many times sub was found."""
    if maxcount == 0:
        return input, 0
    length = len(input)
    if isinstance(input, list):
        builder = ByteListBuilder(length)
    elif isinstance(input, unicode):
        builder = UnicodeBuilder(length)
    else:
        builder = StringBuilder(length)
    start = count = 0
    sublen = len(sub)
    if sublen == 0:
        # In front of each character, and behind the last one.
        while start < length and count != maxcount:
            builder.append(by)
            stop = _next(input, start, isutf8)
            builder.append_slice(input, start, stop)
            start = stop
            count += 1
        if count != maxcount:
            builder.append(by)
            count += 1
    else:
        while count != maxcount:
            found = find(input, sub, start, length)
            if found < 0:
                break
            builder.append_slice(input, start, found)
            builder.append(by)
            start = found + sublen
            count += 1
        if count == 0 and not isinstance(input, list):
            return input, 0
    builder.append_slice(input, start, length)
    return builder.build(), count

@specialize.ll_and_arg(2)
def _next(s, pos, isutf8):
    if isutf8:
        from rpython.rlib.rutf8 import next_codepoint_pos
        return next_codepoint_pos(s, pos)
    return pos + 1

def _normalize_start_end(length, start, end):
    """The bounds of a slice, both from 0 to the length."""
    if start < 0:
        start = max(start + length, 0)
    if end < 0:
        end = max(end + length, 0)
    return start, min(end, length)

@specialize.argtype(0, 1)
def startswith(u_self, prefix, start=0, end=sys.maxint):
    start, end = _normalize_start_end(len(u_self), start, end)
    return _is_at(u_self, start, prefix, start, end)

@specialize.argtype(0, 1)
def endswith(u_self, suffix, start=0, end=sys.maxint):
    start, end = _normalize_start_end(len(u_self), start, end)
    return _is_at(u_self, end - len(suffix), suffix, start, end)

@specialize.argtype(0, 2)
def _is_at(text, at, piece, start, end):
    """Whether a piece stands at a place of a text, all of it between start and end."""
    length = len(piece)
    if at < start or end - at < length:
        return False
    i = 0
    while i < length and text[at + i] == piece[i]:
        i += 1
    return i == length

SEARCH_COUNT = 0
SEARCH_FIND = 1
SEARCH_RFIND = 2

@specialize.argtype(0, 1)
def find(value, other, start, end):
    return _search(value, other, start, end, SEARCH_FIND)

@specialize.argtype(0, 1)
def rfind(value, other, start, end):
    return _search(value, other, start, end, SEARCH_RFIND)

@specialize.argtype(0, 1)
def count(value, other, start, end):
    return _search(value, other, start, end, SEARCH_COUNT)

@specialize.argtype(0, 1)
def _search(value, other, start, end, mode):
    """Where other, a string or a buffer, is found between start and end in value,
    another one, or how often; -1 or 0 if it is not."""
    return _search_normal(_text_of(value), _text_of(other), start, end, mode)

@specialize.argtype(0, 1)
def _search_normal(value, other, start, end, mode):
    start = max(start, 0)
    end = min(end, len(value))
    if end < start:
        return 0 if mode == SEARCH_COUNT else -1
    if mode == SEARCH_FIND:
        return value.find(other, start, end)
    if mode == SEARCH_RFIND:
        return value.rfind(other, start, end)
    return value.count(other, start, end)

@specialize.argtype(0)
def _text_of(value):
    if isinstance(value, str) or isinstance(value, unicode):
        return value
    if isinstance(value, list):
        return ''.join(value)
    return value.as_str()

def strip_spaces(s):
    start = 0
    stop = len(s)
    while start < stop and _isspace(s[start]):
        start += 1
    while stop > start and _isspace(s[stop - 1]):
        stop -= 1
    assert stop >= 0
    return s[start:stop]


# Numbers in text.

class ParseStringError(Exception):
    """The text is not a number."""

    def __init__(self, msg):
        self.msg = msg

class InvalidBaseError(ParseStringError):
    """The base is not between 2 and 36."""

class ParseStringOverflowError(Exception):
    """The number is too big; the parser has the rest of its digits."""

    def __init__(self, parser):
        self.parser = parser

class MaxDigitsError(Exception):
    """There are more digits than `max_str_digits` allows."""

    def __init__(self, digits):
        self.digits = digits


class NumberStringParser:
    """Takes blanks, sign and prefix off and hands out the digits."""

    def __init__(self, s, literal, base, fname, allow_underscores=False,
                 no_implicit_octal=False, start=0, end=-1, max_str_digits=0,
                 disallow_whitespace_after_sign=False):
        self.fname = fname
        self.original_base = base
        self.allow_underscores = allow_underscores
        if end == -1:
            end = len(s)
        while start < end and _isspace(s[start]):
            start += 1
        while end > start and _isspace(s[end - 1]):
            end -= 1
        self.sign = 1
        if start < end:
            if s[start] == '-':
                self.sign = -1
                start += 1
            elif s[start] == '+':
                start += 1
            if not disallow_whitespace_after_sign:
                while start < end and _isspace(s[start]):
                    start += 1
        letter = '\x00'
        if start + 1 < end and s[start] == '0':
            letter = s[start + 1]
        prefixed = 0
        if letter == 'x' or letter == 'X':
            prefixed = 16
        elif letter == 'b' or letter == 'B':
            prefixed = 2
        elif letter == 'o' or letter == 'O':
            prefixed = 8
        if base == 0:
            if prefixed != 0:
                base = prefixed
            elif start < end and s[start] == '0':
                # Without octal numbers only zeroes may follow.
                base = 1 if no_implicit_octal else 8
            else:
                base = 10
        elif not 2 <= base <= 36:
            raise InvalidBaseError(fname + "() base must be >= 2 and <= 36, or 0")
        if start < end and s[start] == '_':
            self.start = self.i = start
            self.error()
        if prefixed == base:
            start += 2
        self.base = base
        self.s = s
        self.start = start
        self.i = start
        self.end = end
        if start >= end:
            self.error()
        if max_str_digits > 0:
            digits = end - start - s.count('_')
            if digits > max_str_digits:
                raise MaxDigitsError(digits)

    def error(self):
        raise ParseStringError("invalid literal for %s() with base %d" % (
            self.fname, self.original_base))

    def rewind(self):
        self.i = self.start

    def next_digit(self):
        """Value of the next digit, -1 at the end."""
        if self.i >= self.end:
            return -1
        digit = _digit_value(self.s[self.i])
        if digit < 0 and self.allow_underscores and self.s[self.i] == '_':
            self.i += 1
            if self.i >= self.end:
                self.error()
            digit = _digit_value(self.s[self.i])
        if digit < 0 or digit >= self.base:
            self.error()
        self.i += 1
        return digit

    def prev_digit(self):
        """Value of the digit before the last one that was read, -1 at the start."""
        self.i -= 1
        if self.i < self.start:
            return -1
        if self.allow_underscores and self.s[self.i] == '_':
            self.i -= 1
        return _digit_value(self.s[self.i])

def _digit_value(c):
    if '0' <= c <= '9':
        return ord(c) - ord('0')
    if 'A' <= c <= 'Z':
        return ord(c) - ord('A') + 10
    if 'a' <= c <= 'z':
        return ord(c) - ord('a') + 10
    return -1


# Builders. The compiler knows these two classes.

INIT_SIZE = 100

class AbstractStringBuilder(object):
    @not_rpython
    def __init__(self, init_size=INIT_SIZE):
        self._pieces = []

    @not_rpython
    def append(self, s):
        assert isinstance(s, self._type)
        self._pieces.append(s)

    @not_rpython
    def append_slice(self, s, start, end):
        assert 0 <= start <= end <= len(s)
        self._pieces.append(s[start:end])

    @not_rpython
    def append_multiple_char(self, c, times):
        self._pieces.append(c * times)

    @not_rpython
    def append_charpsize(self, s, size):
        self._pieces.append(self._type().join([s[i] for i in range(size)]))

    @not_rpython
    def build(self):
        return self._type().join(self._pieces)

    @not_rpython
    def getlength(self):
        return len(self.build())


class StringBuilder(AbstractStringBuilder):
    _type = str


class UnicodeBuilder(AbstractStringBuilder):
    _type = unicode


class ByteListBuilder(object):
    """Like a StringBuilder, for a list of characters."""

    def __init__(self, init_size=INIT_SIZE):
        self._chars = newlist_hint(init_size)

    @specialize.argtype(1)
    def append(self, s):
        for c in s:
            self._chars.append(c)

    @specialize.argtype(1)
    def append_slice(self, s, start, end):
        for i in range(start, end):
            self._chars.append(s[i])

    def append_multiple_char(self, c, times):
        assert len(c) == 1
        for i in range(times):
            self._chars.append(c[0])

    def append_charpsize(self, s, size):
        for i in range(size):
            self._chars.append(s[i])

    def build(self):
        return self._chars

    def getlength(self):
        return len(self._chars)


# Strings without zero bytes.

def assert_str0(fname):
    assert '\x00' not in fname, "NUL byte in fname"
    return fname

def check_str0(fname):
    assert '\x00' not in fname, "NUL byte in fname"
