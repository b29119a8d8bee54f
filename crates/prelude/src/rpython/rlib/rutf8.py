"""Text as byte strings in UTF-8. Positions count bytes; indexes and lengths count code
points. Texts are well-formed but may contain surrogates, except where a function
checks them."""
import sys

from rpython.rlib.rarithmetic import intmask, r_uint
from rpython.rlib.rstring import StringBuilder

MAXUNICODE = 0x10ffff
allow_surrogate_by_default = False


class OutOfRange(Exception):
    """No code point."""

    def __init__(self, code):
        self.code = code


class CheckError(Exception):
    """Not UTF-8: where."""

    def __init__(self, pos):
        self.pos = pos


# One code point.

def unichr_as_utf8(code, allow_surrogates=False):
    """The bytes of a code point. OutOfRange for what is none."""
    code = r_uint(code)
    if code < r_uint(0x80):
        return chr(intmask(code))
    builder = StringBuilder(4)
    unichr_as_utf8_append(builder, intmask(code), allow_surrogates)
    return builder.build()


def unichr_as_utf8_append(builder, code, allow_surrogates=False):
    """Appends the bytes of a code point. OutOfRange for what is none."""
    code = intmask(code)
    if 0 <= code < 0x80:
        builder.append(chr(code))
    elif 0 <= code < 0x800:
        builder.append(chr(0xc0 | (code >> 6)))
        builder.append(chr(0x80 | (code & 0x3f)))
    elif 0 <= code < 0x10000:
        if 0xd800 <= code < 0xe000 and not allow_surrogates:
            raise OutOfRange(code)
        builder.append(chr(0xe0 | (code >> 12)))
        builder.append(chr(0x80 | ((code >> 6) & 0x3f)))
        builder.append(chr(0x80 | (code & 0x3f)))
    elif 0 <= code <= MAXUNICODE:
        builder.append(chr(0xf0 | (code >> 18)))
        builder.append(chr(0x80 | ((code >> 12) & 0x3f)))
        builder.append(chr(0x80 | ((code >> 6) & 0x3f)))
        builder.append(chr(0x80 | (code & 0x3f)))
    else:
        raise OutOfRange(code)


def _width(lead):
    if lead < 0x80:
        return 1
    if lead < 0xe0:
        return 2
    if lead < 0xf0:
        return 3
    return 4


def next_codepoint_pos(code, pos):
    """Where the code point after the one at `pos` starts."""
    assert pos >= 0
    return pos + _width(ord(code[pos]))


def prev_codepoint_pos(code, pos):
    """Where the code point before `pos` starts."""
    pos -= 1
    if pos >= len(code):
        # Behind the end.
        return len(code)
    while pos > 0 and ord(code[pos]) & 0xc0 == 0x80:
        pos -= 1
    assert pos >= 0
    return pos


def codepoint_at_pos(code, pos):
    lead = ord(code[pos])
    if lead < 0x80:
        return lead
    result = lead & 0x1f
    if lead >= 0xf0:
        result = lead & 0x07
    elif lead >= 0xe0:
        result = lead & 0x0f
    for i in range(1, _width(lead)):
        result = (result << 6) | (ord(code[pos + i]) & 0x3f)
    return result


def codepoint_before_pos(code, pos):
    return codepoint_at_pos(code, prev_codepoint_pos(code, pos))


# Checks.

def check_ascii(s):
    """CheckError at the first byte that is not ASCII."""
    pos = first_non_ascii_char(s)
    if pos >= 0:
        raise CheckError(pos)


def first_non_ascii_char(s):
    """Its place, or -1."""
    for i in range(len(s)):
        if ord(s[i]) >= 0x80:
            return i
    return -1


def _surrogate_bytes(ch1, ch2):
    return ch1 == 0xed and ch2 > 0x9f


def _starts_sequence(s, pos, stop, allow_surrogates):
    """Length of the well-formed sequence at `pos`, 0 if there is none."""
    lead = ord(s[pos])
    if lead < 0x80:
        return 1
    if lead < 0xc2 or lead > 0xf4:
        return 0
    width = _width(lead)
    if pos + width > stop:
        return 0
    for i in range(1, width):
        if ord(s[pos + i]) & 0xc0 != 0x80:
            return 0
    second = ord(s[pos + 1])
    if lead == 0xe0 and second < 0xa0 or lead == 0xf0 and second < 0x90:
        return 0
    if lead == 0xf4 and second >= 0x90:
        return 0
    if _surrogate_bytes(lead, second) and not allow_surrogates:
        return 0
    return width


# For decoders of others: whether these bytes cannot stand there in a sequence of so many.

def _invalid_byte_2_of_2(byte):
    return byte & 0xc0 != 0x80

_invalid_byte_3_of_3 = _invalid_byte_3_of_4 = _invalid_byte_4_of_4 = _invalid_byte_2_of_2

def _invalid_byte_2_of_3(ordch1, ordch2, allow_surrogates):
    if ordch1 == 0xe0 and ordch2 < 0xa0:
        return True
    if _surrogate_bytes(ordch1, ordch2) and not allow_surrogates:
        return True
    return _invalid_byte_2_of_2(ordch2)

def _invalid_byte_2_of_4(ordch1, ordch2):
    if ordch1 == 0xf0 and ordch2 < 0x90 or ordch1 == 0xf4 and ordch2 > 0x8f:
        return True
    return _invalid_byte_2_of_2(ordch2)


def check_utf8(s, allow_surrogates, start=0, stop=-1):
    """Number of code points. CheckError where it is not well-formed."""
    result = _check_utf8(s, allow_surrogates, start, stop)
    if result < 0:
        raise CheckError(~result)
    return result


def _check_utf8(s, allow_surrogates, start, stop):
    """Number of code points, or the complement of the place where it is not well-formed."""
    if stop < 0:
        stop = len(s)
    pos = start
    count = 0
    while pos < stop:
        width = _starts_sequence(s, pos, stop, allow_surrogates)
        if width == 0:
            return ~pos
        pos += width
        count += 1
    return count


def get_utf8_length(s, start=0, end=-1):
    """Number of code points."""
    if end < 0:
        end = len(s)
    return codepoints_in_utf8(s, start, end)


def codepoints_in_utf8(value, start=0, end=sys.maxint):
    """Number of code points that start in a slice."""
    count = 0
    for i in range(start, min(end, len(value))):
        if ord(value[i]) & 0xc0 != 0x80:
            count += 1
    return count


def surrogate_in_utf8(utf8):
    """The place of the first surrogate, or -1."""
    for i in range(len(utf8) - 2):
        if utf8[i] == '\xed' and utf8[i + 1] >= '\xa0':
            return i
    return -1


def has_surrogates(utf8):
    return surrogate_in_utf8(utf8) >= 0


def reencode_utf8_with_surrogates(utf8):
    """The same with every two surrogates that form a pair as the code point they mean."""
    if not has_surrogates(utf8):
        return utf8
    builder = StringBuilder(len(utf8))
    pos = 0
    while pos < len(utf8):
        code = codepoint_at_pos(utf8, pos)
        pos = next_codepoint_pos(utf8, pos)
        if 0xd800 <= code < 0xdc00 and pos < len(utf8):
            low = codepoint_at_pos(utf8, pos)
            if 0xdc00 <= low < 0xe000:
                code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00)
                pos = next_codepoint_pos(utf8, pos)
        unichr_as_utf8_append(builder, code, True)
    return builder.build()


def utf8_in_chars(value, pos, chars):
    """Whether the code point at `pos` is one of those in another text."""
    i = 0
    end = next_codepoint_pos(value, pos)
    while i < len(chars):
        k = next_codepoint_pos(chars, i)
        if k - i == end - pos:
            same = True
            for offset in range(end - pos):
                if value[pos + offset] != chars[i + offset]:
                    same = False
            if same:
                return True
        i = k
    return False


def islinebreak(s, pos):
    return _is_linebreak_code(codepoint_at_pos(s, pos))


def _is_linebreak_code(code):
    return (0x0a <= code <= 0x0d or 0x1c <= code <= 0x1e or code == 0x85 or
            code == 0x2028 or code == 0x2029)


def isspace(s, pos):
    code = codepoint_at_pos(s, pos)
    return (0x09 <= code <= 0x0d or 0x1c <= code <= 0x20 or code == 0x85 or code == 0xa0 or
            code == 0x1680 or code == 0x180e or 0x2000 <= code <= 0x200a or
            code == 0x2028 or code == 0x2029 or code == 0x202f or code == 0x205f or
            code == 0x3000)


# An index from code points to bytes: the place of every STEP-th code point.

STEP = 64


def null_storage():
    """No index yet."""
    return None


def create_utf8_index_storage(utf8, utf8len):
    places = [0] * (utf8len // STEP + 1)
    pos = 0
    for i in range(utf8len):
        if i % STEP == 0:
            places[i // STEP] = pos
        pos = next_codepoint_pos(utf8, pos)
    if utf8len % STEP == 0:
        places[utf8len // STEP] = len(utf8)
    return places


def codepoint_position_at_index(utf8, storage, index):
    """Where the code point of that index starts."""
    pos = storage[index // STEP]
    for _ in range(index % STEP):
        pos = next_codepoint_pos(utf8, pos)
    assert pos >= 0
    return pos


def _pos_at_index(utf8, index):
    """The same without storage."""
    pos = 0
    for _ in range(index):
        pos = next_codepoint_pos(utf8, pos)
    return pos


def codepoint_at_index(utf8, storage, index):
    return codepoint_at_pos(utf8, codepoint_position_at_index(utf8, storage, index))


def codepoint_index_at_byte_position(utf8, storage, bytepos, num_codepoints):
    """The index of the code point that starts there."""
    if bytepos < 0:
        return bytepos
    low = 0
    high = len(storage)
    while high - low > 1:
        middle = (low + high) // 2
        if storage[middle] <= bytepos:
            low = middle
        else:
            high = middle
    index = low * STEP
    pos = storage[low]
    while pos < bytepos:
        pos = next_codepoint_pos(utf8, pos)
        index += 1
    return index


# Escapes.

TABLE = '0123456789abcdef'


def char_escape_helper(result, char):
    """Appends a code point as \\xnn, \\unnnn or \\Unnnnnnnn."""
    if char >= 0x10000 or char < 0:
        result.append('\\U')
        digits = 8
    elif char >= 0x100:
        result.append('\\u')
        digits = 4
    else:
        result.append('\\x')
        digits = 2
    for i in range(digits - 1, -1, -1):
        result.append(TABLE[(char >> (4 * i)) & 0xf])


def make_utf8_escape_function(pass_printable=False, quotes=False, prefix=None, unicodedb=None):
    """A function that gives a text as a literal. `quotes`: with quotes around it, and a
    prefix before them; `pass_printable`: what `unicodedb` says can be printed stays."""

    def unicode_escape(s):
        result = StringBuilder(len(s))
        quote = '\0'
        if quotes:
            if prefix:
                result.append(prefix)
            quote = '\''
            if s.find('\'') >= 0 and s.find('"') < 0:
                quote = '"'
            result.append(quote)
        pos = 0
        while pos < len(s):
            code = codepoint_at_pos(s, pos)
            end = next_codepoint_pos(s, pos)
            if code == ord('\\') or (quotes and code == ord(quote)):
                result.append('\\')
                result.append(chr(code))
            elif code == ord('\n'):
                result.append('\\n')
            elif code == ord('\r'):
                result.append('\\r')
            elif code == ord('\t'):
                result.append('\\t')
            elif 0x20 <= code < 0x7f:
                result.append(chr(code))
            elif pass_printable and code >= 0x80 and unicodedb.isprintable(code):
                result.append_slice(s, pos, end)
            else:
                char_escape_helper(result, code)
            pos = end
        if quotes:
            result.append(quote)
        return result.build()

    return unicode_escape


# Builders and iterators.

class Utf8StringBuilder(object):
    """A text that grows, and its length in code points."""

    def __init__(self, size=0):
        self._s = StringBuilder(size)
        self._length = 0

    def append(self, s):
        """Appends well-formed UTF-8."""
        self._length += codepoints_in_utf8(s)
        self._s.append(s)

    def append_slice(self, s, start, end):
        self._length += codepoints_in_utf8(s, start, end)
        self._s.append_slice(s, start, end)

    def append_char(self, s):
        """Appends an ASCII character."""
        self._length += 1
        self._s.append(s)

    def append_code(self, code):
        """Appends a code point."""
        unichr_as_utf8_append(self._s, code, True)
        self._length += 1

    def append_utf8(self, utf8, length):
        """Appends a text of that many code points."""
        self._length += length
        self._s.append(utf8)

    def append_utf8_slice(self, utf8, start, end, slicelength):
        self._length += slicelength
        self._s.append_slice(utf8, start, end)

    def append_multiple_char(self, utf8, times):
        """Appends one code point that often."""
        self._length += times
        if len(utf8) == 1:
            self._s.append_multiple_char(utf8[0], times)
        else:
            self._s.append(utf8 * times)

    def build(self):
        return self._s.build()

    def getlength(self):
        return self._length


class Utf8StringIterator(object):
    """Gives the code points of a text."""

    def __init__(self, utf8s):
        self._pos = 0
        self._end = len(utf8s)
        self._utf8 = utf8s

    def __iter__(self):
        return self

    def done(self):
        return self._pos >= self._end

    def get_pos(self):
        """Where the next one starts."""
        return self._pos

    def next(self):
        if self.done():
            raise StopIteration
        start = self._pos
        self._pos = next_codepoint_pos(self._utf8, start)
        return codepoint_at_pos(self._utf8, start)


class Utf8StringPosIterator(object):
    """Gives code points with the places where they start."""

    def __init__(self, utf8s):
        self._it = Utf8StringIterator(utf8s)

    def __iter__(self):
        return self

    def next(self):
        pos = self._it.get_pos()
        return (self._it.next(), pos)


def decode_latin_1(s):
    """Latin-1 as UTF-8."""
    if first_non_ascii_char(s) < 0:
        return s
    builder = StringBuilder(len(s))
    for c in s:
        unichr_as_utf8_append(builder, ord(c))
    return builder.build()
