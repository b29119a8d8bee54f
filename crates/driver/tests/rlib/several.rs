//! Functions of the shipped `rpython.rlib`, called in translated code.

use crate::support::check;

#[test]
fn erased_values() {
    check(
        "
from rpython.rlib.rerased import erase_int, unerase_int, new_erasing_pair
class X(object): pass
erase, unerase = new_erasing_pair('X')
erase_list, unerase_list = new_erasing_pair('list of X')
prebuilt = X()
prebuilt.n = 42
boxed = erase(prebuilt)
def numbers(i):
    try: return unerase_int(erase_int(i))
    except OverflowError: return -1
def objects():
    prebuilt.n += 1
    return unerase(boxed).n
def mixed(n):
    if n: e = erase(X())
    else: e = erase_list([X(), X()])
    if n: return unerase(e) is not None
    return len(unerase_list(e)) == 2
",
        "
        numbers(16) == 16
        numbers(-4611686018427387904) == -4611686018427387904
        numbers(4611686018427387904) == -1
        objects() == 43
        mixed(0) == true
        mixed(1) == true
        ",
    );
}

#[test]
fn functions_of_c_that_are_instructions() {
    check(
        "
import math
def inf(): return 1e200 * 1e200
def sqrt(x):
    try: return math.sqrt(x)
    except ValueError: return -1.0
def special():
    nan = inf() - inf()
    root = sqrt(nan)
    return root != root and sqrt(inf()) == inf() and sqrt(-inf()) == -1.0
def zero(x): return math.copysign(1.0, sqrt(x * 0.0)), math.copysign(3.0, x)
def fabs(x): return math.fabs(x), math.copysign(1.0, math.fabs(x * 0.0))
def steps(x): return math.floor(x), math.ceil(x)
def big(): return math.floor(1e300) == 1e300 and math.ceil(-inf()) == -inf()
",
        "
        sqrt(2.0) == 1.4142135623730951
        sqrt(0.0) == 0.0
        sqrt(-1.0) == -1.0
        sqrt(5e-324) == 2.2227587494850775e-162
        special() == true
        zero(-1.0) == [-1.0,-3.0]
        fabs(-2.5) == [2.5,1.0]
        steps(2.5) == [2.0,3.0]
        steps(-2.5) == [-3.0,-2.0]
        steps(2251799813685249.5) == [2251799813685249.0,2251799813685250.0]
        big() == true
        ",
    );
}

#[test]
fn floats() {
    check(
        "
from rpython.rlib import rfloat
def exp2(x):
    try: return rfloat.exp2(x)
    except OverflowError: return -42.0
def cbrt(x): return rfloat.cbrt(x)
def log2(x): return rfloat.log2(x)
def gamma(x):
    try: return rfloat.gamma(x)
    except OverflowError: return -42.0
def after(x): return rfloat.nextafter(x, 0.0)
def ratio(x):
    a, b = rfloat.float_as_rbigint_ratio(x)
    return a.str() + '/' + b.str()
def rounded(x, n): return rfloat.round_double(x, n), rfloat.round_double(x, n, half_even=True)
def signed_zero(n): return rfloat.copysign(1.0, rfloat.round_double(-0.0, n))
def text(x, code, precision, flags): return rfloat.formatd(x, code, precision, flags)
",
        "
        exp2(-3.0) == 0.125
        exp2(2000.0) == -42.0
        cbrt(-27.0) == -3.0
        log2(0.125) == -3.0
        log2(1.00001) == 0.000014426878274712997
        log2(3.0) == 1.584962500721156
        gamma(10.0) == 362880.0
        gamma(172.0) == -42.0
        after(1.0) == 0.9999999999999999
        ratio(-0.375) == \"-3/8\"
        rounded(2.5, 0) == [3.0,2.0]
        rounded(0.125, 2) == [0.13,0.12]
        rounded(-1250.0, -2) == [-1300.0,-1200.0]
        rounded(1250.5, -2) == [1300.0,1300.0]
        rounded(996.0, -1) == [1000.0,1000.0]
        rounded(50.0, -2) == [100.0,0.0]
        rounded(4.9, -1) == [0.0,0.0]
        rounded(4.9, -2) == [0.0,0.0]
        rounded(5.015e22, -20) == [5.02e+22,5.02e+22]
        rounded(1.7e308, -308) == [\"inf\",\"inf\"]
        signed_zero(1) == 1.0
        signed_zero(0) == -1.0
        text(900719925474099.25, 'r', 0, 2) == \"900719925474099.2\"
        text(1.0, 'g', 1, 2) == \"1e+00\"
        ",
    );
}

#[test]
fn integers() {
    check(
        "
from rpython.rlib.rarithmetic import *
from rpython.rlib.rbigint import (
    SHIFT, _AsScaledDouble, bit_length_int, frombytes_int, rbigint, tobytes_int)
def valid(x): return is_valid_int(x) * 4 + is_valid_int(x > 0) * 2 + is_valid_int(x + 0.5)
def parsed(n): return string_to_int(str(n))
def swapped(n): return [intmask(byteswap(r_int32(n))), intmask(byteswap(r_int16(n))), byteswap(n)]
from rpython.rtyper.lltypesystem import lltype, rffi
def least(n): return most_neg_value_of_same_type(n) == most_neg_value_of(lltype.Signed)
def most(n): return intmask(most_pos_value_of_same_type(r_uint32(n)))
def bounds(): return intmask(most_neg_value_of(rffi.SHORT)), intmask(most_pos_value_of(rffi.UINT))
def binary(n): return bin(n)
def from_bytes(s): return frombytes_int(s, 'big', True)
def to_bytes(n): return tobytes_int(n, 2, 'little', True)
def length(n): return bit_length_int(n)
def root(n):
    n = rbigint.fromint(n)
    return n.mul(n).isqrt().eq(n)
def wide(n):
    numbers = [rbigint.fromrarith_int(n), rbigint.fromrarith_int(r_uint(n)),
        rbigint.fromrarith_int(r_int32(n)), rbigint.fromrarith_int(n > 0),
        rbigint.fromrarith_int(r_longlonglong(n) << 50)]
    return [big.str() for big in numbers]
def zero(): return rbigint.fromint(0).format('abc', '<', '>')
def towards_zero(x, y): return int_c_div(x, y), int_c_mod(x, y)
def scaled(n, shift):
    x, e = _AsScaledDouble(rbigint.fromint(n).lshift(shift))
    for i in range(shift - e * SHIFT): x /= 2.0
    return x
",
        "
        valid(123) == 6
        parsed(-123) == -123
        swapped(258) == [33619968,513,144396663052566528]
        least(3) == true
        most(3) == 4294967295
        bounds() == [-32768,4294967295]
        binary(-5) == \"-0b101\"
        from_bytes('\\xfe') == -2
        to_bytes(258) == \"\\u0002\\u0001\"
        length(-256) == 9
        root(1000003) == true
        wide(-9223372036854775808) == [\"-9223372036854775808\",\"9223372036854775808\",\"0\",\"0\",\"-10384593717069655257060992658440192\"]
        wide(-3) == [\"-3\",\"18446744073709551613\",\"-3\",\"0\",\"-3377699720527872\"]
        wide(5) == [\"5\",\"5\",\"5\",\"1\",\"5629499534213120\"]
        zero() == \"<0>\"
        towards_zero(-7, 2) == [-3,-1]
        towards_zero(7, -2) == [-3,1]
        towards_zero(-8, 2) == [-4,0]
        towards_zero(-9223372036854775808, 10) == [-922337203685477580,-8]
        scaled(-3, 5000) == -3.0
        ",
    );
}

#[test]
fn weak_dictionaries() {
    check(
        "
from rpython.rlib.rweakref import RWeakKeyDictionary, RWeakValueDictionary
class X(object):
    def __init__(self, n): self.n = n
values = RWeakValueDictionary(str, X)
key = X(0)
def by_value(n):
    x = X(n)
    values.set('x', x)
    found = values.get('x').n
    values.set('x', None)
    return found == n and values.get('x') is None and values.get('y') is None
def by_key(n):
    d = RWeakKeyDictionary(X, X)
    d.set(key, X(n))
    return d.get(key).n + d.length()
",
        "
        by_value(5) == true
        by_key(5) == 6
        ",
    );
}

#[test]
fn low_level_strings() {
    check(
        "
from rpython.rtyper.annlowlevel import (
    cast_base_ptr_to_instance, cast_instance_to_base_ptr, hlstr, llstr)
from rpython.rlib.buffer import StringBuffer
from rpython.rlib.rstring import count, find
class A(object): pass
def length(s): return len(llstr(hlstr(s)).chars)
def char(s): return len(llstr(s[0]).chars)
def there_and_back(n):
    a = A()
    if n: a = None
    return cast_base_ptr_to_instance(A, cast_instance_to_base_ptr(a)) is a
def buffers(s): return find(s, StringBuffer('//'), 0, 10) * 10 + count(s, '//', 0, 10)
",
        "
        length('abc') == 3
        char('abc') == 1
        there_and_back(0) == true
        there_and_back(1) == true
        buffers('a//b//c') == 12
        ",
    );
}

#[test]
fn a_module_that_makes_an_annotator() {
    check(
        "
from rpython.annotator.annrpython import RPythonAnnotator
a = RPythonAnnotator()
def f(n): return n + 1
",
        "
        f(1) == 2
        ",
    );
}

#[test]
fn caches_that_are_built_while_compiling() {
    check(
        "
from rpython.rlib.cache import Cache
class Key(object):
    def __init__(self, n): self.n = n
    def _freeze_(self): return True
one, two = Key(1), Key(2)
class Squares(Cache):
    def _build(self, key):
        return eval('key.n ** 2')
class Others(Cache):
    def _build(self, key):
        return two if key is one else one
squares = Squares()
others = Others()
def f(n):
    key = one if n > 0 else two
    return squares.getorbuild(key) * 10 + squares.getorbuild(others.getorbuild(key))
",
        "
        f(1) == 14
        f(0) == 41
        ",
    );
}

#[test]
fn mixins_that_are_copied() {
    check(
        "
import sys, types
from rpython.rlib.objectmodel import import_from_mixin
class Counting(object):
    start = 10
    def __init__(self): self.n = self.start
    def count(self, by=1):
        self.n += by
        return self.n
class A(object):
    import_from_mixin(Counting)
class B(object):
    import_from_mixin(Counting)
def make(n): return lambda x: x + n
add = make(3)
copied = types.FunctionType(add.func_code, {}, 'copied', None, add.func_closure)
assert sys.version_info.major == sys.version_info[0] == 2
def f(n):
    a, b = A(), B()
    a.count(n)
    return a.count(), b.count(2 * n), copied(n)
",
        "f(5) == [16,20,8]",
    );
}

#[test]
fn unboxed_values() {
    check(
        "
from rpython.rlib.objectmodel import UnboxedValue
class Base(object):
    __slots__ = ()
class Boxed(Base):
    __slots__ = ('x',)
    def __init__(self, x): self.x = x
    def get(self): return self.x * 10
class Small(Base, UnboxedValue):
    __slots__ = 'n'
    def get(self): return self.n
class Other(Base, UnboxedValue):
    __slots__ = ('m',)
    def get(self): return self.get_untagged_value() + self.m
def make(n):
    if n > 9: return Other(n)
    if n > 5: return Small(n)
    return Boxed(n)
def f(n):
    try:
        o = make(n)
    except OverflowError:
        return -1
    if isinstance(o, Small):
        return o.get() + o.get_untagged_value()
    if isinstance(o, Other):
        return o.get()
    assert isinstance(o, Boxed)
    return o.get()
",
        "
        f(3) == 30
        f(7) == 14
        f(20) == 40
        f(4611686018427387904) == -1
        ",
    );
}

#[test]
fn parameters_of_the_just_in_time_compiler() {
    check(
        "
from rpython.rlib import jit
driver = jit.JitDriver(greens=['pc'], reds=['n'])
def accepted(text):
    try: jit.set_user_param(driver, text)
    except ValueError: return False
    return True
",
        "
        accepted('off') == true
        accepted('threshold=3') == true
        accepted('enable_opts=all') == true
        accepted('threshold=many') == false
        accepted('nonsense=3') == false
        accepted('b') == false
        ",
    );
}
