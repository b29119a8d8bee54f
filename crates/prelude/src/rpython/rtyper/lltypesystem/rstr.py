"""The containers behind strings."""
from taipan_lowlevel import STR, UNICODE
from rpython.rtyper.lltypesystem import lltype


def mallocstr(length):
    return lltype.malloc(STR, length)

def mallocunicode(length):
    return lltype.malloc(UNICODE, length)
