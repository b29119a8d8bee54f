from rpython.rlib.jit import hint


def power(x, n):
    n = hint(n, concrete=True)
    result = 1
    while n > 0:
        if n & 1:
            result *= x
        x *= x
        n >>= 1
    return result
