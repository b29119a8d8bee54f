"""Generators, generator expressions and list comprehensions."""


def count(n):
    i = 0
    while i < n:
        yield i
        i += 1


def evens(items):
    for item in items:
        if not item & 1:
            yield item


def work(n):
    total = 0
    for i in evens(count(n)):
        total += i
    total += sum(i * 2 for i in xrange(n))
    for i in range(n // 10):
        for j in count(3):
            total += j
    return total + len([i for i in xrange(n) if i % 3])


TOTAL = work(300000)


def main(argv):
    return 0


def target(driver, args):
    return main, None
