"""Exceptions raised and caught, `finally`, `with`, missing keys and attributes."""


class Missing(Exception):
    def __init__(self, name):
        self.name = name


class Guard(object):
    def __init__(self):
        self.depth = 0

    def __enter__(self):
        self.depth += 1
        return self

    def __exit__(self, etype, value, tb):
        self.depth -= 1
        return False


def find(table, name):
    try:
        return table[name]
    except KeyError:
        raise Missing(name)


def work(n):
    table = {"a": 1, "b": 2}
    guard = Guard()
    failed = 0
    for i in xrange(n):
        try:
            find(table, "a")
            if i % 4 == 0:
                find(table, "c")
        except Missing as e:
            failed += len(e.name)
        finally:
            failed += 1
        with guard:
            failed += guard.depth
        try:
            guard.missing
        except AttributeError:
            failed += 1
    return failed


TOTAL = work(60000)


def main(argv):
    return 0


def target(driver, args):
    return main, None
