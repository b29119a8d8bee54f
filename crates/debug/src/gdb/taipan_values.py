"""Values of RPython for an editor: a text, a type, and children that are read when they are shown.

A value is a gdb.Value, or an object of Python's own: int, float, bool, bytes (str), str (unicode), None.
"""

import gdb
import taipan_printers as printers

# The longest text of a value.
LONGEST = 1000

# Composite values that the editor knows by number, with the expressions that have them, until the program continues.
composites = []


def forget(event):
    composites.clear()


gdb.events.cont.connect(forget)


def kind(value):
    """The kind of the object that a gdb.Value points to, as the printers have it."""
    struct = printers.target(value.type)
    return printers.kind(struct) if struct is not None else None


def is_null(value):
    return value.type.strip_typedefs().code == gdb.TYPE_CODE_PTR and not int(value)


def plain(value):
    """A number, string or None as an object of Python's. Other objects stay as they are."""
    if not isinstance(value, gdb.Value):
        return value
    if is_null(value):
        return None
    if kind(value) in ('rpy_string', 'rpy_unicode'):
        return string(value.dereference())
    type = value.type.strip_typedefs()
    if type.code == gdb.TYPE_CODE_BOOL:
        return bool(value)
    if type.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR):
        if printers.is_char(value):
            return bytes([int(value) & 255])
        return chr(int(value)) if printers.is_unichar(value) else int(value)
    if type.code == gdb.TYPE_CODE_FLT:
        return float(value)
    return value


def string(value):
    """The whole text of a string of RPython's."""
    size, memory = printers.characters(value, printers.MOST)
    return memory if size == 1 else memory.decode('utf-32-le', 'replace')


def text(value):
    """A value in one line."""
    if isinstance(value, gdb.Value):
        try:
            if value.is_optimized_out:
                return '<no value here>'
            # A value of a register has no contents before it is read.
            shown = printers.show(value)
        except gdb.error as error:
            return '<%s>' % error
    elif isinstance(value, bytes):
        shown = repr(value)[1:]
    elif isinstance(value, str):
        shown = 'u' + repr(value)
    else:
        shown = repr(value)
    return shown if len(shown) <= LONGEST else shown[:LONGEST] + '...'


def type_name(value):
    """The name that RPython has for the type of a value."""
    if not isinstance(value, gdb.Value):
        return {bytes: 'str', str: 'unicode', type(None): 'None'}.get(type(value), type(value).__name__)
    what = kind(value)
    if what is not None:
        if not int(value):
            return 'None'
        if what == 'instance':
            return printers.class_name(value.dereference())
        return {'rpy_string': 'str', 'rpy_unicode': 'unicode', 'array': 'list'}.get(what, what)
    code = value.type.strip_typedefs().code
    if code == gdb.TYPE_CODE_FLT:
        return 'float'
    if code == gdb.TYPE_CODE_BOOL:
        return 'bool'
    if str(value.type) == 'Signed':
        return 'int'
    if printers.is_char(value):
        return 'str'
    if printers.is_unichar(value):
        return 'unicode'
    return str(value.type)


def describe(name, value, path=None):
    """What the editor shows of a value under a name; `path` is an expression for it, if there is one."""
    shown = {'name': name, 'value': text(value), 'type': '', 'ref': 0, 'indexed': 0, 'path': path}
    try:
        shown['type'] = type_name(value)
        if isinstance(value, gdb.Value) and not value.is_optimized_out and has_children(value):
            composites.append((value, path))
            shown['ref'] = len(composites)
            shown['indexed'] = length(value) if kind(value) in ('list', 'array') else 0
    except gdb.error:
        # Its memory cannot be read, as the text says.
        pass
    return shown


def has_children(value):
    if is_null(value):
        return False
    what = kind(value)
    if what in ('rpy_string', 'rpy_unicode'):
        return False
    if what in ('list', 'array', 'dict'):
        return length(value) > 0
    return what is not None or printers.target(value.type) is not None


def length(value):
    """The number of items of a list, dict, tuple or string; a gdb.error for other objects."""
    if isinstance(value, (bytes, str)):
        return len(value)
    what, there = kind(value), value.dereference()
    if what in ('list', 'array'):
        count = int(there['length'])
    elif what == 'dict':
        count = int(there['num_live_items'])
    elif what == 'tuple':
        count = len(tuple_items(there))
    elif what in ('rpy_string', 'rpy_unicode'):
        count = int(there['chars']['length'])
    else:
        raise gdb.GdbError('%s has no length' % type_name(value))
    if not 0 <= count < printers.MOST:
        raise gdb.GdbError('the object is not in memory yet, or no longer')
    return count


def tuple_items(there):
    names = [n for n in printers.fields(there.type) if n and n.startswith('item')]
    return [there[n] for n in names]


def item(value, index):
    """An item of a list."""
    there = value.dereference()
    if kind(value) == 'list':
        there = there['items'].dereference()
    return there['items'][index]


def attributes(value):
    """Names and values of the attributes of an instance, those of base classes first."""
    return list(printers.attributes(printers.real(value).dereference()))


def children(ref, start, count):
    """The parts of a composite value. Of a list, `count` of them from `start` on; all for 0."""
    value, path = composites[ref - 1]
    of = (path or '') + '%s'
    what, there = kind(value), value.dereference()
    if what in ('list', 'array'):
        end = min(length(value), start + count if count else printers.MOST)
        return [describe(str(i), item(value, i), of % ('[%d]' % i)) for i in range(start, end)]
    if what == 'dict':
        found = [describe(text(k), v, of % ('[%s]' % text(k))) for k, v in printers.dict_entries(there)]
    elif what == 'tuple':
        found = [describe(str(i), v, of % ('[%d]' % i)) for i, v in enumerate(tuple_items(there))]
    elif what == 'instance':
        found = [describe(name, v, of % ('.' + name)) for name, v in attributes(value)]
    else:
        names = [f.name for f in there.type.strip_typedefs().fields() if f.name]
        found = [describe(name, there[name], of % ('.' + name)) for name in names]
    return found[start:start + count] if count else found


def named_children(ref):
    """The parts of a composite value that are no items of a list."""
    return [] if kind(composites[ref - 1][0]) in ('list', 'array') else children(ref, 0, 0)
