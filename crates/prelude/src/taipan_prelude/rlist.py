"""Lists. A list that never changes its length is a GcArray of its items; any other
one is a GcStruct of `length` and `items`, a GcArray with room to grow. Slots beyond
the length hold null pointers or garbage numbers.

CHECK says whether an index may be out of bounds and IndexError is expected.
"""
from rpython.rtyper.lltypesystem.lltype import (
    Signed, Void, GcArray, Ptr, malloc, nullptr, typeOf)
from rpython.rtyper.lltypesystem.lloperation import llop
from rpython.rlib.rarithmetic import ovfcheck
from taipan_lowlevel import STR, empty_array, is_array, is_pointer, rpy_memory_room

TEXTS = GcArray(Ptr(STR))


# What both layouts have.

# So many may be had without asking.
MANY_ITEMS = 1 << 12
MOST_ITEMS = 1 << 56

def ll_check_count(n):
    """So many items are asked for first: no length overflows afterwards, and an interpreted program
    does not take the memory of who interprets it."""
    if n > MANY_ITEMS and (n > MOST_ITEMS or not rpy_memory_room(n << 3)):
        raise MemoryError

def ll_check_bytes(n):
    """The same for text of so many bytes (or characters: then it may be found out too late)."""
    if n > MANY_ITEMS and (n > MOST_ITEMS or not rpy_memory_room(n)):
        raise MemoryError

def ll_length(l):
    if is_array(l):
        return len(l)
    return l.length

def ll_items(l):
    if is_array(l):
        return l
    return l.items

def ll_newlist(LIST, length):
    if is_array(LIST):
        return malloc(LIST, length)
    l = malloc(LIST)
    l.length = length
    l.items = malloc(typeOf(l.items).TO, length)
    return l

def ll_newlist_zeroed(LIST, length):
    """The items are zero, or null pointers, which of those to classes and functions is not true
    from the start."""
    if is_array(LIST):
        return malloc(LIST, length, zero=True)
    l = malloc(LIST)
    l.length = length
    l.items = malloc(typeOf(l.items).TO, length, zero=True)
    return l

def ll_newlist_hint(LIST, capacity):
    l = malloc(LIST)
    l.length = 0
    l.items = malloc(typeOf(l.items).TO, capacity)
    return l

def ll_newemptylist(LIST):
    """A list that is going to grow: until then its items are an array that all such lists share."""
    l = malloc(LIST)
    l.length = 0
    l.items = empty_array(typeOf(l.items).TO)
    return l

def ll_alloc_and_set(LIST, count, item):
    if count < 0:
        count = 0
    ll_check_count(count)
    if (is_pointer(item) or typeOf(item) == Signed) and not item:
        return ll_newlist_zeroed(LIST, count)
    l = ll_newlist(LIST, count)
    fill_items(ll_items(l), count, item)
    return l

def fill_items(items, count, item):
    i = 0
    while i < count:
        items[i] = item
        i += 1

def ll_list_is_true(l):
    return bool(l) and ll_length(l) != 0

def copy_items(l1, l2, start1, start2, count):
    llop.gc_copy_array(Void, ll_items(l1), ll_items(l2), start1, start2, count)

def move_items(l, source, target, count):
    llop.gc_copy_array(Void, ll_items(l), ll_items(l), source, target, count)

def clear_items(l, start, stop):
    """Forgets pointers, so that the collector does not see them."""
    items = l.items
    if is_pointer(typeOf(items).TO.OF):
        while start < stop:
            items[start] = nullptr(typeOf(items).TO.OF.TO)
            start += 1

def clear_item(l, index):
    """The same for one item, without a loop: compilers of drivers follow it."""
    items = l.items
    if is_pointer(typeOf(items).TO.OF):
        items[index] = nullptr(typeOf(items).TO.OF.TO)


# Growing and shrinking.

def resize_ge(l, size):
    """Makes room for more items: some more than asked for, so that appending costs
    constant time on average."""
    if len(l.items) < size:
        l.items = grow(l.items, l.length, size)
    l.length = size

def grow(items, count, size):
    """Never inlined: it is seldom called, from each place that appends to a list. It does not
    take the list itself, which callers may keep in variables then."""
    if size < 9:
        return reallocate(items, count, size + 3)
    return reallocate(items, count, size + llop.int_rshift(Signed, size, 2) + 4)

def resize_le(l, size):
    """Gives memory back once more than half of it lies idle. Slots from size on must
    have been cleared."""
    if size < llop.int_rshift(Signed, len(l.items), 1) - 5:
        l.items = reallocate(l.items, l.length, size)
    l.length = size

def reallocate(items, count, capacity):
    if capacity > len(items):
        ll_check_count(capacity)
    new = malloc(typeOf(items).TO, capacity)
    if count > capacity:
        count = capacity
    llop.gc_copy_array(Void, items, new, 0, 0, count)
    return new

def added_length(n1, n2):
    n = n1 + n2
    if n < 0:
        raise MemoryError
    return n

def ll_set_maxlength(l, n):
    """Hint: the list will have n items at the most."""
    if n > len(l.items):
        l.items = reallocate(l.items, l.length, n)

def ll_get_maxlength(l):
    return len(l.items)

def ll_list2fixed(LIST, l):
    """The items of a list that is complete, as a list of fixed length."""
    n = l.length
    old = l.items
    if n == len(old):
        return old
    new = malloc(LIST, n)
    llop.gc_copy_array(Void, old, new, 0, 0, n)
    return new


# Items.

def ll_getitem_nonneg(CHECK, l, index):
    if CHECK:
        if index >= ll_length(l):
            raise IndexError
    return ll_items(l)[index]

def ll_getitem(CHECK, l, index):
    return ll_items(l)[absolute_index(CHECK, l, index)]

def ll_setitem_nonneg(CHECK, l, index, item):
    if CHECK:
        if index >= ll_length(l):
            raise IndexError
    ll_items(l)[index] = item

def ll_setitem(CHECK, l, index, item):
    ll_items(l)[absolute_index(CHECK, l, index)] = item

def absolute_index(CHECK, l, index):
    if CHECK:
        length = ll_length(l)
        if index < 0:
            index += length
            if index < 0:
                raise IndexError
        if index >= length:
            raise IndexError
        return index
    if index < 0:
        index += ll_length(l)
    return index

def ll_delitem_nonneg(CHECK, l, index):
    length = l.length
    if CHECK:
        if index >= length:
            raise IndexError
    move_items(l, index + 1, index, length - 1 - index)
    clear_item(l, length - 1)
    resize_le(l, length - 1)

def ll_delitem(CHECK, l, index):
    ll_delitem_nonneg(False, l, absolute_index(CHECK, l, index))


# Methods that change the length.

def ll_append(l, item):
    length = l.length
    resize_ge(l, length + 1)
    l.items[length] = item

def ll_append_noresize(l, item):
    length = l.length
    l.length = length + 1
    l.items[length] = item

def ll_prepend(l, item):
    ll_insert_nonneg(l, 0, item)

def ll_insert_nonneg(l, index, item):
    length = l.length
    if index > length:
        index = length
    resize_ge(l, length + 1)
    move_items(l, index, index + 1, length - index)
    l.items[index] = item

def ll_pop_default(CHECK, l):
    last = l.length - 1
    if CHECK:
        if last < 0:
            raise IndexError
    item = l.items[last]
    clear_item(l, last)
    resize_le(l, last)
    return item

def ll_pop_zero(CHECK, l):
    return ll_pop_nonneg(CHECK, l, 0)

def ll_pop_nonneg(CHECK, l, index):
    if CHECK:
        if index >= l.length:
            raise IndexError
    item = l.items[index]
    ll_delitem_nonneg(False, l, index)
    return item

def ll_pop(CHECK, l, index):
    return ll_pop_nonneg(False, l, absolute_index(CHECK, l, index))

def ll_extend(l1, l2):
    n1 = l1.length
    n2 = ll_length(l2)
    resize_ge(l1, added_length(n1, n2))
    copy_items(l2, l1, 0, n1, n2)

def ll_extend_with_str(l, s, start, stop):
    """l += s[start:stop], character by character; 0 <= start."""
    if stop > len(s.chars):
        stop = len(s.chars)
    count = stop - start
    if count > 0:
        n = l.length
        resize_ge(l, added_length(n, count))
        i = 0
        while i < count:
            l.items[n + i] = s.chars[start + i]
            i += 1

def ll_extend_with_char_count(l, ch, count):
    if count > 0:
        n = l.length
        resize_ge(l, added_length(n, count))
        i = 0
        while i < count:
            l.items[n + i] = ch
            i += 1

def ll_listdelslice_startonly(l, start):
    length = l.length
    if start >= length:
        return
    clear_items(l, start, length)
    resize_le(l, start)

def ll_listdelslice_startstop(l, start, stop):
    length = l.length
    if stop >= length:
        ll_listdelslice_startonly(l, start)
        return
    if stop <= start:
        return
    rest = length - stop
    move_items(l, stop, start, rest)
    clear_items(l, start + rest, length)
    resize_le(l, start + rest)

def ll_listdelslice_minusone(l):
    """del l[:-1]"""
    ll_listdelslice_startstop(l, 0, l.length - 1)


# Other methods.

def ll_reverse(l):
    items = ll_items(l)
    i = 0
    j = ll_length(l) - 1
    while i < j:
        item = items[i]
        items[i] = items[j]
        items[j] = item
        i += 1
        j -= 1

def ll_copy(LIST, l):
    return ll_listslice_startonly(LIST, l, 0)

def ll_concat(LIST, l1, l2):
    n1 = ll_length(l1)
    n2 = ll_length(l2)
    l = ll_newlist(LIST, added_length(n1, n2))
    copy_items(l1, l, 0, 0, n1)
    copy_items(l2, l, 0, n1, n2)
    return l

def ll_mul(LIST, l, factor):
    length = ll_length(l)
    if length == 1:
        return ll_alloc_and_set(LIST, factor, ll_items(l)[0])
    result = ll_newlist(LIST, multiplied_length(length, factor))
    repeat_items(result, l, length, factor)
    return result

def ll_inplace_mul(l, factor):
    length = l.length
    size = multiplied_length(length, factor)
    if size == 0:
        ll_listdelslice_startonly(l, 0)
    else:
        resize_ge(l, size)
        repeat_items(l, l, length, factor)
    return l

def multiplied_length(length, factor):
    if factor <= 0:
        return 0
    try:
        n = ovfcheck(length * factor)
    except OverflowError:
        raise MemoryError
    ll_check_count(n)
    return n

def repeat_items(result, l, length, factor):
    i = 0
    target = 0
    while i < factor:
        copy_items(l, result, 0, target, length)
        target += length
        i += 1

def ll_listslice_startonly(LIST, l, start):
    n = ll_length(l) - start
    if n < 0:
        n = 0
    result = ll_newlist(LIST, n)
    copy_items(l, result, start, 0, n)
    return result

def ll_listslice_startstop(LIST, l, start, stop):
    length = ll_length(l)
    if stop > length:
        stop = length
    n = stop - start
    if n < 0:
        n = 0
    result = ll_newlist(LIST, n)
    copy_items(l, result, start, 0, n)
    return result

def ll_listslice_minusone(LIST, l):
    n = ll_length(l) - 1
    if n < 0:
        n = 0
    result = ll_newlist(LIST, n)
    copy_items(l, result, 0, 0, n)
    return result

def ll_listsetslice(l1, start, stop, l2):
    """l1[start:stop] = l2"""
    length = l1.length
    if start > length:
        start = length
    if stop > length:
        stop = length
    if stop < start:
        stop = start
    if ll_items(l2) == l1.items:
        l2 = ll_copy(typeOf(l2).TO, l2)
    count = ll_length(l2)
    rest = length - stop
    size = added_length(start + count, rest)
    if size > length:
        resize_ge(l1, size)
    move_items(l1, stop, start + count, rest)
    copy_items(l2, l1, 0, start, count)
    if size < length:
        clear_items(l1, size, length)
        resize_le(l1, size)

def same_item(a, b, eq_fn):
    if eq_fn is None:
        return a == b
    return eq_fn(a, b)

def ll_listeq(l1, l2, eq_fn):
    if not l1 or not l2:
        return not l1 and not l2
    n = ll_length(l1)
    if n != ll_length(l2):
        return False
    items1 = ll_items(l1)
    items2 = ll_items(l2)
    i = 0
    while i < n:
        if not same_item(items1[i], items2[i], eq_fn):
            return False
        i += 1
    return True

def find_item(l, item, eq_fn):
    n = ll_length(l)
    items = ll_items(l)
    i = 0
    while i < n:
        if same_item(items[i], item, eq_fn):
            return i
        i += 1
    return -1

def ll_listcontains(l, item, eq_fn):
    return find_item(l, item, eq_fn) >= 0

def ll_listindex(l, item, eq_fn):
    i = find_item(l, item, eq_fn)
    if i < 0:
        raise ValueError
    return i

def ll_listremove(l, item, eq_fn):
    ll_delitem_nonneg(False, l, ll_listindex(l, item, eq_fn))

def ll_listcount(l, item, eq_fn):
    n = ll_length(l)
    items = ll_items(l)
    count = 0
    i = 0
    while i < n:
        if same_item(items[i], item, eq_fn):
            count += 1
        i += 1
    return count

def ll_list_str(l, str_fn):
    """The text of the items between brackets."""
    if not l:
        return "None"
    n = ll_length(l)
    items = ll_items(l)
    size = 2
    if n > 1:
        size += 2 * (n - 1)
    texts = malloc(TEXTS, n)
    i = 0
    while i < n:
        text = str_fn(items[i])
        texts[i] = text
        size += len(text.chars)
        i += 1
    result = malloc(STR, size)
    result.chars[0] = '['
    position = 1
    i = 0
    while i < n:
        if i > 0:
            result.chars[position] = ','
            result.chars[position + 1] = ' '
            position += 2
        text = texts[i]
        length = len(text.chars)
        llop.gc_copy_array(Void, text, result, 0, position, length)
        position += length
        i += 1
    result.chars[position] = ']'
    return result


# Iterators: (list, index). An exhausted one keeps its list: harmless, and cheaper
# than clearing the field.

def ll_listiter(ITER, l):
    iter = malloc(ITER)
    iter.list = l
    iter.index = 0
    return iter

def ll_listnext(iter):
    l = iter.list
    index = iter.index
    if index >= ll_length(l):
        raise StopIteration
    iter.index = index + 1
    return ll_items(l)[index]

def ll_revlistiter(ITER, l):
    iter = malloc(ITER)
    iter.list = l
    iter.index = ll_length(l) - 1
    return iter

def ll_revlistnext(iter):
    l = iter.list
    index = iter.index
    if index < 0 or index >= ll_length(l):
        raise StopIteration
    iter.index = index - 1
    return ll_items(l)[index]

def ll_getnextindex(iter):
    return iter.index

def ll_zip(LIST, TUPLE, l1, l2):
    n = ll_length(l1)
    if n > ll_length(l2):
        n = ll_length(l2)
    result = ll_newlist(LIST, n)
    i = 0
    while i < n:
        pair = malloc(TUPLE)
        pair.item0 = ll_items(l1)[i]
        pair.item1 = ll_items(l2)[i]
        ll_items(result)[i] = pair
        i += 1
    return result


# enumerate(): (iter, count).

def ll_enumerate(ITER, iter, start):
    result = malloc(ITER)
    result.iter = iter
    result.count = start
    return result

def ll_count_up(iter):
    count = iter.count
    iter.count = count + 1
    return count
