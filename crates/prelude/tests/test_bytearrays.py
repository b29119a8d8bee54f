"""bytearray: `taipan_prelude.rbytearray`."""
from hidden import natural, number, text


def test_items():
    b = bytearray(text('abc'))
    assert len(b) == 3
    assert b[number(0)] == 97
    assert b[number(-1)] == 99
    b[number(1)] = number(255)
    b[number(-1)] = number(0)
    assert str(b) == 'a\xff\x00'

def item(b, i):
    try:
        return b[i]
    except IndexError:
        return -1

def test_out_of_bounds():
    b = bytearray(text('ab'))
    assert item(b, number(1)) == 98
    assert item(b, number(2)) == -1
    assert item(b, number(-3)) == -1

def test_copies():
    s = text('abc')
    b = bytearray(s)
    c = bytearray(b)
    b[number(0)] = 120
    assert s == 'abc'
    assert str(c) == 'abc'
    assert str(b) == 'xbc'

def test_slices_and_sums():
    b = bytearray(text('abcde'))
    assert str(b[natural(1):natural(3)]) == 'bc'
    assert str(b[natural(3):]) == 'de'
    assert str(b[natural(3):natural(100)]) == 'de'
    assert str(b[:-1]) == 'abcd'
    assert str(b + bytearray(text('f'))) == 'abcdef'

def test_slices_are_copies():
    b = bytearray(text('abc'))
    c = b[natural(0):natural(3)]
    c[number(0)] = 120
    assert str(b) == 'abc'

def put(b, i, value):
    try:
        b[i] = value
    except IndexError:
        return False
    return True

def test_setting_out_of_bounds():
    b = bytearray(text('ab'))
    assert put(b, number(-2), 120)
    assert not put(b, number(-3), 120)
    assert not put(b, number(2), 120)
    assert str(b) == 'xb'

def test_zeroes():
    assert str(bytearray(number(2))) == '\x00\x00'
    assert len(bytearray(number(0))) == 0
