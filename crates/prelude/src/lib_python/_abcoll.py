"""Abstract containers: what a class gets that defines the few methods they stand on."""


class Sized(object):
    pass

class Iterable(object):
    pass

class Container(object):
    pass

class Hashable(object):
    pass

class Callable(object):
    pass


class Iterator(Iterable):
    def __iter__(self):
        return self


class Set(Sized, Iterable, Container):
    """Stands on __contains__, __iter__ and __len__."""

    @classmethod
    def _from_iterable(cls, items):
        return cls(items)

    def __le__(self, other):
        return len(self) <= len(other) and all([x in other for x in self])

    def __lt__(self, other):
        return len(self) < len(other) and self <= other

    def __ge__(self, other):
        return other <= self

    def __gt__(self, other):
        return other < self

    def __eq__(self, other):
        return len(self) == len(other) and self <= other

    def __ne__(self, other):
        return not self == other

    def __and__(self, other):
        return self._from_iterable([x for x in other if x in self])

    def __or__(self, other):
        return self._from_iterable(list(self) + [x for x in other if x not in self])

    def __sub__(self, other):
        return self._from_iterable([x for x in self if x not in other])

    def __xor__(self, other):
        return (self - other) | self._from_iterable([x for x in other if x not in self])

    def isdisjoint(self, other):
        return not any([x in self for x in other])


class MutableSet(Set):
    """Stands on add and discard besides."""

    def remove(self, item):
        if item not in self:
            raise KeyError(item)
        self.discard(item)

    def pop(self):
        for item in self:
            self.discard(item)
            return item
        raise KeyError

    def clear(self):
        for item in list(self):
            self.discard(item)

    def __ior__(self, other):
        for item in other:
            self.add(item)
        return self

    def __isub__(self, other):
        for item in list(other):
            self.discard(item)
        return self

    def __iand__(self, other):
        for item in list(self):
            if item not in other:
                self.discard(item)
        return self


class Mapping(Sized, Iterable, Container):
    """Stands on __getitem__, __iter__ and __len__."""

    def get(self, key, default=None):
        try:
            return self[key]
        except KeyError:
            return default

    def __contains__(self, key):
        try:
            self[key]
        except KeyError:
            return False
        return True

    def iterkeys(self):
        return iter(self)

    def itervalues(self):
        for key in self:
            yield self[key]

    def iteritems(self):
        for key in self:
            yield key, self[key]

    def keys(self):
        return list(self)

    def values(self):
        return [self[key] for key in self]

    def items(self):
        return [(key, self[key]) for key in self]

    __hash__ = None

    def __eq__(self, other):
        return dict(self.items()) == dict(other.items())

    def __ne__(self, other):
        return not self == other


_MISSING = object()


class MutableMapping(Mapping):
    """Stands on __setitem__ and __delitem__ besides."""

    def pop(self, key, default=_MISSING):
        try:
            value = self[key]
        except KeyError:
            if default is _MISSING:
                raise
            return default
        del self[key]
        return value

    def popitem(self):
        for key in self:
            value = self[key]
            del self[key]
            return key, value
        raise KeyError

    def clear(self):
        for key in list(self):
            del self[key]

    def update(self, *others, **more):
        for other in others:
            pairs = other.items() if hasattr(other, 'items') else other
            for key, value in pairs:
                self[key] = value
        for key, value in more.items():
            self[key] = value

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]


class Sequence(Sized, Iterable, Container):
    """Stands on __getitem__ and __len__."""

    def __iter__(self):
        for i in range(len(self)):
            yield self[i]

    def __contains__(self, item):
        return any([x == item for x in self])

    def __reversed__(self):
        for i in range(len(self) - 1, -1, -1):
            yield self[i]

    def index(self, item):
        for i in range(len(self)):
            if self[i] == item:
                return i
        raise ValueError

    def count(self, item):
        return len([x for x in self if x == item])


class MutableSequence(Sequence):
    """Stands on __setitem__, __delitem__ and insert besides."""

    def append(self, item):
        self.insert(len(self), item)

    def extend(self, items):
        for item in items:
            self.append(item)

    def reverse(self):
        items = [self[i] for i in range(len(self) - 1, -1, -1)]
        for i in range(len(items)):
            self[i] = items[i]

    def pop(self, index=-1):
        item = self[index]
        del self[index]
        return item

    def remove(self, item):
        del self[self.index(item)]

    def __iadd__(self, items):
        self.extend(items)
        return self
