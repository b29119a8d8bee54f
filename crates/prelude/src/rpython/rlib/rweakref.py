"""Dictionaries that do not keep their values, or their keys, alive.

The classes of the keys and values are constants; every combination gets a class of
its own.
"""
import weakref

from rpython.rlib.objectmodel import compute_unique_id, specialize


ref = weakref.ref

dead_ref = weakref.ref(None)
"""A weak reference whose object is gone."""


def has_weakref_support():
    return True


_classes = {}

def _value_dictionary(keyclass, valueclass):
    key = ('value', keyclass, valueclass)
    if key not in _classes:
        class WeakValueDictionary(object):
            def __init__(self):
                self._refs = {}
                self._limit = 16

            def get(self, key):
                """The value, None if there is none or it has died."""
                if key in self._refs:
                    return self._refs[key]()
                return None

            def set(self, key, value):
                """None as value takes the key out."""
                if value is not None:
                    if len(self._refs) > self._limit:
                        self._forget_the_dead()
                    self._refs[key] = weakref.ref(value)
                elif key in self._refs:
                    del self._refs[key]

            def _forget_the_dead(self):
                for key, ref in self._refs.items():
                    if ref() is None:
                        del self._refs[key]
                self._limit = 2 * len(self._refs) + 16
        _classes[key] = WeakValueDictionary
    return _classes[key]
specialize.memo()(_value_dictionary)

def RWeakValueDictionary(keyclass, valueclass):
    """A dictionary from plain keys to instances of valueclass."""
    return _value_dictionary(keyclass, valueclass)()
specialize.arg(0, 1)(RWeakValueDictionary)


def _key_dictionary(keyclass, valueclass):
    key = ('key', keyclass, valueclass)
    if key not in _classes:
        class Item(object):
            def __init__(self, key, value):
                self.key = weakref.ref(key)
                self.value = value

        class WeakKeyDictionary(object):
            def __init__(self):
                self._items = {}
                self._limit = 16

            def get(self, key):
                """The value, None if there is none."""
                number = compute_unique_id(key)
                if number in self._items:
                    item = self._items[number]
                    if item.key() is key:
                        return item.value
                return None

            def set(self, key, value):
                """None as value takes the key out."""
                assert key is not None
                number = compute_unique_id(key)
                if value is not None:
                    if len(self._items) > self._limit:
                        self._forget_the_dead()
                    self._items[number] = Item(key, value)
                elif number in self._items:
                    del self._items[number]

            def _forget_the_dead(self):
                for number, item in self._items.items():
                    if item.key() is None:
                        del self._items[number]
                self._limit = 2 * len(self._items) + 16

            def length(self):
                """How many keys are alive."""
                result = 0
                for item in self._items.values():
                    if item.key() is not None:
                        result += 1
                return result
        _classes[key] = WeakKeyDictionary
    return _classes[key]
specialize.memo()(_key_dictionary)

def RWeakKeyDictionary(keyclass, valueclass):
    """A dictionary from instances of keyclass, by identity, to instances of
    valueclass."""
    return _key_dictionary(keyclass, valueclass)()
specialize.arg(0, 1)(RWeakKeyDictionary)
