"""Binary search in the first `hi` items of a sorted list."""
from rpython.rlib.objectmodel import specialize


@specialize.argtype(0)
def bisect_left(a, x, hi):
    """The first place where x can be inserted."""
    lo = 0
    while lo < hi:
        middle = (lo + hi) >> 1
        if a[middle] < x:
            lo = middle + 1
        else:
            hi = middle
    return lo


@specialize.argtype(0)
def bisect_right(a, x, hi):
    """The last place where x can be inserted."""
    lo = 0
    while lo < hi:
        middle = (lo + hi) >> 1
        if x < a[middle]:
            hi = middle
        else:
            lo = middle + 1
    return lo
