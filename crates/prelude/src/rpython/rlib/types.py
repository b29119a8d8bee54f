"""Types for `rpython.rlib.signature`. The names hide builtin ones: import the module."""
from rpython.annotator import model


def none():
    return model.SomeNone()


def impossible():
    """Of a function that does not return."""
    return model.SomeImpossibleValue()


def float():
    return model.SomeFloat()


def singlefloat():
    return model.SomeSingleFloat()


def longfloat():
    return model.SomeLongFloat()


def int():
    return model.SomeInteger()


def int_nonneg():
    return model.SomeInteger(nonneg=True)


def bool():
    return model.SomeBool()


def unicode():
    return model.SomeUnicodeString()


def unicode0():
    return model.SomeUnicodeString(no_nul=True)


def str(can_be_None=False):
    return model.SomeString(can_be_None=can_be_None)


def bytearray():
    return model.SomeByteArray()


def str0():
    return model.SomeString(no_nul=True)


def char():
    return model.SomeChar()


def ptr(ll_type):
    """A low-level pointer."""
    return ll_type


def list(element):
    """A list whose length changes."""
    return model.SomeList(element, resized=True)


def array(element):
    """A list whose length does not change."""
    return model.SomeList(element, resized=False)


def dict(keytype, valuetype):
    return model.SomeDict(keytype, valuetype)


def instance(cls, can_be_None=False):
    return model.SomeInstance(cls, can_be_None)


class SelfTypeMarker(object):
    pass


def self():
    """An instance of the class in which the method stands, which `finishsigs` finishes."""
    return SelfTypeMarker()


class AnyTypeMarker(object):
    pass


def any():
    """Whatever it is."""
    return AnyTypeMarker()
