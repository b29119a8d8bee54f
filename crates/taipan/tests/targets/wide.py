"""Integers of 128 bits: arithmetic, comparisons, shifts, divisions and conversions."""

from rpython.rlib.longlong2float import float2longlong
from rpython.rlib.rarithmetic import r_longlonglong, r_ulonglonglong, r_uint, intmask, longlongmask
from rpython.rtyper.lltypesystem import lltype, rffi

WORDS = [0, 1, -1, 2, -3, 10, 63, 1 << 31, (1 << 32) + 5, -(1 << 32), (1 << 62) + 12345, -(1 << 63),
         (1 << 63) - 1]
MASK = r_ulonglonglong((1 << 64) - 1)
BIG = r_longlonglong((1 << 100) + 17)


class Box(object):
    def __init__(self, value):
        self.value = value
        self.small = 1
        self.other = value


def text(n):
    low = intmask(n)
    high = intmask(n >> 64)
    return '%d:%d' % (high, low)


def utext(n):
    return '%d:%d' % (intmask(n >> 64), intmask(n))


def divided(a, b):
    if b == 0:
        return 'none'
    q = a // b
    return text(q) + '/' + text(a - q * b) + '/' + text(a % b)


def udivided(a, b):
    if b == 0:
        return 'none'
    return utext(a // b) + '/' + utext(a % b)


def chosen(n):
    if n == 5:
        return 'five'
    elif n == BIG:
        return 'big'
    elif not n:
        return 'zero'
    return 'other'


def one(a, b, shift):
    wide = (r_longlonglong(a) << 64) + b
    other = (r_longlonglong(b) << 32) ^ a
    print text(wide), text(other), text(wide + other), text(wide - other), text(wide * other)
    print text(wide & other), text(wide | other), text(wide ^ other), text(-wide), text(~wide), text(abs(wide))
    print wide < other, wide <= other, wide > other, wide >= other, wide == other, wide != other, wide == wide
    print divided(wide, other), divided(wide, r_longlonglong(b)), divided(other, wide)
    print text(wide << shift), text(wide >> shift), text(wide << 3), text(wide >> 65)
    u, v = r_ulonglonglong(wide), r_ulonglonglong(other)
    print utext(u + v), utext(u - v), utext(u * v), utext(u << shift), utext(u >> shift), utext(u >> 70)
    print u < v, u <= v, u > v, u >= v, u == v, udivided(u, v), udivided(u, r_ulonglonglong(r_uint(b)))
    print udivided(v, u), bool(u), chosen(wide), chosen(other), chosen(r_longlonglong(a))
    box = Box(wide)
    items = [wide, other, r_longlonglong(a), BIG]
    items.append(box.value * 3)
    print text(items[1]), text(items[4]), text(items[3]), text(box.other), box.small
    print rffi.cast(lltype.Signed, r_uint(u)), intmask(u)
    for n in [wide, other, wide >> shift, other >> shift]:
        f = rffi.cast(lltype.Float, n)
        g = rffi.cast(lltype.Float, r_ulonglonglong(n))
        print float2longlong(f), float2longlong(g), text(rffi.cast(lltype.SignedLongLongLong, f)),
        print utext(rffi.cast(lltype.UnsignedLongLongLong, g)), text(rffi.cast(lltype.SignedLongLongLong, g * 3.0))


def entry_point(argv):
    shift = 0
    for a in WORDS:
        for b in WORDS:
            one(a, b, shift % 130)
            shift += 7
    return 0


def target(driver, args):
    return entry_point
