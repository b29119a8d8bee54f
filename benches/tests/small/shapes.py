"""Classes, lists and exceptions for main.py."""
from rpython.rlib.objectmodel import specialize


class TooLarge(Exception):
    def __init__(self, limit):
        self.limit = limit


class Shape(object):
    _attrs_ = ['name', 'parts']
    sides = 0

    def __init__(self, name):
        self.name = name
        self.parts = []

    def area(self):
        return 0

    def add(self, part):
        if len(self.parts) > 3:
            raise TooLarge(len(self.parts))
        self.parts.append(part)
        return self


class Square(Shape):
    sides = 4

    def __init__(self, side):
        Shape.__init__(self, 'square')
        self.side = side

    def area(self):
        return self.side * self.side


class Circle(Shape):
    def __init__(self, radius, name='circle'):
        Shape.__init__(self, name)
        self.radius = radius

    def area(self):
        return 3 * self.radius * self.radius

    def stretched(self, factor):
        return Circle(int(self.radius * factor), name=self.name + '+')


UNIT = Square(1)
BY_NAME = {'unit': UNIT, 'round': Circle(2)}


@specialize.argtype(0)
def largest(items, default):
    best = default
    for item in items:
        if item > best:
            best = item
    return best


def find(name):
    try:
        return BY_NAME[name]
    except KeyError:
        return None
