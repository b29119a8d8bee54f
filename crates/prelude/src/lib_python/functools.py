"""Functions on functions."""
reduce = reduce

WRAPPER_ASSIGNMENTS = ('__module__', '__name__', '__doc__')
WRAPPER_UPDATES = ('__dict__',)


class partial(object):
    # The remedy that the compiler shows where translated code makes one.
    _instead_ = 'write a class with the arguments as attributes, and a method that calls the function'

    def __init__(self, func, *args, **kwds):
        self.func = func
        self.args = args
        self.keywords = kwds

    def __call__(self, *args, **kwds):
        keywords = dict(self.keywords)
        keywords.update(kwds)
        return self.func(*(self.args + args), **keywords)


def update_wrapper(wrapper, wrapped, assigned=WRAPPER_ASSIGNMENTS,
                   updated=WRAPPER_UPDATES):
    for name in assigned:
        setattr(wrapper, name, getattr(wrapped, name))
    for name in updated:
        getattr(wrapper, name).update(getattr(wrapped, name, {}))
    return wrapper


def wraps(wrapped, assigned=WRAPPER_ASSIGNMENTS, updated=WRAPPER_UPDATES):
    def decorate(wrapper):
        return update_wrapper(wrapper, wrapped, assigned, updated)
    return decorate


def cmp_to_key(compare):
    class Key(object):
        def __init__(self, obj):
            self.obj = obj

        def __lt__(self, other):
            return compare(self.obj, other.obj) < 0

        def __gt__(self, other):
            return compare(self.obj, other.obj) > 0

        def __eq__(self, other):
            return compare(self.obj, other.obj) == 0

        def __le__(self, other):
            return compare(self.obj, other.obj) <= 0

        def __ge__(self, other):
            return compare(self.obj, other.obj) >= 0
    return Key


def total_ordering(cls):
    def derive(name, function):
        if name not in cls.__dict__:
            setattr(cls, name, function)
    if '__lt__' in cls.__dict__:
        derive('__gt__', lambda a, b: not (a < b or a == b))
        derive('__le__', lambda a, b: a < b or a == b)
        derive('__ge__', lambda a, b: not a < b)
    elif '__gt__' in cls.__dict__:
        derive('__lt__', lambda a, b: not (a > b or a == b))
        derive('__ge__', lambda a, b: a > b or a == b)
        derive('__le__', lambda a, b: not a > b)
    elif '__le__' in cls.__dict__:
        derive('__ge__', lambda a, b: not a <= b or a == b)
        derive('__lt__', lambda a, b: a <= b and not a == b)
        derive('__gt__', lambda a, b: not a <= b)
    elif '__ge__' in cls.__dict__:
        derive('__le__', lambda a, b: not a >= b or a == b)
        derive('__gt__', lambda a, b: a >= b and not a == b)
        derive('__lt__', lambda a, b: not a >= b)
    else:
        raise ValueError('must define at least one ordering operation: < > <= >=')
    return cls
