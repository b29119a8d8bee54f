"""Entries that tell the original toolchain how to annotate and type a function.

An entry works on annotations and operations of that toolchain, which do not exist here. What
it describes can be used while the program loads; reached by translated code it is refused.
"""
import types


class AutoRegisteringType(type):

    def __init__(selfcls, name, bases, dict):
        super(AutoRegisteringType, selfcls).__init__(name, bases, dict)
        about = dict.get('_about_')
        things = about if isinstance(about, (tuple, list)) else (about,)
        for thing in things:
            if isinstance(thing, types.FunctionType):
                thing._extregistry_ = True


class ExtRegistryEntry(object):
    __metaclass__ = AutoRegisteringType

    def __init__(self, type=None, instance=None):
        self.type = type
        self.instance = instance
