"""Exceptions on their way out of the program."""


class ParseError(Exception):
    def __init__(self, msg, line):
        self.msg = msg
        self.line = line


class Deep(ParseError):
    def __str__(self):
        return 'deep %s at %d' % (self.msg, self.line)


class Missing(KeyError):
    pass


class _Hidden(ValueError):
    def __init__(self, message):
        self.message = message


def check(what):
    if what == 'parse':
        raise ParseError('bad', 3)
    if what == 'deep':
        raise Deep('very', 4)
    if what == 'missing':
        raise Missing()
    if what == 'hidden':
        raise _Hidden('unseen')
    if what == 'os':
        raise OSError(2, 'x')
    if what == 'stop':
        raise StopIteration
    if what == 'memory':
        raise MemoryError
    if what == 'assert':
        assert len(what) == 3


def fail(what):
    # type: (str) -> None
    check(what)


def divide(a, b):
    # type: (int, int) -> int
    if b == 0:
        raise ZeroDivisionError
    return a // b


def lookup(d, key):
    # type: (Dict[str, int], str) -> int
    return d[key]


def forever(n):
    # type: (int) -> int
    return forever(n + 1) + 1


def number(s):
    # type: (str) -> int
    return int(s)


def many(n):
    # type: (int) -> List[int]
    found = []
    for i in range(n):
        try:
            check('deep')
        except ParseError, e:
            found.append(e.line)
    return found
