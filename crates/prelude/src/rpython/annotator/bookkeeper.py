"""What entries of a program ask of the annotator while it computes annotations. Modules that
ask while they load whether it is at work are told that it is not."""
from rpython.annotator import model

_at_work = []


def getbookkeeper():
    if _at_work:
        return _at_work[-1]
    return None


def begin(entry, answers):
    entry.bookkeeper = Bookkeeper(answers)
    _at_work.append(entry.bookkeeper)


class ClassDesc(object):

    def __init__(self, cls):
        self.pyobj = cls
        self.name = cls.__name__


class ClassDef(object):
    """A class as the annotator sees it."""

    def __init__(self, cls):
        self.classdesc = ClassDesc(cls)
        self.name = '%s.%s' % (cls.__module__, cls.__name__)
        self.shortname = cls.__name__


def class_of(s):
    """The class that an annotation of instances is about."""
    if isinstance(s.classdef, ClassDef):
        return s.classdef.classdesc.pyobj
    return s.classdef


class Bookkeeper(object):

    position_key = None

    def __init__(self, answers):
        self.answers = answers
        self.asked = 0

    def getuniqueclassdef(self, cls):
        return ClassDef(cls)

    def immutablevalue(self, x):
        if x is None:
            return model.SomeNone()
        if isinstance(x, bool):
            s = model.SomeBool()
        elif isinstance(x, int):
            s = model.SomeInteger(nonneg=x >= 0)
        elif isinstance(x, float):
            s = model.SomeFloat()
        elif isinstance(x, str):
            s = model.SomeString(no_nul='\x00' not in x)
            if len(x) == 1:
                s = model.SomeChar(no_nul=x != '\x00')
        elif isinstance(x, tuple):
            s = model.SomeTuple([self.immutablevalue(i) for i in x])
        else:
            s = model.SomePBC([x])
        s.const = x
        return s

    def valueoftype(self, t):
        for cls in (model.SomeBool, model.SomeInteger, model.SomeFloat, model.SomeString,
                    model.SomeUnicodeString):
            if cls.knowntype is t:
                return cls()
        if t is type(None):
            return model.SomeNone()
        return model.SomeInstance(ClassDef(t))

    def emulate_pbc_call(self, unique_key, s_callee, args_s, replace=[], callback=None):
        from rpython.annotator import described
        self.asked += 1
        if self.asked > len(self.answers):
            raise described.Asked(s_callee, args_s)
        return self.answers[self.asked - 1]
