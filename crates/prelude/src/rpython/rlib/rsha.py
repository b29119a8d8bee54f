"""SHA-1 (FIPS 180)."""
from rpython.rlib.rarithmetic import intmask, r_uint
from rpython.rlib.rmd5 import _in_hex
from rpython.rlib.rstring import StringBuilder

digest_size = digestsize = 20
# What `hashlib` of CPython 2 says is the size of a block.
blocksize = 1
# The size of a block.
BLOCK = 64

WORD = r_uint(0xffffffff)


def _rotated(word, turn):
    return ((word << turn) | (word >> (32 - turn))) & WORD


def _bytes_of(word, builder):
    """Appends a word's four bytes, the highest first."""
    for shift in [24, 16, 8, 0]:
        builder.append(chr(intmask(word >> shift) & 0xff))


class RSHA(object):
    """A sum that texts are added to."""

    def __init__(self, initialdata=''):
        self._init()
        self.update(initialdata)

    def _init(self):
        """Forgets all texts."""
        self._a = r_uint(0x67452301)
        self._b = r_uint(0xefcdab89)
        self._c = r_uint(0x98badcfe)
        self._d = r_uint(0x10325476)
        self._e = r_uint(0xc3d2e1f0)
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
        words = [r_uint(0)] * 80
        for i in range(16):
            at = start + 4 * i
            words[i] = r_uint(ord(data[at]) << 24 | ord(data[at + 1]) << 16 |
                              ord(data[at + 2]) << 8 | ord(data[at + 3]))
        for i in range(16, 80):
            words[i] = _rotated(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1)
        a, b, c, d, e = self._a, self._b, self._c, self._d, self._e
        for i in range(80):
            if i < 20:
                f = (d ^ (b & (c ^ d))) + r_uint(0x5a827999)
            elif i < 40:
                f = (b ^ c ^ d) + r_uint(0x6ed9eba1)
            elif i < 60:
                f = ((b & c) | (d & (b | c))) + r_uint(0x8f1bbcdc)
            else:
                f = (b ^ c ^ d) + r_uint(0xca62c1d6)
            f = (f + _rotated(a, 5) + e + words[i]) & WORD
            a, b, c, d, e = f, a, _rotated(b, 30), c, d
        self._a = (self._a + a) & WORD
        self._b = (self._b + b) & WORD
        self._c = (self._c + c) & WORD
        self._d = (self._d + d) & WORD
        self._e = (self._e + e) & WORD

    def digest(self):
        """The sum of all texts, 20 bytes. More may be added afterwards."""
        end = self.copy()
        bits = end._length * 8
        padding = StringBuilder(2 * BLOCK)
        padding.append('\x80')
        padding.append_multiple_char('\0', (55 - end._length) % BLOCK)
        for shift in range(56, -1, -8):
            padding.append(chr((bits >> shift) & 0xff))
        end.update(padding.build())
        builder = StringBuilder(digest_size)
        _bytes_of(end._a, builder)
        _bytes_of(end._b, builder)
        _bytes_of(end._c, builder)
        _bytes_of(end._d, builder)
        _bytes_of(end._e, builder)
        return builder.build()

    def hexdigest(self):
        """The same in hexadecimal."""
        return _in_hex(self.digest())

    def copy(self):
        """A sum of its own that goes on from here."""
        result = RSHA()
        result._copyfrom(self)
        return result

    def _copyfrom(self, other):
        self._a = other._a
        self._b = other._b
        self._c = other._c
        self._d = other._d
        self._e = other._e
        self._length = other._length
        self._rest = other._rest


def new(initialdata=''):
    return RSHA(initialdata)

sha = RSHA
