"""What processors do in ways of their own: overflow, division, shifts, conversions, wide numbers."""

from rpython.rlib.rarithmetic import (ovfcheck, intmask, r_uint, r_longlonglong, r_int32,
                                      r_uint32, r_singlefloat, widen)
from rpython.rlib.longlong2float import float2longlong, longlong2float
from rpython.rlib.objectmodel import compute_hash, we_are_translated
from rpython.rtyper.lltypesystem import lltype, rffi
import math

MOST = 9223372036854775807
LEAST = -MOST - 1
EDGES = [0, 1, -1, 2, -2, 7, 63, 64, 65, -64, 127, 128, 255, 256, 32767, 65536, 1 << 31,
         -(1 << 31), (1 << 31) - 1, 1 << 32, 3037000500, -3037000500, 1 << 62, MOST, LEAST,
         MOST - 1, LEAST + 1]
FLOATS = [0.0, -0.0, 1.0, -1.5, 2.5, -2.5, 1e10, -1e10, 9.2e18, -9.2e18, 1e300, 1e-300, 0.1]


def bits(x):
    """All of a float; which NaN it is is the processor's own affair."""
    if x != x:
        return 'nan'
    return str(float2longlong(x))

def add(a, b):
    try:
        return str(ovfcheck(a + b))
    except OverflowError:
        return 'o'

def sub(a, b):
    try:
        return str(ovfcheck(a - b))
    except OverflowError:
        return 'o'

def mul(a, b):
    try:
        return str(ovfcheck(a * b))
    except OverflowError:
        return 'o'

def neg(a):
    try:
        return str(ovfcheck(-a))
    except OverflowError:
        return 'o'

def shl(a, b):
    try:
        return str(ovfcheck(a << b))
    except OverflowError:
        return 'o'

def div(a, b):
    try:
        return str(ovfcheck(a // b)) + '/' + str(ovfcheck(a % b))
    except ZeroDivisionError:
        return 'z'
    except OverflowError:
        return 'o'

def wide(a, b):
    x = r_longlonglong(a) * r_longlonglong(b) + r_longlonglong(a)
    y = x >> 64
    low = intmask(x)
    s = str(intmask(y)) + ':' + str(low)
    if b != 0:
        q = x // r_longlonglong(b)
        m = x % r_longlonglong(b)
        s += ':' + str(intmask(q)) + ':' + str(intmask(m))
    return s

def small(a):
    x = rffi.cast(rffi.SIGNEDCHAR, a)
    y = rffi.cast(rffi.UCHAR, a)
    z = rffi.cast(rffi.SHORT, a)
    i = rffi.cast(rffi.INT, a)
    u = rffi.cast(rffi.UINT, a)
    return '%d %d %d %d %d' % (rffi.cast(lltype.Signed, x), rffi.cast(lltype.Signed, y),
                               rffi.cast(lltype.Signed, z), rffi.cast(lltype.Signed, i),
                               rffi.cast(lltype.Signed, u))

def shifts(a, b):
    s = ''
    if 0 <= b < 64:
        s = '%d %d %d' % (intmask(a << b), a >> b, intmask(r_uint(a) >> b))
    return s

def floats(x, y):
    s = bits(x + y) + ' ' + bits(x * y) + ' ' + bits(x - y)
    if y != 0.0 and x - x == 0.0:
        s += ' ' + bits(x / y) + ' ' + bits(math.fmod(x, y))
    s += ' %d%d%d' % (int(x < y), int(x == y), int(x != y))
    return s

def conversions(x):
    s = bits(x)
    if -9.3e18 < x < 9.3e18:
        s += ' %d' % int(x)
        s += ' ' + bits(float(int(x)))
    s += ' ' + bits(float(r_singlefloat(x)))
    s += ' ' + bits(math.floor(x)) + ' ' + bits(math.ceil(x))
    s += ' ' + bits(math.copysign(3.0, x))
    if x >= 0.0:
        s += ' ' + bits(math.sqrt(x))
    return s

def entry_point(argv):
    n = int(argv[1])
    for a in EDGES:
        for b in EDGES:
            print a, b, add(a, b), sub(a, b), mul(a, b), div(a, b), shifts(a, b)
        print small(a), neg(a), shl(a, 1), shl(a, n), wide(a, n), wide(a, MOST), wide(a, -n)
        print bits(float(a)), bits(float(r_uint(a))), intmask(r_uint(a) // r_uint(n)), \
            intmask(r_uint(a) % r_uint(n))
        print intmask(r_uint32(a)), intmask(r_int32(intmask(a << 32) >> 32)), \
            bits(longlong2float(a & 0x3ff))
    for x in FLOATS:
        for y in FLOATS:
            print floats(x, y)
        print conversions(x)
    inf = 1e200 * 1e200
    nan = inf - inf
    print floats(inf, 1.0), floats(nan, 1.0), floats(-inf, nan)
    print conversions(inf), conversions(-inf)
    print compute_hash('machines'), compute_hash(1.5), compute_hash((n, 'x')) != 0
    print int(we_are_translated())
    return 0

def target(driver, args):
    return entry_point
