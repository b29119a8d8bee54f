# ------------------------------------------------------------------------------
# Floats
# ------------------------------------------------------------------------------

import math
import re

INFINITY = math.inf
MINUS_INFINITY = -math.inf


def bits_of_float(f):
    return struct.unpack('<q', struct.pack('<d', f))[0]


def float_of_bits(n):
    return struct.unpack('<d', struct.pack('<Q', n & 0xffffffffffffffff))[0]


def single(f):
    """A number as a SingleFloat holds it."""
    return ctypes.c_float(f).value


def float_div(a, b):
    if b != 0.0:
        return a / b
    if a == 0.0 or a != a:
        return math.nan
    return math.copysign(INFINITY, a) * math.copysign(1.0, b)


def truncated(f):
    """The integer part of a float, as far as 128 bits go."""
    if f != f:
        return 0
    if abs(f) >= 2.0 ** 127:
        return (1 << 127) - 1 if f > 0 else -(1 << 127)
    return int(f)


class CMath:
    """The C library's mathematics."""

    def __getattr__(self, name):
        f = process[name]
        f.restype = ctypes.c_double
        f.argtypes = [ctypes.c_double] * (2 if name in ('atan2', 'copysign', 'fmod', 'hypot', 'pow') else 1)
        setattr(self, name, f)
        return f


libm = CMath()

SIGN, DOT_ZERO, ALTERNATE = 1, 2, 4


def float_text(f, code, precision, flags):
    upper = code in 'EFG'
    if f != f:
        text = 'nan'
    elif f in (INFINITY, MINUS_INFINITY):
        text = 'inf' if f > 0 else '-inf'
        if flags & SIGN and f > 0:
            text = '+' + text
    else:
        if code == 'r':
            text = repr(f)
            if text.endswith('.0'):
                text = text[:-2]
            if flags & SIGN and not text.startswith('-'):
                text = '+' + text
        elif code in 'gG' and flags & DOT_ZERO and takes_exponent(f, precision):
            text = with_exponent(f, precision, flags)
        else:
            form = '%' + ('+' if flags & SIGN else '') + ('#' if flags & ALTERNATE else '')
            text = (form + '.*' + code.lower()) % (precision, f)
        if flags & DOT_ZERO and '.' not in text and 'e' not in text:
            text += '.0'
    return text.upper() if upper else text


def takes_exponent(f, precision):
    """Whether a number is written with an exponent, where it would get a dot and a zero otherwise."""
    exponent = int(('%.*e' % (max(precision, 1) - 1, f)).split('e')[1])
    return exponent < -4 or exponent + 1 > max(precision, 1) - 1


def with_exponent(f, precision, flags):
    digits, exponent = ('%.*e' % (max(precision, 1) - 1, f)).split('e')
    if '.' in digits and not flags & ALTERNATE:
        digits = digits.rstrip('0').rstrip('.')
    plus = '+' if flags & SIGN and not digits.startswith('-') else ''
    return plus + digits + 'e' + exponent


def rpy_float_format(f, code, precision, flags, out):
    return copy_if_fits(float_text(f, chr(code), precision, flags).encode(), out)


FLOAT_LITERAL = re.compile(rb'[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z')


def rpy_float_parse_ok(s):
    return FLOAT_LITERAL.match(s.chars) is not None


def rpy_float_parse(s):
    return float(s.chars)


def rpy_float_frexp_mantissa(f):
    return math.frexp(f)[0]


def rpy_float_frexp_exponent(f):
    return math.frexp(f)[1] if f == f and abs(f) != INFINITY else 0


def rpy_float_ldexp(f, n):
    try:
        return math.ldexp(f, max(-0x80000000, min(n, 0x7fffffff)))
    except OverflowError:
        return math.copysign(INFINITY, f)
