"""Looking around in the heap: its roots, what objects refer to, and flags of objects.

All of this is for translated programs; low-level code that is interpreted runs as machine
code where it comes here.
"""
from rpython.rlib.objectmodel import specialize
from rpython.rlib.rstring import StringBuilder
from rpython.rtyper.annlowlevel import cast_instance_to_gcref, checked_cast_gcref_to_instance
from rpython.rtyper.lltypesystem import llmemory, lltype, rffi
from taipan_lowlevel import rpy_gc_dump

_OBJECTS = lltype.GcArray(llmemory.GCREF)
_NUMBERS = lltype.GcArray(lltype.Signed)
_LIST = lltype.Ptr(_OBJECTS)

def _runtime(name, args, result):
    return rffi.llexternal('rpy_gc_' + name, args, result, _nowrapper=True)

_roots = _runtime('roots', [_LIST], lltype.Signed)
_referents = _runtime('referents', [llmemory.GCREF, _LIST], lltype.Signed)
_size = _runtime('size', [llmemory.GCREF], lltype.Signed)
_type_number = _runtime('type_number', [llmemory.GCREF], lltype.Signed)
_count_types = _runtime('count_types', [], lltype.Signed)
_type_text = _runtime('type_text', [lltype.Signed, lltype.Signed], lltype.Signed)
_is_instance = _runtime('is_instance', [llmemory.GCREF], rffi.INT)
_flag = _runtime('flag', [llmemory.GCREF], rffi.INT)
_toggle_flag = _runtime('toggle_flag', [llmemory.GCREF], lltype.Void)


def get_rpy_roots():
    """The objects that globals and active functions refer to, as GCREFs."""
    objects = lltype.malloc(_OBJECTS, 1000)
    count = _roots(objects)
    while count > len(objects):
        objects = lltype.malloc(_OBJECTS, count + 100)
        count = _roots(objects)
    return [objects[i] for i in range(count)]

def get_rpy_referents(gcref):
    """The objects that one refers to."""
    objects = lltype.malloc(_OBJECTS, 20)
    count = _referents(gcref, objects)
    if count > len(objects):
        objects = lltype.malloc(_OBJECTS, count)
        count = _referents(gcref, objects)
    return [objects[i] for i in range(count)]

def get_rpy_memory_usage(gcref):
    """Bytes that an object takes, without what it refers to."""
    return _size(gcref)

def get_rpy_type_index(gcref):
    """The number of the object's type: another one for each layout."""
    return _type_number(gcref)

@specialize.argtype(0)
def get_typeid(obj):
    return _type_number(cast_instance_to_gcref(obj))

def get_typeids_z():
    """What the types of all objects are called, a line for each number, compressed for zlib."""
    b = StringBuilder()
    b.append('member0    ?\n')
    for number in range(1, _count_types() + 1):
        digits = str(number)
        b.append('member')
        b.append(digits)
        b.append_multiple_char(' ', 5 - min(len(digits), 4))
        i = 0
        c = _type_text(number, i)
        while c >= 0:
            b.append(chr(c))
            i += 1
            c = _type_text(number, i)
        b.append('\n')
    return _stored(b.build())

def get_typeids_list():
    """The typeid of each number: here they are the same."""
    numbers = lltype.malloc(_NUMBERS, _count_types() + 1)
    for i in range(len(numbers)):
        numbers[i] = i
    return numbers

# What a block of data that is stored as it is has at most.
_MOST_STORED = 0xffff

def _stored(text):
    """What zlib decompresses to the text: blocks that are stored as they are."""
    b = StringBuilder()
    b.append('\x78\x01')
    start = 0
    while True:
        size = min(len(text) - start, _MOST_STORED)
        stop = start + size
        b.append('\x01' if stop == len(text) else '\x00')
        for n in [size, size ^ 0xffff]:
            b.append(chr(n & 0xff))
            b.append(chr(n >> 8))
        b.append_slice(text, start, stop)
        start = stop
        if start == len(text):
            break
    low = 1
    high = 0
    for c in text:
        low = (low + ord(c)) % 65521
        high = (high + low) % 65521
    for n in [high >> 8, high & 0xff, low >> 8, low & 0xff]:
        b.append(chr(n))
    return b.build()

def dump_rpy_heap(fd):
    """Writes all objects to a file, in the original's format; whether everything was written.
    Words: address, number of the type, size and referents of each, -1 behind it. Roots come
    first, then 0 0 0 -1, then the others."""
    return rpy_gc_dump(fd)

def has_gcflag_extra():
    """Whether objects have a flag that programs may use."""
    return True

@specialize.argtype(0)
def get_gcflag_extra(gcref):
    """The flag of an object, or of what a GCREF refers to."""
    return rffi.cast(lltype.Signed, _flag(cast_instance_to_gcref(gcref))) != 0

@specialize.argtype(0)
def toggle_gcflag_extra(gcref):
    _toggle_flag(cast_instance_to_gcref(gcref))

def get_gcflag_dummy(gcref):
    """Whether the object only stands for others in lists of objects: none does."""
    return False

def clear_gcflag_extra(fromlist):
    """Unsets the flag of objects in a list and of what they lead to over such that have
    it."""
    pending = fromlist[:]
    while pending:
        gcref = pending.pop()
        if get_gcflag_extra(gcref):
            toggle_gcflag_extra(gcref)
            pending.extend(get_rpy_referents(gcref))

@specialize.arg(0)
def do_get_objects(callback):
    """What a function makes of the GCREFs of all objects, without its Nones."""
    roots = [gcref for gcref in get_rpy_roots() if gcref]
    pending = roots[:]
    result = []
    while pending:
        gcref = pending.pop()
        if not get_gcflag_extra(gcref):
            toggle_gcflag_extra(gcref)
            obj = callback(gcref)
            if obj is not None:
                result.append(obj)
            pending.extend(get_rpy_referents(gcref))
    clear_gcflag_extra(roots)
    return result

def assert_no_more_gcflags():
    for gcref in get_rpy_roots():
        assert not get_gcflag_extra(gcref)

@specialize.arg(0)
def try_cast_gcref_to_instance(Class, gcref):
    """The instance of a class that a GCREF is, None if it is anything else."""
    if rffi.cast(lltype.Signed, _is_instance(gcref)) == 0:
        return None
    return checked_cast_gcref_to_instance(Class, gcref)
