"""Values of different types behind one: erase() makes an opaque value of one,
unerase() of the same pair gives it back.

For the annotator an erased value is a small box. Every pair has a class of boxes of its
own, so that types do not mix although all boxes have a common type. The RTyper leaves the
boxes out, except for numbers: an erased pointer is that pointer.
"""
import sys


class Erased(object):
    """An erased value, of whichever pair."""
    _is_erased_ = True


class _ErasedInt(Erased):
    def __init__(self, content):
        self.content = content


_INT_LIMIT = sys.maxint // 2

def erase_int(x):
    """Integers of 63 bits only, as if they were tagged pointers."""
    if not -_INT_LIMIT - 1 <= x <= _INT_LIMIT:
        raise OverflowError
    return _ErasedInt(x)

def unerase_int(y):
    assert isinstance(y, _ErasedInt)
    return y.content


class ErasingPairIdentity(object):
    """What tells two pairs apart."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return 'ErasingPairIdentity(%r)' % (self.name,)

    def __deepcopy__(self, memo):
        return self


def new_erasing_pair(name):
    """A pair of functions (erase, unerase)."""
    identity = ErasingPairIdentity(name)

    class Box(Erased):
        _identity = identity

        def __init__(self, content):
            self.content = content

        def __repr__(self):
            return 'Erased(%r, %r)' % (self.content, self._identity)

        def __deepcopy__(self, memo):
            return self

    Box.__name__ = 'Erased_' + name

    def erase(x):
        return Box(x)

    def unerase(y):
        assert isinstance(y, Box)
        return y.content

    erase.identity = unerase.identity = identity
    return erase, unerase

def new_static_erasing_pair(name):
    """The pair as static methods, to be put in a class."""
    erase, unerase = new_erasing_pair(name)
    return staticmethod(erase), staticmethod(unerase)


# Tests read the erased value.
Erased._x = property(lambda erased: erased.content)
