"""`@signature`: declared types of arguments and results."""
from rpython.rlib import types


def signature(*paramtypes, **kwargs):
    """Declares the types of all arguments and, as `returns`, of the result, in terms of
    `rpython.rlib.types`."""
    if kwargs.keys() != ['returns']:
        raise TypeError("signature() needs returns=... and nothing else by keyword")
    returntype = kwargs['returns']

    def decorate(f):
        f._signature_ = (paramtypes, returntype)
        return f
    return decorate


def finishsigs(cls):
    """Decorates classes with signatures that mention `types.self()`."""
    def finished(t):
        if isinstance(t, types.SelfTypeMarker):
            return types.instance(cls)
        return t

    for value in cls.__dict__.values():
        if hasattr(value, '_signature_'):
            params, result = value._signature_
            value._signature_ = (tuple([finished(t) for t in params]), finished(result))
    return cls


class FieldSpec(object):
    """The type of an attribute."""

    def __init__(self, tp):
        self.tp = tp


class ClassSpec(object):
    """The types of a class's attributes."""

    def __init__(self, fields, inherit=False):
        self.fields = fields
        self.inherit = inherit
