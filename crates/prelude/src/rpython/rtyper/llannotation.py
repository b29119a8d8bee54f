"""Annotations of low-level values, for declarations."""
from rpython.annotator.model import (
    SomeBool, SomeChar, SomeFloat, SomeInteger, SomeNone, SomeObject, SomeSingleFloat,
    SomeUnicodeCodePoint)
from rpython.rtyper.lltypesystem import lltype


class SomePtr(SomeObject):
    """A pointer of a low-level type."""

    def __init__(self, ll_ptrtype):
        assert isinstance(ll_ptrtype, lltype.Ptr)
        self.ll_ptrtype = ll_ptrtype


class SomeAddress(SomeObject):
    """An address of raw memory."""


def lltype_to_annotation(T):
    """The annotation of values of a low-level type."""
    if T is lltype.Void:
        return SomeNone()
    elif T is lltype.Bool:
        return SomeBool()
    elif T is lltype.Char:
        return SomeChar()
    elif T is lltype.UniChar:
        return SomeUnicodeCodePoint()
    elif T is lltype.Float:
        return SomeFloat()
    elif T is lltype.SingleFloat:
        return SomeSingleFloat()
    elif isinstance(T, lltype.Ptr):
        return SomePtr(T)
    return SomeInteger(unsigned=T is lltype.Unsigned)
