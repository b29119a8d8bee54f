"""Globals and builtins in functions, names of a module body."""

COUNT = 0
STEP = 1
LIMIT = 10


def work(n):
    global COUNT
    for i in xrange(n):
        COUNT = COUNT + STEP
        if COUNT > LIMIT:
            COUNT = COUNT - len(NAMES)
        abs(STEP)


NAMES = ["a", "b"]
work(400000)
index = 0
total = 0
while index < 300000:
    total = total + STEP
    index += 1


def main(argv):
    return 0


def target(driver, args):
    return main, None
