//! Integers without bounds: laws that hold for all of them, and what CPython says.

use crate::support::check;

#[test]
fn long_numbers() {
    check(
        "
from rpython.rlib.rarithmetic import intmask, r_uint, uint_mul_high
from rpython.rlib.rbigint import rbigint
class Numbers(object):
    def __init__(self, seed): self.word = r_uint(seed)
    def next(self, below):
        self.word = self.word * r_uint(6364136223846793005) + r_uint(1442695040888963407)
        return intmask((self.word >> 33) % r_uint(below))
    def number(self, size):
        # All bits set, long runs of zeroes, or neither: where carries and guesses go wrong.
        kind = self.next(3)
        chars = []
        for i in range(self.next(size) + 1):
            byte = self.next(256)
            if kind == 0: byte = 255
            if kind == 1 and i % 13 != 12: byte = 0
            chars.append(chr(byte))
        number = rbigint.frombytes(''.join(chars), 'little', False)
        if self.next(2): number = number.neg()
        return number.int_sub(self.next(3))
def laws(seed, size):
    numbers = Numbers(seed)
    failures = []
    for i in range(30):
        a, b, c = numbers.number(size), numbers.number(size), numbers.number(size // 2 + 1)
        total = a.add(b)
        squares = a.mul(a).add(b.mul(b)).add(a.mul(b).lshift(1))
        if not total.mul(total).eq(squares): failures.append('square')
        if not total.sub(b).eq(a): failures.append('sub')
        product = a.mul(c).add(b)
        for divisor in [b, c, rbigint.fromint(numbers.next(1 << 30) + 1)]:
            if divisor.tobool():
                quotient, rest = product.divmod(divisor)
                if not quotient.mul(divisor).add(rest).eq(product): failures.append('divmod')
                if rest.abs().ge(divisor.abs()): failures.append('rest')
                if rest.tobool() and rest.lt(rbigint.fromint(0)) != divisor.lt(rbigint.fromint(0)):
                    failures.append('sign')
        n = numbers.next(200)
        if not a.lshift(n).rshift(n).eq(a): failures.append('shift')
        if not a.and_(b).add(a.or_(b)).eq(total): failures.append('and')
        if not a.xor(b).eq(a.or_(b).sub(a.and_(b))): failures.append('xor')
        if not rbigint.fromdecimalstr(a.str()).eq(a): failures.append('str')
        length = a.bit_length() // 8 + 1
        for order in ['little', 'big']:
            if not rbigint.frombytes(a.tobytes(length, order, True), order, True).eq(a):
                failures.append('bytes')
    return failures
def digest(seed, size):
    numbers = Numbers(seed)
    result = 0
    for i in range(20):
        a, b = numbers.number(size), numbers.number(size // 3 + 1)
        if b.tobool():
            quotient, rest = a.divmod(b)
            for number in [quotient, rest, a.mul(b), a.xor(b), a.rshift(i), b.lshift(i)]:
                result = intmask(result * 1000003 + number.hash())
    return result
def high(a, b): return intmask(uint_mul_high(r_uint(a), r_uint(b)))
def least():
    n = rbigint.fromint(-9223372036854775807 - 1)
    return n.str(), n.toint(), n.numdigits(), n.neg().hex(), n.fits_int(), n.neg().fits_int()
",
        "
        laws(1, 8) == []
        laws(2, 40) == []
        laws(3, 700) == []
        digest(4, 60) == -4869678015041645233
        digest(5, 1600) == 198892669839554069
        high(-1, -1) == -2
        high(4611686018427387904, 12) == 3
        least() == [\"-9223372036854775808\",-9223372036854775808,2,\"0x8000000000000000L\",true,false]
        ",
    );
}

#[test]
fn limits_of_digits() {
    check(
        "
from rpython.rlib.rbigint import MaxIntError, _load_unsigned_digit, rbigint
def power(n): return rbigint.fromint(10).int_pow(n)
def limited(n, most):
    try: return len(power(n).neg().str(max_str_digits=most))
    except MaxIntError: return -1
def based(n, digits, most):
    try: return len(power(n).format(digits, prefix='p', max_str_digits=most))
    except MaxIntError: return -1
def parts(n):
    x = power(n)
    return str(x.udigit(1)) + ' ' + str(x.widedigit(1) > 0 and x.uwidedigit(1) > 0) + ' ' + str(_load_unsigned_digit(n))
",
        r#"
        limited(30, 0) == 32
        limited(30, 31) == 32
        limited(30, 30) == -1
        limited(3, 2) == 5
        based(30, '01234567', 3) == 35
        based(30, '012', 3) == -1
        based(30, '012', 63) == 64
        parts(20) == "10 1 20"
        "#,
    );
}
