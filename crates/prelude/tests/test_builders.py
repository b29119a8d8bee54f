"""StringBuilder and UnicodeBuilder: `taipan_prelude.rbuilder`."""
from hidden import character, natural, number, text, wide, wide_character
from rpython.rlib.rstring import StringBuilder, UnicodeBuilder


def test_pieces():
    b = StringBuilder()
    b.append(text('abc'))
    b.append(text(''))
    b.append(character('d'))
    b.append_slice(text('xyz'), natural(1), natural(3))
    b.append_slice(text('xyz'), natural(2), natural(2))
    b.append_multiple_char(character('-'), natural(3))
    b.append_multiple_char(character('-'), natural(0))
    assert b.getlength() == 9
    assert b.build() == 'abcdyz---'

def test_nothing():
    assert StringBuilder().build() == ''
    assert StringBuilder(natural(1000)).build() == ''
    assert StringBuilder(natural(0)).getlength() == 0

def test_growth():
    b = StringBuilder(natural(3))
    for i in range(5000):
        b.append(chr(97 + i % 26))
    s = b.build()
    assert len(s) == 5000
    for i in range(5000):
        assert ord(s[i]) == 97 + i % 26

def test_growth_by_one_long_piece():
    b = StringBuilder()
    b.append('x' * number(10000))
    b.append(text('y'))
    s = b.build()
    assert len(s) == 10001 and s[10000] == 'y' and s[9999] == 'x'

def test_what_was_built_does_not_change():
    b = StringBuilder(natural(16))
    b.append(text('0123456789abcdef'))
    full = b.build()
    b.append(character('g'))
    assert full == '0123456789abcdef'
    assert b.build() == '0123456789abcdefg'
    part = b.build()
    b.append(text('more'))
    assert part == '0123456789abcdefg'

def test_wide_pieces():
    b = UnicodeBuilder()
    b.append(wide(u'\u20ac'))
    b.append(wide_character(u'\U00010348'))
    b.append_slice(wide(u'abc'), natural(1), natural(2))
    b.append_multiple_char(wide_character(u'-'), natural(2))
    assert b.getlength() == 5
    assert b.build() == u'\u20ac\U00010348b--'
