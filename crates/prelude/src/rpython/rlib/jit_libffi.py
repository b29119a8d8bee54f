"""Calls of C functions through a description of the call in one block of raw memory.

`CIF_DESCRIPTION` holds the arguments of ffi_prep_cif(), and where in the exchange buffer of
a call its result and arguments are: the buffer starts with room for pointers to the
arguments, which jit_ffi_call() sets.
"""
from rpython.rlib import clibffi, jit
from rpython.rlib.clibffi import (
    FFI_ABI, FFI_CIF, FFI_TYPE, FFI_TYPE_P, FFI_TYPE_PP, FFI_TYPE_STRUCT, ffi_arg)
from rpython.rtyper.lltypesystem import lltype, rffi

SIZE_OF_SIGNED = rffi.sizeof(lltype.Signed)
# What libffi writes at least as a result.
FFI_ARG_P = rffi.CArrayPtr(ffi_arg)
SIZE_OF_FFI_ARG = rffi.sizeof(ffi_arg)

CIF_DESCRIPTION = lltype.Struct(
    'CIF_DESCRIPTION',
    ('cif', FFI_CIF), ('abi', lltype.Signed), ('nargs', lltype.Signed), ('rtype', FFI_TYPE_P),
    ('atypes', FFI_TYPE_PP), ('exchange_size', lltype.Signed),
    ('exchange_result', lltype.Signed),
    ('exchange_args', lltype.Array(lltype.Signed, hints={'nolength': True, 'immutable': True})),
    hints={'immutable': True})
CIF_DESCRIPTION_P = lltype.Ptr(CIF_DESCRIPTION)


def jit_ffi_prep_cif(cif_description):
    """Fills the field `cif` from the others; FFI_OK, or what libffi says."""
    outcome = clibffi.c_ffi_prep_cif(cif_description.cif, cif_description.abi,
                                     cif_description.nargs, cif_description.rtype,
                                     cif_description.atypes)
    return rffi.cast(lltype.Signed, outcome)


def jit_ffi_call(cif_description, func_addr, exchange_buffer):
    """Calls a function; result and arguments are in the buffer. A small integer that comes
    back as a whole word is found in its first bytes, the machine being little endian."""
    jit_ffi_call_impl_any(cif_description, func_addr, exchange_buffer)


def jit_ffi_call_impl_any(cif_description, func_addr, exchange_buffer):
    pointers = rffi.cast(rffi.VOIDPP, exchange_buffer)
    for i in range(cif_description.nargs):
        pointers[i] = rffi.ptradd(exchange_buffer, cif_description.exchange_args[i])
    result = rffi.ptradd(exchange_buffer, cif_description.exchange_result)
    clibffi.c_ffi_call(cif_description.cif, func_addr, rffi.cast(rffi.VOIDP, result), pointers)


class types(object):
    """What libffi calls types, without its prefix."""

    @staticmethod
    @jit.elidable
    def getkind(ffi_type):
        """'v' for void, 'f' and 'S' for floats of two and one words, 'i' and 'u' for
        integers with and without sign, '*' for structs, '?' for anything else."""
        if ffi_type == types.void:
            return 'v'
        elif ffi_type == types.double:
            return 'f'
        elif ffi_type == types.float:
            return 'S'
        elif (ffi_type == types.schar or ffi_type == types.sshort or ffi_type == types.sint or
              ffi_type == types.slong):
            return 'i'
        elif (ffi_type == types.pointer or ffi_type == types.uchar or
              ffi_type == types.ushort or ffi_type == types.uint or ffi_type == types.ulong):
            return 'u'
        elif types.is_struct(ffi_type):
            return '*'
        return '?'

    @staticmethod
    @jit.elidable
    def is_struct(ffi_type):
        kind = rffi.getintfield(ffi_type, 'c_type')
        return kind == FFI_TYPE_STRUCT

    @staticmethod
    @jit.elidable
    def getsize(ffi_type):
        """In bytes."""
        return rffi.getintfield(ffi_type, 'c_size')

for _name in dir(clibffi):
    if _name.startswith('ffi_type_'):
        setattr(types, _name[len('ffi_type_'):], getattr(clibffi, _name))
types.slonglong = types.signed = types.slong
types.ulonglong = types.unsigned = types.ulong
types.wchar_t = types.sint
