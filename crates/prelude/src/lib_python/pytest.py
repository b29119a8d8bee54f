"""The part of pytest that test modules use when they are imported."""
import py

skip = py.test.skip
raises = py.test.raises
mark = py.test.mark


def fixture(func=None, **kwds):
    if func is None:
        return lambda func: func
    return func


def importorskip(name, *args, **kwds):
    return __import__(name)
