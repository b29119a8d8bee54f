"""Names that annotations in comments are made of. They mean nothing while a program runs."""

TYPE_CHECKING = False
AnyStr = Text = unicode


class _Form(object):
    """Anything in brackets after it, and called, is a form again."""

    def __init__(self, name):
        self._name = name

    def __getitem__(self, parameters):
        return self

    def __call__(self, *args, **kwds):
        return self

    def __repr__(self):
        return 'typing.' + self._name


for _name in ['Any', 'Callable', 'ClassVar', 'Counter', 'DefaultDict', 'Deque', 'Dict', 'FrozenSet',
              'Generator', 'Iterable', 'Iterator', 'List', 'Mapping', 'MutableMapping',
              'MutableSequence', 'MutableSet', 'NoReturn', 'Optional', 'Pattern', 'Sequence',
              'Set', 'Tuple', 'Type', 'Union', 'IO', 'BinaryIO', 'TextIO', 'Hashable', 'Sized',
              'Container', 'Collection', 'Match', 'Final', 'Literal']:
    globals()[_name] = _Form(_name)


class _Parametrised(type):
    def __getitem__(cls, parameters):
        return cls


class Generic(object):
    """A base of classes with parameters, which are left out."""

    __metaclass__ = _Parametrised


class Protocol(Generic):
    pass


def TypeVar(name, *constraints, **kwds):
    return _Form(name)


def NewType(name, supertype):
    return supertype


def NamedTuple(typename, fields):
    from collections import namedtuple
    return namedtuple(typename, [name for name, _ in fields])


def cast(typ, value):
    return value


def overload(func):
    return func


def no_type_check(func):
    return func


def get_type_hints(obj, globalns=None, localns=None):
    return {}
