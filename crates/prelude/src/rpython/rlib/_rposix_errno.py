"""The errno that is kept of C functions declared with `save_err`, and around callbacks.

There are two for each thread: the program's own, and an alternative one (`RFFI_ALT_ERRNO`)
that calls of the program's own functions leave alone.
"""
from rpython.rlib._rposix_c import _errno_location, get_saved_errno, set_saved_errno
from rpython.rlib.objectmodel import specialize
from rpython.rlib.rarithmetic import intmask
from rpython.rlib.rthread import tlfield_alt_errno
from rpython.rtyper.lltypesystem import rffi


def get_saved_alterrno():
    return intmask(tlfield_alt_errno.getraw())

def set_saved_alterrno(errno):
    tlfield_alt_errno.setraw(rffi.cast(rffi.INT, errno))


@specialize.arg(0)
def _errno_before(save_err):
    """Makes errno what a C function declared with that `save_err` finds."""
    if save_err & rffi.RFFI_READSAVED_ERRNO:
        if save_err & rffi.RFFI_ALT_ERRNO:
            errno = get_saved_alterrno()
        else:
            errno = get_saved_errno()
        _errno_location()[0] = rffi.cast(rffi.INT, errno)
    elif save_err & rffi.RFFI_ZERO_ERRNO_BEFORE:
        _errno_location()[0] = rffi.cast(rffi.INT, 0)

@specialize.arg(0)
def _errno_after(save_err):
    """Keeps the errno that such a function has left."""
    if save_err & rffi.RFFI_SAVE_ERRNO:
        errno = intmask(_errno_location()[0])
        if save_err & rffi.RFFI_ALT_ERRNO:
            set_saved_alterrno(errno)
        else:
            set_saved_errno(errno)
