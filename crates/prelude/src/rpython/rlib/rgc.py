"""The garbage collector.

The compiler knows collect() and can_move() by name; what stands here of them is what they
do while a program loads.
"""
import gc

from rpython.rlib.objectmodel import not_rpython, specialize, we_are_translated
from rpython.rtyper.annlowlevel import (
    cast_gcref_to_instance, cast_instance_to_gcref, llhelper)
from rpython.rtyper.lltypesystem import llmemory, lltype
from rpython.rtyper.lltypesystem.lloperation import llop
from taipan_lowlevel import (
    rpy_gc_add_pressure, rpy_gc_collect_step, rpy_gc_set_most_heap, rpy_gc_stat)

_CHARS = lltype.GcArray(lltype.Char)
_CHARP = lltype.Ptr(lltype.Array(lltype.Char, hints={'nolength': True}))


@not_rpython
def collect(*args):
    gc.collect()

def enable():
    """Has major collections start and go on by themselves."""
    gc.enable()

def disable():
    """Leaves major collections to collect() and collect_step()."""
    gc.disable()

@not_rpython
def can_move(p):
    return True

@not_rpython
def resizable_list_supporting_raw_ptr(lst):
    """The list, which is one of characters and may be resized."""
    return lst

@not_rpython
def ll_for_resizable_list(lst):
    """A pointer to what such a list is at the low level."""
    raise NotImplementedError("lists have no low-level form while a program loads")

def nonmoving_raw_ptr_for_resizable_list(lst):
    """Where the characters of such a list are, which stay there as long as the list
    lives and is not resized."""
    if can_move(ll_for_resizable_list(lst).items):
        collect(0)
    items = ll_for_resizable_list(lst).items
    start = llmemory.cast_ptr_to_adr(items)
    start += llmemory.itemoffsetof(_CHARS, 0)
    return llmemory.cast_adr_to_ptr(start, _CHARP)

def hide_nonmovable_gcref(gcref):
    """The address of an object that does not move, which does not keep it alive."""
    assert not can_move(gcref)
    return llmemory.cast_ptr_to_adr(gcref)

def reveal_gcref(addr):
    """The object at such an address. It has to be alive."""
    return llmemory.cast_adr_to_ptr(addr, llmemory.GCREF)

def set_max_heap_size(nbytes):
    """Sets the limit of the heap, as PYPY_GC_MAX does; 0 for none."""
    if we_are_translated():
        rpy_gc_set_most_heap(nbytes)

def add_memory_pressure(estimate, object=None):
    """Says that so many bytes outside of the heap depend on an object: the next major
    collection comes earlier."""
    if we_are_translated():
        rpy_gc_add_pressure(estimate)
add_memory_pressure._annspecialcase_ = 'specialize:argtype(1)'

def must_split_gc_address_space():
    return False

def increase_root_stack_depth(new_depth):
    pass

def ll_arraycopy(source, dest, source_start, dest_start, length):
    """Copies items of one low-level array to another one."""
    if we_are_translated():
        llop.gc_copy_array(lltype.Void, source, dest, source_start, dest_start, length)
        return
    for i in range(length):
        dest[dest_start + i] = source[source_start + i]
ll_arraycopy._annspecialcase_ = 'specialize:ll'

def ll_arraymove(array, source_start, dest_start, length):
    """Moves items within a low-level array."""
    if we_are_translated():
        llop.gc_copy_array(lltype.Void, array, array, source_start, dest_start, length)
        return
    items = [array[source_start + i] for i in range(length)]
    for i in range(length):
        array[dest_start + i] = items[i]
ll_arraymove._annspecialcase_ = 'specialize:ll'

def ll_arrayfill(p, item):
    """Sets all items of a low-level array."""
    i = 0
    n = len(p)
    while i < n:
        p[i] = item
        i += 1
ll_arrayfill._annspecialcase_ = 'specialize:ll'

def ll_shrink_array(p, smallerlength):
    """A low-level array, or a structure that ends in one, with fewer items."""
    if we_are_translated():
        llop.shrink_array(lltype.Bool, p, smallerlength)
        return p
    TYPE = lltype.typeOf(p).TO
    new = lltype.malloc(TYPE, smallerlength)
    items, new_items = p, new
    if isinstance(TYPE, lltype.Struct):
        for name in TYPE._names[:-1]:
            setattr(new, name, getattr(p, name))
        items, new_items = getattr(p, TYPE._names[-1]), getattr(new, TYPE._names[-1])
    for i in range(smallerlength):
        new_items[i] = items[i]
    return new
ll_shrink_array._annspecialcase_ = 'specialize:ll'


# What collect_step() returns.

def _encode_states(old, new):
    return old << 8 | new

def old_state(states):
    return states >> 8

def new_state(states):
    return states & 255

def is_done(states):
    return is_done__states(old_state(states), new_state(states))

def is_done__states(oldstate, newstate):
    return oldstate != 0 and newstate == 0

def collect_step():
    """Does a step of a major collection, and starts one if need be. is_done() says of the
    result whether it was the last one. Collectors without steps do all at once."""
    if we_are_translated():
        states = rpy_gc_collect_step()
        if states >= 0:
            return states
    collect()
    return _encode_states(1, 0)

def isenabled():
    return gc.isenabled()

# Objects are never pinned: who asks for it has to copy.

@specialize.ll()
def ll_arrayclear(p):
    """Sets all items of a low-level array to zero or NULL."""
    ITEM = lltype.typeOf(p).TO.OF
    if isinstance(ITEM, lltype.Ptr):
        ll_arrayfill(p, lltype.nullptr(ITEM.TO))
    else:
        ll_arrayfill(p, lltype.cast_primitive(ITEM, 0))

def _contains_gcptr(TP):
    """Whether the collector has to look into values of a type."""
    if isinstance(TP, lltype.Struct):
        for name in TP._names:
            if _contains_gcptr(getattr(TP, name)):
                return True
        return False
    if isinstance(TP, lltype.FixedSizeArray):
        return _contains_gcptr(TP.OF)
    return isinstance(TP, lltype.Ptr) and TP.TO._gckind == 'gc'

@specialize.argtype(0)
def pin(obj):
    return False

@specialize.argtype(0)
def unpin(obj):
    pass

@specialize.argtype(0)
def _is_pinned(obj):
    return False

@specialize.argtype(0)
def move_out_of_nursery(obj):
    """The object, which stays where it is from now on if the collector can have that."""
    if we_are_translated() and can_move(obj):
        collect(0)
    return obj

@specialize.argtype(0)
def needs_write_barrier(obj):
    return False

@specialize.argtype(0)
def may_ignore_finalizer(obj):
    pass


class FinalizerQueue(object):
    """Hands out objects that died. Subclasses give `Class`, what objects it is for
    (None for any GCREF), and `finalizer_trigger`, which is called after a collection
    that put some into it.
    """
    Class = None

    def _freeze_(self):
        return True

    def finalizer_trigger(self):
        pass

    @specialize.arg(0)
    def register_finalizer(self, obj):
        if self.Class is None:
            ref = obj
        else:
            assert isinstance(obj, self.Class)
            ref = cast_instance_to_gcref(obj)
        if we_are_translated():
            llop.gc_fq_register(lltype.Void, _queue_of(self), ref)
        else:
            _watch(self, obj)

    @specialize.arg(0)
    def next_dead(self):
        if we_are_translated():
            ref = llop.gc_fq_next_dead(llmemory.GCREF, _queue_of(self))
            if self.Class is None:
                return ref
            return cast_gcref_to_instance(self.Class, ref)
        return _next_watched(self)

# The collector knows a queue by the address of what it calls.
_TRIGGER = lltype.Ptr(lltype.FuncType([], lltype.Void))

@specialize.memo()
def _trigger_of(queue):
    def finalizer_trigger():
        queue.finalizer_trigger()
    return finalizer_trigger

@specialize.arg(0)
def _queue_of(queue):
    return llmemory.cast_ptr_to_adr(llhelper(_TRIGGER, _trigger_of(queue)))

# At import time, dead objects are known after collect().
from _taipan import finalize as _finalize

_watched = set()

@not_rpython
def _watch(queue, obj):
    _watched.add(id(obj))
    _finalize(obj, lambda dead: _found_dead(queue, dead))

@not_rpython
def _already_registered(queue, obj):
    return id(obj) in _watched

FinalizerQueue._already_registered = _already_registered

@not_rpython
def _found_dead(queue, obj):
    if not hasattr(queue, '_dead'):
        queue._dead = []
    queue._dead.append(obj)
    queue.finalizer_trigger()

@not_rpython
def _next_watched(queue):
    dead = getattr(queue, '_dead', None)
    return dead.pop(0) if dead else None

@specialize.ll()
def ll_write_final_null_char(s):
    """Writes a zero byte behind the last character of a low-level byte string."""
    S = lltype.typeOf(s).TO
    assert has_final_null_char(lltype.typeOf(s)) == 1
    start = llmemory.cast_ptr_to_adr(s)
    start += llmemory.offsetof(S, 'chars') + llmemory.itemoffsetof(S.chars, 0)
    llmemory.cast_adr_to_ptr(start, _CHARP)[len(s.chars)] = '\x00'

@specialize.memo()
def has_final_null_char(PSTR):
    """1 if there is memory behind the last character of strings of a type, else 0."""
    A = PSTR.TO.chars
    return int(llmemory.sizeof(A, 0) > llmemory.itemoffsetof(A, 0))

# Figures. What the collector does not know is 0.

TOTAL_MEMORY, TOTAL_ALLOCATED_MEMORY, TOTAL_MEMORY_PRESSURE = 0, 1, 2
PEAK_MEMORY, PEAK_ALLOCATED_MEMORY = 3, 4
TOTAL_ARENA_MEMORY, TOTAL_RAWMALLOCED_MEMORY = 5, 6
PEAK_ARENA_MEMORY, PEAK_RAWMALLOCED_MEMORY = 7, 8
NURSERY_SIZE, TOTAL_GC_TIME, VMSIZE, VMRSS, VMHWM = 9, 10, 11, 12, 13

def get_stats(stat_no):
    if we_are_translated():
        return rpy_gc_stat(stat_no)
    return 0


def cast_gcref_to_int(gcref):
    return lltype.cast_ptr_to_int(gcref)

NULL_GCREF = lltype.nullptr(llmemory.GCREF.TO)

from rpython.rlib._rgc_heap import (
    assert_no_more_gcflags, clear_gcflag_extra, do_get_objects, dump_rpy_heap,
    get_gcflag_dummy, get_gcflag_extra, get_rpy_memory_usage, get_rpy_referents,
    get_rpy_roots, get_rpy_type_index, get_typeid, get_typeids_list, get_typeids_z,
    has_gcflag_extra, toggle_gcflag_extra, try_cast_gcref_to_instance)


# Marks of functions.

def no_collect(func):
    func._gc_no_collect_ = True
    return func

def no_release_gil(func):
    func._no_release_gil_ = True
    return func

def must_be_light_finalizer(func):
    func._must_be_light_finalizer_ = True
    return func
