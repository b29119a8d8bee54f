"""Shows the strings, lists, dicts, tuples and instances of programs that Taipan made, in gdb."""

import re

import gdb
import gdb.printing

# What names of C end in: a hash.
HASH = re.compile('_[0-9a-hjkmnp-tv-z]{10}$')

# What has more items than that is garbage.
MOST = 1 << 40

# How deep lists in lists are shown.
DEPTH = 3


def fields(type):
    return {f.name: f for f in type.fields()}


def plain_name(type):
    return HASH.sub('', type.tag or type.name or '')


def target(type):
    """The struct that values of a type point to."""
    type = type.strip_typedefs()
    if type.code != gdb.TYPE_CODE_PTR:
        return None
    type = type.target().strip_typedefs()
    return type if type.code == gdb.TYPE_CODE_STRUCT else None


def kind(type):
    """What a struct is of RPython's."""
    name = plain_name(type)
    if name in ('rpy_string', 'rpy_unicode'):
        return name
    names = fields(type)
    if name == 'dicttable' and 'entries' in names:
        return 'dict'
    if name == 'list' and 'items' in names and 'length' in names:
        return 'list'
    if 'header' in names and 'items' in names and 'length' in names:
        return 'array'
    if name.startswith('tuple') and 'item0' in names:
        return 'tuple'
    if is_instance(type):
        return 'instance'
    return None


def is_instance(type):
    while type.code == gdb.TYPE_CODE_STRUCT:
        names = fields(type)
        if 'typeptr' in names and 'header' in names:
            return True
        if 'super' not in names:
            return False
        type = names['super'].type.strip_typedefs()
    return False


def root(instance):
    """The part of an instance that all have."""
    while 'typeptr' not in fields(instance.type):
        instance = instance['super']
    return instance


def real(pointer):
    """An instance as one of the class that it is of, as far as its type has a name."""
    word = root(pointer.dereference())['header']
    if word.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT:
        word = word['word']
    symbol = gdb.execute('info symbol %d' % (int(word) & ~15), to_string=True).split()
    try:
        if symbol and symbol[0].startswith('type_'):
            name = symbol[0][len('type_'):]
        else:
            name = re.sub('[^A-Za-z0-9_]', '_', symbol[0][len('type.'):].rpartition('.')[0])
        return pointer.cast(gdb.lookup_type('struct ' + name).pointer())
    except (gdb.error, IndexError):
        return pointer


def most():
    limit = gdb.parameter('print elements')
    return MOST if limit is None else limit


def characters(string, limit):
    """The size of a character, and the bytes of the first ones."""
    chars = string['chars']
    size = chars['items'].type.target().sizeof
    shown = min(int(chars['length']), limit)
    memory = b''
    if shown:
        at = int(chars['items'].address)
        memory = bytes(gdb.selected_inferior().read_memory(at, shown * size))
    return size, memory


def text(string):
    length = int(string['chars']['length'])
    if not 0 <= length < MOST:
        return '<no string>'
    shown = min(length, most())
    size, memory = characters(string, shown)
    if size == 1:
        body = repr(memory)[1:]
    else:
        body = 'u' + repr(memory.decode('utf-32-le', 'replace'))
    return body + ('...' if shown < length else '')


def sequence(length, item, depth):
    if not 0 <= length < MOST:
        return ['<no list>']
    shown = min(length, most())
    parts = [show(item(i), depth + 1) for i in range(shown)]
    return parts + ['...'] * (shown < length)


def dict_entries(table):
    """Keys and values of a dict; None for those that are always None."""
    used, live = int(table['num_used_items']), int(table['num_live_items'])
    if not 0 < live <= used < MOST:
        return
    entries = table['entries'].dereference()['items']
    for i in range(used):
        entry = entries[i]
        names = fields(entry.type)
        if 'f_valid' in names and not entry['f_valid']:
            continue
        if 'key' in names and target(entry['key'].type) and not int(entry['key']):
            # Deleted, unless None is the key.
            if 'f_valid' not in names:
                continue
        yield tuple(entry[n] if n in names else None for n in ('key', 'value'))


def dict_items(table, depth):
    used, live = int(table['num_used_items']), int(table['num_live_items'])
    if not 0 <= live <= used < MOST:
        yield '<no dict>'
        return
    for shown, entry in enumerate(dict_entries(table)):
        if shown == most():
            yield '...'
            return
        yield '%s: %s' % tuple('None' if part is None else show(part, depth + 1) for part in entry)


def class_name(instance):
    vtable = root(instance)['typeptr']
    if not int(vtable):
        return '?'
    vtable = vtable.dereference()
    while 'name' not in fields(vtable.type):
        vtable = vtable['super']
    return text(vtable['name'].dereference())[1:-1]


def attributes(instance):
    type = instance.type.strip_typedefs()
    for f in type.fields():
        if f.name == 'super':
            yield from attributes(instance['super'])
        elif f.name and f.name.startswith('inst_'):
            yield f.name[len('inst_'):], instance[f.name]


def is_char(value):
    type = value.type.strip_typedefs()
    return (type.code in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR) and type.sizeof == 1
            and 'signed' not in str(type).split() and str(value.type) in ('Char', 'UInt8', 'unsigned char'))


def is_unichar(value):
    return str(value.type) == 'UniChar' and 0 <= int(value) <= 0x10ffff


def show(value, depth=0):
    """A value in a line."""
    try:
        type = value.type.strip_typedefs()
        struct = target(type)
        what = kind(struct) if struct else None
        if what:
            return show_object(value, what, depth)
        if type.code == gdb.TYPE_CODE_BOOL:
            return 'True' if value else 'False'
        if is_unichar(value):
            return 'u' + repr(chr(int(value)))
        if is_char(value):
            return repr(bytes([int(value) & 255]))[1:]
        return value.format_string(raw=True)
    except gdb.MemoryError:
        return '<not in memory>'


def show_object(pointer, what, depth):
    if not int(pointer):
        return 'None'
    value = pointer.dereference()
    if what in ('rpy_string', 'rpy_unicode'):
        return text(value)
    if what == 'instance':
        name, at = class_name(value), int(pointer)
        if depth:
            return '<%s at %#x>' % (name, at)
        parts = ['%s = %s' % (n, show(v, 1)) for n, v in attributes(real(pointer).dereference())]
        return '<%s at %#x> {%s}' % (name, at, ', '.join(parts))
    if depth > DEPTH:
        return '...'
    if what == 'list':
        items = value['items']
        if int(value['length']) and not int(items):
            return '<no list>'
        parts = sequence(int(value['length']), lambda i: items.dereference()['items'][i], depth)
        return '[%s]' % ', '.join(parts)
    if what == 'array':
        return '[%s]' % ', '.join(sequence(int(value['length']), lambda i: value['items'][i], depth))
    if what == 'tuple':
        names = [n for n in fields(value.type) if n and n.startswith('item')]
        parts = [show(value[n], depth + 1) for n in names]
        return '(%s%s)' % (', '.join(parts), ',' * (len(parts) == 1))
    return '{%s}' % ', '.join(dict_items(value, depth))


class Printer:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return show(self.value)


class Printers(gdb.printing.PrettyPrinter):
    def __init__(self):
        super().__init__('taipan')

    def __call__(self, value):
        struct = target(value.type)
        if struct is not None and kind(struct):
            return Printer(value)
        return None


gdb.printing.register_pretty_printer(gdb.current_objfile(), Printers(), replace=True)
