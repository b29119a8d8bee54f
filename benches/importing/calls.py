"""Calls of functions with positional arguments, and with default values."""


def add(a, b):
    return a + b


def scaled(a, by=3):
    return a


def recurse(n):
    if n < 2:
        return n
    return recurse(n - 1) + recurse(n - 2)


def work(n):
    total = 0
    i = 0
    while i < n:
        total = add(total, i)
        scaled(i)
        i += 1
    return total


TOTAL = work(300000) + recurse(24)


def main(argv):
    return 0


def target(driver, args):
    return main, None
