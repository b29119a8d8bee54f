"""How Python finds modules. While a program loads, only `import` does that."""

PY_SOURCE, PY_COMPILED, C_EXTENSION, PKG_DIRECTORY = 1, 2, 3, 5


def get_magic():
    """What compiled files of CPython 2.7 begin with."""
    return '\x03\xf3\r\n'


def get_suffixes():
    return [('.py', 'U', PY_SOURCE), ('.pyc', 'rb', PY_COMPILED)]


def _refuse(name, *args):
    raise ImportError("import-time code cannot load %s by itself" % (name,))

find_module = load_module = load_source = load_compiled = _refuse


def acquire_lock():
    pass

release_lock = acquire_lock
