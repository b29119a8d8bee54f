# Numbers, strings, containers, control flow.
print 1, 2L, 3.5, 1e100, 0.1, 1e-7, True, None, 'a', u'b', 1.0, 100000000000000000.0
print 7 / 2, -7 / 2, 7 % -3, -7 % 3, 7 // 2.0, 2 ** 10, 2 ** -1, 2 ** 100, 1 << 70
print 9223372036854775807 + 1, -9223372036854775808 - 1, 3 * 4611686018427387904
print divmod(7, -2), divmod(7.5, 2), abs(-3), round(2.5), round(-2.567, 2)
print int('12'), int('0x1f', 16), int('777', 8), long('5'), float('1.5'), int(3.9), int(-3.9)
print repr('it\'s'), repr("a\"b'c\n\x00\xff"), repr(u'\u1234x'), 'abc'[1], 'abc'[-1], 'abcdef'[1:4], 'abcdef'[::-1]
print '%d %5d|%-5d|%05d %x %X %o %s %r %c %%' % (1, 2, 3, 4, 255, 255, 8, 'x', 'y', 'z')
print '%.2f %8.3f %e %g %g' % (3.14159, 2.71828, 12345.678, 0.0001, 1e20)
print '%(a)s-%(b)d' % {'a': 'x', 'b': 3}, '%s' % (('t',),), '%+d % d %#x' % (5, 5, 255)
print [1, 'a', (2,), {}, []], (1,), (), {1: 'a'}, set([1]), frozenset([2])
print 'a,b,c'.split(','), ' x  y '.split(), 'a-b-c'.rsplit('-', 1), '-'.join(['x', 'y'])
print 'Hello'.upper(), 'Hello'.lower(), 'hello world'.title(), 'abc'.replace('b', 'X'), 'abc'.find('c'), 'abcabc'.rfind('b')
print 'abc'.startswith('ab'), 'abc'.endswith(('x', 'c')), '  x '.strip() + '|', 'xxaxx'.strip('x'), 'abc'.center(9, '*')
print 'a\nb\r\nc'.splitlines(), 'k=v=w'.partition('='), '42'.zfill(5), 'tEST'.swapcase(), 'abc'.isalpha(), '12'.isdigit()
print 1 < 2 < 3, 1 < 3 < 2, not 1, 1 and 2, 0 or 3, 1 if 0 else 2
print [x * y for x in range(3) for y in range(3) if x != y], {x: x * x for x in range(3)}, sorted({x % 2 for x in range(5)})
print sum(x for x in range(10)), max(3, 1, 2), min([3, 1, 2]), sorted([3, 1, 2], reverse=True), sorted('bca', key=lambda c: -ord(c))
print map(lambda x: x + 1, [1, 2]), filter(lambda x: x > 1, [1, 2, 3]), reduce(lambda a, b: a * b, [1, 2, 3, 4]), zip([1, 2], 'ab'), map(None, [1], [2, 3])
print range(5), range(2, 8, 3), range(5, 0, -2), xrange(3), list(xrange(2, 6)), enumerate([1]) is None, list(enumerate('ab'))
l = [1, 2, 3, 4, 5]
l[1:3] = ['x']; print l
del l[0]; print l
l.append(9); l.extend((7, 8)); l.insert(0, 'first'); print l, l.pop(), l.pop(0), l.index(9), l.count(4)
l.reverse(); print l
l[::2] = [0, 0, 0]; print l
d = {'a': 1}
d['b'] = 2
print d['a'], d.get('z'), d.get('z', 5), 'a' in d, d.has_key('q'), len(d), sorted(d.items()), d.setdefault('c', 3), d.pop('c')
d.update({'x': 1}, y=2); print sorted(d)
try:
    d['nope']
except KeyError, e:
    print 'KeyError', e, repr(e), e.args
try:
    [][1]
except IndexError as e:
    print 'IndexError', e
try:
    1 / 0
except ZeroDivisionError as e:
    print e
try:
    int('x')
except ValueError as e:
    print e
try:
    None.foo
except AttributeError as e:
    print e
try:
    undefined
except NameError as e:
    print e
try:
    'a' + 1
except TypeError as e:
    print e
try:
    1 + 'a'
except TypeError as e:
    print e
def f(a, b=2, *args, **kw):
    return a, b, args, sorted(kw.items())
print f(1), f(1, 3), f(1, 2, 3, 4), f(1, x=5), f(*[1, 2, 3], **{'k': 1}), f(b=1, a=0)
for args in [(), (1, 2, 3)]:
    try:
        (lambda x: x)(*args)
    except TypeError as e:
        print e
def gen(n):
    try:
        for i in range(n):
            x = yield i
            if x:
                print 'sent', x
    finally:
        print 'closed'
g = gen(3)
print g.next(), g.send('hi'), list(g)
g = gen(3); g.next(); g.close()
while 1:
    try:
        break
    finally:
        print 'finally'
else:
    print 'no'
for i in range(3):
    if i == 1: continue
    print i,
else:
    print 'done'
def closure():
    n = [0]
    def inc():
        n[0] += 1
        return n[0]
    return inc
c = closure(); c(); print c()
a, (b, c) = 1, (2, 3); print a, b, c
print 'x' * 3, [0] * 3, (1, 2) + (3,), [1] + [2], 'a' 'b'
print chr(65), ord('a'), unichr(0x41), hex(255), oct(8), bin(5), hex(-255), hex(10L)
print isinstance(1, int), isinstance(True, int), isinstance('a', basestring), issubclass(bool, int), type(1), type('a'), type(None)
print cmp(1, 2), cmp('b', 'a'), [1, 2] < [1, 3], (1, 2) == (1, 2), 1 == 1.0, 'a' == u'a', None < 0
exec "y = 5\nprint y + 1"
print eval('y * 2'), eval('a + b', {'a': 1, 'b': 2})
ns = {}
exec 'def q(x): return x * 2' in ns
print ns['q'](4), sorted(ns.keys())
print [i for i in iter([1, 2, 3])], any([0, 1]), all([1, 0]), list(reversed([1, 2])), pow(3, 4, 5), hash(1), callable(f)
print repr(1.1), str(1.1), 1/3.0, str(1/3.0), repr(1/3.0), 1e16, 123456789012.0, 1e22, 5e-324, float('inf'), float('nan'), 900719925474099.25, -1844674407370955.25, 900719925474099.75
print "%s %s" % (1.0, 1L), "%r" % 2L, '%5.1f|%-8s|%8s' % (2.25, 'ab', 'cd'), '{0} {1!r} {x:>5}'.format(1, 'a', x=3), '{:,}'.format(1234567)
print u'caf\xe9'.encode('utf-8'), 'caf\xc3\xa9'.decode('utf-8') == u'caf\xe9', repr('\xe9'.decode('latin-1'))
import sys
print sys.maxint, sys.byteorder
print >>sys.stdout, 'to stdout',
print
with __import__('contextlib').closing(__import__('StringIO').StringIO('x')) as fp:
    print fp.read()
assert 1, 'no'
try:
    assert 0, 'msg'
except AssertionError as e:
    print 'assert', e
print [].__len__(), (5).__add__(3), 'abc'.__contains__('b'), {}.__class__, int.__name__
print `1 + 1`, 0777, 0xff, 1 <> 2
def executed(n):
    exec "def twice(x): return x * 2\nn = n + 1\nother = [n]"
    return twice(n), n, other, sorted(locals().keys())
print executed(4)
def executed_again(n):
    exec "m = n"
    n = 7
    exec "m = m + n; k = m"
    return n, k
print executed_again(5)
print float.__getformat__('double')
print isinstance(2j, complex), isinstance(2j, float), isinstance((2j, 1.0)[0], (int, long, float))
z = complex(3, -4)
print 1j, z, str(z * 0.1), repr(z / 3), -z, abs(z), z.real, z.imag, z.conjugate()
print z + 1, 2 - z, z * 1j, z / (1 + 2j), 1j ** 2 if 0 else None, z == complex(3, -4), z == 3, 3 == 3 + 0j
print bool(0j), isinstance(z, complex), type(z), complex(), complex(1.5), complex(1j, 1j), {2: 'two'}[2 + 0j]
print '%s and %r' % (z, z), [1e16j, -0.0 * 1j, complex(1e-5, float('inf'))]
for wrong in [lambda: z < 1, lambda: z / 0, lambda: float(z), lambda: complex('x', 1)]:
    try:
        print wrong()
    except (TypeError, ZeroDivisionError) as e:
        print e.__class__.__name__
print apply(max, [1, 5]), apply(dict, (), {'a': 1}), apply(list)
