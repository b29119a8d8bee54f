"""What `taipan build --shared` runs on: finds the functions that a program offers to C
(`rpython.rlib.entrypoint`), and makes of each one that C code calls by a pointer."""
from rpython.rlib import entrypoint
from rpython.rlib.objectmodel import specialize
from rpython.rtyper.annlowlevel import llhelper
from rpython.rtyper.lltypesystem import lltype, rffi
from _taipan_apart import apart


class Wrong(Exception):
    """Why there is no such library."""


def _c(name, args):
    """A function of the C part of the library. It lets nobody else run."""
    return rffi.llexternal('taipan_c_' + name, args, lltype.Void, releasegil=False,
                           _nowrapper=True)


c_result = _c('result', [lltype.Signed])
c_float_result = _c('float_result', [lltype.Float])


@specialize.argtype(0)
def give(x):
    """Leaves a result with the C part, which knows the type."""
    if isinstance(x, float):
        c_float_result(x)
    else:
        c_result(rffi.cast(lltype.Signed, x))


@specialize.argtype(0)
def give_or_none(x):
    if x is not None:
        give(x)


_NAMES = {lltype.Bool: '_Bool', lltype.Char: 'char', lltype.UniChar: 'wchar_t',
          lltype.Float: 'double', lltype.SingleFloat: 'float'}
_PYTHON = {int: lltype.Signed, float: lltype.Float, bool: lltype.Bool}


def c_type(T):
    """The low-level type of an argument, and how C writes it."""
    T = _PYTHON.get(T, T)
    if T in _NAMES:
        return T, _NAMES[T]
    if isinstance(T, lltype.Ptr) and T.TO._gckind == 'raw':
        return T, 'void *'
    if isinstance(T, lltype.Number):
        sign = 'int' if rffi.cast(T, -1) < 0 else 'uint'
        return T, '%s%d_t' % (sign, 8 * rffi.sizeof(T))
    raise Wrong('%r is not passed by C: number types and pointers to raw memory are' % (T,))


def with_argv(main):
    """The entry point as C has it."""
    def entry_point(argc, argv):
        return main([rffi.charp2str(argv[i]) for i in range(argc)])
    return entry_point


class Exports(object):
    """The functions of a library."""

    def __init__(self):
        self.lines = ['def start(argv):']
        self.space = {'llhelper': llhelper, 'give': give_or_none}
        self.functions = []

    def add(self, func, argtypes, name):
        func = apart(func)
        types = [c_type(T) for T in argtypes]
        n = len(self.functions)
        names = ', '.join(['a%d' % i for i in range(len(types))])
        space = {'f': func, 'give': give_or_none}
        # What tracebacks call it.
        called = 'called_' + name
        exec 'def %s(%s):\n    give(f(%s))\n' % (called, names, names) in space
        TYPE = lltype.Ptr(lltype.FuncType([T for T, text in types], lltype.Void))
        self.space['T%d' % n], self.space['f%d' % n] = TYPE, space[called]
        self.space['register%d' % n] = _c('register', [lltype.Signed, TYPE])
        self.lines.append('    register%d(%d, llhelper(T%d, f%d))' % (n, n, n, n))
        self.functions.append((name, func, tuple([text for T, text in types])))

    def start(self):
        """The function that tells the C part which functions there are."""
        exec '\n'.join(self.lines + ['    return 0', '']) in self.space
        return self.space['start']


def chosen(keys):
    """The functions under keys that commas separate."""
    found = []
    for key in keys.split(','):
        if key:
            if key not in entrypoint.secondary_entrypoints:
                known = ', '.join(sorted(entrypoint.secondary_entrypoints))
                raise Wrong('no function has the key %s: there are %s' % (key, known))
            found += entrypoint.c_entrypoints.get(key, [])
    return found


def exports(entry_point, keys):
    """A function that starts the library, what is wrong, and names, functions, types of arguments.
    The entry point comes first."""
    found = Exports()
    try:
        found.add(with_argv(entry_point), [rffi.INT, rffi.CCHARPP], 'pypy_main_startup')
        names = {'pypy_main_startup': None, 'rpython_startup_code': None}
        for func, argtypes, name in chosen(keys):
            if name in names:
                raise Wrong('two functions of the library are called %s' % name)
            names[name] = None
            if len(argtypes) != func.func_code.co_argcount:
                raise Wrong('%s has %d arguments, and its entry point %d'
                            % (name, func.func_code.co_argcount, len(argtypes)))
            try:
                found.add(func, argtypes, name)
            except Wrong, e:
                raise Wrong('%s: %s' % (name, e))
    except Wrong, e:
        return (entry_point, str(e), ())
    return (found.start(), None, tuple(found.functions))
