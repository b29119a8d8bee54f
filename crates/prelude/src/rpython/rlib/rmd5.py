"""MD5 (RFC 1321)."""
import math

from rpython.rlib.rarithmetic import intmask, r_uint
from rpython.rlib.rstring import StringBuilder

digest_size = 16
BLOCK = 64

WORD = r_uint(0xffffffff)
HEX = '0123456789abcdef'

# What is added in step i, and the place in the block and the rotation that go with it.
_SINES = [r_uint(int(abs(math.sin(i + 1)) * 4294967296.0)) for i in range(64)]
_PLACES = ([i for i in range(16)] + [(5 * i + 1) % 16 for i in range(16)] +
           [(3 * i + 5) % 16 for i in range(16)] + [(7 * i) % 16 for i in range(16)])
_ROTATIONS = [7, 12, 17, 22] * 4 + [5, 9, 14, 20] * 4 + [4, 11, 16, 23] * 4 + [6, 10, 15, 21] * 4


def _bytes_of(word, builder):
    """Appends a word's four bytes, the lowest first."""
    for shift in [0, 8, 16, 24]:
        builder.append(chr(intmask(word >> shift) & 0xff))


def _in_hex(digest):
    builder = StringBuilder(2 * len(digest))
    for c in digest:
        builder.append(HEX[ord(c) >> 4])
        builder.append(HEX[ord(c) & 15])
    return builder.build()


class RMD5(object):
    """A sum that texts are added to."""
    def __init__(self, initialdata='', usedforsecurity=True):
        self._init()
        self.update(initialdata)

    def _init(self):
        """Forgets all texts."""
        self._a = r_uint(0x67452301)
        self._b = r_uint(0xefcdab89)
        self._c = r_uint(0x98badcfe)
        self._d = r_uint(0x10325476)
        # Bytes so far, and those of them that do not fill a block yet.
        self._length = 0
        self._rest = ''

    def update(self, inBuf):
        """Adds a text."""
        self._length += len(inBuf)
        data = self._rest + inBuf
        start = 0
        while len(data) - start >= BLOCK:
            self._transform(data, start)
            start += BLOCK
        self._rest = data[start:]

    def _transform(self, data, start):
        words = [r_uint(0)] * 16
        for i in range(16):
            at = start + 4 * i
            words[i] = r_uint(ord(data[at]) | ord(data[at + 1]) << 8 |
                              ord(data[at + 2]) << 16 | ord(data[at + 3]) << 24)
        a, b, c, d = self._a, self._b, self._c, self._d
        for i in range(64):
            if i < 16:
                f = d ^ (b & (c ^ d))
            elif i < 32:
                f = c ^ (d & (b ^ c))
            elif i < 48:
                f = b ^ c ^ d
            else:
                f = (c ^ (b | ~d)) & WORD
            f = (f + a + _SINES[i] + words[_PLACES[i]]) & WORD
            turn = _ROTATIONS[i]
            f = ((f << turn) | (f >> (32 - turn))) & WORD
            a, b, c, d = d, (b + f) & WORD, b, c
        self._a = (self._a + a) & WORD
        self._b = (self._b + b) & WORD
        self._c = (self._c + c) & WORD
        self._d = (self._d + d) & WORD

    def digest(self):
        """The sum of all texts, 16 bytes. More may be added afterwards."""
        end = self.copy()
        bits = end._length * 8
        padding = StringBuilder(2 * BLOCK)
        padding.append('\x80')
        padding.append_multiple_char('\0', (55 - end._length) % BLOCK)
        for shift in range(0, 64, 8):
            padding.append(chr((bits >> shift) & 0xff))
        end.update(padding.build())
        builder = StringBuilder(digest_size)
        _bytes_of(end._a, builder)
        _bytes_of(end._b, builder)
        _bytes_of(end._c, builder)
        _bytes_of(end._d, builder)
        return builder.build()

    def hexdigest(self):
        """The same in hexadecimal."""
        return _in_hex(self.digest())

    def copy(self):
        """A sum of its own that goes on from here."""
        result = RMD5()
        result._copyfrom(self)
        return result

    def _copyfrom(self, other):
        self._a = other._a
        self._b = other._b
        self._c = other._c
        self._d = other._d
        self._length = other._length
        self._rest = other._rest


def new(initialdata=''):
    return RMD5(initialdata)
