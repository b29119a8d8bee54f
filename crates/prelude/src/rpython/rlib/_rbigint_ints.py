"""Machine integers as rbigint sees them: bytes, bits, common divisors; exported by
`rpython.rlib.rbigint`."""
from rpython.rlib.rarithmetic import intmask, r_uint
from rpython.rlib.rbigint import (
    InvalidEndiannessError, InvalidSignednessError, MASK, NULLRBIGINT, SHIFT,
    rbigint)


def _check_order(byteorder):
    if byteorder != 'big' and byteorder != 'little':
        raise InvalidEndiannessError()

def frombytes_int(s, byteorder, signed):
    """The integer of at most 8 bytes; OverflowError where it does not fit."""
    _check_order(byteorder)
    n = len(s)
    if n > 8:
        raise OverflowError
    bits = r_uint(0)
    for i in range(n):
        byte = s[i] if byteorder == 'big' else s[n - 1 - i]
        bits = (bits << 8) | r_uint(ord(byte))
    result = intmask(bits)
    if signed and 0 < n < 8:
        sign = 1 << (8 * n - 1)
        result = (result ^ sign) - sign
    elif not signed and result < 0:
        raise OverflowError
    return result

def tobytes_int(intval, nbytes, byteorder, signed):
    """OverflowError where the bytes are too few."""
    _check_order(byteorder)
    if intval < 0 and not signed:
        raise InvalidSignednessError()
    bits = bit_length_int(~intval if intval < 0 else intval)
    if signed and intval != 0:
        bits += 1
    if bits > 8 * nbytes:
        raise OverflowError
    chars = ['\x00'] * nbytes
    rest = intval
    for i in range(nbytes):
        c = chr(rest & 0xff)
        rest >>= 8
        if byteorder == 'big':
            chars[nbytes - 1 - i] = c
        else:
            chars[i] = c
    return ''.join(chars)

def bit_length_int(val):
    """Bits of the magnitude."""
    rest = r_uint(-val) if val < 0 else r_uint(val)
    result = 0
    while rest:
        rest >>= 1
        result += 1
    return result

def _bitcount64(x):
    """How many bits of a r_uint are set."""
    result = 0
    while x:
        x &= x - r_uint(1)
        result += 1
    return result

def gcd_lehmer(a, b):
    return a.gcd(b)

def divmod_big(a, b):
    return a.divmod(b)

def _store_digit(x):
    return x

def _mask_digit(x):
    return x & MASK

def _format_int10_18digits(val, builder):
    """Appends the 18 decimal digits of 0 <= val < 10 ** 18."""
    text = str(val)
    builder.append_multiple_char('0', 18 - len(text))
    builder.append(text)

def _format_lowest_level_divmod_int_results(x, iother):
    """Quotient and remainder as integers, which both fit."""
    quotient, remainder = x.int_divmod(iother)
    return quotient.toint(), remainder.toint()

def _str_to_int_big_w5pow(w, mem, limit):
    """5 ** w; mem keeps the powers above limit that were asked for."""
    if w <= limit:
        return rbigint.fromint(5).int_pow(w)
    if w not in mem:
        mem[w] = rbigint.fromint(5).int_pow(w)
    return mem[w]

def _str_to_int_big_inner10(s, a, b, mem, limit):
    """The value of the decimal digits s[a:b], by halves."""
    if b - a <= limit:
        result = NULLRBIGINT
        for i in range(a, b):
            result = result.int_mul(10).int_add(ord(s[i]) - ord('0'))
        return result
    middle = (a + b + 1) >> 1
    low = _str_to_int_big_inner10(s, middle, b, mem, limit)
    high = _str_to_int_big_inner10(s, a, middle, mem, limit)
    power = _str_to_int_big_w5pow(b - middle, mem, limit)
    return high.mul(power).lshift(b - middle).add(low)

def _str_to_int_big_base10(s, start, end, limit=20):
    return _str_to_int_big_inner10(s, start, end, {}, limit)

def lehmer_xgcd(a, b):
    """Steps of Euclid's algorithm while b has more than half a digit. With the
    result (p, q, r, s), the step is from (a, b) to (p*a + q*b, r*a + s*b)."""
    upper = (1, 0)
    lower = (0, 1)
    while b >> (SHIFT // 2) != 0:
        quotient = a // b
        a, b = b, a - quotient * b
        upper, lower = lower, (upper[0] - quotient * lower[0],
                               upper[1] - quotient * lower[1])
    return upper[0], upper[1], lower[0], lower[1]
