"""Types of arguments and results that a module for Python declares."""
from rpython.annotator import model
from rpython.rlib import rarithmetic


class Wrong(Exception):
    """Why a function is none that Python can call."""


class Type(object):
    """A type: `int`, `nonneg`, `bool`, `float`, `str`, `bytes`, `unicode`, `none`, `any`; `integer` of a
    class; `optional`, `list`, `dict`, `tuple` of others."""

    def __init__(self, kind, items=(), cls=None):
        self.kind = kind
        self.items = tuple(items)
        self.cls = cls

    def described(self):
        """For the compiler: the kind with more where there is more, and items."""
        kind = self.kind
        if kind == 'integer':
            kind = 'unsigned' if self.cls(-1) > 0 else 'signed'
            if self.cls.BITS != 64:
                raise Wrong('integers of %d bits are not passed' % self.cls.BITS)
        return (kind, tuple([i.described() for i in self.items]))

    def check_default(self, name, value):
        if not self.holds(value):
            raise Wrong('the default of `%s` is no %s' % (name, self.text()))

    def holds(self, value):
        kind = self.kind
        if kind == 'optional':
            return value is None or self.items[0].holds(value)
        if kind == 'tuple':
            return (isinstance(value, tuple) and len(value) == len(self.items)
                    and False not in [t.holds(v) for t, v in zip(self.items, value)])
        if kind == 'nonneg':
            return isinstance(value, (int, long)) and value >= 0
        classes = {'int': (int, long), 'integer': (int, long, rarithmetic.base_int),
                   'bool': bool, 'float': (float, int, long), 'str': str, 'bytes': str,
                   'unicode': unicode}
        return kind in classes and isinstance(value, classes[kind])

    def text(self):
        if self.kind == 'integer':
            return self.cls.__name__
        if not self.items and self.kind != 'tuple':
            return self.kind
        return '%s[%s]' % (self.kind, ', '.join([i.text() for i in self.items]))


def List(item):
    return Type('list', [value(item)])


def Tuple(items):
    return Type('tuple', [value(i) for i in items])


def Dict(key, item):
    key = value(key)
    if key.kind not in ('int', 'nonneg', 'integer', 'bool', 'str', 'bytes', 'unicode'):
        raise Wrong('keys of dicts are integers or strings, not %s' % key.text())
    return Type('dict', [key, value(item)])


def Optional(item):
    item = value(item)
    if item.kind in ('int', 'nonneg', 'integer', 'bool', 'float'):
        raise Wrong('RPython has no %s that may be None' % item.text())
    if item.kind in ('optional', 'none'):
        return item
    return Type('optional', [item])


def value(t):
    """A type of something that is there."""
    if t.kind in ('none', 'any'):
        raise Wrong('%s is no type of a value' % t.kind)
    return t


INT, BOOL, FLOAT, NONE = Type('int'), Type('bool'), Type('float'), Type('none')
# An int that is not negative.
NONNEG = Type('nonneg')
STR, BYTES, UNICODE = Type('str'), Type('bytes'), Type('unicode')
# The result of a function that does not declare it.
ANY = Type('any')

_PLAIN = {int: INT, bool: BOOL, float: FLOAT, str: STR, unicode: UNICODE}


def of_class(t):
    """The type that a declaration in terms of Python's own types means."""
    if isinstance(t, model.SomeObject):
        return of_annotation(t)
    if t is None or t is type(None):
        return NONE
    if isinstance(t, list) and len(t) == 1:
        return List(of_class(t[0]))
    if isinstance(t, tuple):
        return Tuple([of_class(i) for i in t])
    if isinstance(t, dict) and len(t) == 1:
        key, item = t.items()[0]
        return Dict(of_class(key), of_class(item))
    if isinstance(t, type):
        if t in _PLAIN:
            return _PLAIN[t]
        if issubclass(t, rarithmetic.base_int):
            return Type('integer', cls=t)
        raise Wrong('instances of `%s` are not passed' % t.__name__)
    raise Wrong('there is no such type as %r' % (t,))


def of_annotation(s):
    """The type of an annotation of `rpython.annotator.model`."""
    if isinstance(s, model.SomeBool):
        return BOOL
    if isinstance(s, model.SomeInteger):
        if s.knowntype is not int:
            return of_class(s.knowntype)
        return NONNEG if getattr(s, 'nonneg', False) else INT
    if isinstance(s, model.SomeFloat):
        return FLOAT
    if isinstance(s, model.SomeNone):
        return NONE
    t = None
    if isinstance(s, model.SomeString):
        t = STR
    elif isinstance(s, model.SomeUnicodeString):
        t = UNICODE
    elif isinstance(s, model.SomeList):
        t = List(of_annotation(s.item))
    elif isinstance(s, model.SomeTuple):
        t = Tuple([of_annotation(i) for i in s.items])
    elif isinstance(s, model.SomeDict):
        t = Dict(of_annotation(s.key), of_annotation(s.value))
    if t is None:
        raise Wrong('a value described as %r is not passed' % (s,))
    if getattr(s, 'can_be_None', False):
        return Optional(t)
    return t


def declared_by_enforceargs(types):
    for t in types:
        if t is None:
            raise Wrong('@enforceargs leaves out the type of an argument')
    return [value(of_class(t)) for t in types], ANY


def declared_by_signature((params, result)):
    def described(t):
        if not hasattr(t, '__call__') or isinstance(t, type):
            return t
        return t()
    types = [value(of_class(described(t))) for t in params]
    return types, of_class(described(result))

# ____________________________________________________________ comments

def declared_by_comment(text):
    """What `# type: (int, str) -> float` says."""
    reader = _Reader(text)
    reader.expect('(')
    types = []
    while not reader.takes(')'):
        types.append(value(reader.type()))
        if not reader.takes(','):
            reader.expect(')')
            break
    reader.expect('->')
    result = reader.type()
    if reader.words:
        raise Wrong('the comment `%s` goes on with `%s`' % (text, reader.words[0]))
    return types, result


class _Reader(object):
    def __init__(self, text):
        self.text = text
        for sign in ('(', ')', '[', ']', ',', '->'):
            text = text.replace(sign, ' %s ' % sign)
        self.words = text.split()

    def takes(self, word):
        if self.words and self.words[0] == word:
            del self.words[0]
            return True
        return False

    def expect(self, word):
        if not self.takes(word):
            raise Wrong('the comment `%s` has no `%s` where one is expected' % (self.text, word))

    def type(self):
        if self.takes('['):
            item = self.type()
            self.expect(']')
            return List(item)
        if not self.words:
            raise Wrong('the comment `%s` ends too early' % self.text)
        name = self.words.pop(0)
        if name.startswith('typing.'):
            name = name[len('typing.'):]
        items = None
        if self.takes('['):
            items = []
            while not self.takes(']'):
                items.append(self.type())
                if not self.takes(','):
                    self.expect(']')
                    break
        return _named(name, items)


_NAMES = {'int': INT, 'nonneg': NONNEG, 'bool': BOOL, 'float': FLOAT, 'None': NONE, 'str': STR, 'bytes': BYTES,
          'unicode': UNICODE, 'Text': UNICODE}

_CONTAINERS = {'List': (1, List), 'list': (1, List), 'Dict': (2, Dict), 'dict': (2, Dict),
               'Optional': (1, Optional)}


def _named(name, items):
    if items is None:
        if name in _NAMES:
            return _NAMES[name]
        cls = getattr(rarithmetic, name, None)
        if isinstance(cls, type) and issubclass(cls, rarithmetic.base_int):
            return Type('integer', cls=cls)
    elif name in ('Tuple', 'tuple'):
        return Tuple(items)
    elif name in _CONTAINERS and len(items) == _CONTAINERS[name][0]:
        return _CONTAINERS[name][1](*items)
    shown = name if items is None else name + '[...]'
    raise Wrong('`%s` is no type that is passed' % shown)
