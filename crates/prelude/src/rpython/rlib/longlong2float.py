"""The bits of floats. The compiler knows these functions by name; what stands here is
what they do while a program loads."""
import struct

from rpython.rlib.objectmodel import not_rpython
from rpython.rlib.rarithmetic import r_singlefloat, r_uint32


@not_rpython
def float2longlong(x):
    return struct.unpack('<q', struct.pack('<d', x))[0]

@not_rpython
def longlong2float(bits):
    return struct.unpack('<d', struct.pack('<q', bits))[0]

@not_rpython
def singlefloat2uint(x):
    return r_uint32(struct.unpack('<I', struct.pack('<f', float(x)))[0])

@not_rpython
def uint2singlefloat(bits):
    return r_singlefloat(struct.unpack('<f', struct.pack('<I', int(bits)))[0])
