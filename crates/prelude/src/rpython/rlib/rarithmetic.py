"""Integers of a given width and signedness, and checked arithmetic.

While a program loads, r_uint and its kin are subclasses of long whose operations
wrap; once translated they are machine integers.
"""
import math
import operator
import struct
import sys

from rpython.rlib.objectmodel import not_rpython, specialize, we_are_translated
from rpython.rlib.unroll import unrolling_iterable

LONG_BIT = 64
LONG_BIT_SHIFT = 6
LONG_MASK = (1 << 64) - 1
LONG_TEST = 1 << 63
LONGLONG_BIT = 64
LONGLONG_MASK = LONG_MASK
LONGLONG_TEST = LONG_TEST
LONGLONGLONG_BIT = 128
LONGLONGLONG_MASK = (1 << 128) - 1
LONGLONGLONG_TEST = 1 << 127
long_typecode = 'l'
is_emulated_long = False
maxint = sys.maxint


class base_int(long):
    """Base of all of them. A class has BITS, MASK and SIGNED."""

    def __new__(cls, val=0):
        if cls is base_int:
            raise TypeError("abstract base!")
        val = long(val) & cls.MASK
        if cls.SIGNED and val > cls.MASK >> 1:
            val -= cls.MASK + 1
        return long.__new__(cls, val)

    def _of(self, other, value):
        return compute_restype(type(self), type(other))(value)

    def __divmod__(self, other):
        return (self // other, self % other)

    def __pow__(self, other, modulus=None):
        return self._of(other, pow(long(self), other, modulus))

    def __rpow__(self, other, modulus=None):
        return self._of(other, pow(other, long(self), modulus))

    def __neg__(self):
        return type(self)(-long(self))

    def __abs__(self):
        return type(self)(abs(long(self)))

    def __pos__(self):
        return self

    def __invert__(self):
        return type(self)(~long(self))

    def __repr__(self):
        return '%s(%d)' % (type(self).__name__, long(self))


def _add_operators():
    def forward(op):
        def method(self, other):
            value = op(long(self), other)
            if isinstance(other, (int, long)):
                return self._of(other, value)
            return value
        return method

    def backward(op):
        def method(self, other):
            value = op(other, long(self))
            if isinstance(other, (int, long)):
                return self._of(other, value)
            return value
        return method

    for name, op in [
            ('add', operator.add), ('sub', operator.sub), ('mul', operator.mul),
            ('div', operator.floordiv), ('floordiv', operator.floordiv),
            ('mod', operator.mod), ('and', operator.and_), ('or', operator.or_),
            ('xor', operator.xor), ('lshift', operator.lshift),
            ('rshift', operator.rshift)]:
        setattr(base_int, '__%s__' % name, forward(op))
        setattr(base_int, '__r%s__' % name, backward(op))

_add_operators()


class signed_int(base_int):
    SIGNED = True


class unsigned_int(base_int):
    SIGNED = False


_inttypes = {}

def build_int(name, sign, bits, force_creation=False):
    """The class of that signedness and width; made at the first call."""
    sign = bool(sign)
    if not force_creation and (sign, bits) in _inttypes:
        return _inttypes[sign, bits]
    if name is None:
        raise TypeError('No predefined %sint%d' % (('u', '')[sign], bits))
    base = (unsigned_int, signed_int)[sign]
    tp = type(name, (base,), {'BITS': bits, 'MASK': (1 << bits) - 1,
                              '__module__': 'rpython.rlib.rarithmetic'})
    if not force_creation:
        _inttypes[sign, bits] = tp
    return tp

r_int = build_int('r_int', True, 64)
r_uint = build_int('r_uint', False, 64)
r_longlong = r_int
r_ulonglong = r_uint
r_longlonglong = build_int('r_longlonglong', True, 128)
r_ulonglonglong = build_int('r_ulonglonglong', False, 128)
r_int8 = build_int('r_int8', True, 8)
r_uint8 = build_int('r_uint8', False, 8)
r_int16 = build_int('r_int16', True, 16)
r_uint16 = build_int('r_uint16', False, 16)
r_int32 = build_int('r_int32', True, 32)
r_uint32 = build_int('r_uint32', False, 32)
r_int64 = r_int
r_uint64 = r_uint
longlongmax = r_longlong(LONGLONG_TEST - 1)

SHRT_MIN = -0x8000
SHRT_MAX = 0x7fff
USHRT_MAX = 0xffff
INT_MIN = -0x80000000
INT_MAX = 0x7fffffff
UINT_MAX = r_uint(0xffffffff)


class r_singlefloat(object):
    """A C float: converted from and to a Python float, and nothing else."""

    def __init__(self, floatval):
        self._bytes = struct.pack('f', floatval)

    def __float__(self):
        return struct.unpack('f', self._bytes)[0]

    def __repr__(self):
        return 'r_singlefloat(%s)' % (float(self),)

    # Equal is what has the same bits.

    def __hash__(self):
        return hash(self._bytes)

    def __eq__(self, other):
        return type(self) is type(other) and self._bytes == other._bytes

    def __ne__(self, other):
        return not (self == other)

    def _refuse(self, *others):
        raise TypeError("not supported on r_singlefloat instances")

    __cmp__ = __nonzero__ = _refuse


class r_longfloat(object):
    """A C long double."""

    def __init__(self, floatval):
        self.value = floatval

    def __float__(self):
        return self.value

    def __hash__(self):
        return hash(self.value)

    def __eq__(self, other):
        return type(self) is type(other) and self.value == other.value

    def __ne__(self, other):
        return not (self == other)

    def __nonzero__(self):
        raise TypeError("not supported on r_longfloat instances")


# Conversions and checks. The compiler knows intmask, ovfcheck, widen and the like by
# name; what stands here is what they do while a program loads.

@not_rpython
def intmask(n):
    assert not isinstance(n, float)
    if hasattr(n, 'lltype'):
        return n
    return int(long(r_int(n)))

@not_rpython
def longlongmask(n):
    return r_longlong(n)

def longlonglongmask(n):
    return r_longlonglong(n)

@not_rpython
def widen(n):
    if isinstance(n, base_int) and (n.BITS > 64 or (n.BITS == 64 and not n.SIGNED)):
        return n
    return int(n)

def is_valid_int(r):
    if we_are_translated():
        return isinstance(r, int)
    return isinstance(r, (int, long)) and -maxint - 1 <= r <= maxint
specialize.argtype(0)(is_valid_int)

@not_rpython
def ovfcheck(r):
    """To be used as ovfcheck(x <op> y)."""
    assert not isinstance(r, r_uint), "unexpected ovf check on unsigned"
    if type(r) is long:
        if not -maxint - 1 <= r <= maxint:
            raise OverflowError("signed integer expression did overflow")
        return int(r)
    return r

def ovfcheck_float_to_int(x):
    """x without its fraction; OverflowError if that is no signed word, or no number."""
    if not -2.0 ** 63 <= x < 2.0 ** 63:
        raise OverflowError
    return int(x)

def ovfcheck_float_to_longlong(x):
    return r_longlong(ovfcheck_float_to_int(x))

def compute_restype(self_type, other_type):
    """What mixing two number types gives."""
    plain = (bool, int, long)
    if self_type in plain and other_type in plain:
        return int
    if other_type in plain:
        return self_type
    if self_type in plain or self_type is other_type:
        return other_type
    if self_type is float or other_type is float:
        return float
    if self_type.SIGNED == other_type.SIGNED:
        return build_int(None, self_type.SIGNED, max(self_type.BITS, other_type.BITS))
    raise AssertionError("Merging these types (%s, %s) is not supported" % (
        self_type, other_type))

def signedtype(t):
    return t in (bool, int, long) or t.SIGNED
specialize.memo()(signedtype)

def normalizedinttype(t):
    if t is int:
        return int
    return build_int(None, t.SIGNED, max(t.BITS, 64))

# Types other than int, by which specialised functions go through isinstance().
_other_types = unrolling_iterable([
    (cls, cls.BITS, cls(-(cls.MASK >> 1) - 1 if cls.SIGNED else 0),
     cls(cls.MASK >> 1 if cls.SIGNED else cls.MASK))
    for cls in (r_uint, r_int8, r_uint8, r_int16, r_uint16, r_int32, r_uint32,
                r_longlonglong, r_ulonglonglong)])

@specialize.argtype(0)
def most_neg_value_of_same_type(x):
    for cls, bits, least, most in _other_types:
        if isinstance(x, cls):
            return least
    return -maxint - 1

@specialize.argtype(0)
def most_pos_value_of_same_type(x):
    for cls, bits, least, most in _other_types:
        if isinstance(x, cls):
            return most
    return maxint

def _class_of_type(tp):
    """The class of the integers of a low-level type; int where that is Signed."""
    from rpython.rtyper.lltypesystem import rffi, lltype
    if tp is lltype.Signed:
        return int
    return rffi.platform.numbertype_to_rclass[tp]

@specialize.memo()
def most_neg_value_of(tp):
    cls = _class_of_type(tp)
    if cls is int:
        return -maxint - 1
    return cls(-(cls.MASK >> 1) - 1 if cls.SIGNED else 0)

@specialize.memo()
def most_pos_value_of(tp):
    cls = _class_of_type(tp)
    if cls is int:
        return maxint
    return cls(cls.MASK >> 1 if cls.SIGNED else cls.MASK)

def is_signed_integer_type(tp):
    """Whether a low-level type is one of integers with a sign."""
    from rpython.rtyper.lltypesystem import rffi, lltype
    return isinstance(tp, lltype.Number) and not rffi.size_and_sign(tp)[1] and (
        tp not in (lltype.Float, lltype.SingleFloat, lltype.LongFloat, lltype.Bool))
specialize.memo()(is_signed_integer_type)

def highest_bit(n):
    """The number of the only bit that is set in n."""
    assert n > 0 and n & (n - 1) == 0
    number = 0
    while n > 1:
        n >>= 1
        number += 1
    return number

def int_between(n, m, p):
    """n <= m < p, where n <= p is known."""
    assert n <= p
    return n <= m < p

def int_force_ge_zero(n):
    if n < 0:
        return 0
    return n

def int_c_div(x, y):
    """x / y rounded towards zero."""
    assert y != 0
    q = x // y
    if q < 0 and q * y != x:
        return q + 1
    return q

def int_c_mod(x, y):
    """What int_c_div leaves."""
    return x - int_c_div(x, y) * y

def mulmod(a, b, c):
    """(a * b) % c without overflow, for 0 <= a, b < c."""
    if not we_are_translated():
        return int(long(a) * long(b) % c)
    return intmask(r_longlonglong(a) * r_longlonglong(b) % r_longlonglong(c))

def uint_mul_high(a, b):
    """The high 64 bits of the product of two r_uints."""
    product = r_ulonglonglong(a) * r_ulonglonglong(b)
    return r_uint(product >> 64)

def check_support_int128():
    return True

@specialize.argtype(0)
def byteswap(arg):
    """The bytes of a number in the other order."""
    if isinstance(arg, float):
        from rpython.rlib.longlong2float import float2longlong, longlong2float
        return longlong2float(byteswap(float2longlong(arg)))
    if isinstance(arg, r_singlefloat):
        from rpython.rlib.longlong2float import singlefloat2uint, uint2singlefloat
        bits = _reversed_bytes(r_uint(widen(singlefloat2uint(arg))), 32)
        return uint2singlefloat(r_uint32(bits))
    for cls, bits, least, most in _other_types:
        if isinstance(arg, cls):
            return cls(_reversed_bytes(r_uint(arg), bits))
    return intmask(_reversed_bytes(r_uint(arg), 64))

def _reversed_bytes(value, bits):
    result = r_uint(0)
    for i in range(0, bits, 8):
        result = (result << 8) | (value & r_uint(255))
        value = value >> 8
    return result

def ovfcheck_int32_add(x, y):
    return _fits_int32(intmask(x) + intmask(y))

def ovfcheck_int32_sub(x, y):
    return _fits_int32(intmask(x) - intmask(y))

def ovfcheck_int32_mul(x, y):
    return _fits_int32(intmask(x) * intmask(y))

def _fits_int32(r):
    if r < INT_MIN or r > INT_MAX:
        raise OverflowError
    return r

OVF_DIGITS = 19

def string_to_int(s, base=10, allow_underscores=False, no_implicit_octal=False,
                  max_str_digits=0, disallow_whitespace_after_sign=False):
    """The integer that s spells: blanks around, a sign, a prefix that goes with the
    base. ParseStringError if it spells none, ParseStringOverflowError if it is too
    big."""
    from rpython.rlib.rstring import NumberStringParser, ParseStringOverflowError
    digits = NumberStringParser(
        s, s, base, 'int', allow_underscores, no_implicit_octal, 0, -1, max_str_digits,
        disallow_whitespace_after_sign)
    number = 0
    digit = digits.next_digit()
    while digit >= 0:
        # With its sign from the first digit on: the most negative number has no opposite.
        try:
            number = ovfcheck(number * digits.base)
            number = ovfcheck(number + digit * digits.sign)
        except OverflowError:
            raise ParseStringOverflowError(digits)
        digit = digits.next_digit()
    return number
string_to_int._elidable_function_ = True
