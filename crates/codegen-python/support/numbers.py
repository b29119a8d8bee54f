# ------------------------------------------------------------------------------
# Taipan's support library: arithmetic of machine words
# ------------------------------------------------------------------------------

import struct


class Fault(Exception):
    """The program did what low-level code must not do."""


def signed(n):
    """What a Signed holds of an integer."""
    if -0x8000000000000000 <= n <= 0x7fffffffffffffff:
        return n
    return ((n + 0x8000000000000000) & 0xffffffffffffffff) - 0x8000000000000000


def signed_of_bits(n, bits):
    half = 1 << (bits - 1)
    return ((n + half) & ((1 << bits) - 1)) - half


def signed8(n):
    return signed_of_bits(n, 8)


def signed16(n):
    return signed_of_bits(n, 16)


def signed32(n):
    return signed_of_bits(n, 32)


def signed128(n):
    return signed_of_bits(n, 128)


def ovfcheck(n):
    """The same, but raises OverflowError for what does not fit."""
    if -0x8000000000000000 <= n <= 0x7fffffffffffffff:
        return n
    raise Raised(*OVERFLOW)


def int_div(a, b):
    """Division that truncates, as C has it."""
    if b == 0:
        raise Fault('division by zero')
    n = abs(a) // abs(b)
    return n if (a < 0) == (b < 0) else -n


def int_mod(a, b):
    if b == 0:
        raise Fault('division by zero')
    n = abs(a) % abs(b)
    return -n if a < 0 else n


def shifted_left(a, count, bits):
    return a << count if 0 <= count < bits else 0


def shifted_right(a, count, bits):
    if 0 <= count < bits:
        return a >> count
    return -1 if a < 0 else 0
