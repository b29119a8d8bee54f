"""Raw memory by the byte, read and written as any primitive type."""
from rpython.rlib.objectmodel import specialize
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.rtyper.lltypesystem.lloperation import llop

RAW_STORAGE = rffi.CCHARP.TO
RAW_STORAGE_PTR = rffi.CCHARP
misaligned_is_fine = True


class AlignmentError(NotImplementedError):
    """Memory at an address that its type cannot have."""


@specialize.arg(1, 2)
def alloc_raw_storage(size, track_allocation=True, zero=False):
    if zero:
        return lltype.malloc(RAW_STORAGE, size, flavor='raw', zero=True)
    return lltype.malloc(RAW_STORAGE, size, flavor='raw')

def free_raw_storage(storage, track_allocation=True):
    lltype.free(storage, flavor='raw')

@specialize.ll()
def raw_storage_getitem(TP, storage, index):
    return llop.raw_load(TP, storage, index)

@specialize.ll()
def raw_storage_setitem(storage, index, item):
    llop.raw_store(lltype.Void, storage, index, item)

@specialize.ll()
def raw_storage_getitem_unaligned(TP, storage, index):
    return llop.raw_load(TP, storage, index)

@specialize.ll()
def raw_storage_setitem_unaligned(storage, index, item):
    llop.raw_store(lltype.Void, storage, index, item)

@specialize.ll()
def str_storage_getitem(TYPE, s, index):
    with rffi.scoped_str2charp(s) as p:
        return llop.raw_load(TYPE, p, index)
