"""The operator %: `taipan_prelude.ll_str`."""
from hidden import character, number, real, text, wide


def test_texts_and_numbers():
    assert '%s and %d' % (text('a'), number(5)) == 'a and 5'
    assert '%s%%' % text('5') == '5%'
    assert '<%s>' % text('') == '<>'
    assert '%d' % number(-0x7fffffffffffffff - 1) == '-9223372036854775808'
    assert '%s' % character('x') == 'x'
    assert '%s' % number(-7) == '-7'

def test_bases():
    assert '%x' % number(255) == 'ff'
    assert '%x' % number(-255) == '-ff'
    assert '%x' % number(0) == '0'
    assert '%X' % number(255) == 'FF'
    assert '%o' % number(8) == '10'
    assert '%o' % number(0) == '0'

def test_widths():
    assert '%5d|' % number(-42) == '  -42|'
    assert '%-5d|' % number(-42) == '-42  |'
    assert '%05d|' % number(-42) == '-0042|'
    assert '%05d|' % number(42) == '00042|'
    assert '%2d|' % number(12345) == '12345|'
    assert '%5s|' % text('ab') == '   ab|'
    assert '%-5s|' % text('ab') == 'ab   |'
    assert '%1s|' % text('') == ' |'
    assert '%04x' % number(10) == '000a'

def test_signs_and_digits():
    assert '%+d' % number(5) == '+5'
    assert '%+d' % number(-5) == '-5'
    assert '%+05d' % number(5) == '+0005'
    assert '%.5d' % number(42) == '00042'
    assert '%.5d' % number(-42) == '-00042'
    assert '%.1d' % number(42) == '42'

def test_lists_and_tuples():
    assert '%s' % ([number(1), 2],) == '[1, 2]'
    assert 'a %s' % str([number(3)]) == 'a [3]'

def test_representations():
    assert '%r' % text("a'b") == '"a\'b"'
    assert '%r' % number(5) == '5'

def test_floats():
    assert '%f' % real(1.5) == '1.500000'
    assert '%.2f' % real(-0.005) == '-0.01'
    assert '%.0f' % real(2.5) == '2'
    assert '%e' % real(12345.678) == '1.234568e+04'
    assert '%g' % real(1e20) == '1e+20'
    assert '%.3f' % real(1e22) == '10000000000000000000000.000'
    assert '%8.2f|' % real(-1.5) == '   -1.50|'
    assert '%-8.2f|' % real(1.5) == '1.50    |'
    assert '%08.2f|' % real(-1.5) == '-0001.50|'

def test_floats_at_the_ends():
    huge = real(1e300) * 1e10
    assert '%f' % huge == 'inf'
    assert '%f' % -huge == '-inf'
    assert '%f' % (huge - huge) == 'nan'
    assert '%f' % real(-0.0) == '-0.000000'
    assert len('%f' % real(1.7976931348623157e308)) == 316
    assert '%.3e' % real(5e-324) == '4.941e-324'

def test_wide_texts():
    assert u'%s|%d' % (wide(u'\u20ac'), number(3)) == u'\u20ac|3'
    assert u'<%s>' % wide(u'') == u'<>'
