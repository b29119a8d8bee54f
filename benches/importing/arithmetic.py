"""Loops over integers and floats: comparisons, bits, division, long integers where they overflow."""


def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def bits(n):
    found = 0
    for i in xrange(n):
        found ^= (i << 3) & 0xFFFF
        found = (found >> 1) | (i & 1)
    return found


def floats(n):
    x = 0.5
    for i in xrange(n):
        x = x * 1.5 - 0.25
        if x > 100.0:
            x /= 200.0
    return x


def numbers(n):
    a, b = 0, 1
    for i in xrange(n):
        a, b = b, a + b
    return a


TOTAL = sum([collatz(i) for i in range(1, 6000)])
BITS = bits(500000)
FLOATS = floats(300000)
BIG = numbers(3000)


def main(argv):
    return 0


def target(driver, args):
    return main, None
