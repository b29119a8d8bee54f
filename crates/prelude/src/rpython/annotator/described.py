"""What the compiler asks functions of a program that compute with annotations.

The compiler and these functions understand each other by descriptions. That of an annotation
is a tuple: the name of its kind, its constant in a tuple of its own or (), and more where the
kind needs it. That of an operation is what was done with it, step by step. The compiler calls
functions of this module while it compiles, each time on a copy of all objects.
"""
from rpython.annotator import bookkeeper, model


class Unknown(Exception):
    """What is not known before the whole program is annotated."""


class Asked(Exception):
    """The result of a call is needed, which the compiler has to annotate first."""

    def __init__(self, callee, args_s):
        self.callee = callee
        self.args_s = args_s


def annotation(d):
    """The annotation that a description stands for."""
    kind, const = d[0], d[1]
    if kind == 'int':
        s = model.SomeInteger(nonneg=d[3], knowntype=_integer_type(d[2]))
    elif kind in _STRINGS:
        s = _STRINGS[kind](can_be_None=d[2], no_nul=d[3])
    elif kind in _CHARS:
        s = _CHARS[kind](no_nul=d[2])
    elif kind in _PLAIN:
        s = _PLAIN[kind]()
    elif kind == 'instance':
        s = model.SomeInstance(bookkeeper.ClassDef(d[2]), can_be_None=d[3])
    elif kind == 'tuple':
        s = model.SomeTuple([annotation(i) for i in d[2]])
    elif kind == 'list':
        s = model.SomeList(annotation(d[2]), resized=d[3])
    elif kind == 'dict':
        s = model.SomeDict(annotation(d[2]), annotation(d[3]))
    elif kind == 'ptr':
        from rpython.rtyper import llannotation
        s = llannotation.SomePtr(d[2])
    elif kind == 'pbc':
        s = model.SomePBC(d[2])
    else:
        s = model.SomeObject()
    if const:
        s.const = const[0]
    return s


def _integer_type(name):
    if name == 'int':
        return int
    from rpython.rlib import rarithmetic
    return getattr(rarithmetic, name, int)


_STRINGS = {'str': model.SomeString, 'unicode': model.SomeUnicodeString,
            'bytearray': model.SomeByteArray}
_CHARS = {'char': model.SomeChar, 'unichar': model.SomeUnicodeCodePoint}
_PLAIN = {'none': model.SomeNone, 'bool': model.SomeBool, 'float': model.SomeFloat,
          'singlefloat': model.SomeSingleFloat, 'impossible': model.SomeImpossibleValue}


def described(s, given=()):
    """The description of an annotation; one of those given is told by its number."""
    for i in range(len(given)):
        if s is given[i]:
            return ('given', (), i)
    const = ()
    if s.is_constant():
        const = (s.const,)
    cls = s.__class__
    if cls is model.SomeInteger:
        return ('int', const, s.knowntype.__name__, s.nonneg)
    for kinds in (_PLAIN, _CHARS, _STRINGS):
        for kind, known in kinds.items():
            if cls is known:
                if kinds is _PLAIN:
                    return (kind, const)
                if kinds is _CHARS:
                    return (kind, const, s.no_nul)
                return (kind, const, s.can_be_None, s.no_nul)
    if cls is model.SomeInstance:
        return ('instance', const, bookkeeper.class_of(s), s.can_be_None)
    if cls is model.SomeTuple:
        return ('tuple', const, tuple([described(i, given) for i in s.items]))
    if cls.__name__ == 'SomePtr':
        return ('ptr', const, s.ll_ptrtype)
    if const:
        return ('const', const)
    raise Unknown("%r as the result of an entry" % (s,))


def result_annotation(entry, about, args, names, answers):
    """What calling a function gives, by its entry; or the call that has to be annotated
    first. `names` are those of the last arguments, `answers` results of such calls."""
    args_s = [annotation(d) for d in args]
    e = entry(type(about), about)
    answers_s = [annotation(d) for d in answers]
    bookkeeper.begin(e, answers_s)
    known = args_s + answers_s
    try:
        first = len(args_s) - len(names)
        s = e.compute_result_annotation(*args_s[:first], **dict(zip(names, args_s[first:])))
    except Asked as asked:
        return ('ask', described(asked.callee, known),
                tuple([described(s, known) for s in asked.args_s]))
    return ('result', described(s, known))


def declared_by(function, args):
    """What a function in `_annenforceargs_` declares an argument to be."""
    from rpython.annotator import signature
    args_s = [annotation(d) for d in args]
    return described(signature.annotation(function(*args_s)), args_s)


class Variable(object):
    """A value of an operation: the number of the step that makes it."""

    def __init__(self, step, concretetype):
        self.step = step
        self.concretetype = concretetype


class Repr(object):
    """How values of an annotation are represented."""

    def __init__(self, lowleveltype):
        self._lowleveltype = lowleveltype

    @property
    def lowleveltype(self):
        if self._lowleveltype is None:
            raise Unknown("a low-level type")
        return self._lowleveltype


class Operation(object):
    """The call that an entry specialises (RPython: HighLevelOp)."""

    def __init__(self, args_s, s_result, types, result_type):
        self.args_s = args_s
        self.s_result = s_result
        self.args_r = [Repr(t) for t in types]
        self.r_result = Repr(result_type)
        self.nb_args = len(args_s)
        self.steps = []
        self.llops = self
        self.rtyper = self

    def getrepr(self, s):
        for known, r in zip(self.args_s + [self.s_result], self.args_r + [self.r_result]):
            if s is known:
                return r
        raise Unknown("the representation of %r" % (s,))

    def _step(self, step, concretetype=None):
        self.steps.append(step)
        return Variable(len(self.steps) - 1, concretetype)

    def inputarg(self, converted_to, arg):
        if isinstance(converted_to, Repr):
            converted_to = converted_to.lowleveltype
        return self._step(('arg', arg, converted_to), converted_to)

    def inputargs(self, *converted_to):
        if len(converted_to) != self.nb_args:
            raise TypeError("%d arguments instead of %d" % (self.nb_args, len(converted_to)))
        return [self.inputarg(converted_to[i], i) for i in range(self.nb_args)]

    def inputconst(self, type, value):
        if isinstance(type, Repr):
            type = type.lowleveltype
        return self._step(('const', type, value), type)

    def genop(self, name, args_v, resulttype=None):
        from rpython.rtyper.lltypesystem import lltype
        if resulttype is None:
            resulttype = lltype.Void
        elif isinstance(resulttype, Repr):
            resulttype = resulttype.lowleveltype
        return self._step(('op', name, tuple([v.step for v in args_v]), resulttype), resulttype)

    def gendirectcall(self, function, *args_v):
        types = tuple([v.concretetype for v in args_v])
        return self._step(('call', function, tuple([v.step for v in args_v]), types))

    def exception_cannot_occur(self):
        self._step(('cannot',))

    def exception_is_here(self):
        self._step(('here',))


def specialized_call(entry, about, args, result, types, result_type):
    """The steps that a call of a function becomes, by its entry, and the number of the one
    that makes the result or None."""
    e = entry(type(about), about)
    bookkeeper.begin(e, [])
    hop = Operation([annotation(d) for d in args], annotation(result), list(types), result_type)
    v = e.specialize_call(hop)
    if v is not None:
        v = v.step
    return tuple(hop.steps), v
