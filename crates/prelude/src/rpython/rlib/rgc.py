"""The garbage collector.

The compiler knows collect(), enable(), disable() and can_move() by name; what stands
here of them is what they do while a program loads.
"""
import gc

from rpython.rlib.objectmodel import not_rpython


@not_rpython
def collect(*args):
    gc.collect()

@not_rpython
def enable():
    gc.enable()

@not_rpython
def disable():
    gc.disable()

@not_rpython
def can_move(p):
    return True

def set_max_heap_size(nbytes):
    pass

def add_memory_pressure(estimate, object=None):
    """Memory outside of the heap: not accounted for."""
add_memory_pressure._annspecialcase_ = 'specialize:argtype(1)'

def must_split_gc_address_space():
    return False

def increase_root_stack_depth(new_depth):
    pass

def ll_arraycopy(source, dest, source_start, dest_start, length):
    """Copies items of one list or array to another one, or to earlier places."""
    i = 0
    while i < length:
        dest[dest_start + i] = source[source_start + i]
        i += 1
ll_arraycopy._annspecialcase_ = 'specialize:ll'


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
