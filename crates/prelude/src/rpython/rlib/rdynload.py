"""Shared libraries, opened while the program runs."""
import os

from rpython.rlib.objectmodel import specialize
from rpython.rlib.rarithmetic import intmask
from rpython.rtyper.lltypesystem import lltype, rffi
from rpython.rtyper.tool import rffi_platform
from rpython.translator.tool.cbuild import ExternalCompilationInfo

eci = ExternalCompilationInfo(includes=['dlfcn.h'], libraries=['dl'])


class _Constants:
    _compilation_info_ = eci
    RTLD_LOCAL = rffi_platform.DefinedConstantInteger('RTLD_LOCAL')
    RTLD_GLOBAL = rffi_platform.DefinedConstantInteger('RTLD_GLOBAL')
    RTLD_LAZY = rffi_platform.DefinedConstantInteger('RTLD_LAZY')
    RTLD_NOW = rffi_platform.DefinedConstantInteger('RTLD_NOW')
    RTLD_NOLOAD = rffi_platform.DefinedConstantInteger('RTLD_NOLOAD')
    RTLD_NODELETE = rffi_platform.DefinedConstantInteger('RTLD_NODELETE')
    RTLD_DEEPBIND = rffi_platform.DefinedConstantInteger('RTLD_DEEPBIND')


class cConfig(object):
    pass

for _name, _value in rffi_platform.configure(_Constants).items():
    setattr(cConfig, _name, _value)
    if _value is not None:
        globals()[_name] = _value

DLLHANDLE = rffi.VOIDP

_c_dlopen = rffi.llexternal('dlopen', [rffi.CCHARP, rffi.INT], rffi.VOIDP, compilation_info=eci)
_c_dlclose = rffi.llexternal('dlclose', [rffi.VOIDP], rffi.INT, compilation_info=eci)
_c_dlerror = rffi.llexternal('dlerror', [], rffi.CCHARP, compilation_info=eci)
_c_dlsym = rffi.llexternal('dlsym', [rffi.VOIDP, rffi.CCHARP], rffi.VOIDP, compilation_info=eci)


class DLOpenError(Exception):
    """`msg` is what the loader says."""

    def __init__(self, msg):
        self.msg = msg

    def __str__(self):
        return repr(self.msg)


def dlerror():
    text = _c_dlerror()
    if not text:
        return ""
    return rffi.charp2str(text)


def _dlopen_default_mode():
    return RTLD_LOCAL | RTLD_LAZY


def dlopen(name, mode=-1):
    """The library with that name or path; the program itself for None. DLOpenError if there
    is none."""
    if mode == -1:
        mode = _dlopen_default_mode()
    elif (mode & (RTLD_LAZY | RTLD_NOW)) == 0:
        mode |= RTLD_NOW
    with rffi.scoped_str2charp(name) as ll_name:
        handle = _c_dlopen(ll_name, rffi.cast(rffi.INT, mode))
    if not handle:
        raise DLOpenError(dlerror())
    return handle


_t_opened = {}

def t_dlopen(name):
    """Like dlopen(), and remembers what it opened."""
    handle = dlopen(name)
    _t_opened[rffi.cast(lltype.Signed, handle)] = True
    return handle


def dlclose(handle):
    return intmask(_c_dlclose(handle))


def dlsym(libhandle, name):
    """The address of a symbol; KeyError if there is none."""
    address = _c_dlsym(libhandle, name)
    if not address:
        raise KeyError(dlerror())
    return address


def dlsym_byordinal(handle, index):
    """Only where libraries number their functions."""
    raise KeyError("dlsym_byordinal")
