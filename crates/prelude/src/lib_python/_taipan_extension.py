"""What `taipan build --extension` runs on: finds the functions of a module that Python is
to call, and makes of each one that takes and gives what C code passes on: numbers as they
are, everything else as the address of an object of Python's."""
import sys
from rpython.rlib import rarithmetic
from rpython.rlib.objectmodel import specialize
from rpython.rtyper.annlowlevel import hlstr, hlunicode, llhelper, llstr, llunicode
from rpython.rtyper.lltypesystem import lltype, rffi, rstr
from _taipan_apart import apart
from _taipan_extension_types import (
    Wrong, declared_by_comment, declared_by_enforceargs, declared_by_signature)

S, F = lltype.Signed, lltype.Float
_STR, _UNICODE = lltype.Ptr(rstr.STR), lltype.Ptr(rstr.UNICODE)


def _c(name, args, result):
    """A function of the C part of the module. It lets nobody else run but where it says so."""
    return rffi.llexternal('taipan_py_' + name, args, result, releasegil=False, _nowrapper=True)


# What is in containers has been looked at before: these do not fail.
py_is_none = _c('is_none', [S], S)
py_int = _c('int', [S], S)
py_float = _c('float', [S], F)
py_length = _c('length', [S], S)
py_item = _c('item', [S, S], S)
py_text_size = _c('text_size', [S], S)
py_text_copy = _c('text_copy', [S, _STR], lltype.Void)
py_unicode_size = _c('unicode_size', [S], S)
py_unicode_copy = _c('unicode_copy', [S, _UNICODE], lltype.Void)
py_next_entry = _c('next_entry', [S, S], S)
py_key = _c('key', [], S)
py_value = _c('value', [], S)

# New references; 0 where memory ends, which those that take one pass on.
py_new_none = _c('new_none', [], S)
py_new_bool = _c('new_bool', [S], S)
py_new_int = _c('new_int', [S], S)
py_new_uint = _c('new_uint', [S], S)
py_new_float = _c('new_float', [F], S)
py_new_text = _c('new_text', [_STR], S)
py_new_bytes = _c('new_bytes', [_STR], S)
py_new_unicode = _c('new_unicode', [_UNICODE], S)
py_new_list = _c('new_list', [S], S)
py_new_tuple = _c('new_tuple', [S], S)
py_new_dict = _c('new_dict', [], S)
py_set_item = _c('set_item', [S, S, S], lltype.Void)
py_set_entry = _c('set_entry', [S, S, S], lltype.Void)

# Exceptions: the number of the class, whether there is a text, and that.
py_raise = _c('raise', [S, S, _STR], lltype.Void)
py_raise_os = _c('raise_os', [S, S], lltype.Void)

# The lock of Python's. While it is not held, other threads may be in here.
py_release = _c('release', [], lltype.Void)
py_acquire = _c('acquire', [], lltype.Void)
# The way of the exception that was caught is worth keeping.
py_caught = _c('caught', [], lltype.Void)

# ____________________________________________________________ from Python

def load_int(o):
    return py_int(o)


def load_nonneg(o):
    x = py_int(o)
    assert x >= 0
    return x


def load_bool(o):
    return py_int(o) != 0


def load_float(o):
    return py_float(o)


def load_text(o):
    s = lltype.malloc(rstr.STR, py_text_size(o))
    s.hash = 0
    py_text_copy(o, s)
    return hlstr(s)


def load_unicode(o):
    s = lltype.malloc(rstr.UNICODE, py_unicode_size(o))
    s.hash = 0
    py_unicode_copy(o, s)
    return hlunicode(s)


def _integer_loader(cls):
    def load(o):
        return cls(py_int(o))
    return load


def _optional_loader(inner):
    def load(o):
        if py_is_none(o):
            return None
        return inner(o)
    return load


def _list_loader(inner):
    def load(o):
        n = py_length(o)
        if n == 0:
            return []
        result = [inner(py_item(o, 0))] * n
        i = 1
        while i < n:
            result[i] = inner(py_item(o, i))
            i += 1
        return result
    return load


def _dict_loader(key, value):
    def load(o):
        result = {}
        at = py_next_entry(o, 0)
        while at >= 0:
            # Loading what is in a key or value may ask for other entries.
            k, v = py_key(), py_value()
            result[key(k)] = value(v)
            at = py_next_entry(o, at)
        return result
    return load


def _tuple_loader(inner):
    space = {'py_item': py_item}
    items = []
    for i, load in enumerate(inner):
        space['load%d' % i] = load
        items.append('load%d(py_item(o, %d)), ' % (i, i))
    exec 'def load(o):\n    return (%s)\n' % ''.join(items) in space
    return space['load']


def loader(t):
    """A function from an object of Python's to a value of type `t`. Containers are not shared:
    each argument has lists of its own."""
    if t.kind == 'optional':
        return _optional_loader(loader(t.items[0]))
    if t.kind == 'list':
        return _list_loader(loader(t.items[0]))
    if t.kind == 'dict':
        return _dict_loader(loader(t.items[0]), loader(t.items[1]))
    if t.kind == 'tuple':
        return _tuple_loader([loader(i) for i in t.items])
    if t.kind == 'integer':
        return _integer_loader(t.cls)
    return {'int': load_int, 'nonneg': load_nonneg, 'bool': load_bool, 'float': load_float, 'str': load_text,
            'bytes': load_text, 'unicode': load_unicode}[t.kind]

# ____________________________________________________________ to Python

def store_int(x):
    return py_new_int(int(x))


def store_bool(x):
    return py_new_bool(int(x))


def store_float(x):
    return py_new_float(float(x))


def store_none(x):
    return py_new_none()


def store_text(x):
    if x is None:
        return py_new_none()
    return py_new_text(llstr(x))


def store_bytes(x):
    if x is None:
        return py_new_none()
    return py_new_bytes(llstr(x))


def store_unicode(x):
    if x is None:
        return py_new_none()
    return py_new_unicode(llunicode(x))


def _integer_storer(cls):
    if cls(-1) > 0:
        def store(x):
            return py_new_uint(rarithmetic.intmask(x))
    else:
        def store(x):
            return py_new_int(rarithmetic.intmask(x))
    return store


def _list_storer(inner):
    def store(x):
        if x is None:
            return py_new_none()
        o = py_new_list(len(x))
        i = 0
        for item in x:
            py_set_item(o, i, inner(item))
            i += 1
        return o
    return store


def _dict_storer(key, value):
    def store(x):
        if x is None:
            return py_new_none()
        o = py_new_dict()
        for k, v in x.iteritems():
            py_set_entry(o, key(k), value(v))
        return o
    return store


def _tuple_storer(inner):
    space = {'py_new_tuple': py_new_tuple, 'py_set_item': py_set_item,
             'py_new_none': py_new_none}
    lines = ['def store(x):', '    if x is None:', '        return py_new_none()',
             '    o = py_new_tuple(%d)' % len(inner)]
    for i, store in enumerate(inner):
        space['store%d' % i] = store
        lines.append('    py_set_item(o, %d, store%d(x[%d]))' % (i, i, i))
    exec '\n'.join(lines + ['    return o', '']) in space
    return space['store']


@specialize.argtype(0)
def store_any(x):
    """The result of a function that does not declare it. What else it may be is refused."""
    if x is None:
        return py_new_none()
    if isinstance(x, bool):
        return py_new_bool(int(x))
    if isinstance(x, int):
        return py_new_int(x)
    if isinstance(x, float):
        return py_new_float(x)
    if isinstance(x, str):
        return store_text(x)
    if isinstance(x, unicode):
        return store_unicode(x)
    return 0


def storer(t):
    """A function from a value of type `t` to a new object of Python's."""
    if t.kind == 'optional':
        return storer(t.items[0])
    if t.kind == 'list':
        return _list_storer(storer(t.items[0]))
    if t.kind == 'dict':
        return _dict_storer(storer(t.items[0]), storer(t.items[1]))
    if t.kind == 'tuple':
        return _tuple_storer([storer(i) for i in t.items])
    if t.kind == 'integer':
        return _integer_storer(t.cls)
    return {'int': store_int, 'nonneg': store_int, 'bool': store_bool, 'float': store_float, 'str': store_text,
            'bytes': store_bytes, 'unicode': store_unicode, 'none': store_none,
            'any': store_any}[t.kind]

# ____________________________________________________________ functions

def _wrapped(f, types, result, report, releases):
    """The function that C code calls, with its type."""
    space = {'f': f, 'report': report, 'py_release': py_release, 'py_acquire': py_acquire,
             'py_caught': py_caught, 'intmask': rarithmetic.intmask}
    names, before, passed = [], [], []
    TYPES = []
    for i, t in enumerate(types):
        name = 'a%d' % i
        names.append(name)
        TYPES.append(F if t.kind == 'float' else S)
        if t.kind == 'bool':
            name += ' != 0'
        elif t.kind == 'nonneg':
            before.append('assert %s >= 0' % name)
        elif t.kind == 'integer':
            space['load%d' % i] = t.cls
            name = 'load%d(%s)' % (i, name)
        elif t.kind not in ('int', 'float'):
            space['load%d' % i] = loader(t)
            before.append('b%d = load%d(%s)' % (i, i, name))
            name = 'b%d' % i
        passed.append(name)
    call = 'f(%s)' % ', '.join(passed)
    RESULT, zero = S, '0'
    if releases:
        before += ['py_release()', 'try:', '    result = ' + call,
                   'finally:', '    py_acquire()']
        call = 'result'
    if result.kind == 'float':
        RESULT, zero = F, '0.0'
        last = 'return float(%s)' % call
    elif result.kind in ('int', 'nonneg', 'bool'):
        last = 'return int(%s)' % call
    elif result.kind == 'integer':
        last = 'return intmask(%s)' % call
    else:
        space['store'] = storer(result)
        last = 'return store(%s)' % call
    lines = ['def called(%s):' % ', '.join(names), '    try:']
    lines += ['        ' + line for line in before + [last]]
    lines += ['    except Exception, e:', '        py_caught()', '        report(e)',
              '    return ' + zero, '']
    exec '\n'.join(lines) in space
    return space['called'], lltype.Ptr(lltype.FuncType(TYPES, RESULT))


class Exports(object):
    """What is found in a module: all of it, or the only function that is wanted."""

    def __init__(self, module, comments, only):
        self.module = module
        self.comments = comments
        self.only = only
        # Function or None, what is wrong.
        self.problems = []
        self.functions = []
        self.called = []
        self.exceptions = Exceptions(module)

    def find(self):
        names = getattr(self.module, '__all__', None)
        for name, value in _in_order(self.module):
            if not hasattr(value, 'func_code'):
                continue
            if self.only is not None:
                wanted = name == self.only
            elif names is not None:
                wanted = name in names
            else:
                wanted = not name.startswith('_') and value.__module__ == self.module.__name__
            if not wanted:
                continue
            try:
                declared = self.declared(name, value)
                if declared is not None:
                    self.add(name, value, declared)
                elif names is not None:
                    raise Wrong('its types are not declared')
            except Wrong, e:
                self.problems.append((value, str(e)))

    def declared(self, name, f):
        """Types of the arguments, and of the result; None if nothing is declared."""
        if self.only is not None or name in self.comments and value_is_plain(f, name):
            return declared_by_comment(self.comments[name])
        if hasattr(f, '_signature_'):
            return declared_by_signature(f._signature_)
        if hasattr(f, '_annenforceargs_') and isinstance(f._annenforceargs_, tuple):
            return declared_by_enforceargs(f._annenforceargs_)
        return None

    def add(self, name, f, (types, result)):
        code = f.func_code
        if code.co_flags & 0x0c:
            raise Wrong('it takes *args or **kwargs')
        if hasattr(f, '_annspecialcase_'):
            raise Wrong('it is specialised (%s): there is no one function to call'
                        % f._annspecialcase_)
        if len(types) != code.co_argcount:
            raise Wrong('it has %d arguments, and its declaration %d'
                        % (code.co_argcount, len(types)))
        defaults = f.func_defaults or ()
        names = code.co_varnames[:code.co_argcount]
        first = len(names) - len(defaults)
        for i, value in enumerate(defaults):
            types[first + i].check_default(names[first + i], value)
        releases = bool(getattr(f, '_releasegil_', False))
        f = apart(f)
        called, TYPE = _wrapped(f, types, result, self.exceptions.report, releases)
        self.called.append((called, TYPE))
        self.functions.append((
            name, f, tuple(names), tuple([t.described() for t in types]), defaults,
            result.described(), releases, f.__doc__))

    def constants(self):
        found = []
        for name, value in _in_order(self.module):
            plain = isinstance(value, (bool, int, long, float, str, unicode))
            if plain and not name.startswith('_') and type(value).__module__ == '__builtin__':
                found.append((name, value))
        return found

    def entry_point(self):
        """The function that tells the C part which functions there are."""
        lines, space = ['def start(argv):'], {'llhelper': llhelper}
        for i, (called, TYPE) in enumerate(self.called):
            space['register%d' % i] = rffi.llexternal(
                'taipan_py_register', [S, TYPE], lltype.Void, releasegil=False, _nowrapper=True)
            space['T%d' % i] = TYPE
            space['f%d' % i] = called
            lines.append('    register%d(%d, llhelper(T%d, f%d))' % (i, i, i, i))
        exec '\n'.join(lines + ['    return 0', '']) in space
        return space['start']


def value_is_plain(f, name):
    """Whether this is the function that the module's text defines under the name."""
    return f.func_code.co_name == name


def _in_order(module):
    """Names and values of a module, as its text has them: functions by their lines."""
    def place((name, value)):
        code = getattr(value, 'func_code', None)
        return (code.co_firstlineno if code is not None else 0, name)
    return sorted(vars(module).items(), key=place)


class Exceptions(object):
    """Exception classes of the program, and those of Python's that they correspond to."""

    # Those of Python 3; others are the nearest one that is here.
    KNOWN = [
        'Exception', 'ArithmeticError', 'AssertionError', 'AttributeError', 'BufferError',
        'EOFError', 'FloatingPointError', 'IOError', 'ImportError', 'IndexError', 'KeyError',
        'LookupError', 'MemoryError', 'NameError', 'NotImplementedError', 'OSError',
        'OverflowError', 'ReferenceError', 'RuntimeError', 'StopIteration', 'SyntaxError',
        'SystemError', 'TypeError', 'UnicodeError', 'ValueError', 'ZeroDivisionError']

    def __init__(self, module):
        import exceptions
        self.known = [getattr(exceptions, name) for name in self.KNOWN]
        # Class, name of its own module, number of its base, whether it is in the module.
        self.own = []
        self.numbers = dict([(cls, i) for i, cls in enumerate(self.known)])
        for name, value in _in_order(module):
            if isinstance(value, type) and issubclass(value, Exception):
                self.number(value, name if not name.startswith('_') else None)
        for other in sys.modules.values():
            if getattr(other, '__file__', '<taipan>').startswith('<taipan>'):
                continue
            for name, value in _in_order(other):
                if isinstance(value, type) and issubclass(value, Exception):
                    self.number(value, None)
        self.report = self.reporter()

    def number(self, cls, name):
        """The number of a class, which is added if it is the program's own."""
        if cls not in self.numbers:
            base = 0
            for b in cls.__bases__:
                if isinstance(b, type) and issubclass(b, Exception):
                    base = self.number(b, None)
                    break
            if cls.__module__ == 'exceptions':
                self.numbers[cls] = base
            else:
                self.numbers[cls] = len(self.known) + len(self.own)
                self.own.append([cls.__name__, base, name])
        elif name is not None and self.numbers[cls] >= len(self.known):
            own = self.own[self.numbers[cls] - len(self.known)]
            if own[2] is None:
                own[2] = name
        return self.numbers[cls]

    def reporter(self):
        """A function that raises in Python what it is given. Classes come before their bases."""
        space = {'llstr': llstr, 'py_raise': py_raise, 'py_raise_os': py_raise_os,
                 'OSError': OSError, 'text_of': text_of}
        lines = ['def report(e):',
                 '    if isinstance(e, OSError):',
                 '        py_raise_os(%d, e.errno)' % self.numbers[OSError],
                 '        return']
        classes = [(-len(cls.__mro__), n, cls) for cls, n in self.numbers.items()
                   if cls is not OSError and not (issubclass(cls, OSError))]
        classes.sort()
        for _, n, cls in classes:
            space['C%d' % n] = cls
            lines.append('    if isinstance(e, C%d):' % n)
            lines.append("        py_raise(%d, 0, llstr(''))" % n)
            if _has_text(cls):
                # Behind the other call: nothing comes back from a `message` that is dead code.
                lines.append('        py_raise(%d, 1, llstr(%s))' % (n, _text(cls, n, space)))
            lines.append('        return')
        lines.append("    py_raise(0, 0, llstr(''))")
        lines.append('')
        exec '\n'.join(lines) in space
        return space['report']


@specialize.argtype(0)
def text_of(x):
    return '%s' % (x,)


def _own(cls, name):
    """An attribute of a class that the program itself defines."""
    for c in cls.__mro__:
        if c.__module__ in ('exceptions', '__builtin__'):
            break
        if name in c.__dict__:
            return c.__dict__[name]
    return None


def _message(cls):
    """The attribute of its instances that the constructor puts a message into."""
    init = _own(cls, '__init__')
    if hasattr(init, 'func_code'):
        for name in ('message', 'msg'):
            if name in init.func_code.co_names:
                return name
    return None


def _has_text(cls):
    return _own(cls, '__str__') is not None or _message(cls) is not None


def _text(cls, n, space):
    # Where the program raises no such exception the annotator accepts what blocks in `message`.
    own = {'text_of': text_of, '__name__': __name__}
    text = 'e.__str__()'
    if _own(cls, '__str__') is None:
        text = 'text_of(e.%s)' % _message(cls)
    exec 'def message(e):\n    return %s\n' % text in own
    space['message%d' % n] = own['message']
    return 'message%d(e)' % n


def exports(module, comments, only):
    """The entry point, problems, functions, exceptions, constants, documentation."""
    found = Exports(module, dict(comments), only)
    found.find()
    return (found.entry_point(), found.problems, found.functions,
            [tuple(own) for own in found.exceptions.own], found.constants(), module.__doc__)
