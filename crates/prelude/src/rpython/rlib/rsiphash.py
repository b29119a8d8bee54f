"""SipHash-2-4 (Aumasson and Bernstein) of byte strings."""
import os

from rpython.rlib.rarithmetic import intmask, r_uint64


def _rotated(x, b):
    return (x << b) | (x >> (64 - b))


class _State(object):
    def __init__(self, k0, k1):
        self.v0 = k0 ^ r_uint64(0x736f6d6570736575)
        self.v1 = k1 ^ r_uint64(0x646f72616e646f6d)
        self.v2 = k0 ^ r_uint64(0x6c7967656e657261)
        self.v3 = k1 ^ r_uint64(0x7465646279746573)

    def rounds(self, count):
        v0, v1, v2, v3 = self.v0, self.v1, self.v2, self.v3
        for _ in range(count):
            v0 += v1
            v2 += v3
            v1 = _rotated(v1, 13) ^ v0
            v3 = _rotated(v3, 16) ^ v2
            v0 = _rotated(v0, 32)
            v2 += v1
            v0 += v3
            v1 = _rotated(v1, 17) ^ v2
            v3 = _rotated(v3, 21) ^ v0
            v2 = _rotated(v2, 32)
        self.v0, self.v1, self.v2, self.v3 = v0, v1, v2, v3

    def word(self, m):
        self.v3 ^= m
        self.rounds(2)
        self.v0 ^= m


class _Seed(object):
    k0 = r_uint64(0)
    k1 = r_uint64(0)

seed = _Seed()


def siphash24_with_key(s, k0, k1=0):
    """The hash of a string under a key of two 64-bit numbers."""
    state = _State(r_uint64(k0), r_uint64(k1))
    size = len(s)
    whole = size & ~7
    for start in range(0, whole, 8):
        m = r_uint64(0)
        for i in range(7, -1, -1):
            m = (m << 8) | r_uint64(ord(s[start + i]))
        state.word(m)
    m = r_uint64(size & 0xff)
    for i in range(6, -1, -1):
        m <<= 8
        if whole + i < size:
            m |= r_uint64(ord(s[whole + i]))
    state.word(m)
    state.v2 ^= r_uint64(0xff)
    state.rounds(4)
    return state.v0 ^ state.v1 ^ state.v2 ^ state.v3


def _siphash24(addr_in, size, SZ=1):
    """The hash of so many characters at an address."""
    chars = [addr_in.char[i] for i in range(size)]
    return siphash24(''.join(chars))


def ll_hash_string_siphash24(ll_s):
    """The hash of a string or unicode string, 0 for an empty one."""
    chars = ll_s.chars
    length = len(chars)
    if length == 0:
        return 0
    return intmask(siphash24(''.join([chr(ord(chars[i])) for i in range(length)])))


class choosen_seed(object):
    """Context manager: another key for a while."""

    def __init__(self, new_k0, new_k1, test_misaligned_path=False, test_prebuilt=False):
        self.k0, self.k1 = r_uint64(new_k0), r_uint64(new_k1)

    def _swap(self):
        k0, k1 = seed.k0, seed.k1
        seed.k0, seed.k1 = self.k0, self.k1
        self.k0, self.k1 = k0, k1

    def __enter__(self):
        self._swap()

    def __exit__(self, *args):
        self._swap()


def siphash24(s):
    """The same under the program's own key."""
    return siphash24_with_key(s, seed.k0, seed.k1)


def select_random_seed(s):
    """Takes the key from 16 characters."""
    key = [r_uint64(0), r_uint64(0)]
    for i in range(15, -1, -1):
        key[i >> 3] = (key[i >> 3] << 8) | r_uint64(ord(s[i]))
    seed.k0, seed.k1 = key[0], key[1]


def initialize_from_env():
    """Takes the key from the variable PYTHONHASHSEED: a number, or 'random'."""
    text = os.environ.get('PYTHONHASHSEED')
    if text is None or text == '' or text == 'random':
        select_random_seed(os.urandom(16))
        return
    try:
        number = int(text)
    except ValueError:
        number = -1
    if number < 0 or number > 4294967295:
        os.write(2, "%s: PYTHONHASHSEED must be \"random\" or an integer in range "
                 "[0; 4294967295]\n" % (text,))
        os._exit(1)
    x = r_uint64(number)
    chars = []
    for i in range(16):
        # The generator that CPython uses here.
        x = (x * r_uint64(214013) + r_uint64(2531011)) & r_uint64(0xffffffff)
        chars.append(chr(intmask((x >> 16) & r_uint64(255))))
    if number == 0:
        chars = ['\x00'] * 16
    select_random_seed(''.join(chars))


def enable_siphash24():
    """Dictionaries keep the hash that they have."""
