"""Classes that are extended after they were made, and methods that are chosen by two
objects.

    class __extend__(Base):         adds the methods to Base
        ...
    class __extend__(pairtype(A, B)):
        def op((a, b)): ...         pair(a, b).op() for an A and a B
"""


class DoubleDispatchRegistry(object):
    """Values for pairs of classes, which hold for subclasses too."""

    def __init__(self):
        self._registry = {}

    def __getitem__(self, classes):
        first, second = classes
        for c1 in first.__mro__:
            for c2 in second.__mro__:
                if (c1, c2) in self._registry:
                    return self._registry[c1, c2]
        raise KeyError(classes)

    def __setitem__(self, classes, value):
        self._registry[classes] = value


def doubledispatch(func):
    """A function of two arguments that others are registered for, by their classes."""
    return DoubleDispatchFunction(func)


class DoubleDispatchFunction(object):
    """Calls what is registered for the classes of the first two arguments, or the default."""

    def __init__(self, func):
        self._default = func
        self._registry = DoubleDispatchRegistry()

    def register(self, cls1, cls2):
        """A decorator of functions for these classes."""
        def add(func):
            self._registry[cls1, cls2] = func
            return func
        return add

    def __call__(self, arg1, arg2, *args, **kwds):
        classes = type(arg1), type(arg2)
        try:
            chosen = self._registry[classes]
        except KeyError:
            chosen = self._default
        return chosen(arg1, arg2, *args, **kwds)


class extendabletype(type):
    """The metaclass of classes that `class __extend__(C)` adds to."""

    def __new__(cls, name, bases, dict):
        if name != '__extend__':
            return super(extendabletype, cls).__new__(cls, name, bases, dict)
        for base in bases:
            for key, value in dict.items():
                if key not in ('__module__', '__metaclass__', '__doc__'):
                    setattr(base, key, value)
        return None


_pairtypes = {}


def pairtype(cls1, cls2):
    """The class of pairs of instances of two classes."""
    key = (cls1, cls2)
    if key not in _pairtypes:
        # The first class counts more in looking for a method.
        bases = ([pairtype(base, cls2) for base in cls1.__bases__] +
                 [pairtype(cls1, base) for base in cls2.__bases__])
        name = 'pairtype(%s, %s)' % (cls1.__name__, cls2.__name__)
        _pairtypes[key] = extendabletype(name, tuple(bases) or (tuple,), {})
    return _pairtypes[key]


def pair(a, b):
    return pairtype(a.__class__, b.__class__)((a, b))
