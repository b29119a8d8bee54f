"""Weak references. Nothing is ever collected at import time."""
from _taipan import ref

ReferenceType = ref


def proxy(x, callback=None):
    return x


class WeakKeyDictionary(dict):
    pass


class WeakValueDictionary(dict):
    pass


class WeakSet(set):
    pass
