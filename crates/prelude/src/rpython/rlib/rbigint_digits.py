"""Magnitudes of big integers: lists of 31-bit digits, lowest first."""

SHIFT = 31
BASE = 1 << SHIFT
MASK = BASE - 1
KARATSUBA_CUTOFF = 40


def _bits_in(digit):
    bits = 0
    while digit >= 256:
        digit >>= 8
        bits += 8
    while digit:
        digit >>= 1
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
    result = [0] * (len(a) + 1)
    carry = 0
    for i in range(len(b)):
        carry += a[i] + b[i]
        result[i] = carry & MASK
        carry >>= SHIFT
    for i in range(len(b), len(a)):
        carry += a[i]
        result[i] = carry & MASK
        carry >>= SHIFT
    result[len(a)] = carry
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
    if len(a) > len(b):
        a, b = b, a
    if len(a) > KARATSUBA_CUTOFF:
        return _karatsuba(a, b)
    result = [0] * (len(a) + len(b))
    n = len(b)
    for i in range(len(a)):
        digit = a[i]
        carry = 0
        for j in range(n):
            carry += digit * b[j] + result[i + j]
            result[i + j] = carry & MASK
            carry >>= SHIFT
        result[i + n] = carry
    return result

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

def _add_into(target, start, digits):
    carry = 0
    n = len(digits)
    while n > 0 and digits[n - 1] == 0:
        n -= 1
    for i in range(n):
        carry += target[start + i] + digits[i]
        target[start + i] = carry & MASK
        carry >>= SHIFT
    i = start + n
    while carry:
        carry += target[i]
        target[i] = carry & MASK
        carry >>= SHIFT
        i += 1

def _divrem_digit(a, n):
    """Quotient digits and remainder of a division by one digit."""
    result = [0] * len(a)
    remainder = 0
    i = len(a) - 1
    while i >= 0:
        remainder = (remainder << SHIFT) | a[i]
        quotient = remainder // n
        result[i] = quotient
        remainder -= quotient * n
        i -= 1
    return result, remainder

def _long_division(a, b):
    """Knuth's algorithm D, for at least two digits in b and no fewer in a."""
    shift = SHIFT - _bits_in(b[len(b) - 1])
    v = _shifted(b, shift, len(b))
    u = _shifted(a, shift, len(a) + 1)
    n = len(v)
    top = v[n - 1]
    second = v[n - 2]
    j = len(a) - n
    quotient = [0] * (j + 1)
    while j >= 0:
        head = (u[j + n] << SHIFT) | u[j + n - 1]
        digit = head // top
        rest = head - digit * top
        while digit >= BASE or digit * second > ((rest << SHIFT) | u[j + n - 2]):
            digit -= 1
            rest += top
            if rest >= BASE:
                break
        borrow = 0
        for i in range(n):
            borrow += u[i + j] - digit * v[i]
            u[i + j] = borrow & MASK
            borrow >>= SHIFT
        borrow += u[j + n]
        u[j + n] = borrow & MASK
        if borrow < 0:
            digit -= 1
            carry = 0
            for i in range(n):
                carry += u[i + j] + v[i]
                u[i + j] = carry & MASK
                carry >>= SHIFT
            u[j + n] = (u[j + n] + carry) & MASK
        quotient[j] = digit
        j -= 1
    remainder = [0] * n
    for i in range(n):
        remainder[i] = (u[i] >> shift) | ((u[i + 1] << (SHIFT - shift)) & MASK)
    return quotient, remainder

def _shifted(digits, shift, size):
    """Shifted left by less than a digit, into a list of that size."""
    result = [0] * size
    carry = 0
    for i in range(len(digits)):
        carry |= digits[i] << shift
        result[i] = carry & MASK
        carry >>= SHIFT
    if len(digits) < size:
        result[len(digits)] = carry
    return result

def _negate(digits):
    carry = 1
    for i in range(len(digits)):
        carry += digits[i] ^ MASK
        digits[i] = carry & MASK
        carry >>= SHIFT
