"""Calls of C functions whose types are only known while the program runs, and C function
pointers to RPython functions, through libffi."""
import os    # for those who take everything that is here

from rpython.rlib import jit
from rpython.rlib.objectmodel import specialize
from rpython.rlib.rarithmetic import intmask
from rpython.rlib.rdynload import (
    DLLHANDLE, DLOpenError, dlclose, dlerror, dlopen, dlsym, dlsym_byordinal)
from rpython.rlib.unroll import unrolling_iterable
from rpython.rtyper.lltypesystem import llmemory, lltype, rffi
from rpython.translator.tool.cbuild import ExternalCompilationInfo

eci = ExternalCompilationInfo(includes=['ffi.h'], libraries=['ffi'])

# ____________________________________________________________ constants and types of libffi

FFI_OK, FFI_BAD_TYPEDEF = 0, 1
FFI_DEFAULT_ABI = 2
FFI_TYPE_STRUCT = 13

size_t = rffi.SIZE_T
ffi_arg = rffi.ULONG
FFI_ABI = rffi.UINT

FFI_TYPE_P = lltype.Ptr(lltype.ForwardReference())
FFI_TYPE_PP = rffi.CArrayPtr(FFI_TYPE_P)
FFI_TYPE_P.TO.become(lltype.Struct(
    'FFI_TYPE', ('c_size', rffi.SIZE_T), ('c_alignment', rffi.USHORT),
    ('c_type', rffi.USHORT), ('c_elements', FFI_TYPE_PP)))
FFI_TYPE = FFI_TYPE_P.TO
FFI_TYPE_NULL = lltype.nullptr(FFI_TYPE)

FFI_CIFP = lltype.Ptr(lltype.Struct(
    'FFI_CIF', ('c_abi', FFI_ABI), ('c_nargs', rffi.UINT), ('c_arg_types', FFI_TYPE_PP),
    ('c_rtype', FFI_TYPE_P), ('c_bytes', rffi.UINT), ('c_flags', rffi.UINT)))
FFI_CIF = FFI_CIFP.TO

# Code that jumps to the callback, then what it finds there.
FFI_CLOSUREP = lltype.Ptr(lltype.Struct(
    'FFI_CLOSURE', ('c_tramp', lltype.FixedSizeArray(lltype.Signed, 4)), ('c_cif', FFI_CIFP),
    ('c_fun', rffi.VOIDP), ('c_user_data', rffi.VOIDP)))

FFI_STRUCT_P = lltype.Ptr(lltype.Struct(
    'FFI_STRUCT', ('ffistruct', FFI_TYPE),
    ('members', lltype.Array(FFI_TYPE_P, hints={'nolength': True}))))

VOIDPP = rffi.VOIDPP


def _basic_type(size, number):
    tp = lltype.malloc(FFI_TYPE, flavor='raw', immortal=True)
    tp.c_size = rffi.cast(rffi.SIZE_T, size)
    tp.c_alignment = rffi.cast(rffi.USHORT, size)
    tp.c_type = rffi.cast(rffi.USHORT, number)
    tp.c_elements = lltype.nullptr(FFI_TYPE_PP.TO)
    return tp

ffi_type_void = _basic_type(1, 0)
ffi_type_float = _basic_type(4, 2)
ffi_type_double = _basic_type(8, 3)
ffi_type_longdouble = _basic_type(16, 4)
ffi_type_uint8 = ffi_type_uchar = _basic_type(1, 5)
ffi_type_sint8 = ffi_type_schar = _basic_type(1, 6)
ffi_type_uint16 = ffi_type_ushort = _basic_type(2, 7)
ffi_type_sint16 = ffi_type_sshort = _basic_type(2, 8)
ffi_type_uint32 = ffi_type_uint = _basic_type(4, 9)
ffi_type_sint32 = ffi_type_sint = _basic_type(4, 10)
ffi_type_uint64 = ffi_type_ulong = _basic_type(8, 11)
ffi_type_sint64 = ffi_type_slong = _basic_type(8, 12)
ffi_type_pointer = _basic_type(8, 14)

# What is there under ffi_type_ and a name that means the same everywhere.
base_names = ['double', 'float', 'longdouble', 'pointer', 'void', 'uchar', 'schar', 'ushort', 'sshort', 'uint', 'sint',
              'uint8', 'sint8', 'uint16', 'sint16', 'uint32', 'sint32', 'uint64', 'sint64']
type_names = ['ffi_type_' + name for name in base_names]

_integers = [
    (rffi.UCHAR, ffi_type_uchar), (rffi.CHAR, ffi_type_schar), (rffi.SIGNEDCHAR, ffi_type_schar),
    (rffi.SHORT, ffi_type_sshort), (rffi.USHORT, ffi_type_ushort), (rffi.INT, ffi_type_sint),
    (rffi.UINT, ffi_type_uint), (rffi.LONG, ffi_type_slong), (rffi.ULONG, ffi_type_ulong),
    (lltype.UniChar, ffi_type_sint), (lltype.Bool, ffi_type_uchar)]
_floats = [(rffi.DOUBLE, ffi_type_double), (rffi.FLOAT, ffi_type_float)]
_pointers = [(rffi.VOIDP, ffi_type_pointer)]

TYPE_MAP_INT = dict(_integers)
TYPE_MAP_FLOAT = dict(_floats)
TYPE_MAP = dict(_integers + _floats + _pointers + [(lltype.Void, ffi_type_void)])

ffitype_map_int = unrolling_iterable(_integers)
ffitype_map_int_or_ptr = unrolling_iterable(_integers + _pointers)
ffitype_map_float = unrolling_iterable(_floats)
ffitype_map = unrolling_iterable(_integers + _floats + _pointers + [(lltype.Void, ffi_type_void)])

@specialize.memo()
def cast_type_to_ffitype(tp):
    """What stands for a low-level type in libffi."""
    return TYPE_MAP[tp]


def make_struct_ffitype_e(size, aligment, field_types, track_allocation=True):
    """A type for C structs with fields of these types; to be freed as raw memory."""
    tpe = lltype.malloc(FFI_STRUCT_P.TO, len(field_types) + 1, flavor='raw')
    tpe.ffistruct.c_type = rffi.cast(rffi.USHORT, FFI_TYPE_STRUCT)
    tpe.ffistruct.c_size = rffi.cast(rffi.SIZE_T, size)
    tpe.ffistruct.c_alignment = rffi.cast(rffi.USHORT, aligment)
    tpe.ffistruct.c_elements = rffi.cast(FFI_TYPE_PP, lltype.direct_arrayitems(tpe.members))
    count = len(field_types)
    for i in range(count):
        tpe.members[i] = field_types[i]
    tpe.members[count] = lltype.nullptr(FFI_TYPE)
    return tpe

# ____________________________________________________________ functions of libffi

def external(name, args, result, **kwds):
    return rffi.llexternal(name, args, result, compilation_info=eci, **kwds)

# The abi is an enum in C.
c_ffi_prep_cif = external('ffi_prep_cif', [FFI_CIFP, FFI_ABI, rffi.UINT, FFI_TYPE_P,
                                           FFI_TYPE_PP], rffi.INT)
c_ffi_prep_cif_var = external('ffi_prep_cif_var', [FFI_CIFP, FFI_ABI, rffi.UINT, rffi.UINT,
                                                   FFI_TYPE_P, FFI_TYPE_PP], rffi.INT)
_c_ffi_call = external('ffi_call', [FFI_CIFP, rffi.VOIDP, rffi.VOIDP, VOIDPP], lltype.Void,
                       save_err=rffi.RFFI_ERR_ALL | rffi.RFFI_ALT_ERRNO)

def c_ffi_call(cif, function, result, args):
    _c_ffi_call(cif, function, result, args)
    return 0

CALLBACK_TP = rffi.CCallback([FFI_CIFP, rffi.VOIDP, rffi.VOIDPP, rffi.VOIDP], lltype.Void)
c_ffi_prep_closure = external('ffi_prep_closure', [FFI_CLOSUREP, FFI_CIFP, CALLBACK_TP,
                                                   rffi.VOIDP], rffi.INT)
c_ffi_prep_closure_loc = external('ffi_prep_closure_loc', [
    FFI_CLOSUREP, FFI_CIFP, CALLBACK_TP, rffi.VOIDP, rffi.VOIDP], rffi.INT)
c_ffi_closure_alloc = external('ffi_closure_alloc', [rffi.SIZE_T, rffi.VOIDPP], rffi.VOIDP)
c_ffi_closure_free = external('ffi_closure_free', [rffi.VOIDP], lltype.Void)


class _ClosureHeap(object):
    """Memory for closures. libffi has a heap of its own for them, where code may be
    executed at the address where it is written."""

    def alloc(self):
        code = lltype.malloc(rffi.VOIDPP.TO, 1, flavor='raw')
        closure = c_ffi_closure_alloc(rffi.cast(rffi.SIZE_T, rffi.sizeof(FFI_CLOSUREP.TO)), code)
        lltype.free(code, flavor='raw')
        return rffi.cast(FFI_CLOSUREP, closure)

    def free(self, p):
        c_ffi_closure_free(rffi.cast(rffi.VOIDP, p))

closureHeap = _ClosureHeap()

# ____________________________________________________________ functions in libraries

USERDATA_P = lltype.Ptr(lltype.ForwardReference())
_USER_CALLBACK = lltype.Ptr(lltype.FuncType([rffi.VOIDPP, rffi.VOIDP, USERDATA_P], lltype.Void))
USERDATA_P.TO.become(lltype.Struct('userdata', ('callback', _USER_CALLBACK),
                                   ('addarg', lltype.Signed), hints={'callback': True}))


def ll_callback(ffi_cif, ll_res, ll_args, ll_userdata):
    """What all closures call; the function itself is in their user data."""
    userdata = rffi.cast(USERDATA_P, ll_userdata)
    userdata.callback(ll_args, ll_res, userdata)


class LibFFIError(Exception):
    """libffi does not know the types."""


class StackCheckError(ValueError):
    """A call has found other arguments than the function takes: only on Windows."""
    message = None

    def __init__(self, message):
        self.message = message


# What is given as flags of a function; all but the last two choose a calling convention.
FUNCFLAG_STDCALL, FUNCFLAG_CDECL, FUNCFLAG_PYTHONAPI = 0, 1, 4
FUNCFLAG_USE_ERRNO, FUNCFLAG_USE_LASTERROR = 8, 16

@specialize.arg(1)
def get_call_conv(flags, from_jit):
    return FFI_DEFAULT_ABI

def check_fficall_result(result, flags):
    pass

def adjust_return_size(memsize):
    """libffi writes at least a word as result."""
    return max(memsize, 8)

def get_libc_name():
    return 'libc.so.6'

def get_libc_handle():
    return CDLL(get_libc_name()).lib


@specialize.argtype(1)
def push_arg_as_ffiptr(ffitp, arg, ll_buf):
    """Writes a number, which may have another size than the type says, or a pointer."""
    TP = lltype.typeOf(arg)
    size = _size(ffitp)
    if size == rffi.sizeof(TP):
        rffi.cast(rffi.CArrayPtr(TP), ll_buf)[0] = arg
        return
    assert TP is not rffi.FLOAT and TP is not rffi.DOUBLE
    rest = rffi.cast(lltype.Unsigned, arg)
    for i in range(size):
        ll_buf[i] = chr(intmask(rest & 0xff))
        rest >>= 8


class AbstractFuncPtr(object):
    """A call interface: which arguments, which result."""
    _immutable_fields_ = ['argtypes', 'restype']
    ll_argtypes = lltype.nullptr(FFI_TYPE_PP.TO)
    ll_cif = lltype.nullptr(FFI_CIF)

    def __init__(self, name, argtypes, restype, flags=FUNCFLAG_CDECL, variadic_args=0):
        self.name, self.flags = name, flags
        self.restype, self.argtypes = restype, argtypes
        count = len(argtypes)
        self.ll_argtypes = lltype.malloc(FFI_TYPE_PP.TO, count, flavor='raw')
        for i in range(count):
            self.ll_argtypes[i] = argtypes[i]
        self.ll_cif = lltype.malloc(FFI_CIF, flavor='raw')
        convention = get_call_conv(flags, False)
        if variadic_args > 0:
            fixed = count - variadic_args
            outcome = c_ffi_prep_cif_var(self.ll_cif, convention, fixed, count, restype,
                                         self.ll_argtypes)
        else:
            outcome = c_ffi_prep_cif(self.ll_cif, convention, count, restype,
                                     self.ll_argtypes)
        _check(outcome)

    def __del__(self):
        if self.ll_argtypes:
            lltype.free(self.ll_argtypes, flavor='raw')
            self.ll_argtypes = lltype.nullptr(FFI_TYPE_PP.TO)
        if self.ll_cif:
            lltype.free(self.ll_cif, flavor='raw')
            self.ll_cif = lltype.nullptr(FFI_CIF)


def _check(outcome):
    """Raises LibFFIError where a function of libffi says that it has failed."""
    if intmask(outcome) != FFI_OK:
        raise LibFFIError


class CallbackFuncPtr(AbstractFuncPtr):
    """A C function that calls func(args, result, userdata); `additional_arg` is
    userdata.addarg. It must stay alive as long as C code may call it."""
    ll_userdata = lltype.nullptr(USERDATA_P.TO)
    ll_closure = lltype.nullptr(FFI_CLOSUREP.TO)

    def __init__(self, argtypes, restype, func, additional_arg=0, flags=FUNCFLAG_CDECL,
                 variadic_args=0):
        AbstractFuncPtr.__init__(self, "callback", argtypes, restype, flags, variadic_args)
        self.ll_userdata = userdata = lltype.malloc(USERDATA_P.TO, flavor='raw')
        userdata.callback = rffi.llhelper(_USER_CALLBACK, func)
        userdata.addarg = additional_arg
        # Where the closure is written, and in ll_code where it is executed.
        self.ll_code = lltype.malloc(rffi.VOIDPP.TO, 1, flavor='raw')
        size = rffi.cast(rffi.SIZE_T, rffi.sizeof(FFI_CLOSUREP.TO))
        self.ll_closure = rffi.cast(FFI_CLOSUREP, c_ffi_closure_alloc(size, self.ll_code))
        _check(c_ffi_prep_closure_loc(self.ll_closure, self.ll_cif, ll_callback,
                                      rffi.cast(rffi.VOIDP, userdata), self.ll_code[0]))

    def __del__(self):
        if self.ll_closure:
            c_ffi_closure_free(rffi.cast(rffi.VOIDP, self.ll_closure))
            self.ll_closure = lltype.nullptr(FFI_CLOSUREP.TO)
            lltype.free(self.ll_code, flavor='raw')
        if self.ll_userdata:
            lltype.free(self.ll_userdata, flavor='raw')
            self.ll_userdata = lltype.nullptr(USERDATA_P.TO)
        AbstractFuncPtr.__del__(self)

    def get_closure(self):
        """What C code calls."""
        return self.ll_code[0]


class _LibraryFuncPtr(AbstractFuncPtr):
    """Base of what is called at an address; `keepalive` is the library that it is in."""

    def __init__(self, name, argtypes, restype, funcsym, flags=FUNCFLAG_CDECL, keepalive=None,
                 variadic_args=0):
        self.funcsym, self.keepalive = funcsym, keepalive
        AbstractFuncPtr.__init__(self, name, argtypes, restype, flags, variadic_args)


class RawFuncPtr(_LibraryFuncPtr):
    """A function that is called with pointers to its arguments."""

    def call(self, args_ll, ll_result):
        """`ll_result` has room for at least a word."""
        count = len(args_ll)
        assert count == len(self.argtypes)
        ll_args = lltype.malloc(VOIDPP.TO, count, flavor='raw')
        for i in range(count):
            ll_args[i] = args_ll[i]
        c_ffi_call(self.ll_cif, self.funcsym, ll_result, ll_args)
        lltype.free(ll_args, flavor='raw')


class FuncPtr(_LibraryFuncPtr):
    """A function whose arguments are pushed one after the other.

    There is one place for each of them and for the result, so that a function must not be
    called again before it returns.
    """
    ll_result = lltype.nullptr(rffi.VOIDP.TO)
    ll_args = lltype.nullptr(VOIDPP.TO)

    def __init__(self, name, argtypes, restype, funcsym, flags=FUNCFLAG_CDECL, keepalive=None,
                 variadic_args=0):
        _LibraryFuncPtr.__init__(self, name, argtypes, restype, funcsym, flags, keepalive,
                                 variadic_args)
        self.pushed_args = 0
        self.argnum = count = len(argtypes)
        self.ll_args = lltype.malloc(VOIDPP.TO, count, flavor='raw')
        for i in range(count):
            self.ll_args[i] = lltype.malloc(rffi.VOIDP.TO, _size(argtypes[i]), flavor='raw')
        if restype == ffi_type_void:
            self.restype_size = -1
        else:
            self.restype_size = _size(restype)
            room = adjust_return_size(self.restype_size)
            self.ll_result = lltype.malloc(rffi.VOIDP.TO, room, flavor='raw')

    def __del__(self):
        if self.ll_result:
            lltype.free(self.ll_result, flavor='raw')
            self.ll_result = lltype.nullptr(rffi.VOIDP.TO)
        if self.ll_args:
            for i in range(self.argnum):
                if self.ll_args[i]:
                    lltype.free(self.ll_args[i], flavor='raw')
            lltype.free(self.ll_args, flavor='raw')
            self.ll_args = lltype.nullptr(VOIDPP.TO)
        AbstractFuncPtr.__del__(self)

    @specialize.argtype(1)
    def push_arg(self, value):
        i = self.pushed_args
        push_arg_as_ffiptr(self.argtypes[i], value, self.ll_args[i])
        self.pushed_args = i + 1

    @specialize.arg(1)
    def call(self, RES_TP):
        """TypeError if arguments are missing."""
        if self.pushed_args < self.argnum:
            raise TypeError("Did not specify arg nr %d" % (self.pushed_args + 1))
        c_ffi_call(self.ll_cif, self.funcsym, self.ll_result, self.ll_args)
        self.pushed_args = 0
        if RES_TP is not lltype.Void:
            return rffi.cast(rffi.CArrayPtr(RES_TP), self.ll_result)[0]


def _size(ffitype):
    return intmask(rffi.getintfield(ffitype, 'c_size'))


class RawCDLL(object):
    """An open library."""

    def __init__(self, handle):
        self.lib = handle

    def getpointer(self, name, argtypes, restype, flags=FUNCFLAG_CDECL, variadic_args=0):
        return FuncPtr(name, argtypes, restype, dlsym(self.lib, name), flags=flags,
                       keepalive=self, variadic_args=variadic_args)

    def getrawpointer(self, name, argtypes, restype, flags=FUNCFLAG_CDECL, variadic_args=0):
        return RawFuncPtr(name, argtypes, restype, dlsym(self.lib, name), flags=flags,
                          keepalive=self, variadic_args=variadic_args)

    def getrawpointer_byordinal(self, ordinal, argtypes, restype, flags=FUNCFLAG_CDECL,
                                variadic_args=0):
        return RawFuncPtr('#%d' % ordinal, argtypes, restype,
                          dlsym_byordinal(self.lib, ordinal), flags=flags, keepalive=self,
                          variadic_args=variadic_args)

    def getaddressindll(self, name):
        return dlsym(self.lib, name)


class CDLL(RawCDLL):
    """A library by its name; DLOpenError if there is none."""

    def __init__(self, libname, mode=-1):
        RawCDLL.__init__(self, lltype.nullptr(DLLHANDLE.TO))
        self.lib = dlopen(libname, mode)

    def __del__(self):
        if self.lib:
            dlclose(self.lib)
            self.lib = lltype.nullptr(DLLHANDLE.TO)
