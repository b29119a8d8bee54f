"""Division of magnitudes as in rbigint_digits."""
from rpython.rlib.objectmodel import always_inline
from rpython.rlib.rarithmetic import intmask, r_uint, r_ulonglonglong, uint_mul_high
from rpython.rlib.rbigint_digits import (
    SHIFT, UMASK, _add_digits, _add_into, _bits_in, _compare_digits, _mul_digits, _product,
    _shifted, _sub_digits, _without_zeroes)

# From how many digits of the divisor on division is multiplication.
RECURSIVE_FROM = 60


def _reciprocal(divisor):
    """By which _divide_words divides: (B * B - 1) // divisor - B, where B is 2 ** 64, for a
    divisor whose highest bit is set."""
    ones = ~r_uint(0)
    return r_uint(((r_ulonglonglong(~divisor) << 64) | r_ulonglonglong(ones)) //
                  r_ulonglonglong(divisor))

@always_inline
def _divide_words(high, low, divisor, reciprocal):
    """Quotient and remainder of two words, the higher of which is below the divisor (Moeller
    and Granlund, Improved Division by Invariant Integers, algorithm 4)."""
    quotient = uint_mul_high(reciprocal, high) + high + 1
    fraction = reciprocal * high + low
    if fraction < low:
        quotient += 1
    remainder = low - quotient * divisor
    if remainder > fraction:
        quotient -= 1
        remainder += divisor
    if remainder >= divisor:
        quotient += 1
        remainder -= divisor
    return quotient, remainder

def _divrem_digit(a, n):
    """Quotient digits and remainder of a division by one digit."""
    result = [0] * len(a)
    if len(a) == 1:
        result[0] = a[0] // n
        return result, a[0] - result[0] * n
    # At least one: digits leave the highest bit of a word free.
    shift = SHIFT + 1 - _bits_in(n)
    divisor = r_uint(n) << shift
    reciprocal = _reciprocal(divisor)
    rest = r_uint(0)
    i = len(a) - 1
    while i >= 0:
        digit = r_uint(a[i])
        high = (rest >> 1) | (digit >> (SHIFT + 1 - shift))
        quotient, rest = _divide_words(high, digit << shift, divisor, reciprocal)
        result[i] = intmask(quotient)
        i -= 1
    return result, intmask(rest >> shift)

def _long_division(a, b):
    """Quotient and remainder, for at least two digits in b and no fewer in a."""
    shift = SHIFT - _bits_in(b[len(b) - 1])
    u = _shifted(a, shift, len(a) + 1)
    v = _shifted(b, shift, len(b))
    quotient, rest = _divide(_without_zeroes(u), v)
    carry = 0
    i = len(rest) - 1
    while i >= 0:
        digit = rest[i]
        rest[i] = (digit >> shift) | carry
        carry = intmask((r_uint(digit) << (SHIFT - shift)) & UMASK)
        i -= 1
    return quotient, rest

def _divide(a, b):
    """Quotient and remainder, both without leading zeroes as a is; the highest bit of b
    is set (Brent and Zimmermann, Modern Computer Arithmetic, 1.4.3)."""
    extra = len(a) - len(b)
    if extra < 0:
        return [], _without_zeroes(a)
    if extra < RECURSIVE_FROM or len(b) < RECURSIVE_FROM:
        return _divide_digits(a, b)
    if extra <= len(b):
        half = extra >> 1
        high, rest = _divide_step(a[2 * half:], a[half:2 * half], b)
        low, rest = _divide_step(rest, a[:half], b)
        return _joined(low, high, half), rest
    # By blocks as long as the divisor, from the highest one on.
    quotient = []
    rest = []
    block = len(b)
    start = (len(a) - 1) // block * block
    while start >= 0:
        stop = min(start + block, len(a))
        assert stop >= 0
        low, rest = _divide(_joined(a[start:stop], rest, stop - start), b)
        quotient = _joined(low, quotient, block)
        start -= block
    return quotient, rest

def _divide_step(high, low, divisor):
    """Divides the digits of both by the higher part of the divisor, which leaves out as
    many digits as low has, and makes up for those then."""
    left_out = len(low)
    quotient, rest = _divide(high, divisor[left_out:])
    product = _without_zeroes(_mul_digits(quotient, divisor[:left_out]))
    rest = _joined(low, rest, left_out)
    while _compare_digits(rest, product) < 0:
        quotient = _without_zeroes(_sub_digits(quotient, [1]))
        rest = _without_zeroes(_add_digits(rest, divisor))
    return quotient, _without_zeroes(_sub_digits(rest, product))

def _joined(low, high, places):
    """high shifted by that many digits, and low; without leading zeroes."""
    result = [0] * (places + len(high))
    for i in range(len(low)):
        result[i] = low[i]
    for i in range(len(high)):
        result[places + i] = high[i]
    return _without_zeroes(result)

def _divide_digits(a, b):
    """Knuth's algorithm D."""
    n = len(b)
    rest = [0] * (len(a) + 1)
    for i in range(len(a)):
        rest[i] = a[i]
    top = r_uint(b[n - 1])
    second = r_uint(b[n - 2])
    reciprocal = _reciprocal(top << 1)
    j = len(a) - n
    quotient = [0] * (j + 1)
    while j >= 0:
        head = r_uint(rest[j + n])
        below = r_uint(rest[j + n - 1])
        if head < top:
            digit, over = _divide_words(head, below << 1, top << 1, reciprocal)
            over >>= 1
        else:
            digit = UMASK
            over = below + top
        third = r_uint(rest[j + n - 2])
        while over <= UMASK:
            high = uint_mul_high(digit << 1, second)
            if high < over or (high == over and ((digit * second) & UMASK) <= third):
                break
            digit -= 1
            over += top
        borrow = _subtract_product(rest, j, digit, b)
        rest[j + n] = 0
        if head < borrow:
            digit -= 1
            _add_into(rest, j, b)
            rest[j + n] = 0
        quotient[j] = intmask(digit)
        j -= 1
    return _without_zeroes(quotient), _without_zeroes(rest)

def _subtract_product(target, start, factor, digits):
    """Takes the factor times the digits from the target's from start on; the result is
    the borrow."""
    double = factor << 1
    carry = r_uint(0)
    for i in range(len(digits)):
        low, high = _product(double, r_uint(digits[i]))
        difference = r_uint(target[start + i]) - low
        high += difference >> SHIFT
        difference = (difference & UMASK) - carry
        target[start + i] = intmask(difference & UMASK)
        carry = high + (difference >> SHIFT)
    return carry
