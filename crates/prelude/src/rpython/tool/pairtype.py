"""Classes that are extended after they were made, and methods that are chosen by two
objects.

    class __extend__(Base):         adds the methods to Base
        ...
    class __extend__(pairtype(A, B)):
        def op((a, b)): ...         pair(a, b).op() for an A and a B
"""


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
