"""The part of pytest that test modules and `conftest.py` files use: see `taipan test`."""
import sys
from _taipan_fixtures import Fixture
from _taipan_hooks import Config, UsageError, hookimpl, hookspec
from _taipan_nodes import (
    Class, Collector, ExceptionInfo, File, Function, Generator, Instance, Item, Module, Session)
from _taipan_testing import (
    Exit, Failed, MarkGenerator, Param, Skipped, XFailed, as_marks, exit, fail, skip, xfail)

__version__ = '2.9.2'
mark = MarkGenerator()
skip.Exception = Skipped
fail.Exception = Failed
xfail.Exception = XFailed
exit.Exception = Exit
# The configuration of the run, where a `conftest.py` has hooks.
config = Config()


class collect(object):
    """Nodes under their older names."""
    Module = Module
    Class = Class
    Instance = Instance
    Function = Function
    Generator = Generator
    Item = Item
    File = File
    Collector = Collector


def param(*values, **kwds):
    return Param(values, kwds.get('id'), as_marks(kwds.get('marks', [])))


class RaisesContext(object):
    """`with raises(..)` and what it says of the exception, where calls are not compiled
    as `try`: at import time, in the interpreter, and with `match`."""
    type = value = traceback = tb = None

    @property
    def _excinfo(self):
        return self.type, self.value, self.tb

    def __init__(self, expected, match=None):
        self.expected = expected
        self.pattern = match

    def __enter__(self):
        return self

    def __exit__(self, type, value, traceback):
        if type is None:
            fail('DID NOT RAISE %s' % (name_of(self.expected),))
        self.type, self.value = type, value
        self.traceback = self.tb = traceback
        if not issubclass(type, self.expected):
            return False
        if self.pattern is not None:
            self.match(self.pattern)
        return True

    @property
    def typename(self):
        return self.type.__name__

    def match(self, regexp):
        import re
        text = str(self.value)
        if not re.search(regexp, text):
            fail('Pattern %r not found in %r' % (regexp, text))
        return True

    def errisinstance(self, expected):
        return isinstance(self.value, expected)

    def exconly(self, tryshort=False):
        return '%s: %s' % (self.typename, self.value)

    def __str__(self):
        return self.exconly()


def name_of(expected):
    if isinstance(expected, tuple):
        return '(%s)' % ', '.join([name_of(e) for e in expected])
    return expected.__name__


def raises(expected, *args, **kwds):
    """In functions of test modules, calls of this are compiled as `try` where that can be."""
    if not args:
        return RaisesContext(expected, kwds.get('match'))
    context = RaisesContext(expected)
    with context:
        if isinstance(args[0], str):
            frame = sys._getframe(1)
            names = dict(frame.f_globals)
            names.update(frame.f_locals)
            exec args[0] in names
        else:
            args[0](*args[1:], **kwds)
    return context


raises.Exception = Failed


def warns(expected, *args, **kwds):
    """Checks that a block, or a call of `args`, warns."""
    from _taipan_fixtures import WarningsRecorder
    if not args:
        return WarningsRecorder(expected, kwds.get('match'))
    with WarningsRecorder(expected):
        return args[0](*args[1:], **kwds)


def deprecated_call(*args, **kwds):
    return warns((DeprecationWarning, PendingDeprecationWarning), *args, **kwds)


def fixture(func=None, *args, **kwds):
    if func is not None and hasattr(func, 'func_code'):
        return Fixture(func)
    if func is not None:
        args = (func,) + args
    return lambda func: Fixture(func, *args, **kwds)


yield_fixture = fixture


class approx(object):
    """Numbers, or lists, tuples and dicts of such, that are nearly the expected ones."""

    def __init__(self, expected, rel=None, abs=None, nan_ok=False):
        self.expected = expected
        self.rel = rel
        self.abs = abs
        self.nan_ok = nan_ok

    def __eq__(self, actual):
        return self.is_near(actual, self.expected)

    def __ne__(self, actual):
        return not self == actual

    def is_near(self, actual, expected):
        if isinstance(expected, dict):
            return sorted(actual.keys()) == sorted(expected.keys()) and all(
                [self.is_near(actual[k], expected[k]) for k in expected])
        if isinstance(expected, (list, tuple)):
            return len(actual) == len(expected) and all(
                [self.is_near(a, e) for a, e in zip(actual, expected)])
        if not isinstance(expected, (int, long, float)) or not isinstance(
                actual, (int, long, float)):
            return actual == expected
        if actual == expected:
            return True
        if actual != actual or expected != expected:
            return self.nan_ok and actual != actual and expected != expected
        distance = abs(actual - expected)
        # Not even near to infinity is anything but itself.
        return distance != float('inf') and distance <= self.tolerance(expected)

    def tolerance(self, expected):
        absolute = 1e-12 if self.abs is None else self.abs
        if self.rel is None and self.abs is not None:
            return absolute
        return max((1e-6 if self.rel is None else self.rel) * abs(expected), absolute)

    def __repr__(self):
        return 'approx(%r)' % (self.expected,)

    __hash__ = None


def importorskip(name, *args, **kwds):
    try:
        __import__(name)
    except ImportError:
        skip('could not import %r' % (name,))
    return sys.modules[name]


def ensuretemp(string, dir=1):
    """A folder that the test alone sees."""
    import py
    import tempfile
    return py.path.local(tempfile.mkdtemp(prefix=string + '-'))
