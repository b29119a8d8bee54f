"""Entries by which a program tells the compiler how to annotate and type a function.

A function carries its entry as an attribute. The compiler calls `compute_result_annotation`
with annotations and `specialize_call` with an operation: see rpython.annotator.described.
"""
from rpython.annotator import described


class AutoRegisteringType(type):

    def __init__(selfcls, name, bases, dict):
        super(AutoRegisteringType, selfcls).__init__(name, bases, dict)
        if '_about_' in dict:
            _register(_by_value, dict['_about_'], selfcls)
            del selfcls._about_
        if '_type_' in dict:
            _register(_by_type, dict['_type_'], selfcls)
            del selfcls._type_


# Pairs of an object or type and its entry.
_by_value = []
_by_type = []


def _register(registry, about, entry):
    if isinstance(about, tuple):
        for thing in about:
            _register(registry, thing, entry)
        return
    if _find(registry, about) is not None:
        raise ValueError("%r has an entry already" % (about,))
    registry.append((about, entry))
    if registry is _by_value and hasattr(about, '__dict__'):
        about._extregistry_ = entry
    elif registry is _by_type and hasattr(about, '__dict__') and about.__module__ != '__builtin__':
        about._extregistry_type_ = entry


def _find(registry, about):
    for thing, entry in registry:
        if thing is about or (isinstance(about, (int, str)) and thing == about):
            return entry
    return None


def _entry_of(instance):
    entry = _find(_by_value, instance)
    if entry is None:
        entry = _find(_by_type, type(instance))
    return entry


class ExtRegistryEntry(object):
    __metaclass__ = AutoRegisteringType

    def __init__(self, type=None, instance=None):
        self.type = type
        self.instance = instance

    def compute_result_annotation(self, *args_s, **kwds_s):
        return self.s_result_annotation


def is_registered(instance):
    return _entry_of(instance) is not None

def lookup(instance):
    entry = _entry_of(instance)
    if entry is None:
        raise KeyError(instance)
    return entry(type(instance), instance)

def is_registered_type(tp):
    return _find(_by_type, tp) is not None

def lookup_type(tp):
    entry = _find(_by_type, tp)
    if entry is None:
        raise KeyError(tp)
    return entry(tp)
