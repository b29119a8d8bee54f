"""`runpack(format, text)`: struct.unpack for formats that are constant.

Every format is turned into a function of its own when it is met while compiling: the
places of all values in the text are known then.
"""
from rpython.rlib.objectmodel import specialize
from rpython.rlib.rarithmetic import intmask, r_uint
from rpython.rlib.rstruct.error import StructError
from rpython.rlib.rstruct.ieee import unpack_float

# Sizes of the codes, standard and native.
_SIZES = {
    'x': (1, 1), 'c': (1, 1), 'b': (1, 1), 'B': (1, 1), '?': (1, 1),
    'h': (2, 2), 'H': (2, 2), 'i': (4, 4), 'I': (4, 4), 'l': (4, 8), 'L': (4, 8),
    'q': (8, 8), 'Q': (8, 8), 'e': (2, 2), 'f': (4, 4), 'd': (8, 8), 's': (1, 1),
    'p': (1, 1), 'P': (8, 8),
}


def _bits(s, pos, size, big):
    result = r_uint(0)
    for i in range(size):
        at = pos + size - 1 - i
        if big:
            at = pos + i
        result = (result << 8) | r_uint(ord(s[at]))
    return result


def _unsigned(s, pos, size, big):
    return intmask(_bits(s, pos, size, big))


def _signed(s, pos, size, big):
    unused = 64 - 8 * size
    return intmask(_bits(s, pos, size, big) << unused) >> unused


def _float(s, pos, size, big):
    return unpack_float(s[pos:pos + size], big)


def _pascal(s, pos, size):
    end = pos + 1 + min(ord(s[pos]), size - 1)
    return s[pos + 1:end]


def _fields(fmt):
    """(code, position, size) of every value of a format, the length of all, and
    whether high bytes come first."""
    native, big = True, False
    if fmt[:1] in ('@', '=', '<', '>', '!'):
        native, big = fmt[0] == '@', fmt[0] in '>!'
        fmt = fmt[1:]
    fields = []
    pos = 0
    count = ''
    for code in fmt:
        if code.isspace():
            continue
        if code.isdigit():
            count += code
            continue
        if code not in _SIZES or (code == 'P' and not native):
            raise StructError("bad char in struct format")
        size = _SIZES[code][native]
        if native:
            pos = (pos + size - 1) // size * size
        times = int(count or '1')
        count = ''
        if code in 'sp':
            fields.append((code, pos, times))
            pos += times
            continue
        for _ in range(times):
            if code != 'x':
                fields.append((code, pos, size))
            pos += size
    if count:
        raise StructError("repeat count given without format specifier")
    return fields, pos, big


def _expression(code, pos, size, big):
    if code == 'c':
        return 's[%d]' % pos
    if code == '?':
        return "s[%d] != '\\0'" % pos
    if code == 's':
        return 's[%d:%d]' % (pos, pos + size)
    if code == 'p':
        return '_pascal(s, %d, %d)' % (pos, size)
    if code in 'efd':
        return '_float(s, %d, %d, %r)' % (pos, size, big)
    if code in 'bhilq':
        function = '_signed'
    elif size == 8:
        function = '_bits'
    else:
        function = '_unsigned'
    return '%s(s, %d, %d, %r)' % (function, pos, size, big)


class _Unpacker(object):
    def __init__(self, fmt):
        fields, size, big = _fields(fmt)
        values = [_expression(code, pos, length, big) for code, pos, length in fields]
        if len(values) == 1:
            result = values[0]
        else:
            result = '(%s)' % ', '.join(values)
        lines = [
            "def unpack(s):",
            "    if len(s) != %d:" % size,
            "        raise StructError('unpack str size does not match the format')",
            "    return %s" % result,
        ]
        scope = {'StructError': StructError, '_pascal': _pascal, '_float': _float,
                 '_signed': _signed, '_unsigned': _unsigned, '_bits': _bits}
        exec '\n'.join(lines) in scope
        self.unpack = scope['unpack']

    def _freeze_(self):
        return True


_unpackers = {}


@specialize.memo()
def create_unpacker(unpack_str):
    if unpack_str not in _unpackers:
        _unpackers[unpack_str] = _Unpacker(unpack_str)
    return _unpackers[unpack_str]


@specialize.arg(0)
def runpack(fmt, input):
    """The values of a text; the value itself if there is one only. StructError if its
    length is not the format's."""
    return create_unpacker(fmt).unpack(input)
