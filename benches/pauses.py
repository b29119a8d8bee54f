"""How long the collector stops a program: builds a big heap of small objects, then goes on
allocating, and prints the longest time that the CPU was busy between two readings of the clock.

    taipan build benches/pauses.py && ./pauses TREES ROUNDS

A tree takes 2.6 MB. The original toolchain translates it as well.
"""
import time

from rpython.rlib.rarithmetic import intmask

DEPTH = 15


class Node(object):
    def __init__(self, left, right, value):
        self.left = left
        self.right = right
        self.value = value


class Meter(object):
    def __init__(self):
        self.start()

    def start(self):
        self.last = time.clock()
        self.longest = 0.0
        self.long_ones = 0

    def tick(self):
        now = time.clock()
        passed = now - self.last
        self.last = now
        if passed > self.longest:
            self.longest = passed
        if passed > 0.010:
            self.long_ones += 1

    def report(self, what):
        print what, 'longest:', int(self.longest * 1000000.0), 'us; over 10 ms:', self.long_ones
        self.start()


def build(meter, depth, n):
    if depth == 0:
        return Node(None, None, n)
    if depth == 6:
        meter.tick()
    left = build(meter, depth - 1, n * 2)
    right = build(meter, depth - 1, n * 2 + 1)
    return Node(left, right, n)


def walk(node, steps):
    total = 0
    while node is not None and steps:
        total = intmask(total * 31 + node.value)
        node = node.left if total & 1 else node.right
        steps -= 1
    return total


def main(argv):
    trees, rounds = int(argv[1]), int(argv[2])
    meter = Meter()
    kept = [build(meter, DEPTH, i) for i in range(trees)]
    meter.report('building')
    total = 0
    for r in range(rounds):
        total = intmask(total + walk(build(meter, 9, r), 5))
        if r % 64 == 0:
            kept[r / 64 * 7919 % trees] = build(meter, DEPTH, r)
        total = intmask(total + walk(kept[r % trees], 10))
    meter.report('running')
    print total
    return 0


def target(driver, args):
    return main, None
