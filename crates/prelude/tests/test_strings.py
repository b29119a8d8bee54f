"""Byte strings: `taipan_prelude.rstr`."""
from hidden import character, natural, number, text


def item(s, i):
    try:
        return s[i]
    except IndexError:
        return '!'

def test_items():
    s = text('abc')
    assert s[number(0)] == 'a'
    assert s[number(-1)] == 'c'
    assert s[number(-3)] == 'a'
    assert item(s, number(2)) == 'c'
    assert item(s, number(3)) == '!'
    assert item(s, number(-4)) == '!'
    assert item(text(''), number(0)) == '!'

def test_slices():
    s = text('abcde')
    assert s[natural(1):natural(3)] == 'bc'
    assert s[natural(2):] == 'cde'
    assert s[:natural(2)] == 'ab'
    assert s[:-1] == 'abcd'
    assert s[:] == 'abcde'
    assert text('x')[:-1] == ''

def test_slices_past_the_end():
    s = text('abc')
    assert s[natural(1):natural(100)] == 'bc'
    assert s[natural(0):natural(100)] == 'abc'
    assert s[natural(3):] == ''
    assert s[natural(3):natural(5)] == ''
    assert s[natural(2):natural(1)] == ''
    assert text('')[natural(0):natural(1)] == ''

def test_comparison():
    assert text('a') == 'a' and text('a') != 'b'
    assert text('') == '' and text('') != 'a'
    assert text('ab') < 'b' and text('ab') > 'aa'
    assert text('a') < 'ab' and text('ab') >= 'ab' and text('ab') <= 'ab'
    assert text('\xff') > '\x7f'
    assert text('') < '\x00'
    assert text('a\x00b') != 'a\x00c'

def none_or(s):
    if s == '?':
        return None
    return s

def test_comparison_with_none():
    assert none_or(text('?')) == none_or(text('?'))
    assert none_or(text('?')) != none_or(text(''))
    assert none_or(text('')) == ''
    assert none_or(text('?')) < none_or(text(''))
    assert not none_or(text('?')) and not none_or(text(''))
    assert none_or(text('x'))

def test_concatenation():
    assert text('ab') + text('cd') == 'abcd'
    assert text('') + text('') == ''
    assert text('ab') + character('c') == 'abc'
    assert character('a') + text('') == 'a'
    s = text('')
    for i in range(300):
        s += chr(number(97) + i % 26)
    assert len(s) == 300 and s[26] == 'a' and s[299] == 'n'

def test_multiplication():
    assert text('ab') * number(3) == 'ababab'
    assert number(2) * text('ab') == 'abab'
    assert text('ab') * number(0) == ''
    assert text('ab') * number(-1) == ''
    assert text('') * number(0x7fffffffffffffff) == ''
    assert text('abc') * number(1) == 'abc'
    assert text('abc') * number(7) == 'abcabcabcabcabcabcabc'
    assert character('x') * number(3) == 'xxx'
    assert character('x') * number(-3) == ''

def repeated(s, n):
    return s * n

def too_long(s, n):
    try:
        return len(repeated(s, n))
    except MemoryError:
        return -1
    except OverflowError:    # of CPython
        return -1

def test_multiplication_that_does_not_fit():
    assert too_long(text('ab'), number(2)) == 4
    assert too_long(text('ab'), number(0x7fffffffffffffff)) == -1
    assert too_long(text('abcd'), number(1 << 62)) == -1

def test_find():
    s = text('abcabc')
    assert s.find(text('bc')) == 1
    assert s.find(text('bc'), natural(2)) == 4
    assert s.find(text('bc'), natural(2), natural(5)) == -1
    assert s.find(text('bc'), natural(4), natural(6)) == 4
    assert s.find(text('abcabcd')) == -1
    assert s.find(text('c'), natural(0), natural(2)) == -1
    assert s.find(text('b'), natural(5)) == -1
    assert text('').find(text('a')) == -1

def test_find_of_nothing():
    assert text('abc').find(text('')) == 0
    assert text('abc').find(text(''), natural(3)) == 3
    assert text('abc').find(text(''), natural(4)) == -1
    assert text('').find(text('')) == 0
    assert text('abc').rfind(text('')) == 3
    assert text('abc').rfind(text(''), natural(0), natural(2)) == 2
    assert text('abc').rfind(text(''), natural(4)) == -1

def test_find_character():
    s = text('abcabc')
    assert s.find(character('c')) == 2
    assert s.find(character('c'), natural(3)) == 5
    assert s.find(character('c'), natural(3), natural(5)) == -1
    assert s.find(character('c'), natural(3), natural(50)) == 5
    assert s.find(character('a'), natural(7)) == -1
    assert s.rfind(character('a')) == 3
    assert s.rfind(character('a'), natural(4)) == -1
    assert s.rfind(character('a'), natural(0), natural(3)) == 0
    assert text('').rfind(character('a')) == -1

def test_rfind():
    s = text('aaa')
    assert s.rfind(text('aa')) == 1
    assert s.rfind(text('aa'), natural(2)) == -1
    assert s.rfind(text('aa'), natural(0), natural(2)) == 0
    assert s.rfind(text('aaaa')) == -1

def test_count():
    assert text('aaaa').count(text('aa')) == 2
    assert text('aaaa').count(text('aa'), natural(1)) == 1
    assert text('aaaa').count(text('aa'), natural(1), natural(2)) == 0
    assert text('abab').count(character('b')) == 2
    assert text('abab').count(character('b'), natural(2), natural(3)) == 0
    assert text('abc').count(text('')) == 4
    assert text('').count(text('')) == 1
    assert text('abc').count(text(''), natural(1), natural(2)) == 2
    assert text('').count(character('a')) == 0

def test_contains():
    assert text('bc') in text('abcd')
    assert text('bd') not in text('abcd')
    assert text('') in text('')
    assert character('d') in text('abcd')
    assert character('e') not in text('abcd')
    assert character('a') not in text('')

def test_prefix_and_suffix():
    s = text('abcabc')
    assert s.startswith(text('abc')) and s.endswith(text('abc'))
    assert not s.startswith(text('b')) and not s.endswith(text('b'))
    assert s.startswith(text('')) and s.endswith(text(''))
    assert not text('ab').startswith(text('abc'))
    assert not text('bc').endswith(text('abc'))
    assert s.startswith(character('a')) and s.endswith(character('c'))
    assert not text('').startswith(character('a'))
    assert not text('').endswith(character('a'))

def test_strip():
    s = text(' \t\n\x0b\x0c\r a b \r\n')
    assert s.strip() == 'a b'
    assert s.lstrip() == 'a b \r\n'
    assert s.rstrip() == ' \t\n\x0b\x0c\r a b'
    assert text(' \n ').strip() == ''
    assert text('').strip() == ''
    # Not white space, unlike among unicode characters.
    assert text('\x1c\x85\xa0').strip() == '\x1c\x85\xa0'

def test_strip_of_characters():
    assert text('xxaxx').strip(character('x')) == 'a'
    assert text('xxaxx').lstrip(character('x')) == 'axx'
    assert text('xxaxx').rstrip(character('x')) == 'xxa'
    assert text('xyaxyb').strip(text('yxb')) == 'a'
    assert text('xyx').strip(text('xy')) == ''
    assert text('abc').strip(text('')) == 'abc'

def test_case():
    assert text('aZ09[`{\xe4').upper() == 'AZ09[`{\xe4'
    assert text('Az09[`{\xc4').lower() == 'az09[`{\xc4'
    assert text('').upper() == ''

def test_kinds_of_characters():
    assert text('09').isdigit() and not text('0a').isdigit() and not text('').isdigit()
    assert text('azAZ').isalpha() and not text('a1').isalpha() and not text('').isalpha()
    assert text('a1').isalnum() and not text('a_').isalnum() and not text('').isalnum()
    assert not text('\xe4').isalpha()
    for c in text(' \t\n\x0b\x0c\r'):
        assert c.isspace()
    assert not character('\x08').isspace() and not character('\x0e').isspace()
    assert not character('\xa0').isspace()
    assert character('a').islower() and not character('A').islower()
    assert character('Z').isupper() and not character('[').isupper()
    assert not character('@').isalpha() and not character('`').isalpha()
    assert not character('/').isdigit() and not character(':').isdigit()

def test_split():
    assert text('a,b,,c').split(character(',')) == ['a', 'b', '', 'c']
    assert text('').split(character(',')) == ['']
    assert text(',').split(character(',')) == ['', '']
    assert text('a,b,c').split(character(','), number(1)) == ['a', 'b,c']
    assert text('a,b,c').split(character(','), number(0)) == ['a,b,c']
    assert text('a,b,c').split(character(','), number(-1)) == ['a', 'b', 'c']
    assert text('a, b, c').split(text(', ')) == ['a', 'b', 'c']
    assert text('aaa').split(text('aa')) == ['', 'a']
    assert text('a, b, c').split(text(', '), number(1)) == ['a', 'b, c']

def test_rsplit():
    assert text('a,b,,c').rsplit(character(',')) == ['a', 'b', '', 'c']
    assert text('a,b,c').rsplit(character(','), number(1)) == ['a,b', 'c']
    assert text('a,b,c').rsplit(character(','), number(0)) == ['a,b,c']
    assert text('aaa').rsplit(text('aa')) == ['a', '']
    assert text('a, b, c').rsplit(text(', '), number(1)) == ['a, b', 'c']
    assert text('').rsplit(text(', ')) == ['']

def test_split_at_blanks():
    # Without an argument this is not RPython.
    assert text(' a  b\tc\n').split(None) == ['a', 'b', 'c']
    assert text('').split(None) == []
    assert text(' \n').split(None) == []
    assert text('a').split(None) == ['a']
    assert text(' a  b c ').split(None, number(1)) == ['a', 'b c ']
    assert text(' a  b c ').split(None, number(0)) == ['a  b c ']
    assert text(' a  b c ').split(None, number(5)) == ['a', 'b', 'c']
    assert text('  ').split(None, number(0)) == []

def test_splitlines():
    s = text('a\nb\r\nc\rd')
    assert s.splitlines() == ['a', 'b', 'c', 'd']
    assert s.splitlines(True) == ['a\n', 'b\r\n', 'c\r', 'd']
    assert text('').splitlines() == []
    assert text('\n').splitlines() == ['']
    assert text('\n\r').splitlines() == ['', '']
    assert text('a\n').splitlines() == ['a']

def test_replace():
    assert text('abcabc').replace(character('b'), character('x')) == 'axcaxc'
    assert text('').replace(character('b'), character('x')) == ''
    assert text('\x00a').replace(character('\x00'), character('b')) == 'ba'

def test_join():
    assert text(', ').join(['a', text('b'), 'c']) == 'a, b, c'
    assert text('').join([text('a'), 'b']) == 'ab'
    assert text(', ').join([text('a')]) == 'a'
    assert text(', ').join([s for s in text('').split(None)]) == ''
    l = []
    for i in range(100):
        l.append('%d' % number(i))
    assert len(text('-').join(l)) == 289
    assert ''.join(l)[:natural(4)] == '0123'
    assert text('-').join([c for c in text('abc')]) == 'a-b-c'
    assert ''.join([c for c in text('abc')]) == 'abc'
    assert ''.join([c for c in text('')]) == ''

def test_list_of_characters():
    l = list(text('abc'))
    l.append('d')
    assert ''.join(l) == 'abcd'
    assert list(text('')) == []

def test_iteration():
    result = ''
    for c in text('abc'):
        result = c + result
    assert result == 'cba'
    for c in text(''):
        assert False

def test_repr():
    assert repr(text('abc')) == "'abc'"
    assert repr(text('')) == "''"
    assert repr(text("it's")) == '"it\'s"'
    assert repr(text('say "it\'s"')) == '\'say "it\\\'s"\''
    assert repr(text('\t\n\r\\')) == "'\\t\\n\\r\\\\'"
    assert repr(text('\x00\x1f\x7f\x80\xff')) == "'\\x00\\x1f\\x7f\\x80\\xff'"
    assert repr(character('~')) == "'~'"

def test_chr():
    assert chr(number(0)) == '\x00'
    assert chr(number(255)) == '\xff'
    assert ord(character('\xff')) == 255
    assert no_character(number(256))
    assert no_character(number(-1))

def no_character(n):
    try:
        chr(n)
    except ValueError:
        return True
    return False

def test_cmp():
    assert cmp(text('a'), 'b') == -1
    assert cmp(text('b'), 'a') == 1
    assert cmp(text('a'), 'a') == 0
    assert cmp(text('abc'), 'ab') == 1

def test_item_at_a_natural_index():
    assert item(text('ab'), natural(1)) == 'b'
    assert item(text('ab'), natural(2)) == '!'

def test_no_memory_for_a_product():
    s = text('ab')
    try:
        n = len(s * number(1 << 61))
    except MemoryError:
        n = -1
    assert n == -1
