# ------------------------------------------------------------------------------
# Objects
# ------------------------------------------------------------------------------

import gc
import weakref


class Struct:
    """What structs inherit from: those of the collector, vtables, and what is inside of them."""

    __slots__ = ('__weakref__', '_number')


class rpy_string(Struct):
    __slots__ = ('hash', 'chars')

    def __init__(self, n):
        self.hash = 0
        self.chars = bytearray(n)

    def __repr__(self):
        return repr(bytes(self.chars))


class rpy_unicode(Struct):
    __slots__ = ('hash', 'chars')

    def __init__(self, n):
        self.hash = 0
        self.chars = [0] * n

    def __repr__(self):
        return repr(''.join(map(chr, self.chars)))


def string(data, hash=0):
    s = rpy_string(0)
    s.chars[:] = data
    s.hash = hash
    return s


def unicode_string(chars, hash=0):
    s = rpy_unicode(0)
    s.chars[:] = chars
    s.hash = hash
    return s


def made(cls, **fields):
    """A new object with these fields."""
    o = cls()
    for name, value in fields.items():
        setattr(o, name, value)
    return o


def allocated(n, size):
    """A number of items, if there is memory for them."""
    if 0 <= n and n * size < 1 << 31:
        return n
    raise Raised(*OUT_OF_MEMORY)


def copied(o):
    """A copy of a struct that is an item."""
    new = object.__new__(type(o))
    for cls in type(o).__mro__:
        for name in cls.__dict__.get('__slots__', ()):
            if not name.startswith('_'):
                value = getattr(o, name)
                inside = isinstance(value, Struct) and type(getattr(type(o)(), name)) is type(value)
                setattr(new, name, copied(value) if inside else value)
    return new


def copy_items(source, dest, source_start, dest_start, n):
    if n == 0:
        return
    if not (0 <= source_start and source_start + n <= len(source)
            and 0 <= dest_start and dest_start + n <= len(dest) and n > 0):
        raise Fault('access out of the bounds of an array')
    items = source[source_start:source_start + n]
    if type(source) is InlinedItems:
        items = [copied(o) for o in items]
    dest[dest_start:dest_start + n] = items


class InlinedItems(list):
    """The items of an array of structs, which are copied by value."""

    __slots__ = ()


def shrink(items, n):
    if not 0 <= n <= len(items):
        raise Fault('access out of the bounds of an array')
    del items[n:]
    return True


last_number = 0


def identity(o):
    """The number of an object, and its hash."""
    global last_number
    if o is None:
        return 0
    if not isinstance(o, Struct):
        return number_of(o) >> 32
    try:
        return o._number
    except AttributeError:
        last_number += 1
        o._number = last_number
        return last_number


class WeakReference:
    __slots__ = ('_target',)

    def __init__(self, target):
        if target is None:
            self._target = lambda: None
        elif isinstance(target, Struct):
            self._target = weakref.ref(target)
        else:
            self._target = lambda: target

    def get(self):
        target = self._target()
        return None if isinstance(target, Struct) and identity(target) in gone else target

    def refer(self, target):
        """Refers to prebuilt data, which lives for ever."""
        self._target = lambda: target


# Finalizers run when the program collects, as on the other engines, not when Python finds that an
# object is dead.

finalizable_classes = {}
finalizers = {}
due = []
queues = {}
# Numbers of objects that have died, and that finalizers are given.
gone = set()
is_finalizing = False


def finalizable(o):
    """Has Python tell when an object dies."""
    cls = type(o)
    if cls in finalizable_classes.values():
        return
    if cls not in finalizable_classes:
        finalizable_classes[cls] = type(cls.__name__, (cls,), {'__slots__': (), '__del__': died})
    o.__class__ = finalizable_classes[cls]


def died(o):
    waiting = finalizers.pop(identity(o), ())
    gone.add(identity(o))
    o.__class__ = type(o).__base__
    for finalizer, queue in waiting:
        if queue is None:
            due.append((finalizer, o))
        else:
            queues.setdefault(queue, []).append(o)


def finalized(o, finalizer):
    """An object with `__del__`."""
    finalizable(o)
    finalizers.setdefault(identity(o), []).append((finalizer, None))
    return o


def queue_register(queue, o):
    finalizable(o)
    finalizers.setdefault(identity(o), []).append((None, queue))


def queue_next_dead(queue):
    dead = queues.get(queue)
    return dead.pop(0) if dead else None


def collect():
    """A collection, and what the program does about objects that have died."""
    global is_finalizing
    gc.collect()
    if is_finalizing:
        return
    is_finalizing = True
    try:
        for queue in [queue for queue, dead in queues.items() if dead]:
            call_finalizer(queue)
        # What they refer to dies after them, and is called back the next time.
        calls, due[:] = due[:], []
        while calls:
            finalizer, o = calls.pop(0)
            call_finalizer(finalizer, o)
            del o
    finally:
        is_finalizing = False


def call_finalizer(finalizer, *args):
    try:
        finalizer(*args)
    except (Raised, RecursionError) as error:
        text = 'exception raised by a finalizer, ignored: %s\n' % raised(error).name()
        os.write(2, text.encode())


thread_locals = {}
