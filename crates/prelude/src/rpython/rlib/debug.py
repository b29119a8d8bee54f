"""Assertions, logging, and checks of what the annotator found."""

def ll_assert(x, msg):
    assert type(x) is bool, "bad type! got %r" % (type(x),)
    assert x, msg

def ll_assert_not_none(x):
    assert x is not None, "ll_assert_not_none(%r)" % (x,)
    return x

def fatalerror(msg):
    raise SystemExit(msg)

def fatalerror_notb(msg):
    raise SystemExit(msg)

def debug_print_traceback():
    """Shows which functions an exception went through; nobody keeps that."""

def debug_print(*args):
    pass

def debug_start(category, timestamp=False):
    return 0

def debug_stop(category, timestamp=False):
    return 0

def have_debug_prints():
    return False

def have_debug_prints_for(category_prefix):
    return False

def debug_offset():
    return -1

def debug_flush():
    pass

def debug_forked(original_offset):
    pass

def check_annotation(arg, checker):
    return arg

def check_not_access_directly(arg):
    return arg

def make_sure_not_resized(arg):
    """The list keeps its length: no method that changes it may be reached."""
    return arg

def mark_dict_non_null(d):
    return d

class IntegerCanBeNegative(Exception):
    pass

class UnexpectedRUInt(Exception):
    pass

class ExpectedRegularInt(Exception):
    pass

class NegativeArgumentNotAllowed(Exception):
    pass

class NotAListOfChars(Exception):
    pass

def check_nonneg(x):
    assert x >= 0
    return x

def check_regular_int(x):
    assert type(x) in (int, bool)
    return x

def check_list_of_chars(l):
    for x in l:
        assert isinstance(x, (str, unicode)) and len(x) == 1
    return l

def attach_gdb():
    pass
