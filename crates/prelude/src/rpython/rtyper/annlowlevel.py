"""High-level values as the low-level ones that stand for them, and back.

The compiler knows the functions by name; while a program loads there are only
high-level values.
"""
from rpython.rlib.objectmodel import not_rpython
from rpython.rtyper.lltypesystem import lltype


@not_rpython
def llstr(s):
    return s

@not_rpython
def hlstr(ll_s):
    return ll_s

@not_rpython
def llunicode(u):
    return u

@not_rpython
def hlunicode(ll_u):
    return ll_u

@not_rpython
def cast_instance_to_base_ptr(instance):
    return instance

@not_rpython
def cast_base_ptr_to_instance(Class, ptr):
    assert ptr is None or isinstance(ptr, Class)
    return ptr

@not_rpython
def cast_instance_to_gcref(instance):
    return instance

@not_rpython
def cast_gcref_to_instance(Class, ptr):
    assert ptr is None or isinstance(ptr, Class)
    return ptr

@not_rpython
def checked_cast_gcref_to_instance(Class, ptr):
    """None for an instance of another class."""
    return ptr if isinstance(ptr, Class) else None


class _Internal(object):
    """Parts of the original toolchain's RTyper, which have no counterpart here."""

    def __init__(self, *args, **kwds):
        raise NotImplementedError("%s is internal to the original toolchain"
                                  % type(self).__name__)


class LowLevelAnnotatorPolicy(_Internal):
    pass


class MixLevelHelperAnnotator(_Internal):
    pass


class PseudoHighLevelCallable(_Internal):
    pass


@not_rpython
def annotate_lowlevel_helper(annotator, ll_function, args_s, policy=None):
    raise NotImplementedError("annotate_lowlevel_helper()")

@not_rpython
def llhelper(F, f):
    """A pointer of type F to a function."""
    return lltype.functionptr(F.TO, f.__name__, _callable=f)
