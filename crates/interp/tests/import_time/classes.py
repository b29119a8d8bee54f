# Classes of both styles, metaclasses, descriptors, special methods.
class Old:
    x = 1
    def __init__(self, a):
        self.a = a
    def m(self):
        return self.a
    def __getattr__(self, name):
        return 'ga:' + name
o = Old(5)
print o.m(), o.x, o.zzz, Old.__name__, o.__class__.__name__, isinstance(o, Old), type(o)
class Sub(Old):
    def m(self):
        return Old.m(self) + 1
print Sub(1).m(), Sub.__bases__ == (Old,)
class A(object):
    count = 0
    def __init__(self, v=0):
        self.v = v
        A.count += 1
    def __add__(self, o): return 'A+%r' % (o,)
    def __radd__(self, o): return '%r+A' % (o,)
    def __iadd__(self, o): self.v += o; return self
    def __eq__(self, o): return isinstance(o, A) and self.v == o.v
    def __ne__(self, o): return not self == o
    def __hash__(self): return hash(self.v)
    def __repr__(self): return 'A(%r)' % self.v
    def __len__(self): return self.v
    def __getitem__(self, i): return ('item', i)
    def __setitem__(self, i, v): print 'set', i, v
    def __delitem__(self, i): print 'del', i
    def __contains__(self, i): return i == 42
    def __call__(self, *a, **k): return a, k
    def __iter__(self): return iter([self.v] * 2)
    def __nonzero__(self): return self.v != 0
    def __cmp__(self, o): return cmp(self.v, o.v)
    def __neg__(self): return 'neg'
    def __getslice__(self, i, j): return ('slice', i, j)
    @property
    def p(self): return self.v * 2
    @p.setter
    def p(self, v): self.v = v
    @staticmethod
    def s(x): return x
    @classmethod
    def c(cls, x): return cls.__name__, x
a = A(3)
print a + 1, 1 + a, a == A(3), a != A(3), len(a), a[1], a[1:2], 42 in a, a(1, k=2), list(a), bool(A(0)), -a
a += 4; print a, a.p; a.p = 9; print a.v, A.s(1), a.s(2), A.c(3), a.c(4), A.count > 0
a[1] = 2; del a[5]
print a < A(10), {A(1): 'x'}[A(1)], A(2) in [A(1), A(2)], str(a), `a`
class B(A):
    def __init__(self, v):
        super(B, self).__init__(v + 1)
    @classmethod
    def c(cls, x): return super(B, cls).c(x)
print B(1).v, B.c(2), B.__mro__ == (B, A, object), B.__base__ is A
class X(object):
    def f(self): return 'X'
class Y(X):
    def f(self): return 'Y' + super(Y, self).f()
class Z(X):
    def f(self): return 'Z' + super(Z, self).f()
class W(Y, Z):
    def f(self): return 'W' + super(W, self).f()
print W().f(), [c.__name__ for c in W.__mro__]
try:
    class Bad(X, Y): pass
except TypeError as e:
    print 'mro error'
class Meta(type):
    def __new__(meta, name, bases, d):
        d['tag'] = name.lower()
        return type.__new__(meta, name, bases, d)
    def __init__(cls, name, bases, d):
        cls.inited = True
    def __call__(cls, *args):
        obj = type.__call__(cls, *args)
        obj.via = 'meta'
        return obj
    def hello(cls): return 'hello ' + cls.__name__
class M(object):
    __metaclass__ = Meta
class N(M):
    pass
print M.tag, N.tag, N.inited, N().via, N.hello(), type(N).__name__
class extendabletype(type):
    def __new__(cls, name, bases, dict):
        if name == '__extend__':
            for b in bases:
                for k, v in dict.items():
                    if k == '__module__': continue
                    setattr(b, k, v)
            return None
        return super(extendabletype, cls).__new__(cls, name, bases, dict)
class E(object):
    __metaclass__ = extendabletype
class __extend__(E):
    def added(self): return 'added'
print E().added(), __extend__
class D(object):
    def __get__(self, obj, cls): return ('get', obj is None, cls.__name__)
    def __set__(self, obj, v): print 'dset', v
class HasD(object):
    d = D()
h = HasD(); print h.d, HasD.d; h.d = 5
class Slots(object):
    __slots__ = ['a', 'b']
s = Slots(); s.a = 1; print s.a
class Hidden(object):
    __slots__ = ['kind', 'other']
    kind = 3
print Hidden.kind, Hidden().kind, type(Hidden.other).__name__
try:
    s.c = 1
except AttributeError as e:
    print e
try:
    print s.b
except AttributeError as e:
    print e
class GA(object):
    def __getattribute__(self, name):
        if name == 'magic': return 'gotcha'
        return object.__getattribute__(self, name)
    y = 1
print GA().magic, GA().y
class SA(object):
    def __setattr__(self, n, v):
        object.__setattr__(self, n, v * 2)
    def __delattr__(self, n):
        print 'deleting', n
        object.__delattr__(self, n)
q = SA(); q.x = 4; print q.x; del q.x; print hasattr(q, 'x')
T = type('T', (A,), {'z': 5, 'w': lambda self: self.z})
print T(1).w(), T.__name__, T.__module__ == __name__
class MyInt(int):
    def __new__(cls, v): return int.__new__(cls, v + 1)
    def __add__(self, o): return MyInt(int.__add__(self, o))
print MyInt(3), MyInt(3) + 1, isinstance(MyInt(1), int), MyInt(2) == 3, [10, 20, 30, 40][MyInt(0)], '%d' % MyInt(6)
class MyList(list):
    def __getitem__(self, i): return list.__getitem__(self, i) * 2
    def append(self, x): super(MyList, self).append(x + 100)
ml = MyList([1, 2]); ml.append(3); print ml, ml[0], len(ml), list(ml), ml[0:2]
class MyDict(dict):
    def __missing__(self, k): return 'missing ' + k
md = MyDict(a=1); print md['a'], md['b'], md, len(md)
class MyStr(str): pass
print MyStr('abc').upper(), MyStr('x') + 'y', repr(MyStr('q')), MyStr('k') in {'k': 1}
class Exc(Exception):
    def __init__(self, code):
        self.code = code
    def __str__(self): return 'code %d' % self.code
try:
    raise Exc(3)
except Exc as e:
    print e, e.code, e.args
try:
    raise ValueError, 'old style'
except (KeyError, ValueError), e:
    print type(e).__name__, e
def f():
    try:
        return 'try'
    finally:
        print 'fin'
print f()
try:
    try:
        raise KeyError('inner')
    except KeyError:
        raise
except LookupError as e:
    print repr(e)
class CM(object):
    def __enter__(self): print 'enter'; return self
    def __exit__(self, t, v, tb): print 'exit', t and t.__name__; return t is ValueError
with CM() as cm:
    print 'body'
with CM():
    raise ValueError('x')
print W.f.im_func.func_name, W().f.im_self is None, W.f.im_class.__name__
def deco(arg):
    def wrap(fn):
        fn.tag = arg
        return fn
    return wrap
@deco('t')
def decorated(): "doc"
print decorated.tag, decorated.__name__, decorated.__doc__, decorated.__dict__, decorated.func_code.co_argcount
decorated.__name__ = 'renamed'; print decorated.__name__
class Cnt(object):
    def __init__(self): self.n = 0
    def next(self):
        self.n += 1
        if self.n > 3: raise StopIteration
        return self.n
    def __iter__(self): return self
print list(Cnt()), [x for x in Cnt()], tuple(Cnt()), sum(Cnt())
class Seq(object):
    def __getitem__(self, i):
        if i > 2: raise IndexError
        return i * i
print list(Seq()), 4 in Seq()
print sorted(k for k in A.__dict__.keys() if not k.startswith('__')), vars(A(7)), getattr(a, 'nope', 'dflt')
def outer():
    x = 1
    class In(object):
        y = x
        def g(self): return x
    return In
print outer().y, outer()().g(), outer().__name__
print isinstance(Exc, type), issubclass(Exc, Exception), Exc.__bases__
class P1(object): pass
p = P1(); p.__dict__['dyn'] = 8; print p.dyn; p.__class__ = A; print isinstance(p, A)
print object() == object(), A.__eq__ is None, (lambda: 1)(), None is None
class Cmp(object):
    def __init__(self, v): self.v = v
    def __lt__(self, o): return self.v < o.v
print [c.v for c in sorted([Cmp(3), Cmp(1), Cmp(2)])], max(Cmp(1), Cmp(5)).v
import operator
print operator.itemgetter(1)('abc'), operator.attrgetter('v')(Cmp(4)), operator.add(1, 2)
class U(object):
    def __unicode__(self): return u'uni'
    def __str__(self): return 'st'
print unicode(U()), str(U()), '%s' % U(), u'%s' % U()
class Bound(object):
    def plain(self, n): return self.__class__.__name__, n
    @staticmethod
    def static(n): return n
    @classmethod
    def of_class(cls): return cls.__name__
class Lower(Bound): pass
def free(self, n): return n + 1
print free.__get__(3)(4), free.__get__(Lower(), Bound)(5), Bound.plain.__get__(Lower())(2)
unbound = Bound.__dict__['plain'].__get__(None, Lower)
print unbound.im_self, unbound.im_class.__name__, unbound.im_func is Bound.plain.im_func
print Bound.__dict__['static'].__get__(None, Bound)(6), Bound.__dict__['of_class'].__get__(None, Lower)()
try: free.__get__(None)
except TypeError, e: print e
# Old-style classes take another namespace as a whole, new ones do not.
class Names: x = 1
Names.__dict__ = {'y': 2, 'm': lambda self: self.y + 1}
print hasattr(Names, 'x'), Names.y, Names().m(), sorted(Names.__dict__)
try: Names.__dict__ = 3
except TypeError as e: print e
try: A.__dict__ = {}
except (TypeError, AttributeError) as e: print e
# Methods that a class body takes from another class.
class Taken(object):
    def f(self, n): return n + 1
class Taking(Taken):
    g = Taken.f
class TakingAgain(Taking):
    h = Taking.g
class Stranger(object):
    f = Taken.f
t = TakingAgain()
print t.g(1), t.h(2), Taking.g(t, 3), TakingAgain.h(t, 4), Stranger().f(t, 5), t.g.im_self is t
try: Stranger().f(6)
except TypeError: print 'not its own'
