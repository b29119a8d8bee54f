"""Code objects of functions, as far as programs look at them while they load."""
from rpython.flowspace.argument import Signature

CO_VARARGS = 4
CO_VARKEYWORDS = 8
CO_GENERATOR = 32


def cpython_code_signature(code):
    """The Signature of a function's code."""
    names = list(code.co_varnames)
    count = code.co_argcount
    varargname = kwargname = None
    rest = names[count:]
    if code.co_flags & CO_VARARGS:
        varargname = rest.pop(0)
    if code.co_flags & CO_VARKEYWORDS:
        kwargname = rest.pop(0)
    return Signature(names[:count], varargname, kwargname)
