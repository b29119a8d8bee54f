"""POSIX, and its errno. The saved errno is that of the last call of an `os` function that
failed, and of the last C function declared with `save_err`."""
import os

from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.rtyper.lltypesystem.rffi import RFFI_SAVE_ERRNO

_saved = lltype.malloc(rffi.LONGP.TO, 1, flavor='raw', immortal=True, zero=True)

def get_saved_errno():
    return _saved[0]

def set_saved_errno(errno):
    _saved[0] = errno

get_saved_alterrno = get_saved_errno
set_saved_alterrno = set_saved_errno

def handle_posix_error(name, result):
    """What a C function answered, as Signed; OSError if that is negative."""
    result = rffi.cast(lltype.Signed, result)
    if result < 0:
        raise OSError(get_saved_errno(), '%s failed' % name)
    return result
handle_posix_error._annspecialcase_ = 'specialize:arg(0)'
