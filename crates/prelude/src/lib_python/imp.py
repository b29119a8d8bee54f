"""How Python finds and loads modules, for programs that do it themselves."""
import os
import sys
import types

PY_SOURCE, PY_COMPILED, C_EXTENSION, PKG_DIRECTORY = 1, 2, 3, 5


def get_magic():
    """What compiled files of CPython 2.7 begin with."""
    return '\x03\xf3\r\n'


def get_suffixes():
    return [('.py', 'U', PY_SOURCE), ('.pyc', 'rb', PY_COMPILED)]


def find_module(name, path=None):
    """The open file of a module in one of the folders, its name, and how to load it; for
    a package no file."""
    for folder in sys.path if path is None else path:
        place = os.path.join(folder, name)
        if os.path.isfile(os.path.join(place, '__init__.py')):
            return None, place, ('', '', PKG_DIRECTORY)
        if os.path.isfile(place + '.py'):
            return open(place + '.py', 'U'), place + '.py', ('.py', 'U', PY_SOURCE)
    raise ImportError("No module named " + name)


def load_source(name, pathname, file=None):
    """Runs a file as the module of a name, which is made unless it is there."""
    with open(pathname, 'U') as source:
        code = compile(source.read(), pathname, 'exec')
    module = sys.modules.setdefault(name, types.ModuleType(name))
    module.__file__ = pathname
    exec code in module.__dict__
    return module


def load_module(name, file, pathname, description):
    """Loads what find_module() has found."""
    kind = description[2]
    if kind == PY_SOURCE:
        return load_source(name, pathname)
    if kind == PKG_DIRECTORY:
        module = sys.modules.setdefault(name, types.ModuleType(name))
        module.__path__ = [pathname]
        return load_source(name, os.path.join(pathname, '__init__.py'))
    raise ImportError("%s is no Python source" % (name,))


def load_compiled(name, pathname, file=None):
    raise ImportError("compiled files are not loaded: " + name)


def new_module(name):
    return types.ModuleType(name)


def acquire_lock():
    pass

release_lock = acquire_lock
