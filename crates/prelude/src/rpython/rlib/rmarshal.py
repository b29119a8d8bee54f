"""Values of known types in the format of Python's marshal.

A type is int, float, bool, str, r_longlong, None, a list `[T]`, a tuple `(T, U)`, a dict
`{K: V}`, or an annotation.
"""
from rpython.annotator import model
from rpython.annotator.signature import annotation
from rpython.rlib.rarithmetic import intmask, r_longlong
from rpython.rlib.rfloat import formatd, rstring_to_float
from rpython.rlib.unroll import unrolling_iterable

TYPE_NONE, TYPE_FALSE, TYPE_TRUE = 'N', 'F', 'T'
TYPE_INT, TYPE_INT64, TYPE_FLOAT, TYPE_STRING = 'i', 'I', 'f', 's'
TYPE_TUPLE, TYPE_LIST, TYPE_DICT, TYPE_END = '(', '[', '{', '0'


class CannotMarshal(Exception):
    """There is no format for values of this type."""


class CannotUnmarshall(Exception):
    """The same, of values to be read."""


def get_marshaller(type):
    """A function that appends the characters of a value to a list: f(buf, value)."""
    return _dumper(_annotation(type))

def get_loader(type):
    """A function that takes a value from a Loader."""
    return _loader(_annotation(type))

def get_unmarshaller(type):
    """A function that gives the value that a string holds."""
    load = get_loader(type)
    def unmarshaller(buf):
        loader = Loader(buf)
        result = load(loader)
        loader.check_finished()
        return result
    return unmarshaller

def _annotation(type):
    if type is r_longlong:
        return model.SomeInteger(knowntype=r_longlong)
    return annotation(type)


class Loader(object):
    """The characters that are still to be read."""

    def __init__(self, buf):
        self.pos = 0
        self.buf = buf

    def check_finished(self):
        """ValueError if something is left."""
        if self.pos < len(self.buf):
            raise ValueError("not all data consumed")

    def take(self, count):
        stop = self.pos + count
        if count < 0 or stop > len(self.buf):
            raise ValueError("not enough data")
        start = self.pos
        assert start >= 0 and stop >= 0
        self.pos = stop
        return self.buf[start:stop]

    def char(self):
        return self.take(1)[0]

    def peek(self):
        if self.pos >= len(self.buf):
            return '\x00'
        return self.buf[self.pos]

    def none(self):
        """Whether None comes next, which is then taken."""
        if self.peek() == TYPE_NONE:
            self.pos += 1
            return True
        return False

    def expect(self, code):
        if self.char() != code:
            raise ValueError("expected another type")

    def number(self, size):
        """A number of so many bytes, with its sign."""
        text = self.take(size)
        result = ord(text[size - 1])
        if result >= 128:
            result -= 256
        for i in range(size - 2, -1, -1):
            result = (result << 8) | ord(text[i])
        return result


def _put_number(buf, x, size):
    for i in range(size):
        buf.append(chr(x & 0xff))
        x >>= 8

# ____________________________________________________________ single values

def _dump_none(buf, x):
    buf.append(TYPE_NONE)

def _load_none(loader):
    loader.expect(TYPE_NONE)

def _dump_bool(buf, x):
    buf.append(TYPE_TRUE if x else TYPE_FALSE)

def _load_bool(loader):
    code = loader.char()
    if code == TYPE_TRUE:
        return True
    elif code == TYPE_FALSE:
        return False
    raise ValueError("expected a bool")

def _dump_int(buf, x):
    buf.append(TYPE_INT64)
    _put_number(buf, intmask(x), 8)

def _load_int(loader):
    code = loader.char()
    if code == TYPE_INT:
        return loader.number(4)
    elif code == TYPE_INT64:
        return loader.number(8)
    raise ValueError("expected an int")

def _load_longlong(loader):
    return r_longlong(_load_int(loader))

def _dump_float(buf, x):
    buf.append(TYPE_FLOAT)
    text = formatd(x, 'g', 17)
    buf.append(chr(len(text)))
    for c in text:
        buf.append(c)

def _load_float(loader):
    loader.expect(TYPE_FLOAT)
    return rstring_to_float(loader.take(ord(loader.char())))

def _dump_string(buf, x):
    if x is None:
        buf.append(TYPE_NONE)
        return
    buf.append(TYPE_STRING)
    _put_number(buf, len(x), 4)
    for c in x:
        buf.append(c)

def _load_string(loader):
    loader.expect(TYPE_STRING)
    return loader.take(loader.number(4))

def _load_string_or_none(loader):
    if loader.none():
        return None
    return _load_string(loader)

def _load_char(loader):
    text = _load_string(loader)
    if len(text) != 1:
        raise ValueError("not a character")
    return text[0]

# ____________________________________________________________ by annotation

def _dumper(s):
    if isinstance(s, model.SomeNone):
        return _dump_none
    elif isinstance(s, model.SomeBool):
        return _dump_bool
    elif isinstance(s, model.SomeInteger):
        return _dump_int
    elif isinstance(s, model.SomeFloat):
        return _dump_float
    elif isinstance(s, model.SomeString):
        return _dump_string
    elif isinstance(s, model.SomeList):
        return _list_dumper(_dumper(s.item))
    elif isinstance(s, model.SomeDict):
        return _dict_dumper(_dumper(s.key), _dumper(s.value))
    elif isinstance(s, model.SomeTuple):
        return _tuple_dumper([_dumper(item) for item in s.items])
    raise CannotMarshal(s)

def _loader(s):
    if isinstance(s, model.SomeNone):
        return _load_none
    elif isinstance(s, model.SomeBool):
        return _load_bool
    elif isinstance(s, model.SomeInteger):
        return _load_longlong if s.knowntype is r_longlong else _load_int
    elif isinstance(s, model.SomeFloat):
        return _load_float
    elif isinstance(s, model.SomeChar):
        return _load_char
    elif isinstance(s, model.SomeString):
        return _load_string_or_none if s.can_be_None else _load_string
    elif isinstance(s, model.SomeList):
        return _list_loader(_loader(s.item))
    elif isinstance(s, model.SomeDict):
        return _dict_loader(_loader(s.key), _loader(s.value))
    elif isinstance(s, model.SomeTuple):
        return _tuple_loader([_loader(item) for item in s.items])
    raise CannotUnmarshall(s)

def _list_dumper(dump_item):
    def dump_list(buf, x):
        if x is None:
            buf.append(TYPE_NONE)
            return
        buf.append(TYPE_LIST)
        _put_number(buf, len(x), 4)
        for item in x:
            dump_item(buf, item)
    return dump_list

def _list_loader(load_item):
    def load_list(loader):
        if loader.none():
            return None
        loader.expect(TYPE_LIST)
        result = []
        for i in range(loader.number(4)):
            result.append(load_item(loader))
        return result
    return load_list

def _dict_dumper(dump_key, dump_value):
    def dump_dict(buf, x):
        if x is None:
            buf.append(TYPE_NONE)
            return
        buf.append(TYPE_DICT)
        for key, value in x.items():
            dump_key(buf, key)
            dump_value(buf, value)
        buf.append(TYPE_END)
    return dump_dict

def _dict_loader(load_key, load_value):
    def load_dict(loader):
        if loader.none():
            return None
        loader.expect(TYPE_DICT)
        result = {}
        while loader.peek() != TYPE_END:
            key = load_key(loader)
            result[key] = load_value(loader)
        loader.expect(TYPE_END)
        return result
    return load_dict

def _tuple_dumper(dumpers):
    unrolled = unrolling_iterable(list(enumerate(dumpers)))
    def dump_tuple(buf, x):
        buf.append(TYPE_TUPLE)
        _put_number(buf, len(x), 4)
        for i, dump_item in unrolled:
            dump_item(buf, x[i])
    return dump_tuple

def _tuple_loader(loaders):
    count = len(loaders)
    space = {'TYPE_TUPLE': TYPE_TUPLE}
    for i, load_item in enumerate(loaders):
        space['load%d' % i] = load_item
    items = ''.join(['load%d(loader), ' % i for i in range(count)])
    exec ('def load_tuple(loader):\n'
          '    loader.expect(TYPE_TUPLE)\n'
          '    if loader.number(4) != %d:\n'
          '        raise ValueError("wrong tuple length")\n'
          '    return (%s)\n' % (count, items)) in space
    return space['load_tuple']
