"""Objects by identity, and the end of the program."""
from rpython.rtyper.lltypesystem.lltype import Signed
from rpython.rtyper.lltypesystem.lloperation import llop
from taipan_lowlevel import rpy_fatal


def ll_identity_hash(p):
    if not p:
        return 0
    return llop.gc_identityhash(Signed, p)

def ll_unique_id(p):
    return llop.gc_id(Signed, p)

def ll_fatalerror(message):
    rpy_fatal(message)
