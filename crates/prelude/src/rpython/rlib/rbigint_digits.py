"""Magnitudes of big integers: lists of 63-bit digits, lowest first.

Sums of two digits and a carry fit an unsigned word, differences a signed one. Of a product
with one factor doubled, the upper word is the upper digit, and the lower word is twice the
lower one. Loops do first what does not depend on the carry of the round before.
"""
from rpython.rlib.objectmodel import always_inline
from rpython.rlib.rarithmetic import intmask, r_uint, r_ulonglonglong

SHIFT = 63
MASK = (1 << SHIFT) - 1
UMASK = r_uint(MASK)
KARATSUBA_CUTOFF = 38


@always_inline
def _product(doubled, digit):
    """Lower and upper digit of a product, of which one factor comes doubled."""
    product = r_ulonglonglong(doubled) * r_ulonglonglong(digit)
    return r_uint(product) >> 1, r_uint(product >> 64)

def _bits_in(digit):
    bits = 0
    rest = r_uint(digit)
    while rest >= 256:
        rest >>= 8
        bits += 8
    while rest:
        rest >>= 1
        bits += 1
    return bits

def _compare_digits(a, b):
    if len(a) != len(b):
        return len(a) - len(b)
    i = len(a) - 1
    while i >= 0:
        if a[i] != b[i]:
            return a[i] - b[i]
        i -= 1
    return 0

def _add_digits(a, b):
    if len(a) < len(b):
        a, b = b, a
    result = [0] * len(a)
    carry = r_uint(0)
    for i in range(len(b)):
        carry += r_uint(a[i]) + r_uint(b[i])
        result[i] = intmask(carry & UMASK)
        carry >>= SHIFT
    for i in range(len(b), len(a)):
        carry += r_uint(a[i])
        result[i] = intmask(carry & UMASK)
        carry >>= SHIFT
    if carry:
        # Seldom: most highest digits are small.
        return result + [1]
    return result

def _sub_digits(a, b):
    """a must not be smaller."""
    result = [0] * len(a)
    borrow = 0
    for i in range(len(b)):
        borrow = a[i] - b[i] - borrow
        result[i] = borrow & MASK
        borrow = (borrow >> SHIFT) & 1
    for i in range(len(b), len(a)):
        borrow = a[i] - borrow
        result[i] = borrow & MASK
        borrow = (borrow >> SHIFT) & 1
    return result

def _mul_digits(a, b):
    if len(a) == 1 and len(b) == 1:
        low, high = _product(r_uint(a[0]) << 1, r_uint(b[0]))
        if high:
            return [intmask(low), intmask(high)]
        return [intmask(low)]
    if a is b:
        return _square_digits(a)
    if len(a) > len(b):
        a, b = b, a
    if len(a) == 1:
        return _times_digit(b, a[0])
    if len(a) > KARATSUBA_CUTOFF:
        return _karatsuba(a, b)
    result = [0] * (len(a) + len(b))
    for i in range(len(a)):
        if a[i]:
            result[i + len(b)] = _add_product(result, i, a[i], b, 0)
    return result

def _times_digit(digits, factor):
    result = [0] * (len(digits) + 1)
    double = r_uint(factor) << 1
    carry = r_uint(0)
    for i in range(len(digits)):
        low, high = _product(double, r_uint(digits[i]))
        low += carry
        result[i] = intmask(low & UMASK)
        carry = high + (low >> SHIFT)
    result[len(digits)] = intmask(carry)
    return result

def _square_digits(a):
    """Every product of two different digits counts twice, but is made once."""
    n = len(a)
    if n > KARATSUBA_CUTOFF:
        return _karatsuba(a, a)
    result = [0] * (2 * n)
    for i in range(n):
        result[i + n] = _add_product(result, i, a[i], a, i + 1)
    carry = r_uint(0)
    for i in range(n):
        digit = r_uint(a[i])
        low, high = _product(digit << 1, digit)
        low, carry = _plus_twice(low + carry, high, result[2 * i])
        result[2 * i] = intmask(low)
        low, carry = _plus_twice(carry, r_uint(0), result[2 * i + 1])
        result[2 * i + 1] = intmask(low)
    return result

@always_inline
def _plus_twice(low, carry, digit):
    """The digit of low + 2 * digit, and the carry with what is above it."""
    carry += (low >> SHIFT) + (r_uint(digit) >> (SHIFT - 1))
    low = (low & UMASK) + ((r_uint(digit) << 1) & UMASK)
    return low & UMASK, carry + (low >> SHIFT)

def _add_product(target, start, factor, digits, first):
    """Adds the factor times the digits from that one on, which is that many places
    further on in the target; the result is the carry."""
    double = r_uint(factor) << 1
    carry = r_uint(0)
    for j in range(first, len(digits)):
        low, high = _product(double, r_uint(digits[j]))
        low += r_uint(target[start + j])
        high += low >> SHIFT
        low = (low & UMASK) + carry
        target[start + j] = intmask(low & UMASK)
        carry = high + (low >> SHIFT)
    return intmask(carry)

def _karatsuba(a, b):
    """Three products of half the length; where b is much longer, one after the other
    of its slices."""
    if 2 * len(a) <= len(b):
        result = [0] * (len(a) + len(b))
        start = 0
        while start < len(b):
            stop = min(start + len(a), len(b))
            assert start >= 0
            assert stop >= 0
            _add_into(result, start, _mul_digits(a, b[start:stop]))
            start = stop
        return result
    half = len(b) >> 1
    a0 = a[:half]
    a1 = a[half:]
    if a is b:
        low = _square_digits(a0)
        high = _square_digits(a1)
        middle = _square_digits(_add_digits(a0, a1))
    else:
        b0 = b[:half]
        b1 = b[half:]
        low = _mul_digits(a0, b0)
        high = _mul_digits(a1, b1)
        middle = _mul_digits(_add_digits(a0, a1), _add_digits(b0, b1))
    middle = _sub_digits(middle, _trimmed(low, len(middle)))
    middle = _sub_digits(middle, _trimmed(high, len(middle)))
    result = [0] * (len(a) + len(b))
    _add_into(result, 0, low)
    _add_into(result, half, middle)
    _add_into(result, 2 * half, high)
    return result

def _trimmed(digits, size):
    """Without leading zeroes beyond that size."""
    if len(digits) > size:
        assert size >= 0
        return digits[:size]
    return digits

def _without_zeroes(digits):
    """A copy without leading zeroes."""
    n = len(digits)
    while n > 0 and digits[n - 1] == 0:
        n -= 1
    assert n >= 0
    return digits[:n]

def _add_into(target, start, digits):
    carry = r_uint(0)
    n = len(digits)
    while n > 0 and digits[n - 1] == 0:
        n -= 1
    for i in range(n):
        carry += r_uint(target[start + i]) + r_uint(digits[i])
        target[start + i] = intmask(carry & UMASK)
        carry >>= SHIFT
    i = start + n
    while carry:
        carry += r_uint(target[i])
        target[i] = intmask(carry & UMASK)
        carry >>= SHIFT
        i += 1

def _shifted(digits, shift, size):
    """Shifted left by less than a digit, into a list of that size."""
    result = [0] * size
    carry = 0
    for i in range(len(digits)):
        digit = r_uint(digits[i])
        result[i] = intmask((digit << shift) & UMASK) | carry
        carry = intmask(digit >> (SHIFT - shift))
    if len(digits) < size:
        result[len(digits)] = carry
    return result

def _negate(digits):
    """The two's complement: what is above the lowest one changes, that one stays."""
    i = 0
    while i < len(digits) and digits[i] == 0:
        i += 1
    if i < len(digits):
        digits[i] = MASK - digits[i] + 1
        i += 1
    while i < len(digits):
        digits[i] ^= MASK
        i += 1
