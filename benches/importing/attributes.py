"""Attributes of instances, classes and modules, read and set."""


class Point(object):
    kind = "point"
    scale = 3

    def __init__(self, x, y):
        self.x = x
        self.y = y


class Old:
    step = 1

    def __init__(self):
        self.count = 0


def work(n):
    p = Point(1, 2)
    q = Old()
    for i in xrange(n):
        p.x = p.y + p.scale
        p.y = p.x - Point.scale
        q.count = q.count + q.step
        if p.kind is not Point.kind:
            raise AssertionError
    made = [Point(i, i) for i in xrange(n // 4)]
    return p.x + q.count + len(made)


TOTAL = work(200000)


def main(argv):
    return 0


def target(driver, args):
    return main, None
