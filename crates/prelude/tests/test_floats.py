"""Floats and `math`: `taipan_prelude.rfloat` and `rmath`."""
import math

from hidden import number, real, text

INFINITY = 1e300 * 1e300


def not_a_number():
    infinity = real(INFINITY)
    return infinity - infinity

def test_division():
    assert real(7.0) / real(2.0) == 3.5
    assert real(-1.0) / real(INFINITY) == 0.0
    assert number(7) / real(2.0) == 3.5

def test_comparison_of_what_is_no_number():
    nan = not_a_number()
    assert nan != nan
    assert not (nan == nan) and not (nan < 1.0) and not (nan > 1.0)
    assert math.isnan(nan) and not math.isnan(real(INFINITY))
    assert math.isinf(real(-INFINITY)) and not math.isinf(nan)

def test_to_integer():
    assert int(real(2.9)) == 2
    assert int(real(-2.9)) == -2
    assert int(real(-0.0)) == 0

def parsed(s):
    try:
        return float(s)
    except ValueError:
        return -999.0

def test_parsing():
    assert float(text('1.5')) == 1.5
    assert float(text(' -1e10\n')) == -1e10
    assert float(text('+.5')) == 0.5
    assert float(text('5.')) == 5.0
    assert float(text('1e400')) == INFINITY
    assert float(text('1e-400')) == 0.0
    assert float(text('4.9e-324')) == 5e-324
    assert float(text('1.7976931348623157e308')) == 1.7976931348623157e308
    for bad in ['', ' ', '.', '-', 'e5', '1e', '1e+', '1.2.3', '1x', '0x10', '1 2', 'infi']:
        assert parsed(text(bad)) == -999.0

def test_power():
    assert math.pow(real(2.0), real(10.0)) == 1024.0
    assert math.pow(real(-8.0), real(2.0)) == 64.0
    assert math.pow(not_a_number(), real(0.0)) == 1.0
    assert math.pow(real(INFINITY), real(-1.0)) == 0.0
    assert outcome_of_pow(real(-8.0), real(0.5)) == 'ValueError'
    assert outcome_of_pow(real(0.0), real(-1.0)) == 'ValueError'
    assert outcome_of_pow(real(10.0), real(400.0)) == 'OverflowError'

def outcome_of_pow(x, y):
    try:
        math.pow(x, y)
    except ValueError:
        return 'ValueError'
    except OverflowError:
        return 'OverflowError'
    return ''

def outcome_of_sqrt(x):
    try:
        math.sqrt(x)
    except ValueError:
        return 'ValueError'
    return ''

def outcome_of_log(x):
    try:
        math.log(x)
    except ValueError:
        return 'ValueError'
    return ''

def outcome_of_exp(x):
    try:
        math.exp(x)
    except OverflowError:
        return 'OverflowError'
    return ''

def outcome_of_sin(x):
    try:
        math.sin(x)
    except ValueError:
        return 'ValueError'
    return ''

def outcome_of_acos(x):
    try:
        math.acos(x)
    except ValueError:
        return 'ValueError'
    return ''

def outcome_of_fmod(x, y):
    try:
        math.fmod(x, y)
    except ValueError:
        return 'ValueError'
    return ''

def outcome_of_ldexp(x, n):
    try:
        math.ldexp(x, n)
    except OverflowError:
        return 'OverflowError'
    return ''

def outcome_of_hypot(x, y):
    try:
        math.hypot(x, y)
    except OverflowError:
        return 'OverflowError'
    return ''

def test_errors_of_functions():
    assert outcome_of_sqrt(real(-1.0)) == 'ValueError'
    assert outcome_of_sqrt(real(-0.0)) == ''
    assert outcome_of_sqrt(not_a_number()) == ''
    assert outcome_of_log(real(0.0)) == 'ValueError'
    assert outcome_of_log(real(-1.0)) == 'ValueError'
    assert outcome_of_log(real(INFINITY)) == ''
    assert outcome_of_exp(real(1000.0)) == 'OverflowError'
    assert outcome_of_exp(real(-1000.0)) == ''
    assert outcome_of_exp(real(INFINITY)) == ''
    assert outcome_of_sin(real(INFINITY)) == 'ValueError'
    assert outcome_of_sin(not_a_number()) == ''
    assert outcome_of_acos(real(1.5)) == 'ValueError'
    assert outcome_of_acos(real(1.0)) == ''
    assert outcome_of_fmod(real(1.0), real(0.0)) == 'ValueError'
    assert outcome_of_fmod(real(INFINITY), real(1.0)) == 'ValueError'
    assert outcome_of_fmod(real(1.0), real(INFINITY)) == ''
    assert outcome_of_ldexp(real(1.0), number(2000)) == 'OverflowError'
    assert outcome_of_ldexp(real(1.0), number(-2000)) == ''
    assert outcome_of_hypot(real(1.5e308), real(1.5e308)) == 'OverflowError'
    assert outcome_of_hypot(real(INFINITY), real(1.0)) == ''

def test_values_of_functions():
    assert math.floor(real(-1.5)) == -2.0
    assert math.ceil(real(-1.5)) == -1.0
    assert math.fabs(real(-0.0)) == 0.0
    assert math.copysign(real(3.0), real(-0.0)) == -3.0
    assert math.fmod(real(-7.0), real(3.0)) == -1.0
    assert math.hypot(real(3.0), real(4.0)) == 5.0
    assert math.atan2(real(0.0), real(-1.0)) == math.pi
    assert math.log10(real(1000.0)) == 3.0
    assert math.ldexp(real(0.5), number(3)) == 4.0
    assert math.degrees(real(math.pi)) == 180.0

def test_parts():
    mantissa, exponent = math.frexp(real(10.0))
    assert mantissa == 0.625 and exponent == 4
    mantissa, exponent = math.frexp(real(0.0))
    assert mantissa == 0.0 and exponent == 0
    fraction, whole = math.modf(real(-2.5))
    assert fraction == -0.5 and whole == -2.0
    fraction, whole = math.modf(real(-INFINITY))
    assert fraction == 0.0 and whole == -INFINITY
    assert math.copysign(1.0, fraction) == -1.0

def test_minimum_and_maximum():
    assert min(real(1.0), real(-1.0)) == -1.0
    assert max(real(1.0), real(2.0)) == 2.0

def test_more_functions():
    assert abs(math.asin(real(1.0)) - math.pi / 2) < 1e-15
    assert math.atan(real(INFINITY)) == math.pi / 2
    assert math.cos(real(0.0)) == 1.0
    assert abs(math.tan(real(math.pi / 4)) - 1.0) < 1e-15
    assert math.cosh(real(0.0)) == 1.0 and math.sinh(real(0.0)) == 0.0
    assert math.tanh(real(-INFINITY)) == -1.0
    assert math.acosh(real(1.0)) == 0.0 and math.asinh(real(-0.0)) == 0.0
    assert abs(math.atanh(real(0.5)) - 0.5493061443340549) < 1e-15
    assert math.expm1(real(1e-300)) == 1e-300
    assert math.log1p(real(1e-300)) == 1e-300
    assert math.radians(real(180.0)) == math.pi
    assert math.gamma(real(5.0)) == 24.0
    assert abs(math.lgamma(real(10.0)) - 12.801827480081469) < 1e-14
    assert math.erf(real(INFINITY)) == 1.0 and math.erfc(real(0.0)) == 1.0

def outcome_of_cosh(x):
    try:
        math.cosh(x)
    except OverflowError:
        return 'OverflowError'
    return ''

def outcome_of_atanh(x):
    try:
        math.atanh(x)
    except ValueError:
        return 'ValueError'
    return ''

def outcome_of_gamma(x):
    try:
        math.gamma(x)
    except ValueError:
        return 'ValueError'
    except OverflowError:
        return 'OverflowError'
    return ''

def outcome_of_acosh(x):
    try:
        math.acosh(x)
    except ValueError:
        return 'ValueError'
    return ''

def test_more_errors_of_functions():
    assert outcome_of_cosh(real(1000.0)) == 'OverflowError'
    assert outcome_of_cosh(real(INFINITY)) == ''
    assert outcome_of_atanh(real(1.0)) == 'ValueError'
    assert outcome_of_atanh(real(2.0)) == 'ValueError'
    assert outcome_of_atanh(real(0.0)) == ''
    assert outcome_of_gamma(real(0.0)) == 'ValueError'
    assert outcome_of_gamma(real(-1.0)) == 'ValueError'
    assert outcome_of_gamma(real(200.0)) == 'OverflowError'
    assert outcome_of_acosh(real(0.5)) == 'ValueError'

def test_degrees_and_radians():
    """Made by CPython 2.7."""
    assert math.degrees(real(0.5)) == 28.64788975654116
    assert math.degrees(real(-3.75)) == -214.8591731740587
    assert math.degrees(real(1e300)) == 5.729577951308233e+301
    assert math.degrees(real(1e308)) == INFINITY
    assert math.degrees(real(-INFINITY)) == -INFINITY
    assert math.degrees(real(5e-324)) == 2.8e-322
    assert math.radians(real(0.5)) == 0.008726646259971648
    assert math.radians(real(-180.0)) == -math.pi
    assert math.radians(real(1e308)) == 1.7453292519943295e+306
    assert math.radians(real(INFINITY)) == INFINITY
    assert math.radians(real(5e-324)) == 0.0
    assert math.isnan(math.degrees(real(INFINITY) - real(INFINITY)))
    assert math.copysign(1.0, math.radians(real(-0.0))) == -1.0
