"""Lists that forget, now and then, what is of no more use."""


class AbstractShrinkList(object):
    """Subclasses say with must_keep(item) what stays. The order does not change."""
    _mixin_ = True

    def __init__(self):
        self._list = []
        self._next_shrink = 16

    def append(self, x):
        if len(self._list) >= self._next_shrink:
            self._shrink()
        self._list.append(x)

    def items(self):
        """All items, to be read only."""
        return self._list

    def _shrink(self):
        kept = 0
        for x in self._list:
            if self.must_keep(x):
                self._list[kept] = x
                kept += 1
        del self._list[kept:]
        self._next_shrink = 2 * kept + 16

    def must_keep(self, x):
        raise NotImplementedError
