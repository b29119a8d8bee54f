"""`isinstance`, `type`, `hasattr`, `getattr`, `is`, `in`: what code asks about values."""


class Node(object):
    name = "node"


class Leaf(Node):
    pass


def kind(value):
    if isinstance(value, str):
        return 1
    if isinstance(value, (int, long)):
        return 2
    if isinstance(value, Node):
        return 3 if type(value) is Leaf else 4
    if value is None:
        return 5
    if callable(value):
        return 6
    return 7


def work(n):
    values = ["a", 1, 2L, Leaf(), Node(), None, work, [], 1.5]
    total = 0
    for i in xrange(n):
        for value in values:
            total += kind(value)
        if hasattr(values[3], "name") and not hasattr(values[4], "missing"):
            total += len(getattr(values[3], "name"))
    return total


TOTAL = work(60000)


def main(argv):
    return 0


def target(driver, args):
    return main, None
