# Lookups must see every change of classes, instances and modules made after an earlier lookup.
import sys


class Base(object):
    shared = 'base'

    def get(self):
        return 'Base.get'


class Middle(Base):
    pass


class Derived(Middle):
    def __init__(self):
        self.own = 1


def ask(x):
    return x.shared, x.get(), hasattr(x, 'late'), getattr(x, 'late', None)


def ask_class(c):
    return type(c.shared).__name__, hasattr(c, 'late')


d = Derived()


def both(what):
    print what, ask(d), ask_class(Derived)


# Attributes of classes: added, replaced, removed, at each place of the hierarchy.
both('before')
both('again')
Middle.get = lambda self: 'Middle.get'
both('added in between')
Middle.get = lambda self: 'Middle.get, replaced'
both('replaced')
del Middle.get
both('deleted')
Derived.shared = 'derived'
both('hidden')
del Derived.shared
Base.late = 'late'
both('late')
Base.late = 'later'
both('later')
del Base.late
both('never')
setattr(Derived, 'sha' + 'red', 'by setattr')
both('setattr')
delattr(Derived, 'shared')
both('delattr')

# Attributes of instances hide those of classes, except data descriptors.
d.get = lambda: 'own get'
both('own')
d.shared = 'own'
both('own, too')
Base.shared = property(lambda self: 'property')
both('property')
Derived.get = property(lambda self: lambda: 'get of a property')
both('property of a method')
del Derived.get
del d.get
Base.shared = 'base'
both('no property')
d.__dict__['get'] = lambda: 'by __dict__'
both('__dict__')
d.__dict__.clear()
both('cleared')
d.__dict__ = {'get': lambda: 'another __dict__', 'shared': 'other'}
both('another')
d.__dict__ = {}


# Descriptors are added and removed.
class Described(object):
    def __get__(self, obj, cls):
        return 'described'


class Data(Described):
    def __set__(self, obj, value):
        obj.__dict__['stored'] = value


d.late = 'own'
Base.late = Described()
both('not data')
Base.late = Data()
both('data')
d.late = 'set'
both('data, set')
print d.__dict__['late'], d.__dict__['stored']
del Data.__set__
both('not data any more')
d.late = 'set again'
both('set again')
del Described.__get__
del d.late
print type(d.late).__name__
Described.__get__ = lambda self, obj, cls: 'by another'
both('described by another')
del Base.late


# Hooks are added and removed, in a base and in the class itself.
def fallback(self, name):
    if name == 'late':
        return 'from __getattr__'
    raise AttributeError(name)


Base.__getattr__ = fallback
both('__getattr__')
del Base.__getattr__
both('no __getattr__')


def every(self, name):
    if name == 'get':
        return lambda: 'from __getattribute__'
    return object.__getattribute__(self, name)


Middle.__getattribute__ = every
both('__getattribute__')
del Middle.__getattribute__
both('no __getattribute__')


def put(x, v):
    x.slot = v
    return x.__dict__.get('slot')


print put(d, 1), put(d, 2)
log = []
Base.__setattr__ = lambda self, name, value: log.append((name, value))
print put(d, 3), log
del Base.__setattr__
print put(d, 4), log
Base.slot = property(lambda self: 'got', lambda self, v: log.append(v))
print put(d, 5), d.slot, log
del Base.slot
print put(d, 6), d.slot


# Other bases, and another class.
class Other(object):
    shared = 'other'

    def get(self):
        return 'Other.get'


Middle.__bases__ = (Other,)
both('other bases')
Middle.__bases__ = (Base,)
both('first bases')


class Twin(object):
    shared = 'twin'

    def get(self):
        return 'Twin.get'


d.__class__ = Twin
print ask(d)
d.__class__ = Derived
print ask(d)


# Attributes of metaclasses are found on classes, and change.
class Meta(type):
    def kind(cls):
        return 'Meta.kind'


class Made(object):
    __metaclass__ = Meta


def kind(c):
    return c.kind()


print kind(Made), kind(Made)
Meta.kind = lambda cls: 'replaced'
print kind(Made)
Made.kind = staticmethod(lambda: 'own')
print kind(Made)
del Made.kind
Meta.__call__ = lambda cls: 'not an instance'
print Made()
del Meta.__call__
print type(Made()).__name__


# Constructors change.
def construct(c, *args):
    x = c(*args)
    return sorted(x.__dict__.items())


print construct(Derived), construct(Derived)


def init(self, v=7):
    self.v = v


Derived.__init__ = init
print construct(Derived), construct(Derived, 8)
del Derived.__init__
print construct(Derived)


def new(cls):
    x = object.__new__(cls)
    x.made = True
    return x


Base.__new__ = staticmethod(new)
print construct(Derived)
del Base.__new__


# Operators of classes.
def operate(x):
    return x == 1, not x, len(x) if hasattr(x, '__len__') else None


print operate(d), operate(d)
Base.__eq__ = lambda self, other: 'equal'
Base.__len__ = lambda self: 0
print operate(d)
Base.__nonzero__ = lambda self: True
print operate(d)
del Base.__eq__, Base.__len__, Base.__nonzero__
print operate(d)


# Old-style classes: by attributes, bases, dicts and classes as well.
class Old:
    shared = 'old'

    def get(self):
        return 'Old.get'


class Newer(Old):
    pass


o = Newer()
print ask(o), ask(o)
Newer.get = lambda self: 'Newer.get'
print ask(o)
del Newer.get
Old.late = 1
print ask(o)
Newer.__dict__['shared'] = 'by __dict__'
print ask(o)
Newer.__dict__.pop('shared')
Old.__dict__.pop('late')
print ask(o)


class Older:
    shared = 'older'

    def get(self):
        return 'Older.get'


Newer.__bases__ = (Older,)
print ask(o)
o.__class__ = Old
print ask(o)
o.get = lambda: 'own'
print ask(o)
Old.__getattr__ = lambda self, name: 'hook ' + name
print ask(o)
o.__dict__ = {}
print ask(o)


# Globals and builtins: of a function, of a module that others change.
def read():
    return len('abc'), value


value = 1
print read(), read()
len = lambda s: 'own len'
print read()
del len
print read()
globals()['value'] = 2
print read()
me = sys.modules[__name__]
me.value = 3
me.len = lambda s: 'by module'
print read()
del me.len
print read(), me.value
import __builtin__
__builtin__.later = 'builtin'


def late():
    return later


print late()
later = 'global'
print late()
del later
print late()
del __builtin__.later
try:
    late()
except NameError, e:
    print e

# Functions: code and defaults that change between calls.
def f(a, b=2):
    return a, b


def g(a, b=3):
    return b, a


def call():
    return f(1), f(1, b=5), f(b=6, a=0)


print call(), call()
f.func_defaults = (9,)
print call()
f.func_code = g.func_code
print call()
f.func_defaults = (7, 8)
print call(), f()
f.func_defaults = None
try:
    call()
except TypeError:
    print 'no defaults'

# Bound methods are objects of their own.
m = d.get
print m is m, d.get is d.get, d.get == d.get, m == d.get, m.im_self is d, m.im_class.__name__
print len(set([m, d.get])), sorted({m: 1, d.get: 2}.values()), m(), m.im_func is Base.__dict__['get']
print Derived.get == Derived.get, Derived.get.im_self
many = [d.get for i in range(3)]
print [x() for x in many], [many[0] is x for x in many]


# Iterators of a class while it changes.
class Items(object):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def next(self):
        if not self.n:
            raise StopIteration
        self.n -= 1
        if self.n == 2:
            Items.next = lambda self: self.stop()
        return self.n

    def stop(self):
        raise StopIteration


print list(Items(5))


# Class attributes that are not functions, and methods of other classes.
class Holder(object):
    number = 1
    text = 'text'
    method = Derived.get
    bound = d.get
    unbound = Base.get


class Below(Base):
    method = Base.get
    again = Base.__dict__['get']


def hold(x):
    return x.number, x.text, x.bound()


h = Holder()
print hold(h), hold(h)
Holder.number = 2
print hold(h)
h.number = 3
print hold(h)
b = Below()
print b.method(), b.again(), b.method == b.again, b.method.im_self is b
print h.method.im_self, h.__class__.__name__, h.__doc__


# Builtin containers, classes that inherit from them, and data of classes.
class Numbers(list):
    pass


class Table(dict):
    def __getitem__(self, key):
        return 'own', dict.get(self, key)


def fill(l, t):
    l.append(1)
    l[0] = l[0] + 1
    t['k'] = 'v'
    t['k'] = t['k']
    return len(l), l[0], t['k'], 'k' in t, 'm' in t


print fill([5], {}), fill(Numbers([6]), Table())
Numbers.append = lambda self, v: self.extend([v, v])
print fill([5], {}), fill(Numbers([6]), Table())
del Numbers.append
Numbers.__setitem__ = lambda self, i, v: list.append(self, v)
Table.__setitem__ = lambda self, k, v: dict.__setitem__(self, k, 'by __setitem__')
Table.__contains__ = lambda self, k: k == 'm'
print fill([5], {}), fill(Numbers([6]), Table())
n = Numbers()
n.append = lambda v: list.append(n, -v)
n.append(3)
print n, [].append == [].append


class Data(object):
    items = [1]
    other = Numbers


def data(c):
    return c.items, c.other.__name__


print data(Data), data(Data)
Data.items = (2,)
Data.other = staticmethod(fill)
print data(Data)
Made.items = 'of the class'
Made.other = Data
print data(Made)
Meta.items = property(lambda cls: 'of the metaclass')
print data(Made)


def indices():
    l = [1, 2]
    l[-1] = 3
    for i in (2, -3):
        try:
            l[i] = 0
        except IndexError, e:
            print e
    return l[-2], l[True], {1: 'int'}[True], {True: 'bool'}[1], 'a' 'b' + 'c', 1.5 < 2.5, 7 // -2, -7 // 2, -7 % 3, 1 << 3


print indices()
