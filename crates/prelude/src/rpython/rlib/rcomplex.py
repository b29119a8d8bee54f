"""Complex numbers as pairs of floats, real part first.

For finite numbers the functions are Kahan's formulas ("Branch cuts for complex elementary
functions"), step by step as everywhere in Python, so that results are the same to the last
bit. For infinities and nan they are the C library's. ValueError stands for a pole or where
there is no limit, OverflowError where a finite number gives an infinite one.
"""
import math

from rpython.rlib.rfloat import INFINITY, NAN, asinh, isfinite, log1p
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.translator.tool.cbuild import ExternalCompilationInfo

_NAMES = ['sqrt', 'acos', 'acosh', 'asinh', 'atanh', 'log', 'exp', 'cosh', 'sinh', 'tanh']

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

(_sqrt, _acos, _acosh, _asinh, _atanh, _log, _exp, _cosh, _sinh,
 _tanh) = [_function(_name) for _name in _NAMES]

_LN_2 = math.log(2.0)
_LARGEST = 1.7976931348623157e308
_SMALLEST = 2.2250738585072014e-308
_BITS = 53
# Beyond these, sums, squares and exponentials may leave the range.
_LARGE = _LARGEST / 4.0
_LARGE_ROOT = math.sqrt(_LARGE)
_LARGE_LOG = math.log(_LARGE)
_SMALLEST_ROOT = math.sqrt(_SMALLEST)

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

def _are_finite(x, y):
    return isfinite(x) and isfinite(y)

def _are_large(x, y):
    return math.fabs(x) > _LARGE or math.fabs(y) > _LARGE

def _log_of_large(x, y):
    """log(hypot(x, y)), whose hypot() may be infinite."""
    return math.log(math.hypot(x / 2.0, y / 2.0)) + _LN_2

def c_sqrt(x, y):
    if not _are_finite(x, y):
        return _sqrt(x, y)
    if x == 0.0 and y == 0.0:
        return 0.0, y
    ax, ay = math.fabs(x), math.fabs(y)
    if ax < _SMALLEST and ay < _SMALLEST:
        # Too few bits are left: scaled up by an even power of two, and down by half of it.
        up = 2 * (_BITS // 2) + 1
        ax = math.ldexp(ax, up)
        root = math.ldexp(math.sqrt(ax + math.hypot(ax, math.ldexp(ay, up))), -(up + 1) // 2)
    else:
        ax /= 8.0
        root = 2.0 * math.sqrt(ax + math.hypot(ax, ay / 8.0))
    other = ay / (2.0 * root)
    if x >= 0.0:
        return root, math.copysign(other, y)
    return other, math.copysign(root, y)

def c_acos(x, y):
    if not _are_finite(x, y):
        return _acos(x, y)
    if _are_large(x, y):
        size = math.log(math.hypot(x / 2.0, y / 2.0)) + _LN_2 * 2.0
        real = math.atan2(math.fabs(y), x)
        # The sign of a zero decides on which side of the cut it is.
        if x < 0.0:
            return real, -math.copysign(size, y)
        return real, math.copysign(size, -y)
    ax, ay = c_sqrt(1.0 - x, -y)
    bx, by = c_sqrt(1.0 + x, y)
    return 2.0 * math.atan2(ax, bx), asinh(bx * ay - by * ax)

def c_acosh(x, y):
    if not _are_finite(x, y):
        if x == 0.0 and y != y:
            # Not pi / 2, as C has it.
            return y, y
        return _acosh(x, y)
    if _are_large(x, y):
        return math.log(math.hypot(x / 2.0, y / 2.0)) + _LN_2 * 2.0, math.atan2(y, x)
    ax, ay = c_sqrt(x - 1.0, y)
    bx, by = c_sqrt(x + 1.0, y)
    return asinh(ax * bx + ay * by), 2.0 * math.atan2(ay, bx)

def c_asinh(x, y):
    if not _are_finite(x, y):
        return _asinh(x, y)
    if _are_large(x, y):
        size = math.log(math.hypot(x / 2.0, y / 2.0)) + _LN_2 * 2.0
        real = math.copysign(size, x)
        if y < 0.0:
            real = -math.copysign(size, -x)
        return real, math.atan2(y, math.fabs(x))
    ax, ay = c_sqrt(1.0 + y, -x)
    bx, by = c_sqrt(1.0 - y, x)
    return asinh(ax * by - bx * ay), math.atan2(y, ax * bx - ay * by)

def c_atanh(x, y):
    if not _are_finite(x, y):
        return _atanh(x, y)
    if x < 0.0:
        r, i = _atanh_of_right(-x, -y)
        return -r, -i
    return _atanh_of_right(x, y)

def _atanh_of_right(x, y):
    ay = math.fabs(y)
    if x > _LARGE_ROOT or ay > _LARGE_ROOT:
        # 1/z, and a right angle.
        h = math.hypot(x / 2.0, y / 2.0)
        return x / 4.0 / h / h, -math.copysign(math.pi / 2.0, -y)
    if x == 1.0 and ay < _SMALLEST_ROOT:
        if ay == 0.0:
            raise ValueError(_DOMAIN)
        return (-math.log(math.sqrt(ay) / math.sqrt(math.hypot(ay, 2.0))),
                math.copysign(math.atan2(2.0, -ay) / 2, y))
    left = 1 - x
    return (log1p(4.0 * x / (left * left + ay * ay)) / 4.0,
            -math.atan2(-2.0 * y, left * (1 + x) - ay * ay) / 2.0)

# Those on the imaginary axis are those on the real one, turned by a right angle.

def c_asin(x, y):
    r, i = c_asinh(-y, x)
    return i, -r

def c_atan(x, y):
    r, i = c_atanh(-y, x)
    return i, -r

def c_log(x, y):
    if not _are_finite(x, y):
        return _log(x, y)
    ax, ay = math.fabs(x), math.fabs(y)
    if ax > _LARGE or ay > _LARGE:
        real = _log_of_large(ax, ay)
    elif ax < _SMALLEST and ay < _SMALLEST:
        if ax == 0.0 and ay == 0.0:
            raise ValueError(_DOMAIN)
        real = math.log(math.hypot(math.ldexp(ax, _BITS), math.ldexp(ay, _BITS)))
        real -= _BITS * _LN_2
    else:
        h = math.hypot(ax, ay)
        if 0.71 <= h <= 1.73:
            # Near one, the difference to one tells more than the number.
            more, less = max(ax, ay), min(ax, ay)
            real = log1p((more - 1) * (more + 1) + less * less) / 2.0
        else:
            real = math.log(h)
    return real, math.atan2(y, x)

_LN_10 = math.log(10.0)

def c_log10(x, y):
    r, i = c_log(x, y)
    return r / _LN_10, i / _LN_10

def _in_range(r, i):
    if math.isinf(r) or math.isinf(i):
        raise OverflowError(_RANGE)
    return r, i

def c_exp(x, y):
    if not _are_finite(x, y):
        if math.isinf(y) and (isfinite(x) or x > 0.0):
            raise ValueError(_DOMAIN)
        return _exp(x, y)
    if x > _LARGE_LOG:
        # The sine or cosine may bring it back into range.
        size = math.exp(x - 1.0)
        return _in_range(size * math.cos(y) * math.e, size * math.sin(y) * math.e)
    size = math.exp(x)
    return _in_range(size * math.cos(y), size * math.sin(y))

def c_cosh(x, y):
    if not _are_finite(x, y):
        if math.isinf(y) and not math.isnan(x):
            raise ValueError(_DOMAIN)
        return _cosh(x, y)
    if math.fabs(x) > _LARGE_LOG:
        less = x - math.copysign(1.0, x)
        return _in_range(math.cos(y) * math.cosh(less) * math.e,
                         math.sin(y) * math.sinh(less) * math.e)
    return _in_range(math.cos(y) * math.cosh(x), math.sin(y) * math.sinh(x))

def c_sinh(x, y):
    if not _are_finite(x, y):
        if math.isinf(y) and not math.isnan(x):
            raise ValueError(_DOMAIN)
        return _sinh(x, y)
    if math.fabs(x) > _LARGE_LOG:
        less = x - math.copysign(1.0, x)
        return _in_range(math.cos(y) * math.sinh(less) * math.e,
                         math.sin(y) * math.cosh(less) * math.e)
    return _in_range(math.cos(y) * math.sinh(x), math.sin(y) * math.cosh(x))

def c_tanh(x, y):
    if not _are_finite(x, y):
        if math.isinf(y) and isfinite(x):
            raise ValueError(_DOMAIN)
        if x == 0.0:
            # Newer standards of C say that the real part is zero.
            return NAN, NAN
        return _tanh(x, y)
    if math.fabs(x) > _LARGE_LOG:
        return (math.copysign(1.0, x),
                4.0 * math.sin(y) * math.cos(y) * math.exp(-2.0 * math.fabs(x)))
    tx = math.tanh(x)
    ty = math.tan(y)
    cx = 1.0 / math.cosh(x)
    product = tx * ty
    below = 1.0 + product * product
    return tx * (1.0 + ty * ty) / below, ((ty / below) * cx) * cx

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
