"""Declared types as annotations."""
import types

from rpython.annotator.model import (
    SomeBool, SomeDict, SomeFloat, SomeInstance, SomeInteger, SomeList, SomeObject, SomeString,
    SomeTuple, SomeType, SomeUnicodeString, s_None)


class Sig(object):
    """Declared argument types as an object, for `_annenforceargs_`."""

    def __init__(self, *argtypes):
        self.argtypes = argtypes
        if any([isinstance(t, types.FunctionType) for t in argtypes]):
            # The compiler calls these, with annotations.
            from rpython.annotator import described


class SignatureError(Exception):
    pass


def annotation(t, bookkeeper=None):
    """The annotation that a type, a low-level type, or a container of one means."""
    from rpython.rtyper.llannotation import lltype_to_annotation
    from rpython.rtyper.lltypesystem import lltype
    if isinstance(t, lltype.LowLevelType):
        return lltype_to_annotation(t)
    elif isinstance(t, SomeObject):
        return t
    elif isinstance(t, list):
        _only_one(t)
        return SomeList(annotation(t[0], bookkeeper))
    elif isinstance(t, tuple):
        return SomeTuple([annotation(item, bookkeeper) for item in t])
    elif isinstance(t, dict):
        _only_one(t)
        return SomeDict(annotation(t.keys()[0], bookkeeper),
                        annotation(t.values()[0], bookkeeper))
    elif t is None:
        return s_None
    return annotationoftype(t, bookkeeper)

def _only_one(t):
    if len(t) > 1:
        raise TypeError("Cannot specify multiple types in a %s (try using tuple)" % type(t))

def annotationoftype(t, bookkeeper=None):
    """The annotation of all objects of a type."""
    assert isinstance(t, (type, types.ClassType))
    if t is type(None):
        return s_None
    if t in _ANNOTATIONS:
        return _ANNOTATIONS[t]()
    return SomeString() if issubclass(t, str) else SomeInstance(t)

_ANNOTATIONS = {bool: SomeBool, int: SomeInteger, float: SomeFloat, unicode: SomeUnicodeString,
                type: SomeType}
