"""Integers: `taipan_prelude.rint`, and their texts: `taipan_prelude.ll_str`."""
from hidden import number, text
from rpython.rlib.rarithmetic import intmask, ovfcheck, r_longlonglong, r_uint

BIGGEST = 0x7fffffffffffffff
SMALLEST = -0x7fffffffffffffff - 1


def test_division_rounds_down():
    assert number(7) // number(2) == 3
    assert number(-7) // number(2) == -4
    assert number(7) // number(-2) == -4
    assert number(-7) // number(-2) == 3
    assert number(-8) // number(2) == -4
    assert number(0) // number(-5) == 0
    assert number(SMALLEST) // number(1) == SMALLEST
    assert number(SMALLEST) // number(BIGGEST) == -2
    assert number(BIGGEST) // number(SMALLEST) == -1
    assert number(-1) // number(BIGGEST) == -1

def test_remainder_has_the_sign_of_the_divisor():
    assert number(7) % number(2) == 1
    assert number(-7) % number(2) == 1
    assert number(7) % number(-2) == -1
    assert number(-7) % number(-2) == -1
    assert number(-8) % number(2) == 0
    assert number(SMALLEST) % number(BIGGEST) == BIGGEST - 1
    assert number(BIGGEST) % number(SMALLEST) == -1
    assert number(5) % number(SMALLEST) == SMALLEST + 5

def test_division_by_constants():
    for n in [number(-9), -8, -1, 0, 1, 7, 8, 9, SMALLEST, BIGGEST]:
        assert n // 8 == n >> 3
        assert n % 8 == n & 7
        assert n // 7 * 7 + n % 7 == n
        assert 0 <= n % 7 < 7
        assert -7 < n % -7 <= 0

def divided(x, y):
    try:
        return x // y
    except ZeroDivisionError:
        return -1000

def remainder(x, y):
    try:
        return x % y
    except ZeroDivisionError:
        return -1000

def test_division_by_zero():
    assert divided(number(5), number(0)) == -1000
    assert divided(number(5), number(2)) == 2
    assert remainder(number(5), number(0)) == -1000
    assert remainder(number(-5), number(3)) == 1

def test_division_that_overflows():
    assert divided_checked(number(SMALLEST), number(-1)) == -1
    assert divided_checked(number(SMALLEST), number(1)) == SMALLEST
    assert divided_checked(number(7), number(-2)) == -4
    assert divided_checked(number(7), number(0)) == -2

def divided_checked(x, y):
    try:
        return ovfcheck(x // y)
    except OverflowError:
        return -1
    except ZeroDivisionError:
        return -2

def test_checked_operations():
    assert added(number(BIGGEST), number(0)) == BIGGEST
    assert added(number(BIGGEST), number(1)) == -5
    assert added(number(SMALLEST), number(-1)) == -5
    assert subtracted(number(SMALLEST), number(1)) == -5
    assert subtracted(number(-1), number(SMALLEST)) == BIGGEST
    assert subtracted(number(0), number(SMALLEST)) == -5
    assert multiplied(number(1 << 32), number(1 << 30)) == 1 << 62
    assert multiplied(number(1 << 32), number(1 << 31)) == -5
    assert multiplied(number(-1 << 32), number(1 << 31)) == SMALLEST
    assert multiplied(number(SMALLEST), number(-1)) == -5
    assert negated(number(BIGGEST)) == -BIGGEST
    assert negated(number(SMALLEST)) == -5
    assert absolute(number(-3)) == 3
    assert absolute(number(SMALLEST)) == -5
    assert shifted(number(1), number(62)) == 1 << 62
    assert shifted(number(1), number(63)) == -5
    assert shifted(number(-1), number(63)) == SMALLEST
    assert shifted(number(-1) - 1, number(63)) == -5
    assert shifted(number(0), number(63)) == 0

def added(x, y):
    try:
        return ovfcheck(x + y)
    except OverflowError:
        return -5

def subtracted(x, y):
    try:
        return ovfcheck(x - y)
    except OverflowError:
        return -5

def multiplied(x, y):
    try:
        return ovfcheck(x * y)
    except OverflowError:
        return -5

def negated(x):
    try:
        return ovfcheck(-x)
    except OverflowError:
        return -5

def absolute(x):
    try:
        return ovfcheck(abs(x))
    except OverflowError:
        return -5

def shifted(x, y):
    try:
        return ovfcheck(x << y)
    except OverflowError:
        return -5

def test_arithmetic_that_wraps():
    assert intmask(number(BIGGEST) + 1) == SMALLEST
    assert intmask(number(SMALLEST) * -1) == SMALLEST
    assert intmask(number(BIGGEST) * number(BIGGEST)) == 1

def test_unsigned_numbers():
    most = r_uint(number(-1))
    assert most // r_uint(2) == r_uint(BIGGEST)
    assert most % r_uint(10) == r_uint(5)
    assert most > r_uint(1)
    assert str(most) == '18446744073709551615'
    assert intmask(most + r_uint(1)) == 0
    assert most >> r_uint(63) == r_uint(1)
    try:
        most // r_uint(number(0))
    except ZeroDivisionError:
        pass
    else:
        assert False

def test_wide_numbers():
    n = r_longlonglong(number(BIGGEST))
    square = n * n
    assert str(square) == '85070591730234615847396907784232501249'
    assert str(-square) == '-85070591730234615847396907784232501249'
    assert str(r_longlonglong(number(0))) == '0'
    assert square // n == n
    assert (-square - r_longlonglong(1)) // n == -n - r_longlonglong(1)
    assert (-square - r_longlonglong(1)) % n == n - r_longlonglong(1)
    assert (square + r_longlonglong(1)) % -n == r_longlonglong(1) - n

def test_decimal():
    assert str(number(0)) == '0'
    assert str(number(9)) == '9'
    assert str(number(10)) == '10'
    assert str(number(-1)) == '-1'
    assert str(number(BIGGEST)) == '9223372036854775807'
    assert str(number(SMALLEST)) == '-9223372036854775808'
    assert '%d' % number(SMALLEST) == '-9223372036854775808'

def test_other_bases():
    assert hex(number(0)) == '0x0'
    assert hex(number(255)) == '0xff'
    assert hex(number(-255)) == '-0xff'
    assert hex(number(BIGGEST)) == '0x7fffffffffffffff'
    assert hex(number(SMALLEST)) == '-0x8000000000000000'
    assert oct(number(0)) == '0'
    assert oct(number(8)) == '010'
    assert oct(number(-8)) == '-010'
    assert oct(number(SMALLEST)) == '-01000000000000000000000'

def parsed(s, base):
    try:
        return int(s, base)
    except ValueError:
        return -999

def test_parsing():
    assert int(text('12')) == 12
    assert int(text('-12')) == -12
    assert int(text('+12')) == 12
    assert int(text('  12  ')) == 12
    assert int(text('9223372036854775807')) == BIGGEST
    assert int(text('-9223372036854775808')) == SMALLEST
    assert parsed(text('ff'), number(16)) == 255
    assert parsed(text('-FF'), number(16)) == -255
    assert parsed(text('zZ'), number(36)) == 35 * 36 + 35
    assert parsed(text('12'), number(2)) == -999
    assert parsed(text(''), number(10)) == -999
    assert parsed(text('-'), number(10)) == -999
    assert parsed(text(' '), number(10)) == -999
    assert parsed(text('1 2'), number(10)) == -999
    assert parsed(text('1x'), number(10)) == -999
    assert parsed(text('1'), number(37)) == -999
    assert parsed(text('1'), number(1)) == -999

def test_minimum_and_maximum():
    assert min(number(3), number(-3)) == -3
    assert max(number(3), number(-3)) == 3
    assert max(number(SMALLEST), number(BIGGEST)) == BIGGEST

def test_truth_values_are_numbers():
    yes = number(1) == 1
    assert yes + yes == 2
    assert int(yes) == 1 and int(not yes) == 0
    assert yes == (number(2) == 2)

def test_binary():
    assert bin(number(0)) == '0b0'
    assert bin(number(5)) == '0b101'
    assert bin(number(-5)) == '-0b101'
    assert bin(number(SMALLEST)) == '-0b1' + '0' * 63

def no_wide_quotient(x, y):
    try:
        x // y
    except ZeroDivisionError:
        return True
    return False

def no_wide_remainder(x, y):
    try:
        x % y
    except ZeroDivisionError:
        return True
    return False

def test_division_of_wide_numbers_by_zero():
    n = r_longlonglong(number(5))
    assert no_wide_quotient(n, r_longlonglong(number(0)))
    assert no_wide_remainder(n, r_longlonglong(number(0)))
    assert not no_wide_quotient(n, r_longlonglong(number(-1)))
    assert not no_wide_remainder(n, r_longlonglong(number(-1)))

def unsigned_remainder(x, y):
    try:
        return x % y
    except ZeroDivisionError:
        return r_uint(99)

def test_remainder_of_unsigned_numbers():
    assert unsigned_remainder(r_uint(number(-1)), r_uint(number(10))) == r_uint(5)
    assert unsigned_remainder(r_uint(number(1)), r_uint(number(0))) == r_uint(99)

def remainder_checked(x, y):
    try:
        return ovfcheck(x % y)
    except OverflowError:
        return -1
    except ZeroDivisionError:
        return -2

def test_remainder_that_overflows():
    # CPython has a long for what the machine cannot divide.
    assert remainder_checked(number(SMALLEST), number(3)) == 1
    assert remainder_checked(number(-7), number(3)) == 2
    assert remainder_checked(number(-7), number(0)) == -2
