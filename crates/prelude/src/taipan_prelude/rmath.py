"""The functions of `math`: the C library's, with Python's exceptions. ValueError
where the result is nan although no argument is; OverflowError where it is infinite
although all arguments are finite."""
from rpython.rtyper.lltypesystem.lltype import Signed
from rpython.rtyper.lltypesystem.lloperation import llop
from taipan_lowlevel import (
    acos, acosh, asin, asinh, atan, atan2, atanh, ceil, copysign, cos, cosh, erf,
    erfc, exp, expm1, fabs, floor, fmod, hypot, lgamma, log, log10, log1p, pow, sin,
    sinh, sqrt, tan, tanh, tgamma, trunc, rpy_float_frexp_mantissa,
    rpy_float_frexp_exponent, rpy_float_ldexp)


def ll_math_isnan(x):
    return x != x

def ll_math_isinf(x):
    return x == x and x - x != 0.0

def ll_math_isfinite(x):
    return x - x == 0.0

def checked(x, result):
    """Of one argument."""
    if result - result != 0.0 and x - x == 0.0:
        if result != result:
            raise ValueError
        raise OverflowError
    if result != result and x == x:
        raise ValueError
    return result

def pole(x, result):
    """The same where infinity stands for a pole."""
    if result - result != 0.0 and x - x == 0.0:
        raise ValueError
    if result != result and x == x:
        raise ValueError
    return result

def ll_math_acos(x):
    return checked(x, acos(x))

def ll_math_acosh(x):
    return checked(x, acosh(x))

def ll_math_asin(x):
    return checked(x, asin(x))

def ll_math_asinh(x):
    return asinh(x)

def ll_math_atan(x):
    return atan(x)

def ll_math_atanh(x):
    return pole(x, atanh(x))

def ll_math_atan2(y, x):
    return atan2(y, x)

def ll_math_ceil(x):
    return ceil(x)

def ll_math_floor(x):
    return floor(x)

def ll_math_fabs(x):
    return fabs(x)

def ll_math_copysign(x, y):
    return copysign(x, y)

def ll_math_cos(x):
    return checked(x, cos(x))

def ll_math_sin(x):
    return checked(x, sin(x))

def ll_math_tan(x):
    return checked(x, tan(x))

def ll_math_cosh(x):
    return checked(x, cosh(x))

def ll_math_sinh(x):
    return checked(x, sinh(x))

def ll_math_tanh(x):
    return tanh(x)

def ll_math_exp(x):
    return checked(x, exp(x))

def ll_math_expm1(x):
    return checked(x, expm1(x))

def ll_math_erf(x):
    return erf(x)

def ll_math_erfc(x):
    return erfc(x)

def ll_math_gamma(x):
    if x == 0.0:
        raise ValueError
    return checked(x, tgamma(x))

def ll_math_lgamma(x):
    if x <= 0.0 and x == floor(x) and x - x == 0.0:
        raise ValueError
    return checked(x, lgamma(x))

def ll_math_sqrt(x):
    if x < 0.0:
        raise ValueError
    return sqrt(x)

def ll_math_log(x):
    if x <= 0.0:
        raise ValueError
    return log(x)

def ll_math_log10(x):
    if x <= 0.0:
        raise ValueError
    return log10(x)

def ll_math_log1p(x):
    if x == 0.0:
        return x
    if x <= -1.0:
        if x == -1.0:
            raise OverflowError
        raise ValueError
    return log1p(x)

def ll_math_fmod(x, y):
    result = fmod(x, y)
    if result != result and x == x and y == y:
        raise ValueError
    return result

def ll_math_hypot(x, y):
    result = hypot(x, y)
    if result - result != 0.0 and x - x == 0.0 and y - y == 0.0:
        raise OverflowError
    return result

def ll_math_pow(x, y):
    result = pow(x, y)
    if result - result != 0.0:
        if result != result:
            if x == x and y == y:
                raise ValueError
        elif x == 0.0:
            raise ValueError
        elif x - x == 0.0 and y - y == 0.0:
            raise OverflowError
    return result

def ll_math_ldexp(x, exponent):
    result = rpy_float_ldexp(x, exponent)
    if result - result != 0.0 and x - x == 0.0:
        raise OverflowError
    return result

def ll_math_frexp_mantissa(x):
    return rpy_float_frexp_mantissa(x)

def ll_math_frexp_exponent(x):
    return rpy_float_frexp_exponent(x)

def ll_math_modf_fraction(x):
    if x - x != 0.0 and x == x:
        return copysign(0.0, x)
    return copysign(x - trunc(x), x)

def ll_math_modf_integer(x):
    return trunc(x)

def ll_float_as_int(x):
    """int(x) for ovfcheck_float_to_int."""
    if x >= -9223372036854775808.0 and x < 9223372036854775808.0:
        return llop.cast_float_to_int(Signed, x)
    raise OverflowError

def ll_math_degrees(x):
    return x * 57.29577951308232

def ll_math_radians(x):
    return x * 0.017453292519943295
