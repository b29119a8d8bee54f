# The standard library as far as import-time code uses it.
import collections, copy, functools, inspect, itertools, math, operator, os, re, string, struct, sys, types
import StringIO, contextlib, errno, weakref, random, time, bisect, heapq, json, binascii
P = collections.namedtuple('P', 'x y')
p = P(1, y=2)
print p, p.x, p[1], p._replace(x=5), P._fields, tuple(p), p == (1, 2), isinstance(p, tuple)
d = collections.defaultdict(list); d['a'].append(1); print d['a'], len(d), 'b' in d
o = collections.OrderedDict([('z', 1), ('a', 2)]); o['m'] = 3; print o.keys(), o
q = collections.deque([1, 2]); q.appendleft(0); q.append(3); print list(q), q.popleft(), q.pop(), len(q)
c = collections.Counter('abracadabra'); print c['a'], c['z'], c.most_common(1)
def deco(f):
    @functools.wraps(f)
    def wrapper(*args): return f(*args) + 1
    return wrapper
@deco
def add(a, b): "adds"; return a + b
print add(1, 2), add.__name__, add.__doc__, functools.partial(add, 1)(5)
print inspect.getargspec(lambda a, b=1, *c, **d: 0), inspect.isclass(P), inspect.isfunction(add), inspect.ismethod(p._replace)
print list(itertools.chain([1], (2, 3))), list(itertools.islice(itertools.count(5), 3)), list(itertools.izip('ab', [1, 2])), list(itertools.product([1, 2], 'xy')), list(itertools.permutations([1, 2, 3], 2))[:3], list(itertools.combinations('abc', 2))
print [(k, list(g)) for k, g in itertools.groupby([1, 1, 2, 3, 3])], list(itertools.takewhile(lambda x: x < 3, range(9)))
print math.sqrt(2), math.floor(-1.5), math.pi, math.fmod(7, 3), math.ldexp(0.5, 3), math.frexp(8.0), math.log(math.e), math.log(8, 2), math.ceil(1.2), math.hypot(3, 4)
try:
    math.sqrt(-1)
except ValueError as e: print e
print os.path.join('a', 'b', '/c', 'd'), os.path.basename('/x/y.z'), os.path.splitext('a.b.c'), os.path.dirname('/a/b'), os.path.normpath('a/../b//c'), os.sep
m = re.match(r'(\d+)-(?P<word>\w+)', '12-ab rest')
print m.group(0), m.group(1), m.group('word'), m.groups(), m.span(), m.end(1), re.findall(r'[a-z]+', 'ab 12 cd'), re.sub(r'(\w)(\d)', r'\2\1', 'a1 b2'), re.split(r'\s*,\s*', 'a , b,c'), re.compile('x').search('axb').start()
print re.match('a', 'b'), bool(re.search('^b$', 'a\nb', re.M)), re.escape('a.b'), re.sub('a', lambda m: m.group().upper(), 'banana', 2)
print string.digits, string.ascii_letters[:3], string.maketrans('ab', 'xy')[97:99], 'abc'.translate(string.maketrans('ab', 'xy')), string.join(['a', 'b'])
print struct.pack('<ihb', 1, 2, 3) == '\x01\0\0\0\x02\0\x03', struct.unpack('>H', '\x01\x02'), struct.calcsize('iq'), struct.unpack('<d', struct.pack('<d', 1.5)), repr(struct.pack('4s', 'ab'))
print types.FunctionType is type(add), isinstance(None, types.NoneType), isinstance(P.__new__, types.FunctionType), isinstance('a', types.StringTypes)
s = StringIO.StringIO(); print >>s, 'hello', 1; s.write('x'); print repr(s.getvalue())
@contextlib.contextmanager
def cm(x):
    print 'in', x
    try:
        yield x * 2
    finally:
        print 'out'
with cm(4) as v: print v
try:
    with cm(1): raise KeyError('k')
except KeyError as e: print 'caught', e
a = [1, [2]]; b = copy.copy(a); dd = copy.deepcopy(a); a[1].append(3); print b, dd
class K(object):
    def __init__(self): self.l = [1]
k = K(); k2 = copy.copy(k); k3 = copy.deepcopy(k); k.l.append(2); print k2.l, k3.l, type(k3) is K
print errno.ENOENT, errno.errorcode[2], operator.mul(3, 4), bisect.bisect([1, 3, 5], 3), heapq.nsmallest(2, [3, 1, 2])
r = weakref.ref(k); print r() is k
print json.loads('{"a": [1, 2.5, null, "x"]}'), json.dumps([1, None, True, 'q"']), binascii.hexlify('ab')
m = types.ModuleType('dyn'); m.x = 1; print m.x, m.__name__
sys.modules['dyn'] = m
import dyn
print dyn.x
# functions made of code
src = "def made(a, b=%d):\n    'doc'\n    return a * b\n" % 7
ns = {}
exec compile(src, 'gen.py', 'exec') in ns
print ns['made'](6), ns['made'].func_code.co_filename, eval(compile('1 + 2', 'x', 'eval'))
f2 = types.FunctionType(ns['made'].func_code, {}, 'other', (3,)) if 0 else ns['made']
print f2.func_name, f2.func_defaults, f2.__module__
globals()['dynamic_name'] = 42; print dynamic_name
for name in ['alpha', 'beta']:
    exec "def %s(): return %r" % (name, name)
print alpha(), beta(), sorted(n for n in dir() if n.endswith('eta'))
class Registry(type):
    seen = []
    def __new__(cls, name, bases, dct):
        new = super(Registry, cls).__new__(cls, name, bases, dct)
        cls.seen.append(name)
        return new
Base = Registry('Base', (object,), {})
class D1(Base): pass
print Registry.seen, type(D1).__name__, D1.__class__ is Registry
def binop(name):
    def method(self, other): return (name, other)
    method.func_name = method.__name__ = 'op_' + name
    return method
class Ops(object):
    for n in ('add', 'sub'):
        locals()['do_' + n] = binop(n)
    del n
print Ops().do_add(1), Ops.do_sub.__name__
def import_from_mixin(M):
    flatten = {}
    caller = sys._getframe(1).f_locals
    for k, v in M.__dict__.items():
        if k not in ('__dict__', '__weakref__', '__module__', '__doc__'):
            caller[k] = v
class Mix(object):
    def mixed(self): return 'mixed'
class Target(object):
    import_from_mixin(Mix)
print Target().mixed(), Target.__dict__.has_key('mixed')
print [getattr(x, '__name__', None) for x in (len, str.upper, Mix, Mix().mixed, types)]
print sorted([3, 'a', None, 1.5, (1,)])[:3], [1, 2, 3].__class__, (1).__class__.__name__
print zip(*[(1, 'a'), (2, 'b')]), dict(zip('ab', [1, 2])) == {'a': 1, 'b': 2}, dict([(1, 2)], x=3).get('x')
print max([1, 5, 3], key=lambda v: -v), min('hello'), sum([[1], [2]], []), map(str, [1, 2]), filter(None, [0, 1, '', 'a'])
print reduce(operator.add, range(5)), sorted({'b': 1, 'a': 2}.iteritems(), key=operator.itemgetter(1))
print '%s' % [u'a', 'b'], '%r' % (u'a',), 'a%sb' % u'\xe9' == u'a\xe9b', u'%d' % 3, '%-10s|' % 'ab', '%*d' % (5, 3), '%.3s' % 'abcdef', '%5.1f%%' % 99.55
print 0.1 + 0.2, repr(0.1 + 0.2), 1e15, 1e16, repr(1e15), repr(123456789.123), 2.0 ** 0.5, 10 ** 20, float('1e400'), -0.0, 3.0
print (lambda *a, **k: (a, k))(1, *(2,), **{'z': 3}), [(i, j) for i in range(2) for j in range(i)], [y for y in (x for x in 'ab')]
x = 5
def scope():
    try:
        print x
        x = 1
    except UnboundLocalError as e: print e
scope()
def tup((a, b), c): return a + b + c
print tup((1, 2), 3), (lambda (a, b): a * b)((3, 4))
try:
    raise KeyError, ('a', 'b')
except KeyError, e: print e.args
try:
    try: raise ValueError('a')
    finally: print 'cleanup'
except ValueError: print sys.exc_info()[0].__name__
def gen():
    for i in range(3):
        try:
            yield i
        except ValueError:
            yield 'caught'
g = gen(); print g.next(), g.throw(ValueError), list(g)
print [list(t) for t in [(1, 2)]], list('abc'), tuple([1]), set('aab') == set(['a', 'b']), frozenset([1]) | set([2]), {1, 2} & {2}, {1} <= {1, 2}, {1, 2} - {1}, sorted({1, 2} ^ {2, 3})
print long(3), 3L == 3, hash(3L) == hash(3), {3: 'x'}[3L], {1.0: 'f'}[1], 5L / 2, 2 ** 64 - 1, -2 ** 63, 0xFFFFFFFFFFFFFFFF, ~5, -7 >> 1, 1 << 3, 6 & 3, 6 | 1, 6 ^ 3
print int('-0x10', 16), int('z', 36), '%x' % (2 ** 65), '%o' % 8, int(1e10), long(1e20), int('12345678901234567890')
print 'abc' < 'abd', 'a' 'b', 'tab\there', r'raw\n', '''tri
ple''', "\x41\101\u0041", u'\u0041\N{LATIN SMALL LETTER A}' if 0 else u'\u0041'
print isinstance(5, (str, int)), callable(int), hasattr('a', 'upper'), getattr('abc', 'upper')(), id(x) == id(x), vars(k) == {'l': [1, 2]}
ba = bytearray('abc'); ba[0] = 120; ba.append(33); print str(ba), repr(ba), len(ba), ba[1], repr(bytearray(2))
import __future__
print hex(__future__.division.compiler_flag), isinstance(3, complex)

# Files by descriptor, and patterns that look around.
import os
fd = os.open(__file__, os.O_RDONLY)
print len(os.read(fd, 5)), os.lseek(fd, 0, 1), os.lseek(fd, 0, 0), len(os.read(fd, 3))
os.close(fd)
try:
    os.read(fd, 1)
except OSError as e:
    print e.errno, e.strerror
try:
    os.open('/no/such/file', os.O_RDONLY)
except OSError as e:
    print e.errno, os.access('/no/such/file', os.R_OK)
keyword = re.compile(r'(true|false)(?!\w)')
print keyword.match('true').group(1), keyword.match('truely'), keyword.match('false-').end()
print re.match(r'(["\']).*?\1', '"it\'s" x').group(0)

# Time passes.
start = time.time()
total = sum(range(100))
print time.time() > start, time.clock() >= 0

# Modules that do not ship are there, and members of exceptions that a class defines anew.
import argparse, logging.handlers, xml.dom.minidom
from unittest import TestCase
print argparse.__name__, xml.dom.minidom.__name__
class Own(IOError):
    errno = 7
    message = 'own'
print Own().errno, Own('x').message, Own('x').args, len(os.urandom(4))

# `in` looks at every item, whatever Python code does meanwhile.
class Picky(object):
    def __eq__(self, other):
        del items[2:]
        return False
items = [1, Picky(), 'x', 'y']
print 'x' in [1, u'x'], 2.0 in [1, 2L], 'y' in items, items[2:], None in [0, None]
print [pair for pair in enumerate({'a': 1})], list(reversed([1, 2])), [k for k in {1: 2}.iteritems()]
import distutils.dir_util, email.mime.text, Cookie
from ctypes import util
from json import decoder
print util.__name__, decoder.__name__, Cookie.__name__
try:
    import distutils.no_such_module
except ImportError as e:
    print e
m = re.match(r'(?P<sign>[-+])?(?=\d)(?P<whole>\d*)(?P<rest>\.\d+)?', '-12.5')
print m.group('sign'), m.group('whole'), m.start('rest'), m.span('sign'), m.groupdict()['rest'], m.group(2)
print os.EX_OK, os.EX_USAGE, os.EX_CONFIG, os.P_NOWAIT, os.WCONTINUED, os.O_NOATIME
# Modules that a program finds and loads itself.
import imp, tempfile
place = tempfile.mkdtemp()
with open(os.path.join(place, 'found.py'), 'w') as f: f.write('x = 5\ndef double(n): return n * 2\n')
os.mkdir(os.path.join(place, 'package'))
with open(os.path.join(place, 'package', '__init__.py'), 'w') as f: f.write('y = __name__\n')
opened, name, (suffix, mode, kind) = imp.find_module('found', [place])
print name == os.path.join(place, 'found.py'), suffix, mode, kind == imp.PY_SOURCE, opened.readline(),
opened.close()
found = imp.load_source('found_here', name)
print found.x, found.double(4), sys.modules['found_here'] is found
print imp.load_module('package', *imp.find_module('package', [place])).y, imp.new_module('m').__name__
try: imp.find_module('unfound', [place])
except ImportError, e: print e
import math
print '%.6f %.6f %.6f %.6f' % (math.erf(0.5), math.erfc(0.5), math.gamma(4.5), math.lgamma(4.5))
for f in [lambda: math.gamma(0.0), lambda: math.gamma(-1.0), lambda: math.lgamma(-1.0)]:
    try: print f()
    except ValueError, e: print e
import errno
print len(errno.errorcode), errno.ENETUNREACH, errno.EOPNOTSUPP, errno.errorcode[35], errno.EDEADLK
print os.sysconf('SC_PAGESIZE'), os.sysconf(30), os.sysconf('SC_CLK_TCK'), len(os.sysconf_names)
for wrong in ['SC_NOTHING', 2.5, 99999]:
    try: os.sysconf(wrong)
    except (ValueError, TypeError, OSError), e: print e
print type(os.stat('/')) is os.stat_result, isinstance(os.stat('/'), os.stat_result)
stat = os.stat_result(range(10))
print stat.st_mode, stat[6], stat.st_size, stat.st_mtime, stat.st_atime, stat.st_blksize, len(stat), stat[8:]
stat = os.stat_result(tuple(range(16)))
print stat.st_ctime, stat.st_blocks, stat.st_rdev, len(stat), os.stat_result.n_fields, os.stat_result.__name__
for wrong in [(1, 2), range(17)]:
    try: os.stat_result(wrong)
    except TypeError, e: print e
