"""Integers without bounds: a sign and a list of 63-bit digits, lowest first. Zero has
sign 0 and no digits. Values are immutable, and so may share digits.
"""
import math
import sys

from rpython.rlib.objectmodel import always_inline, not_rpython, specialize
from rpython.rlib.rarithmetic import (
    LONG_BIT, intmask, ovfcheck, r_longlong, r_longlonglong, r_uint, r_ulonglong, r_ulonglonglong,
    string_to_int, widen)
from rpython.rlib.rstring import NumberStringParser, StringBuilder
from rpython.rlib.rbigint_digits import (
    KARATSUBA_CUTOFF, MASK, SHIFT, UMASK, _add_digits, _bits_in, _compare_digits, _mul_digits,
    _negate, _sub_digits)
from rpython.rlib.rbigint_division import _divrem_digit, _long_division
from rpython.rlib.rbigint_text import Text

try:
    # What a digit is kept as, and what digits are added up as.
    from rpython.rtyper.lltypesystem.lltype import (
        Signed as STORE_TYPE, Unsigned as UNSIGNED_TYPE)
except ImportError:
    # There are no low-level types: this module runs under Python, too.
    STORE_TYPE = UNSIGNED_TYPE = None

UDIGIT_TYPE = r_uint
BYTEORDER = sys.byteorder
MIN_INT_VALUE = -1 << SHIFT
FLOAT_MULTIPLIER = BASE_AS_FLOAT = float(1 << SHIFT)

@always_inline
def _load_unsigned_digit(x):
    return r_uint(x)

BASE8 = '01234567'
BASE10 = '0123456789'
BASE16 = '0123456789abcdef'


class InvalidEndiannessError(Exception):
    pass

class InvalidSignednessError(Exception):
    pass

class MaxIntError(Exception):
    pass


class rbigint(object):
    _immutable_ = True
    _immutable_fields_ = ["_digits[*]", "_sign"]

    def __init__(self, digits=None, sign=0, size=0):
        if digits is None or sign == 0:
            digits = []
            sign = 0
        self._digits = digits
        self._sign = sign

    # Conversions to rbigint.

    @staticmethod
    def fromint(intval):
        if intval > 0:
            return rbigint([intval], 1)
        if intval == 0:
            return NULLRBIGINT
        return _from_unsigned(-r_uint(intval), -1)

    @staticmethod
    def frombool(b):
        if b:
            return ONERBIGINT
        return NULLRBIGINT

    @staticmethod
    @not_rpython
    def fromlong(l):
        sign = cmp(l, 0)
        l = abs(l)
        digits = []
        while l:
            digits.append(int(l & MASK))
            l >>= SHIFT
        return rbigint(digits[:], sign)

    @staticmethod
    @specialize.argtype(0)
    def fromrarith_int(i):
        """Of an integer of any width."""
        return _from_rarith(widen(i))

    @staticmethod
    def fromfloat(dval):
        """Rounded towards zero; OverflowError of infinities, ValueError of nan."""
        if dval != dval:
            raise ValueError("cannot convert float NaN to integer")
        if dval - dval != 0.0:
            raise OverflowError("cannot convert float infinity to integer")
        return rbigint._fromfloat_finite(dval)

    @staticmethod
    def _fromfloat_finite(x):
        sign = 1
        if x < 0.0:
            sign = -1
            x = -x
        if x < 1.0:
            return NULLRBIGINT
        mantissa, exponent = math.frexp(x)
        size = (exponent - 1) // SHIFT + 1
        digits = [0] * size
        mantissa = math.ldexp(mantissa, (exponent - 1) % SHIFT + 1)
        i = size - 1
        while i >= 0:
            digit = int(mantissa)
            digits[i] = digit
            mantissa = math.ldexp(mantissa - float(digit), SHIFT)
            i -= 1
        return _normal(digits, sign)

    @staticmethod
    def fromdecimalstr(s):
        return _parse(NumberStringParser(s, s, 10, 'long'))

    @staticmethod
    def fromstr(s, base=0, allow_underscores=False):
        """As long(s, base): ParseStringError if it is no number."""
        end = len(s)
        while end > 0 and s[end - 1] == ' ':
            end -= 1
        assert end >= 0
        if end > 0 and (s[end - 1] == 'l' or s[end - 1] == 'L') and base < 22:
            stop = end - 1
            assert stop >= 0
            s = s[:stop]
        return _parse(NumberStringParser(s, s, base, 'long',
                                         allow_underscores=allow_underscores))

    @staticmethod
    def _from_numberstring_parser(parser):
        return _parse(parser)

    @staticmethod
    def frombytes(s, byteorder, signed):
        if byteorder != 'big' and byteorder != 'little':
            raise InvalidEndiannessError()
        n = len(s)
        negative = False
        if signed and n > 0:
            if byteorder == 'big':
                top = ord(s[0])
            else:
                top = ord(s[n - 1])
            negative = top >= 0x80
        digits = [0] * ((8 * n) // SHIFT + 1)
        accumulator = r_uint(0)
        bits = 0
        j = 0
        carry = 1
        for i in range(n):
            if byteorder == 'big':
                byte = ord(s[n - 1 - i])
            else:
                byte = ord(s[i])
            if negative:
                byte = (byte ^ 0xff) + carry
                carry = byte >> 8
                byte = byte & 0xff
            # The bits that a word does not hold are there once more below.
            accumulator |= r_uint(byte) << bits
            bits += 8
            if bits >= SHIFT:
                digits[j] = intmask(accumulator & UMASK)
                bits -= SHIFT
                accumulator = r_uint(byte >> (8 - bits))
                j += 1
        if bits > 0:
            digits[j] = intmask(accumulator)
        if negative:
            return _normal(digits, -1)
        return _normal(digits, 1)

    @staticmethod
    def from_list_n_bits(list, nbits):
        result = NULLRBIGINT
        i = len(list) - 1
        while i >= 0:
            result = result.lshift(nbits).or_(rbigint.fromint(list[i]))
            i -= 1
        return result

    # What it is made of.

    def get_sign(self):
        return self._sign

    def _set_sign(self, sign):
        """For a fresh number only: numbers may be shared."""
        self._sign = sign

    # Programs that negate a number of their own write it.
    sign = property(get_sign, _set_sign)

    def _get_size(self):
        return self._sign * len(self._digits)

    # The number of digits with the number's sign: programs look at it.
    _size = property(_get_size)

    def digit(self, x):
        return self._digits[x]

    def udigit(self, x):
        """The same, as r_uint."""
        return r_uint(self._digits[x])

    def widedigit(self, x):
        """The same, as an integer that holds products of two digits."""
        return r_longlonglong(self._digits[x])

    def uwidedigit(self, x):
        return r_ulonglonglong(self._digits[x])

    def setdigit(self, x, val):
        self._digits[x] = val & MASK

    def numdigits(self):
        n = len(self._digits)
        if n == 0:
            return 1
        return n

    def tobool(self):
        return self._sign != 0

    def bit_length(self):
        n = len(self._digits)
        if n == 0:
            return 0
        return (n - 1) * SHIFT + _bits_in(self._digits[n - 1])

    def bit_count(self):
        count = 0
        for digit in self._digits:
            while digit:
                digit &= digit - 1
                count += 1
        return count

    # Conversions from rbigint.

    def fits_int(self):
        bits = self.bit_length()
        if bits < LONG_BIT:
            return True
        return (bits == LONG_BIT and self._sign < 0 and
                self._magnitude_mask() == r_uint(1) << (LONG_BIT - 1))

    def _magnitude_mask(self):
        result = r_uint(0)
        i = min(len(self._digits), 2) - 1
        while i >= 0:
            result = (result << SHIFT) | r_uint(self._digits[i])
            i -= 1
        return result

    def toint(self):
        if not self.fits_int():
            raise OverflowError
        return intmask(self.uintmask())

    def tolonglong(self):
        return r_longlong(self.toint())

    def touint(self):
        if self._sign < 0:
            raise ValueError("cannot convert negative integer to unsigned int")
        if self.bit_length() > LONG_BIT:
            raise OverflowError
        return self._magnitude_mask()

    def toulonglong(self):
        return r_ulonglong(self.touint())

    def uintmask(self):
        result = self._magnitude_mask()
        if self._sign < 0:
            result = -result
        return result

    def ulonglongmask(self):
        return r_ulonglong(self.uintmask())

    def tofloat(self):
        """Rounded to the nearest float, ties to even; OverflowError if too big."""
        bits = self.bit_length()
        if bits <= 53:
            return float(self.toint())
        if bits > 1024:
            raise OverflowError("integer too large to convert to float")
        # 55 bits: the last one says whether anything lies below them.
        shift = bits - 54
        head = self.abs().rshift(shift)
        rest = 0
        if head.lshift(shift).ne(self.abs()):
            rest = 1
        value = head.toint() * 2 + rest
        low = value & 3
        value = value >> 2
        if low == 3 or (low == 2 and value & 1):
            value += 1
        result = math.ldexp(float(value), shift + 1)
        if self._sign < 0:
            return -result
        return result

    @not_rpython
    def tolong(self):
        result = 0L
        for digit in reversed(self._digits):
            result = (result << SHIFT) | digit
        return result * self._sign

    def tobytes(self, nbytes, byteorder, signed):
        if byteorder != 'big' and byteorder != 'little':
            raise InvalidEndiannessError()
        if self._sign < 0 and not signed:
            raise InvalidSignednessError()
        value = self
        bits = self.bit_length()
        if signed:
            if self._sign < 0:
                bits = self.invert().bit_length()
            bits += 1
        if bits > 8 * nbytes and (self._sign != 0 or nbytes < 0):
            raise OverflowError
        if self._sign < 0:
            value = ONERBIGINT.lshift(8 * nbytes).add(self)
        chars = ['\x00'] * nbytes
        accumulator = r_uint(0)
        available = 0
        j = 0
        for i in range(nbytes):
            c = chr(intmask(accumulator & 0xff))
            accumulator >>= 8
            available -= 8
            if available < 0 and j < len(value._digits):
                # -available bits of the byte come from the next digit.
                digit = r_uint(value._digits[j])
                c = chr(ord(c) | intmask((digit << (8 + available)) & 0xff))
                accumulator = digit >> -available
                available += SHIFT
                j += 1
            if byteorder == 'big':
                chars[nbytes - 1 - i] = c
            else:
                chars[i] = c
        return ''.join(chars)

    def repr(self):
        return self.str() + 'L'

    def str(self, max_str_digits=0):
        """Decimal text. MaxIntError if it has more digits than that, 0: as many as there are."""
        if len(self._digits) <= 1:
            return str(self.toint())
        return self._limited(_format(self, 10, ''), 0, max_str_digits)

    def format(self, digits, prefix='', suffix='', max_str_digits=0):
        """Text in the base of that many digits. The limit is for other bases than powers of 2."""
        text = _format_with(self, digits, prefix, suffix)
        if len(digits) & (len(digits) - 1) == 0:
            return text
        return self._limited(text, len(prefix) + len(suffix), max_str_digits)

    def _limited(self, text, others, max_str_digits):
        if max_str_digits > 0 and len(text) - others - int(self._sign < 0) > max_str_digits:
            raise MaxIntError("requested output too large")
        return text

    def oct(self):
        if self._sign == 0:
            return '0L'
        return _format_with(self, BASE8, '0', 'L')

    def hex(self):
        return _format_with(self, BASE16, '0x', 'L')

    def log(self, base):
        """Natural for base 0."""
        if self._sign <= 0:
            raise ValueError("math domain error")
        bits = self.bit_length()
        shift = 0
        if bits > 1000:
            shift = bits - 64
        x = self.rshift(shift).tofloat()
        # A quotient of two logarithms would be off by its rounding.
        if base == 10.0:
            return math.log10(x) + shift * math.log10(2.0)
        if base == 2.0:
            from rpython.rlib.rfloat import log2
            return log2(x) + shift
        result = math.log(x) + shift * math.log(2.0)
        if base != 0.0:
            result = result / math.log(base)
        return result

    def hash(self):
        """That of CPython's long: the magnitude modulo 2 ** 64 - 1, with the sign."""
        x = r_uint(0)
        i = len(self._digits) - 1
        while i >= 0:
            digit = r_uint(self._digits[i])
            x = (x << SHIFT) | (x >> (LONG_BIT - SHIFT))
            x += digit
            if x < digit:
                x += 1
            i -= 1
        return intmask(intmask(x) * self._sign)

    def __repr__(self):
        return '<rbigint digits=%s, sign=%d>' % (self._digits, self._sign)

    # Comparison.

    def _compare(self, other):
        if self._sign != other._sign:
            return self._sign - other._sign
        return _compare_digits(self._digits, other._digits) * self._sign

    def eq(self, other):
        return self._compare(other) == 0

    def ne(self, other):
        return self._compare(other) != 0

    def lt(self, other):
        return self._compare(other) < 0

    def le(self, other):
        return self._compare(other) <= 0

    def gt(self, other):
        return self._compare(other) > 0

    def ge(self, other):
        return self._compare(other) >= 0

    def int_eq(self, iother):
        return self.eq(rbigint.fromint(iother))

    def int_ne(self, iother):
        return self.ne(rbigint.fromint(iother))

    def int_lt(self, iother):
        return self.lt(rbigint.fromint(iother))

    def int_le(self, iother):
        return self.le(rbigint.fromint(iother))

    def int_gt(self, iother):
        return self.gt(rbigint.fromint(iother))

    def int_ge(self, iother):
        return self.ge(rbigint.fromint(iother))

    # Arithmetic.

    def neg(self):
        return rbigint(self._digits, -self._sign)

    def abs(self):
        if self._sign >= 0:
            return self
        return rbigint(self._digits, 1)

    def invert(self):
        return self.add(ONERBIGINT).neg()

    def add(self, other):
        if self._sign == 0:
            return other
        if other._sign == 0:
            return self
        return _add_magnitudes(self, other, other._sign)

    def sub(self, other):
        if self._sign == 0:
            return other.neg()
        if other._sign == 0:
            return self
        return _add_magnitudes(self, other, -other._sign)

    def mul(self, other):
        if self._sign == 0 or other._sign == 0:
            return NULLRBIGINT
        return _normal(_mul_digits(self._digits, other._digits),
                       self._sign * other._sign)

    def divmod(self, other):
        """Rounded down."""
        if other._sign == 0:
            raise ZeroDivisionError("long division or modulo by zero")
        quotient, remainder = _divrem(self, other)
        if remainder._sign * other._sign < 0:
            remainder = remainder.add(other)
            quotient = quotient.sub(ONERBIGINT)
        return quotient, remainder

    def floordiv(self, other):
        return self.divmod(other)[0]

    def div(self, other):
        return self.floordiv(other)

    def mod(self, other):
        return self.divmod(other)[1]

    def truediv(self, other):
        return _true_divide(self, other)

    def int_add(self, iother):
        return self.add(rbigint.fromint(iother))

    def int_sub(self, iother):
        return self.sub(rbigint.fromint(iother))

    def int_mul(self, iother):
        return self.mul(rbigint.fromint(iother))

    def int_floordiv(self, iother):
        return self.floordiv(rbigint.fromint(iother))

    def int_div(self, iother):
        return self.floordiv(rbigint.fromint(iother))

    def int_mod(self, iother):
        return self.mod(rbigint.fromint(iother))

    def int_mod_int_result(self, iother):
        return self.mod(rbigint.fromint(iother)).toint()

    def int_divmod(self, iother):
        return self.divmod(rbigint.fromint(iother))

    @staticmethod
    def add_int_int_bigint_result(iself, iother):
        return rbigint.fromint(iself).add(rbigint.fromint(iother))

    @staticmethod
    def sub_int_int_bigint_result(iself, iother):
        return rbigint.fromint(iself).sub(rbigint.fromint(iother))

    @staticmethod
    def mul_int_int_bigint_result(iself, iother):
        return rbigint.fromint(iself).mul(rbigint.fromint(iother))

    @staticmethod
    def lshift_int_int_bigint_result(iself, int_other):
        return rbigint.fromint(iself).lshift(int_other)

    def pow(self, other, modulus=None):
        negative_result = False
        if other._sign < 0:
            if modulus is not None:
                raise TypeError("pow() 2nd argument cannot be negative "
                                "when 3rd argument specified")
            raise ValueError("bigint pow() too negative")
        base = self
        if modulus is not None:
            if modulus._sign == 0:
                raise ValueError("pow() 3rd argument cannot be 0")
            if modulus._sign < 0:
                negative_result = True
                modulus = modulus.neg()
            if modulus.eq(ONERBIGINT):
                return NULLRBIGINT
            base = base.mod(modulus)
        result = ONERBIGINT
        i = other.bit_length() - 1
        while i >= 0:
            result = result.mul(result)
            if modulus is not None:
                result = result.mod(modulus)
            if other._bit(i):
                result = result.mul(base)
                if modulus is not None:
                    result = result.mod(modulus)
            i -= 1
        if negative_result and modulus is not None and result._sign != 0:
            result = result.sub(modulus)
        return result

    def _bit(self, i):
        return (self._digits[i // SHIFT] >> (i % SHIFT)) & 1

    def int_pow(self, iother, modulus=None):
        return self.pow(rbigint.fromint(iother), modulus)

    def gcd(self, other):
        a = self.abs()
        b = other.abs()
        while b._sign != 0:
            a, b = b, a.mod(b)
        return a

    def isqrt(self):
        """The square root rounded down, by Newton's method from above."""
        if self._sign < 0:
            raise ValueError("isqrt() argument must be nonnegative")
        if self._sign == 0:
            return NULLRBIGINT
        x = ONERBIGINT.lshift((self.bit_length() + 1) // 2)
        while True:
            y = x.add(self.floordiv(x)).rshift(1)
            if y.ge(x):
                return x
            x = y

    # Bits. Negative numbers have infinitely many ones on the left.

    def lshift(self, int_other):
        if int_other < 0:
            raise ValueError("negative shift count")
        if self._sign == 0 or int_other == 0:
            return self
        words = int_other // SHIFT
        bits = int_other % SHIFT
        n = len(self._digits)
        size = n + words
        if self._digits[n - 1] >> (SHIFT - bits):
            size += 1
        digits = [0] * size
        carry = 0
        for i in range(n):
            digit = r_uint(self._digits[i])
            digits[i + words] = intmask((digit << bits) & UMASK) | carry
            carry = intmask(digit >> (SHIFT - bits))
        if carry:
            digits[n + words] = carry
        return rbigint(digits, self._sign)

    def lqshift(self, int_other):
        return self.lshift(int_other)

    def rshift(self, int_other, dont_invert=False):
        if int_other < 0:
            raise ValueError("negative shift count")
        if self._sign == 0 or int_other == 0:
            return self
        if self._sign < 0 and not dont_invert:
            return self.invert().rshift(int_other).invert()
        words = int_other // SHIFT
        bits = int_other % SHIFT
        n = len(self._digits) - words
        if n <= 0:
            return NULLRBIGINT
        carry = self._digits[n + words - 1]
        top = carry >> bits
        if top == 0:
            n -= 1
            if n == 0:
                return NULLRBIGINT
        digits = [0] * n
        if top:
            n -= 1
            digits[n] = top
        while n > 0:
            n -= 1
            digit = self._digits[n + words]
            digits[n] = (digit >> bits) | intmask((r_uint(carry) << (SHIFT - bits)) & UMASK)
            carry = digit
        return rbigint(digits, self._sign)

    def rqshift(self, int_other):
        return self.rshift(int_other)

    def abs_rshift_and_mask(self, bigshiftcount, mask):
        return intmask(self.abs().rshift(intmask(bigshiftcount)).uintmask()) & mask

    def and_(self, other):
        return _bitwise(self, '&', other)

    def or_(self, other):
        return _bitwise(self, '|', other)

    def xor(self, other):
        return _bitwise(self, '^', other)

    def int_and_(self, iother):
        return _bitwise(self, '&', rbigint.fromint(iother))

    def int_or_(self, iother):
        return _bitwise(self, '|', rbigint.fromint(iother))

    def int_xor(self, iother):
        return _bitwise(self, '^', rbigint.fromint(iother))


# Numbers of digits.

def _add_magnitudes(a, b, sign):
    """The sum of a and of b with that sign; neither is zero."""
    if a._sign == sign:
        return rbigint(_add_digits(a._digits, b._digits), sign)
    order = _compare_digits(a._digits, b._digits)
    if order == 0:
        return NULLRBIGINT
    if order > 0:
        return _normal(_sub_digits(a._digits, b._digits), a._sign)
    return _normal(_sub_digits(b._digits, a._digits), sign)

def _normal(digits, sign):
    """Without leading zeroes."""
    n = len(digits)
    while n > 0 and digits[n - 1] == 0:
        n -= 1
    if n == 0:
        return NULLRBIGINT
    assert n > 0
    if n < len(digits):
        assert n >= 0
        digits = digits[:n]
    return rbigint(digits, sign)

@specialize.argtype(0)
def _from_rarith(n):
    negative = n < 0
    if negative:
        # Not -n, which the least number of its type does not have.
        n = ~n
    digits = []
    while n:
        digits.append(intmask(n) & MASK)
        n >>= SHIFT
    result = NULLRBIGINT
    if digits:
        result = rbigint(digits[:], 1)
    return result.invert() if negative else result

def _from_unsigned(u, sign):
    return _normal([intmask(u & UMASK), intmask(u >> SHIFT)], sign)

def bits_in_digit(d):
    return _bits_in(d)

def _divrem(a, b):
    """Quotient rounded towards zero, and remainder with the sign of a."""
    order = _compare_digits(a._digits, b._digits)
    if order < 0:
        return NULLRBIGINT, a
    if len(b._digits) == 1:
        quotient, rest = _divrem_digit(a._digits, b._digits[0])
        remainder = _normal([rest], a._sign)
    else:
        quotient, rest_digits = _long_division(a._digits, b._digits)
        remainder = _normal(rest_digits, a._sign)
    return _normal(quotient, a._sign * b._sign), remainder

def _divrem1(a, n):
    """Quotient and remainder of the absolute value and a digit that is not zero."""
    quotient, rest = _divrem_digit(a._digits, n)
    return _normal(quotient, 1), rest

def intsign(i):
    return int(i > 0) - int(i < 0)

def int_in_valid_range(x):
    """Whether methods that take an int take this one: it has an absolute value."""
    return x != -sys.maxint - 1

def _bitwise(a, op, b):
    """On two's complements of as many digits as the longer one, and one more."""
    if a._sign >= 0 and b._sign >= 0:
        return _bitwise_digits(a._digits, op, b._digits)
    size = max(len(a._digits), len(b._digits)) + 1
    x = _complement(a, size)
    y = _complement(b, size)
    for i in range(size):
        if op == '&':
            x[i] = x[i] & y[i]
        elif op == '|':
            x[i] = x[i] | y[i]
        else:
            x[i] = x[i] ^ y[i]
    if x[size - 1] >> (SHIFT - 1):
        _negate(x)
        return _normal(x, -1)
    return _normal(x, 1)

def _bitwise_digits(a, op, b):
    if len(a) < len(b):
        a, b = b, a
    if op == '&':
        digits = [0] * len(b)
    else:
        digits = a[:]
    for i in range(len(b)):
        if op == '&':
            digits[i] = a[i] & b[i]
        elif op == '|':
            digits[i] = a[i] | b[i]
        else:
            digits[i] = a[i] ^ b[i]
    return _normal(digits, 1)

def _complement(a, size):
    digits = [0] * size
    for i in range(len(a._digits)):
        digits[i] = a._digits[i]
    if a._sign < 0:
        _negate(digits)
    return digits


# Text.

def _parse(parser):
    """Digits are gathered into numbers of one machine digit before they are put to
    the rest."""
    base = parser.base
    result = NULLRBIGINT
    while True:
        chunk = 0
        factor = 1
        while factor < MASK // base:
            digit = parser.next_digit()
            if digit < 0:
                if factor > 1:
                    result = result.int_mul(factor).int_add(chunk)
                if parser.sign < 0:
                    return result.neg()
                return result
            chunk = chunk * base + digit
            factor *= base
        result = result.int_mul(factor).int_add(chunk)

def _format_with(a, digits, prefix, suffix):
    text = _format(a, len(digits), digits)
    sign = ''
    if a._sign < 0:
        sign = '-'
        text = text[1:]
    return sign + prefix + text + suffix

def _format(a, base, digits):
    """Without digits, those of BASE16 serve."""
    if digits == '':
        digits = BASE16
    if a._sign == 0:
        return '0'
    text = Text(base, digits)
    text.append(a._digits)
    chars = text.chars
    if a._sign < 0:
        chars.append('-')
    chars.reverse()
    return ''.join(chars)


# Division of big numbers into floats.

def _true_divide(a, b):
    """The float nearest to a / b."""
    if b._sign == 0:
        raise ZeroDivisionError("long division or modulo by zero")
    if a._sign == 0:
        if b._sign < 0:
            return -0.0
        return 0.0
    negative = a._sign != b._sign
    a = a.abs()
    b = b.abs()
    # A quotient of at least 55 bits, more than a float has.
    shift = 56 - (a.bit_length() - b.bit_length())
    if shift < -1100:
        raise OverflowError("long/long too large for a float")
    if shift > 1140:
        if negative:
            return -0.0
        return 0.0
    if shift > 0:
        quotient, remainder = a.lshift(shift).divmod(b)
    else:
        quotient, remainder = a.divmod(b.lshift(-shift))
    bits = quotient.bit_length()
    # Bits that the float cannot hold; more of them below the normal range.
    drop = bits - 53
    if bits - shift < -1021:
        drop += -1021 - (bits - shift)
    low = quotient.and_(ONERBIGINT.lshift(drop).sub(ONERBIGINT))
    half = ONERBIGINT.lshift(drop - 1)
    quotient = quotient.rshift(drop)
    order = low._compare(half)
    if order > 0 or (order == 0 and (remainder.tobool() or quotient.int_and_(1).tobool())):
        quotient = quotient.add(ONERBIGINT)
    result = math.ldexp(float(quotient.toint()), drop - shift)
    if negative:
        return -result
    return result


def _AsScaledDouble(v):
    """A float and how many digits its value has to be shifted left by: (x, e) is about
    x * 2 ** (e * SHIFT), as exactly as a float can say it."""
    if v._sign == 0:
        raise ValueError("a number that is not zero is needed")
    bits = v.bit_length()
    # More bits than a float has, so that what is left out hardly rounds.
    drop = bits - 57
    if drop <= 0:
        return v.tofloat(), 0
    exponent = drop // SHIFT
    head = v.abs().rshift(drop).tofloat()
    return math.ldexp(head, drop - exponent * SHIFT) * v._sign, exponent


NULLRBIGINT = rbigint([], 0)
ONERBIGINT = rbigint([1], 1)
ONENEGATIVERBIGINT = rbigint([1], -1)
NULLDIGITS = [0]

def gcd_binary(a, b):
    while b:
        a, b = b, a % b
    return a

from rpython.rlib._rbigint_ints import (
    _bitcount64, _format_int10_18digits, _format_lowest_level_divmod_int_results,
    _mask_digit, _store_digit, _str_to_int_big_base10, _str_to_int_big_inner10,
    _str_to_int_big_w5pow, bit_length_int, divmod_big, frombytes_int, gcd_lehmer,
    lehmer_xgcd, tobytes_int)

# As many as the smallest int has.
MAX_DIGITS_THAT_CAN_FIT_IN_INT = rbigint.fromint(-sys.maxint - 1).numdigits()


class _Limits(object):
    """From how many digits on divisions and texts are split in two (RPython's figures)."""
    DIV_LIMIT = 21
    STR2INT_LIMIT = 2048
    MINSIZE_STR2INT = 4000

HOLDER = _Limits()


def parse_digit_string(parser):
    """The number whose digits a NumberStringParser gives one by one."""
    result = NULLRBIGINT
    digit = parser.next_digit()
    while digit >= 0:
        result = result.int_mul(parser.base).int_add(digit)
        digit = parser.next_digit()
    if parser.sign < 0:
        result = result.neg()
    return result
