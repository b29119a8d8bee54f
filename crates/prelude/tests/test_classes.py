"""Instances, classes and tuples: `taipan_prelude.rclass` and `rtuple`."""
from hidden import number, real, text


class Base(object):
    def name(self):
        return 'base'

class Middle(Base):
    def name(self):
        return 'middle'

class Leaf(Middle):
    pass

class Other(Base):
    def name(self):
        return 'other'

def made(n):
    if n == 0:
        return Base()
    if n == 1:
        return Middle()
    if n == 2:
        return Leaf()
    if n == 3:
        return Other()
    return None

def test_isinstance():
    expected = [(False, False, False), (True, False, False), (True, True, False),
                (False, False, True), (False, False, False)]
    for n in range(5):
        obj = made(number(n))
        middle, leaf, other = expected[n]
        assert isinstance(obj, Middle) == middle
        assert isinstance(obj, Leaf) == leaf
        assert isinstance(obj, Other) == other
        assert isinstance(obj, Base) == (n < 4)

def test_methods():
    names = ''
    for n in range(4):
        names += made(number(n)).name() + ' '
    assert names == 'base middle middle other '

def test_identity():
    a, b = made(number(2)), made(number(2))
    assert a is a and a is not b
    assert a != b
    assert made(number(4)) is None

def test_class_of_an_instance():
    assert type(made(number(1))) is Middle
    assert type(made(number(2))) is not Middle
    assert issubclass(type(made(number(2))), Middle)
    assert not issubclass(type(made(number(3))), Middle)

class Failure(Exception):
    def __init__(self, n):
        self.n = n

class WorseFailure(Failure):
    pass

def failing(n):
    if n == 0:
        raise Failure(1)
    if n == 1:
        raise WorseFailure(2)
    if n == 2:
        raise KeyError
    return 0

def test_exceptions():
    for n in range(4):
        try:
            result = failing(number(n))
        except WorseFailure as e:
            result = 10 + e.n
        except Failure as e:
            result = 20 + e.n
        except LookupError:
            result = 30
        assert result == [21, 12, 30, 0][n]

def test_equality_of_tuples():
    t = (number(1), text('a'), real(0.5))
    assert t == (1, 'a', 0.5)
    assert t != (1, 'b', 0.5)
    assert (number(1), (number(2), text('x'))) == (1, (2, 'x'))
    assert (number(1), (number(2), text('x'))) != (1, (3, 'x'))
    assert number(3) in (1, 2, 3)
    assert number(4) not in (1, 2, 3)
    assert text('b') in ('a', 'b')

def test_items_of_tuples():
    t = (number(1), text('a'))
    assert t[0] == 1 and t[1] == 'a' and t[-1] == 'a'
    a, b = t
    assert a == 1 and b == 'a'
    assert len(t) == 2
    assert (t + (number(3),))[2] == 3
