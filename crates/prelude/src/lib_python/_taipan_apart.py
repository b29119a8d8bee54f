"""Functions that are called from outside of the program."""
from types import FunctionType


def apart(f):
    """A function that does the same, as one of its own: what calls it from outside does not take
    it in, so that it is seen in tracebacks. Inside of the program that is as ever."""
    copy = FunctionType(f.func_code, f.func_globals, f.func_name, f.func_defaults, f.func_closure)
    copy.__dict__.update(f.__dict__)
    copy.__doc__ = f.__doc__
    copy.__module__ = f.__module__
    copy._always_inline_ = False
    copy._dont_inline_ = True
    return copy
