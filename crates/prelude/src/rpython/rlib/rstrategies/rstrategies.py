"""Storage strategies: objects whose items are kept in a form that suits them, and which
change to a more general one when an item comes that does not fit.

A program has a root class of strategies, made with `StrategyMetaclass` and the mixin
`AbstractStrategy`, strategies below it from the mixins here, and a `StrategyFactory`. The
objects have a strategy and a storage, which `make_accessors` names.
"""
import sys
import weakref

from rpython.rlib import rerased
from rpython.rlib.objectmodel import specialize
from rpython.rlib.rstrategies import logger
from rpython.rlib.unroll import unrolling_iterable


def make_accessors(strategy='strategy', storage='storage'):
    """In a class body: under which attributes the factory finds strategy and storage."""
    body = sys._getframe(1).f_locals
    for role, attr in [('strategy', strategy), ('storage', storage)]:
        body['_get_' + role], body['_set_' + role] = _accessors(attr)


def _accessors(attr):
    def get(self):
        return getattr(self, attr)

    def put(self, value):
        setattr(self, attr, value)

    return get, put


class StrategyMetaclass(type):
    """Gives every class a type of storage of its own."""

    def __new__(meta, name, bases, body):
        hide, show = rerased.new_erasing_pair(name)

        def get_storage(self, obj):
            return show(self.strategy_factory().get_storage(obj))

        def set_storage(self, obj, items):
            self.strategy_factory().set_storage(obj, hide(items))

        body.update(get_storage=get_storage, set_storage=set_storage, _is_strategy=False,
                    _is_singleton=False, _generalizations=[])
        return type.__new__(meta, name, bases, body)


def strategy(generalize=None, singleton=True):
    """Decorates strategies that objects can have. `generalize` are those to change to,
    the most special first."""
    def mark(cls):
        cls._is_strategy, cls._is_singleton = True, singleton
        if generalize is not None:
            cls._generalizations = list(generalize)
            cls._generalized_strategy_for = _chooser(generalize)
        return cls
    return mark


def _chooser(generalize):
    ways = unrolling_iterable(generalize)

    def _generalized_strategy_for(self, value):
        for way in ways:
            if self.strategy_factory().strategy_singleton_instance(way)._check_can_handle(value):
                return way
        raise Exception("no strategy is general enough")

    return _generalized_strategy_for


class StrategyFactory(object):
    """Knows the strategies below a root class, which are in `strategies`, the most
    special first."""
    _immutable_fields_ = ['strategies[*]', 'logger', 'singleton_attr']
    made = 0

    def __init__(self, root_class, all_strategy_classes=None):
        self.logger = logger.Logger()
        self.strategies = []
        # Several factories may share the classes.
        self.singleton_attr = '_singleton_%d' % StrategyFactory.made
        StrategyFactory.made += 1
        self._create_strategy_instances(
            root_class, all_strategy_classes or _classes_below(root_class))

    # What programs call.

    def switch_strategy(self, w_self, new_strategy_type, new_element=None):
        """Changes an object's strategy, which keeps its items. Answers the new one."""
        before = self.get_strategy(w_self)
        after = self._instance_for(new_strategy_type, w_self, before.size(w_self))
        self.set_strategy(w_self, after)
        before._convert_storage_to(w_self, after)
        self._settled(w_self, after, before, new_element)
        return after

    def set_initial_strategy(self, w_self, strategy_type, size, elements=None):
        """Gives an object its first strategy and storage. Answers the strategy."""
        assert self.get_strategy(w_self) is None, "the object has a strategy"
        first = self._instance_for(strategy_type, w_self, size)
        self.set_strategy(w_self, first)
        first._initialize_storage(w_self, size)
        if elements:
            first.store_all(w_self, elements)
        self._settled(w_self, first, None, None)
        return first

    def strategy_type_for(self, objects):
        """The most special strategy for all of these."""
        for candidate in self.strategies:
            if _handles_all(self.strategy_singleton_instance(candidate), objects):
                return candidate
        raise ValueError("no strategy fits these objects")

    def decorate_strategies(self, transitions):
        """`strategy` for all classes of a dict from classes to what they change to."""
        for cls in transitions:
            strategy(transitions[cls])(cls)

    def strategy_singleton_instance(self, strategy_class):
        """The shared instance of a strategy."""
        return getattr(strategy_class, self.singleton_attr)

    # What programs may replace.

    def instantiate_strategy(self, strategy_type, w_self=None, initial_size=0):
        """A new strategy, of an object if it is not shared."""
        return strategy_type()

    def log(self, w_self, new_strategy, old_strategy=None, new_element=None):
        if not self.logger.active:
            return
        old = ""
        cause = "Created"
        if old_strategy is not None:
            old = self.log_string_for_object(old_strategy)
            cause = "Switched"
        element = ""
        if new_element is not None:
            element = self.log_string_for_object(new_element)
        self.logger.log(self.log_string_for_object(new_strategy), new_strategy.size(w_self),
                        cause, old, "", element)

    @specialize.call_location()
    def log_string_for_object(self, obj):
        return obj.__class__.__name__

    def get_strategy(self, obj):
        return obj._get_strategy()

    def set_strategy(self, obj, val):
        obj._set_strategy(val)

    def get_storage(self, obj):
        return obj._get_storage()

    def set_storage(self, obj, val):
        obj._set_storage(val)

    # Details.

    def _instance_for(self, strategy_type, w_self, size):
        if not strategy_type._is_singleton:
            return self.instantiate_strategy(strategy_type, w_self, size)
        return self.strategy_singleton_instance(strategy_type)

    def _settled(self, w_self, now, before, new_element):
        now.strategy_switched(w_self)
        self.log(w_self, now, before, new_element)

    # While a program is imported.

    def _create_strategy_instances(self, root_class, all_strategy_classes):
        # Classes are told apart when the program runs: all have the attribute.
        setattr(root_class, self.singleton_attr, None)
        for cls in all_strategy_classes:
            if cls._is_strategy:
                setattr(cls, self.singleton_attr, self.instantiate_strategy(cls))
                self._patch_strategy_class(cls, root_class)
                self.strategies.append(cls)
        self._order_strategies()

    def _patch_strategy_class(self, strategy_class, root_class):
        """Lets strategies have a way of their own of coming from this one:
        `_convert_storage_from_NAME`, called by what is made here."""
        name = '_convert_storage_from_' + strategy_class.__name__

        def usual_way(self, w_self, previous_strategy):
            self._convert_storage_from(w_self, previous_strategy)

        def to_other(self, w_self, new_strategy):
            getattr(new_strategy, name)(w_self, self)

        usual_way.func_name = name
        setattr(root_class, name, usual_way)
        strategy_class._convert_storage_to = to_other

    def _order_strategies(self):
        self.strategies.sort(key=lambda cls: -_height(cls, []))

    def _freeze_(self):
        return True


def _classes_below(cls):
    found = []
    for subclass in cls.__subclasses__():
        found += [subclass] + _classes_below(subclass)
    return found


def _height(cls, seen):
    """How many changes it is from the most general strategies."""
    if cls in seen:
        raise Exception("strategies generalize each other in a circle")
    return max([0] + [_height(general, seen + [cls]) + 1 for general in cls._generalizations])


def _handles_all(instance, objects):
    for obj in objects:
        if not instance._check_can_handle(obj):
            return False
    return True


# Mixins: what a strategy does. Positions count from 0. What a program has to add is named
# only, since a definition here would hide what its classes inherit.

class AbstractStrategy(object):
    """For the root class, which adds `strategy_factory()` and one of the indexing
    mixins. A strategy says which values it can handle and what to do with one item
    (`_item`, `_put_item`, `_add_item`) or several (`_drop_items`) where all is well."""

    def strategy_switched(self, w_self):
        """Called when an object has got this strategy."""

    def size(self, w_self):
        raise NotImplementedError

    def _check_can_handle(self, value):
        raise NotImplementedError

    def _initialize_storage(self, w_self, initial_size):
        raise NotImplementedError

    def _item(self, w_self, index0):
        raise NotImplementedError

    def _put_item(self, w_self, index0, value):
        raise NotImplementedError

    def _add_item(self, w_self, index0, value):
        raise NotImplementedError

    def _drop_items(self, w_self, start, end):
        raise NotImplementedError

    # Items, one by one.

    def fetch(self, w_self, index0):
        self.check_index_fetch(w_self, index0)
        return self._item(w_self, index0)

    def store(self, w_self, index0, value):
        self.check_index_store(w_self, index0)
        if not self._check_can_handle(value):
            self._cannot_handle_store(w_self, index0, value)
        else:
            self._put_item(w_self, index0, value)

    def pop(self, w_self, index0):
        last = self.fetch(w_self, index0)
        self.delete(w_self, index0, index0 + 1)
        return last

    # Many items.

    def insert(self, w_self, index0, list_w):
        index0 = min(index0, self.size(w_self))
        done = 0
        while done < len(list_w):
            if not self._check_can_handle(list_w[done]):
                self._cannot_handle_insert(w_self, index0 + done, list_w[done:])
                return
            self._add_item(w_self, index0 + done, list_w[done])
            done += 1

    def append(self, w_self, list_w):
        self.insert(w_self, self.size(w_self), list_w)

    def delete(self, w_self, start, end):
        self.check_index_range(w_self, start, end)
        self._drop_items(w_self, start, end)

    def slice(self, w_self, start, end):
        return [self.fetch(w_self, i) for i in range(start, end)]

    def fetch_all(self, w_self):
        return self.slice(w_self, 0, self.size(w_self))

    def store_all(self, w_self, elements):
        for i in range(len(elements)):
            # An element may have changed the strategy.
            self.strategy_factory().get_strategy(w_self).store(w_self, i, elements[i])

    # Changes of the strategy.

    def _convert_storage_to(self, w_self, new_strategy):
        new_strategy._convert_storage_from(w_self, self)

    def _convert_storage_from(self, w_self, previous_strategy):
        items = previous_strategy.fetch_all(w_self)
        self._initialize_storage(w_self, len(items))
        self.store_all(w_self, items)

    def _generalize_for_value(self, w_self, value):
        general = self._generalized_strategy_for(value)
        return self.strategy_factory().switch_strategy(w_self, general, value)

    def _cannot_handle_store(self, w_self, index0, value):
        self._generalize_for_value(w_self, value).store(w_self, index0, value)

    def _cannot_handle_insert(self, w_self, index0, list_w):
        self._generalize_for_value(w_self, list_w[0]).insert(w_self, index0, list_w)


class EmptyStrategy(AbstractStrategy):
    """No items."""

    def size(self, w_self):
        return 0

    def _check_can_handle(self, value):
        return False

    def _initialize_storage(self, w_self, initial_size):
        assert not initial_size
        self.set_storage(w_self, None)

    def _convert_storage_from(self, w_self, previous_strategy):
        self._initialize_storage(w_self, 0)

    def fetch(self, w_self, index0):
        raise IndexError

    def store(self, w_self, index0, value):
        raise IndexError

    def _drop_items(self, w_self, start, end):
        pass


class SingleValueStrategyStorage(object):
    """How many times the value is there."""
    _attrs_ = ['size']

    def __init__(self, size=0):
        self.size = size


class SingleValueStrategy(AbstractStrategy):
    """Nothing but `value()`, which the program adds, some number of times."""

    def size(self, w_self):
        return self.get_storage(w_self).size

    def _check_can_handle(self, value):
        return value is self.value()

    def _initialize_storage(self, w_self, initial_size):
        self.set_storage(w_self, SingleValueStrategyStorage(initial_size))

    def _convert_storage_from(self, w_self, previous_strategy):
        self._initialize_storage(w_self, previous_strategy.size(w_self))

    def _item(self, w_self, index0):
        return self.value()

    def _put_item(self, w_self, index0, value):
        pass

    def _add_item(self, w_self, index0, value):
        self.get_storage(w_self).size += 1

    def _drop_items(self, w_self, start, end):
        self.get_storage(w_self).size -= end - start


class StrategyWithStorage(AbstractStrategy):
    """A list of items as `_unwrap` makes them and `_wrap` gives them back. The program
    adds `default_value()`."""

    def size(self, w_self):
        return len(self.get_storage(w_self))

    def _wrap(self, value):
        raise NotImplementedError

    def _unwrap(self, value):
        raise NotImplementedError

    def _initialize_storage(self, w_self, initial_size):
        self.set_storage(w_self, [self._unwrap(self.default_value())] * initial_size)

    def _convert_storage_from(self, w_self, previous_strategy):
        count = previous_strategy.size(w_self)
        self.set_storage(w_self, [self._unwrap(previous_strategy.fetch(w_self, i))
                                  for i in range(count)])

    def _item(self, w_self, index0):
        return self._wrap(self.get_storage(w_self)[index0])

    def _put_item(self, w_self, index0, value):
        self.get_storage(w_self)[index0] = self._unwrap(value)

    def _add_item(self, w_self, index0, value):
        assert index0 >= 0
        self.get_storage(w_self).insert(index0, self._unwrap(value))

    def _drop_items(self, w_self, start, end):
        assert 0 <= start <= end
        del self.get_storage(w_self)[start:end]


class GenericStrategy(StrategyWithStorage):
    """Any items."""

    def _check_can_handle(self, value):
        return True

    def _wrap(self, value):
        return value

    def _unwrap(self, value):
        return value


class WeakGenericStrategy(StrategyWithStorage):
    """Any items, as long as they live; then the default value."""

    def _check_can_handle(self, value):
        return True

    def _wrap(self, value):
        alive = value()
        if alive is None:
            return self.default_value()
        return alive

    def _unwrap(self, value):
        assert value is not None
        return weakref.ref(value)


class SafeIndexingMixin(object):
    """IndexError for positions outside."""

    def check_index(self, w_self, index0):
        if not 0 <= index0 < self.size(w_self):
            raise IndexError

    def check_index_fetch(self, w_self, index0):
        self.check_index(w_self, index0)

    def check_index_store(self, w_self, index0):
        self.check_index(w_self, index0)

    def check_index_range(self, w_self, start, end):
        if start > end:
            raise IndexError
        for position in [start, end - 1]:
            self.check_index(w_self, position)


class UnsafeIndexingMixin(object):
    """Positions are right: the program has checked them."""

    def check_index_fetch(self, w_self, index0):
        assert 0 <= index0

    def check_index_store(self, w_self, index0):
        assert 0 <= index0

    def check_index_range(self, w_self, start, end):
        assert 0 <= start <= end


class SpecializedStrategy(StrategyWithStorage):
    """Items in another form: the program adds `wrap(value)` and `unwrap(value)`."""

    def _wrap(self, value):
        return self.wrap(value)

    def _unwrap(self, value):
        return self.unwrap(value)


class SingleTypeStrategy(SpecializedStrategy):
    """Instances of `contained_type` only, which the program adds."""

    def _check_can_handle(self, value):
        return isinstance(value, self.contained_type)


class TaggingStrategy(SingleTypeStrategy):
    """The same and one value more, for which a value of the other form is set aside: the
    program adds `wrapped_tagged_value()` and `unwrapped_tagged_value()`."""

    def _check_can_handle(self, value):
        if value is self.wrapped_tagged_value():
            return True
        if not isinstance(value, self.contained_type):
            return False
        return self.unwrap(value) != self.unwrapped_tagged_value()

    def _wrap(self, value):
        tag = self.unwrapped_tagged_value()
        return self.wrapped_tagged_value() if value == tag else self.wrap(value)

    def _unwrap(self, value):
        tagged = value is self.wrapped_tagged_value()
        return self.unwrapped_tagged_value() if tagged else self.unwrap(value)
