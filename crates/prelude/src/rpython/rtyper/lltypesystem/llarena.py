"""Blocks of raw memory in which objects are placed by hand."""
from rpython.rtyper.lltypesystem import llmemory

_ALIGNMENT = 8
has_protect = False


class ArenaError(Exception):
    """What the checks say that there are only while a program loads."""


arena_free = llmemory.raw_free

def arena_malloc(nbytes, zero):
    """Its address, or NULL. Zeroed if `zero` is not 0."""
    addr = llmemory.raw_malloc(nbytes)
    if zero:
        llmemory.raw_memclear(addr, nbytes)
    return addr


def arena_reset(arena_addr, size, zero):
    """Forgets what is in part of an arena; zeroes it unless `zero` is 0."""
    if zero:
        llmemory.raw_memclear(arena_addr, size)

def arena_reserve(addr, size, check_alignment=True):
    """An object will be placed here."""

def arena_shrink_obj(addr, newsize):
    """The object here is smaller than what was reserved for it."""

def arena_protect(arena_addr, size, inaccessible):
    """A check that there is only while a program loads."""

def arena_new_view(ptr):
    return ptr

def getfakearenaaddress(addr):
    return addr

def round_up_for_allocation(size, minsize=0):
    """The size that an object takes in an arena."""
    size = max(size, minsize)
    return (size + _ALIGNMENT - 1) & ~(_ALIGNMENT - 1)
