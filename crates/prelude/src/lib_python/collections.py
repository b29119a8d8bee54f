"""Containers."""
from _abcoll import (
    Callable, Container, Hashable, Iterable, Iterator, Mapping, MutableMapping, MutableSequence,
    MutableSet, Sequence, Set, Sized)
import sys


class deque(object):
    # The remedy that the compiler shows where translated code makes one.
    _instead_ = 'use a list, and keep the index of its first item in a variable'

    def __init__(self, items=(), maxlen=None):
        self.maxlen = maxlen
        self._items = []
        self.extend(items)

    def append(self, x):
        self._items.append(x)
        if self.maxlen is not None and len(self._items) > self.maxlen:
            del self._items[0]

    def appendleft(self, x):
        self._items.insert(0, x)
        if self.maxlen is not None and len(self._items) > self.maxlen:
            self._items.pop()

    def extend(self, items):
        for x in items:
            self.append(x)

    def extendleft(self, items):
        for x in items:
            self.appendleft(x)

    def pop(self):
        if not self._items:
            raise IndexError("pop from an empty deque")
        return self._items.pop()

    def popleft(self):
        if not self._items:
            raise IndexError("pop from an empty deque")
        return self._items.pop(0)

    def remove(self, x):
        self._items.remove(x)

    def count(self, x):
        return self._items.count(x)

    def reverse(self):
        self._items.reverse()

    def clear(self):
        self._items = []

    def rotate(self, n=1):
        if self._items:
            n %= len(self._items)
            self._items = self._items[-n:] + self._items[:-n]

    def __len__(self):
        return len(self._items)

    def __iter__(self):
        return iter(self._items)

    def __reversed__(self):
        return reversed(self._items)

    def __getitem__(self, i):
        return self._items[i]

    def __setitem__(self, i, x):
        self._items[i] = x

    def __delitem__(self, i):
        del self._items[i]

    def __contains__(self, x):
        return x in self._items

    def __eq__(self, other):
        return isinstance(other, deque) and self._items == other._items

    def __ne__(self, other):
        return not self == other

    __hash__ = None

    def __repr__(self):
        return 'deque(%r)' % (self._items,)


class defaultdict(dict):
    _instead_ = 'use a dict, and assign the first value where `key not in d`'

    def __init__(self, default_factory=None, *args, **kwds):
        dict.__init__(self, *args, **kwds)
        self.default_factory = default_factory

    def __missing__(self, key):
        if self.default_factory is None:
            raise KeyError(key)
        value = self[key] = self.default_factory()
        return value

    def copy(self):
        return type(self)(self.default_factory, self)

    def __repr__(self):
        return 'defaultdict(%r, %s)' % (self.default_factory, dict.__repr__(self))


class OrderedDict(dict):
    """Dicts keep their order here; this class compares and prints it."""

    def __reversed__(self):
        return reversed(self.keys())

    def popitem(self, last=True):
        if not self:
            raise KeyError('dictionary is empty')
        key = self.keys()[-1 if last else 0]
        return key, self.pop(key)

    def copy(self):
        return type(self)(self)

    def __eq__(self, other):
        if isinstance(other, OrderedDict):
            return self.items() == other.items()
        return dict.__eq__(self, other)

    def __ne__(self, other):
        return not self == other

    __hash__ = None

    def __repr__(self):
        if not self:
            return '%s()' % (type(self).__name__,)
        return '%s(%r)' % (type(self).__name__, self.items())


class Counter(dict):
    _instead_ = 'use a dict, and assign the first count where `key not in d`'

    def __init__(self, iterable=None, **kwds):
        dict.__init__(self)
        self.update(iterable, **kwds)

    def __missing__(self, key):
        return 0

    def update(self, iterable=None, **kwds):
        if hasattr(iterable, 'iteritems'):
            for key, n in iterable.iteritems():
                self[key] = self[key] + n
        elif iterable is not None:
            for key in iterable:
                self[key] = self[key] + 1
        for key in kwds:
            self[key] = self[key] + kwds[key]

    def most_common(self, n=None):
        items = sorted(self.iteritems(), key=lambda item: item[1], reverse=True)
        return items if n is None else items[:n]

    def elements(self):
        for key, n in self.iteritems():
            for i in range(n):
                yield key


def namedtuple(typename, field_names, verbose=False, rename=False):
    if isinstance(field_names, basestring):
        field_names = field_names.replace(',', ' ').split()
    fields = tuple(map(str, field_names))
    count = len(fields)

    def __new__(cls, *args, **kwds):
        values = list(args)
        for name in fields[len(args):]:
            if name not in kwds:
                break
            values.append(kwds.pop(name))
        if kwds or len(values) != count:
            raise TypeError("%s takes exactly %d arguments" % (typename, count))
        return tuple.__new__(cls, values)

    def _make(cls, iterable):
        return cls(*iterable)

    def _asdict(self):
        return OrderedDict(zip(fields, self))

    def _replace(self, **kwds):
        return type(self)(*[kwds.pop(name, value) for name, value in zip(fields, self)])

    def __repr__(self):
        parts = ['%s=%r' % pair for pair in zip(fields, self)]
        return '%s(%s)' % (typename, ', '.join(parts))

    namespace = {
        '__slots__': (),
        '_fields': fields,
        '__new__': __new__,
        '_make': classmethod(_make),
        '_asdict': _asdict,
        '_replace': _replace,
        '__repr__': __repr__,
        '__module__': sys._getframe(1).f_globals.get('__name__', '__main__'),
        '_instead_': 'write a class with these attributes, which `__init__` sets',
    }

    def field(i):
        return property(lambda self: self[i])
    for i, name in enumerate(fields):
        namespace[name] = field(i)
    return type(typename, (tuple,), namespace)


class Callable(object):
    pass


class Iterable(object):
    pass


class Mapping(object):
    pass


class Sequence(object):
    pass
