class Vector(object):
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def plus(self, other):
        return Vector(self.x + other.x, self.y + other.y)


def moved(x, y):
    v = Vector(x, y).plus(Vector(1, 2))
    return v.x * v.y
