//! Operations on constants: computed while compiling, as Python computes them.

use crate::support::check;

/// Longs are constants like others as long as nothing needs them when the program runs.
#[test]
fn longs() {
    check(
        "
BIG = 1 << 80
def power(): return str(pow(-1024, 42))
def modular(): return pow(7, 100, 1000), pow(3L, 4, 5)
def shifted(): return (2 ** 64) >> 60, BIG >> 79
def compared(n):
    if BIG > 5.5 and -BIG < n: return 1
    return 0
def known(): return BIG > 5.5, BIG == 1208925819614629174706176.0, 9007199254740993 == 9007199254740992.0
def unused(n):
    x = BIG | 1
    return n
def added(n): return n + BIG
def wrapped(n):
    m = 9223372036854775807
    return m + 1
def spelled(): return hex(BIG), oct(8), '%d' % BIG, repr(BIG)
def typed(): return isinstance(BIG, int), isinstance(BIG, long)
",
        "
        power() == \"2707685248164858261307045101702230179137145581421695874189921465443966120903931272499975005961073806735733604454495675614232576\"
        modular() == [1,1]
        shifted() == [16,2]
        known() == [true,true,false]
        unused(3) == 3
        added(1) error long constant 1208925819614629174706176 does not fit an int
        compared(1) error long constant 1208925819614629174706176 does not fit an int
        wrapped(1) == -9223372036854775808
        spelled() == [\"0x100000000000000000000L\",\"010\",\"1208925819614629174706176\",\"1208925819614629174706176L\"]
        typed() == [false,true]
        ",
    );
}

/// Whether the result is used or not, and whether somebody would catch it or not.
#[test]
fn what_always_raises_is_an_error() {
    check(
        "
def unused(n):
    x = 1
    y = x + 'x'
    return n
def none(n):
    None + 1
    return n
def strings(n):
    'a' * 'b'
    return n
def caught(n):
    zero = 0
    try:
        n += 1 // zero
    except ZeroDivisionError:
        pass
    return n
def no_class(n): return isinstance(5, 6)
def inverse(n):
    x = 0
    return pow(x, -1)
def no_length(n): return len(5)
def parsed(n): return '%d' % 'x'
def attribute(n):
    'abc'.no_such_method
    return n
",
        "
        unused(1) error `1 + 'x'` always raises TypeError: unsupported operand type(s) for +: 'int' and 'str'
        none(1) error `None + 1` always raises TypeError: unsupported operand type(s) for +: 'NoneType' and 'int'
        strings(1) error `'a' * 'b'` always raises TypeError: unsupported operand type(s) for *: 'str' and 'str'
        caught(1) error `1 // 0` always raises ZeroDivisionError: integer division or modulo by zero
        no_class(1) error `isinstance(5, 6)` always raises TypeError: isinstance() arg 2 must be a class, type, or tuple of classes and types
        inverse(1) error `0 ** -1` always raises ZeroDivisionError: 0.0 cannot be raised to a negative power
        no_length(1) error `len(5)` always raises TypeError: object of type 'int' has no len()
        attribute(1) error `getattr('abc', 'no_such_method')` always raises AttributeError: 'str' object has no attribute 'no_such_method'
        parsed(1) error `'%d' % 'x'` always raises TypeError: %d format: a number is required, not str
        ",
    );
}

#[test]
fn numbers_and_formats() {
    check(
        "
def floats(): return divmod(7.5, 2), -7.5 // 2, 7.5 % -2
def formats(): return '%d' % 2.5, '%5.2f|%-4d|' % (1.5, 3), u'%s' % 'a', '%r' % ((1, 'a'),)
def coerced(): return coerce(1, 2.5), coerce(True, 2)
def compared(): return 1 < 'a', None < 0, (1, 2) < (1, 2.5), 'a' == u'a', cmp(3, 2.5)
def binary(): return bin(5), bin(-6)
def converted(): return int(2.9), int(' 12 '), float('1e3'), int(u'7')
class A(object):
    x = 1
def f(): pass
f.marked = 1
def attributes():
    return (hasattr('a', 'upper'), hasattr(5, 'upper'), hasattr(A, 'x'), hasattr(A, 'y'),
            hasattr(A, '__name__'), hasattr(f, 'marked'), hasattr(f, 'other'))
",
        "
        floats() == [[3.0,1.5],-4.0,-0.5]
        formats() == [\"2\",\" 1.50|3   |\",\"a\",\"(1, 'a')\"]
        coerced() == [[1.0,2.5],[true,2]]
        compared() == [true,true,true,true,1]
        binary() == [\"0b101\",\"-0b110\"]
        converted() == [2,12,1000.0,7]
        attributes() == [true,false,true,false,true,true,false]
        ",
    );
}

/// Objects of the program are looked into as far as that says the same for ever; its own
/// methods are left to run time.
#[test]
fn objects() {
    check(
        "
class Frozen(object):
    def _freeze_(self): return True
class Sized(Frozen):
    def __len__(self): return 3
class Plain(object):
    pass
one, two, sized, plain = Frozen(), Frozen(), Sized(), Plain()
L = [one, two, 5]
D = {'a': one, (1, one): two, 2.5: 7}
NESTED = [[1, 2], [3, (4, 'x')]]
def lists(): return L[0] is one, L[2], len(L), one in L, plain in L, NESTED == [[1, 2], [3, (4, 'x')]]
def dicts(): return D['a'] is one, D[(1, one)] is two, D[2.5], 'b' in D, (1, one) in D
def spelled(): return str(NESTED), repr({'a': 1}), str(len)
def added(n): return one + n
def added_two(): return one + 1
def truth(): return 1 if one else 2
",
        "
        dicts() == [true,true,7,false,true]
        added_two() error `<main.Frozen object> + 1` always raises TypeError: unsupported operand type(s) for +: 'Frozen' and 'int'
        truth() == 1
        ",
    );
}
