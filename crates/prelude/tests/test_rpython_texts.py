"""Texts that are others in RPython than in Python."""
from hidden import number, real, text, truth
from rpython.rlib.objectmodel import compute_hash
from rpython.rlib.rarithmetic import string_to_int
from rpython.rlib.rfloat import DTSF_ADD_DOT_0, DTSF_SIGN, formatd
from rpython.rlib.rstring import ParseStringError, ParseStringOverflowError


def test_truth_values():
    assert str(truth(True)) == '1'
    assert str(truth(False)) == '0'

def test_floats():
    assert str(real(1.5)) == '1.500000'
    assert str(real(-0.0)) == '-0.000000'
    assert str(real(1e22)) == '10000000000000000000000.000000'
    assert '%s' % real(0.25) == '0.250000'

def test_formatd():
    assert formatd(real(1.0), 'r', 0, DTSF_ADD_DOT_0) == '1.0'
    assert formatd(real(0.1), 'r', 0) == '0.1'
    assert formatd(real(1e22), 'r', 0, DTSF_ADD_DOT_0) == '1e+22'
    assert formatd(real(5e-324), 'r', 0) == '5e-324'
    assert formatd(real(1.7976931348623157e308), 'r', 0) == '1.7976931348623157e+308'
    assert formatd(real(3.0), 'g', 3, DTSF_SIGN) == '+3'
    assert formatd(real(0.0), 'e', 0) == '0e+00'
    assert formatd(real(1e300) * 1e300, 'r', 0) == 'inf'

def no_float(s):
    try:
        float(s)
    except ValueError:
        return True
    return False

def test_words_are_no_floats():
    assert no_float(text('inf'))
    assert no_float(text('-Infinity'))
    assert no_float(text('nan'))

class Thing(object):
    pass

def test_instances():
    thing = Thing()
    shown = str(thing)
    assert shown.startswith('<')
    assert shown.find('Thing object at 0x') > 0
    assert shown.endswith('>')
    assert shown != str(Thing())
    assert shown == str(thing)

def none_or_text(n):
    if n == 0:
        return None
    return text('a')

def test_none():
    assert '%s' % none_or_text(number(0)) == 'None'
    assert '%s' % none_or_text(number(1)) == 'a'

def parsed(s, base):
    try:
        return string_to_int(s, base)
    except ParseStringOverflowError:
        return -888
    except ParseStringError:
        return -999

def test_string_to_int():
    assert parsed(text('0x1f'), number(16)) == 31
    assert parsed(text('0x1f'), number(0)) == 31
    assert parsed(text('017'), number(0)) == 15
    assert parsed(text('0b101'), number(0)) == 5
    assert parsed(text(' 12 '), number(10)) == 12
    assert parsed(text('-9223372036854775808'), number(10)) == -0x7fffffffffffffff - 1
    assert parsed(text('9223372036854775808'), number(10)) == -888
    assert parsed(text('-9223372036854775809'), number(10)) == -888
    assert parsed(text(''), number(10)) == -999
    assert parsed(text('1'), number(99)) == -999

def test_hashes():
    assert compute_hash(text('')) == -1
    assert compute_hash(text('a')) == 12416037344
    assert compute_hash(number(-1)) == -1
    assert compute_hash((number(1), text('ab'))) == compute_hash((1, 'ab'))
    assert compute_hash(real(1.5)) == compute_hash(real(3.0) / 2.0)
    assert compute_hash(real(1e300) * 1e300) == 314159
