"""The functions of `math` under the names by which low-level code calls them."""
import math

from rpython.rlib import rfloat
from rpython.rtyper.lltypesystem import rffi

unary_math_functions = ['acos', 'asin', 'atan', 'ceil', 'cosh', 'exp', 'fabs', 'sinh', 'tan',
                        'tanh', 'acosh', 'asinh', 'atanh', 'expm1']

ll_math_isnan = rfloat.isnan
ll_math_isinf = rfloat.isinf
ll_math_isfinite = rfloat.isfinite

def sqrt_nonneg(x):
    """The square root of a number that has one."""
    return math.sqrt(x)

def ll_math_copysign(x, y):
    return math.copysign(x, y)

def ll_math_atan2(y, x):
    return math.atan2(y, x)

def ll_math_frexp(x):
    return math.frexp(x)

def ll_math_ldexp(x, exp):
    return math.ldexp(x, exp)

def ll_math_modf(x):
    return math.modf(x)

def ll_math_fmod(x, y):
    return math.fmod(x, y)

# As C's, without an error for what is no number.
math_fmod = rffi.llexternal('fmod', [rffi.DOUBLE, rffi.DOUBLE], rffi.DOUBLE)

def ll_math_hypot(x, y):
    return math.hypot(x, y)

def ll_math_pow(x, y):
    return math.pow(x, y)

def ll_math_floor(x):
    return math.floor(x)

def ll_math_sqrt(x):
    return math.sqrt(x)

def ll_math_log(x):
    return math.log(x)

def ll_math_log10(x):
    return math.log10(x)

def ll_math_log1p(x):
    return rfloat.log1p(x)

def ll_math_sin(x):
    return math.sin(x)

def ll_math_cos(x):
    return math.cos(x)

def _calling(function):
    def ll_math(x):
        return function(x)
    return ll_math

for _name in unary_math_functions:
    globals()['ll_math_' + _name] = _calling(getattr(math, _name, None) or getattr(rfloat, _name))
