"""Floats and texts, integers at their edges."""

from rpython.rlib.rarithmetic import ovfcheck, intmask, r_uint, r_int32, r_uint32, r_singlefloat, widen
from rpython.rlib.rfloat import formatd, DTSF_SIGN, DTSF_ADD_DOT_0, DTSF_ALT, rstring_to_float
from rpython.rlib.longlong2float import float2longlong, longlong2float
import math

MOST = 9223372036854775807
LEAST = -MOST - 1
EDGES = [0, 1, -1, 2, -2, 7, 63, 64, 65, -64, 127, 128, 255, 256, 32767, 65536, 1 << 31,
         -(1 << 31), (1 << 31) - 1, 1 << 32, 3037000500, -3037000500, 1 << 62, MOST, LEAST,
         MOST - 1, LEAST + 1]
FLOATS = [0.0, -0.0, 1.0, -1.5, 2.5, 0.5, 1e10, -1e10, 9.2e18, 1e300, 1e-300, 0.1, 1e22, 1e16,
          123456789.125, 5e-324, 2.2250738585072014e-308, 0.0001, 0.00001, 99999.5, 0.99995, 1e15]


def ovf(a, b):
    s = ''
    try:
        s += str(ovfcheck(a + b)) + ' '
    except OverflowError:
        s += 'o '
    try:
        s += str(ovfcheck(a - b)) + ' '
    except OverflowError:
        s += 'o '
    try:
        s += str(ovfcheck(a * b)) + ' '
    except OverflowError:
        s += 'o '
    if b:
        s += str(intmask(r_uint(a) // r_uint(b))) + ' ' + str(intmask(r_uint(a) % r_uint(b))) + ' '
        if a != LEAST or b != -1:
            s += str(a // b) + ' ' + str(a % b) + ' '
    return s


def shifts(a, b):
    n = b & 127
    s = str(intmask(r_uint(a) >> (n & 63))) + ' ' + str(a >> (n & 63)) + ' '
    return s + str(intmask(a << (n & 63)))


def small(a):
    x = r_int32(intmask(a))
    y = r_uint32(intmask(a))
    return str(widen(x)) + ' ' + str(widen(y)) + ' ' + str(intmask(widen(x) * 3))


def texts(x):
    s = ''
    for code in 'eEfgGr':
        for precision in [0, 1, 3, 17]:
            if code == 'f' and abs(x) > 1e30:
                continue
            for flags in [0, DTSF_SIGN, DTSF_ALT, DTSF_ADD_DOT_0]:
                if code == 'r' and precision:
                    continue
                s += formatd(x, code, precision, flags) + ' '
    return s


def parse(text):
    try:
        return str(rstring_to_float(text))
    except ValueError:
        return 'no float'


def entry_point(argv):
    for a in EDGES:
        line = small(a) + ': '
        for b in EDGES:
            line += ovf(a, b) + shifts(a, b) + '; '
        print line
    for x in FLOATS:
        print texts(x)
        print str(x), repr(float2longlong(x)), float(r_singlefloat(x)) == x
        m, e = math.frexp(x)
        print m, e, math.ldexp(m, e) == x, math.floor(x / 3), math.fmod(x, 0.7)
        if abs(x) < 1e18:
            print int(x), intmask(r_uint(int(abs(x))))
    print 1e308 * 10, -1e308 * 10, str(1e308 * 10 - 1e308 * 10)
    for text in ['1', ' 2', '1e5', '-.5', '+7.', 'inf', '-nan', '1e', '', '0x10', '1e400', '12345678901234567890']:
        print parse(text)
    print math.sqrt(2.0), math.ceil(1.2), math.floor(-1.2), math.fabs(-3.5), math.ldexp(0.75, -1074)
    return len(argv)


def target(driver, args):
    return entry_point
