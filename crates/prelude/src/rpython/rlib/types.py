"""Types for `rpython.rlib.signature`. The names hide builtin ones: import the module.

Each is a function that makes an annotation, so that no two declarations share one.
"""
from rpython.annotator import model


def _type_of(make, **known):
    """The function that makes an annotation about which this is known."""
    def declare():
        return make(**known)
    return declare


# What has no parts.
none = _type_of(model.SomeNone)
bool = _type_of(model.SomeBool)
int = _type_of(model.SomeInteger)
int_nonneg = _type_of(model.SomeInteger, nonneg=True)
float = _type_of(model.SomeFloat)
singlefloat = _type_of(model.SomeSingleFloat)
longfloat = _type_of(model.SomeLongFloat)
# The result of a function that does not return.
impossible = _type_of(model.SomeImpossibleValue)

# Texts; those with a 0 in their names have no character '\0'.
char = _type_of(model.SomeChar)
str0 = _type_of(model.SomeString, no_nul=True)
unicode = _type_of(model.SomeUnicodeString)
unicode0 = _type_of(model.SomeUnicodeString, no_nul=True)
bytearray = _type_of(model.SomeByteArray)


def str(can_be_None=False):
    return model.SomeString(can_be_None)


# What is made of other types.

def array(element):
    """A list whose length does not change."""
    return model.SomeList(element, resized=False)


def list(element):
    """A list whose length changes."""
    return model.SomeList(element, resized=True)


def dict(keytype, valuetype):
    return model.SomeDict(keytype, valuetype)


def instance(cls, can_be_None=False):
    return model.SomeInstance(cls, can_be_None)


def ptr(ll_type):
    """A low-level pointer."""
    return ll_type


# What stands for no annotation by itself: the annotator and `finishsigs` know these classes.

class SelfTypeMarker(object):
    """Comes from self()."""


class AnyTypeMarker(object):
    """Comes from any()."""


def self():
    """An instance of the class in which the method stands, which `finishsigs` finishes."""
    return SelfTypeMarker()


def any():
    """Whatever it is."""
    return AnyTypeMarker()
