"""Annotations as values, for declarations: `@enforceargs`, `@signature` and what else
takes one. The annotator itself knows these classes by their names and attributes."""
from rpython.rlib.rarithmetic import r_uint


class SomeObject(object):
    """Anything."""

    def __init__(self):
        pass

    def _fields(self):
        return self.__dict__

    def is_constant(self):
        return 'const' in self.__dict__

    def is_immutable_constant(self):
        return self.is_constant()

    def __eq__(self, other):
        return self.__class__ is other.__class__ and self._fields() == other._fields()

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(self.__class__.__name__)

    def __repr__(self):
        fields = self._fields()
        names = fields.keys()
        names.sort()
        shown = ['%s=%r' % (name, fields[name]) for name in names]
        return '%s(%s)' % (self.__class__.__name__, ', '.join(shown))


class SomeType(SomeObject):
    pass


class SomeFloat(SomeObject):
    knowntype = float


class SomeSingleFloat(SomeObject):
    pass


class SomeLongFloat(SomeObject):
    pass


class SomeInteger(SomeFloat):
    knowntype = int

    def __init__(self, nonneg=False, unsigned=None, knowntype=None):
        if knowntype is None:
            knowntype = r_uint if unsigned else int
        elif unsigned is not None:
            raise TypeError('either knowntype or unsigned')
        self.knowntype = knowntype
        self.unsigned = knowntype(-1) > 0
        self.nonneg = bool(nonneg or self.unsigned)


class SomeBool(SomeInteger):
    knowntype = bool

    def __init__(self):
        self.unsigned = False
        self.nonneg = True


class SomeStringOrUnicode(SomeObject):
    def __init__(self, can_be_None=False, no_nul=False):
        self.can_be_None = can_be_None
        self.no_nul = no_nul

    def nonnulify(self):
        return self.__class__(can_be_None=self.can_be_None, no_nul=True)

    def nonnoneify(self):
        return self.__class__(can_be_None=False, no_nul=self.no_nul)


class SomeString(SomeStringOrUnicode):
    knowntype = str


class SomeUnicodeString(SomeStringOrUnicode):
    knowntype = unicode


class SomeByteArray(SomeStringOrUnicode):
    knowntype = bytearray


class SomeChar(SomeString):
    def __init__(self, no_nul=False):
        SomeString.__init__(self, False, no_nul)


class SomeUnicodeCodePoint(SomeUnicodeString):
    def __init__(self, no_nul=False):
        SomeUnicodeString.__init__(self, False, no_nul)


class SomeList(SomeObject):
    """A list of items of one annotation, or what a `ListDef` says, which other declarations
    may say, too; `resized`: its length changes."""
    knowntype = list

    def __init__(self, item, resized=True):
        known = getattr(item, 'listitem', None)
        self.shared = known is not None
        if known is not None:
            item, resized = known.s_value, known.resized
        self.item = item
        self.resized = resized


class SomeTuple(SomeObject):
    knowntype = tuple

    def __init__(self, items):
        self.items = tuple(items)


class SomeDict(SomeObject):
    knowntype = dict

    def __init__(self, key, value=None):
        self.shared = value is None
        if self.shared:
            # A `DictDef`.
            key, value = key.s_key, key.s_value
        self.key = key
        self.value = value


class SomeOrderedDict(SomeDict):
    pass


class SomeInstance(SomeObject):
    """An instance of a class or one derived from it."""

    def __init__(self, classdef, can_be_None=False):
        self.classdef = classdef
        self.can_be_None = can_be_None


class SomePBC(SomeObject):
    """One of some functions, classes and other constants of the program."""
    can_be_None = False

    def __init__(self, values):
        self.descriptions = tuple(values)


class SomeNone(SomeObject):
    knowntype = type(None)


class SomeImpossibleValue(SomeObject):
    """What never returns, or never is."""


s_None = SomeNone()
s_Bool = SomeBool()
s_Int = SomeInteger()
s_ImpossibleValue = SomeImpossibleValue()
s_Str0 = SomeString(no_nul=True)
s_Unicode0 = SomeUnicodeString(no_nul=True)


class AnnotatorError(Exception):
    """What the annotator cannot accept."""


class UnionError(AnnotatorError):
    """Annotations that have nothing in common."""
