"""The codecs of runicode that spell characters out: UTF-7, tables, escapes, digits."""
from rpython.rlib._runicode_errors import (
    default_unicode_error_decode, default_unicode_error_encode)
from rpython.rlib.objectmodel import specialize
from rpython.rlib.rarithmetic import intmask, r_uint
from rpython.rlib.rstring import StringBuilder, UnicodeBuilder

MAXUNICODE = 0x10ffff

# ____________________________________________________________ UTF-7

_BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
_DIRECT = ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
           "'(),-./:?" '!"#$%&*;<=>@[]^_`{|}' " \t\n\r")
_IS_DIRECT = [chr(i) in _DIRECT for i in range(128)]
_DIGIT_OF = [_BASE64.find(chr(i)) for i in range(256)]


def _utf7_section(s, pos, size, result):
    """Decodes base 64. Answers where it ends, how many bits are over, these bits, and the
    first half of a pair whose second one has not come, or 0."""
    bits = 0
    buffer = 0
    high = 0
    while pos < size:
        digit = _DIGIT_OF[ord(s[pos])]
        if digit < 0:
            break
        pos += 1
        buffer = buffer << 6 | digit
        bits += 6
        if bits < 16:
            continue
        bits -= 16
        unit = buffer >> bits
        buffer &= (1 << bits) - 1
        if high:
            if 0xdc00 <= unit < 0xe000:
                result.append(unichr(0x10000 + ((high & 0x3ff) << 10) + (unit & 0x3ff)))
                high = 0
                continue
            result.append(unichr(high))
            high = 0
        if 0xd800 <= unit < 0xdc00:
            high = unit
        else:
            result.append(unichr(unit))
    return pos, bits, buffer, high


def str_decode_utf_7(s, size, errors, final=False, errorhandler=None):
    if errorhandler is None:
        errorhandler = default_unicode_error_decode
    result = UnicodeBuilder(size)
    pos = 0
    while pos < size:
        ch = s[pos]
        if ch != '+':
            pos += 1
            if ord(ch) < 128:
                result.append(unichr(ord(ch)))
            else:
                text, pos = errorhandler(errors, 'utf7', "unexpected special character", s,
                                         pos - 1, pos)
                result.append(text)
            continue
        if pos + 1 < size and s[pos + 1] == '-':
            result.append(u'+')
            pos += 2
            continue
        start = pos
        before = result.getlength()
        pos, bits, buffer, high = _utf7_section(s, pos + 1, size, result)
        if pos >= size:
            if not final:
                # The section may go on: as if it had not begun.
                return result.build()[:before], start
            if high or bits >= 6 or buffer != 0:
                text, pos = errorhandler(errors, 'utf7', "unterminated shift sequence", s,
                                         before, pos)
                result.append(text)
            break
        msg = ''
        if bits >= 6:
            msg = "partial character in shift sequence"
        elif buffer != 0:
            msg = "non-zero padding bits in shift sequence"
        if msg:
            text, pos = errorhandler(errors, 'utf7', msg, s, pos, pos + 1)
            result.append(text)
            continue
        if high and ord(s[pos]) < 128:
            result.append(unichr(high))
        if s[pos] == '-':
            pos += 1
    return result.build(), pos


def unicode_encode_utf_7(s, size, errors, errorhandler=None):
    result = StringBuilder(size)
    inside = False
    bits = 0
    buffer = 0
    for pos in range(size):
        code = ord(s[pos])
        if code < 128 and _IS_DIRECT[code]:
            if inside:
                if bits:
                    result.append(_BASE64[buffer << (6 - bits) & 63])
                    bits = 0
                    buffer = 0
                inside = False
                if _DIGIT_OF[code] >= 0 or code == 0x2d:
                    result.append('-')
            result.append(chr(code))
            continue
        if code == 0x2b and not inside:
            result.append('+-')
            continue
        if not inside:
            result.append('+')
            inside = True
        units = 1
        if code >= 0x10000:
            units = 2
            code = (0xd800 | (code - 0x10000) >> 10) << 16 | 0xdc00 | code & 0x3ff
        bits += 16 * units
        buffer = buffer << (16 * units) | code
        while bits >= 6:
            bits -= 6
            result.append(_BASE64[buffer >> bits & 63])
        buffer &= (1 << bits) - 1
    if bits:
        result.append(_BASE64[buffer << (6 - bits) & 63])
    if inside:
        result.append('-')
    return result.build()

# ____________________________________________________________ tables

ERROR_CHAR = u'\ufffe'


@specialize.argtype(5)
def decode_charmap(s, size, errors, final, errorhandler, mapping):
    """`mapping` is a dict, or has a method like get(), from characters to texts."""
    if errorhandler is None:
        errorhandler = default_unicode_error_decode
    result = UnicodeBuilder(size)
    pos = 0
    while pos < size:
        text = mapping.get(s[pos], ERROR_CHAR)
        if text == ERROR_CHAR:
            text, pos = errorhandler(errors, "charmap", "character maps to <undefined>", s,
                                     pos, pos + 1)
        else:
            pos += 1
        result.append(text)
    return result.build(), pos


@specialize.argtype(4)
def encode_charmap(s, size, errors, errorhandler, mapping):
    if errorhandler is None:
        errorhandler = default_unicode_error_encode
    msg = "character maps to <undefined>"
    result = StringBuilder(size)
    pos = 0
    while pos < size:
        data = mapping.get(s[pos], '')
        if len(data) != 0:
            result.append(data)
            pos += 1
            continue
        end = pos + 1
        while end < size and len(mapping.get(s[end], '')) == 0:
            end += 1
        text, data, pos = errorhandler(errors, "charmap", msg, s, pos, end)
        if data is not None:
            result.append(data)
            continue
        for ch in text:
            data = mapping.get(ch, '')
            if len(data) == 0:
                errorhandler('strict', "charmap", msg, s, pos, pos + 1)
            result.append(data)
    return result.build()

# ____________________________________________________________ escapes

hexdigits = '0123456789ABCDEFabcdef'


def hexescape(builder, s, pos, digits, encoding, errorhandler, message, errors):
    """Appends the character of so many hexadecimal digits; where they end."""
    code = r_uint(0)
    wrong = pos + digits > len(s)
    if not wrong:
        try:
            code = r_uint(int(s[pos:pos + digits], 16))
        except ValueError:
            wrong = True
    if wrong:
        end = pos
        while end < len(s) and s[end] in hexdigits:
            end += 1
    elif code <= r_uint(MAXUNICODE):
        builder.append(unichr(intmask(code)))
        return pos + digits
    else:
        message = "illegal Unicode character"
        end = pos + digits
    text, pos = errorhandler(errors, encoding, message, s, pos - 2, end)
    builder.append(text)
    return pos


_SHORT_ESCAPES = {'\\': u'\\', "'": u"'", '"': u'"', 'b': u'\b', 'f': u'\f', 't': u'\t',
                  'n': u'\n', 'r': u'\r', 'v': u'\v', 'a': u'\a', '\n': u''}


def str_decode_unicode_escape(s, size, errors, final=False, errorhandler=None,
                              unicodedata_handler=None):
    if errorhandler is None:
        errorhandler = default_unicode_error_decode
    builder = UnicodeBuilder(size)
    pos = 0
    while pos < size:
        ch = s[pos]
        pos += 1
        if ch != '\\':
            builder.append(unichr(ord(ch)))
            continue
        if pos >= size:
            text, pos = errorhandler(errors, "unicodeescape", "\\ at end of string", s,
                                     pos - 1, size)
            builder.append(text)
            continue
        ch = s[pos]
        pos += 1
        if ch in _SHORT_ESCAPES:
            builder.append(_SHORT_ESCAPES[ch])
        elif '0' <= ch <= '7':
            code = ord(ch) - ord('0')
            end = min(pos + 2, size)
            while pos < end and '0' <= s[pos] <= '7':
                code = code * 8 + ord(s[pos]) - ord('0')
                pos += 1
            builder.append(unichr(code))
        elif ch == 'x':
            pos = hexescape(builder, s, pos, 2, "unicodeescape", errorhandler,
                            "truncated \\xXX escape", errors)
        elif ch == 'u':
            pos = hexescape(builder, s, pos, 4, "unicodeescape", errorhandler,
                            "truncated \\uXXXX escape", errors)
        elif ch == 'U':
            pos = hexescape(builder, s, pos, 8, "unicodeescape", errorhandler,
                            "truncated \\UXXXXXXXX escape", errors)
        elif ch == 'N' and unicodedata_handler is not None:
            msg = "malformed \\N character escape"
            end = pos
            if pos < size and s[pos] == '{':
                while end < size and s[end] != '}':
                    end += 1
                if end < size:
                    msg = "unknown Unicode character name"
                    code = unicodedata_handler.call(s[pos + 1:end])
                    if code >= 0:
                        builder.append(unichr(code))
                        pos = end + 1
                        continue
            text, pos = errorhandler(errors, "unicodeescape", msg, s, pos - 1, end + 1)
            builder.append(text)
        else:
            builder.append(u'\\')
            builder.append(unichr(ord(ch)))
    return builder.build(), pos


def make_unicode_escape_function(pass_printable=False, unicode_output=False, quotes=False,
                                 prefix=None):
    """Two functions: one that escapes a text, with quotes around it where that is wanted,
    and one that appends the escape of a code to a builder."""
    if unicode_output:
        BUILDER, STR, CHR = UnicodeBuilder, unicode, unichr
    else:
        BUILDER, STR, CHR = StringBuilder, str, chr
    isprintable = None
    if pass_printable:
        from rpython.rlib.unicodedata.unicodedb_5_2_0 import isprintable
    BACKSLASH, SINGLE, DOUBLE = STR('\\'), STR("'"), STR('"')
    TAB, LINE, RETURN = STR('\\t'), STR('\\n'), STR('\\r')
    EIGHT, FOUR, TWO = STR('\\U'), STR('\\u'), STR('\\x')
    DIGITS = STR('0123456789abcdef')
    PREFIX = STR(prefix or '')

    def char_escape_helper(result, char):
        if char >= 0x10000 or char < 0:
            result.append(EIGHT)
            shift = 28
        elif char >= 0x100:
            result.append(FOUR)
            shift = 12
        else:
            result.append(TWO)
            shift = 4
        while shift >= 0:
            result.append(DIGITS[char >> shift & 15])
            shift -= 4

    def is_plain(code):
        if pass_printable:
            return isprintable(code)
        return 32 <= code < 127

    def unicode_escape(s, size, errors, errorhandler=None):
        result = BUILDER(size)
        quote = 0
        if quotes:
            quote = ord("'")
            if s.find(u"'") >= 0 and s.find(u'"') < 0:
                quote = ord('"')
            result.append(PREFIX)
            result.append(CHR(quote))
        for pos in range(size):
            code = ord(s[pos])
            if code == 0x5c or (quotes and code == quote):
                result.append(BACKSLASH)
                result.append(CHR(code))
            elif code == 9:
                result.append(TAB)
            elif code == 10:
                result.append(LINE)
            elif code == 13:
                result.append(RETURN)
            elif is_plain(code):
                result.append(CHR(code))
            else:
                char_escape_helper(result, code)
        if quotes:
            result.append(CHR(quote))
        return result.build()

    return unicode_escape, char_escape_helper

unicode_encode_unicode_escape, raw_unicode_escape_helper = make_unicode_escape_function()
_, raw_unicode_escape_helper_unicode = make_unicode_escape_function(unicode_output=True)


def str_decode_raw_unicode_escape(s, size, errors, final=False, errorhandler=None):
    if errorhandler is None:
        errorhandler = default_unicode_error_decode
    result = UnicodeBuilder(size)
    pos = 0
    while pos < size:
        ch = s[pos]
        if ch != '\\':
            result.append(unichr(ord(ch)))
            pos += 1
            continue
        # The last of an odd number of them escapes.
        start = pos
        while pos < size and s[pos] == '\\':
            pos += 1
        for i in range(pos - start - 1):
            result.append(u'\\')
        if pos >= size:
            result.append(u'\\')
        elif (pos - start) & 1 and (s[pos] == 'u' or s[pos] == 'U'):
            digits = 4 if s[pos] == 'u' else 8
            pos = hexescape(result, s, pos + 1, digits, "rawunicodeescape", errorhandler,
                            "truncated \\uXXXX", errors)
        else:
            result.append(u'\\')
            result.append(unichr(ord(s[pos])))
            pos += 1
    return result.build(), pos


def unicode_encode_raw_unicode_escape(s, size, errors, errorhandler=None):
    result = StringBuilder(size)
    for pos in range(size):
        code = ord(s[pos])
        if code < 256:
            result.append(chr(code))
        else:
            raw_unicode_escape_helper(result, code)
    return result.build()

# ____________________________________________________________ as in memory

def str_decode_unicode_internal(s, size, errors, final=False, errorhandler=None):
    if errorhandler is None:
        errorhandler = default_unicode_error_decode
    result = UnicodeBuilder(size // 4)
    pos = 0
    while pos < size:
        if size - pos < 4:
            text, pos = errorhandler(errors, "unicode_internal", "truncated input", s, pos,
                                     size)
            result.append(text)
            continue
        code = (ord(s[pos]) | ord(s[pos + 1]) << 8 | ord(s[pos + 2]) << 16 |
                ord(s[pos + 3]) << 24)
        if code > MAXUNICODE:
            text, pos = errorhandler(errors, "unicode_internal",
                                     "unichr(%d) not in range" % (code,), s, pos, pos + 4)
            result.append(text)
            continue
        result.append(unichr(code))
        pos += 4
    return result.build(), pos


def unicode_encode_unicode_internal(s, size, errors, errorhandler=None):
    result = StringBuilder(size * 4)
    for pos in range(size):
        code = ord(s[pos])
        result.append(chr(code & 0xff))
        result.append(chr(code >> 8 & 0xff))
        result.append(chr(code >> 16 & 0xff))
        result.append('\x00')
    return result.build()

# ____________________________________________________________ digits

# Where the decimal digits of a script start, and white space beyond ASCII.
_ZEROS = [0x30, 0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6,
          0xd66, 0xe50, 0xed0, 0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80,
          0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xaa50,
          0xabf0, 0xff10, 0x104a0, 0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6]
_SPACES = [0x85, 0xa0, 0x1680, 0x180e, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000]


def _is_space(code):
    return (9 <= code <= 13 or 28 <= code <= 32 or 0x2000 <= code <= 0x200a or
            code in _SPACES)


def _decimal_of(code):
    if code == 0x19da:
        return 1
    for zero in _ZEROS:
        if zero <= code < zero + 10:
            return code - zero
    return -1


def _append_decimal(result, code):
    """False if there is no such character in a number."""
    decimal = _decimal_of(code)
    if _is_space(code):
        result.append(' ')
    elif decimal >= 0:
        result.append(chr(48 + decimal))
    elif 0 < code < 256:
        result.append(chr(code))
    else:
        return False
    return True


def unicode_encode_decimal(s, size, errors, errorhandler=None):
    """Digits of all scripts as those of ASCII, white space as blanks, Latin-1 as it is."""
    if errorhandler is None:
        errorhandler = default_unicode_error_encode
    msg = "invalid decimal Unicode string"
    result = StringBuilder(size)
    pos = 0
    while pos < size:
        if _append_decimal(result, ord(s[pos])):
            pos += 1
            continue
        start = pos
        end = pos + 1
        while end < size:
            code = ord(s[end])
            if 0 < code < 256 or _is_space(code) or _decimal_of(code) >= 0:
                break
            end += 1
        text, data, pos = errorhandler(errors, 'decimal', msg, s, start, end)
        if data is not None:
            errorhandler('strict', 'decimal', msg, s, start, end)
        for ch in text:
            if not _append_decimal(result, ord(ch)):
                errorhandler('strict', 'decimal', msg, s, start, end)
    return result.build()
