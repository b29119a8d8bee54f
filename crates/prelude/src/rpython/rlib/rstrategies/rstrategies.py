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
    def make_getter(attr):
        def getter(self):
            return getattr(self, attr)
        return getter

    def make_setter(attr):
        def setter(self, value):
            setattr(self, attr, value)
        return setter

    body = sys._getframe(1).f_locals
    body['_get_strategy'] = make_getter(strategy)
    body['_set_strategy'] = make_setter(strategy)
    body['_get_storage'] = make_getter(storage)
    body['_set_storage'] = make_setter(storage)


class StrategyMetaclass(type):
    """Gives every class a type of storage of its own."""

    def __new__(self, name, bases, attrs):
        attrs['_is_strategy'] = False
        attrs['_is_singleton'] = False
        attrs['_generalizations'] = []
        erase, unerase = rerased.new_erasing_pair(name)

        def get_storage(self, w_self):
            return unerase(self.strategy_factory().get_storage(w_self))

        def set_storage(self, w_self, storage):
            self.strategy_factory().set_storage(w_self, erase(storage))

        attrs['get_storage'] = get_storage
        attrs['set_storage'] = set_storage
        return type.__new__(self, name, bases, attrs)


def strategy(generalize=None, singleton=True):
    """Decorates strategies that objects can have. `generalize` are those to change to,
    the most special first."""
    def decorator(strategy_class):
        strategy_class._is_strategy = True
        strategy_class._is_singleton = singleton
        if generalize is not None:
            ways = unrolling_iterable(generalize)

            def _generalized_strategy_for(self, value):
                for way in ways:
                    instance = self.strategy_factory().strategy_singleton_instance(way)
                    if instance._check_can_handle(value):
                        return way
                raise Exception("no strategy is general enough")

            strategy_class._generalized_strategy_for = _generalized_strategy_for
            strategy_class._generalizations = list(generalize)
        return strategy_class
    return decorator


class StrategyFactory(object):
    """Knows the strategies below a root class, which are in `strategies`, the most
    special first."""
    _immutable_fields_ = ['strategies[*]', 'logger', 'strategy_singleton_field']
    factory_instance_counter = 0

    def __init__(self, root_class, all_strategy_classes=None):
        if all_strategy_classes is None:
            all_strategy_classes = self._collect_subclasses(root_class)
        self.strategies = []
        self.logger = logger.Logger()
        # Several factories may share the classes.
        self.strategy_singleton_field = '_singleton_%d' % StrategyFactory.factory_instance_counter
        StrategyFactory.factory_instance_counter += 1
        self._create_strategy_instances(root_class, all_strategy_classes)

    def _create_strategy_instances(self, root_class, all_strategy_classes):
        # Classes are told apart when the program runs: all have the attribute.
        setattr(root_class, self.strategy_singleton_field, None)
        for strategy_class in all_strategy_classes:
            if strategy_class._is_strategy:
                instance = self.instantiate_strategy(strategy_class)
                setattr(strategy_class, self.strategy_singleton_field, instance)
                self.strategies.append(strategy_class)
                self._patch_strategy_class(strategy_class, root_class)
        self._order_strategies()

    # What programs call.

    def switch_strategy(self, w_self, new_strategy_type, new_element=None):
        """Changes an object's strategy, which keeps its items. Answers the new one."""
        old_strategy = self.get_strategy(w_self)
        if new_strategy_type._is_singleton:
            new_strategy = self.strategy_singleton_instance(new_strategy_type)
        else:
            size = old_strategy.size(w_self)
            new_strategy = self.instantiate_strategy(new_strategy_type, w_self, size)
        self.set_strategy(w_self, new_strategy)
        old_strategy._convert_storage_to(w_self, new_strategy)
        new_strategy.strategy_switched(w_self)
        self.log(w_self, new_strategy, old_strategy, new_element)
        return new_strategy

    def set_initial_strategy(self, w_self, strategy_type, size, elements=None):
        """Gives an object its first strategy and storage. Answers the strategy."""
        assert self.get_strategy(w_self) is None, "the object has a strategy"
        if strategy_type._is_singleton:
            strategy = self.strategy_singleton_instance(strategy_type)
        else:
            strategy = self.instantiate_strategy(strategy_type, w_self, size)
        self.set_strategy(w_self, strategy)
        strategy._initialize_storage(w_self, size)
        strategy.strategy_switched(w_self)
        if elements:
            strategy.store_all(w_self, elements)
        self.log(w_self, strategy, None, None)
        return strategy

    def strategy_type_for(self, objects):
        """The most special strategy for all of these."""
        fits = [True] * len(self.strategies)
        for obj in objects:
            for i, strategy in enumerate(self.strategies):
                if fits[i]:
                    fits[i] = self.strategy_singleton_instance(strategy)._check_can_handle(obj)
        for i, strategy in enumerate(self.strategies):
            if fits[i]:
                return strategy
        raise ValueError("no strategy fits these objects")

    def decorate_strategies(self, transitions):
        """`strategy` for all classes of a dict from classes to what they change to."""
        for strategy_class, generalized in transitions.items():
            strategy(generalized)(strategy_class)

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
                        cause, old, element)

    @specialize.call_location()
    def log_string_for_object(self, obj):
        return obj.__class__.__name__

    def get_storage(self, obj):
        return obj._get_storage()

    def set_storage(self, obj, val):
        obj._set_storage(val)

    def get_strategy(self, obj):
        return obj._get_strategy()

    def set_strategy(self, obj, val):
        obj._set_strategy(val)

    # While a program is imported.

    def _patch_strategy_class(self, strategy_class, root_class):
        """Lets strategies have a way of their own of coming from this one:
        `_convert_storage_from_NAME`, called by what is made here."""
        name = '_convert_storage_from_' + strategy_class.__name__

        def convert_storage_from_other(self, w_self, previous_strategy):
            self._convert_storage_from(w_self, previous_strategy)

        def _convert_storage_to(self, w_self, new_strategy):
            getattr(new_strategy, name)(w_self, self)

        convert_storage_from_other.func_name = name
        setattr(root_class, name, convert_storage_from_other)
        strategy_class._convert_storage_to = _convert_storage_to

    def _collect_subclasses(self, cls):
        result = []
        for subclass in cls.__subclasses__():
            result.append(subclass)
            result.extend(self._collect_subclasses(subclass))
        return result

    def _order_strategies(self):
        def height(strategy_class, seen):
            """How many changes it is from the most general strategies."""
            if strategy_class in seen:
                raise Exception("strategies generalize each other in a circle")
            return max([0] + [height(general, seen + [strategy_class]) + 1
                              for general in strategy_class._generalizations])
        self.strategies.sort(key=lambda c: -height(c, []))

    def strategy_singleton_instance(self, strategy_class):
        """The shared instance of a strategy."""
        return getattr(strategy_class, self.strategy_singleton_field)

    def _freeze_(self):
        return True


# Mixins: what a strategy does. Positions count from 0. What a program has to add is named
# only, since a definition here would hide what its classes inherit.

class AbstractStrategy(object):
    """For the root class, which adds `strategy_factory()` and one of the indexing
    mixins."""

    def strategy_switched(self, w_self):
        """Called when an object has got this strategy."""

    def store(self, w_self, index0, value):
        raise NotImplementedError

    def fetch(self, w_self, index0):
        raise NotImplementedError

    def size(self, w_self):
        raise NotImplementedError

    def insert(self, w_self, index0, list_w):
        raise NotImplementedError

    def delete(self, w_self, start, end):
        raise NotImplementedError

    def slice(self, w_self, start, end):
        return [self.fetch(w_self, i) for i in range(start, end)]

    def fetch_all(self, w_self):
        return self.slice(w_self, 0, self.size(w_self))

    def store_all(self, w_self, elements):
        for i in range(len(elements)):
            # An element may have changed the strategy.
            self.strategy_factory().get_strategy(w_self).store(w_self, i, elements[i])

    def append(self, w_self, list_w):
        self.insert(w_self, self.size(w_self), list_w)

    def pop(self, w_self, index0):
        value = self.fetch(w_self, index0)
        self.delete(w_self, index0, index0 + 1)
        return value

    def _initialize_storage(self, w_self, initial_size):
        raise NotImplementedError

    def _check_can_handle(self, value):
        raise NotImplementedError

    def _convert_storage_to(self, w_self, new_strategy):
        new_strategy._convert_storage_from(w_self, self)

    def _convert_storage_from(self, w_self, previous_strategy):
        elements = previous_strategy.fetch_all(w_self)
        self._initialize_storage(w_self, len(elements))
        self.store_all(w_self, elements)

    def _generalize_for_value(self, w_self, value):
        new_type = self._generalized_strategy_for(value)
        return self.strategy_factory().switch_strategy(w_self, new_type, value)

    def _cannot_handle_store(self, w_self, index0, value):
        self._generalize_for_value(w_self, value).store(w_self, index0, value)

    def _cannot_handle_insert(self, w_self, index0, list_w):
        self._generalize_for_value(w_self, list_w[0]).insert(w_self, index0, list_w)


class EmptyStrategy(AbstractStrategy):
    """No items."""

    def _initialize_storage(self, w_self, initial_size):
        assert initial_size == 0
        self.set_storage(w_self, None)

    def _convert_storage_from(self, w_self, previous_strategy):
        self.set_storage(w_self, None)

    def _check_can_handle(self, value):
        return False

    def fetch(self, w_self, index0):
        raise IndexError

    def store(self, w_self, index0, value):
        raise IndexError

    def insert(self, w_self, index0, list_w):
        self._cannot_handle_insert(w_self, 0, list_w)

    def delete(self, w_self, start, end):
        self.check_index_range(w_self, start, end)

    def size(self, w_self):
        return 0


class SingleValueStrategyStorage(object):
    _attrs_ = ['size']

    def __init__(self, size=0):
        self.size = size


class SingleValueStrategy(AbstractStrategy):
    """Nothing but `value()`, which the program adds, some number of times."""

    def _initialize_storage(self, w_self, initial_size):
        self.set_storage(w_self, SingleValueStrategyStorage(initial_size))

    def _convert_storage_from(self, w_self, previous_strategy):
        size = previous_strategy.size(w_self)
        self.set_storage(w_self, SingleValueStrategyStorage(size))

    def _check_can_handle(self, value):
        return value is self.value()

    def fetch(self, w_self, index0):
        self.check_index_fetch(w_self, index0)
        return self.value()

    def store(self, w_self, index0, value):
        self.check_index_store(w_self, index0)
        if not self._check_can_handle(value):
            self._cannot_handle_store(w_self, index0, value)

    def delete(self, w_self, start, end):
        self.check_index_range(w_self, start, end)
        self.get_storage(w_self).size -= end - start

    def size(self, w_self):
        return self.get_storage(w_self).size

    def insert(self, w_self, index0, list_w):
        for i in range(len(list_w)):
            if not self._check_can_handle(list_w[i]):
                self._cannot_handle_insert(w_self, index0 + i, list_w[i:])
                return
            self.get_storage(w_self).size += 1


class StrategyWithStorage(AbstractStrategy):
    """A list of items as `_unwrap` makes them and `_wrap` gives them back. The program
    adds `default_value()`."""

    def _wrap(self, value):
        raise NotImplementedError

    def _unwrap(self, value):
        raise NotImplementedError

    def _initialize_storage(self, w_self, initial_size):
        default = self._unwrap(self.default_value())
        self.set_storage(w_self, [default] * initial_size)

    def _convert_storage_from(self, w_self, previous_strategy):
        size = previous_strategy.size(w_self)
        storage = [self._unwrap(previous_strategy.fetch(w_self, i)) for i in range(size)]
        self.set_storage(w_self, storage)

    def store(self, w_self, index0, wrapped_value):
        self.check_index_store(w_self, index0)
        if self._check_can_handle(wrapped_value):
            self.get_storage(w_self)[index0] = self._unwrap(wrapped_value)
        else:
            self._cannot_handle_store(w_self, index0, wrapped_value)

    def fetch(self, w_self, index0):
        self.check_index_fetch(w_self, index0)
        return self._wrap(self.get_storage(w_self)[index0])

    def size(self, w_self):
        return len(self.get_storage(w_self))

    def insert(self, w_self, start, list_w):
        start = min(start, self.size(w_self))
        assert start >= 0
        for i in range(len(list_w)):
            if not self._check_can_handle(list_w[i]):
                self._cannot_handle_insert(w_self, start + i, list_w[i:])
                return
            self.get_storage(w_self).insert(start + i, self._unwrap(list_w[i]))

    def delete(self, w_self, start, end):
        self.check_index_range(w_self, start, end)
        assert start >= 0 and end >= 0
        del self.get_storage(w_self)[start:end]


class GenericStrategy(StrategyWithStorage):
    """Any items."""

    def _wrap(self, value):
        return value

    def _unwrap(self, value):
        return value

    def _check_can_handle(self, wrapped_value):
        return True


class WeakGenericStrategy(StrategyWithStorage):
    """Any items, as long as they live; then the default value."""

    def _wrap(self, value):
        return value() or self.default_value()

    def _unwrap(self, value):
        assert value is not None
        return weakref.ref(value)

    def _check_can_handle(self, wrapped_value):
        return True


class SafeIndexingMixin(object):
    """IndexError for positions outside."""

    def check_index_store(self, w_self, index0):
        self.check_index(w_self, index0)

    def check_index_fetch(self, w_self, index0):
        self.check_index(w_self, index0)

    def check_index_range(self, w_self, start, end):
        if end < start:
            raise IndexError
        self.check_index(w_self, start)
        self.check_index(w_self, end - 1)

    def check_index(self, w_self, index0):
        if index0 < 0 or index0 >= self.size(w_self):
            raise IndexError


class UnsafeIndexingMixin(object):
    """Positions are right: the program has checked them."""

    def check_index_store(self, w_self, index0):
        assert index0 >= 0

    def check_index_fetch(self, w_self, index0):
        assert index0 >= 0

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
        return (isinstance(value, self.contained_type) and
                self.unwrap(value) != self.unwrapped_tagged_value())

    def _unwrap(self, value):
        if value is self.wrapped_tagged_value():
            return self.unwrapped_tagged_value()
        return self.unwrap(value)

    def _wrap(self, value):
        if value == self.unwrapped_tagged_value():
            return self.wrapped_tagged_value()
        return self.wrap(value)
