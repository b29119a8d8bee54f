from rpython.rlib.rarithmetic import intmask, ovfcheck
from rpython.rlib.rstring import StringBuilder
from shapes import Circle, Shape, Square, TooLarge, UNIT, find, largest

LIMIT = 1000
NAMES = ['unit', 'round', 'none']


def build(n):
    shapes = [UNIT]
    for i in range(n):
        if i % 2:
            shapes.append(Square(i))
        else:
            shapes.append(Circle(i).stretched(1.5))
    return shapes


def total(shapes):
    result = 0
    for shape in shapes:
        try:
            result = ovfcheck(result + shape.area())
        except OverflowError:
            return -1
    return result


def described(shape):
    builder = StringBuilder()
    builder.append(shape.name)
    for part in shape.parts:
        builder.append(' ' + described(part))
    if isinstance(shape, Square):
        builder.append(' of %d' % shape.side)
    return builder.build()


def evens(n):
    i = 0
    while i < n:
        yield i
        i += 2


def pair(n):
    return n // 3, str(n)


def nested(n):
    outer = Shape('outer')
    try:
        for i in range(n):
            outer.add(Square(i))
    except TooLarge as e:
        return outer, e.limit
    return outer, 0


def double(x):
    return x * 2


def negated(x):
    return -x


STEPS = [double, negated]


def entry_point(argv):
    shapes = build(len(argv) + 3)
    n = total(shapes)
    for step in STEPS:
        n = intmask(step(n))
    outer, limit = nested(n & 7)
    third, text = pair(limit)
    for name in NAMES:
        found = find(name)
        if found is not None:
            text += described(found)
    print described(outer), third, text, largest([1, 2, n], 0), largest(['a', text], '')
    counts = {}
    for i in evens(9):
        counts[str(i)] = counts.get(text, 0) + i
    if n > LIMIT:
        return 1
    return len(counts)


def target(driver, args):
    return entry_point, None
