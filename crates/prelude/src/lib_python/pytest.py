"""The part of pytest that test modules use: see `taipan test`."""
import sys
from _taipan_testing import (
    MarkGenerator, Param, Skipped, as_marks, fail, skip, xfail)

mark = MarkGenerator()


def param(*values, **kwds):
    return Param(values, kwds.get('id'), as_marks(kwds.get('marks', [])))


class RaisesContext(object):
    """`with raises(..)` in code that runs at import time."""
    type = value = traceback = None

    def __init__(self, expected):
        self.expected = expected

    def __enter__(self):
        return self

    def __exit__(self, type, value, traceback):
        if type is None:
            fail('DID NOT RAISE %s' % (self.expected,))
        self.type, self.value, self.traceback = type, value, traceback
        return issubclass(type, self.expected)


def raises(expected, *args, **kwds):
    """At import time. In functions of test modules, calls are compiled as `try`."""
    if not args:
        return RaisesContext(expected)
    context = RaisesContext(expected)
    with context:
        args[0](*args[1:], **kwds)
    return context


def fixture(func=None, **kwds):
    if func is None:
        return lambda func: func
    return func


def importorskip(name, *args, **kwds):
    try:
        __import__(name)
    except ImportError:
        skip('could not import %r' % (name,))
    return sys.modules[name]
