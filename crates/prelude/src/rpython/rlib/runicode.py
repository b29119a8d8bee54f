"""Codecs between byte strings and unicode.

`str_decode_X(s, size, errors, final, errorhandler)` gives the text of the first `size`
bytes and how many of them it took: fewer if the end of `s` may be the start of a
character and `final` is not set. `unicode_encode_X(u, size, errors, errorhandler)` gives
bytes.

    decoding:  errorhandler(errors, encoding, message, s, start, end) -> (unicode, pos)
    encoding:  errorhandler(errors, encoding, message, u, start, end)
                   -> (unicode or None, bytes or None, pos)

What the handler gives goes into the result, and work continues at `pos`.
"""
import sys

from rpython.rlib._runicode_errors import (
    default_unicode_error_decode, default_unicode_error_encode)
from rpython.rlib._runicode_escapes import (
    ERROR_CHAR, decode_charmap, encode_charmap, hexdigits, hexescape,
    make_unicode_escape_function, raw_unicode_escape_helper,
    raw_unicode_escape_helper_unicode, str_decode_raw_unicode_escape,
    str_decode_unicode_escape, str_decode_unicode_internal, str_decode_utf_7,
    unicode_encode_decimal, unicode_encode_raw_unicode_escape, unicode_encode_unicode_escape,
    unicode_encode_unicode_internal, unicode_encode_utf_7)
from rpython.rlib.objectmodel import specialize
from rpython.rlib.rstring import StringBuilder, UnicodeBuilder

MAXUNICODE = 0x10ffff
allow_surrogate_by_default = False
BYTEORDER = sys.byteorder
BYTEORDER2 = BYTEORDER[0] + 'e'

UNICHR = unichr
ORD = ord
code_to_unichr = unichr


def is_narrow_host():
    return False


# UTF-8.

def _length_after(lead):
    """Length of the sequence that this byte starts; 1 if it cannot start one."""
    if 0xc2 <= lead < 0xe0:
        return 2
    if 0xe0 <= lead < 0xf0:
        return 3
    if 0xf0 <= lead < 0xf5:
        return 4
    return 1


# The same for bytes from 0x80 on, and 0 for those that cannot start one.
_utf8_code_length = ''.join([chr(_length_after(i) & ~1 | (3 if 0xe0 <= i < 0xf0 else 0))
                             for i in range(0x80, 0x100)])


def _can_follow(lead, place, byte, allow_surrogates):
    """Whether a byte can stand at that place of a sequence."""
    if byte & 0xc0 != 0x80:
        return False
    if place == 1:
        if lead == 0xe0:
            return byte >= 0xa0
        if lead == 0xed:
            return byte < 0xa0 or allow_surrogates
        if lead == 0xf0:
            return byte >= 0x90
        if lead == 0xf4:
            return byte < 0x90
    return True


def str_decode_utf_8(s, size, errors, final=False, errorhandler=None,
                     allow_surrogates=allow_surrogate_by_default):
    if errorhandler is None:
        errorhandler = default_unicode_error_decode
    return str_decode_utf_8_impl(s, size, errors, final, errorhandler, allow_surrogates)


def str_decode_utf_8_impl(s, size, errors, final, errorhandler, allow_surrogates):
    result = UnicodeBuilder(size)
    pos = 0
    while pos < size:
        lead = ord(s[pos])
        if lead < 0x80:
            result.append(unichr(lead))
            pos += 1
            continue
        length = _length_after(lead)
        if length == 1:
            text, pos = errorhandler(errors, 'utf8', 'invalid start byte', s, pos, pos + 1)
            result.append(text)
            continue
        if pos + length > size and not final:
            break
        code = lead & (0x7f >> length)
        place = 1
        while place < length and pos + place < size:
            byte = ord(s[pos + place])
            if not _can_follow(lead, place, byte, allow_surrogates):
                break
            code = (code << 6) | (byte & 0x3f)
            place += 1
        if place == length:
            result.append(unichr(code))
            pos += length
        elif pos + place < size:
            text, pos = errorhandler(errors, 'utf8', 'invalid continuation byte', s, pos,
                                     pos + place)
            result.append(text)
        else:
            text, pos = errorhandler(errors, 'utf8', 'unexpected end of data', s, pos, size)
            result.append(text)
    return result.build(), pos


def _append_utf_8(result, code):
    if code < 0x80:
        result.append(chr(code))
    elif code < 0x800:
        result.append(chr(0xc0 | (code >> 6)))
        result.append(chr(0x80 | (code & 0x3f)))
    elif code < 0x10000:
        result.append(chr(0xe0 | (code >> 12)))
        result.append(chr(0x80 | ((code >> 6) & 0x3f)))
        result.append(chr(0x80 | (code & 0x3f)))
    else:
        result.append(chr(0xf0 | (code >> 18)))
        result.append(chr(0x80 | ((code >> 12) & 0x3f)))
        result.append(chr(0x80 | ((code >> 6) & 0x3f)))
        result.append(chr(0x80 | (code & 0x3f)))


def _low_half(s, pos, size, code):
    """The second half of a pair that starts with `code`, or -1."""
    if 0xd800 <= code < 0xdc00 and pos < size:
        second = ord(s[pos])
        if 0xdc00 <= second < 0xe000:
            return second
    return -1


def _joined(high, low):
    return (((high - 0xd800) << 10) | (low - 0xdc00)) + 0x10000


def unicode_encode_utf_8(s, size, errors, errorhandler=None,
                         allow_surrogates=allow_surrogate_by_default):
    if errorhandler is None:
        errorhandler = default_unicode_error_encode
    return unicode_encode_utf_8_impl(s, size, errors, errorhandler, allow_surrogates)


def unicode_encode_utf_8_impl(s, size, errors, errorhandler, allow_surrogates=False):
    result = StringBuilder(size)
    pos = 0
    while pos < size:
        code = ord(s[pos])
        pos += 1
        if 0xd800 <= code < 0xe000:
            low = _low_half(s, pos, size, code)
            if low >= 0 and allow_surrogates:
                code = _joined(code, low)
                pos += 1
            elif not allow_surrogates:
                pos = _handle(result, errorhandler, errors, 'utf8',
                              'surrogates not allowed', s, pos - 1, pos, 0x80)
                continue
        _append_utf_8(result, code)
    return result.build()


def unicode_encode_utf8sp(s, size):
    """Every code by itself, halves of pairs included."""
    result = StringBuilder(size)
    for i in range(size):
        _append_utf_8(result, ord(s[i]))
    return result.build()


class SurrogateError(Exception):
    """Half of a surrogate pair stands by itself."""

    def __init__(self, char, index):
        self.char, self.index = char, index


def unicode_encode_utf8_forbid_surrogates(s, size):
    result = StringBuilder(size)
    for i in range(size):
        code = ord(s[i])
        if 0xd800 <= code < 0xe000:
            raise SurrogateError(s[i], i)
        _append_utf_8(result, code)
    return result.build()


def _handle(result, errorhandler, errors, encoding, msg, u, start, end, limit):
    """Appends what the handler of an encoding error gives. Its text must consist of
    codes below `limit`. Answers where to go on."""
    text, data, pos = errorhandler(errors, encoding, msg, u, start, end)
    if data is not None:
        result.append(data)
        return pos
    for c in text:
        if ord(c) < limit:
            result.append(chr(ord(c)))
        else:
            errorhandler('strict', encoding, msg, u, start, end)
    return pos


# UTF-16 and UTF-32. A byte order of 'native' means: as the mark at the start says, else
# the machine's. It is said back as -1 for little, 1 for big, 0 for unknown.

def _unit(s, pos, width, big):
    code = 0
    for i in range(width):
        if big:
            byte = ord(s[pos + i])
        else:
            byte = ord(s[pos + width - 1 - i])
        code = (code << 8) | byte
    return code


def _append_unit(result, code, width, big):
    for i in range(width):
        shift = 8 * (width - 1 - i) if big else 8 * i
        result.append(chr((code >> shift) & 0xff))


def _start(s, size, width, byteorder):
    """Where the text starts behind a mark, and the byte order that is known then."""
    if byteorder == 'native':
        if size >= width:
            if _unit(s, 0, width, False) == 0xfeff:
                return width, -1
            if _unit(s, 0, width, True) == 0xfeff:
                return width, 1
        return 0, 0
    if byteorder == 'little':
        return 0, -1
    return 0, 1


def str_decode_utf_16_helper(s, size, errors, final=True, errorhandler=None,
                             byteorder="native", public_encoding_name='utf16'):
    if errorhandler is None:
        errorhandler = default_unicode_error_decode
    pos, order = _start(s, size, 2, byteorder)
    big = order > 0
    result = UnicodeBuilder(size // 2)
    while pos < size:
        if size - pos < 2:
            if not final:
                break
            text, pos = errorhandler(errors, public_encoding_name, 'truncated data', s,
                                     pos, len(s))
            result.append(text)
            if size - pos < 2:
                break
        code = _unit(s, pos, 2, big)
        pos += 2
        if not 0xd800 <= code < 0xe000:
            result.append(unichr(code))
            continue
        if size - pos < 2:
            pos -= 2
            if not final:
                break
            text, pos = errorhandler(errors, public_encoding_name,
                                     'unexpected end of data', s, pos, len(s))
            result.append(text)
            if size - pos < 2:
                break
            continue
        if code >= 0xdc00:
            text, pos = errorhandler(errors, public_encoding_name, 'illegal encoding', s,
                                     pos - 2, pos)
            result.append(text)
            continue
        low = _unit(s, pos, 2, big)
        if 0xdc00 <= low < 0xe000:
            result.append(unichr(_joined(code, low)))
            pos += 2
        else:
            text, pos = errorhandler(errors, public_encoding_name,
                                     'illegal UTF-16 surrogate', s, pos - 2, pos)
            result.append(text)
    return result.build(), pos, order


def str_decode_utf_16(s, size, errors, final=True, errorhandler=None):
    text, pos, _ = str_decode_utf_16_helper(s, size, errors, final, errorhandler, "native")
    return text, pos


def str_decode_utf_16_be(s, size, errors, final=True, errorhandler=None):
    text, pos, _ = str_decode_utf_16_helper(s, size, errors, final, errorhandler, "big")
    return text, pos


def str_decode_utf_16_le(s, size, errors, final=True, errorhandler=None):
    text, pos, _ = str_decode_utf_16_helper(s, size, errors, final, errorhandler, "little")
    return text, pos


def unicode_encode_utf_16_helper(s, size, errors, errorhandler=None,
                                 allow_surrogates=True, byteorder='little',
                                 public_encoding_name='utf16'):
    if errorhandler is None:
        errorhandler = default_unicode_error_encode
    big = byteorder == 'big'
    result = StringBuilder(size * 2 + 2)
    if byteorder == 'native':
        _append_unit(result, 0xfeff, 2, big)
    pos = 0
    while pos < size:
        code = ord(s[pos])
        pos += 1
        if code >= 0x10000:
            _append_unit(result, 0xd800 + ((code - 0x10000) >> 10), 2, big)
            _append_unit(result, 0xdc00 + (code & 0x3ff), 2, big)
        elif 0xd800 <= code < 0xe000 and not allow_surrogates:
            pos = _handle_wide(result, errorhandler, errors, public_encoding_name,
                               s, pos - 1, pos, 2, big)
        else:
            _append_unit(result, code, 2, big)
    return result.build()


def _handle_wide(result, errorhandler, errors, encoding, u, start, end, width, big):
    """As `_handle`, for units of several bytes."""
    msg = 'surrogates not allowed'
    text, data, pos = errorhandler(errors, encoding, msg, u, start, end)
    if data is not None:
        if len(data) % width != 0:
            errorhandler('strict', encoding, msg, u, start, end)
        result.append(data)
        return pos
    for c in text:
        if 0xd800 <= ord(c) < 0xe000:
            errorhandler('strict', encoding, msg, u, start, end)
        _append_unit(result, ord(c), width, big)
    return pos


def unicode_encode_utf_16(s, size, errors, errorhandler=None, allow_surrogates=True):
    return unicode_encode_utf_16_helper(s, size, errors, errorhandler, allow_surrogates,
                                        "native")


def unicode_encode_utf_16_be(s, size, errors, errorhandler=None, allow_surrogates=True):
    return unicode_encode_utf_16_helper(s, size, errors, errorhandler, allow_surrogates,
                                        "big")


def unicode_encode_utf_16_le(s, size, errors, errorhandler=None, allow_surrogates=True):
    return unicode_encode_utf_16_helper(s, size, errors, errorhandler, allow_surrogates,
                                        "little")


def str_decode_utf_32_helper(s, size, errors, final=True, errorhandler=None,
                             byteorder="native", public_encoding_name='utf32',
                             allow_surrogates=True):
    if errorhandler is None:
        errorhandler = default_unicode_error_decode
    pos, order = _start(s, size, 4, byteorder)
    big = order > 0
    result = UnicodeBuilder(size // 4)
    while pos < size:
        if size - pos < 4:
            if not final:
                break
            text, pos = errorhandler(errors, public_encoding_name, 'truncated data', s,
                                     pos, len(s))
            result.append(text)
            if size - pos < 4:
                break
            continue
        code = _unit(s, pos, 4, big)
        if code >= 0x110000:
            text, pos = errorhandler(errors, public_encoding_name,
                                     'codepoint not in range(0x110000)', s, pos, len(s))
            result.append(text)
            continue
        if not allow_surrogates and 0xd800 <= code <= 0xdffff:
            # More than halves of pairs; and the character itself comes, too, behind what
            # the handler gives. So it is in RPython.
            text, pos = errorhandler(errors, public_encoding_name,
                                     'code point in surrogate code point '
                                     'range(0xd800, 0xe000)', s, pos, len(s))
            result.append(text)
        result.append(unichr(code))
        pos += 4
    return result.build(), pos, order


def str_decode_utf_32(s, size, errors, final=True, errorhandler=None):
    text, pos, _ = str_decode_utf_32_helper(s, size, errors, final, errorhandler, "native")
    return text, pos


def str_decode_utf_32_be(s, size, errors, final=True, errorhandler=None):
    text, pos, _ = str_decode_utf_32_helper(s, size, errors, final, errorhandler, "big")
    return text, pos


def str_decode_utf_32_le(s, size, errors, final=True, errorhandler=None):
    text, pos, _ = str_decode_utf_32_helper(s, size, errors, final, errorhandler, "little")
    return text, pos


def unicode_encode_utf_32_helper(s, size, errors, errorhandler=None,
                                 allow_surrogates=True, byteorder='little',
                                 public_encoding_name='utf32'):
    if errorhandler is None:
        errorhandler = default_unicode_error_encode
    big = byteorder == 'big'
    result = StringBuilder(size * 4 + 4)
    if byteorder == 'native':
        _append_unit(result, 0xfeff, 4, big)
    pos = 0
    while pos < size:
        code = ord(s[pos])
        pos += 1
        if 0xd800 <= code < 0xe000 and not allow_surrogates:
            pos = _handle_wide(result, errorhandler, errors, public_encoding_name,
                               s, pos - 1, pos, 4, big)
            continue
        _append_unit(result, code, 4, big)
    return result.build()


def unicode_encode_utf_32(s, size, errors, errorhandler=None, allow_surrogates=True):
    return unicode_encode_utf_32_helper(s, size, errors, errorhandler, allow_surrogates,
                                        "native")


def unicode_encode_utf_32_be(s, size, errors, errorhandler=None, allow_surrogates=True):
    return unicode_encode_utf_32_helper(s, size, errors, errorhandler, allow_surrogates,
                                        "big")


def unicode_encode_utf_32_le(s, size, errors, errorhandler=None, allow_surrogates=True):
    return unicode_encode_utf_32_helper(s, size, errors, errorhandler, allow_surrogates,
                                        "little")


# One byte per character.

def str_decode_latin_1(s, size, errors, final=False, errorhandler=None):
    result = UnicodeBuilder(size)
    for i in range(size):
        result.append(unichr(ord(s[i])))
    return result.build(), size


def str_decode_ascii(s, size, errors, final=False, errorhandler=None):
    if errorhandler is None:
        errorhandler = default_unicode_error_decode
    result = UnicodeBuilder(size)
    pos = 0
    while pos < size:
        c = s[pos]
        if ord(c) < 0x80:
            result.append(unichr(ord(c)))
            pos += 1
        else:
            text, pos = errorhandler(errors, 'ascii', 'ordinal not in range(128)', s, pos,
                                     pos + 1)
            result.append(text)
    return result.build(), pos


def fast_str_decode_ascii(s):
    """ValueError unless it is all ASCII."""
    result = UnicodeBuilder(len(s))
    for c in s:
        if ord(c) >= 0x80:
            raise ValueError
        result.append(unichr(ord(c)))
    return result.build()


def unicode_encode_ucs1_helper(p, size, errors, errorhandler=None, limit=256):
    if errorhandler is None:
        errorhandler = default_unicode_error_encode
    if limit == 256:
        encoding, reason = 'latin-1', 'ordinal not in range(256)'
    else:
        encoding, reason = 'ascii', 'ordinal not in range(128)'
    result = StringBuilder(size)
    pos = 0
    while pos < size:
        code = ord(p[pos])
        if code < limit:
            result.append(chr(code))
            pos += 1
        else:
            end = pos + 1
            while end < size and ord(p[end]) >= limit:
                end += 1
            pos = _handle(result, errorhandler, errors, encoding, reason, p, pos, end, limit)
    return result.build()


def unicode_encode_latin_1(p, size, errors, errorhandler=None):
    return unicode_encode_ucs1_helper(p, size, errors, errorhandler, 256)


def unicode_encode_ascii(p, size, errors, errorhandler=None):
    return unicode_encode_ucs1_helper(p, size, errors, errorhandler, 128)


# One text per character, as a table says; Latin-1 without one.

@specialize.argtype(5)
def str_decode_charmap(s, size, errors, final=False, errorhandler=None, mapping=None):
    if mapping is None:
        return str_decode_latin_1(s, size, errors, final, errorhandler)
    return decode_charmap(s, size, errors, final, errorhandler, mapping)


@specialize.argtype(4)
def unicode_encode_charmap(s, size, errors, errorhandler=None, mapping=None):
    if mapping is None:
        return unicode_encode_latin_1(s, size, errors, errorhandler)
    return encode_charmap(s, size, errors, errorhandler, mapping)


# Under the names and with the rules of Python 3: no halves of pairs.

def _with_names(bits, helper, encoder):
    def variant(byteorder, name):
        encoding = 'utf-%d-%s' % (bits, name)

        def decode(s, size, errors, final=True, errorhandler=None):
            text, pos, _ = helper(s, size, errors, final, errorhandler, byteorder, encoding)
            return text, pos

        def encode(s, size, errors, errorhandler=None, allow_surrogates=True):
            return encoder(s, size, errors, errorhandler, allow_surrogates, byteorder,
                           encoding)
        return decode, encode
    return variant('native', BYTEORDER2), variant('big', 'be'), variant('little', 'le')


def _utf_32_without_halves(s, size, errors, final, errorhandler, byteorder, encoding):
    return str_decode_utf_32_helper(s, size, errors, final, errorhandler, byteorder,
                                    encoding, False)

((py3k_str_decode_utf_16, py3k_unicode_encode_utf_16),
 (py3k_str_decode_utf_16_be, py3k_unicode_encode_utf_16_be),
 (py3k_str_decode_utf_16_le, py3k_unicode_encode_utf_16_le),
 ) = _with_names(16, str_decode_utf_16_helper, unicode_encode_utf_16_helper)
((py3k_str_decode_utf_32, py3k_unicode_encode_utf_32),
 (py3k_str_decode_utf_32_be, py3k_unicode_encode_utf_32_be),
 (py3k_str_decode_utf_32_le, py3k_unicode_encode_utf_32_le),
 ) = _with_names(32, _utf_32_without_halves, unicode_encode_utf_32_helper)
