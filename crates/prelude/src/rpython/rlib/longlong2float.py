"""The bits of floats. The compiler knows the first two functions by name; what stands
here is what they do while a program loads."""
import struct

from rpython.rlib.objectmodel import not_rpython, we_are_translated
from rpython.rlib.rarithmetic import (intmask, r_int32, r_int64, r_singlefloat, r_uint,
    r_uint32)
from rpython.rtyper.lltypesystem import lltype, rffi

r_rettype = r_int64


@not_rpython
def float2longlong(floatval):
    return struct.unpack('<q', struct.pack('<d', floatval))[0]

@not_rpython
def longlong2float(llval):
    return struct.unpack('<d', struct.pack('<q', llval))[0]

def singlefloat2uint(x):
    if not we_are_translated():
        return r_uint32(struct.unpack('<I', struct.pack('<f', float(x)))[0])
    with lltype.scoped_alloc(rffi.FLOATP.TO, 1) as memory:
        memory[0] = x
        return rffi.cast(rffi.UINTP, memory)[0]

def uint2singlefloat(bits):
    if not we_are_translated():
        return r_singlefloat(struct.unpack('<f', struct.pack('<I', int(bits)))[0])
    with lltype.scoped_alloc(rffi.UINTP.TO, 1) as memory:
        memory[0] = bits
        return rffi.cast(rffi.FLOATP, memory)[0]


# 32-bit integers in the bits of floats that are not a number.

# What is in the high half of these.
_TAG = -2
nan_encoded_zero = r_int64(_TAG << 32)

CAN_ALWAYS_ENCODE_INT32 = False

def can_encode_float(value):
    return not is_int32_from_longlong_nan(float2longlong(value))

def can_encode_int32(value):
    return value == rffi.cast(lltype.Signed, rffi.cast(rffi.INT, value))

def encode_int32_into_longlong_nan(value):
    return nan_encoded_zero + intmask(r_uint(value) & 0xffffffff)

def decode_int32_from_longlong_nan(value):
    return rffi.cast(lltype.Signed, rffi.cast(rffi.INT, value))

def is_int32_from_longlong_nan(value):
    return intmask(value >> 32) == _TAG

def maybe_decode_longlong_as_float(value):
    """The float that bits are, or that has the value of the integer in them."""
    if is_int32_from_longlong_nan(value):
        return float(decode_int32_from_longlong_nan(value))
    return longlong2float(value)
