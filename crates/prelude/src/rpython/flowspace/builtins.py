"""Builtin functions that the flow space replaces by functions written in RPython. It is
part of every program: it imports nothing."""


def rpython_bin(n):
    """bin(n)"""
    if n == 0:
        return '0b0'
    sign = '0b'
    digits = ''
    if n < 0:
        # Half of the absolute value: that itself may not fit.
        low = n & 1
        n = -(n >> 1) - low
        sign = '-0b'
        digits = '1' if low else '0'
    while n != 0:
        digits = ('1' if n & 1 else '0') + digits
        n >>= 1
    return sign + digits
rpython_bin._annspecialcase_ = 'specialize:argtype(0)'
