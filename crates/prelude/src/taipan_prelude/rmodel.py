"""What has no better place: Void values, bools, comparison of numbers, weak
references."""
from rpython.rtyper.lltypesystem.lltype import Signed, cast_primitive, nullptr
from rpython.rtyper.lltypesystem.lloperation import llop
from taipan_prelude.ll_str import ll_int2dec


def ll_hash_void(NOTHING):
    return 0

def ll_bool_str(b):
    """A truth value has the text of its number, unlike in Python."""
    return ll_int2dec(cast_primitive(Signed, b))

def ll_eq_shortint(a, b):
    """Integers narrower than a word have no operations of their own."""
    return cast_primitive(Signed, a) == cast_primitive(Signed, b)

# Where one of them is no number, it is the second one that comes out.

def ll_min(a, b):
    if a < b:
        return a
    return b

def ll_max(a, b):
    if a > b:
        return a
    return b

def ll_truediv_zer(x, y):
    if y == 0.0:
        raise ZeroDivisionError
    return x / y

def ll_weakref_deref(OBJECT, wref):
    if not wref:
        return nullptr(OBJECT.TO)
    return llop.weakref_deref(OBJECT, wref)
