"""Complex numbers as pairs of floats, real part first.

The functions that are not arithmetic are those of the C library, which know all special
cases; what C does not tell, and Python does, is added here: ValueError where a function has
a pole or no limit, OverflowError where a finite number gives an infinite one.
"""
import math

from rpython.rlib.rfloat import INFINITY, NAN, isfinite
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.translator.tool.cbuild import ExternalCompilationInfo

_NAMES = ['sqrt', 'acos', 'acosh', 'asin', 'asinh', 'atan', 'atanh', 'log', 'exp', 'cosh',
          'sinh', 'tanh']

def _c_source():
    lines = []
    for name in _NAMES:
        lines.append('static void taipan_c%s(double x, double y, double *r) { double complex z ='
                     ' c%s(CMPLX(x, y)); r[0] = creal(z); r[1] = cimag(z); }' % (name, name))
    return '\n'.join(lines) + '\n'

_eci = ExternalCompilationInfo(includes=['complex.h'], libraries=['m'],
                               post_include_bits=[_c_source()])

def _function(name):
    external = rffi.llexternal('taipan_c' + name, [lltype.Float, lltype.Float, rffi.DOUBLEP],
                               lltype.Void, compilation_info=_eci)
    def function(x, y):
        with lltype.scoped_alloc(rffi.DOUBLEP.TO, 2) as result:
            external(x, y, result)
            return result[0], result[1]
    function.__name__ = 'c_' + name
    return function

c_sqrt = _function('sqrt')
c_acos = _function('acos')
c_acosh = _function('acosh')
c_asin = _function('asin')
c_asinh = _function('asinh')
c_atan = _function('atan')
_atanh, _log, _exp, _cosh, _sinh, _tanh = [_function(_name) for _name in _NAMES[-6:]]

_DOMAIN = "math domain error"
_RANGE = "math range error"

# ____________________________________________________________ arithmetic

def c_neg(r, i):
    return -r, -i

def c_add(x, y):
    return x[0] + y[0], x[1] + y[1]

def c_sub(x, y):
    return x[0] - y[0], x[1] - y[1]

def c_mul(x, y):
    (r1, i1), (r2, i2) = x, y
    return r1 * r2 - i1 * i2, r1 * i2 + i1 * r2

def c_div(x, y):
    # Divides both parts of the divisor by the larger one first, which keeps the
    # intermediate results in range.
    (r1, i1), (r2, i2) = x, y
    if math.fabs(r2) >= math.fabs(i2):
        if r2 == 0.0:
            raise ZeroDivisionError
        ratio = i2 / r2
        divisor = r2 + i2 * ratio
        return (r1 + i1 * ratio) / divisor, (i1 - r1 * ratio) / divisor
    if r2 != r2 or i2 != i2:
        return NAN, NAN
    ratio = r2 / i2
    divisor = r2 * ratio + i2
    return (r1 * ratio + i1) / divisor, (i1 * ratio - r1) / divisor

def c_pow(x, y):
    (r1, i1), (r2, i2) = x, y
    if i1 == 0.0 and i2 == 0.0 and r1 > 0.0:
        return math.pow(r1, r2), 0.0
    if r2 == 0.0 and i2 == 0.0:
        return 1.0, 0.0
    if r1 == 1.0 and i1 == 0.0:
        return 1.0, 0.0
    if r1 == 0.0 and i1 == 0.0:
        if i2 != 0.0 or r2 < 0.0:
            raise ZeroDivisionError
        return 0.0, 0.0
    absolute = math.hypot(r1, i1)
    angle = math.atan2(i1, r1)
    length = math.pow(absolute, r2)
    phase = angle * r2
    if i2 != 0.0:
        length /= math.exp(angle * i2)
        phase += i2 * math.log(absolute)
    if not isfinite(phase):
        return NAN, NAN
    return length * math.cos(phase), length * math.sin(phase)

# ____________________________________________________________ functions

def c_log(x, y):
    if x == 0.0 and y == 0.0:
        raise ValueError(_DOMAIN)
    return _log(x, y)

_LOG_10 = math.log(10.0)

def c_log10(x, y):
    r, i = c_log(x, y)
    return r / _LOG_10, i / _LOG_10

def c_atanh(x, y):
    if math.fabs(x) == 1.0 and y == 0.0:
        raise ValueError(_DOMAIN)
    return _atanh(x, y)

def _check_range(x, y, r, i):
    if isfinite(x) and isfinite(y) and (math.isinf(r) or math.isinf(i)):
        raise OverflowError(_RANGE)
    return r, i

def c_exp(x, y):
    if math.isinf(y) and (isfinite(x) or x > 0.0):
        raise ValueError(_DOMAIN)
    r, i = _exp(x, y)
    return _check_range(x, y, r, i)

def c_cosh(x, y):
    if math.isinf(y) and not math.isnan(x):
        raise ValueError(_DOMAIN)
    r, i = _cosh(x, y)
    return _check_range(x, y, r, i)

def c_sinh(x, y):
    if math.isinf(y) and not math.isnan(x):
        raise ValueError(_DOMAIN)
    r, i = _sinh(x, y)
    return _check_range(x, y, r, i)

def c_tanh(x, y):
    if math.isinf(y) and isfinite(x):
        raise ValueError(_DOMAIN)
    return _tanh(x, y)

# The circular functions are the hyperbolic ones, turned by a right angle.

def c_cos(r, i):
    return c_cosh(-i, r)

def c_sin(r, i):
    x, y = c_sinh(-i, r)
    return y, -x

def c_tan(r, i):
    x, y = c_tanh(-i, r)
    return y, -x

# ____________________________________________________________ polar coordinates

def c_rect(r, phi):
    if math.isinf(phi) and r != 0.0 and not math.isnan(r):
        raise ValueError(_DOMAIN)
    if phi == 0.0:
        # Keeps the sign of the zero, and an infinite radius from making it nan.
        return r, phi * math.copysign(1.0, r)
    if r == 0.0 and not isfinite(phi):
        return 0.0, 0.0
    if math.isnan(phi) and math.isinf(r):
        return INFINITY, NAN
    if not isfinite(phi):
        return NAN, NAN
    return r * math.cos(phi), r * math.sin(phi)

def c_phase(x, y):
    return math.atan2(y, x)

def c_abs(r, i):
    if math.isinf(r) or math.isinf(i):
        return INFINITY
    if math.isnan(r) or math.isnan(i):
        return NAN
    result = math.hypot(r, i)
    if math.isinf(result):
        raise OverflowError(_RANGE)
    return result

def c_polar(r, i):
    return c_abs(r, i), c_phase(r, i)

def c_isinf(r, i):
    return math.isinf(r) or math.isinf(i)

def c_isnan(r, i):
    return math.isnan(r) or math.isnan(i)

def c_isfinite(r, i):
    return isfinite(r) and isfinite(i)
