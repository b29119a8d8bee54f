"""Unicode strings: `taipan_prelude.rstr`. On machines where a character of theirs has four
bytes, also in CPython."""
from hidden import character, natural, number, text, wide, wide_character


def test_items_and_slices():
    s = wide(u'a\u20ac\U00010348')
    assert len(s) == 3
    assert s[number(-1)] == u'\U00010348'
    assert s[natural(1):natural(9)] == u'\u20ac\U00010348'
    assert s[:-1] == u'a\u20ac'
    assert s[natural(3):] == u''

def test_comparison():
    assert wide(u'\u20ac') == u'\u20ac'
    assert wide(u'\u20ac') != u'\u20ad'
    assert wide(u'') == u'' and wide(u'') < u'\x00'
    # By code, not by the halves of surrogate pairs.
    assert wide(u'\uffff') < u'\U00010000'

def test_search():
    s = wide(u'\u20aca\u20ac')
    assert s.find(wide(u'a\u20ac')) == 1
    assert s.find(wide(u'\u20ac'), natural(1)) == 2
    assert s.rfind(wide(u'\u20ac')) == 2
    assert s.count(wide(u'\u20ac')) == 2
    assert wide(u'a') in s
    assert wide_character(u'\u20ad') not in s
    assert s.startswith(wide(u'\u20aca')) and s.endswith(wide(u'\u20ac'))

def test_split_and_join():
    assert wide(u'a\u20acb').split(wide_character(u'\u20ac')) == [u'a', u'b']
    assert wide(u'a\u20acb').rsplit(wide_character(u'\u20ac'), number(1)) == [u'a', u'b']
    assert wide(u'\u20ac').join([wide(u'a'), u'b']) == u'a\u20acb'
    assert u''.join([wide(u'a'), u'b']) == u'ab'
    assert wide(u'-') * number(3) == u'---'

def test_strip():
    # Without an argument this is not RPython.
    assert wide(u'\u3000\x85 a\u2028').strip(None) == u'a'
    assert wide(u'\u3000\x85 a\u2028').lstrip(None) == u'a\u2028'
    assert wide(u'\u3000\x85 a\u2028').rstrip(None) == u'\u3000\x85 a'
    assert wide(u'\x1c\u2000').strip(None) == u''
    assert wide(u'xax').strip(wide_character(u'x')) == u'a'

def test_white_space():
    for c in wide(u' \t\r\x1c\x1f\x85\xa0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000'):
        assert c.isspace()
    for c in wide(u'\x08\x0e\x1b\x84\u200b\u2060\ufeff\U00012000'):
        assert not c.isspace()

def test_from_bytes():
    assert unicode(text('abc')) == u'abc'
    assert unicode(text('')) == u''
    assert not_ascii(text('\x80'))
    assert not not_ascii(text('\x7f'))

def not_ascii(s):
    try:
        unicode(s)
    except UnicodeDecodeError:
        return True
    return False

def test_to_bytes():
    assert str(wide(u'abc')) == 'abc'
    assert str(wide(u'')) == ''
    assert not_narrow(wide(u'\x80'))
    assert not not_narrow(wide(u'\x7f'))

def narrowed(u):
    return str(u)

def not_narrow(u):
    try:
        narrowed(u)
    except UnicodeEncodeError:
        return True
    return False

def test_latin1():
    assert wide(u'\xff\x00').encode('latin-1') == '\xff\x00'
    assert text('\xff\x00').decode('latin-1') == u'\xff\x00'
    assert wide(u'').encode('latin-1') == ''
    assert not_latin1(wide(u'\u0100'))

def not_latin1(u):
    try:
        u.encode('latin-1')
    except UnicodeEncodeError:
        return True
    return False

def test_utf8():
    s = wide(u'\x00\x7f\x80\u07ff\u0800\uffff\U00010000\U0010ffff')
    encoded = ('\x00\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80'
               '\xf4\x8f\xbf\xbf')
    assert s.encode('utf-8') == encoded
    assert text(encoded).decode('utf-8') == s
    assert wide(u'').encode('utf-8') == ''
    assert text('').decode('utf-8') == u''

def test_utf8_of_a_surrogate_pair():
    pair = unichr(number(0xd800)) + unichr(number(0xdf48))
    assert pair.encode('utf-8') == '\xf0\x90\x8d\x88'

def test_utf8_of_half_a_pair():
    assert unichr(number(0xd800)).encode('utf-8') == '\xed\xa0\x80'
    assert (unichr(number(0xdfff)) + u'a').encode('utf-8') == '\xed\xbf\xbfa'
    assert (unichr(number(0xd800)) + unichr(number(0xd800))).encode('utf-8') == (
        '\xed\xa0\x80\xed\xa0\x80')

def not_utf8(s):
    try:
        s.decode('utf-8')
    except UnicodeDecodeError:
        return True
    return False

def test_what_is_no_utf8():
    # Bytes that begin nothing.
    assert not_utf8(text('\x80'))
    assert not_utf8(text('\xff'))
    assert not_utf8(text('\xf5\x80\x80\x80'))
    # Too short.
    assert not_utf8(text('\xc2'))
    assert not_utf8(text('\xe2\x82'))
    assert not_utf8(text('\xf0\x90\x8d'))
    # Bytes that continue nothing.
    assert not_utf8(text('\xc2a'))
    assert not_utf8(text('\xe2\x82a'))
    assert not_utf8(text('\xe2a\x82'))
    # Longer than need be.
    assert not_utf8(text('\xc0\x80'))
    assert not_utf8(text('\xe0\x80\x80'))
    assert not_utf8(text('\xe0\x9f\xbf'))
    assert not_utf8(text('\xf0\x80\x80\x80'))
    assert not_utf8(text('\xf0\x8f\xbf\xbf'))
    # Beyond all characters.
    assert not_utf8(text('\xf4\x90\x80\x80'))

def test_unichr():
    assert unichr(number(0x10ffff)) == u'\U0010ffff'
    assert unichr(number(0)) == u'\x00'
    assert ord(wide_character(u'\U0010ffff')) == 0x10ffff
    assert no_character(number(0x110000))
    assert no_character(number(-1))

def no_character(n):
    try:
        unichr(n)
    except ValueError:
        return True
    return False

def test_characters_of_both_kinds():
    assert unicode(character('a')) == wide_character(u'a')
    assert wide(u'a') + unicode(character('b')) == u'ab'
