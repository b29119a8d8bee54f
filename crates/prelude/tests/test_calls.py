"""Calls that reach several functions: each fills in its own default values, and takes
arguments by the names of its own parameters."""
from hidden import number, real, text


class A(object):
    def kw(self, a=3, b=4): return a * 10 + b
    def more(self, k, a=1): return k + a
    def named(self, first, second): return first * 100 + second
    def stars(self, a, *rest):
        if len(rest) > 0:
            a = a * 10 + rest[0]
        return a * 10 + len(rest)
    def label(self, k, s='a', t=None):
        return '%d %s %s' % (k, s, 'none' if t is None else t)
    def ratio(self, k, x=0.5): return x * k

class B(A):
    def kw(self, a=7, b=9): return a - b
    def more(self, k, a=2, b=3): return k * a * b
    def named(self, second, first): return first * 1000 + second
    def stars(self, a, b=5, *rest):
        if len(rest) > 1:
            b = b * 10 + rest[1]
        return a * 1000 + b
    def label(self, k, s='bb', t='ccc'):
        return '%s %s %d' % (s, t, k)
    def ratio(self, k, x=0.25): return x + k

class C(B):
    def kw(self, b=11, a=12, c=13): return a + b * 100 + c * 10000
    def more(self, k): return -k
    def named(self, first, second, third=3): return first - second - third
    def stars(self, *rest):
        return -len(rest)
    def label(self, k, t='xyz', s='uvw', u='-'):
        return s + u + t + u + str(k)
    def ratio(self, k, y=1.5, x=2.0): return y * k + x

class D(A):
    pass

OBJECTS = [A(), B(), C(), D()]

def object_(n):
    return OBJECTS[number(n)]

def test_methods_with_defaults():
    by_position, one_by_name, all_by_name, none, mixed = '', '', '', '', ''
    for n in range(4):
        o, k = object_(n), number(n + 1)
        by_position += '%d ' % o.kw(k)
        one_by_name += '%d ' % o.kw(b=k)
        all_by_name += '%d ' % o.kw(b=k, a=1)
        none += '%d ' % o.kw()
        mixed += '%d ' % o.kw(a=k)
    assert by_position == '14 -7 130312 44 '
    assert one_by_name == '31 5 130312 34 '
    assert all_by_name == '11 -1 130301 14 '
    assert none == '34 -2 131112 34 '
    assert mixed == '14 -7 131103 44 '

def test_more_parameters():
    found = ''
    for n in range(4):
        found += '%d ' % object_(n).more(number(10))
    assert found == '11 60 -10 11 '

class Short(object):
    def more(self, k, a=1): return k + a

class Long(Short):
    def more(self, k, a=2, b=3): return k * a * b

def either(n):
    return Short() if number(n) > 0 else Long()

def test_more_parameters_by_some():
    assert either(1).more(2) == 3
    assert either(0).more(2) == 12
    assert either(1).more(2, 5) == 7
    assert either(0).more(2, 5) == 30
    assert either(1).more(2, a=7) == 9
    assert either(0).more(a=7, k=2) == 42

def test_names_in_another_order():
    found = ''
    for n in range(4):
        o, k = object_(n), number(n + 1)
        found += '%d %d ' % (o.named(second=k, first=5), o.named(first=k, second=5))
    assert found == '501 105 5002 2005 -1 -5 504 405 '

def pair(n):
    return (number(n), 8)

def test_star_parameters_and_arguments():
    found = ''
    for n in range(4):
        o, k = object_(n), number(n + 1)
        found += '%d %d %d %d ' % (o.stars(k), o.stars(k, 6), o.stars(k, 6, 7, 8),
                                   o.stars(*pair(k)))
    assert found == '10 161 163 181 2005 2006 2068 2008 -1 -2 -4 -2 40 461 463 481 '

def test_defaults_of_other_types():
    found = []
    for n in range(4):
        o, k = object_(n), number(n)
        found.append(o.label(k))
        found.append(o.label(k, s=text('S')))
        found.append(o.label(k, t=text('T')))
        found.append(o.label(k, t=text('T'), s=text('S')))
    assert found == [
        '0 a none', '0 S none', '0 a T', '0 S T',
        'bb ccc 1', 'S ccc 1', 'bb T 1', 'S T 1',
        'uvw-xyz-2', 'S-xyz-2', 'uvw-T-2', 'S-T-2',
        '3 a none', '3 S none', '3 a T', '3 S T']
    total = 0.0
    for n in range(4):
        total = total * 100 + object_(n).ratio(number(4), x=real(8.0)) + object_(n).ratio(number(2))
    assert total == (((33.0 * 100) + 14.25) * 100 + 19.0) * 100 + 33.0


def plus(a, b=2): return a + b
def times(a, c=3): return a * c
def minus(b, a=100): return a - b
def three(a, b=5, c=6): return a * 100 + b * 10 + c
def many(a, *rest): return a * 10 + len(rest)

FUNCTIONS = [plus, times, minus, three, many]
BY_NAME = {'plus': plus, 'minus': minus, 'three': three}

def test_functions_in_a_list():
    found = ''
    for n in range(5):
        found += '%d ' % FUNCTIONS[number(n)](number(7))
    assert found == '9 21 93 756 70 '

def test_functions_in_a_dict():
    found = ''
    for name in ['plus', 'minus', 'three']:
        f = BY_NAME[text(name)]
        found += '%d %d %d ' % (f(number(7)), f(b=number(4), a=number(9)), f(a=1, b=2))
    assert found == '9 13 3 93 5 -1 756 946 126 '

def chosen(n):
    if number(n) == 0:
        return plus
    elif n == 1:
        return three
    return minus

def test_functions_and_none():
    f = chosen(0) if number(1) else None
    assert f(3) == 5
    f = chosen(1)
    assert f(b=number(2), a=1) == 126
    f = chosen(2)
    assert f(b=number(2), a=1) == -1

def test_bound_methods():
    found = ''
    for n in range(4):
        m = object_(n).kw
        found += '%d %d %d ' % (m(number(1)), m(b=number(2)), m(b=number(2), a=number(5)))
    assert found == '14 32 52 -8 5 3 130112 130212 130205 14 32 52 '


class First(object):
    def __init__(self, n, scale=2, name='first'):
        self.value = n * scale
        self.name = name

class Second(First):
    def __init__(self, n, name='second', scale=5):
        self.value = n - scale
        self.name = name

class Third(First):
    def __init__(self, n):
        self.value = n
        self.name = 'third'

class Fourth(Second):
    pass

CLASSES = [First, Second, Third, Fourth]
WITH_NAMES = [First, Second, Fourth]

def test_classes():
    found = ''
    for n in range(4):
        made = CLASSES[number(n)](number(10))
        found += '%s %d ' % (made.name, made.value)
    assert found == 'first 20 second 5 third 10 second 5 '

def test_classes_by_name():
    found = ''
    for n in range(3):
        cls = WITH_NAMES[number(n)]
        a, b, c = cls(number(10), scale=3), cls(4, name=text('x')), cls(n=1, name='y', scale=7)
        found += '%s %d %s %d %s %d ' % (a.name, a.value, b.name, b.value, c.name, c.value)
    assert found == ('first 30 x 8 y 7 second 7 x -1 y -6 second 7 x -1 y -6 ')


class Static(object):
    @staticmethod
    def make(n, unit=1): return n * unit

class OtherStatic(Static):
    @staticmethod
    def make(n, unit=1000, zero=0): return n * unit + zero

def test_static_methods_as_values():
    f = Static.make if number(1) else OtherStatic.make
    g = OtherStatic.make if number(1) else Static.make
    assert f(number(3)) == 3 and f(n=number(3), unit=4) == 12 and f(unit=number(3), n=5) == 15
    assert g(number(3)) == 3000 and g(n=number(3), unit=4) == 12 and g(3, unit=number(3)) == 9


class Callback(object):
    def __init__(self, function):
        self.function = function
    def run(self, k):
        return self.function(k)
    def run_named(self, k):
        return self.function(a=k, b=k + 1)

def test_callbacks():
    callbacks = [Callback(plus), Callback(minus), Callback(three)]
    found = ''
    for n in range(3):
        c = callbacks[number(n)]
        found += '%d %d ' % (c.run(number(5)), c.run_named(number(5)))
    assert found == '7 11 95 -1 556 566 '


# One function has a place in several rows of its family, with other arguments in each.
def two(x, y): return x - y
def one(x, y=7): return x * y
def alone(x): return x + 1
def other(x): return x + 2

def test_rows_of_other_lengths():
    f = two if number(1) else one
    g = alone if number(1) else other
    h = one if number(0) else alone
    assert f(9, number(4)) == 5
    assert g(number(9)) == 10
    assert h(number(9)) == 10
    f = one if number(1) else two
    h = one if number(1) else alone
    assert f(9, number(4)) == 36
    assert h(number(9)) == 63
