"""Objects: classes, function pointers, identity, dicts, strings, prebuilt data."""

from rpython.rlib.objectmodel import compute_identity_hash, compute_hash, r_dict, we_are_translated
from rpython.rlib.rstring import StringBuilder, UnicodeBuilder
from rpython.rlib import rgc, rweakref, jit
from rpython.rlib.debug import ll_assert


class Shape(object):
    _attrs_ = ['name']

    def __init__(self, name):
        self.name = name

    def area(self):
        raise NotImplementedError

    def twice(self):
        return self.area() * 2


class Square(Shape):
    def __init__(self, side):
        Shape.__init__(self, 'square')
        self.side = side

    def area(self):
        return self.side * self.side


class Circle(Shape):
    def __init__(self, r):
        Shape.__init__(self, 'circle')
        self.r = r

    def area(self):
        return 3.0 * self.r


class Round(Circle):
    def twice(self):
        return -1.0


class Link(object):
    def __init__(self, value):
        self.value = value
        self.next = None


FIRST = Link(1)
SECOND = Link(2)
FIRST.next = SECOND
SECOND.next = FIRST
TABLE = {FIRST: 'first', SECOND: 'second'}
LONG = 'a text that is longer than what a constant expression makes, ' * 3
NUMBERS = [n * n for n in range(200)]
MANY = [Link(n) for n in range(50)]
PAIRS = {}
for i in range(60):
    PAIRS['key%d' % i] = (i, MANY[i % 50])
UNICODE = u'\u20ac and \U0001f40d, more than sixteen of them'


def add(a, b):
    return a + b


def sub(a, b):
    return a - b


def mul(a, b):
    return a * b


OPERATORS = {'+': add, '-': sub, '*': mul}


def choose(name):
    return OPERATORS[name]


def same(x, y):
    return x[0] == y[0]


def hashed(x):
    return compute_hash(x[0])


def kinds(shapes):
    for s in shapes:
        line = s.name + ' ' + str(s.twice())
        if isinstance(s, Circle):
            line += ' round %s' % s.r
        if isinstance(s, Round):
            line += ' very'
        print line, s.__class__ is Circle


def functions():
    total = 7
    for name in ['+', '-', '*']:
        f = choose(name)
        total = f(total, 3)
        print name, total, f is add, f is choose('-')


def identity():
    d = {}
    links = [Link(n) for n in range(20)]
    for link in links:
        d[link] = link.value
    found = 0
    for link in links:
        found += d[link]
    print found, len(d), compute_identity_hash(links[0]) == compute_identity_hash(links[0])
    print TABLE[FIRST], TABLE[SECOND], FIRST.next.next is FIRST, FIRST in TABLE, links[0] in TABLE


def containers():
    d = r_dict(same, hashed)
    d['ab'] = 1
    d['ac'] = 2
    d['b'] = 3
    print len(d), d['a'], d['bcd']
    for i in range(300):
        d[chr(i % 200) + 'x'] = i
    for i in range(0, 200, 3):
        del d[chr(i)]
    print len(d)
    records = [(i, str(i), float(i)) for i in range(20)]
    records = records[5:] + records[:5]
    records.pop(3)
    records.insert(0, (100, 'hundred', 100.0))
    del records[2:7]
    print [a for a, b, c in records], records[4][1], records[5][2]
    chars = ['x'] * 10
    chars[3:5] = ['y', 'z']
    print ''.join(chars), LONG[60:70], len(LONG), NUMBERS[199], len(MANY), MANY[49].value
    print PAIRS['key55'][0], PAIRS['key55'][1].value, PAIRS['key55'][1] is MANY[5], len(PAIRS)
    matrix = [[0] * 3 for i in range(3)]
    matrix[1][2] = 5
    print matrix
    small = {}
    for i in range(1000):
        small[i] = i
        if i > 10:
            del small[i - 10]
    print len(small), 995 in small, 5 in small


def strings():
    b = StringBuilder()
    for i in range(100):
        b.append(chr(65 + i % 26))
        b.append_slice('hello', 1, 3)
        b.append_multiple_char('-', 2)
    text = b.build()
    print text[:40], len(text), text.find('Zel'), text.count('el'), text.replace('-', '+')[:20]
    u = UnicodeBuilder()
    u.append(UNICODE)
    u.append(u'!')
    print u.build().encode('utf-8'), len(u.build()), UNICODE[0] == u'\u20ac', u.build() == UNICODE
    print 'b' < 'a', 'abc' < 'abd', 'x'.upper(), ' strip '.strip(), 'a,b,c'.split(','), 'abc'.startswith('ab')
    print int('123') + 1, '%d %s %x %r' % (12, 'text', 255, 'quoted'), compute_hash('a') == compute_hash('ab'[:1])


def dropped(n):
    return rweakref.ref(Link(n))
dropped._dont_inline_ = True


def weak():
    kept = Link(3)
    ref = rweakref.ref(kept)
    prebuilt = rweakref.ref(FIRST)
    print ref() is kept, ref().value, prebuilt() is FIRST
    gone = dropped(4)
    rgc.collect()
    print gone() is None, ref() is kept, prebuilt() is FIRST


class Failure(Exception):
    def __init__(self, code):
        self.code = code


def failing(n):
    if n > 5:
        raise Failure(n)
    if n == 3:
        raise KeyError
    try:
        return failing(n + 1)
    finally:
        print 'leaving', n


def exceptions():
    for n in [0, 4]:
        try:
            failing(n)
        except Failure as e:
            print 'code', e.code
        except LookupError:
            print 'lookup'
    try:
        [1, 2, 3][NUMBERS[5]]
    except IndexError:
        print 'index'


def switches(n):
    if n == 1:
        return 'one'
    elif n == 2:
        return 'two'
    elif n == 3:
        return 'three'
    elif n == 4:
        return 'four'
    elif n == -5:
        return 'minus five'
    elif n == 1000000:
        return 'million'
    return 'many'


def entry_point(argv):
    kinds([Square(3), Circle(1.5), Round(2.0)])
    functions()
    identity()
    containers()
    strings()
    weak()
    exceptions()
    print [switches(n) for n in [0, 1, 2, 3, 4, 5, -5, 1000000, 4294967297]]
    return len(argv) + 40


def target(driver, args):
    return entry_point
