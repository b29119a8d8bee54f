"""Dictionaries that remember the order of insertion.

    DICT    num_live_items   how many keys there are
            num_used_items   how many entries are in use, deleted ones included
            num_filled       how many index slots are not FREE
            indexes          GcArray of 32-bit integers, a power of two of them
            entries          GcArray of ENTRY, in order of insertion
    ENTRY   key, value
            f_hash           hash of the key, or DELETED_HASH

An index slot is FREE, DELETED, or the number of an entry plus FIRST. A dict that
nothing was ever put into has no entries and no index. A prebuilt dict has entries
without hashes (they may depend on addresses) and no index: both are made by the
first look-up.

hash_fn is None where the key, cast to Signed, is its own hash; eq_fn is None where
keys are compared with ==. Where one of them is a method, the dict has what it is bound
to: hash_self, eq_self.
"""
from rpython.rtyper.lltypesystem.lltype import (
    Bool, Char, Float, Signed, UniChar, Unsigned, Void, malloc, nullptr, typeOf, cast_primitive,
    cast_pointer, GcArray)
from rpython.rtyper.lltypesystem.lloperation import llop
from taipan_lowlevel import INT
from taipan_lowlevel import has_field, is_pointer
from taipan_prelude.rlist import ll_check_count, ll_newlist, ll_items

INDEXES = GcArray(INT)
FREE = 0
DELETED = 1
FIRST = 2
DELETED_HASH = -0x7a3bd1e5c94f2687
INITIAL_SIZE = 8


# Hashes and the index.

def plain_hash(key, hash_fn):
    if hash_fn is None:
        return cast_primitive(Signed, key)
    return hash_fn(key)

def usable_hash(h):
    if h == DELETED_HASH:
        return h + 1
    return h

def hash_of(d, key, hash_fn):
    if has_field(d, 'hash_self'):
        return usable_hash(hash_fn(d.hash_self, key))
    return usable_hash(plain_hash(key, hash_fn))

def keys_equal(d, key1, key2, eq_fn):
    if has_field(d, 'eq_self'):
        return eq_fn(d.eq_self, key1, key2)
    return eq_fn(key1, key2)

def same_key(key1, key2):
    """Whether nobody has to be asked if these are equal: they are the same. Nothing is said
    of keys that have no comparison of their own."""
    T = typeOf(key1)
    if (is_pointer(key1) or T is Signed or T is Char or T is UniChar or T is Unsigned or
            T is Float or T is Bool):
        return key1 == key2
    return False

def capacity(size):
    """How many entries go with an index of that size: less than all, so that every
    search meets a free slot."""
    return llop.int_rshift(Signed, size, 1) + llop.int_rshift(Signed, size, 3)

def size_for(count):
    size = INITIAL_SIZE
    while capacity(size) < count:
        size = llop.int_lshift(Signed, size, 1)
    return size

def slot_at(indexes, i):
    return cast_primitive(Signed, indexes[i])

def next_position(i, perturb, mask):
    return (i * 5 + cast_primitive(Signed, perturb) + 1) & mask

def ensure_index(d, hash_fn):
    """Gives a prebuilt dict its hashes and index."""
    if not d.indexes and d.num_used_items > 0:
        i = 0
        while i < d.num_used_items:
            d.entries[i].f_hash = hash_of(d, d.entries[i].key, hash_fn)
            i += 1
        build_index(d, size_for(d.num_used_items))

def build_index(d, size):
    indexes = malloc(INDEXES, size, zero=True)
    mask = size - 1
    n = d.num_used_items
    count = 0
    i = 0
    while i < n:
        h = d.entries[i].f_hash
        if h != DELETED_HASH:
            indexes[find_free(indexes, h, mask)] = cast_primitive(INT, i + FIRST)
            count += 1
        i += 1
    d.indexes = indexes
    d.num_filled = count

def find_free(indexes, h, mask):
    """Position of the first slot on the way of this hash that is FREE or DELETED."""
    i = h & mask
    perturb = cast_primitive(Unsigned, h)
    while slot_at(indexes, i) >= FIRST:
        perturb = llop.uint_rshift(Unsigned, perturb, 5)
        i = next_position(i, perturb, mask)
    return i

def lookup(d, key, h, hash_fn, eq_fn):
    """Number of the entry, or -1."""
    if not d.indexes:
        if d.num_used_items == 0:
            return -1
        ensure_index(d, hash_fn)
    indexes = d.indexes
    mask = len(indexes) - 1
    i = h & mask
    perturb = cast_primitive(Unsigned, h)
    while True:
        slot = slot_at(indexes, i)
        if slot == FREE:
            return -1
        if slot != DELETED:
            entries = d.entries
            n = slot - FIRST
            if entries[n].f_hash == h:
                if eq_fn is None:
                    if entries[n].key == key:
                        return n
                elif same_key(entries[n].key, key):
                    return n
                else:
                    equal = keys_equal(d, entries[n].key, key, eq_fn)
                    if (d.indexes != indexes or d.entries != entries or
                            entries[n].f_hash != h):
                        # The comparison has changed the dict: all over again.
                        if not d.indexes:
                            return -1
                        indexes = d.indexes
                        mask = len(indexes) - 1
                        i = h & mask
                        perturb = cast_primitive(Unsigned, h)
                        continue
                    if equal:
                        return n
        perturb = llop.uint_rshift(Unsigned, perturb, 5)
        i = next_position(i, perturb, mask)

def find(d, key, hash_fn, eq_fn):
    if d.num_live_items == 0:
        return -1
    return lookup(d, key, hash_of(d, key, hash_fn), hash_fn, eq_fn)


# Entries.

def is_live(d, i):
    return d.entries[i].f_hash != DELETED_HASH

def insert(d, key, value, h):
    """Adds a key that is not there."""
    if not d.entries:
        d.entries = malloc(typeOf(d.entries).TO, capacity(INITIAL_SIZE))
        d.indexes = malloc(INDEXES, INITIAL_SIZE, zero=True)
        d.num_filled = 0
    elif (d.num_used_items == len(d.entries) or
          d.num_filled >= capacity(len(d.indexes))):
        resize(d, d.num_live_items + 1)
    n = d.num_used_items
    indexes = d.indexes
    position = find_free(indexes, h, len(indexes) - 1)
    if slot_at(indexes, position) == FREE:
        d.num_filled += 1
    indexes[position] = cast_primitive(INT, n + FIRST)
    entries = d.entries
    entries[n].key = key
    entries[n].value = value
    entries[n].f_hash = h
    d.num_used_items = n + 1
    d.num_live_items += 1

def resize(d, needed):
    """Drops deleted entries and makes room for as many again."""
    size = size_for(2 * needed)
    old = d.entries
    # An entry has three words, and there is the index.
    ll_check_count(3 * size)
    new = malloc(typeOf(old).TO, capacity(size))
    count = d.num_used_items
    if count == d.num_live_items:
        llop.gc_copy_array(Void, old, new, 0, 0, count)
    else:
        i = 0
        j = 0
        while i < count:
            if is_live(d, i):
                new[j].key = old[i].key
                new[j].value = old[i].value
                new[j].f_hash = old[i].f_hash
                j += 1
            i += 1
        d.num_used_items = j
    d.entries = new
    build_index(d, size)

def delete(d, n):
    entries = d.entries
    indexes = d.indexes
    h = entries[n].f_hash
    mask = len(indexes) - 1
    i = h & mask
    perturb = cast_primitive(Unsigned, h)
    while slot_at(indexes, i) != n + FIRST:
        perturb = llop.uint_rshift(Unsigned, perturb, 5)
        i = next_position(i, perturb, mask)
    indexes[i] = cast_primitive(INT, DELETED)
    entries[n].f_hash = DELETED_HASH
    if is_pointer(entries[n].key):
        entries[n].key = nullptr(typeOf(entries[n].key).TO)
    if is_pointer(entries[n].value):
        entries[n].value = nullptr(typeOf(entries[n].value).TO)
    d.num_live_items -= 1
    if d.num_live_items == 0:
        d.num_used_items = 0
    elif n == d.num_used_items - 1:
        while not is_live(d, n):
            n -= 1
        d.num_used_items = n + 1


# Operations and methods.

def ll_newdict(DICT):
    return malloc(DICT)

def ll_bind_hash(d, receiver):
    d.hash_self = receiver

def ll_bind_eq(d, receiver):
    d.eq_self = receiver

def ll_newdict_size(DICT, count):
    d = malloc(DICT)
    if count > 0:
        size = size_for(count)
        d.entries = malloc(typeOf(d.entries).TO, capacity(size))
        d.indexes = malloc(INDEXES, size, zero=True)
    return d

def ll_dict_len(d):
    return d.num_live_items

def ll_dict_bool(d):
    return bool(d) and d.num_live_items != 0

def ll_dict_getitem(d, key, hash_fn, eq_fn):
    n = find(d, key, hash_fn, eq_fn)
    if n < 0:
        raise KeyError
    return d.entries[n].value

def ll_dict_setitem(d, key, value, hash_fn, eq_fn):
    h = hash_of(d, key, hash_fn)
    n = lookup(d, key, h, hash_fn, eq_fn)
    if n >= 0:
        d.entries[n].value = value
    else:
        insert(d, key, value, h)

def ll_dict_delitem(d, key, hash_fn, eq_fn):
    n = find(d, key, hash_fn, eq_fn)
    if n < 0:
        raise KeyError
    delete(d, n)

def ll_dict_contains(d, key, hash_fn, eq_fn):
    return find(d, key, hash_fn, eq_fn) >= 0

def ll_dict_get(d, key, default, hash_fn, eq_fn):
    n = find(d, key, hash_fn, eq_fn)
    if n < 0:
        return default
    return d.entries[n].value

def ll_dict_setdefault(d, key, default, hash_fn, eq_fn):
    h = hash_of(d, key, hash_fn)
    n = lookup(d, key, h, hash_fn, eq_fn)
    if n >= 0:
        return d.entries[n].value
    insert(d, key, default, h)
    return default

def ll_dict_pop(d, key, hash_fn, eq_fn):
    n = find(d, key, hash_fn, eq_fn)
    if n < 0:
        raise KeyError
    value = d.entries[n].value
    delete(d, n)
    return value

def ll_dict_pop_default(d, key, default, hash_fn, eq_fn):
    n = find(d, key, hash_fn, eq_fn)
    if n < 0:
        return default
    value = d.entries[n].value
    delete(d, n)
    return value

def ll_dict_popitem(TUPLE, d, hash_fn):
    """The last one."""
    if d.num_live_items == 0:
        raise KeyError
    ensure_index(d, hash_fn)
    n = d.num_used_items - 1
    while not is_live(d, n):
        n -= 1
    item = make_item(TUPLE, d, n)
    delete(d, n)
    return item

def ll_dict_clear(d):
    d.num_live_items = 0
    d.num_used_items = 0
    d.num_filled = 0
    d.entries = nullptr(typeOf(d.entries).TO)
    d.indexes = nullptr(typeOf(d.indexes).TO)

def ll_dict_copy(d):
    result = malloc(typeOf(d).TO)
    if has_field(d, 'hash_self'):
        result.hash_self = d.hash_self
    if has_field(d, 'eq_self'):
        result.eq_self = d.eq_self
    n = d.num_used_items
    if n > 0:
        result.num_live_items = d.num_live_items
        result.num_used_items = n
        result.num_filled = d.num_filled
        entries = malloc(typeOf(d.entries).TO, len(d.entries))
        llop.gc_copy_array(Void, d.entries, entries, 0, 0, n)
        result.entries = entries
        if d.indexes:
            size = len(d.indexes)
            indexes = malloc(INDEXES, size, zero=True)
            llop.gc_copy_array(Void, d.indexes, indexes, 0, 0, size)
            result.indexes = indexes
    return result

def ll_dict_update(d1, d2, hash_fn, eq_fn):
    if d1 == d2:
        return
    ensure_index(d2, hash_fn)
    i = 0
    while i < d2.num_used_items:
        if is_live(d2, i):
            h = d2.entries[i].f_hash
            key = d2.entries[i].key
            value = d2.entries[i].value
            n = lookup(d1, key, h, hash_fn, eq_fn)
            if n >= 0:
                d1.entries[n].value = value
            else:
                insert(d1, key, value, h)
        i += 1

def ll_prepare_dict_update(d, count, hash_fn):
    """Hint: about so many keys will be added."""
    ensure_index(d, hash_fn)
    if count > d.num_live_items:
        if not d.entries:
            d.entries = malloc(typeOf(d.entries).TO, 0)
        resize(d, llop.int_rshift(Signed, d.num_live_items + count + 1, 1))

def ll_dict_move_to_end(d, key, last, hash_fn, eq_fn):
    n = find(d, key, hash_fn, eq_fn)
    if n < 0:
        raise KeyError
    h = d.entries[n].f_hash
    stored = d.entries[n].key
    value = d.entries[n].value
    delete(d, n)
    if last:
        insert(d, stored, value, h)
        return
    rest = ll_dict_copy(d)
    ll_dict_clear(d)
    insert(d, stored, value, h)
    ll_dict_update(d, rest, hash_fn, eq_fn)


# The same for callers that know the hash of the key.

def find_with_hash(d, key, h, hash_fn, eq_fn):
    if d.num_live_items == 0:
        return -1
    return lookup(d, key, usable_hash(h), hash_fn, eq_fn)

def ll_dict_contains_with_hash(d, key, h, hash_fn, eq_fn):
    return find_with_hash(d, key, h, hash_fn, eq_fn) >= 0

def ll_dict_getitem_with_hash(d, key, h, hash_fn, eq_fn):
    n = find_with_hash(d, key, h, hash_fn, eq_fn)
    if n < 0:
        raise KeyError
    return d.entries[n].value

def ll_dict_setitem_with_hash(d, key, h, value, hash_fn, eq_fn):
    h = usable_hash(h)
    n = lookup(d, key, h, hash_fn, eq_fn)
    if n >= 0:
        d.entries[n].value = value
    else:
        insert(d, key, value, h)

def ll_dict_delitem_with_hash(d, key, h, hash_fn, eq_fn):
    n = find_with_hash(d, key, h, hash_fn, eq_fn)
    if n < 0:
        raise KeyError
    delete(d, n)

def ll_dict_delitem_if_value_is(d, key, value, hash_fn, eq_fn):
    n = find(d, key, hash_fn, eq_fn)
    if n >= 0 and d.entries[n].value == value:
        delete(d, n)


# keys(), values(), items(). ITEM of the list may be a pointer to a more general type
# than the dict has.

def recast(T, value):
    if is_pointer(value):
        return cast_pointer(T, value)
    return value

def make_item(TUPLE, d, n):
    item = malloc(TUPLE)
    item.item0 = recast(typeOf(item.item0), d.entries[n].key)
    item.item1 = recast(typeOf(item.item1), d.entries[n].value)
    return item

def ll_dict_keys(LIST, d):
    l = ll_newlist(LIST, d.num_live_items)
    items = ll_items(l)
    i = 0
    j = 0
    while i < d.num_used_items:
        if is_live(d, i):
            items[j] = recast(typeOf(items).TO.OF, d.entries[i].key)
            j += 1
        i += 1
    return l

def ll_dict_values(LIST, d):
    l = ll_newlist(LIST, d.num_live_items)
    items = ll_items(l)
    i = 0
    j = 0
    while i < d.num_used_items:
        if is_live(d, i):
            items[j] = recast(typeOf(items).TO.OF, d.entries[i].value)
            j += 1
        i += 1
    return l

def ll_dict_items(LIST, TUPLE, d):
    l = ll_newlist(LIST, d.num_live_items)
    items = ll_items(l)
    i = 0
    j = 0
    while i < d.num_used_items:
        if is_live(d, i):
            items[j] = recast(typeOf(items).TO.OF, make_item(TUPLE, d, i))
            j += 1
        i += 1
    return l


# Iterators: (dict, index). ll_dictnext gives the number of an entry.

def ll_dictiter(ITER, d):
    iter = malloc(ITER)
    iter.dict = d
    iter.index = 0
    return iter

def ll_dictnext(iter):
    d = iter.dict
    if d:
        i = iter.index
        while i < d.num_used_items:
            if is_live(d, i):
                iter.index = i + 1
                return i
            i += 1
        iter.dict = nullptr(typeOf(d).TO)
    raise StopIteration

def ll_revdictiter(ITER, d):
    iter = malloc(ITER)
    iter.dict = d
    iter.index = d.num_used_items - 1
    return iter

def ll_revdictnext(iter):
    d = iter.dict
    if d:
        i = iter.index
        while i >= 0:
            if i < d.num_used_items and is_live(d, i):
                iter.index = i - 1
                return i
            i -= 1
        iter.dict = nullptr(typeOf(d).TO)
    raise StopIteration

def ll_dictiter_key(iter, n):
    return iter.dict.entries[n].key

def ll_dictiter_value(iter, n):
    return iter.dict.entries[n].value

def ll_dictiter_hash(iter, n, hash_fn):
    d = iter.dict
    ensure_index(d, hash_fn)
    return d.entries[n].f_hash
