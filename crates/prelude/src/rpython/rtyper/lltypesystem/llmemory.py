"""Addresses, offsets and raw memory. Offsets are numbers of bytes here. The compiler knows
the functions by name; addresses of real memory do not exist while a program loads.
"""
from rpython.rlib.objectmodel import not_rpython
from rpython.rtyper.lltypesystem import lltype
from _llmalloc import cast_ptr_to_adr, cast_adr_to_ptr, sizeof, offsetof, itemoffsetof
from _lltype import Address, GCREF

NULL = cast_ptr_to_adr(lltype.nullptr(lltype.GcStruct('NULL')))
GCREF_OPAQUE = GCREF.TO
WeakRefPtr = GCREF
WORD = 8


def FieldOffset(TYPE, fieldname):
    return offsetof(TYPE, fieldname)

def ItemOffset(TYPE, repeat=1):
    return sizeof(TYPE) * repeat

def ArrayItemsOffset(TYPE):
    return itemoffsetof(TYPE, 0)

def ArrayLengthOffset(TYPE):
    return itemoffsetof(TYPE, 0) - WORD

arraylengthoffset = ArrayLengthOffset


def _nothing_there(*args):
    raise NotImplementedError("there is no raw memory while a program loads")

@not_rpython
def raw_malloc(size, zero=False):
    _nothing_there()

@not_rpython
def raw_free(adr):
    _nothing_there()

@not_rpython
def raw_malloc_usage(size):
    return size

@not_rpython
def raw_memclear(adr, size):
    _nothing_there()

@not_rpython
def raw_memset(adr, byte, size):
    _nothing_there()

@not_rpython
def raw_memcopy(source, dest, size):
    _nothing_there()

@not_rpython
def raw_memmove(source, dest, size):
    _nothing_there()

@not_rpython
def raw_memmove_no_free(source, dest, size):
    _nothing_there()

@not_rpython
def cast_adr_to_int(adr, mode="emulated"):
    return lltype.cast_ptr_to_int(adr)

@not_rpython
def cast_int_to_adr(i):
    return lltype.cast_int_to_ptr(Address, i)

@not_rpython
def weakref_create(ptr):
    _nothing_there()

@not_rpython
def weakref_deref(PTRTYPE, weakref):
    _nothing_there()
