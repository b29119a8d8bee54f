"""Special functions and decorators of RPython.

Once translated, the compiler gives most of these their meaning by name; what stands
here is what they do while a program loads.
"""
from __future__ import absolute_import

import math
import sys
import types


# Decorators.

class _Specialize(object):
    """How the annotator tells the copies of a function apart."""

    def _mark(self, text):
        def mark(func):
            func._annspecialcase_ = text
            return func
        return mark

    def memo(self):
        return self._mark('specialize:memo')

    def arg(self, *args):
        return self._mark('specialize:arg' + self._numbers(args))

    def arg_or_var(self, *args):
        return self._mark('specialize:arg_or_var' + self._numbers(args))

    def argtype(self, *args):
        return self._mark('specialize:argtype' + self._numbers(args))

    def ll(self):
        return self._mark('specialize:ll')

    def ll_and_arg(self, *args):
        return self._mark('specialize:ll_and_arg' + self._numbers(args))

    def call_location(self):
        return self._mark('specialize:call_location')

    def _numbers(self, args):
        return '(%s)' % ','.join([str(n) for n in args])

specialize = _Specialize()

NOT_CONSTANT = object()

def enforceargs(*types_, **kwds):
    """Types that arguments are converted to, None for those left free."""
    typecheck = kwds.pop('typecheck', True)
    def decorator(func):
        types = types_
        if kwds:
            assert not types_
            code = func.func_code
            names = code.co_varnames[:code.co_argcount]
            types = tuple([kwds.get(name) for name in names])
        func._annenforceargs_ = types
        func._annenforceargs_typecheck_ = typecheck
        return func
    return decorator

def always_inline(func):
    func._always_inline_ = True
    return func

def dont_inline(func):
    func._dont_inline_ = True
    return func

def try_inline(func):
    func._always_inline_ = 'try'
    return func

def not_rpython(func):
    """The function must not be reached by the annotator."""
    func._not_rpython_ = True
    return func

def llhelper_error_value(error_value):
    """What a function that C code calls returns if it raises something."""
    def mark(callback):
        callback._llhelper_error_value_ = error_value
        return callback
    return mark

def sandbox_review(**kwds):
    return lambda func: func

def never_allocate(cls):
    """Instances never exist at run time."""
    cls._alloc_never_ = True
    return cls


# Translation.

class Symbolic(object):
    """A constant whose value is not known yet, so that nothing may depend on it."""

    def annotation(self):
        return None

    lltype = annotation

    def __cmp__(self, other):
        if self is not other:
            raise TypeError("Symbolics cannot be compared! (%r, %r)" % (self, other))
        return 0

    def __nonzero__(self):
        raise TypeError("Symbolics are not comparable! %r" % (self,))

    def __hash__(self):
        raise TypeError("Symbolics are not hashable! %r" % (self,))


class ComputedIntSymbolic(Symbolic):
    """An integer that a function computes when the program has loaded."""

    def __init__(self, compute_fn):
        self.compute_fn = compute_fn

    def _taipan_integer_(self):
        return self.compute_fn()


class CDefinedIntSymbolic(Symbolic):
    def __init__(self, expr, default=None):
        self.expr = expr
        self.default = default

    def _taipan_integer_(self):
        return self.default


def we_are_translated():
    return False

def we_are_translated_to_c():
    return False

def running_on_llinterp():
    return False

def is_annotation_constant(thing):
    return True

def keepalive_until_here(*values):
    pass

class _Options(object):
    """Options of a translation."""

    def __init__(self, **options):
        self.__dict__.update(options)

    def _freeze_(self):
        return True

# What the original toolchain would be told for a program that is compiled here.
_translated_config = _Options(translation=_Options(
    gc='incminimark', gcrootfinder='shadowstack', gctransformer='framework', backend='c',
    type_system='lltype', thread=False, sandbox=False, jit=False, jit_backend='auto',
    continuation=False, rweakref=True, reverse_debugger=False, rpython_translate=True,
    split_gc_address_space=False, taggedpointers=False, withsmallfuncsets=0, verbose=False))

def set_translated_config(jit, gc):
    """Notes how the program is compiled, where that is not the default."""
    translation = _translated_config.translation.__dict__
    translation['jit'], translation['gc'] = jit, gc
    if gc != 'incminimark':
        translation['gctransformer'] = gc

def fetch_translated_config():
    """The options of the translation, None while a program loads."""
    if we_are_translated():
        return _translated_config
    return None

def revdb_flag_io_disabled():
    return False

def revdb_enabled():
    return False

def likely(condition):
    return condition

def unlikely(condition):
    return condition

def register_replacement_for(replaced_function, sandboxed_name=None):
    def wrap(func):
        return func
    return wrap


# Objects.

def instantiate(cls, nonmovable=False):
    """A fresh instance without __init__."""
    if isinstance(cls, type):
        return cls.__new__(cls)
    return types.InstanceType(cls)

def free_non_gc_object(obj):
    pass

def compute_identity_hash(x):
    assert x is not None
    return object.__hash__(x)

def compute_unique_id(x):
    return id(x)

def current_object_addr_as_int(x):
    return id(x)

@not_rpython
def compute_hash(x):
    """A hash that stays what it was when the program is translated, except of
    instances."""
    if x is None:
        return 0
    for kinds, hash_of in _HASHES:
        if isinstance(x, kinds):
            return hash_of(x)
    return compute_identity_hash(x)

def _hash_string(s):
    """CPython 2's, and never 0, which stands for a hash that is not computed yet."""
    from rpython.rlib.rarithmetic import intmask
    if not s:
        return -1
    h = ord(s[0]) << 7
    for c in s:
        h = intmask(1000003 * h) ^ ord(c)
    return h ^ len(s) or 29872897

def _hash_float(f):
    """62 bits of the mantissa in two halves, and the exponent."""
    from rpython.rlib.rarithmetic import intmask
    if f != f:
        return 0
    if f - f != 0.0:
        return 314159 if f > 0.0 else -271828
    mantissa, exponent = math.frexp(f)
    halves = mantissa * 2147483648.0
    high = int(halves)
    low = int((halves - high) * 2147483648.0)
    return intmask(high + low + (exponent << 15))

@not_rpython
def _hash_tuple(t):
    h = 0x345678
    for item in t:
        h = _wrap(1000003 * h) ^ compute_hash(item)
    return h

def _wrap(x):
    """The low 64 bits, as a signed number."""
    x &= 0xffffffffffffffff
    if x >> 63:
        x -= 1 << 64
    return int(x)

_HASHES = [((str, unicode), _hash_string), ((int, long), hash), (float, _hash_float),
           (tuple, _hash_tuple)]


# Lists.

def newlist_hint(sizehint=0):
    return []

def resizelist_hint(l, sizehint):
    pass

def list_get_physical_size(l):
    return len(l)

def int_to_bytearray(i):
    """The digits of an integer."""
    return bytearray(str(i))


# Dicts.

class r_dict(object):
    """A dict with its own equality and hash of keys.

    The compiler reads prebuilt ones: `_dict` maps wrapped keys to values.
    """

    def __init__(self, key_eq, key_hash, force_non_null=False, simple_hash_eq=False):
        self.key_eq, self.key_hash = key_eq, key_hash
        self.simple_hash_eq, self.force_non_null = simple_hash_eq, force_non_null
        self._dict = {}

    def __repr__(self):
        return '%s(...)' % (type(self).__name__,)

    def __hash__(self):
        raise TypeError("cannot hash r_dict instances")

    def copy(self):
        other = type(self)(self.key_eq, self.key_hash)
        other.update(self)
        return other

    # One key.

    def _key(self, key):
        return _r_dictkey(self, key)

    def __contains__(self, key):
        return self._key(key) in self._dict

    def __getitem__(self, key):
        return self._dict[self._key(key)]

    def get(self, key, default=None):
        return self._dict.get(self._key(key), default)

    def setdefault(self, key, default):
        return self._dict.setdefault(self._key(key), default)

    def __setitem__(self, key, value):
        self._dict[self._key(key)] = value

    def __delitem__(self, key):
        del self._dict[self._key(key)]

    def pop(self, key, *default):
        return self._dict.pop(self._key(key), *default)

    # All of them.

    def __len__(self):
        return len(self._dict)

    def iteritems(self):
        for wrapped, value in self._dict.items():
            yield wrapped.key, value

    def iterkeys(self):
        for wrapped in self._dict:
            yield wrapped.key

    __iter__ = iterkeys

    def itervalues(self):
        return self._dict.itervalues()

    def items(self):
        return list(self.iteritems())

    def keys(self):
        return list(self.iterkeys())

    def values(self):
        return self._dict.values()

    def update(self, other):
        for key, value in other.items():
            self[key] = value

    def popitem(self):
        wrapped, value = self._dict.popitem()
        return wrapped.key, value

    def clear(self):
        self._dict.clear()


class r_ordereddict(r_dict):
    """In RPython all of them keep the order of insertion."""


class _r_dictkey(object):
    """A key of an r_dict as a key of Python's."""

    def __init__(self, dic, key):
        self.hash = dic.key_hash(key)
        self.key, self.dic = key, dic

    def __hash__(self):
        return self.hash

    def __eq__(self, other):
        return self.dic.key_eq(self.key, other.key)

    def __ne__(self, other):
        return not self.__eq__(other)


def prepare_dict_update(dict, n_elements):
    pass

def reversed_dict(d):
    return reversed(d.keys())

def _hash_in(d, key):
    if isinstance(d, r_dict):
        return d.key_hash(key)
    return compute_hash(key)

def iterkeys_with_hash(d):
    for key in d:
        yield key, _hash_in(d, key)

def iteritems_with_hash(d):
    for key, value in d.iteritems():
        yield key, value, _hash_in(d, key)

def contains_with_hash(d, key, h):
    return key in d

def setitem_with_hash(d, key, h, value):
    d[key] = value

def getitem_with_hash(d, key, h):
    return d[key]

def delitem_with_hash(d, key, h):
    del d[key]

def delitem_if_value_is(d, key, value):
    if key in d and d[key] is value:
        del d[key]

def move_to_end(d, key, last=True):
    """Makes a key the last one, or the first one. KeyError if it is not there."""
    moved = [(key, d.pop(key))]
    if not last:
        moved += d.items()
        d.clear()
    for key, value in moved:
        d[key] = value


# Mix-ins.

def import_from_mixin(M, special_methods=['__init__', '__del__']):
    """In a class body: copies the attributes of M (and of its bases) into the class.
    Functions are copied as well, so that every class has its own."""
    import inspect
    target = sys._getframe(1).f_locals
    flat = {}
    immutable_fields = []
    bases = [cls for cls in inspect.getmro(M) if cls is not object]
    for cls in bases:
        immutable_fields.extend(cls.__dict__.get('_immutable_fields_', []))
    for cls in reversed(bases):
        flat.update(cls.__dict__)
    flat.pop('_immutable_fields_', None)
    for key, value in flat.items():
        if key.startswith('__') and key.endswith('__') and key not in special_methods:
            continue
        if isinstance(value, types.FunctionType):
            value = _copy_function(value)
        elif isinstance(value, staticmethod):
            value = staticmethod(_copy_function(value.__func__))
        elif isinstance(value, classmethod):
            raise AssertionError("classmethods are not supported in mix-ins")
        if key in target:
            raise Exception("import_from_mixin: would overwrite the value already "
                            "defined locally for %r" % (key,))
        target[key] = value
    if immutable_fields:
        target['_immutable_fields_'] = target.get('_immutable_fields_', []) + immutable_fields

def _copy_function(func):
    copy = types.FunctionType(func.func_code, func.func_globals, func.func_name,
                              func.func_defaults, func.func_closure)
    copy.__dict__.update(func.__dict__)
    copy.__module__ = func.__module__
    return copy


class UnboxedValue(object):
    """A mix-in for classes with one integer field, which `__slots__` names. The value
    keeps the one bit free that a tagged pointer would need."""
    _mixin_ = True
    __slots__ = ()

    def __init__(self, value):
        if value > sys.maxint >> 1 or value < -(sys.maxint >> 1) - 1:
            raise OverflowError
        slots = self.__class__.__slots__
        if isinstance(slots, str):
            setattr(self, slots, value)
        else:
            setattr(self, slots[0], value)

    def get_untagged_value(self):
        slots = self.__class__.__slots__
        if isinstance(slots, str):
            return getattr(self, slots)
        return getattr(self, slots[0])


def hlinvoke(repr, llcallable, *args):
    return llcallable(*args)


NO_DEFAULT = object()

def dict_to_switch(d, inline=True, default=NO_DEFAULT):
    """A function that looks a constant key up."""
    def lookup(query):
        if default is NO_DEFAULT:
            return d[query]
        return d.get(query, default)
    return lookup
