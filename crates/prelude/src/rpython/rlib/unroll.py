"""Iteration that is unrolled: the body of a loop over an unrolling_iterable is
compiled once per item, each time with the item as a constant."""


class SpecTag(object):
    """Paths on which a variable holds different SpecTags are not merged."""
    __slots__ = ()

    def _freeze_(self):
        return True


class unrolling_iterable(SpecTag):

    def __init__(self, iterable):
        self._items = list(iterable)

    def __iter__(self):
        return iter(self._items)
