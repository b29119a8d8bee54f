"""Annotations of the original annotator in the words of `taipan emit annotations`.

Python 2.7, inside a pypy checkout.
"""
from rpython.annotator.classdesc import ClassDesc
from rpython.annotator.description import FunctionDesc
from rpython.rlib import rarithmetic


class Unknown(Exception):
    """There are no words for it."""


def text(s, depth=0):
    """The text of an annotation; Unknown where it has none."""
    if depth > 6:
        raise Unknown('depth')
    name = type(s).__name__
    handler = HANDLERS.get(name)
    if handler is None:
        raise Unknown(name)
    return handler(s, depth + 1)


def with_flags(name, flags):
    flags = [f for f in flags if f]
    return '%s(%s)' % (name, ', '.join(flags)) if flags else name


def const(s):
    if not s.is_constant():
        return None
    value = s.const
    if isinstance(value, rarithmetic.base_int):
        value = int(value)
    if value is None or isinstance(value, (bool, int, long, float, str, unicode)):
        return 'const=%s' % repr(value).rstrip('L')
    raise Unknown('constant %s' % type(value).__name__)


def integer(s, depth):
    kind = rarithmetic.normalizedinttype(s.knowntype)
    if kind in (int, rarithmetic.r_int):
        kind = None
    elif kind in (rarithmetic.r_uint, rarithmetic.r_longlonglong, rarithmetic.r_ulonglonglong):
        kind = kind.__name__
    else:
        raise Unknown('integer %s' % kind.__name__)
    return with_flags('SomeInteger', [s.nonneg and 'nonneg', kind, const(s)])


def string(name):
    return lambda s, depth: with_flags(
        name, [s.can_be_None and 'can_be_None', s.no_nul and 'no_nul', const(s)])


def simple(name):
    return lambda s, depth: with_flags(name, [const(s)])


def list_(s, depth):
    item = s.listdef.listitem
    return 'SomeList[%s]' % text(item.s_value, depth) + with_flags('', [
        item.resized and 'resized', item.mutated and 'mutated',
        item.range_step is not None and 'range_step=%r' % item.range_step])


def dict_(s, depth):
    d = s.dictdef
    return 'SomeDict[%s, %s]' % (text(d.dictkey.s_value, depth), text(d.dictvalue.s_value, depth))


def tuple_(s, depth):
    return 'SomeTuple[%s]' % ', '.join(text(i, depth) for i in s.items)


def instance(s, depth):
    if s.classdef is None:
        raise Unknown('object')
    return with_flags('SomeInstance', [s.classdef.shortname, s.can_be_None and 'can_be_None'])


def pbc(s, depth):
    names = []
    for desc in s.descriptions:
        if not isinstance(desc, (FunctionDesc, ClassDesc)):
            raise Unknown('SomePBC of %s' % type(desc).__name__)
        names.append(desc.pyobj.__name__)
    return with_flags('SomePBC', ['|'.join(sorted(names)), s.can_be_None and 'can_be_None'])


def iterator(s, depth):
    variant = s.variant[0] if s.variant else None
    return with_flags('SomeIterator[%s]' % text(s.s_container, depth), [variant])


HANDLERS = {
    'SomeInteger': integer,
    'SomeBool': simple('SomeBool'),
    'SomeFloat': simple('SomeFloat'),
    'SomeChar': simple('SomeChar'),
    'SomeString': string('SomeString'),
    'SomeUnicodeString': lambda s, depth: with_flags(
        'SomeUnicodeString', [s.can_be_None and 'can_be_None', const(s)]),
    'SomeUnicodeCodePoint': simple('SomeUnicodeCodePoint'),
    'SomeList': list_,
    'SomeOrderedDict': dict_,
    'SomeByteArray': lambda s, depth: with_flags(
        'SomeByteArray', [s.can_be_None and 'can_be_None', const(s)]),
    'SomeSingleFloat': simple('SomeSingleFloat'),
    'SomeTuple': tuple_,
    'SomeInstance': instance,
    'SomePBC': pbc,
    'SomeIterator': iterator,
    'SomeNone': lambda s, depth: 'SomeNone',
    'SomeImpossibleValue': lambda s, depth: 'SomeImpossibleValue',
}
