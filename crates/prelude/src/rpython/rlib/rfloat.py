"""Floats: text, rounding, special values."""
import math
from math import acosh, asinh, atanh, copysign, expm1, isinf, isnan, log1p

from rpython.rlib.objectmodel import not_rpython

INFINITY = 1e200 * 1e200
NAN = abs(INFINITY / INFINITY)
DBL_MAX = 1.7976931348623157e308
DBL_MIN = 2.2250738585072014e-308
DBL_EPSILON = 2.220446049250313e-16
DBL_MANT_DIG = 53
DBL_DIG = 15
DBL_MAX_EXP = 1024
DBL_MAX_10_EXP = 308
DBL_MIN_EXP = -1021
DBL_MIN_10_EXP = -307
FLT_RADIX = 2
FLT_ROUNDS = 1
FLT_MANT_DIG = 24

_SIGN_BIT = -0x7fffffffffffffff - 1

INVALID_MSG = "could not convert string to float"

DTSF_STR_PRECISION = 12
DTSF_SIGN = 1
DTSF_ADD_DOT_0 = 2
DTSF_ALT = 4
DTSF_CUT_EXP_0 = 8
DTSF_NO_NEG_0 = 16
DIST_FINITE = 1
DIST_NAN = 2
DIST_INFINITY = 3


@not_rpython
def formatd(x, code, precision, flags=0):
    """Text of a float: code among e E f F g G r, and DTSF_ flags."""
    if code == 'r':
        s = repr(x)
        if s.endswith('.0'):
            s = s[:-2]
    else:
        alternate = '#' if flags & DTSF_ALT else ''
        s = ('%' + alternate + '.' + str(precision) + code) % x
    if flags & DTSF_ADD_DOT_0 and s.lstrip('-').isdigit():
        s += '.0'
    if flags & DTSF_SIGN and not s.startswith('-'):
        s = '+' + s
    return s

def double_to_string(value, tp, precision, flags):
    if value != value:
        special = DIST_NAN
    elif value - value != 0.0:
        special = DIST_INFINITY
    else:
        special = DIST_FINITE
    return formatd(value, tp, precision, flags), special

def string_to_float(s):
    """The value of a float with blanks around it, or of one of the names that Python has
    for floats without digits. ParseStringError where s is neither."""
    from rpython.rlib.rstring import ParseStringError, strip_spaces
    s = strip_spaces(s)
    try:
        return rstring_to_float(s)
    except ValueError:
        name = s.lower()
        negative = name.startswith('-')
        if negative or name.startswith('+'):
            name = name[1:]
        if name == 'inf' or name == 'infinity':
            x = INFINITY
        elif name == 'nan':
            x = NAN
        else:
            raise ParseStringError(INVALID_MSG)
        return -x if negative else x

def rstring_to_float(s):
    """ValueError where s is not made of digits."""
    return float(s)

def isfinite(x):
    return x - x == 0.0

def to_ulps(x):
    """A number such that those of neighbouring floats are neighbours."""
    from rpython.rlib.longlong2float import float2longlong
    n = float2longlong(x)
    if n < 0:
        n = ~(n ^ _SIGN_BIT)
    return n

def ulps_check(expected, got, ulps=20):
    """None if two floats are at most so many floats apart, else text that says how many."""
    error = to_ulps(got) - to_ulps(expected)
    if abs(error) <= ulps:
        return None
    return "error = %d ulps; permitted error = %d ulps" % (error, ulps)

def acc_check(expected, got, rel_err=2e-15, abs_err=5e-323):
    """None if two floats are close enough, else text that says how far they are apart."""
    if isinf(expected) and got == expected:
        return None
    error = got - expected
    permitted = max(abs_err, rel_err * abs(expected))
    if abs(error) < permitted:
        return None
    return "error = %f; permitted error = %f" % (error, permitted)

def round_away(x):
    """To the nearest integer, halves away from zero."""
    result = math.floor(abs(x))
    if abs(x) - result >= 0.5:
        result += 1.0
    return math.copysign(result, x)

def round_half_even(x):
    result = round_away(x)
    if abs(x - result) == 0.5 and math.fmod(result, 2.0) != 0.0:
        result -= math.copysign(1.0, x)
    return result

_EXACT_HALF = '5' + '0' * 39
# More digits than any float has that is 1 or greater.
_ALL_DIGITS = 400

def _round_integer(value, dropped, half_even):
    """A float > 0 without its last `dropped` digits in front of the point."""
    text = formatd(value, 'e', _ALL_DIGITS)
    e = text.find('e')
    assert e > 2
    digits = text[0] + text[2:e]
    kept = int(text[e + 1:]) + 1 - dropped
    if kept < 0:
        return 0.0
    assert kept >= 0
    head, tail = digits[:kept], digits[kept:]
    up = tail[0] >= '5'
    if half_even and up and tail.count('0') == len(tail) - 1 and tail[0] == '5':
        up = kept > 0 and (ord(head[kept - 1]) & 1) != 0
    if up:
        i = kept - 1
        while i >= 0 and head[i] == '9':
            i -= 1
        if i < 0:
            head = '1' + '0' * kept
        else:
            assert i >= 0
            head = head[:i] + chr(ord(head[i]) + 1) + '0' * (kept - 1 - i)
    elif not head:
        return 0.0
    return rstring_to_float(head + 'e' + str(dropped))

def round_double(value, ndigits, half_even=False):
    """round(value, ndigits) of a finite number: through decimal text, so that it is
    correct. Infinite where the result is no float any more."""
    if ndigits == 0:
        if half_even:
            return round_half_even(value)
        return round_away(value)
    if value == 0.0:
        return 0.0
    if ndigits > 323 or value - value != 0.0:
        return value
    if ndigits < -308:
        return 0.0 * value
    if ndigits < 0:
        return math.copysign(_round_integer(abs(value), -ndigits, half_even), value)
    if not half_even and ndigits < 30:
        # formatd() rounds exact halves to even: push them off the middle.
        text = formatd(value, 'f', ndigits + 40)
        if text.endswith(_EXACT_HALF):
            value *= 1.0000000000000002
    return rstring_to_float(formatd(value, 'f', ndigits))

def log2(x):
    if x <= 0.0:
        raise ValueError("math domain error")
    mantissa, exponent = math.frexp(x)
    if mantissa == 0.5:
        return float(exponent - 1)
    if x >= 1.0:
        # The sum of a negative logarithm and the exponent would lose all digits just above 1.0.
        return math.log(2.0 * mantissa) / math.log(2.0) + float(exponent - 1)
    return math.log(mantissa) / math.log(2.0) + float(exponent)

def exp2(x):
    """2.0 to the power of x."""
    return math.pow(2.0, x)

def cbrt(x):
    """The cube root, of a negative number too."""
    if x == 0.0 or x - x != 0.0:
        return x
    root = math.pow(abs(x), 1.0 / 3.0)
    # pow() leaves an error of some units in the last place: one step of Newton's.
    root -= (root - abs(x) / (root * root)) / 3.0
    return math.copysign(root, x)

def nextafter(x, y):
    """The float next to x on the way to y."""
    from rpython.rlib.longlong2float import float2longlong, longlong2float
    if x != x or y != y:
        return x + y
    if x == y:
        return y
    if x == 0.0:
        return math.copysign(longlong2float(1), y)
    bits = float2longlong(x)
    if (x < y) == (x > 0.0):
        return longlong2float(bits + 1)
    return longlong2float(bits - 1)

def float_as_rbigint_ratio(value):
    """Numerator and denominator, in lowest terms."""
    from rpython.rlib.rbigint import rbigint
    if value - value != 0.0:
        if value != value:
            raise ValueError("cannot pass nan to as_integer_ratio()")
        raise OverflowError("cannot pass infinity to as_integer_ratio()")
    mantissa, exponent = math.frexp(value)
    while mantissa != math.floor(mantissa):
        mantissa *= 2.0
        exponent -= 1
    numerator = rbigint.fromfloat(mantissa)
    denominator = rbigint.fromint(1)
    if exponent > 0:
        numerator = numerator.lshift(exponent)
    else:
        denominator = denominator.lshift(-exponent)
    return numerator, denominator

# The compiler knows these by name.

@not_rpython
def erf(x):
    return math.erf(x)

@not_rpython
def erfc(x):
    return math.erfc(x)

@not_rpython
def gamma(x):
    return math.gamma(x)

@not_rpython
def lgamma(x):
    return math.lgamma(x)
