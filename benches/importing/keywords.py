"""Calls with keywords, `*args` and `**keywords`."""


def area(width, height=1, depth=1):
    return width * height * depth


def gather(*args, **keywords):
    return len(args) + len(keywords)


def work(n):
    total = 0
    for i in range(n):
        total += area(width=2, height=3)
        total += area(2, depth=i)
        if i % 4 == 0:
            total += gather(1, 2, name=i)
    return total


TOTAL = work(250000)


def main(argv):
    return 0


def target(driver, args):
    return main, None
