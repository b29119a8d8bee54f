/* Integers of 128 bits for C compilers that have none: pairs of words, and a function for each
   operation. */

#ifndef RPY_WIDE_H
#define RPY_WIDE_H

typedef struct {
    Unsigned low, high;
} UInt128;
/* The sign is that of the high word. */
typedef UInt128 Int128;

#define RPY_INT128(high, low) ((Int128){ low, high })
#define RPY_LOW(x) ((x).low)

/* From and to numbers of one word. */
RPY_INLINE Int128 rpy_wide_of_int(Signed value)
{
    return RPY_INT128((Unsigned)(value >> 63), (Unsigned)value);
}
RPY_INLINE UInt128 rpy_wide_of_uint(Unsigned value)
{
    return RPY_INT128(0, value);
}

RPY_INLINE bool rpy_wide_is_true(UInt128 a)
{
    return (a.low | a.high) != 0;
}
RPY_INLINE UInt128 rpy_wide_invert(UInt128 a)
{
    return RPY_INT128(~a.high, ~a.low);
}
RPY_INLINE UInt128 rpy_wide_and(UInt128 a, UInt128 b)
{
    return RPY_INT128(a.high & b.high, a.low & b.low);
}
RPY_INLINE UInt128 rpy_wide_or(UInt128 a, UInt128 b)
{
    return RPY_INT128(a.high | b.high, a.low | b.low);
}
RPY_INLINE UInt128 rpy_wide_xor(UInt128 a, UInt128 b)
{
    return RPY_INT128(a.high ^ b.high, a.low ^ b.low);
}
RPY_INLINE UInt128 rpy_wide_add(UInt128 a, UInt128 b)
{
    Unsigned low = a.low + b.low;
    return RPY_INT128(a.high + b.high + (low < a.low), low);
}
RPY_INLINE UInt128 rpy_wide_sub(UInt128 a, UInt128 b)
{
    return RPY_INT128(a.high - b.high - (a.low < b.low), a.low - b.low);
}
RPY_INLINE UInt128 rpy_wide_neg(UInt128 a)
{
    return rpy_wide_sub(RPY_INT128(0, 0), a);
}

/* The whole product of two words. */
RPY_INLINE UInt128 rpy_wide_product(Unsigned a, Unsigned b)
{
    Unsigned a0 = (UInt32)a, a1 = a >> 32, b0 = (UInt32)b, b1 = b >> 32;
    Unsigned low = a0 * b0;
    Unsigned middle = a1 * b0 + (low >> 32);
    Unsigned other = a0 * b1 + (UInt32)middle;
    return RPY_INT128(a1 * b1 + (middle >> 32) + (other >> 32), other << 32 | (UInt32)low);
}
RPY_INLINE Unsigned rpy_uint_mul_high(Unsigned a, Unsigned b)
{
    return rpy_wide_product(a, b).high;
}
RPY_INLINE UInt128 rpy_wide_mul(UInt128 a, UInt128 b)
{
    UInt128 product = rpy_wide_product(a.low, b.low);
    product.high += a.low * b.high + a.high * b.low;
    return product;
}

/* Comparisons: of numbers with and without a sign. */
RPY_INLINE bool rpy_wide_eq(UInt128 a, UInt128 b)
{
    return a.high == b.high && a.low == b.low;
}
RPY_INLINE bool rpy_wide_ne(UInt128 a, UInt128 b)
{
    return !rpy_wide_eq(a, b);
}
RPY_INLINE bool rpy_ulllong_lt(UInt128 a, UInt128 b)
{
    return a.high < b.high || (a.high == b.high && a.low < b.low);
}
RPY_INLINE bool rpy_ulllong_le(UInt128 a, UInt128 b)
{
    return !rpy_ulllong_lt(b, a);
}
RPY_INLINE bool rpy_ulllong_gt(UInt128 a, UInt128 b)
{
    return rpy_ulllong_lt(b, a);
}
RPY_INLINE bool rpy_ulllong_ge(UInt128 a, UInt128 b)
{
    return !rpy_ulllong_lt(a, b);
}
RPY_INLINE bool rpy_lllong_lt(Int128 a, Int128 b)
{
    return (Signed)a.high < (Signed)b.high || (a.high == b.high && a.low < b.low);
}
RPY_INLINE bool rpy_lllong_le(Int128 a, Int128 b)
{
    return !rpy_lllong_lt(b, a);
}
RPY_INLINE bool rpy_lllong_gt(Int128 a, Int128 b)
{
    return rpy_lllong_lt(b, a);
}
RPY_INLINE bool rpy_lllong_ge(Int128 a, Int128 b)
{
    return !rpy_lllong_lt(a, b);
}
RPY_INLINE Int128 rpy_lllong_abs(Int128 a)
{
    return (Signed)a.high < 0 ? rpy_wide_neg(a) : a;
}

/* Shifts by any count: one that is out of range shifts everything out. */
RPY_INLINE UInt128 rpy_ulllong_lshift(UInt128 a, Unsigned count)
{
    if (count == 0)
        return a;
    if (count < 64)
        return RPY_INT128(a.high << count | a.low >> (64 - count), a.low << count);
    return RPY_INT128(count < 128 ? a.low << (count - 64) : 0, 0);
}
RPY_INLINE UInt128 rpy_ulllong_rshift(UInt128 a, Unsigned count)
{
    if (count == 0)
        return a;
    if (count < 64)
        return RPY_INT128(a.high >> count, a.low >> count | a.high << (64 - count));
    return RPY_INT128(0, count < 128 ? a.high >> (count - 64) : 0);
}
RPY_INLINE Int128 rpy_lllong_lshift(Int128 a, Unsigned count)
{
    return rpy_ulllong_lshift(a, count);
}
RPY_INLINE Int128 rpy_lllong_rshift(Int128 a, Unsigned count)
{
    Signed high = (Signed)a.high;
    if (count == 0)
        return a;
    if (count < 64)
        return RPY_INT128((Unsigned)(high >> count), a.low >> count | a.high << (64 - count));
    return RPY_INT128((Unsigned)(high >> 63), (Unsigned)(high >> (count < 128 ? count - 64 : 63)));
}

/* Divides two words by one that is larger than the high one of them: half a word after the other. */
RPY_WIDE_FUNCTION Unsigned rpy_wide_divide_word(Unsigned high, Unsigned low, Unsigned by,
                                                Unsigned *rest)
{
    int shift = __builtin_clzll(by);
    by <<= shift;
    Unsigned by1 = by >> 32, by0 = (UInt32)by;
    if (shift)
        high = high << shift | low >> (64 - shift);
    low <<= shift;
    Unsigned result = 0;
    for (int half = 32; half >= 0; half -= 32) {
        Unsigned next = (UInt32)(low >> half);
        Unsigned digit = high / by1, over = high % by1;
        while (digit >> 32 || digit * by0 > (over << 32 | next)) {
            digit--;
            over += by1;
            if (over >> 32)
                break;
        }
        high = (high << 32 | next) - digit * by;
        result = result << 32 | digit;
    }
    *rest = high >> shift;
    return result;
}

/* The divisor is not zero. */
RPY_WIDE_FUNCTION UInt128 rpy_wide_divide(UInt128 a, UInt128 by, UInt128 *rest)
{
    if (by.high == 0) {
        Unsigned high = a.high / by.low, over = a.high % by.low, low;
        if (over == 0) {
            low = a.low / by.low;
            over = a.low % by.low;
        } else {
            low = rpy_wide_divide_word(over, a.low, by.low, &over);
        }
        *rest = rpy_wide_of_uint(over);
        return RPY_INT128(high, low);
    }
    /* The quotient has as many bits as the divisor has zeroes before its first bit. */
    Unsigned result = 0;
    for (int bit = __builtin_clzll(by.high); bit >= 0; bit--) {
        UInt128 part = rpy_ulllong_lshift(by, bit);
        if (rpy_ulllong_ge(a, part)) {
            a = rpy_wide_sub(a, part);
            result |= 1ull << bit;
        }
    }
    *rest = a;
    return rpy_wide_of_uint(result);
}
RPY_WIDE_FUNCTION UInt128 rpy_u128_div(UInt128 a, UInt128 b)
{
    UInt128 rest;
    return rpy_wide_divide(a, b, &rest);
}
RPY_WIDE_FUNCTION UInt128 rpy_u128_rem(UInt128 a, UInt128 b)
{
    UInt128 rest;
    rpy_wide_divide(a, b, &rest);
    return rest;
}
/* They truncate. The one quotient that is too large wraps. */
RPY_WIDE_FUNCTION Int128 rpy_i128_div(Int128 a, Int128 b)
{
    UInt128 result = rpy_u128_div(rpy_lllong_abs(a), rpy_lllong_abs(b));
    return (Signed)(a.high ^ b.high) < 0 ? rpy_wide_neg(result) : result;
}
RPY_WIDE_FUNCTION Int128 rpy_i128_rem(Int128 a, Int128 b)
{
    UInt128 rest = rpy_u128_rem(rpy_lllong_abs(a), rpy_lllong_abs(b));
    return (Signed)a.high < 0 ? rpy_wide_neg(rest) : rest;
}

/* The whole part of a float without its sign, which is below 2**128. */
RPY_WIDE_FUNCTION UInt128 rpy_wide_of_float(double value)
{
    Unsigned bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    UInt128 mantissa = rpy_wide_of_uint((bits & 0xfffffffffffffull) | 1ull << 52);
    if (exponent < 0)
        return RPY_INT128(0, 0);
    return exponent <= 52 ? rpy_ulllong_rshift(mantissa, 52 - exponent)
                          : rpy_ulllong_lshift(mantissa, exponent - 52);
}
/* What is out of range becomes the number next to it, and no number zero. */
RPY_WIDE_FUNCTION Int128 rpy_f64_to_i128(double value)
{
    if (value != value)
        return RPY_INT128(0, 0);
    if (value >= 0x1p127)
        return RPY_INT128(~0ull >> 1, ~0ull);
    if (value <= -0x1p127)
        return RPY_INT128(1ull << 63, 0);
    UInt128 whole = rpy_wide_of_float(value);
    return value < 0 ? rpy_wide_neg(whole) : whole;
}
RPY_WIDE_FUNCTION UInt128 rpy_f64_to_u128(double value)
{
    if (!(value >= 1))
        return RPY_INT128(0, 0);
    if (value >= 0x1p128)
        return RPY_INT128(~0ull, ~0ull);
    return rpy_wide_of_float(value);
}
/* To the nearest float. */
RPY_WIDE_FUNCTION double rpy_u128_to_f64(UInt128 a)
{
    if (a.high == 0)
        return (double)a.low;
    int zeroes = __builtin_clzll(a.high);
    UInt128 shifted = rpy_ulllong_lshift(a, zeroes);
    /* What is cut off decides between two floats that are equally near. */
    Unsigned most = shifted.high | (shifted.low != 0);
    Unsigned bits = (Unsigned)(1023 + 64 - zeroes) << 52;
    double factor;
    __builtin_memcpy(&factor, &bits, sizeof factor);
    return (double)most * factor;
}
RPY_WIDE_FUNCTION double rpy_i128_to_f64(Int128 a)
{
    return (Signed)a.high < 0 ? -rpy_u128_to_f64(rpy_wide_neg(a)) : rpy_u128_to_f64(a);
}

#endif
