"""The end of memory: what is too large for an address, and what is too large for the system."""

from rpython.rlib import rgc

def zeroes(n):
    return [0] * n


def tried(n):
    try:
        return len(zeroes(n))
    except MemoryError:
        return -1


def entry_point(argv):
    n = int(argv[1])
    for bits in [24, 28, 29, 30, 31, 32, 33, 40, 61, 62]:
        print bits, tried((1 << bits) + n)
    kept = []
    try:
        while True:
            kept.append(zeroes(1 << 24))
    except MemoryError:
        # 128 MB each.
        print 'all', 10 < len(kept) < 33
    kept = None
    rgc.collect()
    print tried(1 << 24)
    return 0


def target(driver, args):
    return entry_point
